"""What the cameras of a team could have read."""

from typing import TYPE_CHECKING

import numpy as np

from covey.results.metrics.exploration import time_to_share
from covey.results.metrics.registry import metrics, time_to_goal

if TYPE_CHECKING:
    from covey.results.run import Run


def _last(run: "Run", column: str) -> float | None:
    return float(run.series(column)[-1]) if column in run.team_columns else None


@metrics.register("searched")
def searched(run: "Run") -> float | None:
    """Share of the readable faces of walls that a tag camera of any robot could have read; None without cameras."""
    return _last(run, "searched_share_union")


@metrics.register("searched_cells")
def searched_cells(run: "Run") -> float | None:
    """Share of the free cells that tag cameras can see at all that one has seen; None without cameras."""
    return _last(run, "searched_cells_share_union")


@metrics.register("search_overlap")
def search_overlap(run: "Run") -> float | None:
    """(sum of S_i - S) / S, S_i the faces that robot i searched itself; 0 if no face was searched by two."""
    union = _last(run, "searched_share_union")
    return None if not union else float(np.nansum(run.last("searched_share")) / union - 1.0)


@metrics.register("searched_t90_s")
@time_to_goal
def searched_t90_s(run: "Run") -> float | None:
    """First time at which 90 % of the readable faces of walls have been searched [s]; None without cameras."""
    if "searched_share_union" not in run.team_columns:
        return None
    return time_to_share(run.times, run.series("searched_share_union"), 0.9)
