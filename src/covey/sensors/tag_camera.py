"""Tag camera: which targets it reads, and where they are."""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from covey.geometry.constant import constant
from covey.geometry.raycast import cast_ray, line_of_sight
from covey.geometry.se2 import Pose
from covey.kernel import kernel
from covey.random import normal4, uniform2
from covey.sensors.degradation import Degradation
from covey.sensors.scan import fan_of, scan_into, seen_of
from covey.sensors.sensor import Readings, SensorRecord, fan_angles
from covey.sensors.truth import Bodies, Truth, bucket_window
from covey.world.targets import Targets

_RAY_GAP_M = 0.05  # distance of two rays of the view at its range
_NOISE, _FALSE = 1 << 33, 1 << 36  # elements of the draws; the identities are those of the chances
_SHARP_M = 0.5  # height within which a false alarm is drawn


@dataclass(eq=False, slots=True)
class TagCameraReading:
    """The markers that one robot reads, nearest first.

    Attributes:
        identities: int64 (count,), identity of each marker.
        kinds: str (count,), its kind, such as ``victim``; ``unknown`` for an identity that no target has.
        ranges: float64 (count,), distance in the plane from the camera [m].
        bearings: float64 (count,), direction from the camera [rad] in the body frame, 0 straight ahead.
        positions: float64 (count, 3), place in the body frame: ahead, left, and height above the floor [m].
    """

    identities: np.ndarray
    kinds: np.ndarray
    ranges: np.ndarray
    bearings: np.ndarray
    positions: np.ndarray

    def __len__(self) -> int:
        return len(self.ranges)

    def any(self) -> bool:
        """Return whether any marker is read."""
        return len(self.ranges) > 0

    def places(self, pose: Pose) -> np.ndarray:
        """Return the positions, float64 (count, 3) [m], in the frame of ``pose``, such as that of ``robot.pose``."""
        x, y, heading = pose
        c, s = math.cos(heading), math.sin(heading)
        ahead, left, height = self.positions.T
        return np.column_stack((x + c * ahead - s * left, y + s * ahead + c * left, height))


@dataclass(frozen=True, eq=False)
class TagCameraReadings(Readings):
    """The markers that m robots read: arrays (m, width) of which row i uses the first ``count[i]``.

    See `TagCameraReading`; unused places hold -1, an empty kind, inf and NaN. ``truth``: float64 (m, rays) [m], how far
    each camera sees along the directions of `TagCamera.angles`; NaN where it is blurred.
    """

    count: np.ndarray
    identities: np.ndarray
    kinds: np.ndarray
    ranges: np.ndarray
    bearings: np.ndarray
    positions: np.ndarray

    def any(self) -> np.ndarray:
        """Return whether each robot reads a marker, bool (m,)."""
        return self.count > 0

    def places(self, pose: np.ndarray) -> np.ndarray:
        """Return the positions, float64 (m, width, 3) [m], in the frame of the poses (m, 3), such as ``team.pose``."""
        x, y, heading = np.asarray(pose).T[..., None]
        c, s = np.cos(heading), np.sin(heading)
        ahead, left, height = np.moveaxis(self.positions, 2, 0)
        return np.stack((x + c * ahead - s * left, y + s * ahead + c * left, height), axis=2)

    def row(self, i: int) -> TagCameraReading:
        """Return the reading of the i-th robot; its arrays are copies."""
        n = self.count.item(i)
        if n == 0:
            return TagCameraReading(*_nothing(self.kinds.dtype.str))
        parts = (self.identities, self.kinds, self.ranges, self.bearings, self.positions)
        return TagCameraReading(*(part[i, :n].copy() for part in parts))

    def degrade(self, i: int, worse: Degradation) -> None:
        """Degrade a reading: markers beyond the range are lost, and some others; noise moves them along their rays.

        Its view ends at the new range, and is nothing along as many rays as markers are lost.
        """
        n = int(self.count[i])
        ranges = self.ranges[i, :n].copy()
        worse.worsen(ranges)
        moved = np.where(np.isfinite(ranges), ranges, 0.0) - self.ranges[i, :n]
        bearings = self.bearings[i, :n]
        self.positions[i, :n, :2] += moved[:, None] * np.column_stack((np.cos(bearings), np.sin(bearings)))
        self.ranges[i, :n] = ranges
        kept = np.flatnonzero(np.isfinite(ranges) & ~worse.lost(n))
        self._keep(i, kept[np.argsort(ranges[kept], kind="stable")], self)
        view = self.truth[i]
        np.minimum(view, worse.range_m, out=view)
        view[worse.lost(len(view))] = np.nan

    def hold(self, before: "TagCameraReadings") -> None:
        """Let robots that read nothing read the nearest marker of ``before`` again."""
        for i in np.flatnonzero((self.count == 0) & (before.count > 0)).tolist():
            self._keep(i, np.zeros(1, int), before)

    def _keep(self, i: int, columns: np.ndarray, of: "TagCameraReadings") -> None:
        """Let row i hold these columns of the same row of some readings."""
        self.count[i] = len(columns)
        empty = {"identities": -1, "kinds": "", "ranges": np.inf, "bearings": np.nan, "positions": np.nan}
        for name, nothing in empty.items():
            values = getattr(of, name)[i, columns].copy()
            getattr(self, name)[i] = nothing
            getattr(self, name)[i, : len(columns)] = values


