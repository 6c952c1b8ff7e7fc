"""Performance of exploration by a team: time, cost, efficiency and related measures.

Sources: Z. Yan, L. Fabresse, J. Laval, N. Bouraqadi: Building a ROS-based testbed for realistic multi-robot
simulation: taking the exploration as an example. Robotics 6(3):21, 2017, section 3. Explore-Bench = Y. Xu et al.:
Explore-Bench: data sets, metrics and evaluations for frontier-based and deep-reinforcement-learning-based
autonomous exploration. ICRA 2022.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from covey.errors import InvalidValueError
from covey.results.metrics.registry import metrics, time_to_goal

if TYPE_CHECKING:
    from covey.results.run import Run


def time_to_share(times: np.ndarray, share: np.ndarray, level: float) -> float | None:
    """Return the first time [s] at which ``share`` is at least ``level``, or None.

    Examples:
        >>> time_to_share(np.array([0.1, 0.2, 0.3]), np.array([0.2, 0.9, 1.0]), 0.9)
        0.2
    """
    reached = np.flatnonzero(share >= level)
    return float(times[reached[0]]) if len(reached) else None


def _union(run: "Run") -> np.ndarray:
    return run.series("explored_share_union")


def share_row(run: "Run", percent: int) -> int | None:
    """Return the first row of the team's table at which the team together has explored a share of G [%], or None."""
    reached = np.flatnonzero(_union(run) >= percent / 100)
    return int(reached[0]) if len(reached) else None


def goal_share(run: "Run") -> float:
    """Return the share of G that counts as explored: the run's goal, 0.99 by default (Yan et al. 2017)."""
    return float(run.goal.get("explored_share") or 0.99)


@metrics.register("exploration_time_s")
@time_to_goal
def exploration_time_s(run: "Run") -> float | None:
    """First time at which the team together has explored the goal share of G [s] (MAES; Yan 2017, on the union)."""
    return time_to_share(run.times, _union(run), goal_share(run))


@metrics.register("exploration_time_one_map_s")
@time_to_goal
def exploration_time_one_map_s(run: "Run") -> float | None:
    """First time at which the map of one robot holds the goal share of G [s] (Yan et al. 2017, where it ends the run).

    For a robot without a map, the cells that its own beams have crossed count.
    """
    blocks = run.blocks("known_share", "explored_share")
    best = [np.fmax.reduce(np.where(np.isnan(known), own, known), axis=1) for known, own in blocks]
    return time_to_share(run.times, np.concatenate(best), goal_share(run))


def _register_levels() -> None:
    for percent in (50, 80, 90, 95, 99):

        def time_to(run: "Run", level: float = percent / 100) -> float | None:
            return time_to_share(run.times, _union(run), level)

        time_to.__doc__ = f"First time at which the team together has explored {percent} % of G [s] (Explore-Bench)."
        metrics.register(f"t{percent}_s")(time_to_goal(time_to))


_register_levels()


@metrics.register("tail_ratio")
def tail_ratio(run: "Run") -> float | None:
    """t99 / t90: the cost of the last tenth; 1.1 for a constant rate."""
    t90, t99 = (time_to_share(run.times, _union(run), level) for level in (0.90, 0.99))
    return None if not t90 or t99 is None else t99 / t90


@metrics.register("auc")
def auc(run: "Run", reference_s: float | None = None) -> float:
    """Mean explored share over a reference time: 1/T times the integral of A(t)/G from 0 to T.

    T is ``reference_s``, else the scenario's timeout (the same for every method that is compared), else the time of
    the run, which is then not comparable. A run that ends earlier keeps its last share until T. Trapezoidal rule
    from share 0 at time 0.
    """
    times, share = np.append(0.0, run.times), np.append(0.0, _union(run))
    end = reference_s or run.goal.get("timeout_s") or times[-1]
    if times[-1] < end:
        times, share = np.append(times, end), np.append(share, share[-1])
    elif times[-1] > end:
        last = np.interp(end, times, share)
        times, share = np.append(times[times < end], end), np.append(share[times < end], last)
    return float(np.trapezoid(share, times) / end) if end > 0 else 0.0


@metrics.register("explored_share")
def explored_share(run: "Run") -> float:
    """A/G at the end: cells of G that a beam of any robot has crossed, at the true pose (MAES "explored")."""
    return float(_union(run)[-1])


@metrics.register("explored_area_m2")
def explored_area_m2(run: "Run") -> float | None:
    """A: explored cells of G times the area of a cell [m^2]; None without maps."""
    return None if run.maps is None else explored_share(run) * run.maps.explorable_area_m2


@metrics.register("explorable_area_m2")
def explorable_area_m2(run: "Run") -> float | None:
    """G: free cells that some exploring sensor can see from a reachable pose [m^2]; None without maps."""
    return None if run.maps is None else run.maps.explorable_area_m2


def exploration_cost(run: "Run", cost: str | Callable[["Run"], Any] = "distance") -> float:
    """Return the sum of all robots' costs at the end (Yan et al. 2017).

    Args:
        cost: ``distance`` [m], ``energy`` [J], or a function that takes the run and returns one number per robot.
    """
    if callable(cost):
        return float(np.sum(cost(run)))
    columns = {"distance": "distance_m", "energy": "energy_j"}
    if cost not in columns:
        raise InvalidValueError(f"cost is {cost!r}; use 'distance', 'energy', or a function of the run")
    return float(run.last(columns[cost]).sum())


@metrics.register("exploration_cost_m")
def exploration_cost_m(run: "Run") -> float:
    """Sum of d_i: distance travelled by all robots until the run ended [m] (Yan et al. 2017)."""
    return exploration_cost(run)


@metrics.register("energy_j")
def energy_j(run: "Run") -> float:
    """Energy used by all robots until the run ended [J]: their cost (Yan 2017) with energy instead of distance."""
    return exploration_cost(run, "energy")


@metrics.register("exploration_efficiency_m2_per_m")
def exploration_efficiency(run: "Run", cost: str | Callable[["Run"], Any] = "distance") -> float | None:
    """A / cost: area explored per metre that all robots moved [m^2/m] (Yan et al. 2017); None if no robot moved."""
    area, spent = explored_area_m2(run), exploration_cost(run, cost)
    return None if area is None or spent <= 0 else area / spent


@metrics.register("overlap")
def overlap(run: "Run") -> float | None:
    """(sum of A_i - A) / A with A_i the area sensed by robot i: 0 if no place was seen by two (Explore-Bench)."""
    union = _union(run)[-1]
    return None if not union > 0 else float(np.nansum(run.last("explored_share")) / union - 1.0)
