"""CARMEN logs: what their lines mean, and what is wrong with them."""

import gzip

import numpy as np
import pytest

from covey.errors import InvalidValueError
from covey.mapping.slam.carmen import read_carmen
from covey.mapping.slam.reading import read_log


def flaser(ranges, laser, robot, stamp):
    words = ["FLASER", len(ranges), *ranges, *laser, *robot, stamp, "host", stamp]
    return " ".join(map(str, words)) + "\n"


def robot_laser(ranges, laser, robot, stamp, remissions=()):
    head = ["ROBOTLASER1", 0, -1.0, 2.0, 1.0, 30.0, 0.01, 0, len(ranges), *ranges]
    middle = [] if remissions is None else [len(remissions), *remissions]
    words = [*head, *middle, *laser, *robot, 0.1, 0.2, 0.3, 0.4, 0.5, stamp, "host", stamp]
    return " ".join(map(str, words)) + "\n"


def written(folder, *lines, name="a.log"):
    path = folder / name
    path.write_text("# CARMEN Logfile\n" + "".join(lines))
    return path


def test_the_beams_of_an_old_laser_span_half_a_turn(tmp_path):
    for n, last in ((180, 89.0), (181, 90.0), (361, 90.0)):
        log = read_carmen(written(tmp_path, flaser([1.0] * n, (0, 0, 0), (0, 0, 0), 5)))
        assert np.degrees(log.laser.angles[[0, -1]]) == pytest.approx([-90.0, last])
    resolution = "PARAM laser_front_laser_resolution 0.25 host 0\n"
    log = read_carmen(written(tmp_path, resolution, flaser([1.0] * 401, (0, 0, 0), (0, 0, 0), 5)))
    assert np.degrees(log.laser.angles[[0, -1]]) == pytest.approx([-50.0, 50.0])


def test_scans_with_other_beams_are_taken_with_their_own(tmp_path):
    scans = [flaser([1.0] * n, (0, 0, 0), (0, 0, 0), k) for k, n in enumerate((181, 180, 179, 181))]
    log = read_carmen(written(tmp_path, *scans))
    for row, (n, last) in enumerate(((181, 90.0), (180, 89.0), (179, 90.0), (181, 90.0))):
        angles, ranges = log.scan(row)
        assert (len(angles), len(ranges)) == (n, n)
        assert np.degrees(angles[[0, -1]]) == pytest.approx([-90.0, last])
    assert "2 of 4 scans have other beams than most, which have 181 from -90.0 to 90.0 degrees" in log.remarks[0]


def test_order_counts_and_stamps_are_labels(tmp_path):
    lines = [flaser([1.0, 2.0], (k, 0, 0), (k, 0, 0), stamp) for k, stamp in enumerate((3.0, 2.5, "lost"))]
    log = read_log(written(tmp_path, *lines, name="b.clf"))
    assert (log.name, log.odometry[:, 0].tolist()) == ("b", [0.0, 1.0, 2.0])
    np.testing.assert_array_equal(log.times, [3.0, 2.5, np.nan])


@pytest.mark.parametrize("remissions", [None, (), (7, 8, 9)])
def test_a_newer_laser_says_where_it_is(tmp_path, remissions):
    poses = [(0.0, 0.0, 0.0), (2.0, 1.0, np.pi / 2)]
    lasers = [(0.5, 0.0, 0.0), (2.0, 1.5, np.pi / 2)]  # half a metre ahead
    lines = [
        robot_laser([1.0, 2.0, 3.0], laser, robot, 4.0, remissions) for laser, robot in zip(lasers, poses, strict=True)
    ]
    log = read_carmen(written(tmp_path, *lines))
    np.testing.assert_allclose(log.odometry, poses)
    assert log.laser.mount == pytest.approx((0.5, 0.0, 0.0))
    assert (log.laser.angles.tolist(), log.laser.range_max) == ([-1.0, 0.0, 1.0], 30.0)
    assert log.times.tolist() == [4.0, 4.0]
    assert log.reference is None


def test_poses_that_drift_apart_are_those_of_a_corrected_log(tmp_path):
    offset = "PARAM robot_frontlaser_offset -0.04 host 0\n"
    lines = [flaser([1.0, 2.0], (0.9 * k, 0, 0), (k, 0, 0), k) for k in range(4)]
    log = read_carmen(written(tmp_path, offset, *lines))
    assert log.laser.mount == (-0.04, 0.0, 0.0)
    assert log.reference is not None
    np.testing.assert_allclose(log.reference[:, 0], [0.0, 0.9, 1.8, 2.7])


def test_a_raw_laser_has_the_odometry_before_it(tmp_path):
    raw = "RAWLASER1 0 -1.0 2.0 1.0 30.0 0.01 0 3 1 2 3 0 9.5 host 9.5\n"
    log = read_carmen(written(tmp_path, "ODOM 1 2 0.5 0 0 0 9 host 9\n", raw, "ODOM 3 4 0.5 0 0 0 9 host 9\n", raw))
    assert log.odometry.tolist() == [[1.0, 2.0, 0.5], [3.0, 4.0, 0.5]]
    with pytest.raises(InvalidValueError, match="line 2: a scan needs odometry; no ODOM line comes before it"):
        read_carmen(written(tmp_path, raw))