class TagCamera(SensorRecord):
    """A camera that reads the markers of targets: it tells their identities and places.

    It can read a target within its field of view and range, in line of sight (walls and bodies hide it; heights do not
    count), if it stands within ``incidence_deg`` of the side that the target shows. In each sample the chance is

        (near + (far - near) distance / range) (1 - (1 - slant) incidence / largest incidence) min(1, blur / turn rate)

    with ``near``, ``far`` and ``slant`` of the fields ``detect_…``. The measured place has Gaussian noise in all three
    directions, with a standard deviation that grows with the distance.
    """

    feeds: ClassVar[tuple[str, ...]] = ("targets",)
    form: ClassVar[str] = "tags"
    degrades: ClassVar[bool] = True
    kind: Literal["tag_camera"] = "tag_camera"
    name: str = Field(default="tag_camera", min_length=1, description="Name of the sensor, unique on its robot.")
    fov_deg: float = Field(default=62.2, gt=0, le=360, description="Field of view, centred straight ahead [degrees].")
    range_m: float = Field(default=4.0, gt=0, le=1000, description="Largest distance at which a marker is read [m].")
    incidence_deg: float = Field(
        default=60.0, gt=0, lt=90, description="Largest angle between the ray and the normal of a marker [degrees]."
    )
    blur_deg_s: float = Field(
        default=60.0, gt=0, le=1e6, description="Turn rate above which markers are missed more often [degrees/s]."
    )
    detect_near: float = Field(default=0.95, ge=0, le=1, description="Chance to read a marker right before the camera.")
    detect_far: float = Field(default=0.6, ge=0, le=1, description="Chance at the largest distance.")
    detect_slant: float = Field(default=0.5, ge=0, le=1, description="Factor of the chance at the largest incidence.")
    sigma_m: float = Field(default=0.02, ge=0, le=100, description="Standard deviation of a place at distance 0 [m].")
    sigma_per_m: float = Field(
        default=0.02, ge=0, le=10, description="Growth of that standard deviation with the distance [m/m]."
    )
    false_per_min: float = Field(
        default=0.5,
        ge=0,
        le=1e6,
        description="Mean number of false alarms per minute: a marker where none is, anywhere in view.",
    )
    dictionary: int | None = Field(
        default=None,
        ge=1,
        le=10**9,
        description="False alarms draw their identity from 0 to this number less 1; null: from those of the targets.",
    )
    holds_last: bool = Field(
        default=False,
        description="A fault: while it reads nothing, it repeats the nearest marker that it read last, at the same "
        "place before the robot.",
    )
    max_count: int = Field(
        default=16,
        ge=1,
        le=10_000,
        description="Largest number of markers in a reading; the nearest ones are reported.",
    )
    mount_x_m: float = Field(default=0.0, description="Position of the camera ahead of the robot's centre [m].")
    mount_y_m: float = Field(default=0.0, description="Position of the camera to the left of the robot's centre [m].")
    mount_heading_deg: float = Field(default=0.0, description="Direction of the camera, counter-clockwise [degrees].")

    @model_validator(mode="after")
    def _check_rate(self) -> "TagCamera":
        if self.false_per_min > 60 * self.rate_hz:
            raise ValueError(f"{self.false_per_min:g} false alarms a minute are more than one per sample; give less")
        return self

    @property
    def angles(self) -> np.ndarray:
        """Directions of rays that cover the view [rad], in the frame of the mount, shape (rays,), read-only."""
        return _angles(math.radians(self.fov_deg), self.range_m)

    @property
    def mount(self) -> np.ndarray:
        """x, y [m], heading [rad] in the body frame, float64 (3,)."""
        return np.array([self.mount_x_m, self.mount_y_m, math.radians(self.mount_heading_deg)])

    def read(self, truth: Truth, members: np.ndarray, keys: np.ndarray, sample: int) -> TagCameraReadings:
        """Return what the members read, see `SensorRecord.read`."""
        targets, m = truth.targets, len(members)
        known = len(targets) if self.dictionary is None else self.dictionary
        false = self.false_per_min / (60.0 * self.rate_hz) if known else 0.0
        width = max(1, min(self.max_count, len(targets) + 1))
        count, identities = np.empty(m, np.int64), np.empty((m, width), np.int64)
        ranges, bearings, positions = np.empty((m, width)), np.empty((m, width)), np.empty((m, width, 3))
        view = np.empty((m, len(angles := self.angles)))
        limits = (
            math.radians(self.fov_deg) / 2,
            self.range_m,
            math.radians(self.incidence_deg),
            math.radians(self.blur_deg_s),
        )
        chances = self.detect_near, self.detect_far, self.detect_slant, false
        any_read = _read(
            *seen_of(truth, True), members, self.mount, *fan_of(angles), truth.twist, keys, sample, limits, chances,
            (self.sigma_m, self.sigma_per_m), targets.positions, targets.normals, targets.identities,
            -1 if self.dictionary is None else self.dictionary, count, identities, ranges, bearings, positions, view,
        )  # fmt: skip
        kinds = _kinds(targets, identities) if any_read else np.zeros((m, width), targets.kind_of.dtype)
        return TagCameraReadings.made(
            count=count,
            identities=identities,
            kinds=kinds,
            ranges=ranges,
            bearings=bearings,
            positions=positions,
            truth=view,
        )

    def after(self, readings: TagCameraReadings, before: TagCameraReadings | None) -> TagCameraReadings:
        """Return the readings; with `holds_last`, robots that read nothing read the last marker again."""
        if self.holds_last and before is not None:
            readings.hold(before)
        return readings


