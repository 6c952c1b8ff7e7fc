"""Acknowledgement and repetition: stop-and-wait."""

from collections import deque

from pydantic import Field, PrivateAttr

from covey.comms.protocols.protocol import CONTROL_BYTES, Protocol, protocols
from covey.comms.protocols.station import ALL, Frame, Station


@protocols.register("acknowledged")
class Acknowledged(Protocol):
    """Stop-and-wait ARQ: the receiver confirms; without a confirmation in time the sender repeats, then gives up.

    One message is in transit at a time; broadcasts are not confirmed. With loss p in both directions a message takes 1
    / (1 - p)^2 transmissions on average, and 1 / (1 - p) if confirmations are never lost. A confirmation takes at least
    two control steps.

    References: D. Bertsekas, R. Gallager: Data networks, 2nd edition 1992, 2.4.1.
    """

    timeout_s: float = Field(
        default=0.5, gt=0, le=3600, description="Time from the end of a transmission to the next attempt [s]."
    )
    retries: int = Field(default=5, ge=0, le=1_000_000, description="Number of repetitions before it gives up.")

    _queue: deque[Frame] = PrivateAttr(default_factory=deque)
    _tries: int = PrivateAttr(default=0)
    _due_s: float = PrivateAttr(default=0.0)
    _newest: dict[int, int] = PrivateAttr(default_factory=dict)

    def send(self, frame: Frame, station: Station) -> None:
        """Queue a message for one robot; transmit a broadcast at once."""
        if frame.final == ALL:
            station.transmit(frame)
            return
        self._queue.append(frame)
        if len(self._queue) == 1:
            self._transmit(station, first=True)

    def hear(self, frame: Frame, station: Station) -> None:
        """Confirm a packet, and deliver it if it is new."""
        if frame.note == "ack":
            if self._queue and self._queue[0].number == frame.number:
                self._next(station)
            return
        if frame.final == ALL:
            station.deliver(frame)
            return
        station.transmit(frame, to=frame.source, size_bytes=CONTROL_BYTES, note="ack", payload=None)
        if frame.number > self._newest.get(frame.origin, -1):
            self._newest[frame.origin] = frame.number
            station.deliver(frame)

    def step(self, station: Station) -> None:
        """Repeat or give up a message that was not confirmed in time."""
        if self._queue and station.time_s >= self._due_s - 1e-9:
            if self._tries > self.retries or station.time_s > self._queue[0].expires_s:
                station.drop(self._queue[0])
                self._next(station)
            else:
                self._transmit(station, first=False)

    def _transmit(self, station: Station, first: bool) -> None:
        self._tries = 1 if first else self._tries + 1
        station.transmit(self._queue[0])
        self._due_s = station.transmitted_s() + self.timeout_s

    def _next(self, station: Station) -> None:
        self._queue.popleft()
        if self._queue:
            self._transmit(station, first=True)
