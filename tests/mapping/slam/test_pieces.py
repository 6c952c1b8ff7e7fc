"""Robots that are carried, and odometry that jumps: each is told, and bridged where the scans say how."""

import numpy as np
import pytest
from tests.mapping.slam.test_hard_cases import LASER, RING, SETTINGS, WALLS, away, noisy, odometry, seen, way, world_of

from covey.geometry.se2 import compose
from covey.mapping.slam.graph_slam import GraphSlam
from covey.mapping.slam.log import relative

WORLD = world_of(12, 10, *WALLS)


@pytest.fixture(scope="module")
def driven():
    """Poses (n, 3) along three quarters of a ring of rooms, the motions of odometry before each, and the scans."""
    truth, rng = way(RING), np.random.default_rng(0)
    return truth, odometry(rng, truth), [noisy(rng, seen(WORLD, pose)) for pose in truth]


def follow(start, motions, scans):
    slam = GraphSlam(LASER, SETTINGS, start)
    for motion, scan in zip(motions, scans, strict=True):
        slam.add(motion, scan)
    slam.settle()
    return slam


@pytest.mark.parametrize("jump", [(3.0, 2.0, 1.0), (-38.0, 4.0, -2.0), (300.0, 0.0, 0.0), (0.0, 0.0, 2.5)])
def test_a_jump_of_the_odometry_is_bridged_and_told(driven, jump):
    truth, motions, scans = driven
    row, leaping = 60, motions.copy()
    leaping[row] = compose(leaping[row], np.array(jump))
    slam = follow(truth[0], leaping, scans)
    assert away(slam.trajectory(), truth).max() < 0.15
    assert slam.pieces.begins == [0]
    (bridge,) = slam.pieces.bridges
    assert bridge.scan == row
    np.testing.assert_allclose(bridge.motion, leaping[row])
    np.testing.assert_allclose(bridge.found, relative(truth[row - 1], truth[row]), atol=0.15)


def test_undisturbed_nothing_is_told(driven):
    truth, motions, scans = driven
    slam = follow(truth[0], motions, scans)
    assert (slam.pieces.bridges, slam.pieces.begins) == ([], [0])
    assert away(slam.trajectory(), truth).max() < 0.15


def carried(driven):
    """Return truth, motions and scans of a robot that is carried back to where it began, turned, without odometry."""
    truth, motions, scans = driven
    rng, again = np.random.default_rng(1), way([(0.5, -2.6), (3.8, -2.9), (4.1, 1.0)])
    return (
        np.vstack((truth, again)),
        np.vstack((motions, odometry(rng, again))),
        scans + [noisy(rng, seen(WORLD, pose)) for pose in again],
    )


def test_a_robot_that_was_carried_finds_its_place(driven):
    truth, motions, scans = carried(driven)
    slam = follow(truth[0], motions, scans)
    assert len(slam.pieces.begins) == 2
    assert slam.pieces.joined == [True, True]
    assert [bridge.found for bridge in slam.pieces.bridges] == [None]
    assert abs(slam.pieces.bridges[0].scan - len(driven[0])) <= 1
    assert away(slam.trajectory(), truth).max() < 0.25, "also the scans before it noticed"


def test_a_place_that_was_never_seen_stays_a_piece_of_its_own(driven):
    truth, motions, scans = driven
    other = world_of(20, 7, (-5, -1, -4.5, 2), (3, -2, 6, -1.5), (0, 0.5, 0.3, 3.5))
    rng, further = np.random.default_rng(1), way([(-7, -2.5), (-2, -2.2), (-2, 2)])
    scans = scans + [noisy(rng, seen(other, pose)) for pose in further]
    slam = follow(truth[0], np.vstack((motions, odometry(rng, further))), scans)
    assert slam.pieces.joined == [True, False]
    assert slam.pieces.first == slam.pieces.begins[1]
    assert slam.covariance[0, 0] > 100.0, "nobody knows where it is"
    assert away(slam.trajectory()[: len(truth)], truth).max() < 0.15


def test_a_robot_that_turns_in_the_open_was_not_carried():
    """It leaves a corridor, sees nothing for a while, and turns to a house that the corridor had hidden."""
    corridor = (-26, 1.5, -1, 2), (-26, -2.5, -4, -2), (-20, 1, -19.6, 1.5), (-14, -2, -13.5, -1.5), (-9, 1.2, -8, 1.5)
    world = world_of(60, 20, *corridor, (-5, -2, -4.5, -1.6), (-5, 4.5, -1.2, 9))
    truth, rng = way([(-24, 0), (3, 0), (2.9, 0.01), (2.9, 0.02)], turns=12), np.random.default_rng(0)
    ahead = np.abs(LASER.angles) < 0.5 * np.pi
    scans = [np.where(ahead, noisy(rng, seen(world, pose)), np.inf) for pose in truth]
    assert min(np.isfinite(scan).sum() for scan in scans) == 0
    slam = follow(truth[0], odometry(rng, truth), scans)
    assert (slam.pieces.bridges, slam.pieces.begins) == ([], [0])
    assert away(slam.trajectory(), truth).max() < 0.6
