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
