"""What a team had driven, used, sent and mapped when it had explored 50, 80 and 90 % of G.

Two teams of which one never gets to the end can be compared here: both have done the same amount of work. None where
the share was not explored.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from covey.results.maps import SHARES
from covey.results.metrics.exploration import share_row
from covey.results.metrics.maps import quality, quality_known
from covey.results.metrics.registry import at_share, metrics

if TYPE_CHECKING:
    from covey.results.run import Run


def cost_at(run: "Run", row: int, percent: int) -> float:
    """Return the distance that all robots together have travelled at a row [m]."""
    return float(run.at("distance_m", row).sum())


def energy_at(run: "Run", row: int, percent: int) -> float:
    """Return the energy that all robots together have used at a row [J]."""
    return float(run.at("energy_j", row).sum())


def overlap_at(run: "Run", row: int, percent: int) -> float:
    """Return `covey.results.metrics.exploration.overlap` at a row."""
    return float(np.nansum(run.at("explored_share", row)) / run.series("explored_share_union")[row] - 1.0)


def bytes_at(run: "Run", row: int, percent: int) -> int | None:
    """Return the bytes that all robots together have sent at a row, by the last sample of the radio until then."""
    sent = run.traffic_until(int(run.steps[row]), ["bytes_sent"])
    return sum(int(one["bytes_sent"]) for one in sent.values()) if run.has("traffic") else None


def quality_at(run: "Run", row: int, percent: int) -> float | None:
    """Return `covey.results.metrics.maps.map_quality` at a row; None without maps."""
    return quality(run, None if run.maps is None else run.maps.union_at.get(percent))


def quality_known_at(run: "Run", row: int, percent: int) -> float | None:
    """Return `covey.results.metrics.maps.map_quality_known` at a row; None without maps."""
    return quality_known(run, None if run.maps is None else run.maps.union_at.get(percent))


_MEASURES: dict[str, tuple[str, str, Callable[["Run", int, int], Any]]] = {
    "exploration_cost_m": ("exploration_cost_t{}_m", "Distance that all robots had travelled [m]", cost_at),
    "energy_j": ("energy_t{}_j", "Energy that all robots had used [J]", energy_at),
    "overlap": ("overlap_t{}", "Overlap of what the robots had seen", overlap_at),
    "bytes_sent": ("bytes_sent_t{}", "Bytes that all robots had sent", bytes_at),
    "map_quality": ("map_quality_t{}", "Quality of the union of the maps", quality_at),
    "map_quality_known": (
        "map_quality_known_t{}",
        "Quality of the union of the maps, wrong only among known cells,",
        quality_known_at,
    ),
}


def _register() -> None:
    for of, (name, what, measure) in _MEASURES.items():
        for percent in SHARES:

            def at(
                run: "Run", level: int = percent, measure: Callable[["Run", int, int], Any] = measure
            ) -> float | None:
                row = share_row(run, level)
                return None if row is None else measure(run, row, level)

            at.__doc__ = f"{what} when the team had explored {percent} % of G; None if it did not."
            metrics.register(name.format(percent))(at_share(of, percent)(at))


_register()
