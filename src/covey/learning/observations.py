"""Observations: records that make an array of each robot from what it knows, see `covey.learning.seen.Seen`."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from pydantic import Field

from covey.errors import InvalidValueError
from covey.kernel import kernel
from covey.learning.given import record_of
from covey.learning.libraries import spaces
from covey.learning.seen import Seen
from covey.named import Named
from covey.registry import Registry

observations: Registry[Any] = Registry("observation", shelf="covey.learning.observations")
"""Observations by name; packages add theirs under the entry-point group ``covey.observation``."""


class Observation(Named, ABC):
    """An array for each robot of a group.

    Attributes:
        key: its name in a space of several observations.
    """

    registry = observations

    @property
    def key(self) -> str:
        """Its name in a space of several observations: its registered name, or that of its class."""
        return observations.name_of(type(self)) or type(self).__name__

    @abstractmethod
    def space(self, seen: Seen) -> spaces.Box:
        """Return the space of one robot.

        Raises:
            InvalidValueError: the robots lack what it needs.
        """

    @abstractmethod
    def of(self, seen: Seen) -> np.ndarray:
        """Return the arrays of all robots of the group, (n, …), of the shape and the type of its space."""

    def sensors(self, names: Sequence[str], kinds: Sequence[str]) -> list[str]:
        """Return the names of the sensors that it reads, of those of a robot, whose kinds are given."""
        return []


def unit(*shape: int) -> spaces.Box:
    """Return a space of numbers from -1 to 1."""
    return spaces.Box(-1.0, 1.0, shape, np.float32)


def in_body_frame(offsets: np.ndarray, heading: np.ndarray) -> np.ndarray:
    """Return offsets (n, …, 2) in the world frame as seen by robots with these headings (n,)."""
    shape = (len(heading), *[1] * (offsets.ndim - 2))
    c, s = np.cos(heading).reshape(shape), np.sin(heading).reshape(shape)
    x, y = offsets[..., 0], offsets[..., 1]
    return np.stack((c * x + s * y, c * y - s * x), axis=-1)


@observations.register("pose")
class Pose(Observation):
    """Where a robot believes to be: x and y from -1 to 1 over the world, cosine and sine of the heading, (4,)."""

    def space(self, seen: Seen) -> spaces.Box:
        """Return the space."""
        return unit(4)

    def of(self, seen: Seen) -> np.ndarray:
        """Return the observation, float32 (n, 4)."""
        x, y, heading = seen.pose.T
        corners = seen.grid.to_world(np.array([[-0.5, -0.5], np.array(seen.grid.shape) - 0.5]))
        middle, half = corners.mean(axis=0), np.abs(np.diff(corners, axis=0)[0]) / 2
        columns = (x - middle[0]) / half[0], (y - middle[1]) / half[1], np.cos(heading), np.sin(heading)
        return np.clip(np.column_stack(columns), -1, 1).astype(np.float32)


@observations.register("velocity")
class Velocity(Observation):
    """A robot's velocity forward and to the left, and its turn rate, as parts of the largest, (3,)."""

    def space(self, seen: Seen) -> spaces.Box:
        """Return the space."""
        return unit(3)

    def of(self, seen: Seen) -> np.ndarray:
        """Return the observation, float32 (n, 3)."""
        speed, turn = seen.limits[:, :1], np.maximum(seen.limits[:, 1:], 1e-9)
        return np.clip(seen.twist / np.hstack((speed, speed, turn)), -1, 1).astype(np.float32)


@observations.register("ranges")
class Ranges(Observation):
    """The distances that a lidar or a ring of distance sensors reads, as parts of its range, (rays,); 1: nothing.

    Attributes:
        sensor: its name; empty: the first one.
    """

    sensor: str = ""

    def sensors(self, names: Sequence[str], kinds: Sequence[str]) -> list[str]:
        """Return the names of the sensors that it reads."""
        if self.sensor:
            return [self.sensor]
        return [name for name, kind in zip(names, kinds, strict=True) if kind in ("lidar", "proximity")][:1]

    def _record(self, seen: Seen) -> Any:
        for sensor in seen.group.robot.sensors:
            if sensor.name == self.sensor if self.sensor else sensor.kind in ("lidar", "proximity"):
                return sensor
        what = f"no sensor {self.sensor!r}" if self.sensor else "neither a lidar nor a proximity sensor"
        raise InvalidValueError(f"ranges: robots of {seen.group.name!r} have {what}; they have {seen.sensors}")

    def space(self, seen: Seen) -> spaces.Box:
        """Return the space."""
        sensor = self._record(seen)
        rays = sensor.sectors if sensor.kind == "proximity" else len(sensor.angles)
        return spaces.Box(0.0, 1.0, (rays,), np.float32)

    def of(self, seen: Seen) -> np.ndarray:
        """Return the observation, float32 (n, rays)."""
        sensor = self._record(seen)
        readings = seen.readings(sensor.name)
        if readings is None:
            return np.ones((len(seen.members), *(self.space(seen).shape or ())), np.float32)
        ranges = readings.ranges / sensor.range_m
        return np.where(np.isfinite(ranges), np.clip(ranges, 0, 1), 1).astype(np.float32)


@observations.register("neighbours")
class Neighbours(Observation):
    """The nearest robots of the whole team, by where they believe to be: (most, 5).

    A row holds 1, the place forward and to the left as a part of ``within_m``, and cosine and sine of the heading, as
    the robot sees it; zeros for nobody.

    Attributes:
        most: how many rows.
        within_m: farther robots do not count [m].
    """

    most: int = Field(default=3, ge=1, le=1000)
    within_m: float = Field(default=5.0, gt=0)

    def space(self, seen: Seen) -> spaces.Box:
        """Return the space."""
        return unit(self.most, 5)

    def of(self, seen: Seen) -> np.ndarray:
        """Return the observation, float32 (n, most, 5)."""
        own, team, n = seen.pose, seen.others, len(seen.members)
        out = np.zeros((n, self.most, 5), np.float32)
        offsets = team[None, :, :2] - own[:, None, :2]
        away = np.hypot(offsets[..., 0], offsets[..., 1])
        away[np.arange(n), list(seen.members)] = np.inf
        k = min(self.most, away.shape[1])
        nearest = np.argsort(away, axis=1, kind="stable")[:, :k]
        rows = np.arange(n)[:, None]
        there = away[rows, nearest] <= self.within_m
        turned = team[nearest, 2] - own[:, None, 2]
        out[:, :k, 0] = 1.0
        out[:, :k, 1:3] = in_body_frame(offsets[rows, nearest], own[:, 2]) / self.within_m
        out[:, :k, 3], out[:, :k, 4] = np.cos(turned), np.sin(turned)
        out[:, :k] *= there[..., None]
        return np.clip(out, -1, 1)


@observations.register("goal")
class Goal(Observation):
    """Where a robot's goal is: its distance as a part of ``within_m``, at most 1, cosine and sine of its bearing, (3,).

    Attributes:
        within_m: the distance that reads 1 [m].
    """

    within_m: float = Field(default=10.0, gt=0)

    def space(self, seen: Seen) -> spaces.Box:
        """Return the space."""
        if seen.goals is None:
            raise InvalidValueError("goal: the robots have no goals; give the environment a task: goals=True")
        return unit(3)

    def of(self, seen: Seen) -> np.ndarray:
        """Return the observation, float32 (n, 3)."""
        assert seen.goals is not None
        x, y = in_body_frame(seen.goals - seen.pose[:, :2], seen.pose[:, 2]).T
        away = np.hypot(x, y)
        bearing = np.arctan2(y, x)
        return np.column_stack((np.minimum(away / self.within_m, 1), np.cos(bearing), np.sin(bearing))).astype(
            np.float32
        )


