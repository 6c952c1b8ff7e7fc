"""Recorded logs."""

import numpy as np
import pytest

from covey import archives
from covey.errors import InvalidValueError
from covey.mapping.slam.log import Laser, Log, load_log, relative, save_log
from covey.mapping.slam.reading import read_log


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


def test_rows_of_a_stream_that_the_file_does_not_hold_do_not_count(tmp_path):
    plain = {"ranges": np.ones((2, 3)), "odom": np.zeros((2, 3)), "t": np.zeros(2), "stream_index": np.array([7, 9])}
    plain |= {"angle_min": -1.0, "angle_increment": 1.0, "range_max": 8.0, "laser_xytheta": np.zeros(3)}
    np.savez(tmp_path / "a.npz", **plain)
    assert load_log(tmp_path / "a.npz").rows.tolist() == [0, 1]


def test_what_is_no_log_is_told(tmp_path):
    np.savez(tmp_path / "b.npz", ranges=np.ones((2, 3)))
    with pytest.raises(InvalidValueError, match="has no odom, t, angle_min"):
        load_log(tmp_path / "b.npz")
    (tmp_path / "c.npz").write_bytes(b"no log")
    with pytest.raises(InvalidValueError, match=r"c\.npz cannot be read as a log"):
        load_log(tmp_path / "c.npz")


def arrays(**others):
    plain = {"ranges": np.ones((2, 3), np.float32), "odom": np.zeros((2, 3)), "t": np.zeros(2)}
    plain |= {"angle_min": -1.0, "angle_increment": 1.0, "range_max": 8.0, "laser_xytheta": np.zeros(3)}
    return plain | others


@pytest.mark.parametrize(
    ("others", "said"),
    [
        ({"odom": np.zeros((3, 3))}, r"needs odometry of shape \(2, 3\), not \(3, 3\)"),
        ({"odom": np.array([[0.0, 0, 0], [np.nan, 0, 0]])}, "row 1 of odometry is not finite"),
        ({"odom": np.full((2, 3), 1e300)}, "row 0 of odometry is not finite, or beyond 1e[+]09"),
        ({"t": np.zeros(5)}, r"needs times of shape \(2,\)"),
        ({"ranges": np.ones(6)}, "they need a row for each scan"),
        ({"ranges": np.ones((0, 3)), "odom": np.zeros((0, 3)), "t": np.zeros(0)}, "has no scan"),
        ({"ranges": np.array([["a"] * 3] * 2)}, "ranges is not an array of numbers"),
        ({"angle_increment": 0.0}, "angle_increment must not be 0"),
        ({"range_max": np.array([1.0, 2.0])}, "range_max must be one number"),
        ({"range_max": np.nan}, "range_max must be one number"),
        ({"laser_xytheta": np.zeros(2)}, "laser_xytheta must be three numbers"),
        ({"stream_odom": np.zeros((4, 3)), "stream_index": np.array([2, 1])}, "do not ascend through the stream"),
        ({"stream_odom": np.zeros((4, 3)), "stream_index": np.array([2, 4])}, "do not ascend through the stream"),
        ({"ref_graph": np.zeros((3, 3))}, r"needs reference of shape \(2, 3\)"),
        ({"stream_t": np.zeros(3)}, r"needs stream_times of shape \(2,\)"),
    ],
)
def test_arrays_that_do_not_fit_are_told(tmp_path, others, said):
    np.savez(tmp_path / "d.npz", **arrays(**others))
    with pytest.raises(InvalidValueError, match=said):
        load_log(tmp_path / "d.npz")


def test_a_log_that_is_too_large_is_not_unpacked(tmp_path, monkeypatch):
    np.savez_compressed(tmp_path / "e.npz", **arrays(ranges=np.ones((1000, 1000))))
    monkeypatch.setattr(archives, "MAX_BYTES", 7_900_000)
    with pytest.raises(InvalidValueError, match=r"takes 0\.0 GB when unpacked; at most 0\.0079 GB"):
        load_log(tmp_path / "e.npz")


def test_a_log_that_is_encrypted_is_told(tmp_path):
    np.savez(tmp_path / "h.npz", **arrays())
    data = bytearray((tmp_path / "h.npz").read_bytes())
    data[data.index(b"PK\x01\x02") + 8] |= 1  # the flag, in the directory of the archive
    (tmp_path / "h.npz").write_bytes(data)
    with pytest.raises(InvalidValueError, match=r"h\.npz cannot be read as a log: it is encrypted"):
        load_log(tmp_path / "h.npz")


def test_a_log_survives_being_written_and_read(tmp_path):
    rng = np.random.default_rng(1)
    stream, rows = rng.normal(size=(5, 3)), np.array([0, 3])
    laser = Laser(np.linspace(-1.0, 1.0, 4), 9.0, (0.1, -0.2, 0.3))
    log = Log("f", laser, rng.random((2, 4)), stream[rows], np.array([2.0, np.nan]), stream, rows, stream[rows])
    save_log(tmp_path / "f.npz", log)
    again = load_log(tmp_path / "f.npz")
    for name in ("ranges", "odometry", "times", "stream", "rows", "reference"):
        np.testing.assert_array_equal(getattr(again, name), getattr(log, name))
    np.testing.assert_allclose(again.laser.angles, laser.angles, atol=1e-15)
    assert (again.name, again.laser.range_max, again.laser.mount) == ("f", 9.0, (0.1, -0.2, 0.3))


def test_the_reference_is_the_graph_where_there_is_one(tmp_path):
    none, ones = np.full((2, 3), np.nan), np.ones((2, 3))
    np.savez(tmp_path / "g.npz", **arrays(ref_graph=none, ref_rbpf=ones))
    assert load_log(tmp_path / "g.npz").reference.tolist() == ones.tolist()
    np.savez(tmp_path / "g.npz", **arrays(ref_graph=2 * ones, ref_rbpf=ones))
    assert load_log(tmp_path / "g.npz").reference.tolist() == (2 * ones).tolist()


def test_a_name_says_which_format_a_log_has(tmp_path):
    with pytest.raises(InvalidValueError, match=r"'a\.txt' is no log by its name: one ends with \.npz, \.log, \.clf"):
        read_log("a.txt")
    with pytest.raises(InvalidValueError, match=r"there is no file .*gg\.npz'"):
        read_log(tmp_path / "gg.npz")
