"""Sample times in exact arithmetic."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.errors import InvalidValueError
from covey.sensors.clock import due, samples_per_substep


@given(
    st.sampled_from(["100", "60", "30", "25", "12.5", "10", "7", "0.3", "0.1", "33.3", "99.99"]),
    st.sampled_from(["0.01", "0.005", "0.002"]),
    st.integers(0, 10**9),
    st.integers(0, 400),
)
def test_due_lists_every_sample_at_the_first_substep_at_or_after_its_time(rate, substep, begin, length):
    period, dt = 1 / Fraction(rate), Fraction(substep)
    samples = due(samples_per_substep(float(rate), float(substep)), begin, begin + length)
    guess = int(begin * dt / period)
    expected = [
        k
        for k in range(max(0, guess - 2), guess + int(length * dt / period) + 3)
        if begin * dt <= -(-k * period // dt) * dt < (begin + length) * dt
    ]
    assert samples == [(k, -(-k * period // dt)) for k in expected]


def test_no_sample_is_lost_or_doubled_in_an_hour_of_control_steps():
    samples = []
    for step in range(36_000):
        samples += [number for number, _ in due(samples_per_substep(12.5, 0.01), 10 * step, 10 * step + 10)]
    assert samples == list(range(45_000))


def test_a_rate_that_is_typed_in_decimals_meets_its_substep():
    """0.01 as a binary number is not 1/100; a sample of 10 Hz must still fall on every tenth substep, for ever."""
    assert due(samples_per_substep(10, 0.01), 10**13, 10**13 + 1) == [(10**12, 10**13)]
    assert due(samples_per_substep(0.1, 0.01), 10**15, 10**15 + 1) == [(10**12, 10**15)]


def test_one_sample_per_substep_is_the_most():
    assert due(samples_per_substep(100, 0.01), 5, 8) == [(5, 5), (6, 6), (7, 7)]
    with pytest.raises(
        InvalidValueError, match=r"120 Hz is more than one sample per substep of 0\.01 s; use at most 100 Hz"
    ):
        samples_per_substep(120, 0.01)


@pytest.mark.parametrize(
    ("rate", "substep"), [(0, 0.01), (-1, 0.01), (float("nan"), 0.01), (10, 0), (10, float("inf"))]
)
def test_what_is_not_positive_is_refused(rate, substep):
    with pytest.raises(InvalidValueError, match="must be positive"):
        samples_per_substep(rate, substep)
