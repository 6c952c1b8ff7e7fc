"""Plain data as bytes: what robots may send each other, encoded so that bytes of strangers can be read safely.

The same types as in `covey.comms.message.copied`. Nothing is ever imported or called for bytes that come: a record is a
named tuple of Covey, or a named tuple or dataclass of the module that the reader names.
"""

import dataclasses
import math
import re
import struct
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from covey.errors import CoveyError, InvalidValueError

DEEPEST = 30
"""How deep containers may lie in each other."""
_DTYPE = re.compile(r"[<>|]?([biufc]\d{1,2}|[SU]\d{1,6})")
_COUNT, _INT, _FLOAT = struct.Struct("<I"), struct.Struct("<q"), struct.Struct("<d")
_CONTAINERS: dict[type, bytes] = {tuple: b"t", list: b"l", set: b"S", frozenset: b"Z"}
_MAKERS = {tag: kind for kind, tag in _CONTAINERS.items()}


class PlainError(CoveyError):
    """The bytes are no plain data."""


def encode(value: Any) -> bytes:
    """Return plain data as bytes.

    Raises:
        InvalidValueError: the value is something else, or lies too deep.

    Examples:
        >>> decode(encode({"goal": (1.0, 2), "free": True}))
        {'goal': (1.0, 2), 'free': True}
    """
    out: list[bytes] = []
    _put(value, out.append, DEEPEST)
    return b"".join(out)


def decode(data: bytes, module: ModuleType | None = None) -> Any:
    """Return the plain data in bytes.

    Args:
        data: from `encode`, or from anybody.
        module: whose records may be in it, besides the named tuples of Covey.

    Raises:
        PlainError: they are no plain data, or name another record.
    """
    reader = _Reader(data, module)
    try:
        value = reader.value(DEEPEST)
    except (struct.error, UnicodeDecodeError, ValueError, TypeError, OverflowError, MemoryError) as error:
        raise PlainError(f"{len(data)} bytes are no plain data: {error}") from None
    if reader.at != len(data):
        raise PlainError(f"{len(data) - reader.at} of {len(data)} bytes follow the plain data")
    return value


def _text(text: str) -> bytes:
    data = text.encode(errors="surrogatepass")
    return _COUNT.pack(len(data)) + data


def _put(value: Any, out: Callable[[bytes], Any], room: int) -> None:
    """Append the bytes of a value."""
    kind = type(value)
    if room < 0:
        raise InvalidValueError(f"a message to other nodes is nested more than {DEEPEST} deep; send flatter data")
    if value is None or value is True or value is False:
        out({None: b"N", True: b"T", False: b"F"}[value])
    elif kind is int:
        out(b"i" + _INT.pack(value) if -(2**63) <= value < 2**63 else b"I" + _text(str(value)))
    elif kind is float:
        out(b"f" + _FLOAT.pack(value))
    elif kind is str:
        out(b"s" + _text(value))
    elif kind is bytes:
        out(b"b" + _COUNT.pack(len(value)) + value)
    elif isinstance(value, (np.ndarray, np.generic)) and _DTYPE.fullmatch(value.dtype.str):
        shape = value.shape
        out((b"a" if kind is np.ndarray else b"g") + _text(value.dtype.str) + bytes([len(shape)]))
        out(b"".join(map(_COUNT.pack, shape)) + value.tobytes())
    elif isinstance(value, (set, frozenset)) and kind in _CONTAINERS:
        _put_all(_CONTAINERS[kind], sorted(value), out, room)
    elif kind in _CONTAINERS:
        _put_all(_CONTAINERS[kind], value, out, room)
    elif type(value) is dict:
        _put_all(b"d", [part for pair in value.items() for part in pair], out, room)
    elif isinstance(value, tuple) and hasattr(value, "_fields"):
        _put_all(b"r" + _text(_name_of(kind)), value, out, room)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        parts = [getattr(value, field.name) for field in dataclasses.fields(value)]
        _put_all(b"r" + _text(_name_of(kind)), parts, out, room)
    else:
        raise InvalidValueError(
            f"a {kind.__name__} cannot be sent to other nodes; send numbers, text, bytes, arrays, "
            "records, and tuples, lists, sets and dicts of them"
        )


