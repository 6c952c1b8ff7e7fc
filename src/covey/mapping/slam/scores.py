"""How good a trajectory is: relative displacements, absolute and relative pose errors, consistency.

References:
    R. Kümmerle, B. Steder, C. Dornhege, M. Ruhnke, G. Grisetti, C. Stachniss, A. Kleiner: On measuring the accuracy of
    SLAM algorithms. Autonomous Robots 27, 2009 (relative displacements).
    J. Sturm, N. Engelhard, F. Endres, W. Burgard, D. Cremers: A benchmark for the evaluation of RGB-D SLAM systems.
    IROS 2012 (absolute and relative pose error).
    S. Umeyama: Least-squares estimation of transformation parameters between two point patterns. PAMI 13, 1991.
    Y. Bar-Shalom, X. R. Li, T. Kirubarajan: Estimation with applications to tracking and navigation. 2001, 5.4 (NEES).
"""

import csv
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from covey.errors import InvalidValueError, near_file
from covey.geometry.se2 import compose, wrap_angle
from covey.lazy import stats
from covey.mapping.slam.log import MOST, relative
from covey.plain_files import check_plain, text_lines


@dataclass(frozen=True, eq=False)
class Relations:
    """Known motions between pairs of poses of a trajectory.

    Attributes:
        first, second: the poses, as rows of the trajectory, (k,).
        motion: pose of ``second`` in the frame of ``first`` x, y [m], heading [rad], (k, 3).
        left_out: how many more there were, whose poses nobody knows.
    """

    first: np.ndarray
    second: np.ndarray
    motion: np.ndarray
    left_out: int = 0

    def __len__(self) -> int:
        return len(self.first)

    def __getitem__(self, which: np.ndarray | slice) -> "Relations":
        return Relations(self.first[which], self.second[which], self.motion[which])


@dataclass(frozen=True, eq=False)
class Errors:
    """Errors with their statistics.

    Attributes:
        each: the errors, none negative, (k,).
    """

    each: np.ndarray

    @property
    def mean(self) -> float:
        """Their mean."""
        return float(self.each.mean())

    @property
    def deviation(self) -> float:
        """Their standard deviation, around their own mean."""
        return float(self.each.std())

    @property
    def mean_square(self) -> float:
        """Mean of their squares."""
        return float(np.square(self.each).mean())

    @property
    def rms(self) -> float:
        """Root of the mean of their squares."""
        return math.sqrt(self.mean_square)

    def __format__(self, spec: str) -> str:
        return f"{self.mean:{spec}} ± {self.deviation:{spec}}"


@dataclass(frozen=True, eq=False)
class PoseErrors:
    """Errors of position [m] and of heading [rad]."""

    translation: Errors
    rotation: Errors

    def __str__(self) -> str:
        degrees = Errors(np.degrees(self.rotation.each))
        return f"{self.translation:.4f} m, {degrees:.3f} deg over {len(self.translation.each)}"


@dataclass(frozen=True)
class Consistency:
    """Normalised estimation errors squared (NEES), averaged over independent runs.

    Attributes:
        average: their average; an estimator whose covariances are right has the number of dimensions.
        low, high: the average of such an estimator is between both with the probability asked for.
    """

    average: float
    low: float
    high: float

    @property
    def consistent(self) -> bool:
        """Whether the average is in the interval; below it covariances are too large, above too small."""
        return self.low <= self.average <= self.high


def load_relations(path: str | Path) -> Relations:
    """Read relations from a CSV file; its columns ``stream1, stream2`` are the rows of the trajectory.

    It also has ``dx, dy`` [m] and ``dtheta`` [rad]; other columns count for nothing. Relations with a row of -1 are
    left out, and counted: nobody knows their place.

    Raises:
        InvalidValueError: the file is missing, lacks a column, or has a line that is wrong; the message says which.
    """
    path, needed = Path(path), ("stream1", "stream2", "dx", "dy", "dtheta")
    left_out = 0
    rows: list[tuple[int, int]] = []
    motions: list[list[float]] = []
    try:
        check_plain(path)
        with path.open(encoding="utf-8", newline="") as file:
            reader = csv.DictReader(file)
            missing = [name for name in needed if name not in (reader.fieldnames or ())]
            if missing:
                raise InvalidValueError(
                    f"{path} has no column {', '.join(missing)}; relations need {', '.join(needed)}"
                )
            for line in reader:
                try:
                    ends, motion = (int(line["stream1"]), int(line["stream2"])), [float(line[n]) for n in needed[2:]]
                except (TypeError, ValueError) as error:
                    raise InvalidValueError(f"{path}, line {reader.line_num}: {error}") from error
                if not all(abs(number) < MOST for number in motion):
                    raise InvalidValueError(
                        f"{path}, line {reader.line_num}: a number is not finite, or beyond {MOST:g}"
                    )
                if min(ends) < 0:
                    left_out += 1
                    continue
                rows.append(ends)
                motions.append(motion)
    except FileNotFoundError as error:
        raise InvalidValueError(f"there is no file {str(path)!r}{near_file(path)}") from error
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InvalidValueError(f"{path} cannot be read as relations: {error}") from error
    if not rows:
        raise InvalidValueError(f"{path} has no relation whose rows are known")
    first, second = np.array(rows).T
    return Relations(first, second, np.array(motions), left_out)


