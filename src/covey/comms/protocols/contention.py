"""Random medium access: slotted ALOHA, and carrier sensing."""

import math
from collections import deque

from pydantic import Field, PrivateAttr

from covey.comms.protocols.protocol import Protocol, protocols
from covey.comms.protocols.station import Frame, Station


@protocols.register("slotted_aloha")
class SlottedAloha(Protocol):
    """The oldest waiting message is transmitted at the beginning of a slot, with a probability, without confirmation.

    With ``interference``, packets in one slot destroy each other: of G packets that many stations offer in a slot,
    G exp(-G) get through. References: L. Roberts: ALOHA packet system with and without slots and capture. ACM
    SIGCOMM Computer Communication Review 5 (2), 1975.
    """

    slot_s: float = Field(default=0.1, gt=0, le=3600, description="Length of a slot, at least a control step [s].")
    probability: float = Field(default=1.0, gt=0, le=1, description="Probability of transmitting in a slot.")

    _queue: deque[Frame] = PrivateAttr(default_factory=deque)
    _slot: int = PrivateAttr(default=-1)

    def send(self, frame: Frame, station: Station) -> None:
        """Queue a message."""
        self._queue.append(frame)

    def step(self, station: Station) -> None:
        """Transmit with a probability at the beginning of a slot."""
        slot = math.floor(station.time_s / self.slot_s + 1e-9)
        if slot == self._slot:
            return
        self._slot = slot
        if self._queue and (self.probability == 1.0 or station.uniform() < self.probability):
            station.transmit(self._queue.popleft())


@protocols.register("csma")
class Csma(Protocol):
    """p-persistent carrier sensing: a robot that hears nobody transmits with a probability in each control step.

    It helps if packets last longer than a step: then only those that begin in the same step collide. References:
    L. Kleinrock, F. Tobagi: Packet switching in radio channels, part I. IEEE Transactions on Communications 23, 1975.
    """

    probability: float = Field(default=0.1, gt=0, le=1, description="Probability of transmitting in an idle step.")

    _queue: deque[Frame] = PrivateAttr(default_factory=deque)

    def send(self, frame: Frame, station: Station) -> None:
        """Queue a message."""
        self._queue.append(frame)

    def step(self, station: Station) -> None:
        """Transmit with a probability if no robot is heard."""
        if self._queue and not station.busy and station.uniform() < self.probability:
            station.transmit(self._queue.popleft())