@lru_cache(maxsize=64)
def _angles(fov_rad: float, range_m: float) -> np.ndarray:
    return constant(fan_angles(min(math.ceil(fov_rad * range_m / _RAY_GAP_M) + 1, 10_000), fov_rad))


@lru_cache(maxsize=64)
def _nothing(kinds: str) -> tuple[np.ndarray, ...]:
    """Return the arrays of a reading without markers; ``kinds``: type of the kinds."""
    return np.empty(0, np.int64), np.empty(0, kinds), np.empty(0), np.empty(0), np.empty((0, 3))


def _kinds(targets: Targets, identities: np.ndarray) -> np.ndarray:
    """Return the kinds of identities (m, width); empty for -1."""
    return np.where(identities >= 0, targets.kind_of[targets.rows(identities)], "")


@kernel
def _read(
    skip, frame, pose, bodies, members, mount, directions, first, spacing, twist, keys, sample, limits, chances, sigmas,
    places, normals, names, dictionary, count, identities, ranges, bearings, positions, view,
):  # fmt: skip
    """Write what each member reads, see `TagCamera`; return whether any member reads anything.

    Args:
        skip, frame, pose, bodies, members, mount, directions, first, spacing: see `covey.sensors.scan.scan_into`.
        limits: half the field of view [rad], range [m], largest incidence [rad], turn rate without blur [rad/s].
        chances: near, far, slant, and that of a false alarm in this sample.
        sigmas: of the noise at distance 0 [m], and its growth [m/m].
        places, normals, names: see `covey.world.targets.Targets`; names are the identities.
        dictionary: number of identities of false alarms; -1: they have those of targets.
        view: float64 (m, rays), how far each camera sees [m]; becomes NaN where it turns too fast.
    """
    half, range_m, steepest, blur = limits
    near, far, slant, false = chances
    least = math.cos(steepest)
    scan_into(skip, frame, pose, bodies, members, mount, directions, first, spacing, range_m, view)
    bodies = Bodies(*bodies)
    count[:], identities[:], ranges[:], bearings[:], positions[:] = 0, -1, np.inf, np.nan, np.nan
    any_read = False
    for i in range(members.shape[0]):
        own = members[i]
        c, s = math.cos(pose[own, 2]), math.sin(pose[own, 2])
        x, y = pose[own, 0] + c * mount[0] - s * mount[1], pose[own, 1] + s * mount[0] + c * mount[1]
        heading = pose[own, 2] + mount[2]
        a, b = math.cos(heading), math.sin(heading)
        rate = abs(twist[own, 2])
        sharp = 1.0 if rate <= blur else blur / rate
        if rate > blur:
            view[i] = np.nan
        for t in range(places.shape[0]):
            dx, dy = places[t, 0] - x, places[t, 1] - y
            away = math.sqrt(dx * dx + dy * dy)
            if away > range_m or away < 1e-9:
                continue
            if abs(math.atan2(a * dy - b * dx, a * dx + b * dy)) > half:
                continue
            chance = (near + (far - near) * away / range_m) * sharp
            if normals[t, 0] != 0.0 or normals[t, 1] != 0.0:
                cosine = -(dx * normals[t, 0] + dy * normals[t, 1]) / away
                if cosine < least:
                    continue
                chance *= 1.0 - (1.0 - slant) * math.acos(min(cosine, 1.0)) / steepest
            u, _ = uniform2(keys[i], sample, names[t])
            if u >= chance or not line_of_sight(skip, frame, x, y, places[t, 0], places[t, 1]):
                continue
            if _is_body_between(bodies, own, x, y, dx, dy, range_m):
                continue
            n0, n1, n2, _ = normal4(keys[i], sample, _NOISE + names[t])
            sigma = sigmas[0] + sigmas[1] * away
            dx, dy, z = dx + sigma * n0, dy + sigma * n1, places[t, 2] + sigma * n2
            _insert(i, names[t], c, s, mount, dx, dy, z, count, identities, ranges, bearings, positions)
        if false > 0.0:
            u, which = uniform2(keys[i], sample, _FALSE)
            if u < false:
                name = int(which * dictionary) if dictionary > 0 else names[int(which * names.shape[0])]
                u, far_away = uniform2(keys[i], sample, _FALSE + 1)
                up, _ = uniform2(keys[i], sample, _FALSE + 2)
                angle = heading + half * (2.0 * u - 1.0)
                away = min(range_m * math.sqrt(far_away), cast_ray(skip, frame, x, y, angle, range_m))
                dx, dy = away * math.cos(angle), away * math.sin(angle)
                _insert(i, name, c, s, mount, dx, dy, _SHARP_M * up, count, identities, ranges, bearings, positions)
        any_read |= count[i] > 0
    return any_read


