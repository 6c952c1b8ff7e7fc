"""Base of the protocols between the mailbox of a robot and its radio."""

from typing import TYPE_CHECKING

from covey.named import Named
from covey.registry import Registry

if TYPE_CHECKING:
    from covey.comms.protocols.station import Frame, Station

protocols: Registry[type["Protocol"]] = Registry("protocol", shelf="covey.comms.protocols")
"""Protocols by name; packages add theirs under the entry-point group ``covey.protocol``."""

CONTROL_BYTES = 36
"""Size of a packet that only refers to another one [bytes]: the header of 28 bytes and a number."""


class Protocol(Named):
    """Handles the messages of a robot's radio; each robot has its own instance, with its state in private attributes.

    A subclass overrides methods; this base sends everything at once, and delivers what arrives.
    """

    registry = protocols

    def send(self, frame: "Frame", station: "Station") -> None:
        """Send a message that the robot wrote."""
        station.transmit(frame)

    def hear(self, frame: "Frame", station: "Station") -> None:
        """Process a received packet; its ``to`` is this robot, or all."""
        station.deliver(frame)

    def step(self, station: "Station") -> None:
        """Do what is due; called once per control step, after `hear` for all arrived packets."""


@protocols.register("direct")
class Direct(Protocol):
    """Every message is one packet, without confirmation or repetition."""
