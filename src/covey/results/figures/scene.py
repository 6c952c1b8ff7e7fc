"""A landscape in perspective, drawn with a ray for each pixel; it needs no screen and no OpenGL.

The ground is a block, cut below its lowest point, and the sun casts shadows. Robots are boxes with a white nose,
enlarged if they are too small to see. Paths and markers are at their true places, hidden by objects in front of them.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from covey.geometry.heightfield import altitudes_at, cast, slopes_at
from covey.results.figures.hillshade import SUN, tinted
from covey.results.figures.style import rgb

_SKY_TOP, _SKY_LOW = np.array([148.0, 182.0, 214.0]), np.array([236.0, 242.0, 247.0])
_EARTH = np.array([141.0, 116.0, 92.0])
_TOGETHER = 1 << 14  # rays that are drawn at once: their arrays fit in the cache of a processor
_SMALLEST = 6.0
"""Robots are drawn at least half as long as this [pixel of the result]."""
_FRONT, _NOSE = 0.3, np.array([255.0, 255.0, 255.0])
"""A robot is white in front of this share of half its length: the nose shows its heading."""


@dataclass(frozen=True)
class Camera:
    """A pinhole camera.

    Attributes:
        eye: x, y, z of the camera in the world frame [m].
        target: x, y, z of the point at the centre of the picture [m].
        fov_deg: vertical angle of view.
        size: width and height of the picture [pixel].
    """

    eye: tuple[float, float, float]
    target: tuple[float, float, float]
    fov_deg: float = 35.0
    size: tuple[int, int] = (960, 540)

    @staticmethod
    def over(
        middle: Any, width_m: float, *, azimuth_deg: float = 235.0, elevation_deg: float = 28.0, **options: Any
    ) -> "Camera":
        """Return a camera that sees about ``width_m`` around a point [m].

        Args:
            middle: x, y, z of the point that it looks at [m].
            width_m: visible width at that point [m].
            azimuth_deg: its direction seen from that point: 0 east, 90 north.
            elevation_deg: its height above the horizon.
            options: other attributes.
        """
        base = Camera((0, 0, 0), (0, 0, 0), **options)
        across = 2 * math.tan(math.radians(base.fov_deg) / 2) * base.size[0] / base.size[1]
        away, a, e = width_m / across, math.radians(azimuth_deg), math.radians(elevation_deg)
        x, y, z = (float(v) for v in middle)
        eye = x + away * math.cos(e) * math.cos(a), y + away * math.cos(e) * math.sin(a), z + away * math.sin(e)
        return Camera(eye, (x, y, z), **options)

    @staticmethod
    def seeing(points: np.ndarray, *, azimuth_deg: float = 235.0, elevation_deg: float = 52.0, **options: Any):
        """Return a camera whose picture shows points, centred and as large as fits with a margin of a twentieth.

        Args:
            points: x, y, z [m], float64 (m, 3), not all equal.
            azimuth_deg, elevation_deg: its direction, as in `over`.
            options: other attributes.
        """
        low, high = points.min(axis=0), points.max(axis=0)
        wide = 2.0 * float(np.linalg.norm(high - low))
        camera = Camera.over((low + high) / 2, wide, azimuth_deg=azimuth_deg, elevation_deg=elevation_deg, **options)
        for _ in range(8):  # each iteration reduces the error of perspective
            at, _ = camera.project(points)
            low, high, size = at.min(axis=0), at.max(axis=0), np.array(camera.size)
            away = np.subtract(camera.eye, camera.target)
            right, down, _ = camera.axes()
            dx, dy = ((low + high - size) / 2 * np.linalg.norm(away) / camera.focal()).tolist()
            target = np.array(camera.target) + dx * right + dy * down
            eye = target + away * float(((high - low) / (0.9 * size)).max())
            camera = replace(camera, eye=tuple(eye.tolist()), target=tuple(target.tolist()))
        return camera

    def axes(self) -> np.ndarray:
        """Return the unit vectors right, down and ahead, float64 (3, 3), one per row."""
        ahead = np.subtract(self.target, self.eye)
        ahead = ahead / np.linalg.norm(ahead)
        right = np.cross(ahead, (0.0, 0.0, 1.0))
        if np.linalg.norm(right) < 1e-9:  # straight down: north is up
            right = np.array([1.0, 0.0, 0.0])
        right = right / np.linalg.norm(right)
        return np.stack((right, np.cross(ahead, right), ahead))

    def focal(self) -> float:
        """Return the focal length [pixel]."""
        return 0.5 * self.size[1] / math.tan(math.radians(self.fov_deg) / 2)

    def rays(self, scale: int = 1) -> np.ndarray:
        """Return the unit vectors through the pixels, row 0 on top, float64 (height * width * scale^2, 3)."""
        width, height = self.size[0] * scale, self.size[1] * scale
        focal = self.focal() * scale
        u, v = np.arange(width) + 0.5 - width / 2, np.arange(height) + 0.5 - height / 2
        right, down, ahead = self.axes()
        across, rays = u[:, None] / focal * right, np.empty((height, width, 3))
        for row, below in zip(rays, v / focal, strict=True):  # a row fits in the processor's cache, a picture does not
            np.add(across, below * down + ahead, out=row)
            row /= np.sqrt(np.einsum("ij,ij->i", row, row))[:, None]
        return rays.reshape(-1, 3)

    def project(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the places of points [m], (m, 3), in the picture, (m, 2) [pixel], and their depth (m,) [m]."""
        local = (np.asarray(points, float) - self.eye) @ self.axes().T
        ahead = np.where(local[:, 2] > 1e-6, local[:, 2], np.nan)
        at = local[:, :2] / ahead[:, None] * self.focal() + np.array(self.size) / 2
        return at, ahead


