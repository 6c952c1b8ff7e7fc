"""`RobotModel`: a robot model: body, drive, sensors, mapping."""

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Literal, Self, get_args

import numpy as np
from pydantic import Field, field_validator, model_validator

from covey.errors import InvalidValueError
from covey.mapping.records import Mapper
from covey.planning.planner import AStar, Planner
from covey.records import Record
from covey.robots.chassis import Chassis, FileChassis, FlyingChassis, WheeledChassis, plain_chassis
from covey.robots.computer import Computer
from covey.robots.digger import Digger
from covey.sensors.sensor import SensorRecord

Kinematics = Literal["differential", "unicycle", "holonomic"]
KINEMATICS: tuple[str, ...] = get_args(Kinematics)

_CALLED = {
    **dict.fromkeys(("mecanum", "omni", "omnidirectional", "omniwheel", "swerve"), "holonomic"),
    **dict.fromkeys(
        ("diff", "diffdrive", "diff_drive", "differential_drive", "tank", "skid", "skid_steer"), "differential"
    ),
}
"""Other names of the kinematics, and what they are called here."""
_FINEST = 0.04
"""A footprint is covered to this share of its size, or coarser."""

Point = tuple[float, float]
Disc = tuple[float, float, float]


class RobotModel(Record):
    """A robot model. The body is one disc (`radius_m`), several (`discs_m`), or a footprint covered with discs."""

    name: str = Field(default="robot", min_length=1, description="Name of the model.")
    kinematics: Kinematics = Field(
        default="differential",
        description="differential or unicycle (forward speed, turn rate), holonomic (vx, vy, turn rate).",
    )
    radius_m: float | None = Field(
        default=None, gt=0, description="Radius of a body that is a single disc around the centre [m]."
    )
    discs_m: tuple[Disc, ...] | None = Field(
        default=None,
        min_length=1,
        description="Body as discs: x and y of each centre in the body frame, and the radius [m].",
    )
    footprint_m: tuple[Point, ...] | None = Field(
        default=None, min_length=3, description="Body as a simple polygon: vertices x, y in the body frame [m]."
    )
    footprint_excess_m: float = Field(
        default=0.035,
        gt=0,
        description="Distance by which the discs that cover a footprint may extend beyond it [m].",
    )
    max_speed_m_s: float = Field(default=1.0, gt=0, description="Largest speed [m/s].")
    max_turn_rad_s: float = Field(default=3.0, ge=0, description="Largest turn rate [rad/s].")
    max_wheel_speed_m_s: float | None = Field(
        default=None,
        gt=0,
        description="Differential: largest |v| + |turn rate| x wheel semi-axis [m/s]; null: no limit.",
    )
    max_wheel_speed_turning_m_s: float | None = Field(
        default=None,
        gt=0,
        description="Differential: the same limit while the wheel speeds differ by more than 1 % of it [m/s].",
    )
    wheel_semi_axis_m: float = Field(
        default=0.0, ge=0, description="Differential: half the distance between the wheels [m]."
    )
    acceleration_m_s2: float | None = Field(
        default=None, gt=0, description="Largest acceleration [m/s2]; null: no limit."
    )
    deceleration_m_s2: float | None = Field(
        default=None, gt=0, description="Largest deceleration [m/s2]; null: as the acceleration."
    )
    turn_acceleration_rad_s2: float | None = Field(
        default=None, gt=0, description="Largest angular acceleration [rad/s2]; null: no limit."
    )
    speed_lag_s: float = Field(
        default=0.0, ge=0, description="Time constant of the first-order response of the speed [s]."
    )
    turn_lag_s: float = Field(
        default=0.0, ge=0, description="Time constant of the first-order response of the turn rate [s]."
    )
    command_delay_s: float = Field(default=0.0, ge=0, description="Time from a command to its effect [s].")
    idle_power_w: float = Field(
        default=10.0,
        ge=0,
        description="Power of computer and sensors [W]. The default is an assumption: set the value of your robot.",
    )
    drive_energy_j_m: float = Field(
        default=10.0,
        ge=0,
        description="Energy per metre driven [J/m]. The default is an assumption: set the value of your robot.",
    )
    sensors: tuple[SensorRecord, ...] = Field(default=(), description="Sensors of the robot.")
    mapping: Mapper | None = Field(default=None, description="How the robot maps; null: it does not.")
    planner: Planner = Field(
        default=AStar(), description="How the way to a goal is searched on the map: astar, or your own: ./mine.py:Name."
    )
    chassis: Chassis | None = Field(
        default=None,
        description="Masses and wheels for physics: terrain, see docs/terrain.md; null: two wheels below the body.",
    )
    digger: Digger | None = Field(default=None, description="Tool that moves ground, see docs/terrain.md; null: none.")
    computer: Computer | None = Field(
        default=None, description="Onboard computer, see docs/computers.md; null: infinitely fast."
    )

    @model_validator(mode="after")
    def _one_body(self) -> Self:
        given = [n for n in ("radius_m", "discs_m", "footprint_m") if getattr(self, n) is not None]
        if len(given) != 1:
            body = " and ".join(given) or "nothing"
            hint = "give one of radius_m, discs_m, footprint_m, and set the others, also of a base, to null"
            raise ValueError(f"the body is given by {body}; {hint}")
        if self.discs_m is not None and min(disc[2] for disc in self.discs_m) <= 0:
            raise ValueError("a disc of discs_m has a radius that is not positive; give x, y, radius in metres")
        if self.footprint_m is not None:
            _check_polygon(self.footprint_m)
            _check_excess(
                "footprint_excess_m", self.footprint_excess_m, np.ptp(np.array(self.footprint_m), axis=0).max()
            )
        return self

    @field_validator("kinematics", mode="before")
    @classmethod
    def _called_so_here(cls, value: Any) -> Any:
        if isinstance(value, str) and (own := _CALLED.get(value.lower().replace("-", "_"))):
            raise ValueError(f"{value!r} is called {own!r} here; write kinematics: {own}")
        return value

    @property
    def body_discs(self) -> tuple[Disc, ...]:
        """The body as discs: x, y, radius [m] in the body frame."""
        if self.footprint_m is not None:
            return cover_with_discs(self.footprint_m, self.footprint_excess_m)
        return self.discs_m or ((0.0, 0.0, self.radius_m or 0.0),)

    @property
    def maps(self) -> bool:
        """Whether it has a mapping, and a sensor for it."""
        return self.mapping is not None and any(self.mapping.uses in sensor.feeds for sensor in self.sensors)

    def is_blind(self, silent: Sequence[str]) -> bool:
        """Return whether all sensors that show what is ahead are silent: those of its map; without a map, its lidars.

        Args:
            silent: names of its sensors that are silent.
        """
        if not silent:
            return False
        ahead = self.mapping.uses if self.mapping is not None else "scan"
        eyes = {sensor.name for sensor in self.sensors if ahead in sensor.feeds}
        return bool(eyes) and eyes <= set(silent)

    @property
    def mapping_range_m(self) -> float | None:
        """Range of the sensor that maps [m]; 0 if it has no range, None without such a sensor."""
        used = self.mapping.uses if self.mapping else None
        return next((float(getattr(s, "range_m", 0.0)) for s in self.sensors if used in s.feeds), None)

    @property
    def outer_radius_m(self) -> float:
        """Radius of the circle around the centre that holds the whole body [m]."""
        return max(math.hypot(x, y) + radius for x, y, radius in self.body_discs)


