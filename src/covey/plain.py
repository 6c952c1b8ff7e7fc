"""Plain data: what robots write to each other, nodes exchange, pages are sent and files of steps hold.

Plain are None, truth values, numbers, text, bytes, arrays of numbers or text, tuples, lists, sets and dicts of plain
data, and records: named tuples and dataclasses whose fields are plain. As JSON they have names of types (`TypedJson`);
as bytes, the arrays lie behind the JSON (`encode`, and `pack` for the page). Nothing is imported or called for bytes
that come from a stranger.
"""

import dataclasses
import json
import math
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from operator import is_
from types import ModuleType
from typing import Any

import numpy as np

from covey.errors import InvalidValueError

LARGEST_BYTES = 16 * 2**20
"""Largest plain data that a robot sends in one step [bytes]: some minutes of a fast radio."""
DEEPEST = 64
"""How deep containers may lie in each other."""
_UNCHANGING = (int, float, str, bytes, np.generic)
_ATOMS = frozenset((int, float, bool, str, type(None)))
_SHARED = _ATOMS | {bytes}
_NUMBERS = frozenset((int, float, type(None)))
_CONTAINERS: dict[str, Any] = {"tuple": tuple, "set": set, "frozenset": frozenset}
_ARRAYS: Any = (np.ndarray, np.generic)
_DTYPE = re.compile(r"[<>|]?([biufc]\d{1,2}|[SU]\d{1,6})")
_AS_LIST = re.compile(r".([biu]\d|f[248]|U\d+)")
_ON_PAGE = {"|u1", "|i1", "<u2", "<i2", "<i4", "<u4", "<f4", "<f8"}
_ALIGNMENT = 8
_WHAT = "send numbers, text, bytes, arrays, poses, dataclasses of these, and tuples, lists, sets and dicts of them"
_NO_DATA = (ValueError, TypeError, LookupError, AttributeError, OverflowError, MemoryError, RecursionError)


class PlainError(InvalidValueError):
    """A value is no plain data, too large or nested too deep; or bytes are none."""


def copied(value: Any, room: int = LARGEST_BYTES, deep: int = DEEPEST) -> tuple[Any, int]:
    """Return a deep copy of a payload, and its size in bytes, which may be at most ``room``.

    A number or None counts as 8 bytes, a truth value as 1, text and bytes as their length and 2, an array as its
    memory and 8, a container as its items and 2.

    Raises:
        PlainError: the payload holds something other than plain data, such as a robot, is too large, or has
            containers nested more than ``deep``.

    Examples:
        >>> copied({"goal": (1.0, 2.0), "free": True})
        ({'goal': (1.0, 2.0), 'free': True}, 33)
    """
    kind = type(value)
    if kind is float or kind is int or value is None:  # most of what is sent; the checks below take subclasses too
        return value, 8
    if kind is tuple:
        if _NUMBERS.issuperset(map(type, value)):
            return value, _fits(2 + 8 * len(value), room)
        items, size = _all(value, room, deep)
        return tuple(items), size
    if isinstance(value, (int, float, np.number)) and not isinstance(value, bool):
        return value, 8
    if isinstance(value, (bool, np.bool_)):
        return value, 1
    if isinstance(value, str):
        _fits(len(value), room)
        return value, _fits(2 + len(value.encode(errors="surrogatepass")), room)
    if isinstance(value, bytes):
        return value, _fits(2 + len(value), room)
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        size = _fits(8 + value.nbytes, room)
        return value.copy(), size
    if isinstance(value, (tuple, list, set, frozenset)):
        items, size = _all(_sorted(value) if isinstance(value, (set, frozenset)) else value, room, deep)
        return kind(*items) if isinstance(value, tuple) and hasattr(value, "_fields") else kind(items), size
    if isinstance(value, dict):
        items, size = _all([*value, *value.values()], room, deep)
        return dict(zip(items, items[len(value) :], strict=False)), size
    if (names := fields_of(kind)) is not None:
        parts, size = _all([getattr(value, name) for name in names], room, deep)
        return kind(**dict(zip(names, parts, strict=True))), size
    raise PlainError(f"a {kind.__name__} cannot be sent; {_WHAT}")


