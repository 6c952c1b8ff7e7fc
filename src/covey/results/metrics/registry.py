"""The registry of metrics, and how all of them are computed."""

import math
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from covey.registry import Registry

if TYPE_CHECKING:
    from covey.results.run import Run

Metric = Callable[["Run"], Any]
"""A function of a finished run that returns a number, a text, a dict by robot, or None where it has no value."""

metrics: Registry[Metric] = Registry("metric", shelf="covey.results.metrics")


def time_to_goal(metric: Metric) -> Metric:
    """Declare a metric the time until something is reached: None then counts as "not within the timeout".

    Examples:
        >>> @time_to_goal
        ... def first_contact_s(run): ...
    """
    _TIMES_TO_GOAL.add(metric)
    return metric


def is_time_to_goal(name: str) -> bool:
    """Return whether a metric has been declared a time until something is reached, see `time_to_goal`.

    Examples:
        >>> [is_time_to_goal(m) for m in ("exploration_time_s", "coverage_t90_s", "wall_time_s", "message_delay_s")]
        [True, True, False, False]
    """
    return name in metrics.names() and metrics.get(name) in _TIMES_TO_GOAL


_TIMES_TO_GOAL: set[Metric] = set()


def until_goal(metric: Metric) -> Metric:
    """Declare a metric one that grows, or gets better, until the goal is reached: without the goal it is no result.

    A team that gives up half-way has driven less, sent less and seen less twice. So its value is not compared with that
    of a team that got there: it ranks as worse.

    Examples:
        >>> @until_goal
        ... def doors_passed(run): ...
    """
    _UNTIL_GOAL.add(metric)
    return metric


def is_until_goal(name: str) -> bool:
    """Return whether a metric is no result of a run that did not reach its goal, see `until_goal`.

    Examples:
        >>> [is_until_goal(m) for m in ("exploration_cost_m", "map_quality", "explored_share", "connected_share")]
        [True, True, False, False]
    """
    return name in metrics.names() and (name in _GROW_UNTIL_GOAL or metrics.get(name) in _UNTIL_GOAL)


def at_share(of: str, percent: int) -> Callable[[Metric], Metric]:
    """Declare a metric the value that another one had when a share of G was explored: comparable without the goal.

    Args:
        of: the other metric, one that grows until the goal (`until_goal`).
        percent: the share; a run that did not explore it has no result, and ranks as worse.
    """

    def declare(metric: Metric) -> Metric:
        _AT_SHARE[metric] = (of, percent)
        return metric

    return declare


def share_of(name: str) -> int | None:
    """Return the explored share at which a metric is measured [%], see `at_share`; None for another metric.

    Examples:
        >>> share_of("exploration_cost_t80_m"), share_of("exploration_cost_m")
        (80, None)
    """
    return _AT_SHARE[metrics.get(name)][1] if name in metrics.names() and metrics.get(name) in _AT_SHARE else None


def metric_at(name: str, percent: int) -> str | None:
    """Return the name of a metric measured when a share was explored; None if there is none.

    Examples:
        >>> metric_at("overlap", 90), metric_at("collisions", 90)
        ('overlap_t90', None)
    """
    names = (one for one in metrics.names() if _AT_SHARE.get(metrics.get(one)) == (name, percent))
    return next(names, None)


_AT_SHARE: dict[Metric, tuple[str, int]] = {}
_UNTIL_GOAL: set[Metric] = set()
_GROW_UNTIL_GOAL = frozenset(
    {
        *("exploration_cost_m", "exploration_efficiency_m2_per_m", "exploration_safety", "energy_j"),
        *("makespan_distance_m", "workload_std_m", "collisions", "collisions_wall"),
        *("overlap", "seen_by_several_share", "coverage_overlap", "covered_by_several_share", "search_overlap"),
        *(
            "map_quality",
            "map_quality_known",
            "map_iou",
            "map_completeness",
            "map_adnn_m",
            "map_error_cells",
            "map_error_cells_mean",
        ),
        *("map_wrong_cells_mean", "bytes_sent", "bytes_received", "messages_sent", "slam_bytes_sent"),
    }
)

LARGER_IS_BETTER = frozenset(
    {
        *("exploration_efficiency_m2_per_m", "explored_share", "explored_area_m2", "auc", "exploration_safety"),
        *(
            "map_quality",
            "map_quality_known",
            "map_iou",
            "map_completeness",
            *(f"map_quality{of}_t{percent}" for of in ("", "_known") for percent in (50, 80, 90)),
            "coverage_share",
            "delivery_ratio",
            "connected_share",
        ),
        *("largest_group_share", "aligned_share", "min_separation_m", "workload_jain", "workload_min_over_max"),
        *("belief_interval_coverage", "measured_share", "changes_noticed_share", "robots_arrived", "orders_met"),
        "robots_at_goals",
        *("rescue_score", "targets_found", "targets_found_share", "found_auc", "report_precision"),
        *("searched", "searched_cells"),
    }
)
"""Metrics of which a larger value is a better one; of all others a smaller one is, where either is better."""


def compute(run: "Run") -> dict[str, Any]:
    """Return every registered metric of a run by name, ready for JSON: None for NaN, infinity, or a metric that failed.

    A metric that raises warns and becomes None: one broken metric of a user must not lose the run.
    """
    if not len(run.times):
        return dict.fromkeys(metrics.names()) | {"status": run.status}
    result = {}
    for name in metrics.names():
        try:
            result[name] = _plain(metrics.get(name)(run))
        except Exception as error:
            warnings.warn(f"metric {name!r} failed: {type(error).__name__}: {error}", RuntimeWarning, stacklevel=2)
            result[name] = None
    return result


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value
