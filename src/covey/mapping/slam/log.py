"""Recorded logs: the scans and the odometry of one robot, in the order in which it moved."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from covey.errors import InvalidValueError
from covey.geometry.se2 import compose

NEEDED = ("ranges", "odom", "t", "angle_min", "angle_increment", "range_max", "laser_xytheta")


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

    def returns(self, ranges: np.ndarray) -> np.ndarray:
        """Return which values of a scan, of any shape, are distances to something, bool."""
        with np.errstate(invalid="ignore"):
            return np.isfinite(ranges) & (ranges > 0.0) & (ranges < self.range_max)

    def points(self, ranges: np.ndarray) -> np.ndarray:
        """Return the end points (k, 2) [m] of the beams of one scan that return, in the robot's frame."""
        hit = self.returns(ranges)
        r, angle = np.asarray(ranges, np.float64)[hit], self.angles[hit] + self.mount[2]
        return np.column_stack((self.mount[0] + r * np.cos(angle), self.mount[1] + r * np.sin(angle)))


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
    """

    name: str
    laser: Laser
    ranges: np.ndarray
    odometry: np.ndarray
    times: np.ndarray
    stream: np.ndarray
    rows: np.ndarray

    def __len__(self) -> int:
        return len(self.ranges)

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


def load_log(path: str | Path) -> Log:
    """Read a log of the format ``.npz``.

    Raises:
        InvalidValueError: the file is not such a log; the message says what is missing or wrong.
    """
    path = Path(path)
    try:
        with np.load(path) as archive:
            held = {name: archive[name] for name in archive.files}
    except (OSError, ValueError, EOFError) as error:
        raise InvalidValueError(f"{path} cannot be read as a log: {error}") from error
    missing = [name for name in NEEDED if name not in held]
    if missing:
        raise InvalidValueError(f"{path} has no {', '.join(missing)}; a log needs {', '.join(NEEDED)}")
    ranges = np.asarray(held["ranges"])
    beams = np.arange(ranges.shape[1])
    angles = float(held["angle_min"]) + float(held["angle_increment"]) * beams
    laser = Laser(angles, float(held["range_max"]), tuple(np.ravel(held["laser_xytheta"]).astype(float).tolist()))
    odometry = np.asarray(held["odom"], np.float64)
    stream = np.asarray(held.get("stream_odom", odometry), np.float64)
    rows = np.asarray(held.get("stream_index", np.arange(len(odometry))), np.int64)
    return Log(path.stem, laser, ranges, odometry, np.asarray(held["t"], np.float64), stream, rows)
