"""Recorded logs and pose graphs, changed at random, byte by byte and in what they say, and with mistaken units."""

import gzip
import math
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from attacks.bounded import main
from attacks.scenarios import said
from attacks.strange import NUMBERS, WORDS

SCANS, BEAMS = 12, 9


def case(number: int) -> str:
    """Return ``good`` or ``refused``, after a log was read and followed, or a graph was read and optimised."""
    from covey.errors import CoveyError
    from covey.experiments.logs.scores import scores_of
    from covey.mapping.map_of_scans import map_of
    from covey.mapping.slam.following import follow
    from covey.mapping.slam.g2o import read_g2o
    from covey.mapping.slam.graph_slam import GraphSettings
    from covey.mapping.slam.pose_graph import optimise
    from covey.mapping.slam.reading import read_log
    from covey.mapping.slam.scores import load_relations

    random = Random(number)
    folder = Path(f"case{number}")
    folder.mkdir()
    try:
        if random.random() < 0.2:
            return _mistaken(folder, random)
        path = _written(folder, random)
        try:
            if ".g2o" in path.name:
                optimise(read_g2o(path), iterations=5)
                return "good"
            log = read_log(path)
            relations = load_relations(_relations(folder, random)) if random.random() < 0.5 else None
            found = follow(log, GraphSettings(key_frame_m=0.1, local_key_frames=3))
            assert np.isfinite(found.poses).all(), "a pose that is no number"
            map_of(log[found.key_rows], found.slam.poses, 0.1, 15.0)
            scores_of(log, found, relations)
        except CoveyError as error:
            said(error)
            return "refused"
        return "good"
    finally:
        for file in folder.iterdir():
            file.unlink()
        folder.rmdir()


def _mistaken(folder: Path, random: Random) -> str:
    """Write the log of a room as people do who mistake a unit or a direction; it has to be refused, and without the
    mistake taken.
    """
    from covey.errors import CoveyError
    from covey.mapping.slam.log import save_log
    from covey.mapping.slam.plausible import check_log
    from covey.mapping.slam.reading import read_log

    log, mistake = _room(random), random.choice((*MISTAKES, "none", "none"))
    path = folder / "room.npz"
    save_log(path, MISTAKES[mistake](log) if mistake in MISTAKES else log)
    try:
        check_log(read_log(path))
    except CoveyError as error:
        said(error)
        if mistake == "none":
            raise AssertionError("a right log is refused") from error
        return "refused"
    assert mistake == "none", f"a log with {mistake} is taken"
    return "good"


def _room(random: Random) -> Any:
    """Return the log of a robot that drives a circle in an empty room, at random sizes.

    From 3 to 5.2 degrees a scan: as many radians are no small turn.
    """
    from covey.mapping.slam.log import Laser, Log

    wide, tall, beams = random.uniform(5.0, 12.0), random.uniform(4.0, 9.0), random.choice((180, 240, 360))
    span = random.choice((math.tau, math.tau, 4.7))
    angles = np.linspace(-span / 2, span / 2, beams, endpoint=False)
    turn = np.radians(random.uniform(3.0, 5.2)) * np.arange(120) * random.choice((-1.0, 1.0))
    radius = random.uniform(0.4, 1.2)
    middle = (random.uniform(0.3, 0.7) * wide, random.uniform(0.4, 0.6) * tall)
    poses = np.column_stack((middle[0] + radius * np.sin(turn), middle[1] - radius * np.cos(turn), turn))
    heading = angles + poses[:, 2:]
    c, s = (np.where(np.abs(one) < 1e-9, 1e-9, one) for one in (np.cos(heading), np.sin(heading)))
    x, y = poses[:, :1], poses[:, 1:2]
    ranges = np.minimum(np.where(c > 0, (wide - x) / c, -x / c), np.where(s > 0, (tall - y) / s, -y / s))
    noise = np.random.default_rng(random.randrange(2**32)).normal(0.0, 0.01, ranges.shape)
    odometry, rows = poses * [1.02, 1.02, 1.01], np.arange(len(poses))
    return Log("room", Laser(angles, 30.0), (ranges + noise).astype(np.float32), odometry, 0.2 * rows, odometry, rows)


def _with_odometry(log: Any, factors: list[float]) -> Any:
    changed = log.odometry * factors
    return replace(log, odometry=changed, stream=changed)


