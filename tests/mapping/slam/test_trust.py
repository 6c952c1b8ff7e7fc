"""Which loops count, and how wrong the steps are: a robot that drives a square twice, with loops that contradict."""

import numpy as np
import pytest

from covey.geometry.se2 import compose, wrap_angle
from covey.mapping.slam.graph_slam import Edge, GraphSlam
from covey.mapping.slam.log import Laser, relative
from covey.mapping.slam.surfaces import KeyFrame
from covey.mapping.slam.trust import REASON, agreeing_loops, chi2_of, solved, with_noise

ROUND = 24
STEPS, LOOPS = np.diag([1000.0, 1000.0, 40000.0]), np.diag([400.0, 400.0, 10000.0])  # 0.03 m, 0.005; 0.05 m, 0.01


def square(drift=0.02, seed=0):
    """Return the true poses (48, 3) of two rounds of a square of 24 m, and the steps as measured.

    The way is too long and each step turns too far, by as much again as the steps' covariance says, all in one direction.
    """
    heading = np.repeat(np.arange(8) * np.pi / 2, 6)
    steps = np.array([(np.cos(h), np.sin(h)) for h in heading])
    poses = np.column_stack((np.cumsum(np.vstack((np.zeros(2), steps[:-1])), axis=0), wrap_angle(heading)))
    motion = relative(poses[:-1], poses[1:])
    noise = np.random.default_rng(seed).normal(0.0, [0.01, 0.01, 0.002], motion.shape)
    return poses, motion + noise + np.array([0.02, 0.0, drift])


def slam_with(poses, motion, right, wrong, information=LOOPS):
    """Return SLAM whose key frames are related by steps, right loops between frames, and wrong ones 8 m beside."""
    slam = GraphSlam(Laser(np.zeros(1), 8.0))
    estimate = [poses[0]]
    for one in motion:
        estimate.append(compose(estimate[-1], one))
    slam.poses = np.array(estimate)
    nothing = KeyFrame(np.empty((0, 2)), np.empty((0, 2)), np.zeros(2))
    slam.frames = [nothing] * len(poses)
    slam.pose = slam.poses[-1].copy()
    slam.edges = [Edge(k, k + 1, one, STEPS, False) for k, one in enumerate(motion)]
    for shift, pairs in ((np.zeros(3), right), (np.array([8.0, 3.0, 0.5]), wrong)):
        for a, b in pairs:
            slam.edges.append(Edge(a, b, relative(poses[a], poses[b]) + shift, information, True))
            slam.loops.accepted.append((a, b))
    return slam


RIGHT = [(k, k + ROUND) for k in range(0, 20, 4)]
WRONG = [(k, k + 30) for k in range(3, 6)]


def test_right_loops_are_held_where_steps_are_too_sure():
    poses, motion = square()
    slam = slam_with(poses, motion, RIGHT, [])
    slam.settle()
    graph = slam.graph()
    chi2 = chi2_of(graph, slam.poses)
    assert slam.loops.accepted == RIGHT
    assert slam.noise > 1.0
    assert (chi2[-len(RIGHT) :] <= REASON).all()
    assert np.hypot(*(slam.poses - poses)[:, :2].T).max() < 1.0, "alone, the odometry is off by 10 m"


def test_loops_that_contradict_the_others_are_taken_back():
    poses, motion = square()
    slam = slam_with(poses, motion, RIGHT, WRONG)
    slam.settle()
    assert sorted(slam.loops.accepted) == RIGHT
    assert sorted(slam.loops.refused) == WRONG
    chi2 = chi2_of(slam.graph(), slam.poses)
    assert (chi2 <= REASON).all(), "no loop beyond reason, no step bent"
    assert np.hypot(*(slam.poses - poses)[:, :2].T).max() < 1.0


def test_the_order_in_which_loops_came_decides_nothing():
    poses, motion = square()
    slam = slam_with(poses, motion, RIGHT, WRONG)
    many = len(motion)
    slam.edges[many:] = slam.edges[many:][::-1]
    slam.settle()
    assert sorted(slam.loops.accepted) == RIGHT


@pytest.mark.parametrize("seed", range(3))
def test_where_steps_are_as_sure_as_they_say_nothing_changes(seed):
    poses, _ = square()
    rng = np.random.default_rng(seed)
    motion = relative(poses[:-1], poses[1:]) + rng.normal(0.0, [0.03, 0.03, 0.005], (len(poses) - 1, 3))
    slam = slam_with(poses, motion, RIGHT, [])
    slam.settle()
    assert slam.noise <= 2.0
    assert slam.loops.accepted == RIGHT


def test_the_largest_set_that_agrees_is_found_without_poses():
    poses, motion = square()
    slam = slam_with(poses, motion, RIGHT, WRONG)
    graph = slam.graph()
    is_loop = np.arange(len(graph.first)) >= len(motion)
    agrees = agreeing_loops(graph, is_loop)
    assert agrees[: len(motion) + len(RIGHT)].all()
    assert not agrees[len(motion) + len(RIGHT) :].any()
    done, holds, times = solved(graph, is_loop, 1.0)
    assert np.array_equal(holds, agrees)
    assert (chi2_of(with_noise(graph, is_loop, times), done.poses)[holds] <= REASON).all()
