"""`Mirror`: the beliefs of a team whose processes map, for all in the simulation that looks at beliefs."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from covey.mapping.apart import MirroredBeliefs, OthersTiles, OwnTiles
from covey.mapping.news import News
from covey.sim.processes.seat import Seat
from covey.sim.processes.wire import MAP, MONITOR

Tiles = tuple[np.ndarray, np.ndarray]


class Mirror(MirroredBeliefs):
    """Beliefs whose scans go to the processes of the robots; robots without one of their own map here."""

    def __init__(self, *arguments: Any, **options: Any):
        super().__init__(*arguments, **options)
        self._seats: dict[int, Seat] = {}
        self._waiting: dict[int, Tiles] = {}
        self._ready: Callable[[], None] = lambda: None
        self.start: np.ndarray | None = None

    def attach(self, seats: dict[int, Seat], ready: Callable[[], None]) -> None:
        """Say which robots have a process, by row, and what makes sure that they have come in."""
        self._seats, self._ready = seats, ready

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
        """Let the robots' processes take in a scan each, and take in what that changed."""
        self._ready()
        here = np.array([int(row) not in self._seats for row in robots], bool)
        used = 0
        if here.any():
            used = super().update(robots[here], poses[here], ranges[here], angles, mount, range_m, step)
        rows = [(k, int(robots[k])) for k in np.flatnonzero(~here)]
        asked = [
            (k, row)
            for k, row in rows
            if self._seats[row].ask(MAP, ((poses[k], ranges[k], step), None, self.waiting(row)))
        ]
        for k, row in asked:
            answer = self._seats[row].answer()
            if answer is not None and answer[MONITOR] is not None:
                self.put(row, poses[k], OwnTiles(*answer[MONITOR]))
                used += 1
        return used

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

    def _keep(self, row: int, others: OthersTiles) -> None:
        before = self._waiting.get(row)
        both = [others] if before is None else [OthersTiles(*before), others]
        self._waiting[row] = np.concatenate([o.items for o in both]), np.concatenate([o.cells for o in both])