@observations.register("frontiers")
class NearestFrontiers(Observation):
    """The nearest frontiers of a robot's map: (most, 4).

    A row holds 1, the place forward and to the left as a part of ``within_m``, and the size as a part of 100 cells;
    zeros for none. They are those among which the action ``frontiers`` chooses.

    Attributes:
        most: how many rows.
        within_m: the distance that reads 1 [m].
    """

    most: int = Field(default=8, ge=1, le=1000)
    within_m: float = Field(default=20.0, gt=0)

    def space(self, seen: Seen) -> spaces.Box:
        """Return the space."""
        _maps(seen, "frontiers")
        return unit(self.most, 4)

    def of(self, seen: Seen) -> np.ndarray:
        """Return the observation, float32 (n, most, 4)."""
        places, sizes, count = seen.frontiers(self.most)
        there = np.arange(self.most) < count[:, None]
        offsets = in_body_frame(places - seen.pose[:, None, :2], seen.pose[:, 2]) / self.within_m
        rows = np.concatenate((there[..., None], offsets, np.minimum(sizes / 100, 1)[..., None]), axis=-1)
        return np.clip(rows * there[..., None], -1, 1).astype(np.float32)


@observations.register("patch")
class Patch(Observation):
    """The part of a robot's map around it, as it looks ahead: uint8 (4, cells, cells), each 0 or 1.

    The channels are free floor, walls, other robots, and frontiers: free cells beside unknown ones. The robot is in
    the middle, ahead is up: towards row 0.

    Attributes:
        cells: side [cells].
        cell_m: side of a cell [m]; 0: that of the map.
    """

    cells: int = Field(default=32, ge=1, le=1000)
    cell_m: float = Field(default=0.0, ge=0)

    def space(self, seen: Seen) -> spaces.Box:
        """Return the space."""
        _maps(seen, "patch")
        return spaces.Box(0, 1, (4, self.cells, self.cells), np.uint8)

    def of(self, seen: Seen) -> np.ndarray:
        """Return the observation, uint8 (n, 4, cells, cells)."""
        out = np.zeros((len(seen.members), 4, self.cells, self.cells), np.uint8)
        for i, belief in enumerate(seen.beliefs):
            cell_m = self.cell_m or belief.grid.resolution
            cut(belief.occupancy(), belief.grid.frame, seen.pose[i], cell_m, seen.others, seen.members[i], out[i])
        return out


