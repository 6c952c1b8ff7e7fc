"""What a scan looked through: in a round room, whose walls are where geometry says."""

import numpy as np
import pytest

from covey.geometry.se2 import Pose
from covey.mapping.slam.seen_through import through_and_on

MOUNT = np.array([0.1, -0.2])
ROOM_M = 5.0
BEARINGS = np.radians(np.arange(-179.5, 180.0, 1.0))


def around(radius, bearings=BEARINGS):
    """Points around the lidar, (k, 2) [m]."""
    return MOUNT + radius * np.column_stack([np.cos(bearings), np.sin(bearings)])


@pytest.mark.parametrize(
    ("radius", "wanted"),
    [
        (2.0, "through"),
        (4.5, "through"),
        (4.7, "neither"),
        (4.8, "on"),
        (5.2, "on"),
        (5.3, "neither"),
        (9.0, "neither"),
    ],
)
@pytest.mark.parametrize("motion", [(0.0, 0.0, 0.0), (1.5, -0.7, 2.0)])
def test_points_in_front_of_the_wall_were_looked_through_and_those_behind_it_say_nothing(radius, wanted, motion):
    points = np.array([Pose(*motion).inverse() @ point for point in around(radius)])
    through, on = through_and_on(points, around(ROOM_M), np.array(motion), MOUNT)
    assert (through, on) == {"through": (360, 0), "on": (0, 360), "neither": (0, 0)}[wanted]


def test_where_the_scan_has_no_returns_nothing_counts():
    half = BEARINGS[np.abs(BEARINGS) < np.pi / 2]
    through, _ = through_and_on(around(2.0), around(ROOM_M, half), np.zeros(3), MOUNT)
    assert 170 <= through <= 180  # the bearings of its returns, but for those at its ends


def test_the_compiled_code_counts_as_the_plain_one():
    random = np.random.default_rng(3)
    points, others = random.uniform(-6.0, 6.0, (400, 2)), around(random.uniform(3.0, 6.0, len(BEARINGS)).mean())
    given = points, others * random.uniform(0.7, 1.1, (len(others), 1)), np.array([0.4, 0.3, -1.0]), MOUNT
    assert through_and_on(*given) == through_and_on.py_func(*given)
