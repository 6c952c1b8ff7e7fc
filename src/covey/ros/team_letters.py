"""Letters between the nodes of a team: what a robot writes, or hears, in one step.

They are bytes on topics of std_msgs/msg/UInt8MultiArray: to our simulator on ``radio/covey`` and ``heard/covey``, whose
messages go over the simulated radio; between robots without one, on one topic for all.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from covey.comms.mailbox import Outgoing
from covey.comms.message import HEADER_BYTES, Message
from covey.plain import LARGEST_BYTES, PlainError, decode, encode
from covey.ros.qos import QosProfile
from covey.ros.types import MessageError, Types

KIND = "std_msgs/msg/UInt8MultiArray"
"""Type of the topics."""
LETTERS = QosProfile(100)
"""How they are delivered."""
RADIO = "covey"
"""Their name on the radio: ``radio/covey`` and ``heard/covey``."""
_MARK = "covey 2"
_SAME = "; all nodes of a team need the same version of Covey"
_MOST = 10_000
_LONGEST = 32  # bytes of a payload for each byte of its size: a truth value of a record has the name of its field, too


class Encoded(bytes):
    """A value as bytes of `covey.plain.encode`, while it is under way."""


class ReceivedMessage(NamedTuple):
    """A message that a robot has heard; see `Message`. ``payload``: as `Encoded`."""

    sender: str
    to: str | None
    kind: str
    payload: bytes
    size_bytes: int
    sent_s: float
    received_s: float
    hops: int

    @classmethod
    def of(cls, message: Message, payload: bytes) -> "ReceivedMessage":
        """Return a message, given its payload as `Encoded`, for a letter."""
        times = message.sent_s, message.received_s
        return cls(message.sender, message.to, message.kind, payload, message.size_bytes, *times, message.hops)


@dataclass(frozen=True)
class TeamLetter:
    """What a robot writes or hears in one step.

    Attributes:
        owner: name of the robot.
        at_ns: time of the step [ns].
        messages: `Outgoing` of a robot that writes, `ReceivedMessage` of one that hears, oldest first.
        entries: new values on the blackboard by key, `Encoded`; None: the entry is deleted.
    """

    owner: str
    at_ns: int
    messages: Sequence[Any] = ()
    entries: Mapping[str, bytes | None] = field(default_factory=dict)


def encoded(value: Any) -> bytes:
    """Return a value as `Encoded`, which stays as it is.

    Raises:
        InvalidValueError: it is no plain data.
    """
    return value if isinstance(value, Encoded) else Encoded(encode(value))


def letter_bytes(types: Types, letter: TeamLetter) -> bytes:
    """Return a letter as the bytes of a message of ROS.

    Raises:
        InvalidValueError: a payload cannot be encoded.
    """
    rows = [
        (m.to, m.kind, bytes(encoded(m.payload)), m.size_bytes, m.ttl_s, m.radio)
        if isinstance(m, Outgoing)
        else tuple(m._replace(payload=bytes(m.payload)))
        for m in letter.messages
    ]
    entries = {key: None if value is None else bytes(value) for key, value in letter.entries.items()}
    data = encode((_MARK, letter.owner, letter.at_ns, rows, entries))
    return types.encode(KIND, {"data": np.frombuffer(data, np.uint8)})


def read_letter(types: Types, data: bytes, *, heard: bool) -> TeamLetter:
    """Return the letter in the bytes of a message of ROS, which may come from a stranger.

    Args:
        types: of the distribution.
        data: from `letter_bytes`.
        heard: it says what a robot has heard; else what one has written.

    Raises:
        MessageError: it is none.
    """
    try:
        match decode(types.decode(KIND, data).data.tobytes()):
            case (mark, str(owner), int(at_ns), list(rows), dict(entries)) if mark == _MARK and len(rows) <= _MOST:
                read = _heard if heard else _written
                if all(isinstance(k, str) and (v is None or type(v) is bytes) for k, v in entries.items()):
                    known = {k: None if v is None else Encoded(v) for k, v in entries.items()}
                    return TeamLetter(owner, at_ns, [read(row) for row in rows], known)
    except PlainError as error:
        raise MessageError(f"{error}{_SAME}") from None
    raise MessageError(f"{len(data)} bytes are no letter of a team{_SAME}")


def _written(row: Any) -> Outgoing:
    match row:
        case (None | str() as to, str(kind), bytes(payload), int(size), float(ttl_s), None | str() as radio):
            if ttl_s > 0:
                return Outgoing(to, kind, _weighed(payload, size), size, ttl_s, radio)
    raise MessageError("a letter of a team holds something that is no message to be sent")


def _heard(row: Any) -> ReceivedMessage:
    match row:
        case (
            str(sender),
            None | str() as to,
            str(kind),
            bytes(payload),
            int(size),
            float(sent_s),
            float(received_s),
            int(hops),
        ):
            if math.isfinite(sent_s + received_s):
                return ReceivedMessage(sender, to, kind, _weighed(payload, size), size, sent_s, received_s, hops)
    raise MessageError("a letter of a team holds something that is no message that was heard")


def _weighed(payload: bytes, size: int) -> Encoded:
    """Return a payload if its size can be true."""
    if not HEADER_BYTES <= size <= LARGEST_BYTES + HEADER_BYTES or len(payload) > _LONGEST * size + 4096:
        raise MessageError(f"a message of {len(payload)} bytes says that it has {size}")
    return Encoded(payload)
