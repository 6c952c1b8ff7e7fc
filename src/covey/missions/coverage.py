"""Coverage: drive over the whole area that a body can cover."""

import math
from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from covey.clock import Clock
from covey.missions.protocol import Mission, MissionContext, Tracker, missions
from covey.physics.motion import ARM, MAX_SPEED, MAX_TURN
from covey.world.editing.changing import with_doors_open
from covey.world.visibility.coverable import coverable
from covey.world.visibility.covered import CoveredCells

SAGITTA = 0.02
"""Largest deviation of a path that is treated as straight [cells]."""


@missions.register("coverage")
class Coverage(Mission):
    """Drive over the whole area that a body can cover; the covered share is the score."""

    rewards: ClassVar[Mapping[str, float]] = {"covered_share": 1.0}

    def begin(self, context: MissionContext) -> "CoverageTracker":
        """Return the tracker of the covered cells."""
        return CoverageTracker(context)


class CoverageTracker(Tracker):
    """Tracks the cells that bodies have covered.

    Attributes:
        cells: the covered cells, and the goal.
        stride: number of substeps for which the path of a body is straight.
    """

    columns = ("covered_share",)

    def __init__(self, context: MissionContext):
        self._clock = context.clock
        world, model, state = with_doors_open(context.world), context.model, context.state
        to_cover = coverable(world, state.pose, model.radius)
        goal = world.grid.with_cells(to_cover if to_cover.any() else world.free)
        self.cells = CoveredCells(goal, len(state.pose))
        self.stride = stride = sweep_stride(model.limits, world.grid.resolution, context.clock)
        self._wanted = np.zeros(context.clock.substeps_per_step, np.uint8)
        self._wanted[stride - 1 : -1 : stride] = 1
        self._path = self.cells.path(context.pose_before, state.pose, context.trace, model.discs)

    def wanted(self, substeps: int) -> np.ndarray:
        """Return the substeps after which the path of a body can no longer be treated as straight."""
        return self._wanted

    def measure(self, time_s: float, pose: np.ndarray, able: np.ndarray) -> list[tuple[int, str]]:
        """Cover the area that bodies passed over in this step, in straight lines between the requested poses."""
        self._path(self.stride, self._clock.step)
        return []

    @property
    def values(self) -> dict[str, float]:
        """The covered share."""
        return {"covered_share": self.cells.share}


def sweep_stride(limits: np.ndarray, resolution_m: float, clock: Clock) -> int:
    """Return the number of substeps for which paths of bodies can be treated as straight.

    In this time a body moves at most one cell, and deviates from the straight line by at most 1/50 of a cell.

    Args:
        limits: see `covey.robots.team.TeamModel`.
        resolution_m: side of a cell [m].
        clock: clock of the simulation.
    """
    arm, turn = limits[:, ARM], limits[:, MAX_TURN]
    speed = limits[:, MAX_SPEED] + np.where(arm > 0.0, turn * arm, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        span_s = np.minimum(resolution_m / speed, np.sqrt(8.0 * SAGITTA * resolution_m / (speed * turn)))
    shortest_s = float(np.nanmin(span_s, initial=math.inf))
    if math.isinf(shortest_s):
        return clock.substeps_per_step  # nobody can move
    return int(min(max(shortest_s // clock.substep_s, 1), clock.substeps_per_step))
