"""Wedge: a sensor that measures the altitudes of the vertices of the ground inside a wedge in front of it.

References:
    De Rango, Nahavandi: Simulating autonomous robot teams with Microsoft Robotics Studio. Deakin University, 2007
    (the wedge, what lies below and above it, and the noise).
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from pydantic import Field, model_validator

from covey.errors import InvalidValueError
from covey.geometry.raycast import to_grid
from covey.geometry.sight import BINS, RINGS, bin_of, clear_until, horizon, is_hidden, shadow
from covey.geometry.walls import wall_on_way
from covey.kernel import kernel
from covey.random import normal2
from covey.sensors.degradation import Degradation
from covey.sensors.sensor import Readings, SensorRecord
from covey.sensors.truth import Truth

NOTHING, SEEN, BELOW, ABOVE, HIDDEN = 0, 1, 2, 3, 4
"""What a wedge reports about a vertex."""
_FINE = 61
"""Number of vertices across a wedge above which it pays to find first where nothing can be hidden."""


@dataclass(eq=False, slots=True)
class WedgeReading:
    """The reading of one robot's wedge, for the vertices in a square window around it.

    Attributes:
        kind: uint8 (w, w): 0 nothing, 1 seen, 2 below the wedge, 3 above it, 4 hidden by the ground.
        altitude: float64 (w, w) [m]: for a seen vertex its measured altitude; for one below or above the wedge the
            altitude of the wedge's edge there; for a hidden one the altitude below which it lies; else NaN.
        again: float64 (w, w) [m]: the mean of four more measurements of each seen vertex; else NaN.
        window: float64 (3, 2) [m], ahead of and to the left of the body: the window's vertex [0, 0], and the vectors
            from there to the next row and to the next column.
        sigma_m: standard deviation of one measurement [m].
    """

    kind: np.ndarray
    altitude: np.ndarray
    again: np.ndarray
    window: np.ndarray
    sigma_m: float

    def points(self, kind: int = SEEN) -> np.ndarray:
        """Return the vertices of a kind, float64 (k, 3) [m]: ahead of and to the left of the body, and the altitude."""
        row, column = np.nonzero(self.kind == kind)
        place = self.window[0] + row[:, None] * self.window[1] + column[:, None] * self.window[2]
        return np.column_stack((place, self.altitude[row, column]))


class Windows(NamedTuple):
    """The true places of the windows of m readings.

    Attributes:
        corner: int64 (m, 2), row and column of a window's vertex [0, 0] on the lattice of the ground.
        frame: float64 (3,) of that lattice: x, y of vertex [0, 0], spacing [m].
        pose: float64 (m, 3) of the robots, x, y [m], heading [rad].
    """

    corner: np.ndarray
    frame: np.ndarray
    pose: np.ndarray

    def from_body(self) -> np.ndarray:
        """Return the windows in the form of `WedgeReading`, float64 (m, 3, 2) [m]."""
        c, s, zero = np.cos(self.pose[:, 2]), np.sin(self.pose[:, 2]), np.zeros(len(self.pose))
        away = self.frame[:2] + self.corner[:, ::-1] * self.frame[2] - self.pose[:, :2]
        steps = np.full(len(zero), self.frame[2])
        world = np.stack((away, np.column_stack((zero, steps)), np.column_stack((steps, zero))), axis=1)
        x, y = world[..., 0], world[..., 1]
        return np.stack((c[:, None] * x + s[:, None] * y, c[:, None] * y - s[:, None] * x), axis=-1)


@dataclass(frozen=True, eq=False)
class WedgeReadings(Readings):
    """The readings of the wedges of m robots, see `WedgeReading`; ``truth``: `Windows`."""

    shared: ClassVar = ("sigma_m",)
    kind: np.ndarray
    altitude: np.ndarray
    again: np.ndarray
    window: np.ndarray
    sigma_m: float

    @classmethod
    def inside(
        cls, windows: Windows, kind: np.ndarray, altitude: np.ndarray, again: np.ndarray, sigma_m: float
    ) -> "WedgeReadings":
        """Return the readings of wedges for the vertices inside windows."""
        return cls(kind, altitude, again, windows.from_body(), sigma_m, truth=windows)

    def points(self, kind: int = SEEN) -> np.ndarray:
        """Return the vertices of a kind, float64 (m, w * w, 3) [m], as `WedgeReading.points`; NaN for all others."""
        row, column = (index.reshape(-1, 1) for index in np.indices(self.kind.shape[1:]))
        corner, to_row, to_column = np.moveaxis(self.window, 1, 0)[:, :, None]
        altitude = self.altitude.reshape(len(self.kind), -1, 1)
        place = np.concatenate((corner + row * to_row + column * to_column, altitude), axis=2)
        return np.where((self.kind == kind).reshape(len(self.kind), -1, 1), place, np.nan)

    def row(self, i: int) -> WedgeReading:
        """Return the reading of the i-th robot; its arrays are copies."""
        kind, altitude, again, window = (a[i].copy() for a in (self.kind, self.altitude, self.again, self.window))
        return WedgeReading(kind, altitude, again, window, self.sigma_m)

    def degrade(self, i: int, worse: Degradation) -> None:
        """Degrade a reading: it reports nothing about vertices beyond the range, and about lost ones."""
        kind, altitude, again = self.kind[i], self.altitude[i], self.again[i]
        row, column = np.indices(kind.shape) + self.truth.corner[i][:, None, None]
        frame = self.truth.frame
        x, y = frame[0] + column * frame[2], frame[1] + row * frame[2]
        lost = np.hypot(x - self.truth.pose[i, 0], y - self.truth.pose[i, 1]) > worse.range_m
        lost |= worse.lost(kind.size).reshape(kind.shape)
        kind[lost], altitude[lost], again[lost] = NOTHING, np.nan, np.nan
        if worse.noise_m > 0.0:
            first, second = (draws.reshape(kind.shape) for draws in worse.normals(kind.size))
            altitude[kind == SEEN] += worse.noise_m * first[kind == SEEN]
            again += 0.5 * worse.noise_m * second  # the mean of four measurements

    def seen(self, poses: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the vertices that were really seen: rows of the readings, int64 (k,), and x, y [m], (k, 2)."""
        row, a, b = np.nonzero(self.kind == SEEN)
        vertices = self.truth.corner[row] + np.column_stack((a, b))
        return row, self.truth.frame[:2] + vertices[:, ::-1] * self.truth.frame[2]

    def into(
        self, beliefs: Any, robots: np.ndarray, rows: np.ndarray, poses: np.ndarray, step: int, errors: Any = None
    ) -> None:
        """Add some of the readings to beliefs of the ground.

        Args:
            beliefs: `covey.mapping.elevation.belief.Elevations`.
            robots: indices of the beliefs, int64 (k,).
            rows: indices of the readings, int64 (k,).
            poses: the robots' estimated poses at the readings, (k, 3).
            step: the control step.
            errors: what the robots do not know of these poses, `covey.mapping.elevation.slopes.PoseUncertainty`; None:
                they are exact.
        """
        beliefs.see_window(robots, rows, poses, self, step, errors)


