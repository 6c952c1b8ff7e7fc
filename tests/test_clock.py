"""The clock counts substeps and never sums seconds."""

import pytest

from covey.clock import Clock, exact
from covey.errors import InvalidValueError


def test_time_is_derived_from_a_count():
    clock = Clock(0.01, 0.1)
    clock.advance(10**9)
    assert clock.time_s == 1e7
    assert clock.step == 10**8


def test_exact_is_what_was_typed():
    assert exact(0.1) * 10 == 1


@pytest.mark.parametrize("step_s", [0.015, 0.0, -1.0, float("nan"), float("inf")])
def test_a_step_that_is_no_multiple_is_refused(step_s):
    with pytest.raises(InvalidValueError, match="step_s"):
        Clock(0.01, step_s)


def test_the_error_proposes_a_step_that_fits():
    with pytest.raises(InvalidValueError, match=r"try step_s 0\.09"):
        Clock(0.03, 0.1)