@kernel
def _is_body_between(bodies, own, x, y, dx, dy, range_m):
    """Return whether another robot's body meets the segment from (x, y) along (dx, dy) [m]."""
    row0, row1, column0, column1 = bucket_window(bodies, own, x, y, range_m + bodies.place[3])
    length = dx * dx + dy * dy
    for row in range(row0, row1 + 1):
        b = row * bodies.shape[1]
        for p in range(bodies.start[b + column0], bodies.start[b + column1 + 1]):
            robot = bodies.robots[p]
            if robot == own:
                continue
            for k in range(bodies.disc_count[robot]):
                px, py, radius = bodies.discs[robot, k, 0] - x, bodies.discs[robot, k, 1] - y, bodies.discs[robot, k, 2]
                along = min(max((px * dx + py * dy) / length, 0.0), 1.0)
                px, py = px - along * dx, py - along * dy
                if px * px + py * py < radius * radius:
                    return True
    return False


@kernel
def _insert(i, name, c, s, mount, dx, dy, z, count, identities, ranges, bearings, positions):
    """Insert a marker that stands (dx, dy) [m] from the camera, in the world's axes, by its range."""
    away, width = math.sqrt(dx * dx + dy * dy), ranges.shape[1]
    k = count[i]
    while k > 0 and ranges[i, k - 1] > away:
        k -= 1
    if k == width:
        return
    count[i] = min(count[i] + 1, width)
    for j in range(count[i] - 1, k, -1):
        identities[i, j], ranges[i, j], bearings[i, j] = identities[i, j - 1], ranges[i, j - 1], bearings[i, j - 1]
        for q in range(3):
            positions[i, j, q] = positions[i, j - 1, q]
    ahead, left = c * dx + s * dy, c * dy - s * dx
    identities[i, k], ranges[i, k], bearings[i, k] = name, away, math.atan2(left, ahead)
    positions[i, k, 0], positions[i, k, 1], positions[i, k, 2] = mount[0] + ahead, mount[1] + left, z
