"""Map layers of a simulation: arrays of cells that change, and which of their tiles have changed."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from covey.geometry.faces import last_of_cells
from covey.geometry.grid import Grid
from covey.kernel import kernel
from covey.mapping.elevation.belief import ElevationBelief
from covey.mapping.elevation.compare import true_altitude
from covey.mapping.elevation.kernels import MEASURED
from covey.runtime.simulation import Simulation
from covey.world.visibility.explored import ExploredTruth

TILE = 32
"""Side of a tile [cells]."""
_SHARE = 0.01
"""Share of the time that looking for changes in a layer may take."""
_LONGEST_S = 10.0
"""Longest time between two looks at a layer [s]."""


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
        take_changes(self.seen, self.seen, np.zeros(self.tiles, np.bool_))  # compiled before somebody takes the time
        self._next = 0.0

    @property
    def tiles(self) -> tuple[int, int]:
        """Rows and columns of tiles."""
        rows, columns = self.seen.shape
        return -(-rows // TILE), -(-columns // TILE)

    def changed(self, now: float, complete: bool = False) -> np.ndarray:
        """Take in the present cells, and return the numbers of the tiles that differ, int64 (m,).

        Args:
            now: wall time [s]. A layer that takes long to look at is looked at less often.
            complete: look at it in any case.
        """
        nothing = np.zeros(0, np.int64)
        if now < self._next and not complete:
            return nothing
        if self._stamp_of is not None:
            stamp = self._stamp_of()
            if stamp == self._stamp:
                return nothing
            self._stamp = stamp
        begun = time.perf_counter()
        found = take_changes(np.ascontiguousarray(self._cells()), self.seen, np.zeros(self.tiles, np.bool_))
        self._next = now + min((time.perf_counter() - begun) / _SHARE, _LONGEST_S)
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
    def area(self) -> dict[str, Any]:
        """Where the cells are, for the page."""
        return {
            "rows": self.seen.shape[0],
            "columns": self.seen.shape[1],
            "resolution_m": self.grid.resolution,
            "origin": list(self.grid.origin),
        }


@kernel
def take_changes(now, seen, changed):
    """Copy cells that differ, and mark their tiles; NaN does not differ from NaN.

    Args:
        now: the present cells, (rows, columns).
        seen: the cells before; changed in place.
        changed: bool (tile rows, tile columns), all False; returned.
    """
    for row in range(now.shape[0]):
        for column in range(now.shape[1]):
            new, old = now[row, column], seen[row, column]
            if new != old and (new == new or old == old):  # NaN equals NaN here
                seen[row, column] = now[row, column]
                changed[row // 32, column // 32] = True
    return changed


def layers_of(sim: Simulation) -> dict[str, Callable[[], Layer]]:
    """Return the layers of a simulation by name, see `covey.viewer.cell_layers`.

    Each is made when somebody first watches it. `covey.viewer.heat.Heat` adds some.
    """
    state, scoring = sim.world_state, sim.scoring
    grid, ground = state.grid, state.ground
    explored, covered = scoring.exploration.cells, scoring.coverage.cells
    made: dict[str, Callable[[], Layer]] = {
        "truth": lambda: Layer("truth", grid, lambda: state.grid.cells, lambda: state.version)
    }
    if ground is not None:
        made["ground"] = lambda: Layer("ground", _around(ground), lambda: _f4(ground.altitude), lambda: ground.version)
    if explored is not None:
        made["first_explored"] = lambda: Layer(
            "first_explored", grid, lambda: explored.first_step, lambda: explored.share_union
        )
        made["last_explored"] = lambda: Layer("last_explored", grid, lambda: explored.last_step_before)
        made["seen_by"] = lambda: Layer(
            "seen_by", grid, lambda: explored.seen_by, lambda: explored.share_each.tobytes()
        )
        for robot, name in enumerate(sim.names):
            made[f"explored:{name}"] = _explored(f"explored:{name}", grid, explored, robot)
    if (search := scoring.search) is not None:
        faces = search.faces
        made["searched_walls"] = lambda: Layer(
            "searched_walls", grid, lambda: last_of_cells(faces.table, grid.shape), lambda: faces.share_union
        )
    made["last_covered"] = lambda: Layer("last_covered", grid, lambda: covered.last_step)
    made["passed_by"] = lambda: Layer("passed_by", grid, lambda: covered.passed_by)
    for team in sim.localization.teams:
        for k, robot in enumerate(team.members.tolist()):
            belief, name = team.beliefs[k], sim.names[robot]
            made[f"map:{name}"] = _belief(f"map:{name}", sim.localization.map_in_world(robot), belief)
            if isinstance(belief, ElevationBelief):
                made |= _elevation(name, belief, ground)
    if sim.localization.teams:
        made["union"] = _union(sim)
    return made


def _explored(name: str, grid: Grid, explored: ExploredTruth, robot: int) -> Callable[[], Layer]:
    return lambda: Layer(
        name, grid, lambda: explored.explored(robot).view(np.uint8), lambda: explored.share_each[robot]
    )


def _belief(name: str, place: Grid, belief: Any) -> Callable[[], Layer]:
    return lambda: Layer(name, place, lambda: np.asarray(belief.occupancy()), lambda: belief.version)


def _union(sim: Simulation) -> Callable[[], Layer]:
    """Return the layer of what all robots with equal maps have found together."""
    beliefs, merged = sim.localization.teams[0].beliefs, sim.scoring.union

    def make() -> Layer:
        place = merged()
        assert place is not None
        return Layer("union", place, lambda: merged().cells, lambda: beliefs.version.tobytes())  # type: ignore[union-attr]

    return make


def _elevation(name: str, belief: ElevationBelief, ground: Any) -> dict[str, Callable[[], Layer]]:
    cells: dict[str, Callable[[], np.ndarray]] = {
        "altitude": belief.altitude,
        "error": lambda: belief.altitude() - true_altitude(ground, belief.grid),
        "interval": belief.interval,
    }

    def layer(kind: str, of: Callable[[], np.ndarray]) -> Callable[[], Layer]:
        return lambda: Layer(
            f"{kind}:{name}", belief.grid, lambda: _f4(np.where(belief.marks() == MEASURED, of(), np.nan))
        )

    return {f"{kind}:{name}": layer(kind, of) for kind, of in cells.items()}


def _around(ground: Any) -> Grid:
    """Return the place of cells around the vertices of a ground."""
    half, (x, y) = 0.5 * ground.spacing_m, ground.origin
    return Grid(np.zeros((1, 1)), ground.spacing_m, (x - half, y - half, 0.0))


def _f4(values: np.ndarray) -> np.ndarray:
    return values.astype(np.float32)
