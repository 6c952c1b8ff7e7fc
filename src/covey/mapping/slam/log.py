"""Recorded logs: the scans and the odometry of one robot, in the order in which it moved."""

import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

import numpy as np

from covey.archives import DAMAGED, TooLarge, unpacked
from covey.errors import InvalidValueError, near_file
from covey.geometry.se2 import compose
from covey.mapping.slam.fans import joined

NEEDED = ("ranges", "odom", "t", "angle_min", "angle_increment", "range_max", "laser_xytheta")
MOST = 1e9
"""Numbers of poses are smaller [m, rad]."""
MOST_MOUNT_M = 100.0
"""A lidar is nearer to the centre of its robot [m]."""


@dataclass(frozen=True, eq=False)
class Laser:
    """A planar lidar on a robot.

    Attributes:
        angles: bearings of its beams [rad], (B,), in its own frame, counter-clockwise.
        range_max: a value at or above it is no return [m].
        mount: pose x, y [m], heading [rad] of the lidar in the robot's frame.
    """

    angles: np.ndarray
    range_max: float
    mount: tuple[float, float, float] = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        if not 0.0 < self.range_max < MOST:
            raise InvalidValueError(f"range_max is {self.range_max:g} m; it must be above 0, and at most {MOST:g} m")
        _check_mount(*self.mount)

    def returns(self, ranges: np.ndarray) -> np.ndarray:
        """Return which values of a scan, of any shape, are distances to something, bool."""
        with np.errstate(invalid="ignore"):
            return np.isfinite(ranges) & (ranges > 0.0) & (ranges < self.range_max)

    def points(self, ranges: np.ndarray, angles: np.ndarray | None = None) -> np.ndarray:
        """Return the end points (k, 2) [m] of the beams of one scan that return, in the robot's frame.

        ``angles`` (B,): those of its own beams; None: those of the lidar.
        """
        hit = self.returns(ranges)
        r, angle = np.asarray(ranges, np.float64)[hit], (self.angles if angles is None else angles)[hit] + self.mount[2]
        return np.column_stack((self.mount[0] + r * np.cos(angle), self.mount[1] + r * np.sin(angle)))


def _check_mount(x: float, y: float, heading: float) -> None:
    if not (abs(x) < MOST_MOUNT_M and abs(y) < MOST_MOUNT_M and math.isfinite(heading)):
        raise InvalidValueError(
            f"the laser is at x {x:g} m, y {y:g} m, heading {heading:g} rad on the robot; it is at most "
            f"{MOST_MOUNT_M:g} m from its centre: give its place in metres and radians"
        )


