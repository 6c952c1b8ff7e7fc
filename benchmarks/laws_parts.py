"""What the parts of `laws.py` share: a row of its table, robots like points, and a run of a law in the simulation."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import covey
from covey.onboard.controller import Program
from covey.results.run import Run
from covey.robots.model import RobotModel


class Row(NamedTuple):
    """A number that theory gives, and the one that was measured.

    Attributes:
        law: the law.
        what: the number, with its unit.
        oracle: what theory says; infinite: never.
        measured: what came out.
        within: how far it may be from the oracle.
        sense: ``=``, or ``<=`` or ``>=`` for a bound on what is measured.
    """

    law: str
    what: str
    oracle: float
    measured: float
    within: float
    sense: str = "="

    @property
    def difference(self) -> float:
        """Measured less oracle; 0 if both are infinite."""
        return 0.0 if self.oracle == self.measured else self.measured - self.oracle

    @property
    def holds(self) -> bool:
        """Whether the measured number is what theory says."""
        off = {"=": abs(self.difference), "<=": self.difference, ">=": -self.difference}[self.sense]
        return off <= self.within

    def __str__(self) -> str:
        numbers = (_text(self.oracle), _text(self.measured), f"{self.difference:+.2g}")
        oracle, measured, difference = numbers
        mark = "" if self.holds else "  WRONG"
        return f"{self.law:<18} {self.what:<72} {self.sense:>2} {oracle:>10} {measured:>10} {difference:>9}{mark}"


def _text(number: float) -> str:
    return "never" if math.isinf(number) else f"{number:.5g}"


def point(kinematics: str) -> RobotModel:
    """Return a robot like a point, fast enough for any law."""
    return RobotModel(kinematics=kinematics, radius_m=1e-3, max_speed_m_s=100.0, max_turn_rad_s=1000.0)


def square(side_m: float, middle: tuple[float, float] = (0.0, 0.0), resolution_m: float = 0.5) -> covey.World:
    """Return a square world."""
    half = 0.5 * side_m
    corners = [(middle[0] + x * half, middle[1] + y * half) for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
    return covey.World.polygons(corners, resolution_m=resolution_m)


def run(
    law: Any,
    /,
    start: Any,
    seconds: float,
    step_s: float,
    world: covey.World,
    kinematics: str = "unicycle",
    stop: Callable[[covey.Simulation], bool] = lambda sim: False,
    **parameters: Any,
) -> tuple[np.ndarray, Run]:
    """Run a law in the simulation; return the poses of all steps, (t + 1, n, 3), and the recorded run."""
    group = covey.Group("r", point(kinematics), start, Program(law, parameters))
    sim = covey.Simulation(world, [group], execution=covey.Execution(step_s=step_s, substep_s=step_s))
    poses = [sim.state.pose.copy()]
    for _ in range(round(seconds / step_s)):
        sim.step()
        if sim.deciding.failures:
            raise RuntimeError(sim.deciding.failures[0].text)
        poses.append(sim.state.pose.copy())
        if stop(sim) or sim.done:
            break
    return np.array(poses), sim.close()


def nearest_pair(poses: np.ndarray) -> float:
    """Return the smallest distance of two robots [m] in poses (t, n, 3)."""
    i, j = np.triu_indices(poses.shape[1], 1)
    return float(np.hypot(*(poses[:, i, :2] - poses[:, j, :2]).transpose(2, 0, 1)).min())
