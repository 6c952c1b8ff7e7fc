"""Distribution of the work among the robots, and safety.

Source: Yan et al. 2017 as in `covey.results.metrics.exploration`. Jain index: R. Jain, D. Chiu, W. Hawe: A
quantitative measure of fairness and discrimination for resource allocation in shared computer systems. DEC TR-301,
1984.
"""

from typing import TYPE_CHECKING

import numpy as np

from covey.results.metrics.registry import metrics

if TYPE_CHECKING:
    from covey.results.run import Run


def _distances(run: "Run") -> np.ndarray:
    return run.last("distance_m")


@metrics.register("distance_by_robot_m")
def distance_by_robot_m(run: "Run") -> dict[str, float]:
    """d_i: distance travelled by each robot [m]."""
    return dict(zip(run.names, _distances(run).tolist(), strict=True))


@metrics.register("makespan_distance_m")
def makespan_distance_m(run: "Run") -> float:
    """max d_i: the longest path of one robot [m] (multiple travelling salesmen)."""
    return float(_distances(run).max())


@metrics.register("workload_std_m")
def workload_std_m(run: "Run") -> float:
    """Standard deviation of d_i over the robots, divided by n [m] (Explore-Bench); 0 if all drove equally far."""
    return float(_distances(run).std())


@metrics.register("workload_jain")
def workload_jain(run: "Run") -> float | None:
    """Jain index (sum d_i)^2 / (n sum d_i^2): 1 if all drove equally far, 1/n if one did everything."""
    d = _distances(run)
    square = float((d**2).sum())
    return None if square == 0 else float(d.sum()) ** 2 / (len(d) * square)


@metrics.register("workload_min_over_max")
def workload_min_over_max(run: "Run") -> float | None:
    """min d_i / max d_i: 1 if all drove equally far, 0 if one stood still."""
    d = _distances(run)
    return None if d.max() == 0 else float(d.min() / d.max())


@metrics.register("collisions")
def collisions(run: "Run") -> int:
    """Number of contacts between robots, counted for both (Yan et al. 2017): one contact counts 2."""
    return int(run.last("collisions_robot").sum())


@metrics.register("collisions_wall")
def collisions_wall(run: "Run") -> int:
    """Number of contacts with walls, of all robots."""
    return int(run.last("collisions_wall").sum())


@metrics.register("exploration_safety")
def exploration_safety(run: "Run", cardinal: float | None = None, walls: bool = False) -> float:
    """1 - sum s_i / S, s_i the contacts of robot i with other robots (Yan 2017); 1 = none, below 0 = more than S.

    Args:
        cardinal: S; default: 100 per robot. The paper asks for a number fixed beforehand and gives none. This one does
            not depend on the run (a slow run is not allowed more), makes teams of different sizes comparable, and makes
            0 mean one contact per robot in every 20 s of their limit of 2000 s.
        walls: count contacts with walls, too.
    """
    touched = collisions(run) + (collisions_wall(run) if walls else 0)
    return 1.0 - touched / (cardinal or 100.0 * len(run.names))


@metrics.register("min_separation_m")
def min_separation_m(run: "Run") -> float | None:
    """min over time and pairs of |p_i - p_j|: the smallest distance between two robots' centres [m]; None for one."""
    separation = run.series("min_separation_m")
    return None if np.isnan(separation).all() else float(np.nanmin(separation))
