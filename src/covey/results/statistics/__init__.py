"""Statistics for a study; ``docs/statistics.md`` explains which one to use when.

The modules hold pure functions over arrays; `summarize`, `compare`, `average_ranks`, `profiles`, `scaling` and
`best_fleets` apply them to a table with one row per run.
"""

from covey.results.statistics.blocks import flips, shuffles, signed_law, splits
from covey.results.statistics.comparison import SUCCESS, compare
from covey.results.statistics.families import benjamini_hochberg, holm, tarone
from covey.results.statistics.fleet import BestFleet, best_fleet_size, speed_up
from covey.results.statistics.intervals import FEWEST, Interval, mean_interval, median, median_interval, quantile
from covey.results.statistics.power import runs_needed, walsh_share
from covey.results.statistics.profiles import Profile, performance_profile
from covey.results.statistics.ranks import (
    Friedman,
    a12,
    cliffs_delta,
    dominance_in_pairs,
    friedman,
    magnitude,
    mann_whitney,
    wilcoxon_paired,
)
from covey.results.statistics.sample import MetricSample, censored, got_there, groups, levels, sample
from covey.results.statistics.shift import mean_difference, mean_difference_in_pairs, shift, shift_in_pairs
from covey.results.statistics.significance import SignificanceResult
from covey.results.statistics.success import success_difference, success_difference_in_pairs, wilson
from covey.results.statistics.survival import Survival, kaplan_meier, log_rank, log_rank_in_pairs
from covey.results.statistics.tables import average_ranks, best_fleets, profiles, scaling, summarize

__all__ = [
    "FEWEST",
    "SUCCESS",
    "BestFleet",
    "Friedman",
    "Interval",
    "MetricSample",
    "Profile",
    "SignificanceResult",
    "Survival",
    "a12",
    "average_ranks",
    "benjamini_hochberg",
    "best_fleet_size",
    "best_fleets",
    "censored",
    "cliffs_delta",
    "compare",
    "dominance_in_pairs",
    "flips",
    "friedman",
    "got_there",
    "groups",
    "holm",
    "kaplan_meier",
    "levels",
    "log_rank",
    "log_rank_in_pairs",
    "magnitude",
    "mann_whitney",
    "mean_difference",
    "mean_difference_in_pairs",
    "mean_interval",
    "median",
    "median_interval",
    "performance_profile",
    "profiles",
    "quantile",
    "runs_needed",
    "sample",
    "scaling",
    "shift",
    "shift_in_pairs",
    "shuffles",
    "signed_law",
    "speed_up",
    "splits",
    "success_difference",
    "success_difference_in_pairs",
    "summarize",
    "tarone",
    "walsh_share",
    "wilcoxon_paired",
    "wilson",
]