@dataclass(frozen=True)
class RobotShapes:
    """Robots in a picture.

    Attributes:
        poses: float64 (n, 6): x, y, z of the middle of the box [m], roll, pitch, yaw [rad].
        size_m: length, width and height of the box [m].
        colors: of each robot.
    """

    poses: np.ndarray
    size_m: tuple[float, float, float]
    colors: Sequence[str]


@dataclass(frozen=True)
class Dots:
    """Balls in a picture, such as the points of a path or believed vertices.

    Attributes:
        points: x, y, z [m], float64 (m, 3).
        colors: uint8 (m, 3).
        radius_m: radius of each ball [m].
        smallest: smallest drawn radius [pixel of the result].
    """

    points: np.ndarray
    colors: np.ndarray
    radius_m: float
    smallest: float = 0.0


def still(
    altitude: np.ndarray, frame: np.ndarray, camera: Camera, *, bodies: Sequence[RobotShapes] = (),
    dots: Sequence[Dots] = (), tint: np.ndarray | None = None, smooth: int = 2,
) -> np.ndarray:  # fmt: skip
    """Return a picture of a ground, uint8 (height, width, 3).

    Args:
        altitude: float64 (rows, columns), [m].
        frame: float64 (3,): x, y of vertex [0, 0] and the spacing [m].
        camera: the camera.
        bodies: robots.
        dots: paths and markers.
        tint: colours of the vertices, uint8 (rows, columns, 3); default: by altitude.
        smooth: rays along each side of a pixel.
    """
    view = GroundPicture(camera, smooth)
    view.draw_ground(altitude, frame, tint)
    return view.with_things(bodies, dots)


