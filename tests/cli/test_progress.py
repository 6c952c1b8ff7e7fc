"""The progress bar: what the line says, and how seldom it is written where there is no terminal."""

import io

import numpy as np
import pytest

from covey.cli.progress import ProgressBar
from covey.results.snapshot import Snapshot
from covey.runtime.stop import Stop


def frame(step, share, robots=(0.1, 0.3)):
    n, zeros = len(robots), np.zeros((len(robots), 3))
    counts = np.zeros(n, np.int64)
    measured = {"explored_share": np.array(robots), "explored_share_union": share, "known_share": np.zeros(n)}
    made = Snapshot(step, step / 10, zeros, zeros, zeros, zeros, np.zeros(n), counts, counts, np.zeros(n))
    made.mission = measured | {"covered_share": np.nan}
    return made


def test_the_line_names_share_time_factor_and_time_to_go():
    bar = ProgressBar(Stop(explored=0.8, timeout_s=10_000), io.StringIO())
    bar._first, bar._first_time_s = 100.0, 0.0
    # 50 s in 10 s: 5 times real time; half of the way in 10 s, so 10 s to go
    assert (
        bar.line(frame(500, 0.4), 110.0) == " 40.0% explored     50.0 s simulated     5.0 x real time  about 10 s to go"
    )


def test_the_timeout_bounds_the_time_to_go():
    bar = ProgressBar(Stop(explored=0.8, timeout_s=60), io.StringIO())
    bar._first, bar._first_time_s = 100.0, 0.0
    assert bar.line(frame(500, 0.01), 110.0).endswith("about 2 s to go")  # (60 - 50) / 5


def test_of_a_run_that_nobody_drives_no_end_is_predicted_but_the_last():
    bar = ProgressBar(Stop(explored=0.8, timeout_s=3600), io.StringIO())
    bar.observe(frame(1, 0.03))  # what the robots see from their starts
    bar._first = 100.0
    assert bar.line(frame(601, 0.03), 160.0).endswith("at most 59 min 0 s to go")
    # 0.2001 in 60 s: 0.5699 more take 170.9 s
    assert bar.line(frame(601, 0.2301), 160.0).endswith("about 2 min 51 s to go")


@pytest.mark.parametrize(("of", "share"), [("union", 0.5), ("any_robot", 0.3), ("all_robots", 0.1)])
def test_the_share_is_the_one_that_counts(of, share):
    assert ProgressBar(Stop(explored=0.9, of=of), io.StringIO()).share(frame(1, 0.5)) == share


def test_covering_is_shown_where_it_is_the_goal():
    bar = ProgressBar(Stop(covered=0.8), io.StringIO())
    bar._first, bar._first_time_s = 100.0, 0.0
    covering = frame(500, 0.9)
    covering.mission["covered_share"] = 0.4
    assert bar.line(covering, 110.0).startswith(" 40.0% covered ")
    assert bar.done(covering) == 0.5


@pytest.mark.parametrize(
    ("stop", "shares"),
    [
        (Stop(explored=0.99), [k / 1000 for k in range(1, 1001)]),
        (Stop(done=True, timeout_s=100), [float("nan")] * 1000),  # robots without maps
    ],
)
def test_without_a_terminal_a_line_comes_at_each_tenth(stop, shares):
    stream = io.StringIO()
    with ProgressBar(stop, stream) as bar:
        for step, share in enumerate(shares, 1):
            bar.observe(frame(step, share))
    lines = stream.getvalue().splitlines()
    assert lines[0].startswith("getting ready")
    assert 10 <= len(lines) <= 13
    assert "\x1b" not in stream.getvalue()


def test_without_a_map_there_is_time_only():
    bar = ProgressBar(Stop(done=True, timeout_s=60), io.StringIO())
    bar._first = 100.0
    assert bar.line(frame(100, float("nan")), 101.0) == "   10.0 s simulated    10.0 x real time  about 5 s to go"


def test_of_a_formation_the_line_says_who_stands_where_and_not_what_is_explored():
    bar = ProgressBar(Stop(timeout_s=500), io.StringIO())
    forming = frame(500, 0.015)
    forming.mission |= {"robots_arrived": 3.0, "formation_error_m": 4.25, "orders_met": 1.0}
    line = bar.line(forming, bar._first + 1.0)
    assert line.startswith("orders met: 1  robots at their places: 3  on average 4.2 m off     50.0 s simulated")
    assert "explored" not in line