class Wedge(SensorRecord):
    """A wedge-shaped field of view over the ground, as in De Rango and Nahavandi (2007).

    It measures the altitude of each vertex of the ground in range that lies between its left and right and between its
    lower and upper edges, and that neither ground nor walls hide. For vertices below or above it, or hidden, it reports
    only that. It reports nothing closer than the nearest level ground that it can see.
    """

    feeds: ClassVar[tuple[str, ...]] = ("ground",)
    form: ClassVar[str] = "points"
    degrades: ClassVar[bool] = True
    kind: Literal["wedge"] = "wedge"
    name: str = Field(default="wedge", min_length=1, description="Name of the sensor, unique on its robot.")
    fov_deg: float = Field(
        default=120.0, gt=0, le=360, description="Angle between the left and the right edge [degrees]."
    )
    elevation_deg: float = Field(
        default=30.0, ge=0, le=90, description="Angle of the upper edge above straight ahead [degrees]."
    )
    declination_deg: float = Field(
        default=30.0, ge=0, le=90, description="Angle of the lower edge below straight ahead [degrees]."
    )
    range_m: float = Field(default=5.0, gt=0, le=1e4, description="Largest distance that is measured [m].")
    sigma_m: float = Field(default=0.02, ge=0, le=100, description="Standard deviation of a measured altitude [m].")
    occlusion: bool = Field(
        default=True,
        description=(
            "Whether the ground hides what is behind it; false: the sensor sees every vertex in its field of view."
        ),
    )
    level: bool = Field(default=False, description="Whether the sensor stays level; false: it tilts with the body.")
    height_m: float = Field(default=0.2, ge=0, description="Height of the sensor above the ground [m].")
    mount_x_m: float = Field(default=0.15, description="Position of the sensor ahead of the robot's centre [m].")
    mount_y_m: float = Field(default=0.0, description="Position of the sensor to the left of the robot's centre [m].")
    mount_heading_deg: float = Field(default=0.0, description="Direction of the sensor, counter-clockwise [degrees].")
    mount_pitch_deg: float = Field(
        default=0.0,
        ge=-90,
        le=90,
        description="Angle by which the sensor looks down; 90: straight down [degrees]. If it is not 0, the "
        "sensor reports nothing about vertices below or above its field of view.",
    )

    @model_validator(mode="after")
    def _sees_something(self) -> "Wedge":
        if self.elevation_deg + self.declination_deg == 0:
            raise ValueError("elevation_deg and declination_deg are both 0; one of them must be positive")
        return self

    def read(self, truth: Truth, members: np.ndarray, keys: np.ndarray, sample: int) -> WedgeReadings:
        """Return the reading of each member's wedge, see `SensorRecord.read`.

        Raises:
            InvalidValueError: the world has no ground.
        """
        ground = ground_of(truth, self.kind)
        half = math.floor(self.range_m / ground.spacing_m + 0.5)
        shape = len(members), 2 * half + 1, 2 * half + 1
        kind, corner = np.empty(shape, np.uint8), np.empty((len(members), 2), np.int64)
        altitude, again = np.empty(shape), np.empty(shape)
        see_all(
            ground.altitude,
            ground.frame,
            truth.pose,
            truth.altitude_roll_pitch,
            members,
            self._place,
            self._limits,
            truth.wall_height_m,
            truth.skip,
            truth.frame,
            keys,
            sample,
            kind,
            altitude,
            again,
            corner,
        )
        return WedgeReadings.inside(
            Windows(corner, ground.frame, truth.pose[members]), kind, altitude, again, self.sigma_m
        )

    @property
    def view(self) -> tuple[float, float, float, float]:
        """Range, height above the ground [m], highest and lowest direction that it sees straight ahead [rad]."""
        pitch = self.mount_pitch_deg
        return self.range_m, self.height_m, *np.radians((self.elevation_deg - pitch, -self.declination_deg - pitch))

    @property
    def _place(self) -> np.ndarray:
        """x, y, z [m], heading, pitch [rad] on the body."""
        x, y, z = self.mount_x_m, self.mount_y_m, self.height_m
        return _place(x, y, z, self.mount_heading_deg, self.mount_pitch_deg)

    @property
    def _limits(self) -> np.ndarray:
        """Half the field of view, upper and lower edge [rad], range, sigma [m], and three switches."""
        edges, marks = (0.5 * self.fov_deg, self.elevation_deg, self.declination_deg), self.mount_pitch_deg == 0
        return _limits(*edges, self.range_m, self.sigma_m, self.occlusion, self.level, marks)


