"""What a protocol is: what stands between the mailbox of a robot and its radio."""

from typing import TYPE_CHECKING

from covey.named import Named
from covey.registry import Registry

if TYPE_CHECKING:
    from covey.comms.protocols.station import Frame, Station

protocols: Registry[type["Protocol"]] = Registry("protocol")
"""Protocols by name; packages add theirs under the entry-point group ``covey.protocol``."""

CONTROL_BYTES = 36
"""Size of a packet that only says something about another one: the header of 28 bytes and a number."""


class Protocol(Named):
    """What a robot's radio does with messages; each robot has one of its own, whose state is in private attributes.

    A subclass overrides what it changes; this one sends everything straight away, and delivers what arrives.
    """

    registry = protocols

    def send(self, frame: "Frame", station: "Station") -> None:
        """Send a message that the robot wrote."""
        station.transmit(frame)

    def hear(self, frame: "Frame", station: "Station") -> None:
        """Take in a packet that the radio received; its ``to`` is this robot, or everybody."""
        station.deliver(frame)

    def step(self, station: "Station") -> None:
        """Do what is due; called once per control step, after what arrived was heard."""


@protocols.register("direct")
class Direct(Protocol):
    """Every message is one packet, without confirmation and repetition."""