class GroundPicture:
    """A picture of a ground that is drawn once, and into which robots and dots are drawn repeatedly.

    Args:
        camera: the camera.
        smooth: rays along each side of a pixel.
    """

    def __init__(self, camera: Camera, smooth: int):
        self.camera, self.smooth = camera, smooth
        self.width, self.height = camera.size[0] * smooth, camera.size[1] * smooth
        self.rays = camera.rays(smooth)
        share = np.linspace(0, 1, self.height)[:, None, None]
        sky = _SKY_TOP * (1 - share) + _SKY_LOW * share
        self.colors = np.repeat(sky, self.width, axis=1).reshape(-1, 3)
        self.distance = np.full(len(self.rays), np.inf)

    def draw_ground(self, altitude: np.ndarray, frame: np.ndarray, tint: np.ndarray | None = None) -> None:
        """Draw a ground; arguments as in `still`."""
        tint = tinted(altitude) if tint is None else tint
        for first in range(0, len(self.rays), _TOGETHER):
            part = slice(first, first + _TOGETHER)
            self._draw_part(altitude, frame, tint, self.rays[part], self.colors[part], self.distance[part])

    def _draw_part(
        self, altitude: np.ndarray, frame: np.ndarray, tint: np.ndarray,
        rays: np.ndarray, colors: np.ndarray, far: np.ndarray,
    ) -> None:  # fmt: skip
        """Draw what some rays hit, into the colours and distances of their pixels."""
        eye = np.array(self.camera.eye, float)
        distance = cast(altitude, frame, np.tile(eye, (len(rays), 1)), rays, np.inf)
        rows, columns = altitude.shape
        low, high = float(altitude.min()), float(altitude.max())
        base = low - 0.03 * max(rows, columns) * frame[2] - 0.2 * (high - low)
        hit = np.flatnonzero(np.isfinite(distance))
        points = eye + distance[hit, None] * rays[hit]
        keep = points[:, 2] >= base  # the block ends below that
        hit, points = hit[keep], points[keep]
        side = points[:, 2] < altitudes_at(altitude, frame, np.ascontiguousarray(points[:, :2])) - 1e-6 * (high - base)
        normals = _normals(altitude, frame, points)
        edge = np.zeros_like(normals)
        u = (points[:, 0] - frame[0]) / frame[2]
        on_x = np.minimum(np.abs(u), np.abs(u - columns + 1)) < 1e-6
        edge[:, 0] = np.where(on_x, np.sign(u - columns / 2), 0.0)
        edge[:, 1] = np.where(on_x, 0.0, np.sign((points[:, 1] - frame[1]) / frame[2] - rows / 2))
        normals[side] = edge[side]
        light = np.maximum(normals @ SUN, 0.0)
        lit = np.flatnonzero((light > 0) & ~side)
        starts = points[lit] + 1e-3 * frame[2] * normals[lit]
        shadow = np.isfinite(cast(altitude, frame, starts, np.tile(SUN, (len(lit), 1)), (high - low) / SUN[2]))
        light[lit[shadow]] *= 0.35
        color = np.where(side[:, None], _EARTH, _at(tint, frame, points))
        colors[hit] = np.minimum(color * (0.42 + 0.78 * light)[:, None], 255.0)
        far[hit] = distance[hit]

    def with_things(self, bodies: Sequence[RobotShapes], dots: Sequence[Dots]) -> np.ndarray:
        """Return the picture with robots and dots in it, uint8 (height, width, 3)."""
        colors, distance = self.colors, self.distance
        self.colors, self.distance = colors.copy(), distance.copy()
        for some in dots:
            self._draw_dots(some)
        self.distance = distance.copy()  # no marker hides a robot
        for some in bodies:
            self._draw_boxes(some)
        s = self.smooth
        shape = (self.camera.size[1], s, self.camera.size[0], s, 3)
        fine = self.colors.reshape(shape)  # numpy takes three times as long for a mean over two axes
        total = sum((fine[:, i, :, j] for i in range(s) for j in range(s)), np.zeros(()))
        picture = (total / (s * s)).round().astype(np.uint8)
        self.colors, self.distance = colors, distance
        return picture

    def _draw_boxes(self, bodies: RobotShapes) -> None:
        true_half = 0.5 * np.array(bodies.size_m)
        at, ahead = self.camera.project(bodies.poses[:, :3])
        for (x, y), far, pose, color in zip(at, ahead, bodies.poses, bodies.colors, strict=True):
            if not far > 0:
                continue
            half = true_half * max(1.0, _SMALLEST * far / (self.camera.focal() * float(true_half[:2].max())))
            reach = self.smooth * (self.camera.focal() * 2.0 * float(np.linalg.norm(half)) / far + 1)
            pixels = self._around(x * self.smooth, y * self.smooth, reach)
            if not len(pixels):
                continue
            turn = _rotation(*pose[3:])
            middle = pose[:3] + turn[:, 2] * (half[2] - true_half[2])  # the bottom of an enlarged robot stays
            start, rays = turn.T @ (np.array(self.camera.eye) - middle), self.rays[pixels] @ turn
            with np.errstate(divide="ignore"):
                a, b = (-half - start) / rays, (half - start) / rays
            near, distance = np.minimum(a, b), np.minimum(a, b).max(axis=1)
            seen = (distance <= np.maximum(a, b).min(axis=1)) & (distance > 0)
            seen &= distance - float(half.max()) < self.distance[pixels]  # bumps of the ground do not hide parts
            axis = near[seen].argmax(axis=1)
            normals = turn[:, axis].T * -np.sign(rays[seen, axis])[:, None]
            light = 0.45 + 0.6 * np.maximum(normals @ SUN, 0.0)
            is_nose = start[0] + distance[seen] * rays[seen, 0] > _FRONT * half[0]
            tone = np.where(is_nose[:, None], _NOSE, rgb(color))
            self.colors[pixels[seen]] = np.minimum(tone * light[:, None], 255.0)
            self.distance[pixels[seen]] = distance[seen]

    def _draw_dots(self, dots: Dots) -> None:
        at, ahead = self.camera.project(dots.points)
        radius = np.maximum(self.camera.focal() * dots.radius_m / ahead, dots.smallest)
        # A ball half in the ground is visible: it counts as nearer by its radius.
        near = ahead - radius * ahead / self.camera.focal()
        self._splat(at, near, dots.colors, radius)

    def _splat(self, at: np.ndarray, ahead: np.ndarray, colors: np.ndarray, radius: np.ndarray) -> None:
        """Draw discs [pixel of the result], hidden by nearer objects, each lighter in its upper left."""
        at, radius = at * self.smooth, radius * self.smooth
        off = (at - (self.width / 2, self.height / 2)) / (self.camera.focal() * self.smooth)
        along = ahead * np.sqrt(1 + (off * off).sum(axis=1))  # converted to a distance along the ray
        order = np.argsort(-along, kind="stable")
        order = order[np.isfinite(along[order])]
        x, y, r, z, color = at[order, 0], at[order, 1], radius[order], along[order], colors[order].astype(float)
        reach = math.ceil(min(float(r.max()), 60.0 * self.smooth)) if len(r) else -1
        for dv in range(-reach, reach + 1):
            for du in range(-reach, reach + 1):
                column, row = np.floor(x).astype(int) + du, np.floor(y).astype(int) + dv
                inside = (column + 0.5 - x) ** 2 + (row + 0.5 - y) ** 2 <= np.maximum(r, 0.5) ** 2
                inside &= (column >= 0) & (column < self.width) & (row >= 0) & (row < self.height)
                pixel = row[inside] * self.width + column[inside]
                nearer = z[inside] < self.distance[pixel]
                pixel, chosen = pixel[nearer], np.flatnonzero(inside)[nearer]
                shade = 1.0 - 0.25 * (du + dv) / max(2 * reach, 1)
                self.colors[pixel] = np.minimum(color[chosen] * shade, 255.0)
                self.distance[pixel] = z[chosen]

    def _around(self, x: float, y: float, reach: float) -> np.ndarray:
        """Return the pixels of a square around a point."""
        if not math.isfinite(x + y + reach):
            return np.empty(0, int)
        columns = np.arange(max(math.floor(x - reach), 0), min(math.ceil(x + reach), self.width))
        rows = np.arange(max(math.floor(y - reach), 0), min(math.ceil(y + reach), self.height))
        return (rows[:, None] * self.width + columns).ravel()


def _at(tint: np.ndarray, frame: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Return the colours of the nearest vertices, float64 (m, 3)."""
    rows, columns = tint.shape[:2]
    column = np.clip(np.rint((points[:, 0] - frame[0]) / frame[2]).astype(int), 0, columns - 1)
    row = np.clip(np.rint((points[:, 1] - frame[1]) / frame[2]).astype(int), 0, rows - 1)
    return tint[row, column].astype(float)


def _normals(altitude: np.ndarray, frame: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Return the unit normals of the triangles under points, float64 (m, 3)."""
    slopes = slopes_at(altitude, frame, np.ascontiguousarray(points[:, :2]))
    normals = np.column_stack((-slopes, np.ones(len(slopes))))
    return normals / np.linalg.norm(normals, axis=1, keepdims=True)


def _rotation(roll: float, pitch: float, yaw: float) -> np.ndarray:
    """Return the matrix of a body's axes in the world: first roll about x, then pitch about y, then yaw about z."""
    cr, sr, cp, sp, cy, sy = (f(a) for a in (roll, pitch, yaw) for f in (math.cos, math.sin))
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )
