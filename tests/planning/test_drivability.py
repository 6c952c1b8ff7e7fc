"""Where a robot can drive: the limit of the paper, scaled, and what is not known."""

import numpy as np

from covey.planning.drivability import drivability


def test_a_step_of_four_tenths_is_driven_over_and_one_of_five_is_not():
    # Altitudes in steps of 0.1 m, as the paper's images have them: whatever the rounding, four steps are not more.
    for low in np.arange(0, 256):
        altitude = 0.1 * np.array([[low, low + 4, low + 4], [low, low + 4, low + 9]])
        assert drivability(altitude).tolist() == [[0, 100, 100], [0, 100, 100]]
        assert drivability(altitude[:, :2]).tolist() == [[0, 0], [0, 0]]


def test_the_limit_is_a_slope():
    ramp = 0.3 * np.arange(12.0).reshape(1, -1).repeat(4, axis=0)  # 0.3 m from vertex to vertex
    assert (drivability(ramp, spacing_m=1.0) == 0).all()
    assert (drivability(ramp, spacing_m=0.5) == 100).all()  # 0.6 m per m
    assert (drivability(ramp, spacing_m=0.5, max_slope=0.6) == 0).all()


def test_unmapped_neighbours_say_nothing():
    altitude = np.array([[0.0, np.nan, 9.0], [0.0, np.nan, 9.0]])
    assert drivability(altitude).tolist() == [[0, -1, 0], [0, -1, 0]]
