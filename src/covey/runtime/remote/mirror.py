"""`Mirror`: the simulation's copy of the beliefs of a team whose processes map."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from covey.mapping.exchange.map_updates import MapUpdate
from covey.mapping.occupancy.apart import GivenTiles, MirroredBeliefs, OwnTiles
from covey.onboard.step import ScanInput
from covey.runtime.remote.proxy import Proxy
from covey.runtime.transport.channel import Channel


class MirrorHost(Protocol):
    """What a mirror needs from the owner of the processes."""

    def ready(self) -> None:
        """Make sure that the processes have connected."""
        ...

    def maps_until(self) -> float | None:
        """Return the deadline for answers, see `Channel.settle`."""
        ...

    def took(self, channel: Channel, cpu_s: float) -> None:
        """Charge the processor time of a scan [s]."""
        ...


class Mirror(MirroredBeliefs):
    """Beliefs whose scans go to the robots' processes; robots without a process map here."""

    def __init__(self, *arguments: Any, **options: Any):
        super().__init__(*arguments, **options)
        self._proxies: dict[int, Proxy] = {}
        self._waiting: dict[int, GivenTiles] = {}
        self._host: MirrorHost | None = None
        self.known: dict[int, np.ndarray] = {}

    def attach(self, proxies: dict[int, Proxy], host: MirrorHost) -> None:
        """Set the robots that keep their maps elsewhere, by row, and their host."""
        self._proxies, self._host = proxies, host

    def know(self, robots: np.ndarray, occupancy: np.ndarray) -> None:
        """Let robots start with a map."""
        super().know(robots, occupancy)
        self.known |= dict.fromkeys(robots.tolist(), occupancy)

    def update(
        self,
        robots: np.ndarray,
        poses: np.ndarray,
        ranges: np.ndarray,
        angles: np.ndarray,
        mount: Any,
        range_m: float,
        step: int,
    ) -> int:
        """Send each robot's process a scan, and apply the changes; a busy process loses its scan."""
        here = np.array([int(row) not in self._proxies for row in robots], bool)
        used = 0
        if here.any():
            used = super().update(robots[here], poses[here], ranges[here], angles, mount, range_m, step)
        if here.all() or self._host is None:
            return used
        self._host.ready()
        asked: list[Channel] = []
        for k in np.flatnonzero(~here).tolist():
            row = int(robots[k])
            proxy = self._proxies[row]
            if proxy.channel.is_deciding:
                proxy.channel.misses.dropped_readings += 1
            elif proxy.scan(ScanInput(poses[k], ranges[k], step, self.waiting(row)), self._put(row, poses[k])):
                asked.append(proxy.channel)
        for channel in asked:
            channel.settle(self._host.maps_until())
        return used + len(asked)

    def merge_updates(self, received: np.ndarray, updates: Sequence[MapUpdate]) -> np.ndarray:
        """Merge received tiles, and keep them for the robots' processes."""
        for row in np.flatnonzero(received.any(axis=1)).tolist() if len(updates) else ():
            if row in self._proxies:
                others = self.lacking(row, [updates[k] for k in np.flatnonzero(received[row]).tolist()])
                if len(others.items):
                    self._keep(row, others)
        return super().merge_updates(received, updates)

    def put_own(self, robot: int, tiles_of: np.ndarray, cells: np.ndarray) -> None:
        """Correct a robot's own evidence, and keep it for the robot's process."""
        super().put_own(robot, tiles_of, cells)
        if robot in self._proxies:
            items = np.column_stack((tiles_of, np.full(len(tiles_of), robot), np.zeros(len(tiles_of)))).astype(np.int32)
            self._keep(robot, GivenTiles(items, cells))

    def waiting(self, row: int) -> GivenTiles | None:
        """Return, once, the tiles that a robot's process has not received yet."""
        return self._waiting.pop(row, None)

    def _put(self, row: int, pose: np.ndarray) -> Callable[[OwnTiles | None, float], None]:
        """Return the function that processes the answer to a scan from a pose (3,)."""

        def then(own: OwnTiles | None, cpu_s: float) -> None:
            if own is not None:
                self.put(row, pose, own)
            assert self._host is not None
            self._host.took(self._proxies[row].channel, cpu_s)

        return then

    def _keep(self, row: int, given: GivenTiles) -> None:
        before = self._waiting.get(row)
        if before is not None:
            given = GivenTiles(*(np.concatenate(pair) for pair in zip(before, given, strict=True)))
        self._waiting[row] = given
