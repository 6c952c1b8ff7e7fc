"""Store and forward: robots carry the messages of others, and pass them on when they meet another robot."""

from dataclasses import dataclass

from pydantic import Field, PrivateAttr

from covey.comms.protocols.protocol import CONTROL_BYTES, Protocol, protocols
from covey.comms.protocols.station import ALL, Frame, Station


@dataclass(eq=False)
class Held:
    """A message that a robot keeps for others: the robots that have it, and the time of its last transmission [s]."""

    frame: Frame
    has: set[int]
    last_s: float = -1e300


@protocols.register("store_and_forward")
class StoreAndForward(Protocol):
    """Epidemic routing: a robot that holds a message offers it to the neighbours that, as far as it knows, lack it.

    Receivers confirm each packet; the final receiver gets a message once, even if several robots bring it. A message
    takes at most ``hops`` links, and is deleted ``hold_s`` after it was written, or at the end of its time to live.

    References: A. Vahdat, D. Becker: Epidemic routing for partially-connected ad hoc networks. Duke University
    CS-2000-06, 2000.
    """

    hops: int = Field(default=8, ge=1, le=10_000, description="Longest chain of radio links.")
    hold_s: float = Field(default=60.0, gt=0, le=1e6, description="How long a message is kept [s].")
    retry_s: float = Field(default=1.0, gt=0, le=3600, description="Time between two offers of the same message [s].")

    _held: dict[int, Held] = PrivateAttr(default_factory=dict)
    _seen: dict[int, float] = PrivateAttr(default_factory=dict)

    def send(self, frame: Frame, station: Station) -> None:
        """Offer a message at once, and keep it until others have it."""
        held = self._keep(frame, {station.robot})
        self._offer(held, station.neighbours(), station)

    def hear(self, frame: Frame, station: Station) -> None:
        """Confirm a packet; deliver it if it is for this robot, keep it if it is for others."""
        held = self._held.get(frame.number)
        if held is not None:
            held.has.add(frame.source)
        if frame.note == "ack":
            if held is not None and held.frame.final == frame.source:
                del self._held[frame.number]
            return
        station.transmit(frame, to=frame.source, size_bytes=CONTROL_BYTES, note="ack", payload=None)
        if frame.number in self._seen:
            return
        if frame.final in (ALL, station.robot):
            station.deliver(frame)
        self._seen[frame.number] = self._end_s(frame)
        if frame.final != station.robot and frame.hops < self.hops:
            self._keep(frame, {station.robot, frame.source, frame.origin})

    def step(self, station: Station) -> None:
        """Delete old messages, and offer messages that others lack."""
        now = station.time_s
        self._seen = {k: end for k, end in self._seen.items() if end > now}
        for number in [k for k, h in self._held.items() if self._end_s(h.frame) <= now]:
            frame = self._held.pop(number).frame
            if frame.origin == station.robot and frame.final != ALL:
                station.drop(frame)
        due = [h for h in self._held.values() if h.last_s + self.retry_s <= now + 1e-9]
        near = station.neighbours() if due else []
        for held in due:
            self._offer(held, near, station)

    def _offer(self, held: Held, near: list[int], station: Station) -> None:
        lack = [robot for robot in near if robot not in held.has]
        if lack:
            to = held.frame.final if held.frame.final in lack else lack[0] if len(lack) == 1 else ALL
            station.transmit(held.frame, to=to)
            held.last_s = station.time_s

    def _keep(self, frame: Frame, has: set[int]) -> Held:
        held = self._held[frame.number] = Held(frame, has)
        self._seen[frame.number] = self._end_s(frame)
        return held

    def _end_s(self, frame: Frame) -> float:
        return min(frame.expires_s, frame.sent_s + self.hold_s)
