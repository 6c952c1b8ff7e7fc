"""Metrics: each is a documented function of a finished `Run`; the registry `metrics` holds them by name.

`covey list metrics` prints them; ``docs/metrics.md`` says what their symbols and sources mean.
"""

from covey.results.metrics import (
    aligning,
    at_share,
    computers,
    coverage,
    exploration,
    formation,
    ground,
    host,
    localization,
    maps,
    motion,
    navigation,
    patrolling,
    processes,
    pursuit,
    radio,
    rescue,
    search,
)
from covey.results.metrics.registry import (
    Metric,
    compute,
    is_time_to_goal,
    is_until_goal,
    metrics,
    time_to_goal,
    until_goal,
)

__all__ = [
    "Metric",
    "aligning",
    "at_share",
    "compute",
    "computers",
    "coverage",
    "exploration",
    "formation",
    "ground",
    "host",
    "is_time_to_goal",
    "is_until_goal",
    "localization",
    "maps",
    "metrics",
    "motion",
    "navigation",
    "patrolling",
    "processes",
    "pursuit",
    "radio",
    "rescue",
    "search",
    "time_to_goal",
    "until_goal",
]