@observations.register("map")
class CoarseMap(Observation):
    """A robot's whole map in few cells: float32 (3, cells, cells), the share that is free, wall, and unknown.

    Row 0 is the south.

    Attributes:
        cells: side [cells].
    """

    cells: int = Field(default=16, ge=1, le=1000)

    def space(self, seen: Seen) -> spaces.Box:
        """Return the space."""
        _maps(seen, "map")
        return spaces.Box(0.0, 1.0, (3, self.cells, self.cells), np.float32)

    def of(self, seen: Seen) -> np.ndarray:
        """Return the observation, float32 (n, 3, cells, cells)."""
        out = np.zeros((len(seen.members), 3, self.cells, self.cells), np.float32)
        for i, belief in enumerate(seen.beliefs):
            occupancy = belief.occupancy()
            rows, columns = (np.arange(size) * self.cells // size for size in occupancy.shape)
            which = rows[:, None] * self.cells + columns
            number = np.maximum(np.bincount(which.ravel(), minlength=self.cells**2), 1)
            for channel, state in enumerate((occupancy == 0, occupancy > 0, occupancy < 0)):
                count = np.bincount(which.ravel(), state.ravel(), self.cells**2)
                out[i, channel] = (count / number).reshape(self.cells, self.cells)
        return out


@observations.register("time")
class Time(Observation):
    """The share of the time limit that is over, (1,)."""

    def space(self, seen: Seen) -> spaces.Box:
        """Return the space."""
        return spaces.Box(0.0, 1.0, (1,), np.float32)

    def of(self, seen: Seen) -> np.ndarray:
        """Return the observation, float32 (n, 1)."""
        share = min(seen.time_s / seen.sim.stop.timeout_s, 1.0)
        return np.full((len(seen.members), 1), share, np.float32)


class OfFunction(Observation):
    """A function of `Seen` that returns an array (n, …) of real numbers; its shape is that of its first call."""

    function: Callable[[Seen], Any]

    @property
    def key(self) -> str:
        """The name of the function."""
        return getattr(self.function, "__name__", "function")

    def space(self, seen: Seen) -> spaces.Box:
        """Return the space."""
        return spaces.Box(-np.inf, np.inf, self.of(seen).shape[1:], np.float32)

    def of(self, seen: Seen) -> np.ndarray:
        """Return the observation, float32 (n, …)."""
        values = np.asarray(self.function(seen), np.float32)
        if values.shape[:1] != (len(seen.members),):
            raise InvalidValueError(
                f"{self.key} returned the shape {values.shape} for {len(seen.members)} robots; "
                "the first axis is the robot"
            )
        return values

    def sensors(self, names: Sequence[str], kinds: Sequence[str]) -> list[str]:
        """Return the names of the sensors that it reads: it may read any."""
        return [*names]


def _maps(seen: Seen, name: str) -> None:
    if not seen.beliefs or not hasattr(seen.beliefs[0], "occupancy"):
        raise InvalidValueError(
            f"{name}: robots of {seen.group.name!r} keep no map of walls; give them a lidar and `mapping`, "
            f"or leave {name} out of observe"
        )
    if seen.sim.localization.frames is not None:
        raise InvalidValueError(f"{name}: robots with unknown starts have maps in frames of their own; leave it out")


def observed(given: Any) -> list[Observation]:
    """Return the records of what is to be observed.

    Args:
        given: a name, a mapping ``{name: {parameter: …}}``, a record or a function; or several of them.

    Raises:
        InvalidValueError: one is unknown, two have the same name, or a parameter is wrong.
    """
    several = given if isinstance(given, (list, tuple)) else [given]
    found = [one if isinstance(one, Observation) else _one(one) for one in several]
    keys = [one.key for one in found]
    if twice := next((key for key in keys if keys.count(key) > 1), None):
        raise InvalidValueError(f"observe names {twice} twice; name each once")
    if not found:
        raise InvalidValueError("observe is empty; give a name, such as ranges, a record, or a function")
    return found


def _one(given: Any) -> Observation:
    if callable(given) and not isinstance(given, type):
        return OfFunction(function=given)
    return record_of(Observation, given, "observe")


@kernel
def cut(occupancy, frame, pose, cell_m, team, own, out):
    """Fill the channels of a `Patch`, which are 0.

    Args:
        occupancy: int8 (rows, columns): -1 unknown, 0 free, 100 wall.
        frame: see `covey.geometry.grid.Grid.frame`.
        pose: x, y [m], heading [rad]. team: those of all robots, (m, 3); ``own``: which of them it is.
        cell_m: side of a cell of the patch [m].
        out: uint8 (4, k, k).
    """
    k = out.shape[1]
    c, s = np.cos(pose[2]), np.sin(pose[2])
    for row in range(k):
        for column in range(k):
            ahead, left = (0.5 * (k - 1) - row) * cell_m, (0.5 * (k - 1) - column) * cell_m
            x, y = pose[0] + c * ahead - s * left - frame[0], pose[1] + s * ahead + c * left - frame[1]
            j = int(np.floor((frame[2] * x + frame[3] * y) / frame[4]))
            i = int(np.floor((frame[2] * y - frame[3] * x) / frame[4]))
            if i < 0 or j < 0 or i >= occupancy.shape[0] or j >= occupancy.shape[1] or occupancy[i, j] < 0:
                continue
            out[1 if occupancy[i, j] > 0 else 0, row, column] = 1
            if occupancy[i, j] == 0:
                for di, dj in ((-1, 0), (1, 0), (0, -1), (0, 1)):
                    a, b = i + di, j + dj
                    inside = 0 <= a < occupancy.shape[0] and 0 <= b < occupancy.shape[1]
                    if inside and occupancy[a, b] < 0:
                        out[3, row, column] = 1
    for other in range(team.shape[0]):
        if other == own:
            continue
        dx, dy = team[other, 0] - pose[0], team[other, 1] - pose[1]
        row = int(np.floor(0.5 * k - (c * dx + s * dy) / cell_m))
        column = int(np.floor(0.5 * k - (c * dy - s * dx) / cell_m))
        if 0 <= row < k and 0 <= column < k:
            out[2, row, column] = 1
