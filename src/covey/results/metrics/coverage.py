"""Speed and efficiency of coverage by a team's bodies, and how much was seen or covered several times.

Sources: MAES 2.0 (covered share, here of bodies). N. Hazon, G. A. Kaminka: Redundancy, efficiency and robustness in
multi-robot coverage. ICRA 2005 (redundancy: places covered by more than one robot).
"""

from typing import TYPE_CHECKING

import numpy as np

from covey.results.metrics.exploration import time_to_share
from covey.results.metrics.registry import metrics, time_to_goal

if TYPE_CHECKING:
    from covey.results.run import Run


@metrics.register("coverage_share")
def coverage_share(run: "Run") -> float | None:
    """C/K at the end: share of the coverable area that a body has passed over; None without maps."""
    if run.maps is None:
        return None
    region = run.maps.to_cover
    return float((run.maps.last_covered[region] >= 0).mean()) if region.any() else None


def _register_levels() -> None:
    for percent in (50, 90, 99):

        def time_to(run: "Run", level: float = percent / 100) -> float | None:
            return time_to_share(run.times, run.series("covered_share"), level)

        time_to.__doc__ = f"First time at which bodies have passed over {percent} % of what they can pass over [s]."
        metrics.register(f"coverage_t{percent}_s")(time_to_goal(time_to))


_register_levels()


@metrics.register("coverage_overlap")
def coverage_overlap(run: "Run") -> float | None:
    """(sum of C_i - C) / C with C_i the area covered by robot i: 0 if no place was covered by two."""
    return _overlap(None if run.maps is None else run.maps.covered_by)


@metrics.register("seen_by_several_share")
def seen_by_several_share(run: "Run") -> float | None:
    """Share of the explored area that more than one robot has seen with its own beams; None without maps."""
    return _several(None if run.maps is None else run.maps.explored_by)


@metrics.register("covered_by_several_share")
def covered_by_several_share(run: "Run") -> float | None:
    """Share of the covered area that the bodies of more than one robot have passed over; None without maps."""
    return _several(None if run.maps is None else run.maps.covered_by)


def _overlap(by: np.ndarray | None) -> float | None:
    return None if by is None or not by.any() else float(by.sum() / np.count_nonzero(by) - 1.0)


def _several(by: np.ndarray | None) -> float | None:
    return None if by is None or not by.any() else float(np.count_nonzero(by > 1) / np.count_nonzero(by))
