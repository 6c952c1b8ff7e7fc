"""Point clouds: measurements of the ground and of walls by sensors with many rays in space."""

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from covey.geometry.heightfield import cast_ray
from covey.geometry.walls import wall_on_way
from covey.kernel import kernel
from covey.sensors.degradation import Degradation
from covey.sensors.lidar import measure
from covey.sensors.sensor import Readings, SensorRecord, numbers_of
from covey.sensors.truth import Truth
from covey.sensors.wedge import ground_of, placed


@dataclass(eq=False, slots=True)
class CloudReading:
    """One cloud of one robot.

    Attributes:
        ranges: float64 (rays,) [m]; inf where nothing is within range, NaN where the measurement was lost.
        points: float64 (rays, 3) [m]: ahead and to the left of the body, in the horizontal plane, and the altitude of
            the hit; NaN where nothing was hit.
        sigma_m: standard deviation of a range [m].
    """

    ranges: np.ndarray
    points: np.ndarray
    sigma_m: float


@dataclass(frozen=True, eq=False)
class CloudReadings(Readings):
    """One cloud of each of m robots, see `CloudReading`; ``eyes``: origins of the rays, like points, (m, 3) [m]."""

    shared: ClassVar = ("sigma_m",)
    ranges: np.ndarray
    points: np.ndarray
    sigma_m: float
    eyes: np.ndarray

    def row(self, i: int) -> CloudReading:
        """Return the cloud of the i-th robot; its arrays are copies."""
        return CloudReading(self.ranges[i].copy(), self.points[i].copy(), self.sigma_m)

    def degrade(self, i: int, worse: Degradation) -> None:
        """Degrade a cloud: rays beyond the range hit nothing, lost ones are NaN; noise moves points up and down."""
        ranges, points = self.ranges[i], self.points[i]
        lost = worse.lost(len(ranges))
        ranges[ranges > worse.range_m] = np.inf
        ranges[lost] = np.nan
        points[~np.isfinite(ranges)] = np.nan
        if worse.noise_m > 0.0:
            points[:, 2] += worse.noise_m * worse.normals(len(ranges))[0]

    def seen(self, poses: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return which points have been hit: rows of the readings, int64 (k,), and x, y [m] in the world, (k, 2).

        Args:
            poses: true poses of the robots, (m, 3).
        """
        row, at = np.nonzero(np.isfinite(self.points[..., 0]))
        (ahead, left), (x, y, heading) = self.points[row, at, :2].T, poses[row].T
        c, s = np.cos(heading), np.sin(heading)
        return row, np.column_stack((x + c * ahead - s * left, y + s * ahead + c * left))

    def into(
        self, beliefs: Any, robots: np.ndarray, rows: np.ndarray, poses: np.ndarray, step: int, errors: Any = None
    ) -> None:
        """Add some of the clouds to beliefs of the ground, see `covey.sensors.wedge.WedgeReadings.into`."""
        beliefs.see_points(robots, rows, poses, self.points, self.eyes, self.sigma_m, step, errors)


class CloudSensor(SensorRecord):
    """Base of sensors that measure the distance to the ground or to walls along many rays; blind to robots."""

    range_m: float = Field(default=20.0, gt=0, le=1e4, description="Largest distance that is measured [m].")
    min_range_m: float = Field(
        default=0.0, ge=0, description="Smallest distance [m]; closer obstacles read this value."
    )
    sigma_m: float = Field(default=0.02, ge=0, le=100, description="Standard deviation of the noise of a distance [m].")
    dropout: float = Field(default=0.0, ge=0, le=1, description="Probability that a ray measures nothing.")
    outliers: float = Field(
        default=0.0,
        ge=0,
        le=1,
        description="Probability that a ray reads a random distance, uniform from min_range_m to range_m.",
    )
    height_m: float = Field(default=0.5, ge=0, description="Height of the sensor above the ground [m].")
    mount_x_m: float = Field(default=0.0, description="Position of the sensor ahead of the robot's centre [m].")
    mount_y_m: float = Field(default=0.0, description="Position of the sensor to the left of the robot's centre [m].")
    mount_heading_deg: float = Field(default=0.0, description="Direction of the sensor, counter-clockwise [degrees].")
    mount_pitch_deg: float = Field(
        default=0.0, ge=-90, le=90, description="Angle by which the sensor looks down; 90: straight down [degrees]."
    )

    @property
    @abstractmethod
    def directions(self) -> np.ndarray:
        """Unit vectors of the rays, float64 (rays, 3): ahead, left, up of the sensor."""

    @property
    @abstractmethod
    def edges(self) -> tuple[float, float]:
        """Highest and lowest direction straight ahead of the sensor [rad], level as it is mounted."""

    @property
    def view(self) -> tuple[float, float, float, float]:
        """Range, height above the ground [m], highest and lowest direction that it sees straight ahead [rad]."""
        highest, lowest = (edge - math.radians(self.mount_pitch_deg) for edge in self.edges)
        return self.range_m, self.height_m, highest, lowest

    def read(self, truth: Truth, members: np.ndarray, keys: np.ndarray, sample: int) -> CloudReadings:
        """Return one cloud of each member, see `SensorRecord.read`.

        Raises:
            InvalidValueError: the world has no ground.
        """
        record: Any = self
        ground, directions = ground_of(truth, record.kind), self.directions
        angles = math.radians(self.mount_heading_deg), math.radians(self.mount_pitch_deg)
        place = np.array([self.mount_x_m, self.mount_y_m, self.height_m, *angles])
        true_ranges = np.empty((len(members), len(directions)))
        ranges, points = np.empty_like(true_ranges), np.empty((*true_ranges.shape, 3))
        eyes = np.empty((len(members), 3))
        pose, attitude = truth.pose[members], truth.altitude_roll_pitch[members]
        walls = truth.skip, truth.frame, truth.wall_height_m
        cast_clouds(ground.altitude, ground.frame, pose, attitude, place, directions, self.range_m, *walls, true_ranges)
        errors = self.sigma_m, self.dropout, self.outliers
        measure(true_ranges, keys, numbers_of(sample, members), errors, self.min_range_m, self.range_m, ranges)
        cloud_points(attitude, place, directions, ranges, points, eyes)
        return CloudReadings(ranges, points, self.sigma_m, eyes)


@kernel
def cast_clouds(altitude, frame, pose, attitude, place, directions, range_m, skip, grid_frame, wall_height, ranges):
    """Write the length of each ray to the ground or a wall, ``range_m`` if it hits nothing, into ranges (m, rays) [m].

    Args:
        altitude, frame: of the ground. pose, attitude: (m, 3), see `covey.sensors.truth.Truth`.
        place: float64 (5,), x, y [m] on the body, height above where its wheels stand [m], heading, pitch [rad].
        directions: float64 (rays, 3), see `CloudSensor`.
        skip, grid_frame: of the walls, ``wall_height`` [m] above the ground.
    """
    at = np.empty((4, 3))
    for m in range(pose.shape[0]):
        placed(pose[m], attitude[m], place, 0.0, at)
        x, y, z = at[0, 0], at[0, 1], at[0, 2]
        for k in range(directions.shape[0]):
            a, b, c = directions[k, 0], directions[k, 1], directions[k, 2]
            dx = a * at[1, 0] + b * at[2, 0] + c * at[3, 0]
            dy = a * at[1, 1] + b * at[2, 1] + c * at[3, 1]
            dz = a * at[1, 2] + b * at[2, 2] + c * at[3, 2]
            far = min(cast_ray(altitude, frame, x, y, z, dx, dy, dz, range_m), range_m)
            flat = max(math.sqrt(dx * dx + dy * dy), 1e-9)  # also for straight down
            ahead_x, ahead_y = (dx / flat, dy / flat) if flat > 1e-9 else (1.0, 0.0)
            wall = wall_on_way(
                skip, grid_frame, altitude, frame, wall_height, x, y, z, ahead_x, ahead_y, dz / flat, far * flat
            )
            ranges[m, k] = wall / flat if wall < far * flat else far


@kernel
def cloud_points(attitude, place, directions, ranges, points, eyes):
    """Convert ranges (m, rays) [m] to points (m, rays, 3) and eyes (m, 3), see `CloudReadings`."""
    at, heading = np.empty((4, 3)), np.zeros(3)
    for m in range(ranges.shape[0]):
        placed(heading, attitude[m], place, 0.0, at)
        eyes[m] = at[0]
        for k in range(ranges.shape[1]):
            r = ranges[m, k]
            for n in range(3):
                way = directions[k, 0] * at[1, n] + directions[k, 1] * at[2, n] + directions[k, 2] * at[3, n]
                points[m, k, n] = at[0, n] + r * way if math.isfinite(r) else math.nan