def _all(values: Sequence[Any], room: int, deep: int) -> tuple[list[Any], int]:
    """Return copies of the items of a container, and its size."""
    if 2 + len(values) > room:
        _fits(2 + len(values), room)
    copies, size, deep = [], 2, _below(deep)
    for value in values:
        copy, more = copied(value, room - size, deep)
        copies.append(copy)
        size += more
        if size > room:
            _fits(size, room)
    return copies, size


def _fits(size: int, room: int) -> int:
    if size > room:
        raise PlainError(
            f"the messages of one step are larger than {LARGEST_BYTES >> 20} MiB; send less, or send parts in several "
            "steps"
        )
    return size


def _sorted(items: Any) -> list[Any]:
    """Return the items of a set in an order that does not depend on the process."""
    try:
        return sorted(items)
    except TypeError as error:
        raise PlainError(f"a set whose items have no order cannot be sent ({error}); send a list") from None


def _below(deep: int) -> int:
    """Return how deep the items of a container may be nested."""
    if deep <= 0:
        raise PlainError(f"data is nested more than {DEEPEST} deep; send flatter data")
    return deep - 1


def again(value: Any) -> Any:
    """Return a copy of a result of `copied`; immutable parts are shared.

    Examples:
        >>> told = ("north", {"doors": [1, 2]})
        >>> again(told) == told, again(told)[1] is told[1]
        (True, False)
    """
    if type(value) in _SHARED:
        return value
    if isinstance(value, tuple):
        if _SHARED.issuperset(map(type, value)):
            return value
        parts = [again(v) for v in value]
        if all(map(is_, parts, value)):
            return value
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    if isinstance(value, dict):
        return {again(key): again(item) for key, item in value.items()}
    return value if isinstance(value, _UNCHANGING) else copied(value)[0]


@lru_cache
def fields_of(kind: type) -> tuple[str, ...] | None:
    """Return the names of the fields of a record; None if the type is none."""
    if issubclass(kind, tuple):
        return getattr(kind, "_fields", None)
    return tuple(field.name for field in dataclasses.fields(kind)) if dataclasses.is_dataclass(kind) else None


