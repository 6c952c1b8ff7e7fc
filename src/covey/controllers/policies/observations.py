"""Observations: records that make an array of each robot from what it knows, see `Knowledge`."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from covey.controllers.policies.knowledge import Knowledge, Numbers
from covey.errors import InvalidValueError
from covey.kernel import kernel
from covey.named import Named
from covey.records import as_record
from covey.registry import Registry
from covey.robots.model import RobotModel

observations: Registry[Any] = Registry("observation", shelf="covey.controllers.policies.observations")
"""Observations by name; packages add theirs under the entry-point group ``covey.observation``."""


class Observation(Named, ABC):
    """An array for each robot of a group.

    Attributes:
        key: its name in a space of several observations.
        in_many_worlds: whether the robots that it gets may be those of many worlds, as what a robot observes follows
            from its own rows, and from those of its team in `Knowledge.teams`.
        sees: what a controller of a group must see for it besides pose, velocity and sensors: ``others``, ``goals``; or
            ``map``, which only a controller of one robot sees.
    """

    registry = observations
    in_many_worlds: ClassVar[bool] = False
    sees: ClassVar[tuple[str, ...]] = ()

    @property
    def key(self) -> str:
        """Its name in a space of several observations: its registered name, or that of its class."""
        return observations.name_of(type(self)) or type(self).__name__

    @abstractmethod
    def space(self, known: Knowledge) -> Numbers:
        """Return the space of one robot.

        Raises:
            InvalidValueError: the robots lack what it needs.
        """

    @abstractmethod
    def of(self, known: Knowledge) -> np.ndarray:
        """Return the arrays of all robots of the group, (n, …), of the shape and the type of its space."""

    def into(self, known: Knowledge, out: np.ndarray) -> None:
        """Write what `of` returns into an array."""
        out[...] = self.of(known)

    @property
    def reads(self) -> tuple[str, ...]:
        """Names of the sensors that it reads."""
        return ()

    def of_robot(self, robot: RobotModel) -> "Observation":
        """Return the observation for robots of a model, which names its sensors.

        Raises:
            InvalidValueError: the robots have no such sensor.
        """
        return self


def in_body_frame(offsets: np.ndarray, heading: np.ndarray) -> np.ndarray:
    """Return offsets (n, …, 2) in the world frame as known by robots with these headings (n,)."""
    shape = (len(heading), *[1] * (offsets.ndim - 2))
    c, s = np.cos(heading).reshape(shape), np.sin(heading).reshape(shape)
    x, y = offsets[..., 0], offsets[..., 1]
    return np.stack((c * x + s * y, c * y - s * x), axis=-1)


@observations.register("pose")
class ObservedPose(Observation):
    """Where a robot believes to be: x and y from -1 to 1 over the world, cosine and sine of the heading, (4,)."""

    in_many_worlds: ClassVar[bool] = True

    def space(self, known: Knowledge) -> Numbers:
        """Return the space."""
        return Numbers((4,))

    def of(self, known: Knowledge) -> np.ndarray:
        """Return the observation, float32 (n, 4)."""
        x, y, heading = known.pose.T
        low, high = known.workspace.min(axis=0), known.workspace.max(axis=0)
        middle, half = (low + high) / 2, (high - low) / 2
        columns = (x - middle[0]) / half[0], (y - middle[1]) / half[1], np.cos(heading), np.sin(heading)
        return np.clip(np.column_stack(columns), -1, 1).astype(np.float32)


@observations.register("velocity")
class ObservedVelocity(Observation):
    """A robot's velocity forward and to the left, as parts of its largest speed, (2,)."""

    in_many_worlds: ClassVar[bool] = True

    def space(self, known: Knowledge) -> Numbers:
        """Return the space."""
        return Numbers((2,))

    def of(self, known: Knowledge) -> np.ndarray:
        """Return the observation, float32 (n, 2)."""
        ahead = in_body_frame(known.velocity, known.pose[:, 2])
        return np.clip(ahead / known.robot.max_speed_m_s, -1, 1).astype(np.float32)


