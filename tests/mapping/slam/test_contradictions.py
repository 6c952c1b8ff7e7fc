"""Odometry that matching contradicts step after step: slipping wheels are told once, and trusted less."""

import numpy as np
import pytest
from tests.mapping.slam.test_hard_cases import LASER, RING, SETTINGS, WALLS, away, noisy, odometry, seen, way, world_of

from covey.mapping.slam.contradictions import Contradictions, lost_way
from covey.mapping.slam.graph_slam import GraphSlam


def test_what_lies_between_odometry_and_match_tells_how_far_both_are_apart():
    """Odometry says 0.3 ± 0.03 m, the match 0.2 ± 0.01 m: the pose is where their information balances."""
    expected, matched = np.diag([0.03**2, 1e-4, 1e-4]), np.diag([0.01**-2, 0.0, 0.0])
    found = (0.3 / 0.03**2 + 0.2 / 0.01**2) / (1 / 0.03**2 + 1 / 0.01**2)
    lost, driven, deviation = lost_way(np.array([0.3, 0, 0]), expected, np.array([found, 0, 0]), matched)
    assert (lost, driven, deviation) == pytest.approx((0.1, 0.3, np.hypot(0.03, 0.01)))


def test_along_a_corridor_and_on_the_spot_a_match_says_nothing():
    across = np.diag([0.0, 1e4, 1e4])
    assert lost_way(np.array([0.3, 0, 0]), np.eye(3) * 1e-4, np.zeros(3), across) is None
    assert lost_way(np.array([0.02, 0, 2.0]), np.eye(3) * 1e-4, np.zeros(3), np.eye(3) * 1e4) is None


def test_chance_is_no_contradiction_and_a_bias_of_three_deviations_soon_is():
    """Sums of normal numbers less 1 exceed 8 once in exp(2 x 8) steps (Siegmund's approximation)."""
    rng, doubts = np.random.default_rng(0), Contradictions()
    assert all(doubts.step(0.03 * one, 0.3, 0.03) is None for one in rng.standard_normal(5000))
    found = [doubts.step(0.03 * (one - 3.0), 0.3, 0.03) for one in rng.standard_normal(20)]
    (told,) = [one for one in found if one is not None]
    assert found.index(told) < 10
    assert told.share == pytest.approx(-0.3, abs=0.1), "the robot drives farther than its odometry says"


@pytest.fixture(scope="module")
def drive():
    """Return the true way round a ring, its scans, and odometry with the noise that SLAM knows, in steps of 0.15 m."""
    truth, rng = way([*RING, RING[0]], 0.15), np.random.default_rng(0)
    return truth, [noisy(rng, seen(world_of(12, 10, *WALLS), pose)) for pose in truth], odometry(rng, truth)


def slam_along(truth, scans, motion):
    slam = GraphSlam(LASER, SETTINGS, truth[0])
    for one, scan in zip(motion, scans, strict=True):
        slam.add(one, scan)
    return slam


def test_wheels_that_slip_are_told_once_and_the_scans_count(drive):
    truth, scans, motion = drive
    assert slam_along(truth, scans, motion).contradicted == []
    slipping = motion.copy()
    slipping[40:120, :2] /= 0.5  # the robot drives half of what its wheels turn
    slam = slam_along(truth, scans, slipping)
    ((scan, said),) = slam.contradicted
    assert 40 < scan < 120
    assert said.share == pytest.approx(0.5, abs=0.1)
    assert away(slam.trajectory(), truth).max() < 0.2