class TypedJson:
    """Plain data as JSON with the names of types, and back, to the last bit.

    Args:
        module: whose records may come, besides the named tuples of Covey.
    """

    deep = DEEPEST

    def __init__(self, module: ModuleType | None = None):
        self.module = module

    def of(self, value: Any, deep: int | None = None) -> Any:
        """Return a value as JSON.

        Raises:
            PlainError: it is no plain data, or nested too deep.

        Examples:
            >>> TypedJson().of((1.5, [True]))
            {'tuple': [1.5, [True]]}
        """
        kind = type(value)
        if kind in _ATOMS:
            return value
        if (kind is list or kind is tuple) and _ATOMS.issuperset(map(type, value)):
            return list(value) if kind is list else {"tuple": list(value)}
        if isinstance(value, _ARRAYS) and _DTYPE.fullmatch(value.dtype.str):
            return {"scalar" if isinstance(value, np.generic) else "array": self.hold(np.asarray(value))}
        if kind is bytes:
            return {"bytes": self.hold(np.frombuffer(value, "S1"))}
        deep = _below(self.deep if deep is None else deep)
        if kind is list:
            return [self.of(item, deep) for item in value]
        if kind in (tuple, set, frozenset):
            return {kind.__name__: [self.of(item, deep) for item in (value if kind is tuple else _sorted(value))]}
        if kind is dict:
            return {"dict": [[self.of(key, deep), self.of(item, deep)] for key, item in value.items()]}
        if (names := fields_of(kind)) is not None:
            return self.record(value, names, deep)
        return self.other(value, deep)

    def record(self, value: Any, names: Sequence[str], deep: int) -> Any:
        """Return a record as JSON, given the names of its fields."""
        kind, fields = type(value), {name: self.of(getattr(value, name), deep) for name in names}
        return {"record": f"{self.home_of(kind)}:{kind.__qualname__}", "fields": fields}

    def home_of(self, kind: type) -> str:
        """Return the name of the module of a record; empty: that of whoever reads it."""
        return kind.__module__ if kind.__module__.startswith("covey.") else ""

    def hold(self, array: np.ndarray) -> Any:
        """Return an array as JSON."""
        held: dict[str, Any] = {"type": array.dtype.str, "shape": list(array.shape)}
        held |= {} if array.flags.writeable else {"read_only": True}
        as_list = _AS_LIST.fullmatch(array.dtype.str)
        return held | ({"values": array.ravel().tolist()} if as_list else {"hex": array.tobytes().hex()})

    def other(self, value: Any, deep: int) -> Any:
        """Return as JSON what is no plain data, or raise `PlainError`."""
        raise PlainError(f"a {type(value).__name__} cannot be sent; {_WHAT}")

    def value(self, data: Any, deep: int | None = None) -> Any:
        """Return the value of JSON from `of`, or from anybody.

        Raises:
            PlainError: it is no plain data, or names another record; other errors if it is damaged (`decode`).
        """
        if not isinstance(data, (dict, list)):
            return data
        deep = _below(self.deep + 1 if deep is None else deep)
        if isinstance(data, list):
            return [self.value(item, deep) for item in data]
        what: Any = next(iter(data), "")
        inside: Any = data.get(what)
        if what == "array":
            return self.held(inside)
        if what == "scalar":
            return self.held(inside)[()]
        if what == "bytes":
            return self.held(inside).tobytes()
        if what == "record":
            return self.made(inside, {name: self.value(item, deep) for name, item in data["fields"].items()})
        if what == "dict":
            return {self.value(key, deep): self.value(item, deep) for key, item in inside}
        if what in _CONTAINERS:
            return _CONTAINERS[what](self.value(item, deep) for item in inside)
        return self.another(what, inside)

    def held(self, held: Any) -> np.ndarray:
        """Return an array from `hold`."""
        kind = np.dtype(held["type"])
        array = np.frombuffer(bytearray.fromhex(held["hex"]), kind) if "hex" in held else np.array(held["values"], kind)
        array.flags.writeable = not held.get("read_only", False)
        return array.reshape(held["shape"])

    def made(self, name: str, fields: dict[str, Any]) -> Any:
        """Return a record by its name: a named tuple of Covey, or a record of the module; nothing is imported."""
        of, _, qualname = name.partition(":")
        home: Any = sys.modules.get(of) if of.startswith("covey.") else self.module
        kind = home
        for part in qualname.split("."):
            kind = vars(kind).get(part) if isinstance(kind, (ModuleType, type)) else None
        if isinstance(kind, type) and kind.__module__ == home.__name__ and fields_of(kind) == tuple(fields):
            if of and issubclass(kind, tuple):
                return tuple.__new__(kind, fields.values())
            if home is self.module:
                try:
                    return kind(**fields)
                except Exception as error:
                    raise PlainError(f"{qualname} takes no such fields: {error!r}") from None
        raise PlainError(f"there is no record {name!r:.80} of {len(fields)} fields here")

    def another(self, what: str, inside: Any) -> Any:
        """Return what `other` returned, or raise `PlainError`."""
        raise PlainError(f"{what!r:.40} is no type of plain data")


class _Aside(TypedJson):
    """Plain data whose arrays lie behind the JSON; each can be taken once."""

    def __init__(self, arrays: dict[str, np.ndarray], module: ModuleType | None = None):
        super().__init__(module)
        self._arrays = arrays

    def hold(self, array: np.ndarray) -> Any:
        name = str(len(self._arrays))
        self._arrays[name] = array
        return name

    def held(self, held: Any) -> np.ndarray:
        return self._arrays.pop(held).copy()


def encode(value: Any) -> bytes:
    """Return plain data as bytes.

    Raises:
        PlainError: the value is something else, or nested too deep.

    Examples:
        >>> decode(encode({"goal": (1.0, 2), "free": True}))
        {'goal': (1.0, 2), 'free': True}
    """
    arrays: dict[str, np.ndarray] = {}
    form = _Aside(arrays).of(value)
    try:
        return _message({"value": form}, arrays, _json)
    except ValueError as error:
        raise PlainError(f"a number cannot be sent: {error}") from None


def decode(data: bytes, module: ModuleType | None = None) -> Any:
    """Return the plain data in bytes.

    Args:
        data: from `encode`, or from anybody.
        module: whose records may be in it, besides the named tuples of Covey.

    Raises:
        PlainError: they are no plain data, or name another record.
    """
    header, arrays = unpack(data)
    try:
        return _Aside(arrays, module).value(header["value"])
    except PlainError:
        raise
    except _NO_DATA as error:
        raise PlainError(f"{len(data)} bytes are no plain data: {error}") from None


