"""Logs that cannot be what they say: every fault that people make of units, directions and order is told."""

import gzip
import math
import os
from dataclasses import replace

import numpy as np
import pytest

from covey.cli import main
from covey.errors import InvalidValueError
from covey.mapping.slam.carmen import read_carmen
from covey.mapping.slam.g2o import read_g2o
from covey.mapping.slam.log import Laser, Log, save_log
from covey.mapping.slam.plausible import check_log, doubt
from covey.mapping.slam.reading import read_log

WIDE, TALL, BEAMS = 6.0, 4.0, 90
ANGLES = math.tau / BEAMS * np.arange(BEAMS) - math.pi


def seen(pose):
    """Return the distances to the walls of an empty room along the beams."""
    x, y, heading = pose
    c, s = np.cos(ANGLES + heading), np.sin(ANGLES + heading)
    c, s = (np.where(np.abs(one) < 1e-9, 1e-9, one) for one in (c, s))
    return np.minimum(np.where(c > 0, (WIDE - x) / c, -x / c), np.where(s > 0, (TALL - y) / s, -y / s))


@pytest.fixture(scope="module")
def good():
    """A robot drives a circle beside the middle of a room, 4 degrees a scan."""
    turn = np.radians(4.0) * np.arange(120)
    poses = np.column_stack((2.2 + 0.9 * np.sin(turn), 1.2 - 0.9 * np.cos(turn) + 0.9, turn))
    ranges = np.array([seen(pose) for pose in poses], np.float32)
    odometry, rows = poses * [1.02, 1.02, 1.01], np.arange(len(poses))
    return Log("room", Laser(ANGLES, 10.0), ranges, odometry, 0.2 * rows, odometry, rows)


def moved(log, odometry):
    return replace(log, odometry=odometry, stream=odometry)


