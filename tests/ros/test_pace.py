"""When steps may begin, by a clock that the test turns by hand."""

import pytest

from covey.ros import pace


class Hands:
    """A clock that moves when somebody sleeps, or works."""

    def __init__(self):
        self.now = 100.0

    def perf_counter(self):
        return self.now

    def sleep(self, seconds):
        self.now += max(seconds, 1e-6)


@pytest.fixture
def hands(monkeypatch):
    hands = Hands()
    monkeypatch.setattr(pace, "time", hands)
    return hands


def begun(pacer, hands, work):
    """Return when each step begins [s], if steps of 0.04 s take some time each."""
    at = []
    for seconds in work:
        pacer.wait(0.04, lambda: None)
        at.append(hands.now - 100.0)
        hands.now += seconds
    return at


def test_steps_begin_at_their_times_and_late_ones_are_caught_up(hands):
    pacer = pace.Pacer(1.0)
    at = begun(pacer, hands, [0.01, 0.01, 0.09, 0.01, 0.01, 0.01])
    # the one of 0.09 s makes the two after it late: due at 0.09, 0.13 s, begun at 0.14, 0.15 s
    assert at == pytest.approx([0.0, 0.01, 0.05, 0.14, 0.15, 0.17], abs=1e-4)
    assert (pacer.taken, pacer.late, pacer.worst_s) == (6, 2, pytest.approx(0.05, abs=1e-4))
    assert str(pacer) == "2 of 6 steps were late, the worst by 50 ms"


def test_time_runs_from_the_end_of_the_first_step_of_each_run(hands):
    pacer = pace.Pacer(1.0)
    for first in (0.2, 3.0):
        pacer.begin()
        began = hands.now - 100.0
        assert begun(pacer, hands, [first, 0.01, 0.01]) == pytest.approx(
            [began, began + first, began + first + 0.04], abs=1e-4
        )
    assert pacer.late == 0


def test_what_cannot_be_caught_up_is_lost(hands):
    pacer = pace.Pacer(1.0)
    assert begun(pacer, hands, [0.0, 0.0, 1.0, 0.0, 0.0])[3:] == pytest.approx([1.04, 1.08], abs=1e-4)
    assert pacer.late == 1


@pytest.mark.parametrize(
    ("factor", "left"), [(1.0, [0.03, 0.02, 0.01]), (2.0, [0.03, 0.02, 0.01]), (0.5, [0.035, 0.03])]
)
def test_between_two_steps_the_time_is_told_each_10_ms(hands, factor, left):
    pacer, told = pace.Pacer(factor), []
    for _ in range(4):
        told.clear()
        pacer.wait(0.04, lambda: None, told.append)
    ticks = sorted({round(one, 3) for one in told}, reverse=True)
    assert set(left) <= set(ticks)
    assert all(0 < one < 0.04 for one in told)


def test_twice_as_fast_is_twice_as_often(hands):
    assert begun(pace.Pacer(2.0), hands, [0.0] * 5) == pytest.approx([0.0, 0.0, 0.02, 0.04, 0.06], abs=1e-4)