@lru_cache(maxsize=64)
def _place(x: float, y: float, z: float, heading_deg: float, pitch_deg: float) -> np.ndarray:
    return np.array([x, y, z, math.radians(heading_deg), math.radians(pitch_deg)])


@lru_cache(maxsize=64)
def _limits(half: float, up: float, down: float, *rest: float) -> np.ndarray:
    return np.array([*map(math.radians, (half, up, down)), *rest], np.float64)


def ground_of(truth: Truth, kind: str) -> Any:
    """Return the ground for a sensor of a kind.

    Raises:
        InvalidValueError: there is no ground.
    """
    if truth.ground is None:
        raise InvalidValueError(
            f"a {kind} looks at the ground, but the world has none; give it a `height_map`, or generate a ground"
        )
    return truth.ground


@kernel
def turned(x, y, z, heading, roll, pitch):
    """Return a vector of a body frame in the world frame: rolled about x, pitched about y, turned about z.

    Axes as in ROS REP 103: x forward, y left, z up; a positive pitch looks down, a positive roll lowers the right side.
    """
    c, s = math.cos(roll), math.sin(roll)
    y, z = c * y - s * z, s * y + c * z
    c, s = math.cos(pitch), math.sin(pitch)
    x, z = c * x + s * z, c * z - s * x
    c, s = math.cos(heading), math.sin(heading)
    return c * x - s * y, s * x + c * y, z


