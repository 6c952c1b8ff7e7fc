"""When declared records come due."""

import numpy as np
import pytest

from covey.clock import Clock
from covey.events.checks import as_input
from covey.events.schedule import Schedule


def steps(seed=1, count=36_000, step_s=0.1, stream="events/0", shares=None, **when):
    """The steps in which an event comes due."""
    clock = Clock(step_s=step_s)
    schedule = Schedule([(stream, as_input({"door": "d", "to": "open", **when}))], clock, seed)
    found = []
    for step in range(count):
        for entry in schedule.due(step, np.nan if shares is None else shares[step]):
            entry.count += 1
            found.append(step)
    return found


@pytest.mark.parametrize(
    ("when", "expected"),
    [
        ({}, [0]),
        ({"at_s": 0}, [0]),
        ({"at_s": 0.3}, [3]),
        ({"at_s": 0.31}, [4]),
        ({"at_step": 7}, [7]),
        ({"every_s": 0.7, "max_count": 3}, [7, 14, 21]),
        ({"every_s": 0.05, "max_count": 5}, [1, 1, 2, 2, 3]),
        ({"at_explored": 0.5}, []),
    ],
)
def test_times_are_exact(when, expected):
    assert steps(count=100, **when) == expected


def test_a_share_counts_once_when_it_is_reached():
    assert steps(count=5, shares=[np.nan, 0.2, 0.5, 0.4, 0.6], at_explored=0.5) == [2]


def test_a_rate_is_a_poisson_process_of_its_own_stream():
    found = np.array(steps(rate_per_min=60))
    gaps = np.diff(found) * 0.1
    assert len(found) == pytest.approx(3600, abs=4 * np.sqrt(3600))
    assert gaps.std() == pytest.approx(1.0, rel=0.08), "exponential gaps: as wide as they are long"
    assert np.array_equal(steps(rate_per_min=60), found)
    assert not np.array_equal(steps(rate_per_min=60, stream="events/1")[:50], found[:50])
    assert not np.array_equal(steps(rate_per_min=60, seed=2)[:50], found[:50])
    assert len(steps(rate_per_min=60, max_count=3)) == 3


def test_a_probability_is_tried_in_each_period():
    found = np.array(steps(every_s=0.5, probability=0.25))
    assert (found % 5 == 0).all()
    assert len(found) == pytest.approx(1800, abs=4 * np.sqrt(7200 * 0.25 * 0.75))
