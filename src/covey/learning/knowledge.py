"""What the robots of a group know in a simulation, before they decide."""

import weakref
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from covey.controllers.policies.knowledge import Knowledge, MapStack
from covey.errors import InvalidValueError
from covey.geometry.constant import constant
from covey.mapping.occupancy.belief import Beliefs
from covey.onboard.group import Group
from covey.robots.team import TeamState
from covey.runtime.phases.group_fields import rows_of
from covey.runtime.phases.localization_and_mapping import LocalizationAndMapping
from covey.runtime.simulation import Simulation
from covey.scenario.batch import Batch


class KnownInBatch(Knowledge):
    """What the robots of a group know in all worlds of a batch: world by world, in one row after the other.

    Args:
        batch: the batch, before its robots decide.
        group: the group.
    """

    def __init__(self, batch: Batch, group: Group):
        self.batch = batch
        self.name, self.names, self.robot, self.time_s = group.name, group.names, group.robot, batch.time
        self.members = batch.members[group.name]
        self.part = slice(self.members.start, self.members.stop)
        self.own = np.tile(np.flatnonzero(np.isin(batch.index[0], self.members)), batch.worlds)

    @cached_property
    def goals(self) -> np.ndarray | None:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Places to which they are to drive, float64 (n, 2); None: they have none."""
        if self.batch.tracker is None or self.batch.tracker.goals is None:
            return None
        kin = np.flatnonzero(self.kin)
        return constant(self.batch.tracker.goals[:, kin].reshape(-1, 2))

    @property
    def places(self) -> np.ndarray | None:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Places to visit, float64 (worlds, m, 3); None: there are none."""
        tracker = self.batch.tracker
        return None if tracker is None or tracker.places is None else constant(tracker.places)

    @cached_property
    def pose(self) -> np.ndarray:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Where the robots believe to be, float64 (n, 3)."""
        return constant(self.batch.localization.pose[self.part])

    @cached_property
    def teams(self) -> np.ndarray:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Where all robots of each world believe to be, float64 (worlds, m, 3)."""
        return constant(self.batch.localization.pose[self.batch.index])

    @property
    def kin(self) -> np.ndarray:
        """Which robots of a world's team are of the group, bool (m,)."""
        return np.isin(self.batch.index[0], self.members)

    @cached_property
    def velocity(self) -> np.ndarray:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Velocities in the world frame, float64 (n, 2)."""
        return constant(in_world_frame(self.batch.state, self.part))

    @property
    def workspace(self) -> np.ndarray:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Corners of the world [m], float64 (k, 2)."""
        return self.batch.sensing.world.world.workspace_m

    @property
    def beliefs(self) -> list[Any]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The robots' maps, of those that keep one."""
        known = self.batch.localization.belief_of
        return [known[i] for i in self.members if i in known]

    @property
    def maps(self) -> list[MapStack]:
        """The robots' maps of walls."""
        return maps_of(self.batch.localization, self.members)

    def readings(self, name: str) -> Any:
        """Return the newest readings of a sensor."""
        for bank in self.batch.sensing.banks:
            if bank.record.name == name and self.members[0] in bank.row_of:
                return None if bank.readings is None else bank.readings.of(rows_of(bank, self.members))
        raise InvalidValueError(f"robots of {self.name!r} have no sensor {name!r}; they have {self.sensors}")


def maps_of(localization: LocalizationAndMapping, members: range) -> list[MapStack]:
    """Return the maps of walls of some robots, by team index."""
    found = list[MapStack]()
    for team in localization.teams:
        rows = np.flatnonzero((team.members >= members.start) & (team.members < members.stop))
        if len(rows) and isinstance(team.beliefs, Beliefs):
            occupancy = team.beliefs.occupancy.view()
            occupancy.flags.writeable = False  # a reward that writes there would change what robots know
            found.append(MapStack(team.members[rows] - members.start, occupancy, rows, team.beliefs.grid))
    return found


def in_world_frame(state: TeamState, part: slice) -> np.ndarray:
    """Return the velocities of some robots in the world frame, float64 (n, 2) [m/s]."""
    (vx, vy, _), heading = state.twist[part].T, state.pose[part, 2]
    c, s = np.cos(heading), np.sin(heading)
    return np.column_stack((c * vx - s * vy, s * vx + c * vy))


class KnownInSimulation(Knowledge):
    """What robots of a simulation know, with their maps and all of the team.

    Args:
        sim: the simulation, before its robots decide.
        group: the group; ``first``: the team index of its first robot.
        goals: places to which they are to drive, x, y [m], float64 (n, 2); None: they have none.
        messages: what they have received, see `Knowledge`.

    Attributes:
        sim: the simulation; what a function reads from it besides is the truth.
        members: the robots' indices in the team.
    """

    def __init__(
        self,
        sim: Simulation,
        group: Group,
        first: int,
        goals: np.ndarray | None = None,
        messages: Sequence[Sequence[np.ndarray]] | None = None,
    ):
        self.sim, self._group, self.messages = sim, group, messages
        self.goals = None if goals is None else constant(goals)
        self.name, self.names, self.robot, self.time_s = group.name, group.names, group.robot, sim.time
        self.members = range(first, first + len(group.start))
        self.own, self.is_lost = np.array(self.members), sim.localization.frames is not None
        self._part = slice(first, first + len(group.start))

    def later(self) -> Callable[[], "KnownInSimulation"]:
        """Return a function that returns what they know then; it keeps no simulation alive, as caches may keep it."""
        sim, rest = weakref.ref(self.sim), (self._group, self.members.start, self.goals)

        def known() -> KnownInSimulation:
            here = sim()
            assert here is not None
            return KnownInSimulation(here, *rest)

        return known

    @cached_property
    def pose(self) -> np.ndarray:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Where the robots believe to be, float64 (n, 3)."""
        return constant(self.sim.localization.pose[self._part])

    @cached_property
    def team(self) -> np.ndarray:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Where all robots of the team believe to be, float64 (m, 3)."""
        return constant(self.sim.localization.pose)

    @cached_property
    def velocity(self) -> np.ndarray:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Velocities in the world frame, float64 (n, 2)."""
        return constant(in_world_frame(self.sim.state, self._part))

    @cached_property
    def places(self) -> np.ndarray | None:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Places to visit, float64 (1, m, 3); None: there are none."""
        return None if self.sim.tracker.places is None else constant(self.sim.tracker.places[None])

    @property
    def workspace(self) -> np.ndarray:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Corners of the world [m], float64 (k, 2)."""
        return self.sim.world_state.world.workspace_m

    @property
    def beliefs(self) -> list[Any]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The robots' maps, of those that keep one."""
        known = self.sim.localization.belief_of
        return [known[i] for i in self.members if i in known]

    @property
    def maps(self) -> list[MapStack]:
        """The robots' maps of walls."""
        return maps_of(self.sim.localization, self.members)

    def readings(self, name: str) -> Any:
        """Return the newest readings of a sensor."""
        for bank in self.sim.sensing.banks:
            if bank.record.name == name and self.members[0] in bank.row_of:
                return None if bank.readings is None else bank.readings.of(rows_of(bank, self.members))
        raise InvalidValueError(f"robots of {self.name!r} have no sensor {name!r}; they have {self.sensors}")
