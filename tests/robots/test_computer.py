"""The records of a robot's computer."""

import pytest

from covey.robots.computer import Computer, Cost


@pytest.mark.parametrize(
    ("parallel", "cpus", "speed", "expected_s"),
    [(0.0, 8, 1.0, 2.0), (1.0, 8, 1.0, 0.25), (0.5, 2, 1.0, 1.5), (0.9, 4, 1.0, 0.65), (0.9, 4, 0.5, 1.3)],
)
def test_work_takes_as_long_as_amdahls_law_says(parallel, cpus, speed, expected_s):
    # t = s ((1 - p) + p / n) / speed, here of s = 2 seconds of work.
    cost = Cost(seconds=2.0, parallel=parallel)
    assert cost.duration_s(Computer(cpus=cpus, speed=speed)) == pytest.approx(expected_s)


@pytest.mark.parametrize(
    "wrong", [{"cpus": 0}, {"speed": 0.0}, {"ram_mib": 0}, {"when_ram_full": "swap"}, {"cores": 2}]
)
def test_a_computer_that_makes_no_sense_is_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Computer(**wrong)
