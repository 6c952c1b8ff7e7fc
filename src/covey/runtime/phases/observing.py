"""Observing: the snapshot that observers get after each step."""

import math
from typing import TYPE_CHECKING

import numpy as np

from covey.kernel import kernel
from covey.results.snapshot import Snapshot

if TYPE_CHECKING:
    from covey.runtime.simulation import Simulation


class Observing:
    """Makes the `Snapshot` of a step."""

    def __init__(self, sim: "Simulation"):
        self.sim, state, score = sim, sim.state, sim.scoring
        self._views = (  # of arrays that change in place, in the order of the snapshot's fields
            _view(state.pose),
            _view(sim.localization.carried),
            _view(state.twist),
            _view(sim.commands),
            _view(state.distance_m),
            _view(score.collisions_robot),
            _view(score.collisions_wall),
            _view(score.energy_j),
        )
        self._attitude = _view(state.altitude_roll_pitch)
        self._order = np.arange(len(sim.names))

    def snapshot(self, pose_before: np.ndarray) -> Snapshot:
        """Return the snapshot of the last step; its arrays are read-only views of the simulation's.

        Args:
            pose_before: true poses at the beginning of the step, shape (n, 3).
        """
        sim, clock = self.sim, self.sim.clock
        sim.localization.end_step(pose_before)
        nearest, mission = closest(sim.state.pose, self._order), sim.scoring.values
        mission |= sim.ground_accuracy.values
        radio = sim.communication.sample
        return Snapshot(clock.step, clock.time_s, *self._views, nearest, sim.events, radio, mission, self._attitude)


def _view(values: np.ndarray) -> np.ndarray:
    """Return a read-only view."""
    values = values.view()
    values.flags.writeable = False
    return values


@kernel
def closest(pose, order):
    """Return the smallest distance between two positions, float64 (n, 2 or more); NaN if there are fewer than two.

    It sweeps along x; ``order`` keeps the positions sorted by x from one call to the next.
    """
    n = pose.shape[0]
    if n < 2:
        return math.nan
    xs, ys = np.empty(n), np.empty(n)
    for a in range(n):
        i, b = order[a], a
        x = pose[i, 0]
        while b > 0 and xs[b - 1] > x:
            order[b], xs[b] = order[b - 1], xs[b - 1]
            b -= 1
        order[b], xs[b] = i, x
    for a in range(n):
        ys[a] = pose[order[a], 1]
    best = math.inf
    reach = math.inf
    for a in range(n):
        for b in range(a + 1, n):
            dx, dy = xs[b] - xs[a], ys[b] - ys[a]
            if dx >= reach:
                break
            if dx * dx + dy * dy < best:
                best = dx * dx + dy * dy
                reach = math.sqrt(best)
    return math.sqrt(best)
