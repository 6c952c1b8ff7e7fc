"""CARMEN logs, ``.log`` and ``.clf``: one message a line, in the order in which they came.

What is read: ``ROBOTLASER1`` and ``ROBOTLASER2``, ``FLASER`` and ``RLASER`` or, with ``ODOM`` before them,
``RAWLASER1`` and ``RAWLASER2``; the first of these pairs that the log has. The second of each pair is the lidar that
looks back. The order of the lines counts; stamps are only labels. ``FLASER`` and ``RLASER`` say nothing about their
beams: they span half a turn, unless ``PARAM laser_front_laser_resolution`` or ``laser_rear_laser_resolution`` says
otherwise.

References:
    M. Montemerlo, N. Roy, S. Thrun: Perspectives on standardization in mobile robot programming: the Carnegie Mellon
    navigation (CARMEN) toolkit. IROS 2003; the format as its logger writes it at the head of each log, with the
    remissions that it also writes for ``ROBOTLASER1``.
"""

import math
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from covey.errors import InvalidValueError, near_file
from covey.mapping.slam.fans import joined
from covey.mapping.slam.lidars import taking_turns
from covey.mapping.slam.log import Laser, Log, relative
from covey.plain_files import text_lines

_PAIRS = (("ROBOTLASER1", "ROBOTLASER2"), ("FLASER", "RLASER"), ("RAWLASER1", "RAWLASER2"))
_KINDS = tuple(kind for pair in _PAIRS for kind in pair)
_SIDES = ("front", "rear")
_OFFSETS = ("offset", "side_offset", "angular_offset")
_SICK_MAX_M = 81.9  # the largest value of the lidars that such logs come from
_MOST_M, _SAME_M, _SAME_RAD = 3.0, 2e-3, 2e-3


class _Scan(NamedTuple):
    """One line: beams (start [rad], step [rad], largest range [m]), ranges, poses, stamp [s], number of the line."""

    beams: tuple[float, float, float]
    ranges: np.ndarray
    of_laser: np.ndarray | None
    odometry: np.ndarray | None
    time: float
    line: int


def read_carmen(path: str | Path) -> Log:
    """Read a log.

    Where the line of a scan gives the pose of the laser and that of the robot, and their difference is the same in the
    whole log, it is the place of the laser on the robot. If it is not, the log has been corrected by SLAM: then the
    first pose is the reference, and ``PARAM robot_frontlaser_offset`` says where the laser is. A second lidar looks
    back, unless the log says otherwise; in a corrected log its scans have no reference.

    Raises:
        InvalidValueError: the file is missing or has no scan, scans have no odometry, or a line is wrong or cut off;
            the message says which.
    """
    path = Path(path)
    parameters: dict[str, str] = {}
    scans: dict[str, list[_Scan]] = {}
    moved: np.ndarray | None = None
    for number, words in _lines(path):
        kind = words[0]
        try:
            if kind == "PARAM" and len(words) > 2:
                parameters[words[1]] = words[2]
            elif kind == "ODOM":
                moved = _pose(words[1:4])
            elif kind in _KINDS:
                scan = _flaser(words, number) if kind in _PAIRS[1] else _laser(words, number, moved)
                scans.setdefault(kind, []).append(scan)
        except (ValueError, IndexError) as error:
            why = "it ends too early; is the file cut off?" if isinstance(error, IndexError) else error
            raise InvalidValueError(f"{path}, line {number}: {kind}: {why}") from error
    pair = next((pair for pair in _PAIRS if scans.keys() & pair), None)
    if pair is None:
        raise InvalidValueError(f"{path} has no scan: no line begins with {', '.join(_KINDS)}")
    each = [(side, scans[kind]) for side, kind in zip(_SIDES, pair, strict=True) if kind in scans]
    logs = [_joined(path, of_side, parameters, side) for side, of_side in each]
    return taking_turns(logs[0].name, logs, [np.array([scan.line for scan in of_side]) for _, of_side in each])


def _joined(path: Path, scans: list[_Scan], parameters: dict[str, str], side: str) -> Log:
    """Return the log of the lidar that looks to a side, ``front`` or ``rear``."""
    for scan in scans:
        if scan.odometry is None:
            raise InvalidValueError(f"{path}, line {scan.line}: a scan needs odometry; no ODOM line comes before it")
    odometry = np.array([scan.odometry for scan in scans])
    reference = None
    back = math.pi if side == "rear" else 0.0
    x, y, turn = (
        _parameter(path, parameters, f"robot_{side}laser_{name}", otherwise)
        for name, otherwise in zip(_OFFSETS, (0.0, 0.0, back), strict=True)
    )
    if scans[0].of_laser is not None:
        lasers = np.array([scan.of_laser for scan in scans])
        offsets = relative(odometry, lasers)
        offsets[:, 2] = (offsets[:, 2] + math.pi / 2) % math.tau - math.pi / 2  # those of pi and -pi are the same
        middle = np.median(offsets, axis=0)
        off = np.abs(offsets - middle)
        if off[:, :2].max() < _SAME_M and off[:, 2].max() < _SAME_RAD and math.hypot(*middle[:2]) < _MOST_M:
            x, y, turn = (x, y, turn) if np.abs(middle).max() < _SAME_M else middle.round(4).tolist()
        else:
            reference = lasers if side == "front" else None
    fans = joined(*zip(*(_beams(path, scan, parameters, side) for scan in scans), strict=True))
    largest = max(scan.beams[2] for scan in scans)
    if not largest > 0.0:
        largest = _parameter(path, parameters, f"robot_{side}_laser_max", _SICK_MAX_M)
    times = np.array([scan.time for scan in scans])
    try:
        laser = Laser(fans.angles, largest, (x, y, turn))
    except InvalidValueError as error:
        raise InvalidValueError(f"{path}: PARAM robot_{side}laser_…, or the poses of its lines: {error}") from error
    name = path.name.removesuffix(".gz").rpartition(".")[0]
    rows, remarks = np.arange(len(odometry)), (fans.remark,) if fans.remark else ()
    return Log(name, laser, fans.ranges, odometry, times, odometry, rows, reference, fans=fans.each, remarks=remarks)


