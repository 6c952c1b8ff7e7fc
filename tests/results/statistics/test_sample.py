"""Metrics of the runs of a study, as the statistics take them."""

import polars as pl
import pytest

from covey.results.statistics.sample import sample


@pytest.mark.parametrize("metric", ["first_alignment_s", "last_order_met_s"])
def test_a_team_that_never_gets_there_counts_as_late(metric):
    times = [100.0, 120.0, 126.0, 150.0, None, None]
    runs = pl.DataFrame({"status": ["timeout"] * 6, "timeout_s": [300.0] * 6, metric: times})
    assert sample(runs, metric).quantile(0.5) == 138.0  # the mean of the third and the fourth of six
    assert sample(runs, metric).runs == 6


def test_a_delay_without_a_value_is_left_out():
    runs = pl.DataFrame({"status": ["timeout"] * 3, "timeout_s": [300.0] * 3, "message_delay_s": [1.0, 3.0, None]})
    assert sample(runs, "message_delay_s").quantile(0.5) == 2.0


def test_runs_whose_time_was_up_are_censored_when_the_last_one_ended():
    """A mission of 240 s is over before the timeout of 250 s; a team that gives up would not have got there."""
    runs = pl.DataFrame(
        {
            "status": ["reached", "timeout", "timeout", "exhausted", "failed", "stopped"],
            "timeout_s": [250.0] * 6,
            "simulated_time_s": [180.0, 240.5, 250.0, 100.0, 20.0, 90.0],
            "all_targets_s": [179.5, None, None, None, None, None],
        }
    )
    found = sample(runs, "all_targets_s")
    assert found.values.tolist() == [179.5, 250.0, 250.0, 250.0, 250.0, 90.0]
    assert found.until_s == 250.0


def test_one_run_that_got_there_later_than_the_others_gave_up_is_no_median():
    runs = pl.DataFrame(
        {
            "status": ["timeout"] * 9 + ["reached"],
            "timeout_s": [700.0] * 10,
            "simulated_time_s": [601.0] * 9 + [640.0],
            "all_targets_s": [None] * 9 + [640.0],
        }
    )
    found = sample(runs, "all_targets_s")
    assert found.values.tolist() == [640.0] * 10
    assert found.quantile(0.5) is None
