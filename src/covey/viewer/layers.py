"""Map layers of a simulation: arrays of cells that change, and which of their tiles have changed."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from covey.geometry.grid import Grid
from covey.kernel import kernel

TILE = 32
"""Side of a tile [cells]."""
_SHARE = 0.01
"""Largest share of the time that looking for changes in a layer may take."""


class Layer:
    """One array of cells as it was when it was last looked at.

    Args:
        name: name of the layer.
        grid: place of the cells; its own cells are not used.
        cells: returns the present cells, shape (rows, columns).
        stamp: returns a value that differs if the cells may have changed; None: look at all cells each time.

    Attributes:
        seen: the cells at the last look.
    """

    def __init__(
        self,
        name: str,
        grid: Grid,
        cells: Callable[[], np.ndarray],
        stamp: Callable[[], Any] | None = None,
    ):
        self.name, self.grid = name, grid
        self._cells, self._stamp_of = cells, stamp
        self._stamp = None if stamp is None else stamp()
        self.seen = np.array(cells(), order="C")
        self._next = 0.0

    @property
    def tiles(self) -> tuple[int, int]:
        """Rows and columns of tiles."""
        rows, columns = self.seen.shape
        return -(-rows // TILE), -(-columns // TILE)

    def changed(self, now: float) -> np.ndarray:
        """Take in the present cells, and return the numbers of the tiles that differ, int64 (m,).

        Args:
            now: wall time [s]. A layer that takes long to look at is looked at less often.
        """
        nothing = np.zeros(0, np.int64)
        if now < self._next:
            return nothing
        if self._stamp_of is not None:
            stamp = self._stamp_of()
            if stamp == self._stamp:
                return nothing
            self._stamp = stamp
        begun = time.perf_counter()
        found = take_changes(np.ascontiguousarray(self._cells()), self.seen, np.zeros(self.tiles, np.bool_))
        self._next = now + (time.perf_counter() - begun) / _SHARE
        return np.flatnonzero(found)

    def cut(self, tiles: np.ndarray) -> np.ndarray:
        """Return tiles, shape (m, 32, 32); beyond the edge of the array they hold zeros."""
        rows, columns = self.seen.shape
        out = np.zeros((len(tiles), TILE, TILE), self.seen.dtype)
        for k, tile in enumerate(tiles.tolist()):
            row, column = (TILE * index for index in divmod(tile, self.tiles[1]))
            part = self.seen[row : min(row + TILE, rows), column : min(column + TILE, columns)]
            out[k, : part.shape[0], : part.shape[1]] = part
        return out

    @property
    def place(self) -> dict[str, Any]:
        """Where the cells are, for the page."""
        return {
            "rows": self.seen.shape[0],
            "columns": self.seen.shape[1],
            "resolution_m": self.grid.resolution,
            "origin": list(self.grid.origin),
        }


@kernel
def take_changes(now, seen, changed):
    """Copy cells that differ, and mark their tiles.

    Args:
        now: the present cells, (rows, columns).
        seen: the cells before; changed in place.
        changed: bool (tile rows, tile columns), all False; returned.
    """
    for row in range(now.shape[0]):
        for column in range(now.shape[1]):
            if now[row, column] != seen[row, column]:
                seen[row, column] = now[row, column]
                changed[row // 32, column // 32] = True
    return changed


def layers_of(sim: Any) -> dict[str, Callable[[], Layer]]:
    """Return the layers of a simulation by name; each is made when somebody first watches it."""
    state, scoring = sim.world_state, sim.scoring
    grid = state.grid
    explored, covered = scoring.exploration.cells, scoring.coverage.cells
    made: dict[str, Callable[[], Layer]] = {
        "truth": lambda: Layer("truth", grid, lambda: state.grid.cells, lambda: state.version)
    }
    if explored is not None:
        made["first_explored"] = lambda: Layer(
            "first_explored", grid, lambda: explored.first_step, lambda: explored.share_union
        )
        made["last_explored"] = lambda: Layer("last_explored", grid, lambda: explored.last_step_before)
    made["last_covered"] = lambda: Layer("last_covered", grid, lambda: covered.last_step)
    for team in sim.localization.teams:
        for k, robot in enumerate(team.members.tolist()):
            belief = team.beliefs[k]
            if hasattr(team.beliefs, "occupancy"):
                name = f"map:{sim.names[robot]}"
                made[name] = _belief(name, sim.localization.place(robot), belief)
    return made


def _belief(name: str, place: Grid, belief: Any) -> Callable[[], Layer]:
    return lambda: Layer(name, place, lambda: np.asarray(belief.occupancy()), lambda: belief.version)