def _beams(path: Path, scan: _Scan, parameters: dict[str, str], side: str) -> tuple[float, float, np.ndarray]:
    """Return the bearing of the first beam of a scan, the step to the next one [rad], and the ranges."""
    start, step, largest = scan.beams
    if not largest and (name := f"laser_{side}_laser_resolution") in parameters:
        degrees = _parameter(path, parameters, name, 1.0)
        if abs((len(scan.ranges) - 1) * degrees - 180.0) > degrees:  # not half a turn after all
            step = math.radians(degrees)
            start = -0.5 * (len(scan.ranges) - 1) * step
    return start, step, scan.ranges


def _flaser(words: list[str], line: int) -> _Scan:
    """Return the scan of ``FLASER`` or ``RLASER``: n [ranges] x y theta odom_x odom_y odom_theta, three stamps."""
    ranges, rest = _ranges(words, 1)
    if len(rest) < 6:
        raise IndexError
    n = len(ranges)
    step = (
        math.pi / (n - 1 if n % 2 else n) if n > 1 else math.pi
    )  # 180 beams end one step before a half turn, 181 do not
    return _Scan((-0.5 * math.pi, step, 0.0), ranges, _pose(rest[:3]), _pose(rest[3:6]), _stamp(rest[6:]), line)


def _laser(words: list[str], line: int, moved: np.ndarray | None) -> _Scan:
    """Return the scan of ``ROBOTLASER1`` or ``RAWLASER1``, or of the second lidar.

    Its words are type, start, field of view, step, largest range, accuracy, mode, n [ranges] and, in newer logs,
    n [remissions]; of ``ROBOTLASER`` then both poses and five values of the base.
    """
    start, _, step, largest = (_finite(word) for word in words[2:6])
    ranges, rest = _ranges(words, 8)
    if not step:
        raise ValueError("the step between its beams is 0")
    if words[0] in _PAIRS[2]:
        return _Scan((start, step, largest), ranges, None, moved, _stamp(_after_remissions(rest, 3)), line)
    rest = _after_remissions(rest, 14)
    return _Scan((start, step, largest), ranges, _pose(rest[:3]), _pose(rest[3:6]), _stamp(rest[11:]), line)


def _ranges(words: list[str], at: int) -> tuple[np.ndarray, list[str]]:
    """Return the ranges after their number, at word ``at``, and the words after them."""
    n = int(words[at])
    if n < 1:
        raise ValueError(f"it has {n} ranges")
    rest = words[at + 1 + n :]
    if len(words) < at + 1 + n:
        raise IndexError
    return np.array(words[at + 1 : at + 1 + n], np.float64), rest


def _after_remissions(rest: list[str], expected: int) -> list[str]:
    if len(rest) > expected:
        rest = rest[1 + int(rest[0]) :]
    if len(rest) < expected:
        raise IndexError
    return rest


def _stamp(words: list[str]) -> float:
    """Return the stamp among ``ipc_timestamp host logger_timestamp``; nan if there is none."""
    try:
        return float(words[0])
    except (ValueError, IndexError):
        return math.nan


def _pose(words: list[str]) -> np.ndarray:
    if len(words) < 3:
        raise IndexError
    return np.array([_finite(word) for word in words])


def _finite(word: str) -> float:
    if not math.isfinite(value := float(word)):
        raise ValueError(f"{word!r} is not finite")
    return value


def _parameter(path: Path, parameters: dict[str, str], name: str, otherwise: float) -> float:
    try:
        return _finite(parameters.get(name, str(otherwise)))
    except ValueError as error:
        raise InvalidValueError(f"{path}: PARAM {name}: {error}") from error


def _lines(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the words of each line that says something."""
    number = 0
    try:
        for number, line in enumerate(text_lines(path, errors="replace"), 1):
            words = line.split()
            if words and not words[0].startswith("#"):
                yield number, words
    except FileNotFoundError as error:
        raise InvalidValueError(f"there is no file {str(path)!r}{near_file(path)}") from error
    except EOFError as error:
        raise InvalidValueError(f"{path} is cut off after line {number}") from error
    except (OSError, zlib.error) as error:
        raise InvalidValueError(f"{path} cannot be read after line {number}: {error}") from error
