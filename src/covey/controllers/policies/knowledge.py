"""What the robots of a group know at a decision, as arrays: what observations are made of."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from covey.errors import InvalidValueError
from covey.mapping.occupancy.frontiers import find_frontiers
from covey.onboard.group_view import GroupView
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
        beliefs: their maps; empty if they keep none or may not see them.
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
    beliefs: Sequence[Any] = ()
    is_lost: bool = False

    @property
    def teams(self) -> np.ndarray:
        """``team`` of each world in which the robots are, float64 (worlds, m, 3); equally many robots are in each."""
        return self.team[None]

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
    """What a controller of a group sees: it knows of the own group alone, and of no maps.

    Args:
        view: what it sees; it must have declared ``pose``, ``velocity`` and the sensors that are read.
    """

    def __init__(self, view: GroupView):
        self._view = view
        self.name, self.names, self.robot, self.time_s = view.name, view.names, view.robot, view.time
        self.pose, self.velocity, self.workspace = view.fields["pose"], view.fields["velocity"], view.workspace
        self.team, self.own = self.pose, np.arange(len(self.pose))

    def readings(self, name: str) -> Any:
        """Return the newest readings of a sensor."""
        if name not in self.sensors:
            raise InvalidValueError(f"robots of {self.name!r} have no sensor {name!r}; they have {self.sensors}")
        return self._view.fields.get(name)
