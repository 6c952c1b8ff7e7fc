import math

import numpy as np
import pytest
from scipy.special import ndtr

from covey.errors import InvalidValueError
from covey.results.statistics import mann_whitney, runs_needed, walsh_share, wilcoxon_paired


def test_noether_of_another_package():
    """R: statpsych::size.test.mann(.05, .90, .3), documented to return 44 per group."""
    assert runs_needed(0.3, power=0.9) == 44
    assert runs_needed(0.7, power=0.9) == 44


def test_noether_by_hand():
    """(1.96 + 0.8416)^2 / (3 * 0.25^2) = 41.9 in all, or pairs."""
    assert runs_needed(0.75) == 21
    assert runs_needed(0.75, paired=True) == 42


def test_no_difference_needs_no_number_of_runs():
    assert runs_needed(0.5) is None


def test_never_fewer_than_make_the_level_attainable():
    assert (
        runs_needed(1.0, paired=True) == runs_needed(0.0, paired=True) == 6
    )  # whoever always wins is found by six pairs
    assert runs_needed(1.0, alpha=0.5, power=0.1) == 2  # 2 / C(4, 2) = 0.33
    assert runs_needed(1.0, paired=True, alpha=0.05, power=0.01) == 6  # 2 / 2^6 = 0.031; five pairs give 0.0625
    assert runs_needed(1.0, alpha=0.001, power=0.01) == 7  # 2 / C(14, 7) = 0.0006; six each give 0.0022


@pytest.mark.parametrize("paired", [False, True])
def test_so_many_runs_find_the_difference_about_as_often_as_asked(paired):
    """A small shift of a normal sample: Noether takes the variance of no difference, so a large one needs fewer."""
    rng = np.random.default_rng(4)
    shift = 0.5
    p = ndtr(shift * math.sqrt(2)) if paired else ndtr(shift / math.sqrt(2))
    n = runs_needed(p, paired=paired)
    if paired:
        found = [wilcoxon_paired(rng.normal(shift, 1, n), np.zeros(n)).p < 0.05 for _ in range(300)]
    else:
        found = [mann_whitney(rng.normal(shift, 1, n), rng.normal(0, 1, n)).p < 0.05 for _ in range(300)]
    assert np.mean(found) == pytest.approx(0.8, abs=0.08)


def test_walsh_share_counts_sums_of_two_differences():
    assert walsh_share([3.0, 1.0, 0.0], [0.0, 0.0, 2.0]) == pytest.approx((1 + 1 + 0) / 3)  # 3+1, 3-2, 1-2
    assert walsh_share([math.inf, 1.0], [1.0, math.inf]) == 0.5
    assert [walsh_share([a], [2.0]) for a in (1.0, 2.0, 3.0)] == [0.0, 0.5, 1.0]


@pytest.mark.parametrize("wrong", [{"p": 1.2}, {"p": 0.7, "alpha": 0.0}, {"p": 0.7, "power": 1.0}])
def test_what_is_no_probability_is_refused(wrong):
    with pytest.raises(InvalidValueError, match="probabilities"):
        runs_needed(**wrong)
