"""Messages: what a robot sends is copied at once, has a kind, and a size in bytes."""

import dataclasses
from dataclasses import dataclass
from operator import is_
from typing import Any

import numpy as np

from covey.errors import InvalidValueError

HEADER_BYTES = 28
"""What the network adds to a payload: an IPv4 header of 20 and a UDP header of 8 bytes (RFC 791, RFC 768)."""
_UNCHANGING = (int, float, str, bytes, np.generic)


@dataclass(frozen=True, slots=True, eq=False)
class Message:
    """What one robot sent and another got.

    Attributes:
        sender: name of the robot that wrote it.
        to: name of the robot it is for; None for everybody (a broadcast).
        kind: what it is about, a word that sender and reader agree on.
        payload: the content, a copy.
        size_bytes: size on the air, payload and header.
        sent_s: when it was sent [s].
        received_s: when it arrived [s]; NaN before.
        hops: how many radio links it went over; 0 before it arrived.
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


def copied(value: Any) -> tuple[Any, int]:
    """Return a deep copy of a payload, and its size in bytes.

    A number or None counts as 8 bytes, a truth value as 1, text and bytes as their length and 2, an array as its
    memory and 8, a container as its items and 2.

    Raises:
        InvalidValueError: the payload holds something that is no plain data, such as a robot.

    Examples:
        >>> copied({"goal": (1.0, 2.0), "free": True})
        ({'goal': (1.0, 2.0), 'free': True}, 33)
    """
    if value is None or (isinstance(value, (int, float, np.number)) and not isinstance(value, bool)):
        return value, 8
    if isinstance(value, (bool, np.bool_)):
        return value, 1
    if isinstance(value, str):
        return value, 2 + len(value.encode())
    if isinstance(value, bytes):
        return value, 2 + len(value)
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        return value.copy(), 8 + value.nbytes
    if isinstance(value, (tuple, list, set, frozenset)):
        parts = [copied(v) for v in (sorted(value) if isinstance(value, (set, frozenset)) else value)]
        items, size = [p[0] for p in parts], 2 + sum(p[1] for p in parts)
        named = isinstance(value, tuple) and hasattr(value, "_fields")
        return type(value)(*items) if named else type(value)(items), size
    if isinstance(value, dict):
        keys, values = copied(list(value)), copied(list(value.values()))
        return dict(zip(keys[0], values[0], strict=True)), keys[1] + values[1] - 2
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        parts = {f.name: copied(getattr(value, f.name)) for f in dataclasses.fields(value)}
        return type(value)(**{k: p[0] for k, p in parts.items()}), 2 + sum(p[1] for p in parts.values())
    raise InvalidValueError(
        f"a {type(value).__name__} cannot be sent; send numbers, text, bytes, arrays, poses, dataclasses of such, "
        "and tuples, lists, sets and dicts of them"
    )


def again(value: Any) -> Any:
    """Return a copy of what `copied` returned; parts that nobody can change are the same.

    Examples:
        >>> told = ("north", {"doors": [1, 2]})
        >>> again(told) == told, again(told)[1] is told[1]
        (True, False)
    """
    if isinstance(value, tuple):
        parts = [again(v) for v in value]
        if all(map(is_, parts, value)):
            return value
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    return value if value is None or isinstance(value, _UNCHANGING) else copied(value)[0]
