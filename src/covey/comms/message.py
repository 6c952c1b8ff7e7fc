"""Messages: payloads are copied when they are sent, and have a kind and a size in bytes."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from operator import is_
from typing import Any

import numpy as np

from covey.errors import InvalidValueError

LARGEST_BYTES = 16 * 2**20
"""Largest payload [bytes]: some minutes of a fast radio."""
HEADER_BYTES = 28
"""Headers that the network adds to a payload [bytes]: 20 for IPv4 and 8 for UDP (RFC 791, RFC 768)."""
OWN_KINDS = ("map digest", "map tiles", "slam digest", "slam news", "slam sighting", "target report", "target answer")
"""Kinds of messages that Covey sends and takes for robots; a number may follow. Controllers cannot send them."""
_UNCHANGING = (int, float, str, bytes, np.generic)
_PLAIN = frozenset((int, float, bool, str, bytes, type(None)))
_NUMBERS = frozenset((int, float, type(None)))


@dataclass(frozen=True, slots=True, eq=False)
class Message:
    """A message from one robot to others.

    Attributes:
        sender: name of the robot that wrote it.
        to: name of the receiver; None for a broadcast.
        kind: topic, a word that sender and reader agree on.
        payload: the content, a copy.
        size_bytes: transmitted size, payload and header.
        sent_s: time of sending [s].
        received_s: time of arrival [s]; NaN before.
        hops: number of radio links that it took; 0 before it arrived.
        number: counts the messages of a run.
    """

    sender: str
    to: str | None
    kind: str
    payload: Any
    size_bytes: int
    sent_s: float
    received_s: float
    hops: int
    number: int


def copied(value: Any, room: int = LARGEST_BYTES) -> tuple[Any, int]:
    """Return a deep copy of a payload, and its size in bytes, which may be at most ``room``.

    A number or None counts as 8 bytes, a truth value as 1, text and bytes as their length and 2, an array as its
    memory and 8, a container as its items and 2.

    Raises:
        InvalidValueError: the payload holds something other than plain data, such as a robot, or is too large.

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
        items, size = _all(value, room)
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
        items, size = _all(sorted(value) if isinstance(value, (set, frozenset)) else value, room)
        named = isinstance(value, tuple) and hasattr(value, "_fields")
        return type(value)(*items) if named else type(value)(items), size
    if isinstance(value, dict):
        keys, size = _all(list(value), room)
        values, more = _all(list(value.values()), room - size + 2)
        return dict(zip(keys, values, strict=True)), size + more - 2
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in dataclasses.fields(value)]
        parts, size = _all([getattr(value, name) for name in names], room)
        return type(value)(**dict(zip(names, parts, strict=True))), size
    raise InvalidValueError(
        f"a {type(value).__name__} cannot be sent; send numbers, text, bytes, arrays, poses, dataclasses of these, "
        "and tuples, lists, sets and dicts of them"
    )


def _all(values: Sequence[Any], room: int) -> tuple[list[Any], int]:
    """Return copies of the items of a container, and its size."""
    _fits(2 + len(values), room)
    copies, size = [], 2
    for value in values:
        copy, more = copied(value, room - size)
        copies.append(copy)
        size += more
        if size > room:
            _fits(size, room)
    return copies, size


def _fits(size: int, room: int) -> int:
    if size > room:
        raise InvalidValueError(
            f"the messages of one step are larger than {LARGEST_BYTES >> 20} MiB; send less, or send parts in several "
            "steps"
        )
    return size


def again(value: Any) -> Any:
    """Return a copy of a result of `copied`; immutable parts are shared.

    Examples:
        >>> told = ("north", {"doors": [1, 2]})
        >>> again(told) == told, again(told)[1] is told[1]
        (True, False)
    """
    if type(value) in _PLAIN:
        return value
    if isinstance(value, tuple):
        if _PLAIN.issuperset(map(type, value)):
            return value
        parts = [again(v) for v in value]
        if all(map(is_, parts, value)):
            return value
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    if isinstance(value, dict):
        return {again(key): again(item) for key, item in value.items()}
    return value if isinstance(value, _UNCHANGING) else copied(value)[0]