def _check_excess(name: str, excess_m: float, size_m: float) -> None:
    if not excess_m >= _FINEST * size_m:
        raise InvalidValueError(
            f"{name} is {excess_m!r}; to cover a polygon {size_m:g} m across it must be at least {_FINEST * size_m:g} m"
        )


@lru_cache
def cover_with_discs(polygon: tuple[Point, ...], excess_m: float = 0.035) -> tuple[Disc, ...]:
    """Return a few discs (x, y, radius [m]) that cover a simple polygon and extend at most ``excess_m`` [m] beyond it.

    A disc around a point at distance d inside the border may have the radius d + excess, because the disc of radius d
    lies inside; outside, d is negative. Repeatedly, the uncovered point that the fewest such discs cover (so corners
    come first) gets the disc that covers most other uncovered points. The points are a lattice. It is covered with a
    margin of half the diagonal of its cells, so the whole polygon is covered.

    Args:
        polygon: vertices x, y [m], clockwise or counter-clockwise.
        excess_m: largest extent of a disc beyond the polygon [m].

    Raises:
        InvalidValueError: there are fewer than three vertices, edges cross, or the excess is below 4 % of the size.

    Examples:
        >>> cover_with_discs(((-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)), excess_m=0.5)
        ((0.0, 0.0, 1.5),)
    """
    _check_polygon(polygon)
    vertices = np.array(polygon, float)
    low, high = vertices.min(0), vertices.max(0)
    size = float((high - low).max())
    vertices = vertices[np.hypot(*(vertices - np.roll(vertices, 1, axis=0)).T) > 1e-9 * size]  # an edge has a direction
    _check_excess("excess_m", excess_m, size)
    spacing, margin = excess_m / 5.0, excess_m / 5.0 * math.sqrt(0.5)
    half = 2 * np.ceil(0.25 * (high - low) / spacing) + 2
    axes = [0.5 * (a + b) + spacing * np.arange(-n, n + 1) for a, b, n in zip(low, high, half, strict=True)]
    lattice = np.stack(np.meshgrid(*axes, indexing="ij"), -1)
    depth = _depth(vertices, lattice.reshape(-1, 2)).reshape(lattice.shape[:2])
    useful = depth[::2, ::2] > 2.0 * margin - excess_m
    points, centres = lattice[depth >= -margin], lattice[::2, ::2][useful]
    radii = depth[::2, ::2][useful] + excess_m
    covers = np.array(
        [
            (points[:, 0] - x) ** 2 + (points[:, 1] - y) ** 2 <= (radius - margin) ** 2 + 1e-12
            for (x, y), radius in zip(centres, radii, strict=True)
        ]
    )
    hard, bare = covers.sum(0), np.ones(len(points), bool)
    chosen: list[int] = []
    while bare.any():
        hardest = int(np.flatnonzero(bare)[hard[bare].argmin()])
        if not hard[hardest]:
            raise InvalidValueError(
                f"no disc can cover {points[hardest].tolist()}; leave out vertices that nearly meet"
            )
        gain = np.where(covers[:, hardest], covers[:, bare].sum(1), -1)
        chosen.append(int(gain.argmax()))
        bare &= ~covers[chosen[-1]]
    for disc in list(chosen):
        if covers[[c for c in chosen if c != disc]].any(0).all():
            chosen.remove(disc)
    discs = [(*centres[c], radii[c]) for c in chosen]
    return tuple((round(float(x), 9), round(float(y), 9), round(float(r), 9)) for x, y, r in discs)


