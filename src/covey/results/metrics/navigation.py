"""Navigation of robots to goals; None in other missions. The measures are Covey's own."""

from typing import TYPE_CHECKING

import numpy as np

from covey.results.metrics.registry import metrics, time_to_goal

if TYPE_CHECKING:
    from covey.results.run import Run


@metrics.register("all_at_goals_s")
@time_to_goal
def all_at_goals_s(run: "Run") -> float | None:
    """Time at which all robots were at their goals at once [s]."""
    if run.mission["kind"] != "navigation":
        return None
    there = run.series("robots_at_goals") >= len(run.names)
    return float(run.times[int(np.argmax(there))]) if there.any() else None


@metrics.register("robots_at_goals")
def robots_at_goals(run: "Run") -> int | None:
    """Number of robots at their goals, at the end."""
    return int(run.series("robots_at_goals")[-1]) if run.mission["kind"] == "navigation" else None
