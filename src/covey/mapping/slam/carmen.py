"""CARMEN logs, ``.log`` and ``.clf``: one message a line, in the order in which they came.

What is read: ``ROBOTLASER1``, ``FLASER`` or, with ``ODOM`` before them, ``RAWLASER1``; the first of these that the log
has. The order of the lines counts; stamps are only labels. ``FLASER`` says nothing about its beams: they span half a
turn, unless ``PARAM laser_front_laser_resolution`` says otherwise.

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
from covey.mapping.slam.log import Laser, Log, relative
from covey.plain_files import text_lines

_KINDS = ("ROBOTLASER1", "FLASER", "RAWLASER1")
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
    first pose is the reference, and ``PARAM robot_frontlaser_offset`` says where the laser is.

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
                scan = _flaser(words, number) if kind == "FLASER" else _laser(words, number, moved)
                scans.setdefault(kind, []).append(scan)
        except (ValueError, IndexError) as error:
            why = "it ends too early; is the file cut off?" if isinstance(error, IndexError) else error
            raise InvalidValueError(f"{path}, line {number}: {kind}: {why}") from error
    kind = next((kind for kind in _KINDS if kind in scans), None)
    if kind is None:
        raise InvalidValueError(f"{path} has no scan: no line begins with {', '.join(_KINDS)}")
    return _joined(path, scans[kind], parameters)


def _joined(path: Path, scans: list[_Scan], parameters: dict[str, str]) -> Log:
    for scan in scans:
        if scan.odometry is None:
            raise InvalidValueError(f"{path}, line {scan.line}: a scan needs odometry; no ODOM line comes before it")
    odometry = np.array([scan.odometry for scan in scans])
    reference = None
    x, y, turn = (_parameter(path, parameters, f"robot_frontlaser_{name}", 0.0) for name in _OFFSETS)
    if scans[0].of_laser is not None:
        lasers = np.array([scan.of_laser for scan in scans])
        offsets = relative(odometry, lasers)
        middle = np.median(offsets, axis=0)
        off = np.abs(offsets - middle)
        if off[:, :2].max() < _SAME_M and off[:, 2].max() < _SAME_RAD and math.hypot(*middle[:2]) < _MOST_M:
            x, y, turn = (x, y, turn) if np.abs(middle).max() < _SAME_M else middle.round(4).tolist()
        else:
            reference = lasers
    fans = joined(*zip(*(_beams(path, scan, parameters) for scan in scans), strict=True))
    largest = max(scan.beams[2] for scan in scans)
    if not largest > 0.0:
        largest = _parameter(path, parameters, "robot_front_laser_max", _SICK_MAX_M)
    times = np.array([scan.time for scan in scans])
    try:
        laser = Laser(fans.angles, largest, (x, y, turn))
    except InvalidValueError as error:
        raise InvalidValueError(f"{path}: PARAM robot_frontlaser_…, or the poses of its lines: {error}") from error
    name = path.name.removesuffix(".gz").rpartition(".")[0]
    rows, remarks = np.arange(len(odometry)), (fans.remark,) if fans.remark else ()
    return Log(name, laser, fans.ranges, odometry, times, odometry, rows, reference, fans=fans.each, remarks=remarks)


def _beams(path: Path, scan: _Scan, parameters: dict[str, str]) -> tuple[float, float, np.ndarray]:
    """Return the bearing of the first beam of a scan, the step to the next one [rad], and the ranges."""
    start, step, largest = scan.beams
    if not largest and "laser_front_laser_resolution" in parameters:
        degrees = _parameter(path, parameters, "laser_front_laser_resolution", 1.0)
        if abs((len(scan.ranges) - 1) * degrees - 180.0) > degrees:  # not half a turn after all
            step = math.radians(degrees)
            start = -0.5 * (len(scan.ranges) - 1) * step
    return start, step, scan.ranges


def _flaser(words: list[str], line: int) -> _Scan:
    """Return the scan of ``FLASER n [ranges] x y theta odom_x odom_y odom_theta ipc_timestamp host timestamp``."""
    ranges, rest = _ranges(words, 1)
    if len(rest) < 6:
        raise IndexError
    n = len(ranges)
    step = (
        math.pi / (n - 1 if n % 2 else n) if n > 1 else math.pi
    )  # 180 beams end one step before a half turn, 181 do not
    return _Scan((-0.5 * math.pi, step, 0.0), ranges, _pose(rest[:3]), _pose(rest[3:6]), _stamp(rest[6:]), line)


def _laser(words: list[str], line: int, moved: np.ndarray | None) -> _Scan:
    """Return the scan of ``ROBOTLASER1`` or ``RAWLASER1``.

    Its words are type, start, field of view, step, largest range, accuracy, mode, n [ranges] and, in newer logs,
    n [remissions]; of ``ROBOTLASER1`` then both poses and five values of the base.
    """
    start, _, step, largest = (_finite(word) for word in words[2:6])
    ranges, rest = _ranges(words, 8)
    if not step:
        raise ValueError("the step between its beams is 0")
    if words[0] == "RAWLASER1":
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
