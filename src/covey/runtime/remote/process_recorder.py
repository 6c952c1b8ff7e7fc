"""`ProcessRecorder`: records data about the processes of a run."""

import time
from collections.abc import Iterable
from dataclasses import astuple

from covey.results import processes
from covey.results.processes import HostSample, TrafficSample
from covey.results.recorder import Recorder
from covey.runtime.remote.use import Use
from covey.runtime.transport.channel import Channel
from covey.runtime.transport.transport import CLASSES, Transport

TRAFFIC_S = 5.0
"""Period at which traffic is recorded [s of simulated time]."""


class ProcessRecorder:
    """Takes samples of the processes, and records them."""

    def __init__(self) -> None:
        self.recorder: Recorder | None = None
        self._started = time.monotonic()
        self._next_s = TRAFFIC_S
        self._wires: dict[str, Transport] = {}

    def start(self, channels: Iterable[Channel]) -> None:
        """Begin, once all processes have connected."""
        self._started = time.monotonic()
        self._wires = {channel.name: channel.wire for channel in channels if channel.wire is not None}

    def record(self, channels: Iterable[Channel], step: int, time_s: float, last: bool = False) -> None:
        """Record the data after a step."""
        if self.recorder is None:
            return
        rows = [self._host(channel, Use(*use), step, time_s) for channel in channels for use in channel.uses]
        for channel in channels:
            channel.uses.clear()
        if rows:
            self.recorder.add(processes.HOST, processes.schema(HostSample), processes.columns(rows))
        if self._wires and (last or time_s >= self._next_s - 1e-9):
            self._next_s = time_s + TRAFFIC_S
            traffic = [row for name, wire in self._wires.items() for row in _traffic(name, wire, step, time_s)]
            self.recorder.add(processes.TRAFFIC, processes.schema(TrafficSample), processes.columns(traffic))

    def _host(self, channel: Channel, use: Use, step: int, time_s: float) -> HostSample:
        wall = time.monotonic() - self._started
        took = use.cpu_percent, use.ram_percent, use.rss_mib, use.kbytes_received, use.kbytes_sent
        return HostSample(step, time_s, wall, channel.name, channel.host, *took, *astuple(channel.misses))


def _traffic(name: str, wire: Transport, step: int, time_s: float) -> Iterable[TrafficSample]:
    for k, kind in enumerate(CLASSES):
        counts = wire.sent[k], wire.received[k], wire.letters_sent[k], wire.letters_received[k]
        yield TrafficSample(step, time_s, name, kind, *(int(count) for count in counts))
