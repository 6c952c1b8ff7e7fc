"""`Mirror`: the beliefs of a team whose processes map, for all in the simulation that looks at beliefs."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from covey.mapping.exchange.apart import MirroredBeliefs, OthersTiles, OwnTiles
from covey.mapping.exchange.map_updates import News
from covey.runtime.transport.channel import Seat
from covey.runtime.transport.transport import MAP, MONITOR, Parts

Tiles = tuple[np.ndarray, np.ndarray]


class Host(Protocol):
    """What a mirror asks of who has the processes."""

    def ready(self) -> None:
        """Make sure that the processes have come in."""
        ...

    def maps_until(self) -> float | None:
        """Return until when answers are waited for, see `Seat.settle`."""
        ...

    def took(self, seat: Seat, cpu_s: float) -> None:
        """Note that a scan has taken processor time [s]."""
        ...


class Mirror(MirroredBeliefs):
    """Beliefs whose scans go to the processes of the robots; robots without one of their own map here."""

    def __init__(self, *arguments: Any, **options: Any):
        super().__init__(*arguments, **options)
        self._seats: dict[int, Seat] = {}
        self._waiting: dict[int, Tiles] = {}
        self._host: Host | None = None
        self.start: np.ndarray | None = None

    def attach(self, seats: dict[int, Seat], host: Host) -> None:
        """Say which robots have a process, by row, and who has them."""
        self._seats, self._host = seats, host

    def know(self, robots: np.ndarray, occupancy: np.ndarray) -> None:
        """Let robots start with a map."""
        super().know(robots, occupancy)
        self.start = occupancy

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
        """Let the robots' processes take in a scan each, and take in what that changed; one that is busy loses it."""
        here = np.array([int(row) not in self._seats for row in robots], bool)
        used = 0
        if here.any():
            used = super().update(robots[here], poses[here], ranges[here], angles, mount, range_m, step)
        if here.all() or self._host is None:
            return used
        self._host.ready()
        asked: list[Seat] = []
        for k in np.flatnonzero(~here).tolist():
            row = int(robots[k])
            seat = self._seats[row]
            if seat.is_deciding:
                seat.misses.dropped_readings += 1
            elif seat.ask(MAP, ((poses[k], ranges[k], step), None, self.waiting(row)), self._put(row, poses[k])):
                asked.append(seat)
        for seat in asked:
            seat.settle(self._host.maps_until())
        return used + len(asked)

    def take(self, received: np.ndarray, news: Sequence[News]) -> np.ndarray:
        """Let robots take the tiles that they received, and keep them for their processes."""
        for row in np.flatnonzero(received.any(axis=1)).tolist() if len(news) else ():
            if row in self._seats:
                others = self.lacking(row, [news[k] for k in np.flatnonzero(received[row]).tolist()])
                if len(others.items):
                    self._keep(row, others)
        return super().take(received, news)

    def waiting(self, row: int) -> Tiles | None:
        """Take what a robot's process has still to be told."""
        return self._waiting.pop(row, None)

    def _put(self, row: int, pose: np.ndarray) -> Callable[[Parts, float], None]:
        """Return what takes in the answer to a scan from a pose (3,)."""

        def then(answer: Parts, cpu_s: float) -> None:
            if answer[MONITOR] is not None:
                self.put(row, pose, OwnTiles(*answer[MONITOR]))
            assert self._host is not None
            self._host.took(self._seats[row], cpu_s)

        return then

    def _keep(self, row: int, others: OthersTiles) -> None:
        before = self._waiting.get(row)
        both = [others] if before is None else [OthersTiles(*before), others]
        self._waiting[row] = np.concatenate([o.items for o in both]), np.concatenate([o.cells for o in both])