def inscribed_radius(discs: np.ndarray) -> float:
    """Return the radius [m] of the largest disc around the origin inside a union of discs, shape (k, 3); 0 if none.

    It is the distance of the nearest point of any circle that lies in no other disc, to about 0.1 mm.
    """
    if not (np.hypot(discs[:, 0], discs[:, 1]) < discs[:, 2]).any():
        return 0.0
    angles = np.linspace(0.0, 2.0 * np.pi, 3600, endpoint=False)
    x = discs[:, :1] + discs[:, 2:] * np.cos(angles)
    y = discs[:, 1:2] + discs[:, 2:] * np.sin(angles)
    held = np.zeros(x.shape, bool)
    for px, py, radius in discs:
        held |= np.hypot(x - px, y - py) < radius - 1e-9
    return float(np.hypot(x, y)[~held].min())


def _depth(vertices: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Return the distance [m] of points, shape (m, 2), from the border of a polygon; negative outside."""
    a, b = vertices, np.roll(vertices, -1, axis=0)
    edge, to_point = b - a, points[:, None] - a
    share = np.clip((to_point * edge).sum(2) / (edge**2).sum(1), 0.0, 1.0)
    distance = np.hypot(*(to_point - share[..., None] * edge).transpose(2, 0, 1)).min(1)
    x, y = points[:, 0, None], points[:, 1, None]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        at = a[:, 0] + (y - a[:, 1]) * edge[:, 0] / edge[:, 1]
    crossings = ((a[:, 1] > y) != (b[:, 1] > y)) & (x < at)
    return np.where(crossings.sum(1) % 2 == 1, distance, -distance)


def _check_polygon(polygon: tuple[Point, ...]) -> None:
    if len(polygon) < 3:
        raise InvalidValueError(f"the polygon has {len(polygon)} vertices; it needs at least 3")
    edges = list(zip(polygon, (*polygon[1:], polygon[0]), strict=True))
    for i, (a, b) in enumerate(edges):
        if a == b:
            raise InvalidValueError(f"vertex {i} of the polygon, {a}, stands twice in a row; leave one out")
    for i, (a, b) in enumerate(edges):
        for k in range(i + 2, len(edges) - (i == 0)):
            if _meet(a, b, *edges[k]):
                raise InvalidValueError(f"edges {i} and {k} of the polygon cross; order its vertices along the border")


def _meet(a: Point, b: Point, c: Point, d: Point) -> bool:
    """Return whether the segments ab and cd share a point."""
    boxes = all(max(min(a[k], b[k]), min(c[k], d[k])) <= min(max(a[k], b[k]), max(c[k], d[k])) for k in (0, 1))
    return boxes and _side(a, b, c) * _side(a, b, d) <= 0 and _side(c, d, a) * _side(c, d, b) <= 0


def _side(a: Point, b: Point, p: Point) -> float:
    return (b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0])


def chassis_of(model: RobotModel) -> WheeledChassis | FlyingChassis | FileChassis:
    """Return the chassis of a robot model: its own, or a plain one as large as its body.

    Raises:
        InvalidValueError: it has none, and moves in a way that wheels cannot.
    """
    if model.kinematics == "holonomic" and not isinstance(model.chassis, FlyingChassis):
        raise InvalidValueError(
            f"robot {model.name!r} is holonomic, and wheels are not; in physics: terrain give it a chassis of kind "
            "flying, or other kinematics"
        )
    if model.chassis is not None:
        return model.chassis
    discs = np.array(model.body_discs)
    return plain_chassis(inscribed_radius(discs) or float(discs[:, 2].min()), model.wheel_semi_axis_m)