def test_a_good_log_raises_no_doubt(good):
    assert doubt(good) == ""
    assert doubt(good[:12]) == ""
    wide = replace(good, fans=np.tile([ANGLES[0], math.tau / BEAMS, BEAMS], (len(good), 1)))
    assert doubt(wide) == ""
    backwards = replace(
        good, laser=Laser(ANGLES, 10.0, (0.1, 0.0, math.pi)), ranges=np.roll(good.ranges, BEAMS // 2, 1)
    )
    assert doubt(backwards) == ""


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda log: replace(log, laser=Laser(np.degrees(ANGLES), 10.0)), "its beams span 20397 degrees, more than a turn"),
        (lambda log: replace(log, laser=Laser(ANGLES - 90.0, 10.0)), "its first beam is at -93.1416 rad"),
        (lambda log: replace(log, laser=Laser(ANGLES, 10.0, (0.0, 0.0, 90.0))), "its laser looks at 90 rad"),
        (lambda log: replace(log, ranges=1000.0 * log.ranges), "all ranges are at or above range_max, 10 m, half of"),
        (
            lambda log: replace(log, ranges=1000.0 * log.ranges, laser=Laser(ANGLES, 10_000.0)),
            "If they are in millimetres, divide them by 1000",
        ),
        (lambda log: replace(log, ranges=np.zeros_like(log.ranges)), "none of its scans has a return"),
        (lambda log: replace(log, ranges=log.ranges[:, ::-1]), "its lidar turns the other way than its odometry"),
        (lambda log: moved(log, log.odometry * [1.0, 1.0, -1.0]), "its lidar turns the other way than its odometry"),
        (lambda log: moved(log, log.odometry * [1.0, 1.0, 180.0 / math.pi]), "128.5 degrees, half"),  # 2 pi - 4.04 rad
        (lambda log: moved(log, log.odometry * [1e3, 1e3, 1.0]), "the scans have hardly moved. Is the odometry in metres"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_told(good, change, said):
    with pytest.raises(InvalidValueError, match="the log room: ") as told:
        check_log(change(good))
    assert said in str(told.value)
    assert "--unchecked" in str(told.value)


def test_a_mirrored_lidar_with_few_beams_is_told(good):
    """15 beams, 24 degrees apart, and 4 degrees from scan to scan: one scan later no beam shows the turn."""
    few = slice(None, None, BEAMS // 15)
    sparse = replace(good, laser=Laser(ANGLES[few], 10.0), ranges=good.ranges[:, few])
    assert doubt(sparse) == ""
    mirrored = replace(sparse, odometry=good.odometry * [1.0, -1.0, -1.0], stream=good.odometry * [1.0, -1.0, -1.0])
    assert "its lidar turns the other way than its odometry" in doubt(mirrored)


def test_scans_of_other_places_are_told(good):
    """Each scan shows walls at a distance of its own, as scans do that are kilometres apart."""
    far = np.random.default_rng(1).uniform(1.0, 9.0, (len(good), 1)).astype(np.float32)
    assert "neighbouring scans see different places" in doubt(replace(good, ranges=np.repeat(far, BEAMS, 1)))


@pytest.mark.usefixtures("undrawn")
def test_a_log_that_looks_wrong_is_refused_unless_it_is_wanted(good, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save_log("wrong.npz", replace(good, ranges=good.ranges[:, ::-1])[:60])
    assert main(["slam", "wrong.npz", "--out", "out"]) == 2
    assert "Is the lidar mounted upside down" in capsys.readouterr().err
    assert main(["slam", "wrong.npz", "--out", "out", "-q", "--unchecked", "--method", "matching"]) == 0
    assert (tmp_path / "out" / "scores.json").is_file()


@pytest.mark.parametrize("value", ["1e300", "-101"])
def test_a_laser_far_from_its_robot_is_told(value, tmp_path):
    path = tmp_path / "a.log"
    path.write_text(f"PARAM robot_frontlaser_offset {value} host 0\nFLASER 2 1 1 0 0 0 0 0 0 1 host 1\n")
    with pytest.raises(
        InvalidValueError, match=r"a\.log: PARAM robot_frontlaser_.*it is at most 100 m from its centre"
    ):
        read_carmen(path)


@pytest.mark.parametrize(("name", "line"), [("a.log.gz", "#\n"), ("a.g2o.gz", "#\n"), ("b.log.gz", "#")])
def test_a_packed_text_that_grows_without_bound_is_refused(name, line, tmp_path, monkeypatch):
    from covey import plain_files

    monkeypatch.setattr(plain_files, "MAX_LINE_BYTES", 100_000)
    path = tmp_path / name
    path.write_bytes(gzip.compress(line.encode() * 1_000_000))
    monkeypatch.setattr(plain_files.text_lines, "__kwdefaults__", {"errors": "strict", "most_bytes": 1e6})
    said = "longer than 0.001 GB when unpacked" if line == "#\n" else "a line is longer than 0.1 million characters"
    with pytest.raises(InvalidValueError, match=said):
        read_g2o(path) if "g2o" in name else read_log(path)


@pytest.mark.parametrize("name", ["a.log.gz", "a.g2o"])
def test_a_text_of_endless_empty_lines_is_refused(name, tmp_path, monkeypatch):
    monkeypatch.setattr("covey.plain_files.MAX_LINES", 1_000_000)
    path, lines = tmp_path / name, b"\n" * 1_000_001
    path.write_bytes(gzip.compress(lines, 1) if name.endswith(".gz") else lines)
    with pytest.raises(InvalidValueError, match="it has more than 1 million lines; cut it into parts"):
        read_g2o(path) if "g2o" in name else read_log(path)


@pytest.mark.parametrize(
    "command",
    [
        ("slam", "FILE.log"), ("slam", "FILE.log.gz"), ("slam", "FILE.npz"), ("slam", "FILE.g2o"), ("slam", "FILE.bag"),
        ("slam", "good.npz", "--relations", "FILE.csv"), ("slam", "good.npz", "--relations", "FILE.relations"),
        ("ros", "import", "FILE.mcap"), ("ros", "play", "FILE.mcap"), ("run", "FILE.yaml"), ("check", "FILE.yaml"),
        ("map", "FILE.png", "-s", "resolution_m=0.1"), ("map", "FILE.dxf"), ("play", "FILE.py"),
        ("run", "hello", "-s", "world={file: FILE.yaml}"), ("run", "hello", "-s", "robots.robot.controller=./FILE.py:x"),
        ("run", "first_study", "--cluster", "FILE.yaml"), ("plot", "FILE"), ("replay-robot", "FILE"), ("results", "FILE"),
    ],
)  # fmt: skip
def test_a_pipe_in_the_place_of_a_file_is_refused(command, good, tmp_path, capsys, monkeypatch):
    """Nobody writes into the pipe: whoever opens it waits for ever."""
    monkeypatch.chdir(tmp_path)
    save_log("good.npz", good)
    for word in command:
        if "FILE" in word:
            os.mkfifo(
                next(part for part in word.strip("}").replace(":x", "").split() if "FILE" in part).rpartition("=./")[2]
            )
    assert main(list(command)) in (1, 2)
    assert capsys.readouterr().err