def load_stamped_relations(path: str | Path, stamps: np.ndarray) -> Relations:
    """Read relations between stamps, as the Freiburg benchmark has them: lines ``t1 t2 x y z roll pitch yaw``.

    Args:
        path: the file, ``.relations``: stamps [s], lengths [m], angles [rad]. z, roll and pitch count for nothing.
        stamps: those of the trajectory [s], (n,), in any order; nan where they are lost. The pose of a relation is the
            one with the nearest stamp, if it is within 0.1 s. Relations without such poses are left out, and counted.

    Raises:
        InvalidValueError: the file is missing, a line is wrong, or no relation has its poses in the trajectory.
    """
    path, lines = Path(path), []
    try:
        for number, line in enumerate(text_lines(path), 1):
            words = line.split()
            if not words or words[0].startswith("#"):
                continue
            try:
                numbers = [float(word) for word in words]
            except ValueError as error:
                raise InvalidValueError(f"{path}, line {number}: {error}") from error
            if len(numbers) != 8:
                raise InvalidValueError(
                    f"{path}, line {number}: it has {len(numbers)} numbers; it needs t1 t2 x y z roll pitch yaw"
                )
            if not all(math.isfinite(stamp) for stamp in numbers[:2]) or not all(abs(n) < MOST for n in numbers[2:]):
                raise InvalidValueError(f"{path}, line {number}: a number is not finite, or beyond {MOST:g}")
            lines.append(numbers)
    except FileNotFoundError as error:
        raise InvalidValueError(f"there is no file {str(path)!r}{near_file(path)}") from error
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidValueError(f"{path} cannot be read as relations: {error}") from error
    table = np.array(lines).reshape(-1, 8)
    ends, off = _nearest(stamps, table[:, :2])
    good = (off <= NEAR_S).all(axis=1)
    if not good.any():
        raise InvalidValueError(
            f"{path} has {len(table)} relations, and none between stamps of the log (within {NEAR_S:g} s): do they "
            "belong to another?"
        )
    return Relations(ends[good, 0], ends[good, 1], table[good][:, [2, 3, 7]], int((~good).sum()))


NEAR_S = 0.1
"""How near a stamp of a relation must be to that of its pose [s] (Kümmerle et al. 2009)."""


def _nearest(stamps: np.ndarray, wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows (...) of the nearest stamps, the first of equal ones, and how far they are off [s]."""
    known = np.flatnonzero(np.isfinite(stamps))
    if not len(known):
        return np.zeros(wanted.shape, np.int64), np.full(wanted.shape, np.inf)
    rows = known[np.argsort(stamps[known], kind="stable")]
    ordered = stamps[rows]
    after = np.minimum(np.searchsorted(ordered, wanted), len(rows) - 1)
    before = np.searchsorted(ordered, ordered[np.maximum(after - 1, 0)])
    nearer = np.abs(ordered[before] - wanted) <= np.abs(ordered[after] - wanted)
    at = np.where(nearer, before, after)
    return rows[at], np.abs(ordered[at] - wanted)


def save_relations(path: str | Path, relations: Relations) -> None:
    """Write relations as the CSV file that `load_relations` reads."""
    with Path(path).open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("stream1", "stream2", "dx", "dy", "dtheta"))
        for first, second, motion in zip(relations.first, relations.second, relations.motion, strict=True):
            writer.writerow((first, second, *motion.tolist()))


def relations_of(poses: np.ndarray, first: np.ndarray, second: np.ndarray) -> Relations:
    """Return the motions (k,) between pairs of poses (n, 3)."""
    return Relations(first, second, relative(poses[first], poses[second]))


def true_relations(truth: np.ndarray) -> Relations:
    """Return relations of a true way (n, 3): from place to place, and where it comes back, as in recorded logs.

    There is a place at every metre of the way. Each place is related to the next one, and to the nearest of those
    within 2 m that were left at least 10 m of way before: errors of both kinds count, those that accumulate from place
    to place and those that a closed loop takes out.
    """
    along = np.append(0.0, np.cumsum(np.hypot(*np.diff(truth[:, :2], axis=0).T)))
    rows = np.searchsorted(along, np.arange(0.0, along[-1] + 1e-9, PLACES_M) - 1e-9)
    at, along = truth[rows, :2], along[rows]
    pairs = np.column_stack((np.arange(len(rows) - 1), np.arange(1, len(rows)))).tolist()
    for k in range(1, len(rows)):
        before = np.searchsorted(along, along[k] - LEFT_M, side="right")
        if before > 0:
            far = np.hypot(at[:before, 0] - at[k, 0], at[:before, 1] - at[k, 1])
            if far.min() <= RETURN_M:
                pairs.append([int(far.argmin()), k])
    first, second = np.array(pairs, np.int64).reshape(-1, 2).T
    return relations_of(truth, rows[first], rows[second])


PLACES_M, RETURN_M, LEFT_M = 1.0, 2.0, 10.0
"""See `true_relations` [m]."""


def displacement_errors(poses: np.ndarray, relations: Relations) -> PoseErrors:
    """Return how much the motions in a trajectory (n, 3) differ from known ones: length and angle of each difference.

    Nothing is aligned: only motions count, so that an early error does not spoil what comes later.

    Raises:
        InvalidValueError: there is no relation, or one names a row that the trajectory lacks.
    """
    ends = np.concatenate((relations.first, relations.second))
    if not len(ends):
        raise InvalidValueError("no relations are left to measure with")
    if ends.min() < 0 or ends.max() >= len(poses):
        raise InvalidValueError(
            f"relations name rows {ends.min()} … {ends.max()} of a trajectory of {len(poses)} poses"
        )
    return pose_errors(relative(poses[relations.first], poses[relations.second]), relations.motion)


def pose_errors(poses: np.ndarray, truth: np.ndarray) -> PoseErrors:
    """Return the distances and the angles between poses (n, 3) and true ones, in one frame."""
    d = poses - truth
    return PoseErrors(Errors(np.hypot(d[:, 0], d[:, 1])), Errors(np.abs(wrap_angle(d[:, 2]))))


def alignment(points: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Return the pose (3,) that moves points (n, 2) next to true ones, with the least sum of squared distances.

    Raises:
        InvalidValueError: there are no points, or not as many true ones.
    """
    if len(points) != len(truth) or not len(points):
        raise InvalidValueError(f"{len(points)} points cannot be aligned with {len(truth)}")
    middle, true_middle = points.mean(axis=0), truth.mean(axis=0)
    a, b = points - middle, truth - true_middle
    angle = math.atan2((a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]).sum(), (a * b).sum())
    c, s = math.cos(angle), math.sin(angle)
    x, y = true_middle - (c * middle[0] - s * middle[1], s * middle[0] + c * middle[1])
    return np.array([x, y, angle])


