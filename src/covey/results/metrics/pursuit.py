"""Pursuit of an evader; None in other missions. The measure is Covey's own."""

from typing import TYPE_CHECKING

from covey.results.metrics.registry import metrics, time_to_goal

if TYPE_CHECKING:
    from covey.results.run import Run


@metrics.register("capture_time_s")
@time_to_goal
def capture_time_s(run: "Run") -> float | None:
    """Time at which the evader was caught [s]."""
    is_caught = run.mission["kind"] == "pursuit" and run.status == "reached"
    return float(run.times[-1]) if is_caught else None
