"""Messages: payloads are copied when they are sent, and have a kind and a size in bytes."""

from dataclasses import dataclass
from typing import Any

HEADER_BYTES = 28
"""Headers that the network adds to a payload [bytes]: 20 for IPv4 and 8 for UDP (RFC 791, RFC 768)."""
OWN_KINDS = ("map digest", "map tiles", "slam digest", "slam news", "slam sighting", "target report", "target answer")
"""Kinds of messages that Covey sends and takes for robots; a number may follow. Controllers cannot send them."""


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
