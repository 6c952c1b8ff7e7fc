"""What the robots of a group know at a decision, as arrays: what observations are made of."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from covey.errors import InvalidValueError
from covey.geometry import Pose
from covey.geometry.grid import Grid
from covey.geometry.se2 import wrap_angle
from covey.mapping.occupancy.frontiers import find_frontiers
from covey.onboard.group_view import GroupView
from covey.onboard.handle import Robot
from covey.robots.model import RobotModel

_LEAST_FRONTIER = 8  # cells


class Numbers(NamedTuple):
    """What one robot observes or chooses: an array of numbers between two bounds."""

    shape: tuple[int, ...]
    low: float = -1.0
    high: float = 1.0
    dtype: type[np.generic] = np.float32


class OneOf(NamedTuple):
    """What one robot chooses: a whole number from 0 to ``count`` - 1."""

    count: int


class MapStack(NamedTuple):
    """Maps of some robots of a group, on one grid.

    Attributes:
        robots: which of them, int64 (k,).
        occupancy: int8 (m, rows, columns): -1 unknown, 0 free, 100 wall; not to be changed.
        rows: where the map of each of these robots is in it, int64 (k,).
        grid: the place and the size of each.
    """

    robots: np.ndarray
    occupancy: np.ndarray
    rows: np.ndarray
    grid: Grid


class Knowledge(ABC):
    """What the n robots of a group know now.

    Attributes:
        name: the group's name. ``names``: the robots'. ``robot``: their model.
        time_s: simulated time [s].
        pose: where the robots believe to be: x, y [m], heading [rad] in the world frame, float64 (n, 3).
        velocity: vx, vy [m/s] in the world frame, float64 (n, 2).
        team: where all robots that they know of believe to be, float64 (m, 3); ``own``: the rows of the robots in it.
        workspace: corners of the world [m], float64 (k, 2).
        goals: places to which they are to drive, x, y [m], float64 (n, 2); None: they have none.
        places: places that a team is to visit in each world: x, y [m], and 1 or 0 for whether that is still to be
            done, float64 (worlds, m, 3); None: there are none, or that is not known.
        beliefs: their maps; empty if they keep none or may not see them. ``maps``: the same as arrays.
        messages: what each has received since its last decision, newest first: arrays of numbers; None: not known.
        is_lost: whether they do not know where the others started, so that each has a frame of its own.
    """

    name: str
    names: Sequence[str]
    robot: RobotModel
    time_s: float
    pose: np.ndarray
    velocity: np.ndarray
    team: np.ndarray
    own: np.ndarray
    workspace: np.ndarray
    goals: np.ndarray | None = None
    places: np.ndarray | None = None
    beliefs: Sequence[Any] = ()
    messages: Sequence[Sequence[np.ndarray]] | None = None
    is_lost: bool = False

    @property
    def teams(self) -> np.ndarray:
        """``team`` of each world in which the robots are, float64 (worlds, m, 3); equally many robots are in each."""
        return self.team[None]

    @property
    def maps(self) -> Sequence[MapStack]:
        """Their maps as arrays."""
        one, first = np.ones(1, np.int64), np.zeros(1, np.int64)
        of = enumerate(self.beliefs)
        return [MapStack(i * one, belief.occupancy()[None], first, belief.grid) for i, belief in of]

    @property
    def kin(self) -> np.ndarray:
        """Which robots of a world's team are of the group, bool (m,)."""
        return np.isin(np.arange(len(self.team)), self.own)

    @abstractmethod
    def readings(self, name: str) -> Any:
        """Return the newest readings of a sensor, batched over the robots; None before the first.

        Raises:
            InvalidValueError: the robots have no such sensor.
        """

    @property
    def sensors(self) -> list[str]:
        """Names of the robots' sensors."""
        return [sensor.name for sensor in self.robot.sensors]

    def frontiers(self, most: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the frontiers of each robot's map that are nearest by air.

        Args:
            most: how many.

        Returns:
            Their middles x, y [m], float64 (n, most, 2); their sizes [cells], float64 (n, most); and how many there
            are, at most so many, int64 (n,). Places that stay empty hold the robot's own place and 0.
        """
        n = len(self.names)
        places, sizes, count = np.repeat(self.pose[:, None, :2], most, axis=1), np.zeros((n, most)), np.zeros(n, int)
        for i, belief in enumerate(self.beliefs):
            found = find_frontiers(belief.occupancy(), "explore", _LEAST_FRONTIER)
            if not len(found):
                continue
            middles = belief.grid.to_world(found.nearest)
            nearest = np.argsort(np.hypot(*(middles - self.pose[i, :2]).T), kind="stable")[:most]
            count[i] = len(nearest)
            places[i, : count[i]], sizes[i, : count[i]] = middles[nearest], found.sizes[nearest]
        return places, sizes, count


class KnownToGroup(Knowledge):
    """What a controller of a group sees: no maps.

    Args:
        view: what it sees; it must have declared ``pose``, ``velocity`` and what observations see and read.
    """

    def __init__(self, view: GroupView):
        self._view = view
        self.name, self.names, self.robot, self.time_s = view.name, view.names, view.robot, view.time
        self.pose, self.velocity, self.workspace = view.fields["pose"], view.fields["velocity"], view.workspace
        self.goals, others = view.fields.get("goals"), view.fields.get("others", self.pose[:0])
        self.team, self.own = np.concatenate((self.pose, others)), np.arange(len(self.pose))

    def readings(self, name: str) -> Any:
        """Return the newest readings of a sensor."""
        if name not in self.sensors:
            raise InvalidValueError(f"robots of {self.name!r} have no sensor {name!r}; they have {self.sensors}")
        return self._view.fields.get(name)


class KnownToRobot(Knowledge):
    """What one robot knows, as n = 1; `look` brings it up to date.

    Its velocity is that at which its estimate has moved since it last looked, so it is 0 at first.

    Args:
        robot: the robot.

    Attributes:
        mates: poses of the others, as it knows them.
    """

    def __init__(self, robot: Robot):
        self._robot, self.mates = robot, list[Any]()
        self.name, self.names, self.robot, self.own = robot.name, (robot.name,), robot.model, np.zeros(1, np.int64)
        self.time_s, self.pose, self.velocity = robot.time, np.array([robot.pose]), np.zeros((1, 2))

    def look(self) -> None:
        """Take the present pose, and the velocity since the last look."""
        robot, before = self._robot, Pose(*self.pose[0].tolist())
        if (passed_s := robot.time - self.time_s) <= 0:
            return
        x, y, turned = before.inverse() @ robot.pose
        half = 0.5 * wrap_angle(turned)  # a constant twist moves it along an arc
        across = before.heading + half
        c, s = np.array((np.cos(across), np.sin(across))) / (np.sinc(half / np.pi) * passed_s)
        self.velocity = np.array([[c * x - s * y, s * x + c * y]])
        self.time_s, self.pose = robot.time, np.array([robot.pose])

    @property
    def team(self) -> np.ndarray:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Where it and its mates believe to be, float64 (m, 3); it comes first."""
        return np.array([self._robot.pose, *self.mates], float)

    @property
    def goals(self) -> np.ndarray | None:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Where the order on the blackboard sends it, float64 (1, 2); None: nowhere."""
        goals = self._robot.blackboard.get("order", {}).get("goals_m")
        return None if goals is None else np.array([goals[self._robot.team.index(self.name)]], float)

    @property
    def beliefs(self) -> Sequence[Any]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Its map, if it keeps one."""
        return () if self._robot.map is None else (self._robot.map,)

    @property
    def workspace(self) -> np.ndarray:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Not there.

        Raises:
            InvalidValueError: always.
        """
        raise InvalidValueError("pose: a robot alone does not know its workspace; let its group ask: {name: onnx, …}")

    def readings(self, name: str) -> Any:
        """Return the newest readings of a sensor."""
        if name not in self.sensors:
            raise InvalidValueError(f"{self.name!r} has no sensor {name!r}; it has {self.sensors}")
        reading = getattr(self._robot, name, None)
        return None if reading is None else _OfOne(reading)


class _OfOne:
    """Readings of one robot with an axis for the robot."""

    def __init__(self, reading: Any):
        self._reading = reading

    def __getattr__(self, name: str) -> np.ndarray:
        return np.asarray(getattr(self._reading, name))[None]
