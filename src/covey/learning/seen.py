"""What the robots of a group know at a decision, as arrays: what observations are made of."""

from functools import cached_property
from typing import Any

import numpy as np

from covey.errors import InvalidValueError
from covey.geometry.grid import Grid
from covey.mapping.occupancy.frontiers import find_frontiers
from covey.onboard.group import Group
from covey.runtime.phases.group_fields import rows_of
from covey.runtime.simulation import Simulation

_LEAST_FRONTIER = 8  # cells


class Seen:
    """What the n robots of a group know now.

    Args:
        sim: the simulation, before its robots decide.
        group: the group; ``first``: the team index of its first robot.
        goals: places to which they are to drive, x, y [m], float64 (n, 2); None: they have none.

    Attributes:
        sim: the simulation; what an observation reads from it besides is the truth.
        group: the group, with the robots' names and their model.
        members: the robots' indices in the team.
        goals: see above.
    """

    def __init__(self, sim: Simulation, group: Group, first: int, goals: np.ndarray | None = None):
        self.sim, self.group, self.goals = sim, group, goals
        self.members = range(first, first + len(group.start))
        self._part = slice(first, first + len(group.start))

    @property
    def time_s(self) -> float:
        """Simulated time [s]."""
        return self.sim.time

    @cached_property
    def pose(self) -> np.ndarray:
        """Where the robots believe to be: x, y [m], heading [rad] in the world frame, float64 (n, 3)."""
        return self.sim.localization.pose[self._part].copy()

    @cached_property
    def others(self) -> np.ndarray:
        """Where all robots of the team believe to be, float64 (m, 3)."""
        return self.sim.localization.pose.copy()

    @cached_property
    def twist(self) -> np.ndarray:
        """Velocities vx, vy [m/s], turn rate [rad/s] in the body frame, float64 (n, 3)."""
        return self.sim.state.twist[self._part].copy()

    @cached_property
    def limits(self) -> np.ndarray:
        """Largest speed [m/s] and turn rate [rad/s] of each robot, float64 (n, 2)."""
        return self.sim.model.limits[self._part, :2]

    @property
    def grid(self) -> Grid:
        """The cells of the world, for its size; robots do not know what is in them."""
        return self.sim.world_state.grid

    def readings(self, name: str) -> Any:
        """Return the newest readings of a sensor, batched over the robots; None before the first.

        Raises:
            InvalidValueError: the robots have no such sensor.
        """
        for bank in self.sim.sensing.banks:
            if bank.record.name == name and self.members[0] in bank.row_of:
                return None if bank.readings is None else bank.readings.of(rows_of(bank, self.members))
        raise InvalidValueError(f"robots of {self.group.name!r} have no sensor {name!r}; give one of {self.sensors}")

    @property
    def sensors(self) -> list[str]:
        """Names of the robots' sensors."""
        return [sensor.name for sensor in self.group.robot.sensors]

    @property
    def beliefs(self) -> list[Any]:
        """The robots' maps, of those that keep one."""
        known = self.sim.localization.belief_of
        return [known[i] for i in self.members if i in known]

    def frontiers(self, most: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the frontiers of each robot's map that are nearest by air.

        Args:
            most: how many.

        Returns:
            Their middles x, y [m], float64 (n, most, 2); their sizes [cells], float64 (n, most); and how many there
            are, at most so many, int64 (n,). Places that stay empty hold the robot's own place and 0.
        """
        n = len(self.members)
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
