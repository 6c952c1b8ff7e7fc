"""The accuracy of the robots' beliefs about the ground, and which robots have noticed its changes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from covey.clock import Clock
from covey.mapping.elevation.belief import ElevationBelief
from covey.mapping.elevation.compare import compare, true_altitude
from covey.mapping.elevation.kernels import MEASURED
from covey.results.landscape import Believed, Change, Landscape
from covey.world.ground import GroundEdit
from covey.world.state import GroundState

COLUMNS = ("belief_rmse_m", "belief_max_error_m", "belief_interval_coverage", "measured_share")
"""Columns of ``team.parquet``: means over the robots that map the ground; the maximum for the largest error."""
EVERY_S = 1.0
"""Period at which they are computed [s]; in between, the last value holds."""
LEAST_M = 0.1
"""A vertex counts as changed if it moved by at least this [m]."""


@dataclass
class Watched:
    """An edit, the known vertices that it changed for each robot, and the robots that have noticed it."""

    change: Change
    known: dict[int, np.ndarray]
    noticed: set[int] = field(default_factory=set)


class GroundAccuracy:
    """Compares beliefs with the ground.

    Args:
        ground: the truth, which edits change in place; None: there is nothing to compare.
        beliefs: belief of each robot that maps the ground, by team index.
        clock: clock of the simulation.

    Attributes:
        columns: `COLUMNS`, or empty.
        values: values by column.
    """

    def __init__(self, ground: GroundState | None, beliefs: dict[int, ElevationBelief], clock: Clock):
        self._ground, self._beliefs, self._clock = ground, beliefs, clock
        self.columns = COLUMNS if beliefs else ()
        self.values = dict.fromkeys(self.columns, np.nan)
        self._every = max(1, round(EVERY_S / clock.step_s))
        self._watched: list[Watched] = []
        self._truth: dict[float, np.ndarray] = {}  # by the spacing of the beliefs

    def edited(self, step: int, edit: GroundEdit) -> None:
        """Register an edit of the ground at the beginning of a step."""
        self._truth = {}
        change = Change(step, edit.row, edit.column, edit.before, edit.after)
        known = {}
        for robot, belief in self._beliefs.items():
            vertices = self._touched(change, belief)
            known[robot] = vertices[belief.marks()[tuple(vertices.T)] == MEASURED]
        self._watched.append(Watched(change, known))

    def measure(self) -> Iterator[tuple[int, str, np.ndarray, str]]:
        """Compare the beliefs of a step; yield robots that have noticed a change: robot, change, place, and text."""
        for number, watched in enumerate(self._watched):
            for robot, vertices in watched.known.items():
                if robot in watched.noticed or not len(vertices):
                    continue
                belief = self._beliefs[robot]
                seen = belief.last_changed[tuple(vertices.T)] >= watched.change.step - 1
                if seen.any():
                    watched.noticed.add(robot)
                    delay = (self._clock.step + 1 - watched.change.step) * self._clock.step_s
                    text = f"{delay:.1f} s later, at {seen.sum()} of {len(vertices)} vertices known before"
                    yield robot, f"change {number}", belief.grid.to_world(vertices[seen].mean(axis=0)), text
        if self.columns and self._clock.step % self._every == 0:
            rows = [self._compare(belief) for belief in self._beliefs.values()]
            self.values = {
                name: float((np.nanmax if name == "belief_max_error_m" else np.nanmean)(values))
                if np.isfinite(values).any()
                else np.nan
                for name, values in zip(COLUMNS, np.array(rows).T.tolist(), strict=True)
            }

    def landscape(self, names: Sequence[str]) -> Landscape | None:
        """Return the present ground, its changes and the beliefs; None without ground."""
        if self._ground is None:
            return None
        spacing = next((belief.grid.resolution for belief in self._beliefs.values()), self._ground.spacing_m)
        rows, columns = (int(side / spacing * (1 + 1e-9)) + 1 for side in self._ground.size_m[::-1])
        part = slice(rows), slice(columns)
        beliefs = {
            names[robot]: Believed(
                belief.altitude()[part].astype(np.float32),
                belief.interval()[part].astype(np.float32),
                belief.marks()[part].copy(),
                belief.resets()[part].copy(),
            )
            for robot, belief in self._beliefs.items()
        }
        changes = [watched.change for watched in self._watched]
        return Landscape(self._ground.altitude, self._ground.frame, changes, beliefs, spacing)

    def _compare(self, belief: ElevationBelief) -> tuple[float, float, float, float]:
        assert self._ground is not None
        spacing = belief.grid.resolution
        if spacing not in self._truth:
            self._truth[spacing] = true_altitude(self._ground, belief.grid)
        return compare(belief, self._truth[spacing])

    def _touched(self, change: Change, belief: ElevationBelief) -> np.ndarray:
        """Return the vertices of a belief where an edit changed the ground, int64 (k, 2)."""
        assert self._ground is not None
        moved = np.argwhere(np.abs(change.after - change.before) >= LEAST_M) + np.array((change.row, change.column))
        x0, y0, spacing = self._ground.frame.tolist()
        points = np.column_stack((x0 + moved[:, 1] * spacing, y0 + moved[:, 0] * spacing))
        cells = belief.grid.to_cells(points)
        return np.unique(cells[belief.grid.inside(cells)], axis=0)