def absolute_errors(poses: np.ndarray, truth: np.ndarray) -> PoseErrors:
    """Return the errors of a trajectory (n, 3) after its positions are aligned with the true ones (ATE)."""
    return pose_errors(compose(alignment(poses[:, :2], truth[:, :2]), poses), truth)


def relative_errors(
    poses: np.ndarray, truth: np.ndarray, *, seconds: float | None = None, metres: float | None = None,
    times: np.ndarray | None = None,
) -> PoseErrors:  # fmt: skip
    """Return the errors of the motions of a trajectory (n, 3) over a time or over a distance (RPE).

    Args:
        poses: the trajectory.
        truth: the true one, (n, 3).
        seconds: each motion is from a pose to the first that is so much later.
        metres: or to the first that is so much farther along the true path.
        times: stamps [s] that do not step back, (n,); needed with ``seconds``.

    Raises:
        InvalidValueError: not one of both is given, stamps are missing or step back, or the trajectory is too short.
    """
    if (seconds is None) == (metres is None) or (seconds is not None and times is None):
        raise InvalidValueError("relative errors need either `seconds` and `times`, or `metres`")
    if times is not None and seconds is not None:
        along, stride = np.asarray(times, float), seconds
        if not (np.diff(along) >= 0.0).all():
            raise InvalidValueError("`times` step back or are not numbers; take `metres`")
    else:
        steps = np.hypot(*np.diff(truth[:, :2], axis=0).T)
        along, stride = np.append(0.0, np.cumsum(steps)), float(metres or 0.0)
    if not stride > 0.0:
        raise InvalidValueError(f"the distance or time of a relative error must be above 0, not {stride}")
    second = np.searchsorted(along, along + stride * (1.0 - 1e-9))
    first = np.flatnonzero(second < len(along))
    return displacement_errors(poses, relations_of(truth, first, second[first]))


def nees(poses: np.ndarray, truth: np.ndarray, covariances: np.ndarray) -> np.ndarray:
    """Return eᵀ Σ⁻¹ e (...) of poses (..., 3) against true ones, with covariances (..., 3, 3) in the same frame."""
    error = np.array(poses - truth)
    error[..., 2] = wrap_angle(error[..., 2])
    return (error * np.linalg.solve(covariances, error[..., None])[..., 0]).sum(axis=-1)


def consistency(values: np.ndarray, dimensions: int = 3, level: float = 0.95) -> Consistency:
    """Return what the NEES (n,) of n independent runs say: n times their average has a chi-squared distribution.

    Values of one run at several times depend on each other and do not count as runs.
    """
    n = len(values)
    low, high = stats.chi2.ppf([0.5 - 0.5 * level, 0.5 + 0.5 * level], n * dimensions) / n
    return Consistency(float(np.mean(values)), float(low), float(high))