@dataclass(frozen=True, eq=False)
class Log:
    """The scans of one robot with its odometry, row by row in the order in which it moved.

    Attributes:
        name: what messages and files call it.
        laser: the lidar.
        ranges: scans [m], (N, B).
        odometry: odometry pose of the robot at each scan, (N, 3), with its drift.
        times: stamps of the scans [s], (N,); only labels: they may step back, and may be nan.
        stream: odometry pose at every scan of the original log, (M, 3), also those that are not held.
        rows: for each row its place in ``stream``, (N,).
        reference: poses of the robot at the scans as something better knows them, (N, 3); nan where it does not;
            None: nothing does.
        stream_times: stamps of ``stream`` [s], (M,), nan where they are lost; None: only those of the scans are known.
        fans: of each scan the bearing of its first beam, the step to the next one [rad], and the number of its beams,
            (N, 3), see `covey.mapping.slam.fans`. None: all scans have the beams of ``laser``.
        remarks: what was odd when it was read, sentences.
        mounts: of each scan the pose of its lidar in the robot's frame, (N, 3), if there are several lidars; None: all
            scans are of ``laser``.
        begins: rows with which a session begins, ascending, the first 0. What the robot did before a session is not
            known, nor where it begins; see `covey.mapping.slam.sessions`.

    Raises:
        InvalidValueError: shapes do not fit, a pose of the odometry is not finite, or a row is not in the stream.
    """

    name: str
    laser: Laser
    ranges: np.ndarray
    odometry: np.ndarray
    times: np.ndarray
    stream: np.ndarray
    rows: np.ndarray
    reference: np.ndarray | None = None
    stream_times: np.ndarray | None = None
    fans: np.ndarray | None = None
    remarks: tuple[str, ...] = ()
    mounts: np.ndarray | None = None
    begins: tuple[int, ...] = (0,)

    def __post_init__(self) -> None:
        n, beams = len(self.ranges), len(self.laser.angles)
        shapes = {"ranges": (n, beams), "odometry": (n, 3), "times": (n,), "rows": (n,)}
        shapes |= {"stream": (len(self.stream), 3)} | ({} if self.reference is None else {"reference": (n, 3)})
        shapes |= {} if self.stream_times is None else {"stream_times": (len(self.stream),)}
        shapes |= {} if self.fans is None else {"fans": (n, 3)}
        shapes |= {} if self.mounts is None else {"mounts": (n, 3)}
        for name, shape in shapes.items():
            if (found := getattr(self, name).shape) != shape:
                raise InvalidValueError(f"the log {self.name} needs {name} of shape {shape}, not {found}")
        if not n or not beams:
            raise InvalidValueError(f"the log {self.name} has no scan")
        for name in ("odometry", "stream"):
            bad = ~(np.abs(getattr(self, name)) < MOST).all(axis=1)
            if bad.any():
                raise InvalidValueError(
                    f"the log {self.name}: row {int(np.argmax(bad))} of {name} is not finite, or beyond {MOST:g}"
                )
        if self.fans is not None:
            counts = self.fans[:, 2]
            if not (
                np.isfinite(self.fans).all() and self.fans[:, 1].all() and ((counts > 0) & (counts <= beams)).all()
            ):
                raise InvalidValueError(
                    f"the log {self.name}: each scan needs a first bearing, a step other than 0, 1 to {beams} beams"
                )
        for mount in () if self.mounts is None else np.unique(self.mounts, axis=0).tolist():
            _check_mount(*mount)
        if self.begins[0] != 0 or (np.diff([*self.begins, n]) <= 0).any():
            raise InvalidValueError(f"the log {self.name}: its sessions begin at {self.begins} of {n} scans")
        if self.rows[0] < 0 or self.rows[-1] >= len(self.stream) or (np.diff(self.rows) <= 0).any():
            raise InvalidValueError(f"the log {self.name}: the rows of its scans do not ascend through the stream")

    def __len__(self) -> int:
        return len(self.ranges)

    def __getitem__(self, which: np.ndarray | slice) -> "Log":
        """Return the log of some of the scans; the stream stays."""
        reference = None if self.reference is None else self.reference[which]
        kept = np.arange(len(self))[which]
        begins = np.unique(np.searchsorted(kept, self.begins)) if len(self.begins) > 1 else np.zeros(1, int)
        return replace(
            self,
            ranges=self.ranges[which],
            odometry=self.odometry[which],
            times=self.times[which],
            rows=self.rows[which],
            reference=reference,
            fans=None if self.fans is None else self.fans[which],
            mounts=None if self.mounts is None else self.mounts[which],
            begins=tuple(begins[begins < len(kept)].tolist()),
        )

    def scan(self, row: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the bearings [rad] in the frame of the lidar, and the ranges [m] of one scan, (B,) each."""
        if self.fans is None:
            return self.laser.angles, self.ranges[row]
        first, step, beams = self.fans[row]
        return first + step * np.arange(int(beams)), self.ranges[row, : int(beams)]

    def mount(self, row: int) -> tuple[float, float, float]:
        """Return the pose x, y [m], heading [rad] of the lidar of one scan in the robot's frame."""
        if self.mounts is None:
            return self.laser.mount
        x, y, heading = self.mounts[row].tolist()
        return x, y, heading

    def points(self, row: int, most_m: float = math.inf) -> np.ndarray:
        """Return the end points (k, 2) [m] of the beams of one scan that return from nearer, in the robot's frame."""
        angles, ranges = self.scan(row)
        laser = self.laser if self.mounts is None else replace(self.laser, mount=self.mount(row))
        return laser.points(np.where(ranges < most_m, ranges, np.inf), angles)

    def is_beam(self) -> np.ndarray:
        """Return which of the ranges are of a beam, bool (N, B): scans may have fewer beams than others."""
        if self.fans is None:
            return np.ones(self.ranges.shape, bool)
        return np.arange(self.ranges.shape[1]) < self.fans[:, 2:]

    @property
    def stamps(self) -> np.ndarray:
        """Stamps [s] along ``stream``, (M,); nan where they are not known."""
        if self.stream_times is not None:
            return self.stream_times
        stamps = np.full(len(self.stream), np.nan)
        stamps[self.rows] = self.times
        return stamps

    def along_stream(self, poses: np.ndarray) -> np.ndarray:
        """Return poses (M, 3) along ``stream`` for poses (N, 3) of the scans: odometry bridges scans not held."""
        if len(self.stream) == len(self):
            return poses
        last = np.clip(np.searchsorted(self.rows, np.arange(len(self.stream)), side="right") - 1, 0, None)
        since = relative(self.stream[self.rows[last]], self.stream)
        return compose(poses[last], since)


def relative(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the poses b in the frames of a, shapes (..., 3)."""
    dx, dy = b[..., 0] - a[..., 0], b[..., 1] - a[..., 1]
    c, s = np.cos(a[..., 2]), np.sin(a[..., 2])
    turn = (b[..., 2] - a[..., 2] + np.pi) % (2.0 * np.pi) - np.pi
    return np.stack((c * dx + s * dy, -s * dx + c * dy, turn), axis=-1)


def read_arrays(path: Path, what: str) -> dict[str, np.ndarray]:
    """Return the arrays of an ``.npz`` file, such as a ``log``.

    Raises:
        InvalidValueError: there is no such file, it is too large, or damaged.
    """
    try:
        return unpacked(path)
    except FileNotFoundError as error:
        raise InvalidValueError(f"there is no file {str(path)!r}{near_file(path)}") from error
    except TooLarge as error:
        raise InvalidValueError(f"{path} {error}") from error
    except DAMAGED as error:
        raise InvalidValueError(f"{path} cannot be read as a {what}: {error}") from error


def load_log(path: str | Path) -> Log:
    """Read a log of the format ``.npz``.

    Its arrays are ``ranges`` (N, B), ``odom`` (N, 3), ``t`` (N,), ``angle_min``, ``angle_increment``, ``range_max`` and
    ``laser_xytheta`` (3,), or (N, 3) if there are several lidars. If the beams vary, ``angle_min`` and
    ``angle_increment`` have a number for each scan (N,), and so has ``beams``, how many of its ranges count. It may
    have ``stream_odom`` (M, 3) with ``stream_index`` (N,) and ``stream_t`` (M,), a reference (N, 3), ``ref_graph`` or
    ``ref_rbpf``, and ``session_begins``. Without ``stream_odom`` the scans are the stream.

    Raises:
        InvalidValueError: the file is not such a log; the message says what is missing or wrong.
    """
    path = Path(path)
    held = read_arrays(path, "log")
    missing = [name for name in NEEDED if name not in held]
    if missing:
        raise InvalidValueError(f"{path} has no {', '.join(missing)}; a log needs {', '.join(NEEDED)}")
    known = {name: array for name, array in held.items() if name in (*NEEDED, *_OPTIONAL)}
    if bad := [name for name, array in known.items() if array.dtype.kind not in "iuf"]:
        raise InvalidValueError(f"{path}: {bad[0]} is not an array of numbers")
    reach = _number(path, "range_max", held["range_max"])
    mount = np.asarray(held["laser_xytheta"], float)
    ranges, odometry = held["ranges"], np.asarray(held["odom"], np.float64)
    if mount.shape not in ((3,), (len(ranges), 3)) or not (np.abs(mount) < MOST).all() or not reach > 0.0:
        raise InvalidValueError(
            f"{path}: range_max must be above 0, and laser_xytheta must be three numbers, or three for each of the "
            f"{len(ranges)} scans"
        )
    mounts = mount if mount.ndim == 2 and len(mount) else None
    if ranges.ndim != 2:
        raise InvalidValueError(f"{path}: ranges have the shape {ranges.shape}; they need a row for each scan")
    angles, fans, remarks = _beams_of(path, held, ranges)
    try:
        laser = Laser(angles, reach, tuple((mount if mounts is None else mount[0]).tolist()))
    except InvalidValueError as error:
        raise InvalidValueError(f"{path}: laser_xytheta: {error}") from error
    stream = np.asarray(held.get("stream_odom", odometry), np.float64)
    every = np.arange(len(odometry))
    rows = np.asarray(held.get("stream_index", every) if "stream_odom" in held else every, np.int64)
    known = [held[name] for name in ("ref_graph", "ref_rbpf") if name in held and np.isfinite(held[name]).any()]
    reference = np.asarray(known[0], np.float64) if known else None
    stamps = np.asarray(held["stream_t"], np.float64) if "stream_t" in held else None
    times = np.asarray(held["t"], np.float64)
    begins = tuple(np.asarray(held.get("session_begins", [0]), np.int64).ravel().tolist())
    return Log(
        path.stem, laser, ranges, odometry, times, stream, rows, reference, stamps, fans, remarks, mounts, begins
    )


_OPTIONAL = ("stream_odom", "stream_index", "stream_t", "ref_graph", "ref_rbpf", "beams", "session_begins")


def _beams_of(
    path: Path, held: dict[str, np.ndarray], ranges: np.ndarray
) -> tuple[np.ndarray, np.ndarray | None, tuple[str, ...]]:
    """Return the beams that most scans have, those of each scan if they vary, and what there is to say of it."""
    n, most = ranges.shape
    names = ("angle_min", "angle_increment", "beams")
    if not any(name in held and held[name].ndim == 1 and held[name].size > 1 for name in names):
        first, step = (_number(path, name, held[name]) for name in names[:2])
        if not step:
            raise InvalidValueError(f"{path}: angle_increment must not be 0")
        return first + step * np.arange(most), None, ()
    each = []
    for name in names:
        given = np.asarray(held.get(name, most), float)
        if given.size not in (1, n) or not np.isfinite(given).all():
            raise InvalidValueError(f"{path}: {name} must be one number, or one for each of the {n} scans")
        each.append(np.broadcast_to(given.ravel(), n))
    counts = each[2].astype(int)
    if not each[1].all() or (counts < 1).any() or (counts > most).any():
        raise InvalidValueError(f"{path}: angle_increment must not be 0, and beams must be 1 to {most}")
    fans = joined(each[0], each[1], [scan[:count] for scan, count in zip(ranges, counts.tolist(), strict=True)])
    if fans.each is None:
        return fans.angles, None, ()
    step = fans.angles[1] - fans.angles[0] if len(fans.angles) > 1 else each[1][0]
    return fans.angles[0] + step * np.arange(most), fans.each, (fans.remark,)


def _number(path: Path, name: str, array: np.ndarray) -> float:
    if array.size != 1 or not np.isfinite(array).all():
        raise InvalidValueError(f"{path}: {name} must be one number, not {array.tolist()!r:.60}")
    return float(array.reshape(()))


def save_log(path: str | Path | IO[bytes], log: Log) -> None:
    """Write a log in the format ``.npz``, as `load_log` reads it.

    Raises:
        InvalidValueError: the bearings of the beams are not evenly spaced, or there is only one.
    """
    arrays: dict[str, Any] = {"ranges": log.ranges, "odom": log.odometry, "t": log.times}
    if log.fans is None:
        step = np.diff(log.laser.angles)
        if not len(step) or np.ptp(step) > 1e-6:
            raise InvalidValueError(f"the log {log.name} cannot be written: its beams are not evenly spaced")
        arrays |= {"angle_min": log.laser.angles[0], "angle_increment": step.mean()}
    else:
        arrays |= {"angle_min": log.fans[:, 0], "angle_increment": log.fans[:, 1], "beams": log.fans[:, 2].astype(int)}
    arrays |= {"range_max": log.laser.range_max}
    arrays |= {"laser_xytheta": np.array(log.laser.mount) if log.mounts is None else log.mounts}
    arrays |= {"stream_odom": log.stream, "stream_index": log.rows}
    if log.stream_times is not None:
        arrays["stream_t"] = log.stream_times
    if log.reference is not None:
        arrays["ref_graph"] = log.reference
    if len(log.begins) > 1:
        arrays["session_begins"] = np.array(log.begins)
    np.savez_compressed(path, **arrays)