@observations.register("ranges")
class Ranges(Observation):
    """The distances that a lidar or a ring of distance sensors reads, as parts of its range, (rays,); 1: nothing.

    Attributes:
        sensor: its name; empty: the first one.
    """

    in_many_worlds: ClassVar[bool] = True
    sensor: str = ""

    @property
    def reads(self) -> tuple[str, ...]:
        """The sensor."""
        return (self.sensor,) if self.sensor else ()

    def of_robot(self, robot: RobotModel) -> "Ranges":
        """Return the observation with the name of the sensor."""
        return self.model_copy(update={"sensor": self._record(robot).name})

    def _record(self, robot: RobotModel) -> Any:
        rings = [sensor for sensor in robot.sensors if getattr(sensor, "kind", "") in ("lidar", "proximity")]
        for sensor in rings:
            if self.sensor in ("", sensor.name):
                return sensor
        what = f"is {self.sensor!r}" if self.sensor else "is needed, and there is none"
        raise InvalidValueError(
            f"ranges: a lidar or proximity sensor {what}; {robot.name or 'the robot'} has {[one.name for one in rings]}"
        )

    def space(self, known: Knowledge) -> Numbers:
        """Return the space."""
        sensor = self._record(known.robot)
        rays = sensor.sectors if sensor.kind == "proximity" else len(sensor.angles)
        return Numbers((rays,), 0.0)

    def of(self, known: Knowledge) -> np.ndarray:
        """Return the observation, float32 (n, rays)."""
        sensor = self._record(known.robot)
        readings = known.readings(sensor.name)
        if readings is None:
            return np.ones((len(known.names), *self.space(known).shape), np.float32)
        ranges = readings.ranges / sensor.range_m
        return np.where(np.isfinite(ranges), np.clip(ranges, 0, 1), 1).astype(np.float32)


@observations.register("neighbours")
class NearestRobots(Observation):
    """The nearest robots of the whole team, by where they believe to be: (most, 5).

    A row holds 1, the place forward and to the left as a part of ``within_m``, and cosine and sine of the heading, as
    the robot sees it; zeros for nobody.

    Attributes:
        most: how many rows.
        within_m: farther robots do not count [m].
    """

    in_many_worlds: ClassVar[bool] = True
    sees: ClassVar[tuple[str, ...]] = ("others",)
    most: int = Field(default=3, ge=1, le=1000)
    within_m: float = Field(default=5.0, gt=0)

    def space(self, known: Knowledge) -> Numbers:
        """Return the space."""
        return Numbers((self.most, 5))

    def of(self, known: Knowledge) -> np.ndarray:
        """Return the observation, float32 (n, most, 5)."""
        own, teams, n = known.pose, known.teams, len(known.names)
        out = np.zeros((n, self.most, 5), np.float32)
        world = np.arange(n) // (n // len(teams))
        offsets = teams[world, :, :2] - own[:, None, :2]
        away = np.hypot(offsets[..., 0], offsets[..., 1])
        away[np.arange(n), known.own] = np.inf
        away[:, ~self._reckoned(known)] = np.inf
        k = min(self.most, away.shape[1])
        nearest = np.argsort(away, axis=1, kind="stable")[:, :k]
        rows = np.arange(n)[:, None]
        there = away[rows, nearest] <= self.within_m
        turned = teams[world[:, None], nearest, 2] - own[:, None, 2]
        out[:, :k, 0] = 1.0
        out[:, :k, 1:3] = in_body_frame(offsets[rows, nearest], own[:, 2]) / self.within_m
        out[:, :k, 3], out[:, :k, 4] = np.cos(turned), np.sin(turned)
        out[:, :k] *= there[..., None]
        return np.clip(out, -1, 1)

    def _reckoned(self, known: Knowledge) -> np.ndarray:
        """Return which robots of a world's team count, bool (m,)."""
        return np.ones(len(known.kin), np.bool_)


@observations.register("mates")
class NearestMates(NearestRobots):
    """The nearest robots of the own group, as in ``neighbours``."""

    sees: ClassVar[tuple[str, ...]] = ()

    def _reckoned(self, known: Knowledge) -> np.ndarray:
        return known.kin


@observations.register("others")
class NearestOthers(NearestRobots):
    """The nearest robots of other groups, as in ``neighbours``."""

    def _reckoned(self, known: Knowledge) -> np.ndarray:
        return ~known.kin


@observations.register("goal")
class ObservedGoal(Observation):
    """Where a robot's goal is: its distance as a part of ``within_m``, at most 1, cosine and sine of its bearing, (3,).

    Attributes:
        within_m: the distance that reads 1 [m].
    """

    in_many_worlds: ClassVar[bool] = True
    sees: ClassVar[tuple[str, ...]] = ("goals",)
    within_m: float = Field(default=10.0, gt=0)

    def space(self, known: Knowledge) -> Numbers:
        """Return the space."""
        if known.goals is None:
            raise InvalidValueError(
                "goal: there are no goals; give the scenario the mission navigation, or the environment goals=True"
            )
        return Numbers((3,))

    def of(self, known: Knowledge) -> np.ndarray:
        """Return the observation, float32 (n, 3)."""
        assert known.goals is not None
        x, y = in_body_frame(known.goals - known.pose[:, :2], known.pose[:, 2]).T
        away = np.hypot(x, y)
        bearing = np.arctan2(y, x)
        return np.column_stack((np.minimum(away / self.within_m, 1), np.cos(bearing), np.sin(bearing))).astype(
            np.float32
        )


