import math
import subprocess
import sys

import numpy as np
import pytest
from scipy import stats

from covey.results.statistics import bootstrap_interval, intervals, quantile

# Efron & Tibshirani 1993, table 2.1: survival of treated mice [days]; with 7 values, mean 86.86
MICE = [94.0, 197, 16, 38, 99, 141, 23]


def test_bootstrap_of_the_mean_is_that_of_scipy():
    ours = bootstrap_interval(MICE, np.mean)
    theirs = stats.bootstrap(
        (MICE,), np.mean, n_resamples=20000, method="percentile", rng=np.random.default_rng(5)
    ).confidence_interval
    assert (ours.low, ours.high) == (pytest.approx(theirs.low, rel=0.05), pytest.approx(theirs.high, rel=0.05))
    assert str(ours) == "95 % bootstrap interval"


@pytest.mark.parametrize("block", [1, 1000, 12_345, 10**9])
def test_resamples_are_the_same_however_many_are_drawn_at_a_time(block, monkeypatch):
    values = np.random.default_rng(1).random(101)
    samples = values[intervals.resamples(101, 0)]
    found = np.sort(samples.mean(axis=-1))
    monkeypatch.setattr(intervals, "_BLOCK", block)
    interval = bootstrap_interval(values, np.mean)
    assert (interval.low, interval.high) == intervals.percentiles(found, 0.95)
    np.testing.assert_allclose(intervals.drawn(101) @ values / 101, samples.mean(axis=-1), rtol=1e-12)


def test_ends_of_the_interval_of_a_median_are_values():
    interval = bootstrap_interval(MICE)
    assert interval.low < np.median(MICE) < interval.high
    assert {interval.low, interval.high} <= set(MICE)


def test_below_six_values_the_range_is_given():
    five = bootstrap_interval([5.0, 3.0, 9.0, 4.0, 8.0])
    assert (five.low, five.high, five.kind) == (3.0, 9.0, "range")
    assert bootstrap_interval([5.0, 3.0, 9.0, 4.0, 8.0, 7.0]).kind == "bootstrap"


def test_an_end_beyond_the_timeout_is_infinite():
    interval = bootstrap_interval([10.0, 11, 12, 13, 14, 15, math.inf, math.inf, math.inf])
    assert interval.high == math.inf
    assert interval.low in (11.0, 12.0)
    assert bootstrap_interval([1.0, math.inf]).high == math.inf


@pytest.mark.parametrize("p", [0.25, 0.5, 0.75, 0.9])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 8, 10])
def test_quantiles_are_numpys(p, n):
    values = np.random.default_rng(n).normal(size=(3, n))
    assert quantile(values, p) == pytest.approx(np.quantile(values, p, axis=-1, method="averaged_inverted_cdf"))


def test_the_same_seed_gives_the_same_bytes_in_another_process():
    code = (
        "from covey.results.statistics import bootstrap_interval as b\n"
        f"i = b({MICE}, seed=7)\nj = b({MICE}, seed=8)\nprint(i.low.hex(), i.high.hex(), j.low.hex())"
    )
    runs = {
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            env={**_env(), "PYTHONHASHSEED": h},
        ).stdout
        for h in ("1", "2")
    }
    here = bootstrap_interval(MICE, seed=7)
    assert len(runs) == 1
    assert runs.pop().split()[:2] == [here.low.hex(), here.high.hex()]


def _env():
    import os

    import covey

    return {**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(covey.__file__))}
