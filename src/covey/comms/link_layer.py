"""Link layer: the protocols of all robots on one radio, between the mailboxes and the radio channel."""

from collections.abc import Callable
from typing import Any

import numpy as np

from covey.comms.packets import NONE, Packets, objects
from covey.comms.protocols.protocol import Direct, Protocol
from covey.comms.protocols.station import Frame, Station
from covey.comms.radio_channel import RadioChannel, Receptions
from covey.comms.traffic import CAUSES
from covey.random import stream_key
from covey.world.state import AnyWorld

HandOver = Callable[[Receptions], None]
_NUMBERS = ("number", "origin", "final", "source", "to", "kind", "size", "hops")


class DirectPost:
    """Transmits messages as they are, and hands over what arrives, in batches."""

    def __init__(self, radio_channel: RadioChannel, hand_over: HandOver):
        self.radio_channel, self._hand_over = radio_channel, hand_over

    @property
    def idle(self) -> bool:
        """True if nothing is being transmitted."""
        return self.radio_channel.idle

    def begin(self, world: AnyWorld, pose: np.ndarray, alive: np.ndarray, before_s: float, now_s: float) -> None:
        """Begin a step."""

    def send(self, packets: Packets) -> None:
        """Send messages of robots."""
        self.radio_channel.transmit(packets)

    def hear(self, come: Receptions) -> None:
        """Process what has arrived."""
        self._hand_over(come)


class StationPost:
    """Each robot has a station that runs a protocol; packets are processed one by one."""

    def __init__(self, radio_channel: RadioChannel, seed: int, hand_over: HandOver):
        self.radio_channel, self._hand_over = radio_channel, hand_over
        key = stream_key(seed, f"radio/{radio_channel.radio.name}/protocol")
        self.stations = [
            Station(
                i,
                _own(radio_channel.radio.protocol),
                key,
                self._nearby,
                self._deliver,
                self._drop,
                radio_channel.queues.done_s,
            )
            for i in range(radio_channel.robots)
        ]
        self._hears: np.ndarray | None = None
        self._place: tuple[Any, ...] = ()
        self._delivered: list[tuple[int, Frame]] = []
        self._now_s = 0.0

    @property
    def idle(self) -> bool:
        """False: a protocol may act at any step."""
        return False

    def begin(self, world: AnyWorld, pose: np.ndarray, alive: np.ndarray, before_s: float, now_s: float) -> None:
        """Begin a step; the messages of robots were written at ``before_s``."""
        self._hears, self._place, self._now_s = None, (world, pose, alive), now_s
        for station in self.stations:
            station.time_s = before_s

    def send(self, packets: Packets) -> None:
        """Send messages of robots."""
        for k in range(len(packets)):
            frame = self._frame(packets, k, 0.0)
            station = self.stations[frame.origin]
            station.protocol.send(frame, station)
        self._flush()

    def hear(self, come: Receptions) -> None:
        """Process what has arrived, then step every station."""
        self._sense()
        for station in self.stations:
            station.time_s = self._now_s
        for row, robot, arrived_s in zip(
            come.row.tolist(), come.receiver.tolist(), come.arrived_s.tolist(), strict=True
        ):
            station = self.stations[robot]
            station.protocol.hear(self._frame(come.packets, row, arrived_s), station)
        alive = self._place[2]
        for station in self.stations:
            if alive[station.robot]:
                station.protocol.step(station)
        self._flush()
        if self._delivered:
            robots, frames = zip(*self._delivered, strict=True)
            arrived = np.array([f.arrived_s for f in frames])
            self._delivered = []
            every = np.arange(len(frames))
            self._hand_over(Receptions(self._packets(frames), every, np.array(robots, np.int64), arrived))

    def _sense(self) -> None:
        """Find the robots that hear a transmission now, or transmit."""
        on_air = self.radio_channel.pending
        on_air = on_air.select((on_air.start_s <= self._now_s) & (on_air.end_s > self._now_s + 1e-9))
        for station in self.stations:
            station.busy = False
        for source in np.unique(on_air.source).tolist():
            self.stations[source].busy = True
            for robot in self._nearby(source):
                self.stations[robot].busy = True

    def _nearby(self, robot: int) -> list[int]:
        world, pose, alive = self._place
        if self._hears is None:
            self._hears = self.radio_channel.propagation.hears(world, pose, alive)
        return np.flatnonzero(self._hears[robot]).tolist()

    def _deliver(self, robot: int, frame: Frame) -> None:
        self._delivered.append((robot, frame))

    def _drop(self, frame: Frame, cause: str) -> None:
        self.radio_channel.traffic.dropped[
            frame.origin, self.radio_channel.traffic.kind(frame.kind), CAUSES.index(cause)
        ] += 1

    def _flush(self) -> None:
        """Transmit the outgoing packets of the stations, in the order of the robots."""
        ready = [(s.time_s, f) for s in self.stations for f in s.outgoing]
        if ready:
            for station in self.stations:
                station.outgoing.clear()
            start = np.array([t for t, _ in ready])
            self.radio_channel.transmit(self._packets([f for _, f in ready]).replace(start_s=start, end_s=start))

    def _frame(self, packets: Packets, k: int, arrived_s: float) -> Frame:
        number, origin, final, source, to, kind, size, hops = (int(getattr(packets, c)[k]) for c in _NUMBERS)
        times = float(packets.sent_s[k]), float(packets.expires_s[k])
        name = self.radio_channel.traffic.kinds[kind]
        content = packets.payload[k], packets.note[k]
        return Frame(number, origin, final, source, to, name, size, *times, hops, *content, arrived_s)

    def _packets(self, frames: Any) -> Packets:
        if not frames:
            return NONE
        kind, m = self.radio_channel.traffic.kind, len(frames)
        rows = [(f.number, f.origin, f.final, f.source, f.to, kind(f.kind), f.size_bytes, f.hops) for f in frames]
        number, origin, final, source, to, kinds, size, hops = np.array(rows, np.int64).T.copy()
        sent, expires = np.array([(f.sent_s, f.expires_s) for f in frames]).T.copy()
        contents = objects([f.payload for f in frames]), objects([f.note for f in frames])
        return Packets(
            number, origin, final, source, to, kinds, size, sent, expires, np.zeros(m), np.zeros(m), hops, *contents
        )


def post_of(radio_channel: RadioChannel, seed: int, hand_over: HandOver) -> DirectPost | StationPost:
    """Return the link layer for the protocol of a radio channel."""
    return (
        DirectPost(radio_channel, hand_over)
        if type(radio_channel.radio.protocol) is Direct
        else StationPost(radio_channel, seed, hand_over)
    )


def _own(protocol: Protocol) -> Protocol:
    """Return a protocol with the same parameters and its own state."""
    return type(protocol)(**{name: getattr(protocol, name) for name in type(protocol).model_fields})