def _put_all(head: bytes, items: Any, out: Callable[[bytes], Any], room: int) -> None:
    out(head + _COUNT.pack(len(items)))
    for item in items:
        _put(item, out, room - 1)


def _name_of(kind: type) -> str:
    """Return the name of a record: with its module if it is Covey's, else for the module of the reader."""
    module = kind.__module__ if kind.__module__.startswith("covey.") else ""
    return f"{module}:{kind.__qualname__}"


class _Reader:
    """Reads values from bytes."""

    def __init__(self, data: bytes, module: ModuleType | None):
        self.data, self.module, self.at = data, module, 0

    def value(self, room: int) -> Any:
        """Return the next value."""
        if room < 0:
            raise PlainError(f"plain data is nested more than {DEEPEST} deep")
        tag = self._take(1)
        if tag in (b"N", b"T", b"F"):
            return {b"N": None, b"T": True, b"F": False}[tag]
        if tag == b"i":
            return _INT.unpack(self._take(8))[0]
        if tag == b"f":
            return _FLOAT.unpack(self._take(8))[0]
        if tag in (b"s", b"I"):
            text = self._text()
            return text if tag == b"s" else int(text)
        if tag == b"b":
            return self._take(self._count())
        if tag in (b"a", b"g"):
            return self._array(tag == b"g")
        if tag == b"d":
            parts = self._items(room)
            return dict(zip(parts[::2], parts[1::2], strict=True))
        if tag == b"r":
            return self._record(self._text(), room)
        if tag in _MAKERS:
            return _MAKERS[tag](self._items(room))
        raise PlainError(f"no plain data begins with {tag!r}")

    def _take(self, size: int) -> bytes:
        if size > len(self.data) - self.at:
            raise PlainError(f"plain data ends {size - len(self.data) + self.at} bytes too early")
        self.at += size
        return self.data[self.at - size : self.at]

    def _count(self) -> int:
        return _COUNT.unpack(self._take(4))[0]

    def _text(self) -> str:
        return self._take(self._count()).decode(errors="surrogatepass")

    def _items(self, room: int) -> list[Any]:
        count = self._count()
        if count > len(self.data) - self.at:  # each takes a byte at least
            raise PlainError(f"plain data ends before its {count} items")
        return [self.value(room - 1) for _ in range(count)]

    def _array(self, scalar: bool) -> Any:
        text = self._text()
        if not _DTYPE.fullmatch(text):
            raise PlainError(f"{text!r:.40} is no type of numbers or text")
        dtype, shape = np.dtype(text), tuple(self._count() for _ in range(self._take(1)[0]))
        data = self._take(dtype.itemsize * math.prod(shape))
        if dtype.kind == "U" and (np.frombuffer(data, f"{dtype.str[0]}u4") > sys.maxunicode).any():
            raise PlainError("an array of text holds what is no character")
        array = np.frombuffer(data, dtype).reshape(shape).copy()
        return array[()] if scalar else array

    def _record(self, name: str, room: int) -> Any:
        of, _, qualname = name.partition(":")
        home: Any = sys.modules.get(of) if of.startswith("covey.") else self.module
        kind = home
        for part in qualname.split("."):
            kind = vars(kind).get(part) if isinstance(kind, (ModuleType, type)) else None
        parts = self._items(room)
        if isinstance(kind, type) and kind.__module__ == home.__name__:
            if issubclass(kind, tuple) and len(parts) == len(getattr(kind, "_fields", ())):
                return kind(*parts) if not of else tuple.__new__(kind, parts)
            if not of and dataclasses.is_dataclass(kind) and len(parts) == len(dataclasses.fields(kind)):
                names = [field.name for field in dataclasses.fields(kind)]
                try:
                    return kind(**dict(zip(names, parts, strict=True)))
                except Exception as error:
                    raise PlainError(f"{qualname} takes no such fields: {error!r}") from None
        raise PlainError(f"there is no record {name!r:.80} of {len(parts)} fields here")
