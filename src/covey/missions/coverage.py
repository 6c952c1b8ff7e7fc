"""Coverage: bodies pass over everything that a body can pass over."""

import math

import numpy as np

from covey.missions.protocol import Mission, MissionContext, Tracker, missions
from covey.physics.clock import Clock
from covey.physics.motion import ARM, MAX_SPEED, MAX_TURN
from covey.world.editing.changing import with_doors_open
from covey.world.visibility.coverable import coverable
from covey.world.visibility.explored import Coverage as CoveredCells

SAGITTA = 0.02
"""How far a way that is taken for straight may bend [cells]."""


@missions.register("coverage")
class Coverage(Mission):
    """Pass over everything that a body can pass over: the covered share is what counts."""

    def begin(self, context: MissionContext) -> "CoverageTracker":
        """Return what counts the covered cells."""
        return CoverageTracker(context)


class CoverageTracker(Tracker):
    """Which cells bodies have been over.

    Attributes:
        cells: them, with the goal.
    """

    columns = ("covered_share",)

    def __init__(self, context: MissionContext):
        self._context = context
        world, model, state = with_doors_open(context.world), context.model, context.state
        to_cover = coverable(world, state.pose, model.radius)
        goal = world.grid.with_cells(to_cover if to_cover.any() else world.free)
        self.cells = CoveredCells(goal, len(state.pose))
        self._stride = sweep_stride(model.limits, world.grid.resolution, context.clock)

    def wanted(self, substeps: int) -> np.ndarray:
        """Return after which substeps the way of a body may no longer be taken for straight."""
        wanted = np.zeros(substeps, np.uint8)
        wanted[self._stride - 1 : -1 : self._stride] = 1
        return wanted

    def measure(self, time_s: float, pose: np.ndarray, able: np.ndarray) -> list[tuple[int, str]]:
        """Cover what bodies have passed over in this step, straight from one pose that was wanted to the next."""
        before, trace, step = self._context.pose_before, self._context.trace, self._context.clock.step
        for k in np.flatnonzero(self.wanted(len(trace))):
            self.cells.mark(trace[k, 0], self._context.model.discs, step, before)
            before = trace[k, 0]
        self.cells.mark(pose, self._context.model.discs, step, before)
        return []

    @property
    def values(self) -> dict[str, float]:
        """The covered share."""
        return {"covered_share": self.cells.share}


def sweep_stride(limits: np.ndarray, resolution_m: float, clock: Clock) -> int:
    """Return after how many substeps ways of bodies may be taken for straight.

    A body then goes no farther than one cell, and strays from the straight line by 1/50 of a cell at most.

    Args:
        limits: see `covey.robots.team.TeamModel`.
        resolution_m: side of a cell [m].
        clock: of the simulation.
    """
    arm, turn = limits[:, ARM], limits[:, MAX_TURN]
    speed = limits[:, MAX_SPEED] + np.where(arm > 0.0, turn * arm, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        span_s = np.minimum(resolution_m / speed, np.sqrt(8.0 * SAGITTA * resolution_m / (speed * turn)))
    shortest_s = float(np.nanmin(span_s, initial=math.inf))
    if math.isinf(shortest_s):
        return clock.substeps_per_step  # nobody can move
    return int(min(max(shortest_s // clock.substep_s, 1), clock.substeps_per_step))