@kernel
def placed(pose, attitude, place, level, out):
    """Write the position [m] and the x, y and z axes of a sensor in the world frame: float64 (4, 3).

    Args:
        pose: (3,) x, y [m], heading [rad]. attitude: (3,) altitude [m], roll, pitch [rad].
        place: (5,) x, y, z [m], heading, pitch [rad] of the sensor on the body.
        level: if not 0, roll and pitch are ignored.
    """
    roll, pitch = (0.0, 0.0) if level != 0.0 else (attitude[1], attitude[2])
    for k in range(4):
        x, y, z = place[0], place[1], place[2]
        if k > 0:
            x, y, z = 1.0 if k == 1 else 0.0, 1.0 if k == 2 else 0.0, 1.0 if k == 3 else 0.0
            x, y, z = turned(x, y, z, place[3], 0.0, place[4])
        x, y, z = turned(x, y, z, pose[2], roll, pitch)
        out[k, 0], out[k, 1], out[k, 2] = x, y, z
    out[0, 0] += pose[0]
    out[0, 1] += pose[1]
    out[0, 2] += attitude[0]


@kernel
def see_all(
    altitude,
    frame,
    pose,
    attitude,
    members,
    place,
    limits,
    wall_height,
    skip,
    grid_frame,
    keys,
    sample,
    kind,
    out,
    again,
    corner,
):
    """Fill the arrays of `WedgeReadings`; altitude, frame: of the ground; place, limits: see `Wedge`."""
    rows, columns = altitude.shape
    up, down, reach, sigma, occlusion, marks = limits[1], limits[2], limits[3], limits[4], limits[5] != 0.0, limits[7]
    near = place[2] / math.tan(down) if down > 0.0 else math.inf  # nearest visible level ground
    below = math.sin(down) ** 2, math.tan(down), near, reach * math.cos(down)
    above = math.sin(up) ** 2, math.tan(up), 0.0, reach * math.cos(up)
    w, wide, fine = kind.shape[1], math.cos(limits[0]), occlusion and kind.shape[1] >= _FINE
    at, table, wanted = np.empty((4, 3)), np.empty((RINGS + 1, BINS)), np.empty(BINS, np.uint8)
    for m in range(members.shape[0]):
        placed(pose[members[m]], attitude[members[m]], place, limits[6], at)
        x, y, z = at[0, 0], at[0, 1], at[0, 2]
        u, v = (x - frame[0]) / frame[2], (y - frame[1]) / frame[2]
        top, left = math.floor(v + 0.5) - w // 2, math.floor(u + 0.5) - w // 2
        corner[m, 0], corner[m, 1] = top, left
        walls = _walls_near(skip, grid_frame, x, y, reach)
        for b in range(BINS):
            wanted[b] = 0
        for a in range(w):
            for b in range(w):
                kind[m, a, b] = NOTHING
                out[m, a, b] = again[m, a, b] = math.nan
                i, j = top + a, left + b
                if i < 0 or i >= rows or j < 0 or j >= columns:
                    continue
                dx, dy = frame[0] + j * frame[2] - x, frame[1] + i * frame[2] - y
                if dx * dx + dy * dy > reach * reach:
                    continue
                dz = altitude[i, j] - z
                ahead = at[1, 0] * dx + at[1, 1] * dy + at[1, 2] * dz
                side = at[2, 0] * dx + at[2, 1] * dy + at[2, 2] * dz
                rise = at[3, 0] * dx + at[3, 1] * dy + at[3, 2] * dz
                what, edge = _told(ahead, side, rise, wide, reach, below, above, marks)
                if what == NOTHING:
                    continue
                if walls:
                    flat = max(math.sqrt(dx * dx + dy * dy), 1e-9)
                    ahead_x, ahead_y = (dx / flat, dy / flat) if flat > 1e-9 else (1.0, 0.0)
                    behind = flat - wall_on_way(
                        skip, grid_frame, altitude, frame, wall_height, x, y, z, ahead_x, ahead_y, dz / flat, flat
                    )
                    if behind > 0.0:
                        over = -dz > wall_height  # it sees the top of walls
                        if over or marks == 0.0 or behind > frame[2] * 0.75:
                            continue
                        what, edge = ABOVE, max(above[1] * math.sqrt(ahead * ahead + side * side), rise)
                kind[m, a, b], out[m, a, b] = what, altitude[i, j] + (edge - rise) / max(at[3, 2], 0.1)
                if fine and j != u:
                    wanted[bin_of(j - u, i - v)] = 1
        if fine:
            horizon(altitude, u, v, z, reach / frame[2], wanted, table)
        for a in range(w):
            for b in range(w):
                if kind[m, a, b] == NOTHING:
                    continue
                i, j, since = top + a, left + b, 0.0
                if fine and j != u:
                    since = clear_until(table, reach / frame[2], j - u, i - v, altitude[i, j] - z)
                if occlusion and is_hidden(altitude, u, v, z, i, j, since):
                    kind[m, a, b], out[m, a, b] = HIDDEN, shadow(altitude, u, v, z, i, j, since)
                elif kind[m, a, b] == SEEN:
                    n0, n1 = normal2(keys[m], sample, i * columns + j)
                    out[m, a, b] = altitude[i, j] + sigma * n0
                    again[m, a, b] = altitude[i, j] + 0.5 * sigma * n1