def pack(header: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> bytes:
    """Return a message to the page, which uses the arrays without a copy.

    A message is the length of the header (uint32, little-endian), the header (JSON, UTF-8), and the arrays. Each array
    begins at a multiple of 8 bytes. The header lists the arrays: name, type, shape, and offset from the end of the
    header.

    Args:
        header: names and what `dumps` takes.
        arrays: arrays of numbers of 1, 2 or 4 bytes, or float64.

    Examples:
        >>> header, arrays = unpack(pack({"type": "frame"}, {"pose": np.zeros((2, 3), np.float32)}))
        >>> header["type"], arrays["pose"].shape
        ('frame', (2, 3))
    """
    for name, array in arrays.items():
        if array.dtype.str not in _ON_PAGE:
            raise TypeError(f"array {name!r} is of type {array.dtype}, which the page cannot read")
    return _message(header, arrays, dumps)


def _message(header: Mapping[str, Any], arrays: Mapping[str, np.ndarray], text_of: Callable[[Any], str]) -> bytes:
    listed, parts, size = [], [], 0
    for name, array in arrays.items():
        kind, shape, array = array.dtype.str.lstrip("<|"), array.shape, np.ascontiguousarray(array)
        listed.append({"name": name, "type": kind, "shape": shape, "offset": size})
        parts += [array.data.cast("B") if array.size else b"", b"\0" * (-array.nbytes % _ALIGNMENT)]
        size += array.nbytes + (-array.nbytes % _ALIGNMENT)
    text = text_of({**header, "arrays": listed}).encode()
    text += b" " * (-(len(text) + 4) % _ALIGNMENT)
    return b"".join((len(text).to_bytes(4, "little"), text, *parts))


def unpack(message: bytes) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return header and arrays of a message, which may come from anybody; the arrays are views of it.

    Raises:
        PlainError: it is damaged.
    """
    try:
        begin = 4 + int.from_bytes(message[:4], "little")
        header, arrays, at = json.loads(message[4:begin]), dict[str, np.ndarray](), begin
        for one in header.pop("arrays"):
            if one["offset"] != at - begin:  # else few bytes could be many arrays
                raise ValueError(f"an array lies at {one['offset']!r:.20} instead of {at - begin}")
            arrays[one["name"]] = array = _view(message, at, one["type"], one["shape"])
            at += array.nbytes + (-array.nbytes % _ALIGNMENT)
        if at != len(message):
            raise ValueError(f"they should be {at}")
        return header, arrays
    except _NO_DATA as error:
        raise PlainError(f"{len(message)} bytes are no plain data: {error}") from None


def _view(message: bytes, at: int, kind: str, shape: Sequence[int]) -> np.ndarray:
    """Return an array at a place in bytes."""
    if not _DTYPE.fullmatch(kind):
        raise ValueError(f"{kind!r:.40} is no type of numbers or text")
    array = np.frombuffer(message, kind if kind[0] == ">" else f"<{kind}", math.prod(shape), at)
    if array.dtype.kind == "U" and (array.view(f"{array.dtype.str[0]}u4") > sys.maxunicode).any():
        raise ValueError("an array of text holds what is no character")
    return array.reshape(shape)


def dumps(data: Any) -> str:
    """Return numbers, text, arrays, and lists and mappings of them as JSON for the page; NaN and infinity become null.

    Raises:
        TypeError: it is something else.
    """
    try:
        return _page_json(data)
    except ValueError:
        return _page_json(_finite(data))


def _listed(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return _finite(value.tolist())
    raise TypeError(f"{value!r:.60} cannot be sent")


_json = json.JSONEncoder(separators=(",", ":")).encode
_page_json = json.JSONEncoder(separators=(",", ":"), allow_nan=False, default=_listed).encode


def _finite(data: Any) -> Any:
    if isinstance(data, float):
        return data if math.isfinite(data) else None
    if isinstance(data, Mapping):
        return {key: _finite(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_finite(value) for value in data]
    return _listed(data) if isinstance(data, np.ndarray | np.generic) else data