@observations.register("places")
class ObservedPlaces(Observation):
    """The places that the team is still to visit, always in the same order: (m, 3).

    A row holds 1, and the place forward and to the left as a part of ``within_m``; zeros for one that is taken.

    Attributes:
        within_m: the distance that reads 1 [m].
    """

    in_many_worlds: ClassVar[bool] = True
    within_m: float = Field(default=10.0, gt=0)

    def space(self, known: Knowledge) -> Numbers:
        """Return the space."""
        if known.places is None:
            raise InvalidValueError(
                "places: there are none, or only environments know them; give the scenario the mission dispersion"
            )
        return Numbers((known.places.shape[1], 3))

    def of(self, known: Knowledge) -> np.ndarray:
        """Return the observation, float32 (n, m, 3)."""
        assert known.places is not None
        n, (worlds, count, _) = len(known.names), known.places.shape
        out = np.empty((n, count, 3), np.float32)
        show(known.places, known.pose, n // worlds, self.within_m, out)
        return out


@observations.register("messages")
class ReceivedMessages(Observation):
    """What a robot has received since its last decision, newest first: (most, 1 + size).

    A row holds 1 and the numbers of a message of an action with ``message``, such as ``twist``; zeros for none.

    Attributes:
        size: how many numbers a message has.
        most: how many rows.
    """

    size: int = Field(ge=1, le=1000)
    most: int = Field(default=3, ge=1, le=1000)

    def space(self, known: Knowledge) -> Numbers:
        """Return the space."""
        if known.messages is None:
            raise InvalidValueError("messages: only an action that sends has them; give one, {twist: {message: 4}}")
        return Numbers((self.most, 1 + self.size))

    def of(self, known: Knowledge) -> np.ndarray:
        """Return the observation, float32 (n, most, 1 + size)."""
        out = np.zeros((len(known.names), self.most, 1 + self.size), np.float32)
        for rows, received in zip(out, known.messages or (), strict=True):
            for row, numbers in zip(rows, received, strict=False):
                if numbers.shape != (self.size,):
                    raise InvalidValueError(f"messages: size is {self.size}, and a message has {numbers.size} numbers")
                row[0], row[1:] = 1.0, numbers
        return out


@observations.register("frontiers")
class NearestFrontiers(Observation):
    """The nearest frontiers of a robot's map: (most, 4), with ``mates`` (most, 5).

    A row holds 1, the place forward and to the left as a part of ``within_m``, and the size as a part of 100 cells;
    zeros for none. They are those among which the action ``frontiers`` chooses.

    Attributes:
        most: how many rows.
        within_m: the distance that reads 1 [m].
        mates: whether a row also holds how far the nearest other robot is from the frontier, by air; 1: nobody is.
    """

    in_many_worlds: ClassVar[bool] = True
    most: int = Field(default=8, ge=1, le=1000)
    within_m: float = Field(default=20.0, gt=0)
    mates: bool = False

    @property
    def sees(self) -> tuple[str, ...]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The map, and the others if they count."""
        return ("map", "others") if self.mates else ("map",)

    def space(self, known: Knowledge) -> Numbers:
        """Return the space."""
        _maps(known, "frontiers")
        return Numbers((self.most, 5 if self.mates else 4))

    def of(self, known: Knowledge) -> np.ndarray:
        """Return the observation, float32 (n, most, 4 or 5)."""
        places, sizes, count = known.frontiers(self.most)
        there = np.arange(self.most) < count[:, None]
        offsets = in_body_frame(places - known.pose[:, None, :2], known.pose[:, 2]) / self.within_m
        columns = [there[..., None], offsets, np.minimum(sizes / 100, 1)[..., None]]
        if self.mates:
            world = np.arange(len(places)) // (len(places) // len(known.teams))
            away = np.hypot(*(places[:, :, None] - known.teams[world, None, :, :2]).transpose(3, 0, 1, 2))
            away[np.arange(len(places)), :, known.own] = np.inf
            columns.append(np.minimum(away.min(axis=2) / self.within_m, 1)[..., None])
        rows = np.concatenate(columns, axis=-1)
        return np.clip(rows * there[..., None], -1, 1).astype(np.float32)


@observations.register("patch")
class MapPatch(Observation):
    """The part of a robot's map around it, as it looks ahead: uint8 (4, cells, cells), each 0 or 1.

    The channels are free floor, walls, other robots, and frontiers: free cells beside unknown ones. The robot is in
    the middle, ahead is up: towards row 0.

    Attributes:
        cells: side [cells].
        cell_m: side of a cell [m]; 0: that of the map.
    """

    sees: ClassVar[tuple[str, ...]] = ("map",)
    in_many_worlds: ClassVar[bool] = True
    cells: int = Field(default=32, ge=1, le=1000)
    cell_m: float = Field(default=0.0, ge=0)

    def space(self, known: Knowledge) -> Numbers:
        """Return the space."""
        _maps(known, "patch")
        return Numbers((4, self.cells, self.cells), 0, 1, np.uint8)

    def of(self, known: Knowledge) -> np.ndarray:
        """Return the observation, uint8 (n, 4, cells, cells)."""
        out = np.empty((len(known.names), 4, self.cells, self.cells), np.uint8)
        self.into(known, out)
        return out

    def into(self, known: Knowledge, out: np.ndarray) -> None:
        """Write the observation into a contiguous array."""
        world = np.arange(len(out)) // (len(out) // len(known.teams))
        for maps in known.maps:
            cell_m = self.cell_m or maps.grid.resolution
            robots, place = (maps.robots, known.pose, known.own, world), (maps.grid.frame, cell_m)
            cut(maps.occupancy, maps.rows, *place, *robots, known.teams, out)


@observations.register("map")
class CoarseMap(Observation):
    """A robot's whole map in few cells: float32 (3, cells, cells), the share that is free, wall, and unknown.

    Row 0 is the south.

    Attributes:
        cells: side [cells].
    """

    sees: ClassVar[tuple[str, ...]] = ("map",)
    in_many_worlds: ClassVar[bool] = True
    cells: int = Field(default=16, ge=1, le=1000)

    def space(self, known: Knowledge) -> Numbers:
        """Return the space."""
        _maps(known, "map")
        return Numbers((3, self.cells, self.cells), 0.0)

    def of(self, known: Knowledge) -> np.ndarray:
        """Return the observation, float32 (n, 3, cells, cells)."""
        out = np.zeros((len(known.names), 3, self.cells, self.cells), np.float32)
        for i, belief in enumerate(known.beliefs):
            occupancy = belief.occupancy()
            rows, columns = (np.arange(size) * self.cells // size for size in occupancy.shape)
            which = rows[:, None] * self.cells + columns
            number = np.maximum(np.bincount(which.ravel(), minlength=self.cells**2), 1)
            for channel, state in enumerate((occupancy == 0, occupancy > 0, occupancy < 0)):
                count = np.bincount(which.ravel(), state.ravel(), self.cells**2)
                out[i, channel] = (count / number).reshape(self.cells, self.cells)
        return out


class OfFunction(Observation):
    """A function of `Knowledge` that returns an array (n, …) of real numbers; its shape is that of its first call."""

    function: Callable[[Knowledge], Any]
    sensors: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """The name of the function."""
        return getattr(self.function, "__name__", "function")

    @property
    def reads(self) -> tuple[str, ...]:
        """All sensors of the robots."""
        return self.sensors

    def of_robot(self, robot: RobotModel) -> "OfFunction":
        """Return the observation with the names of all sensors."""
        return self.model_copy(update={"sensors": tuple(sensor.name for sensor in robot.sensors)})

    def space(self, known: Knowledge) -> Numbers:
        """Return the space."""
        return Numbers(self.of(known).shape[1:], -np.inf, np.inf)

    def of(self, known: Knowledge) -> np.ndarray:
        """Return the observation, float32 (n, …)."""
        values = np.asarray(self.function(known), np.float32)
        if values.shape[:1] != (len(known.names),):
            raise InvalidValueError(
                f"{self.key} returned the shape {values.shape} for {len(known.names)} robots; "
                "the first axis is the robot"
            )
        return values


def _maps(known: Knowledge, name: str) -> None:
    if not known.beliefs or not hasattr(known.beliefs[0], "occupancy"):
        raise InvalidValueError(
            f"{name}: robots of {known.name!r} keep no map of walls; give them a lidar and `mapping`, "
            f"or leave {name} out of observe"
        )
    if known.is_lost:
        raise InvalidValueError(f"{name}: robots with unknown starts have maps in frames of their own; leave it out")


def observed(given: Any, *, trusted_only: bool = False) -> list[Observation]:
    """Return the records of what is to be observed.

    Args:
        given: a name, a mapping ``{name: {parameter: …}}``, a record or a function; or several of them.

    Raises:
        InvalidValueError: one is unknown, two have the same name, or a parameter is wrong.
    """
    several = given if isinstance(given, (list, tuple)) else [given]
    found = [one if isinstance(one, Observation) else _one(one, trusted_only) for one in several]
    keys = [one.key for one in found]
    if twice := next((key for key in keys if keys.count(key) > 1), None):
        raise InvalidValueError(f"observe names {twice} twice; name each once")
    if not found:
        raise InvalidValueError("observe is empty; give a name, such as ranges, a record, or a function")
    return found


def _one(given: Any, trusted_only: bool) -> Observation:
    if callable(given) and not isinstance(given, type):
        return OfFunction(function=given)
    return as_record(Observation, given, "observe", trusted_only=trusted_only)


@kernel
def show(places, pose, robots, within_m, out):
    """Fill the rows of `ObservedPlaces`: places (worlds, m, 3), poses (n, 3), robots in a world, out (n, m, 3)."""
    for i in range(len(pose)):
        c, s = np.cos(pose[i, 2]), np.sin(pose[i, 2])
        for m in range(places.shape[1]):
            x, y, there = places[i // robots, m]
            x, y = (x - pose[i, 0]) / within_m, (y - pose[i, 1]) / within_m
            out[i, m, 0] = there
            out[i, m, 1] = there * min(max(c * x + s * y, -1.0), 1.0)
            out[i, m, 2] = there * min(max(c * y - s * x, -1.0), 1.0)


@kernel
def cut(occupancy, rows, frame, cell_m, robots, pose, own, world, teams, out):
    """Fill the channels of the `MapPatch` of some robots.

    Args:
        occupancy: int8 (m, rows, columns): -1 unknown, 0 free, 100 wall; ``rows``: the map of each of these robots.
        frame: see `covey.geometry.grid.Grid.frame`. cell_m: side of a cell of the patch [m].
        robots: which robots, int64 (k,), of those with the poses x, y [m], heading [rad], (n, 3); ``own``: which robot
            of its team each is; ``world``: in which world it is.
        teams: poses of the robots of each world, (worlds, m, 3).
        out: uint8 (n, 4, k, k).
    """
    k, shape = out.shape[2], occupancy.shape[1:]
    to_map = cell_m / frame[4]
    for at in range(robots.size):
        robot = robots[at]
        x, y = pose[robot, 0], pose[robot, 1]
        c, s = np.cos(pose[robot, 2]), np.sin(pose[robot, 2])
        cells, patch = occupancy[rows[at]].reshape(-1), out[robot].reshape(-1)
        patch[:] = 0
        u0 = (frame[2] * (x - frame[0]) + frame[3] * (y - frame[1])) / frame[4]
        v0 = (frame[2] * (y - frame[1]) - frame[3] * (x - frame[0])) / frame[4]
        du, dv = (frame[2] * c + frame[3] * s) * to_map, (frame[2] * s - frame[3] * c) * to_map  # of a cell ahead
        for row in range(k):
            ahead = 0.5 * (k - 1) - row
            u1, v1 = u0 + du * ahead, v0 + dv * ahead
            for column in range(k):
                left = 0.5 * (k - 1) - column
                u, v = u1 - dv * left, v1 + du * left
                if not (u >= 0.0 and v >= 0.0 and u < shape[1] and v < shape[0]):
                    continue
                i, j, to = int(v), int(u), row * k + column
                here = i * shape[1] + j
                state = cells[np.uint64(here)]
                below, above = here - shape[1] * (i > 0), here + shape[1] * (i + 1 < shape[0])
                before, after = here - (j > 0), here + (j + 1 < shape[1])
                # Without branches, as the signs of states tell all; beside the border a cell is its own neighbour.
                near = cells[np.uint64(below)] | cells[np.uint64(above)]
                near |= cells[np.uint64(before)] | cells[np.uint64(after)]
                free = np.uint8(state == 0)
                patch[np.uint64(to)] = free
                patch[np.uint64(to + k * k)] = np.uint8(state > 0)
                patch[np.uint64(to + 3 * k * k)] = free & np.uint8(near < 0)
        team = teams[world[robot]]
        for other in range(team.shape[0]):
            if other == own[robot]:
                continue
            dx, dy = team[other, 0] - x, team[other, 1] - y
            row = int(np.floor(0.5 * k - (c * dx + s * dy) / cell_m))
            column = int(np.floor(0.5 * k - (c * dy - s * dx) / cell_m))
            if 0 <= row < k and 0 <= column < k:
                patch[(2 * k + row) * k + column] = 1
