"""The station of a robot: its radio as a protocol sees it."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from covey.comms.protocols.protocol import Protocol
from covey.random import uniform2_numpy

ALL = -1
"""Stands for everybody in ``to`` and ``final``."""


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """One packet. Robots are indices into the team.

    Attributes:
        number: of the message; the same for all copies of it.
        origin, final: who wrote the message, and for whom, or `ALL`.
        source, to: who transmits this packet, and to whom, or `ALL`.
        kind: of the message.
        size_bytes: on the air.
        sent_s, expires_s: when the message was written, and when it is worthless [s].
        hops: radio links that it has come over.
        payload: the content.
        note: what the protocol writes on the packet: any immutable value.
        arrived_s: when it arrived [s].
    """

    number: int
    origin: int
    final: int
    source: int
    to: int
    kind: str
    size_bytes: int
    sent_s: float
    expires_s: float
    hops: int
    payload: Any
    note: Any
    arrived_s: float


@dataclass(eq=False)
class Station:
    """The radio of one robot.

    Attributes:
        robot: index into the team.
        protocol: what it runs.
        time_s: the time now [s].
        busy: whether it hears somebody transmit, or transmits itself (carrier sense).
        outgoing: packets to be transmitted, with the time of their earliest start [s].
    """

    robot: int
    protocol: Protocol
    key: Any
    nearby: Callable[[int], list[int]]
    hand_over: Callable[[int, Frame], None]
    count_drop: Callable[[Frame, str], None]
    done_s: Callable[[int, int, float], float]
    time_s: float = 0.0
    busy: bool = False
    outgoing: list[Frame] = field(default_factory=list)
    _drawn: int = 0

    def transmit(self, frame: Frame, **changes: Any) -> None:
        """Put a packet into the transmit queue, with other attributes where given: ``to``, ``note``, ``size_bytes``."""
        self.outgoing.append(replace(frame, source=self.robot, **changes))

    def transmitted_s(self) -> float:
        """Return when all that waits for transmission will have been transmitted [s]."""
        return self.done_s(self.robot, sum(frame.size_bytes for frame in self.outgoing), self.time_s)

    def deliver(self, frame: Frame) -> None:
        """Put a message into the robot's mailbox; a protocol does so once for each message."""
        self.hand_over(self.robot, frame)

    def drop(self, frame: Frame) -> None:
        """Give a message up; it is counted with the cause ``protocol``."""
        self.count_drop(frame, "protocol")

    def neighbours(self) -> list[int]:
        """Return who can be heard now, rising. (The beacons that tell it cost no bytes here.)"""
        return self.nearby(self.robot)

    def uniform(self) -> float:
        """Return a uniform random number in (0, 1) from the station's own stream."""
        self._drawn += 1
        return float(uniform2_numpy(self.key, self._drawn, self.robot)[0])
