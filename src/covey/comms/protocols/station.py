"""The station of a robot: a protocol's view of its radio."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from covey.comms.protocols.protocol import Protocol
from covey.random import uniform2_numpy

ALL = -1
"""Stands for all robots in ``to`` and ``final``."""


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """One packet. Robots are indices into the team.

    Attributes:
        number: number of the message; the same for all its copies.
        origin, final: author and final receiver of the message, or `ALL`.
        source, to: transmitter and receiver of this packet, or `ALL`.
        kind: topic of the message.
        size_bytes: transmitted size.
        sent_s, expires_s: times of writing and of expiry of the message [s].
        hops: number of radio links that it has taken.
        payload: the content.
        note: the protocol's data on the packet: any immutable value.
        arrived_s: time of arrival [s].
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
        protocol: its protocol.
        time_s: the present time [s].
        busy: whether it hears a transmission, or transmits itself (carrier sense).
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
        """Put a packet into the transmit queue, with new values of ``to``, ``note`` or ``size_bytes`` if given."""
        self.outgoing.append(replace(frame, source=self.robot, **changes))

    def transmitted_s(self) -> float:
        """Return the time at which all waiting packets will have been transmitted [s]."""
        return self.done_s(self.robot, sum(frame.size_bytes for frame in self.outgoing), self.time_s)

    def deliver(self, frame: Frame) -> None:
        """Put a message into the robot's mailbox; a protocol must do this once per message."""
        self.hand_over(self.robot, frame)

    def drop(self, frame: Frame) -> None:
        """Give up a message; it is counted with the cause ``protocol``."""
        self.count_drop(frame, "protocol")

    def neighbours(self) -> list[int]:
        """Return the robots that can be heard now, ascending. (The necessary beacons cost no bytes here.)"""
        return self.nearby(self.robot)

    def uniform(self) -> float:
        """Return a uniform random number in (0, 1) from the station's own stream."""
        self._drawn += 1
        return float(uniform2_numpy(self.key, self._drawn, self.robot)[0])
