"""What a scan looked through and what it hit, by hand, and when two key frames contradict each other."""

import numpy as np
import pytest

from covey.mapping.slam.seen_through import contradict, in_sight, through_and_on
from covey.mapping.slam.surfaces import KeyFrame


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


def test_the_compiled_code_counts_as_the_plain_one():
    random = np.random.default_rng(3)
    given = random.uniform(-6.0, 6.0, (400, 2)), random.uniform(-5.0, 5.0, (300, 2)), np.array([0.4, 0.3, -1.0])
    counts = through_and_on(*given, np.array([0.1, -0.2]))
    assert counts == through_and_on.py_func(*given, np.array([0.1, -0.2]))
    assert min(counts) > 0


@pytest.mark.parametrize("motion", [(0.0, 0.0, 0.0), (1.0, -2.0, 0.5 * np.pi)])
def test_in_sight_is_what_lies_in_directions_of_returns_near_or_far(motion):
    """A lidar at (0.2, 0) has returns ahead of it, to 45 degrees on either side, and one straight behind it."""
    bearing, gap = np.append(np.radians(np.arange(-45.0, 45.5, 1.0)), np.pi), np.radians(1.5)
    eye = np.array([0.2, 0.0])
    returns = eye + 5.0 * np.column_stack((np.cos(bearing), np.sin(bearing)))
    seen = np.array([(1.0, 0.0), (9.0, 3.0), (3.2, -2.7), (-7.0, 0.1), (0.2, 3.0), (-2.0, -2.0), (0.0, -1.0)])
    x, y, turn = motion
    back = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    points = (seen - (x, y)) @ back  # in the frame whose pose is the motion
    assert in_sight(points, KeyFrame(returns, np.zeros_like(returns), eye), np.array(motion), gap) == 4
    assert in_sight(points, KeyFrame(returns[:0], returns[:0], eye), np.array(motion), gap) == 0


def round_room(radius_m):
    """Return a key frame in the middle of a round room: 720 returns."""
    bearings = np.radians(np.arange(-179.75, 180.0, 0.5))
    points = radius_m * np.column_stack([np.cos(bearings), np.sin(bearings)])
    return KeyFrame(points, np.zeros((len(points), 2)), np.zeros(2))


@pytest.mark.parametrize(("other_m", "wanted"), [(5.0, False), (5.2, False), (4.5, True), (5.5, True)])
def test_rooms_of_one_size_agree_and_whoever_looks_through_the_wall_of_the_other_contradicts(other_m, wanted):
    """A wall that is nearer by more than 0.4 m has been looked through, by one or the other."""
    pair = round_room(5.0), round_room(other_m), np.zeros(3)
    assert contradict([pair]) is wanted
    assert not contradict([])
