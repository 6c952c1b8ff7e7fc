"""Statistics for a study; ``docs/statistics.md`` explains which one to use when.

The modules hold pure functions over arrays; `summarize`, `compare`, `average_ranks`, `profiles`, `scaling` and
`best_fleets` apply them to a table with one row per run.
"""

from covey.results.statistics.fleet import BestFleet, best_fleet_size, speed_up
from covey.results.statistics.intervals import FEWEST, Interval, bootstrap_interval, median, quantile
from covey.results.statistics.power import runs_needed, walsh_share
from covey.results.statistics.profiles import Profile, performance_profile
from covey.results.statistics.ranks import (
    Friedman,
    a12,
    cliffs_delta,
    dominance_in_pairs,
    friedman,
    holm,
    magnitude,
    mann_whitney,
    wilcoxon_paired,
)
from covey.results.statistics.sample import MetricSample, groups, levels, sample
from covey.results.statistics.shift import shift, shift_in_pairs
from covey.results.statistics.significance import SignificanceResult
from covey.results.statistics.survival import Survival, kaplan_meier, log_rank
from covey.results.statistics.tables import average_ranks, best_fleets, compare, profiles, scaling, summarize

__all__ = [
    "FEWEST",
    "BestFleet",
    "Friedman",
    "Interval",
    "MetricSample",
    "Profile",
    "SignificanceResult",
    "Survival",
    "a12",
    "average_ranks",
    "best_fleet_size",
    "best_fleets",
    "bootstrap_interval",
    "cliffs_delta",
    "compare",
    "dominance_in_pairs",
    "friedman",
    "groups",
    "holm",
    "kaplan_meier",
    "levels",
    "log_rank",
    "magnitude",
    "mann_whitney",
    "median",
    "performance_profile",
    "profiles",
    "quantile",
    "runs_needed",
    "sample",
    "scaling",
    "shift",
    "shift_in_pairs",
    "speed_up",
    "summarize",
    "walsh_share",
    "wilcoxon_paired",
]
