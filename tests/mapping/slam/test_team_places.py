"""What a scan looked through and what it hit, by hand."""

import numpy as np
import pytest

from covey.mapping.slam.team_places import through_and_on


@pytest.mark.parametrize("motion", [(0.0, 0.0, 0.0), (1.0, -2.0, 0.5 * np.pi)])
def test_a_scan_looks_through_what_is_nearer_than_its_returns_and_hits_what_is_on_them(motion):
    """Returns all around on a half circle of 5 m ahead of a lidar at (0.2, 0); nothing is known behind it."""
    mount, bearing = np.array([0.2, 0.0]), np.linspace(-0.5 * np.pi, 0.5 * np.pi, 2001)
    returns = mount + 5.0 * np.column_stack((np.cos(bearing), np.sin(bearing)))
    # nearer (2), on the returns (1), farther (1), and behind the lidar (2)
    seen = np.array([(3.2, 0.0), (1.6, 1.4), (5.2, 0.0), (9.2, 0.0), (-2.0, 0.0), (-4.8, 0.0)])
    x, y, turn = motion
    back = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    points = (seen - (x, y)) @ back  # in the frame whose pose is the motion
    assert through_and_on(points, returns, np.array(motion), mount) == (2, 1)