@kernel(inline=True)
def _told(ahead, side, rise, wide, reach, below, above, marks):
    """Return what a wedge reports about a vertex unless it is hidden, and the height of the edge there above level [m].

    Args:
        ahead, side, rise: the vertex in the sensor's frame [m].
        wide: cosine of half the field of view. reach: range [m].
        below, above: of the lower and the upper edge: sine squared, tangent, and the distances between which it reports
            [m].
        marks: 0: it reports nothing about vertices below or above.
    """
    flat = ahead * ahead + side * side
    if wide >= 0.0:
        if ahead < 0.0 or ahead * ahead < wide * wide * flat:
            return NOTHING, 0.0
    elif ahead < 0.0 and ahead * ahead > wide * wide * flat:
        return NOTHING, 0.0
    away = flat + rise * rise
    if rise < 0.0 and rise * rise > below[0] * away:
        flat = math.sqrt(flat)
        return BELOW if marks != 0.0 and below[2] <= flat <= below[3] else NOTHING, -below[1] * flat
    if rise > 0.0 and rise * rise > above[0] * away:
        flat = math.sqrt(flat)
        return ABOVE if marks != 0.0 and flat <= above[3] else NOTHING, above[1] * flat
    return SEEN if away <= reach * reach else NOTHING, 0.0


@kernel
def _walls_near(skip, frame, x, y, reach):
    """Return whether there may be a wall within ``reach`` [m] of a point."""
    u, v = to_grid(frame, x, y)
    column, row = math.floor(u), math.floor(v)
    if row < 0 or column < 0 or row >= skip.shape[1] or column >= skip.shape[2]:
        return True
    least = min(min(skip[0, row, column], skip[1, row, column]), min(skip[2, row, column], skip[3, row, column]))
    return least <= reach / frame[4] + 1.0


def kinds_reference(
    altitude: np.ndarray, frame: np.ndarray, at: np.ndarray, limits: np.ndarray, near: float
) -> np.ndarray:
    """NumPy reference of what a wedge reports about each vertex of a ground, uint8 (rows, columns), without occlusion.

    Args:
        altitude, frame: of the ground. at: from `placed`. limits: from `Wedge`.
        near: distance of the nearest visible level ground [m].
    """
    rows, columns = altitude.shape
    j, i = np.meshgrid(np.arange(columns), np.arange(rows))
    away = np.stack((frame[0] + j * frame[2], frame[1] + i * frame[2], altitude), axis=-1) - at[0]
    ahead, side, rise = (away @ at[1:].T).transpose(2, 0, 1)
    flat = np.hypot(ahead, side)
    bearing, elevation = np.arctan2(side, ahead), np.arctan2(rise, flat)
    half, up, down, reach = limits[:4]
    inside = (np.abs(bearing) <= half) & (np.hypot(away[..., 0], away[..., 1]) <= reach)
    below = (elevation < -down) & (flat <= reach * math.cos(down)) & (limits[7] != 0) & (flat >= near)
    above = (elevation > up) & (flat <= reach * math.cos(up)) & (limits[7] != 0)
    seen = (elevation >= -down) & (elevation <= up) & (np.hypot(flat, rise) <= reach)
    return np.where(inside, np.select([seen, below, above], [SEEN, BELOW, ABOVE], NOTHING), NOTHING)
