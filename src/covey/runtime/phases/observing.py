"""Observing: the snapshot that observers get after each step."""

import math
from typing import TYPE_CHECKING

import numpy as np

from covey.bound import Bound
from covey.kernel import kernel
from covey.results.snapshot import Snapshot

if TYPE_CHECKING:
    from covey.runtime.simulation import Simulation

_ROUNDING_M = 1e-9  # more than the differences of coordinates are rounded by


class Observing:
    """Makes the `Snapshot` of a step.

    Args:
        sim: the simulation.
        pose_before: true poses at the beginning of a step, shape (n, 3), changed in place.

    Attributes:
        followed: the arrays of `measured`.
        shown: those arrays of a snapshot that are recorded, see `covey.results.recorder.keep`.
    """

    def __init__(self, sim: "Simulation", pose_before: np.ndarray):
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
        self.followed = (
            state.pose,
            sim.localization.carried,
            score.drive_energy_j_m,
            state.distance_m,
            score.idle_power_w,
            score.energy_j,
            pose_before,
            sim.localization.pose,
            np.arange(len(sim.names)),
            np.arange(2),
        )
        self._measure = Bound(measured, self.followed, (0.0,))
        self._attitude = _view(state.altitude_roll_pitch)
        pose, estimate, twist, command, distance, robot, wall, energy = self._views
        self.shown = pose, estimate, twist, command, self._attitude, distance, energy, robot, wall

    def snapshot(self) -> Snapshot:
        """Return the snapshot of the last step; its arrays are read-only views of the simulation's."""
        sim, clock = self.sim, self.sim.clock
        nearest = self._measure(clock.time_s)
        mission, radio = sim.scoring.values, sim.communication.sample
        if values := sim.ground_accuracy.values:
            mission |= values
        return Snapshot(clock.step, clock.time_s, *self._views, nearest, sim.events, radio, mission, self._attitude)


def _view(values: np.ndarray) -> np.ndarray:
    """Return a read-only view."""
    values = values.view()
    values.flags.writeable = False
    return values


@kernel
def measured(pose, carried, drive_j_m, distance_m, idle_w, energy_j, before, estimate, order, pair, time_s):
    """Write what follows from a step, and return the smallest distance of two robots [m], see `closest`.

    Args:
        pose, before: true poses now, and at the beginning of the step, float64 (n, 3).
        estimate, carried: see `carry`.
        drive_j_m, idle_w: energy per metre [J/m], and idle power [W], float64 (n,).
        distance_m, energy_j: way [m], and energy [J] used until a time [s]; the latter is written, float64 (n,).
        order, pair: see `closest`.
    """
    carry(estimate, before, pose, carried)
    for i in range(len(energy_j)):
        energy_j[i] = drive_j_m[i] * distance_m[i] + idle_w[i] * time_s
    return closest(pose, order, pair)


@kernel
def carry(estimate, before, after, out):
    """Write into ``out`` the estimates moved by the true motion from ``before`` to ``after``, all (n, 3).

    Estimates are made at the beginning of a step, records at its end; odometry bridges the step exactly.
    """
    for i in range(estimate.shape[0]):
        dx, dy = after[i, 0] - before[i, 0], after[i, 1] - before[i, 1]
        turned = estimate[i, 2] - before[i, 2]
        c, s = (1.0, turned) if turned == 0.0 else (math.cos(turned), math.sin(turned))
        out[i, 0] = estimate[i, 0] + c * dx - s * dy
        out[i, 1] = estimate[i, 1] + s * dx + c * dy
        heading = estimate[i, 2] + after[i, 2] - before[i, 2]
        out[i, 2] = heading - 2.0 * math.pi * math.floor((heading + math.pi) / (2.0 * math.pi))


@kernel
def closest(pose, order, pair):
    """Return the smallest distance between two positions, float64 (n, 2 or more); NaN if there are fewer than two.

    The distance of ``pair``, the closest two of the call before, is at least the smallest one. So the positions are put
    into strips along x that are no narrower than it, and each is compared with those of its own strip and of the next
    one.

    Args:
        order: int64 (n,), all positions; it keeps them sorted by x from one call to the next.
        pair: int64 (2,), any two different positions at first.
    """
    n = pose.shape[0]
    if n < 2:
        return math.nan
    low, high = math.inf, -math.inf
    for a in range(n):
        i, b = order[a], a
        while b > 0 and pose[order[b - 1], 0] > pose[i, 0]:
            order[b] = order[b - 1]
            b -= 1
        order[b] = i
        low, high = min(low, pose[i, 1]), max(high, pose[i, 1])
    known = math.hypot(pose[pair[0], 0] - pose[pair[1], 0], pose[pair[0], 1] - pose[pair[1], 1])
    if known == 0.0:
        return 0.0
    reach = known + _ROUNDING_M
    width = max(reach, (high - low) / n)
    first = np.zeros(int((high - low) / width) + 3, np.int64)
    for i in range(n):
        first[int((pose[i, 1] - low) / width) + 1] += 1
    for strip in range(1, len(first)):
        first[strip] += first[strip - 1]
    end, xs, ys, numbers = first.copy(), np.empty(n), np.empty(n), np.empty(n, np.int64)
    for a in range(n):  # sorted by x within each strip
        i = order[a]
        strip = int((pose[i, 1] - low) / width)
        at = end[strip]
        xs[at], ys[at], numbers[at] = pose[i, 0], pose[i, 1], i
        end[strip] += 1
    best = math.inf
    for strip in range(len(first) - 2):
        other = first[strip + 1]
        for a in range(first[strip], first[strip + 1]):
            while other < first[strip + 2] and xs[other] < xs[a] - reach:
                other += 1
            for k in range(2):
                b, stop = (a + 1, first[strip + 1]) if k == 0 else (other, first[strip + 2])
                while b < stop and xs[b] - xs[a] <= reach:
                    dx, dy = xs[b] - xs[a], ys[b] - ys[a]
                    if dx * dx + dy * dy < best:
                        best = dx * dx + dy * dy
                        reach = math.sqrt(best) + _ROUNDING_M
                        pair[0], pair[1] = numbers[a], numbers[b]
                    b += 1
    return math.sqrt(best)