def test_a_log_may_be_compressed(tmp_path):
    text = flaser([1.0, 2.0], (0, 0, 0), (0, 0, 0), 1) * 50
    (tmp_path / "c.log.gz").write_bytes(gzip.compress(text.encode()))
    assert (read_log(tmp_path / "c.log.gz").name, len(read_log(tmp_path / "c.log.gz"))) == ("c", 50)
    (tmp_path / "c.log.gz").write_bytes(gzip.compress(text.encode())[:-12])
    with pytest.raises(InvalidValueError, match=r"c\.log\.gz is cut off after line"):
        read_log(tmp_path / "c.log.gz")


GOOD = flaser([1.0, 2.0], (0, 0, 0), (0, 0, 0), 1)


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ((GOOD, GOOD[:20]), "line 3: FLASER: it ends too early; is the file cut off"),
        ((GOOD, "FLASER 9 1 2\n"), "line 3: FLASER: it ends too early; is the file cut off"),
        ((GOOD, "FLASER 2 1 x 0 0 0 0 0 0 1 host 1\n"), "line 3: FLASER: could not convert string to float"),
        ((GOOD, "FLASER 2 1 2 0 0 0 0 nan 0 1 host 1\n"), "line 3: FLASER: 'nan' is not finite"),
        (("ODOM 1 2\n",), "line 2: ODOM: it ends too early"),
        (
            ("ODOM 1 2 3 0 0 0 0 h 0\n",),
            "has no scan: no line begins with ROBOTLASER1, ROBOTLASER2, FLASER, RLASER, RAWLASER1, RAWLASER2",
        ),
    ],
)
def test_what_is_wrong_is_told_with_its_line(tmp_path, lines, said):
    with pytest.raises(InvalidValueError, match=said):
        read_carmen(written(tmp_path, *lines))


def test_a_range_that_is_no_number_is_no_return(tmp_path):
    log = read_carmen(written(tmp_path, flaser(["nan", 2.0], (0, 0, 0), (0, 0, 0), 1)))
    assert log.laser.returns(log.ranges).tolist() == [[False, True]]


def rear(line):
    return line.replace("FLASER", "RLASER").replace("ROBOTLASER1", "ROBOTLASER2")


@pytest.mark.parametrize("line", [flaser, robot_laser])
def test_a_second_lidar_is_read_with_its_own_place_and_in_its_turn(tmp_path, line):
    """CARMEN gives the pose of the rear lidar turned by pi, and its offset along that: 0.3 m behind the centre."""
    back = [(-0.3, 0.0, np.pi), (0.5, -0.3, -np.pi / 2)]
    robot = [(0.0, 0.0, 0.0), (0.5, 0.0, np.pi / 2)]
    front = [(0.2, 0.0, 0.0), (0.5, 0.2, np.pi / 2)]
    lines = [line([1.0, 2.0, 3.0], front[0], robot[0], 1), rear(line([4.0, 5.0], back[0], robot[0], 2))]
    lines += [rear(line([6.0, 7.0], back[1], robot[1], 3)), line([1.0, 2.0, 3.0], front[1], robot[1], 4)]
    log = read_carmen(written(tmp_path, *lines))
    assert log.times.tolist() == [1.0, 2.0, 3.0, 4.0]
    np.testing.assert_allclose(log.odometry, [robot[0], robot[0], robot[1], robot[1]])
    np.testing.assert_allclose([log.mount(row) for row in (0, 3)], [(0.2, 0.0, 0.0)] * 2, atol=1e-4)
    np.testing.assert_allclose([log.mount(row) for row in (1, 2)], [(-0.3, 0.0, np.pi)] * 2, atol=1e-4)
    assert [len(log.scan(row)[1]) for row in range(4)] == [3, 2, 2, 3]
    assert log.reference is None


def test_the_rear_lidar_of_a_log_without_its_place_looks_back(tmp_path):
    here = (0, 0, 0)
    lines = [flaser([1.0, 2.0], here, here, 1), rear(flaser([3.0, 4.0], here, here, 2))]
    assert read_carmen(written(tmp_path, *lines)).mount(1) == pytest.approx((0.0, 0.0, np.pi))
    place = "PARAM robot_rearlaser_offset -0.4 host 0\nPARAM robot_rearlaser_angular_offset 3.0 host 0\n"
    assert read_carmen(written(tmp_path, place, *lines)).mount(1) == pytest.approx((-0.4, 0.0, 3.0))


def test_only_the_front_lidar_of_a_corrected_log_gives_the_reference(tmp_path):
    lines = [flaser([1.0, 2.0], (0.9 * k, 0, 0), (k, 0, 0), k) for k in range(3)]
    lines += [rear(flaser([1.0, 2.0], (0.9 * k, 0, 3.1), (k, 0, 0), k)) for k in range(3)]
    log = read_carmen(written(tmp_path, *lines))
    np.testing.assert_allclose(log.reference[:, 0], [0.0, 0.9, 1.8, np.nan, np.nan, np.nan])