MISTAKES: dict[str, Callable[[Any], Any]] = {
    "bearings in degrees": lambda log: replace(log, laser=replace(log.laser, angles=np.degrees(log.laser.angles))),
    "ranges in millimetres": lambda log: replace(log, ranges=1e3 * log.ranges),
    "all in millimetres": lambda log: replace(
        log, ranges=1e3 * log.ranges, laser=replace(log.laser, range_max=1e3 * log.laser.range_max)
    ),
    "mirrored scans": lambda log: replace(log, ranges=log.ranges[:, ::-1].copy()),
    "headings that turn the other way": lambda log: _with_odometry(log, [1.0, 1.0, -1.0]),
    "positions in millimetres": lambda log: _with_odometry(log, [1e3, 1e3, 1.0]),
    "headings in degrees": lambda log: _with_odometry(log, [1.0, 1.0, 180.0 / math.pi]),
    "no returns": lambda log: replace(log, ranges=np.zeros_like(log.ranges)),
}
"""What people mistake in logs."""


def _written(folder: Path, random: Random) -> Path:
    """Write a log or a graph that was changed; return its path."""
    kind = random.choice(("npz", "clf", "g2o"))
    path = folder / f"a.{kind}"
    if kind == "npz":
        np.savez(path, **_arrays(random))
    else:
        lines = (_carmen() if kind == "clf" else _graph()).splitlines()
        for _ in range(random.choice((0, 1, 1, 3))):
            k = random.randrange(len(lines))
            words = lines[k].split()
            words[random.randrange(len(words))] = str(random.choice((*NUMBERS, *WORDS))).split("\n")[0]
            lines[k] = " ".join(words)
        path.write_bytes("\n".join(lines).encode(errors="replace"))
    data = bytearray(path.read_bytes())
    if random.random() < 0.3:
        for _ in range(random.choice((1, 3, 20))):
            data[random.randrange(len(data))] = random.randrange(256)
    if random.random() < 0.2:
        data = data[: random.randrange(len(data))]
    path.write_bytes(data)
    if kind != "npz" and random.random() < 0.2:
        path = path.with_name(f"{path.name}.gz")
        path.write_bytes(gzip.compress(bytes(data))[: random.choice((None, -5))])
    return path


def _arrays(random: Random) -> dict[str, np.ndarray]:
    turn = np.arange(SCANS)
    arrays = {
        "ranges": np.full((SCANS, BEAMS), 2.0, np.float32),
        "odom": np.column_stack((0.1 * turn, 0.0 * turn, 0.0 * turn)),
        "t": 1.0 * turn,
        "angle_min": np.array(-1.0),
        "angle_increment": np.array(0.25),
        "range_max": np.array(8.0),
        "laser_xytheta": np.zeros(3),
        "stream_odom": np.column_stack((0.1 * turn, 0.0 * turn, 0.0 * turn)),
        "stream_index": turn,
        "ref_graph": np.zeros((SCANS, 3)),
    }
    for _ in range(random.choice((0, 1, 1, 2))):
        name = random.choice(sorted(arrays))
        one, how = arrays[name], random.randrange(5)
        if how == 0:
            del arrays[name]
        elif how == 1:
            arrays[name] = np.asarray(random.choice((one[None], one.ravel(), one.ravel()[:1], one.ravel()[:0])))
        elif how == 2:
            arrays[name] = one.astype(random.choice(("U5", "i4", "c16", "?", "f2")))
        else:
            changed = np.array(one, float)
            changed.flat[random.randrange(changed.size)] = random.choice(NUMBERS)
            arrays[name] = changed
    return arrays


def _carmen() -> str:
    ranges = " ".join(["2.0"] * BEAMS)
    lines = ["PARAM robot_frontlaser_offset 0.1 host 0", "ODOM 0 0 0 0 0 0 0 host 0"]
    lines += [f"FLASER {BEAMS} {ranges} {0.1 * k} 0 0 {0.1 * k} 0 0 {k} host {k}" for k in range(SCANS)]
    head = f"ROBOTLASER1 0 -1.0 2.0 0.25 8.0 0.01 0 {BEAMS} {ranges} 0"
    lines += [f"{head} {0.1 * k} 0 0 {0.1 * k} 0 0 0 0 0 0 0 {k} host {k}" for k in range(SCANS)]
    return "\n".join(lines)


def _graph() -> str:
    lines = [f"VERTEX_SE2 {k} {k} 0 0" for k in range(6)]
    return "\n".join([*lines, *(f"EDGE_SE2 {k} {(k + 1) % 6} 1 0 1.0 2 0 0 2 0 5" for k in range(6))])


def _relations(folder: Path, random: Random) -> Path:
    lines = ["stream1,stream2,dx,dy,dtheta", "0,5,0.5,0,0", "-1,3,0,0,0", "2,11,0.9,0,0"]
    if random.random() < 0.7:
        k = random.randrange(4)
        words = lines[k].split(",")
        words[random.randrange(5)] = str(random.choice((*NUMBERS, *WORDS))).split("\n")[0]
        lines[k] = ",".join(words)
    (folder / "r.csv").write_bytes("\n".join(lines).encode(errors="replace"))
    return folder / "r.csv"


if __name__ == "__main__":
    sys.exit(main("attacks.logs", 500))
