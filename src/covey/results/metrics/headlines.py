"""The main metrics of a run: about ten, in order of importance."""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from covey.results.metrics.registry import is_time_to_goal, metrics

if TYPE_CHECKING:
    from covey.results.run import Run

_OUTCOME = {"status": "how the run ended", "simulated_time_s": "how long it took"}
_EXPLORATION = {
    "explored_share": "share of the explorable area that was seen",
    "exploration_time_s": "when the goal share had been seen",
    "overlap": "further robots that saw what one has seen, mean; 0: none",
    "map_quality": "known less wrong or unknown, in the union of the maps; 1 is faultless",
    "map_quality_known": "known less wrong; unknown is no error",
}
_BY_MISSION = {
    "exploration": _EXPLORATION,
    "coverage": {
        "coverage_share": "share of the reachable floor that was driven over",
        "coverage_t90_s": "when 90 % had been",
        "coverage_t99_s": "when 99 % had been",
        "coverage_overlap": "further robots that drove over what one has, mean; 0: none",
    },
    "patrolling": {
        "average_graph_idleness_s": "time since the last visit, mean of waypoints and time",
        "worst_graph_idleness_s": "the longest that a waypoint waited",
        "completed_cycles": "visits of the waypoint visited least",
        "waypoint_visits": "visits of all waypoints",
    },
    "formation": {
        "orders_met": "orders for which all robots were at their places",
        "last_order_met_s": "when that was, for the last",
        "robots_arrived": "robots at their places at the end",
        "formation_error_m": "mean distance from the places at the end",
    },
    "navigation": {
        "all_at_goals_s": "when all robots were at their goals",
        "robots_at_goals": "robots at their goals at the end",
    },
    "pursuit": {"capture_time_s": "when the evader was caught"},
    "rescue": {
        "rescue_score": "points for reports and meetings; if all is done, for the time left",
        "targets_found": "targets whose report was accepted",
        "all_targets_s": "when all had been found",
        "meeting_s": "when the last meeting was held",
        "false_reports": "reports of a wrong identity or place",
        "explored_share": "share of the explorable area that was seen",
    },
}
_GROUND = {
    "measured_share": "share of the ground that a robot has measured, mean",
    "belief_rmse_m": "error of the altitudes that it holds, mean",
    "robots_lost": "robots that fell or rolled over",
}
_MEASURES = (
    ("orders_met", "orders met: {:.0f}"),
    ("robots_arrived", "robots at their places: {:.0f}"),
    ("formation_error_m", "on average {:.1f} m off"),
    ("robots_at_goals", "robots at their goals: {:.0f}"),
    ("evader_m", "{:.1f} m from the evader"),
    ("graph_idleness_s", "idleness {:.0f} s"),
    ("score", "score {:.0f}"),
    ("targets_found", "targets found: {:.0f}"),
)
_TEAM = {
    "exploration_cost_m": "distance driven, all robots together",
    "collisions": "contacts between robots, counted for both",
    "collisions_wall": "contacts with walls",
    "real_time_factor": "simulated seconds per second of computing",
}
NOT_REACHED = "not reached"
"""In the place of the time of a goal of the mission that was not reached."""
_FAILURES = {"controllers_failed": "controllers that failed", "messages_dropped": "messages that got lost"}


def of_interest(run: "Run") -> dict[str, tuple[Any, str]]:
    """Return value and meaning of the main metrics for a run's mission, in order of importance.

    Metrics that do not apply are left out; the times of goals of a rescue that were not reached are `NOT_REACHED`.
    Failures are listed only if there are any. Your own metrics are included.
    """
    own = {name: float(run.series(name)[-1]) for name in run.mission.get("columns", ()) if len(run.times)}
    known = run.metrics | own | dict.fromkeys(_not_reached(run), NOT_REACHED)
    on_ground = _GROUND if run.landscape is not None else {}
    kind = _BY_MISSION.get(run.mission["kind"], _EXPLORATION)
    measured = dict.fromkeys(own, "measured by the mission, at the end")
    chosen = {**_OUTCOME, **measured, **kind, **on_ground, **_TEAM}
    chosen |= {name: text for name, text in _FAILURES.items() if known.get(name)}
    chosen |= {name: "your own metric" for name in known if is_own(name)}
    if run.status == "timeout" and _only_lasts(run):
        chosen["status"] = "it has no goal to reach and lasted its planned time"
    return {
        name: (known[name], text)
        for name, text in chosen.items()
        if known.get(name) is not None and not isinstance(known[name], dict | list)
    }


def _only_lasts(run: "Run") -> bool:
    """Return whether the run has no goal: a patrol without a share to explore or to cover."""
    asked = any(run.goal.get(name) for name in ("explored_share", "covered_share"))
    return run.mission["kind"] == "patrolling" and not asked


def _not_reached(run: "Run") -> list[str]:
    """Return the times of goals that a rescue has and that were not reached."""
    if run.mission["kind"] != "rescue":
        return []
    times = [name for name in _BY_MISSION["rescue"] if is_time_to_goal(name) and run.metrics.get(name) is None]
    return [name for name in times if name != "meeting_s" or run.mission["meetings"]]


def measured(values: Mapping[str, float]) -> list[str]:
    """Return as text the measurements of a mission whose goal is not a share; values: by column of ``team.parquet``.

    Examples:
        >>> measured({"robots_arrived": 3.0, "orders_met": 1.0, "known_share": 0.2})
        ['orders met: 1', 'robots at their places: 3']
    """
    return [text.format(values[name]) for name, text in _MEASURES if values.get(name, math.nan) == values.get(name)]


def is_own(name: str) -> bool:
    """Return whether a metric is that of a user or of an installed package."""
    return name in metrics.names() and not metrics.get(name).__module__.startswith("covey.")
