"""Recorded logs."""

import numpy as np
import pytest

from covey.errors import InvalidValueError
from covey.mapping.slam.log import Laser, Log, load_log, relative


def test_points_are_in_the_frame_of_the_robot():
    laser = Laser(np.array([-np.pi / 2, 0.0, np.pi / 2]), 10.0, (0.5, 0.0, np.pi / 2))
    points = laser.points(np.array([2.0, 3.0, np.inf]))
    np.testing.assert_allclose(points, [[2.5, 0.0], [0.5, 3.0]], atol=1e-12)


def test_what_is_no_distance_is_no_return():
    laser = Laser(np.zeros(6), 10.0)
    assert laser.returns(np.array([1.0, 0.0, -1.0, np.nan, np.inf, 10.0])).tolist() == [True] + 5 * [False]


def test_odometry_bridges_scans_that_are_not_held():
    stream = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [2.0, 0.0, np.pi / 2], [2.0, 1.0, np.pi / 2]])
    rows = np.array([0, 2])
    log = Log("two", Laser(np.zeros(1), 1.0), np.ones((2, 1)), stream[rows], np.zeros(2), stream, rows)
    poses = np.array([[0.0, 5.0, np.pi / 2], [10.0, 0.0, 0.0]])
    np.testing.assert_allclose(
        log.along_stream(poses),
        [[0.0, 5.0, np.pi / 2], [0.0, 6.0, np.pi / 2], [10.0, 0.0, 0.0], [11.0, 0.0, 0.0]],
        atol=1e-12,
    )


def test_a_relation_is_a_pose_in_the_frame_of_the_earlier_one():
    np.testing.assert_allclose(
        relative(np.array([1.0, 2.0, np.pi / 2]), np.array([1.0, 5.0, -np.pi])), [3, 0, np.pi / 2], atol=1e-12
    )


def test_a_log_is_read_from_its_file(tmp_path):
    ranges, odom = np.ones((2, 3), np.float32), np.zeros((2, 3))
    np.savez(
        tmp_path / "a.npz",
        ranges=ranges,
        odom=odom,
        t=np.array([1.0, 0.5]),
        angle_min=-1.0,
        angle_increment=0.5,
        range_max=8.0,
        laser_xytheta=np.array([0.1, 0.0, 0.0]),
    )
    log = load_log(tmp_path / "a.npz")
    assert (log.name, len(log), log.laser.angles.tolist()) == ("a", 2, [-1.0, -0.5, 0.0])
    assert log.laser.mount == (0.1, 0.0, 0.0)


def test_what_is_no_log_is_told(tmp_path):
    np.savez(tmp_path / "b.npz", ranges=np.ones((2, 3)))
    with pytest.raises(InvalidValueError, match="has no odom, t, angle_min"):
        load_log(tmp_path / "b.npz")
    (tmp_path / "c.npz").write_bytes(b"no log")
    with pytest.raises(InvalidValueError, match=r"c\.npz cannot be read as a log"):
        load_log(tmp_path / "c.npz")
