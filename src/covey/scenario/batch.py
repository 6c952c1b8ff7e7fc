"""`Batch`: many runs of a scenario at once, in one process, with all robots in the same arrays."""

import math
import os
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, Literal, cast

import numpy as np

from covey.clock import Clock
from covey.errors import InvalidValueError, UnknownNameError
from covey.geometry.grid import Grid
from covey.mapping.records import Mapping
from covey.memory import check_room
from covey.missions import MissionContext, Tracker
from covey.onboard.group import Group
from covey.physics.planar.physics import PlanarPhysics
from covey.robots.team import TeamModel, TeamState
from covey.runtime.memory import EVIDENCE, EXPLORED_CELL, STAMP, STATE
from covey.runtime.pacing import rare_collections
from covey.runtime.phases.computing import Computing
from covey.runtime.phases.deciding_in_worlds import DecidingInWorlds
from covey.runtime.phases.exploring_in_worlds import ExploringInWorlds
from covey.runtime.phases.group_fields import rows_of
from covey.runtime.phases.localization_and_mapping import LocalizationAndMapping
from covey.runtime.phases.scoring import count_contacts
from covey.runtime.phases.sensing import Sensing
from covey.runtime.stopwatch import Stopwatch
from covey.scenario.build import SeededStarts, set_up
from covey.scenario.load import load_scenario
from covey.scenario.records import Scenario
from covey.scenario.refusals import is_still, refused, sensors_of
from covey.sensors.sensor import Readings
from covey.world.state import WorldState

Status = Literal["reached", "timeout", "exhausted"]
MOST_WORLDS, MOST_ROBOTS = 1_000_000, 10_000_000
_ROBOT = 900.0
"""Of a robot, without its trace and its rays [bytes]."""


class Batch:
    """B runs of a scenario, in B copies of its world, that make each step together.

    World k has the robots, noise and controllers of the run with seed ``seed + k``: its poses and readings are those of
    ``scenario.build()`` with that seed, byte for byte. Each phase of a step is one call for all worlds: sensors,
    motion, and controllers of groups with ``many_worlds``, see `covey.controller`; others are called for each world.
    Nothing is recorded, and mapped only with ``maps``; of missions, navigation and dispersion are scored. Robots of
    different worlds neither see nor touch each other. Those of a world whose run is over stand still.

    A batch takes controllers of groups, planar physics, true poses, and lidars, proximity rings, neighbours, odometry
    and inertial sensors. It refuses events, faults, other missions, radio, and worlds that each seed generates anew.

    Args:
        scenario: a scenario, a file, or a name of the library.
        worlds: B, the number of worlds.
        seed: of world 0, and the others count up from it; or a seed for each world; None: that of the scenario.
        maps: whether robots keep the maps that their ``mapping`` makes, see `occupancy`, and what they have explored is
            measured, see `explored_share`, so that ``stop.explored`` counts.

    Attributes:
        worlds: B.
        tracker: what scores the mission, a `covey.missions.protocol.TrackerInWorlds`; None: nothing does.
        names: names of the n robots of a world.
        seeds: of the worlds.
        over: worlds whose run has ended, bool (B,); see `status`.
        reached: those of them whose controllers were done, bool (B,).

    Raises:
        ScenarioError: the scenario has problems.
        InvalidValueError: an argument is wrong, or the scenario has what a batch cannot take.
        ControllerError: by `step`: a controller raised an error, or returned no commands.

    Examples:
        >>> import covey
        >>> @covey.controller(scope="group", sees=("pose",), many_worlds=True)
        ... def home(team):
        ...     return 0.3, 2 * team.bearing_to((0, 0))
        >>> batch = covey.Batch(covey.load_scenario("hello", {"robots.robot.controller": home}), worlds=100)
        >>> batch.run(until_s=1)
        >>> batch.time, batch.pose.shape
        (1.0, (100, 1, 3))
    """

    def __init__(
        self,
        scenario: Scenario | str | os.PathLike[str],
        worlds: int | None = None,
        seed: int | Sequence[int] | None = None,
        maps: bool = False,
    ):
        if not isinstance(scenario, Scenario):
            scenario = load_scenario(scenario)
        self.seeds = _seeds(scenario.seed if seed is None else seed, worlds)
        self.worlds, self.maps = len(self.seeds), bool(maps)
        if why := refused(scenario, self.maps):
            raise InvalidValueError(why)
        scenario = scenario.model_copy(update={"seed": self.seeds[0]})
        count = self.worlds * sum(group.count for group in scenario.robots)
        if count > MOST_ROBOTS:
            raise InvalidValueError(f"worlds is {worlds}: {count} robots in all; a batch has at most {MOST_ROBOTS}")
        what = f"a batch of {self.worlds} worlds with {count} robots in all takes about"
        check_room(self.worlds * _bytes(scenario), what, "take fewer worlds, one batch after the other")
        ready = set_up(scenario)
        if ready.world.ground is not None:
            raise InvalidValueError("a batch has no ground, and this world has one; use a world with walls alone")
        if self.maps:
            check_room(self.worlds * _map_bytes(scenario, ready.world.grid), what, "take fewer worlds, or coarser maps")
        self._starts = SeededStarts(scenario, ready)
        poses = zip(*(self._starts.of(own) for own in self.seeds), strict=True)
        self.groups = [
            Group(
                group.name,
                group.robot,
                np.concatenate(start),
                None if is_still(group) else group.controller.program,
                group.localization,
                group.control_every,
                group.control_phase,
                worlds=self.worlds,
            )
            for group, start in zip(scenario.robots, poses, strict=True)
        ]
        self.names = [name for group in self.groups for name in group.names[: group.count]]
        self._step_together(scenario, WorldState(ready.world, ready.targets))

    def _step_together(self, scenario: Scenario, place: WorldState) -> None:
        """Make the arrays and the phases. The robots are flat: group by group, in each world by world."""
        execution, groups = scenario.execution, self.groups
        self.clock, self._stop = Clock(execution.substep_s, execution.step_s), scenario.stop
        ends = np.cumsum([0, *(len(group.start) for group in groups)])
        self.index = np.concatenate(
            [np.arange(first, end).reshape(self.worlds, -1) for first, end in pairwise(ends)],
            axis=1,
        )
        self.index.flags.writeable = False
        self.members = dict(zip([group.name for group in groups], map(range, ends[:-1], ends[1:]), strict=True))
        self.model = TeamModel.of([group.robot for group in groups for _ in group.start])
        self.state = state = TeamState.at(np.concatenate([group.start for group in groups]))
        state.world_id[self.index] = np.arange(self.worlds)[:, None]
        self.physics = PlanarPhysics(place, self.model, execution.substep_s, feels=False)
        sensors = [
            {"mapping": group.robot.mapping if self.maps else None, "sensors": sensors_of(group, self.maps)}
            for group in scenario.robots
        ]
        blank = [replace(g, robot=g.robot.model_copy(update=own)) for g, own in zip(groups, sensors, strict=True)]
        self.sensing = Sensing(place, blank, self.model, state, self.clock, self.seeds)
        grid = place.grid
        self.localization = LocalizationAndMapping(blank, state, self.sensing, self.clock, grid, grid, self.seeds[0])
        self.exploring, self._computing = None, Computing(blank, self.clock, execution)
        if self.maps:
            self.exploring = ExploringInWorlds(place, self.sensing, self.model, state, self.index)
            self.exploring.begin(range(self.worlds))
        self.deciding = DecidingInWorlds(groups, self.index, self.sensing, self.localization, self.seeds)
        self._commands = np.zeros((len(state.pose), 3))
        placed = np.stack((state.pose, state.altitude_roll_pitch))
        self._trace, self._felt = np.repeat(placed[None], self.clock.substeps_per_step, axis=0), np.empty((0, 3))
        self._besides = np.zeros(self.clock.substeps_per_step, np.uint8)
        self._with_robots, self._with_walls = np.zeros((2, len(state.pose)), np.int64)
        mission = scenario.mission
        self._begun_mission, self.tracker = mission.begin, None
        if mission.in_worlds is not None:
            self._place, kinds = place, [group.robot for group in groups for _ in range(group.count)]
            self._team = TeamModel.of(kinds)
            self.tracker = mission.in_worlds([self._tracker_of(world) for world in range(self.worlds)])
        robots = [group.robot for group in groups for _ in group.start]
        self._idle_w = np.array([robot.idle_power_w for robot in robots])
        self._drive_j_m = np.array([robot.drive_energy_j_m for robot in robots])
        (self._reached, self._exhausted), self._begun = (
            np.zeros((2, self.worlds), bool),
            np.zeros(self.worlds, np.int64),
        )
        self._over, self._looked, self._seen_out = np.zeros((3, self.worlds), bool)
        self._looking = [("sense", self._sense), ("localize", self.localization.localize)]
        self._acting = [("decide", self._decide), ("act", self._act), ("end", self._end)]
        if self.maps:
            self._looking.append(("map", self._map))
            self._acting.insert(2, ("explore", self._explore))
        if self.tracker is not None:
            self._acting.insert(-1, ("score", self._score))
        self._stopwatch = Stopwatch(name for name, _ in (*self._looking, *self._acting))

    # -- queries -------------------------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        return f"<Batch of {self.worlds} worlds with {len(self.names)} robots each, {self.time:.1f} s>"

    @property
    def time(self) -> float:
        """Simulated time [s]."""
        return self.clock.time_s

    @property
    def phase_s(self) -> dict[str, float]:
        """Wall time of each phase of the steps so far, and ``outside`` of them [s]."""
        return dict(self._stopwatch.seconds)

    @property
    def over(self) -> np.ndarray:
        """Whether the run of each world has ended, bool (B,), a copy."""
        return self._over.copy()

    @property
    def reached(self) -> np.ndarray:
        """Whether the run of each world has reached its goal, bool (B,), a copy."""
        return self._reached.copy()

    @property
    def done(self) -> bool:
        """Whether the runs of all worlds have ended."""
        return bool(self._over.all())

    @property
    def status(self) -> list[Status | None]:
        """How the run of each world has ended: see `Simulation.status`; None: not yet."""
        kinds: list[Status | None] = [None, "timeout", "exhausted", "reached"]
        return [kinds[k] for k in (self._over * (1 + self._exhausted + 2 * self._reached)).tolist()]

    @property
    def pose(self) -> np.ndarray:
        """True poses x, y [m], heading [rad] in the world frame, float64 (B, n, 3), a copy."""
        return self.state.pose[self.index]

    @property
    def twist(self) -> np.ndarray:
        """True velocities vx, vy [m/s], turn rates [rad/s] in the frames of the bodies, float64 (B, n, 3), a copy."""
        return self.state.twist[self.index]

    @property
    def commands(self) -> np.ndarray:
        """Commanded twists, as `twist`, float64 (B, n, 3), a copy."""
        return self._commands[self.index]

    @property
    def distance_m(self) -> np.ndarray:
        """Way that each robot has driven so far [m], float64 (B, n), a copy."""
        return self.state.distance_m[self.index]

    @property
    def energy_j(self) -> np.ndarray:
        """Energy that each robot has used so far [J], float64 (B, n)."""
        used = self._drive_j_m * self.state.distance_m + self._idle_w * self._lasted_s[self.state.world_id]
        return used[self.index]

    @property
    def collisions_robot(self) -> np.ndarray:
        """Number of contacts with other robots so far, int64 (B, n), a copy."""
        return self._with_robots[self.index]

    @property
    def collisions_wall(self) -> np.ndarray:
        """Number of contacts with walls so far, int64 (B, n), a copy."""
        return self._with_walls[self.index]

    @property
    def explored_share(self) -> np.ndarray:
        """Share of what can be explored that each robot has explored, float64 (B, n); with ``maps``.

        Raises:
            InvalidValueError: the batch has no maps.
        """
        return self._with_maps().cells.share_each[self.index]

    @property
    def explored_share_union(self) -> np.ndarray:
        """Share of what can be explored that the robots of each world have explored together, float64 (B,); see above.

        Raises:
            InvalidValueError: the batch has no maps.
        """
        return self._with_maps().cells.share_of_teams

    def occupancy(self, world: int, robot: int | str) -> Grid:
        """Return the map of a robot: a copy, with its place in the world; -1 unknown, 0 free, 100 occupied.

        Args:
            world: its world, from 0 to B - 1.
            robot: its name, or its index in `names`.

        Raises:
            InvalidValueError: the batch has no maps, or there is no such world.
            UnknownNameError: no such robot keeps a map.
        """
        self._with_maps()
        if isinstance(world, bool) or not isinstance(world, (int, np.integer)) or not 0 <= world < self.worlds:
            raise InvalidValueError(f"world is {world!r:.60}; give a whole number from 0 to {self.worlds - 1}")
        known = {self.names[k]: i for k, i in enumerate(self.index[world].tolist()) if i in self.localization.belief_of}
        is_index = isinstance(robot, (int, np.integer)) and not isinstance(robot, bool) and 0 <= robot < len(self.names)
        name = self.names[int(robot)] if is_index else str(robot)
        if name not in known:
            raise UnknownNameError("robot with a map", name, known)
        found = self.localization.belief_of[known[name]].grid
        return found.with_cells(found.cells.copy())

    def _with_maps(self) -> ExploringInWorlds:
        if self.exploring is None:
            raise InvalidValueError("this batch keeps no maps; make it with maps=True")
        return self.exploring

    def readings(self, sensor: str, group: str | None = None) -> Any:
        """Return the newest readings of a sensor: arrays (B, n, …) of the robots of a group; None before the first.

        There are readings of those sensors that the controller of the group reads.

        Args:
            sensor: its name.
            group: name of the group; None: the first one.

        Raises:
            UnknownNameError: there is no such group, or its robots have no such sensor.
        """
        group = group or self.groups[0].name
        if group not in self.members:
            raise UnknownNameError("group of robots", group, self.members)
        members = self.members[group]
        banks = {bank.record.name: bank for bank in self.sensing.banks if members[0] in bank.row_of}
        if sensor not in banks:
            raise UnknownNameError(f"sensor of {group}", sensor, banks)
        found = cast(Readings | None, banks[sensor].readings)
        return None if found is None else found.of(rows_of(banks[sensor], members)).by_world(self.worlds)

    # -- running -------------------------------------------------------------------------------------------------------

    def step(self) -> None:
        """Let all worlds make a control step.

        Raises:
            InvalidValueError: the runs of all worlds have ended.
            ControllerError: a controller raised an error, or returned no commands.
        """
        if self.done:
            raise InvalidValueError(f"all runs have ended at {self.time:g} s; look at batch.done before each step")
        self.sense()
        self._looked[:] = False
        self._stopwatch.time(self._acting, before="outside")

    def sense(self, at_the_end: bool = False) -> None:
        """Let the robots sense for the next step; `step` goes on with their decisions. A second call does nothing.

        Args:
            at_the_end: whether robots whose run has ended map once more with what they sense.
        """
        if not self._looked.all():
            self._resting = self._looked | (self._seen_out if at_the_end else self._over)
            self._stopwatch.time(self._looking, before="outside")
            self._looked[:] = True
            if at_the_end:
                self._seen_out = self._seen_out | self._over

    def _sense(self) -> None:
        self.sensing.sample(self.state, self._trace, self._felt)

    def _map(self) -> None:
        resting = self._resting
        self.localization.map(self._computing, resting[self.state.world_id] if resting.any() else None)

    def _explore(self) -> None:
        assert self.exploring is not None
        self.exploring.look(self.clock.step, self._over)

    def _decide(self) -> None:
        collided = ~np.isnan(self.state.contact_bearing) if len(self._felt) else None
        self.deciding.decide(self.clock.step, self.time, self._commands, collided, self._over)

    def _act(self) -> None:
        substeps, ended = self.clock.substeps_per_step, None
        if self._over.any():
            ended = np.flatnonzero(self._over[self.state.world_id])
            twist = self.state.twist[ended]
        wanted = self.sensing.wanted(self._besides)
        contacts = self.physics.step(self.state, self._commands, substeps, self._trace, wanted)
        self.clock.advance(substeps)
        if ended is not None:  # what they had when their runs ended
            self.state.twist[ended] = twist
            self._begun[self._over] += substeps
            self.sensing.wait(ended)
        self._felt = contacts.felt
        if contacts.kind.size:
            count_contacts(contacts, self._with_robots, self._with_walls)

    def _tracker_of(self, world: int) -> Tracker:
        """Return the tracker of the mission at the beginning of the run of a world."""
        start = TeamState.at(self.state.pose[self.index[world]])
        context = MissionContext(self._place, self._team, start, self.clock, names=self.names, seed=self.seeds[world])
        return self._begun_mission(context)

    def _score(self) -> None:
        """End the runs whose mission has reached its goal."""
        assert self.tracker is not None
        reached = self.tracker.measure(self.pose, ~self._over) & ~self._over
        if reached.any():
            self.end(reached)

    def _end(self) -> None:
        """End the runs that have reached their end; their robots stand still from now on."""
        late = (self._lasted_s >= self._stop.timeout_s - 1e-9) & ~self._over
        done = self.deciding.finished & ~self._over
        reached = done & (self._stop.done or self._stop.explored is None)
        if self._stop.explored is not None:
            reached |= (self._explored >= self._stop.explored) & ~self._over
        if late.any() or done.any() or reached.any():
            self.end(late & ~done & ~reached, "timeout")
            self.end(done & ~reached, "exhausted")
            self.end(reached)

    @property
    def _explored(self) -> np.ndarray:
        """The explored share of each world that counts for its end, float64 (B,)."""
        if self._stop.of == "union":
            return self.explored_share_union
        each = self.explored_share
        return each.max(axis=1) if self._stop.of == "any_robot" else each.min(axis=1)

    @property
    def _lasted_s(self) -> np.ndarray:
        """How long the run of each world has lasted so far [s], float64 (B,)."""
        return self.clock.seconds(self.clock.now - self._begun)

    def end(self, worlds: np.ndarray, status: Status = "reached") -> None:
        """End the runs of some worlds, bool (B,), with a status; their robots stand still from now on."""
        self._over = self._over | worlds
        self._reached[worlds], self._exhausted[worlds] = status == "reached", status == "exhausted"
        self.state.halted[self.index[worlds]] = True

    def begin_anew(self, worlds: np.ndarray, seeds: Sequence[int]) -> None:
        """Let new runs of some worlds begin at the present time; for environments, whose robots a policy commands.

        Args:
            worlds: which, bool (B,).
            seeds: of their new runs, in their order.

        Raises:
            InvalidValueError: a run cannot begin later than others, see `can_begin_anew`.
            PlacementError: robots do not fit.
        """
        if why := self.can_begin_anew:
            raise InvalidValueError(why)
        which, state = np.flatnonzero(worlds), self.state
        starts = [np.concatenate(self._starts.of(seed)) for seed in seeds]
        for world, seed, start in zip(which.tolist(), seeds, starts, strict=True):
            self.seeds[world] = seed
            state.pose[self.index[world]] = start
        robots = worlds[state.world_id]
        state.twist[robots] = state.drive[robots] = self._commands[robots] = 0.0
        state.distance_m[robots] = self._with_robots[robots] = self._with_walls[robots] = 0
        state.halted[robots], state.contact_bearing[robots] = False, np.nan
        self._over, self._looked, self._seen_out = (now & ~worlds for now in (self._over, self._looked, self._seen_out))
        self._reached[worlds], self._exhausted[worlds], self._begun[worlds] = False, False, self.clock.now
        self.physics.begin_anew(robots)
        self.sensing.begin_anew(robots, self.seeds)
        if self.tracker is not None:
            for world in which.tolist():
                self.tracker.begin(world, self._tracker_of(world))
        if self.exploring is not None:
            self.localization.begin_anew(robots)
            self.exploring.begin(which.tolist())

    @property
    def can_begin_anew(self) -> str:
        """Why the run of a world cannot begin later than others, see `begin_anew`; empty if it can."""
        for bank in self.sensing.banks:
            record = bank.record
            due = self.sensing.samples_of_a_step(bank)
            is_alone = due == 1 or not (self.maps and "scan" in record.feeds)
            if not record.begins_anew or record.latency_s or not due or not is_alone:
                return (
                    f"the run of a world cannot begin anew, as its sensor {record.name!r} has a memory, a latency, or "
                    "a rate that is no multiple of the control step's, or, with maps, another one"
                )
        return ""

    def run(self, until_s: float | None = None) -> None:
        """Step until the runs of all worlds have ended, or until a simulated time [s].

        Raises:
            InvalidValueError: ``until_s`` is no time.
        """
        is_number = isinstance(until_s, (int, float, np.number)) and not isinstance(until_s, bool)
        if until_s is not None and not (is_number and until_s >= 0):
            raise InvalidValueError(f"until_s is {until_s!r:.60}; give a simulated time of 0 or more [s], or None")
        with rare_collections():
            while not self.done and (until_s is None or self.time < until_s - 1e-9):
                self.step()


def _bytes(scenario: Scenario) -> float:
    """Return how much memory a world of a batch takes [bytes], by measurements: ``benchmarks/batch.py``."""
    substeps, total = round(scenario.execution.step_s / scenario.execution.substep_s), 0.0
    for group in scenario.robots:
        rays = sum(
            getattr(sensor, "rays", 0) + getattr(sensor, "sectors", 0) * getattr(sensor, "rays_per_sector", 0)
            for sensor in sensors_of(group)
        )
        total += group.count * (_ROBOT + 48.0 * substeps + 40.0 * rays)
    return total


def _map_bytes(scenario: Scenario, grid: Grid) -> float:
    """Return how much memory the maps of the robots of a world take at most, and what these have explored [bytes]."""
    area_m2, total = math.prod(grid.size_m), EXPLORED_CELL * grid.cells.size
    for group in scenario.robots:
        if isinstance(group.robot.mapping, Mapping):
            cells = area_m2 / group.robot.mapping.resolution_m**2
            total += group.count * (cells * (STATE + EVIDENCE + STAMP) + EXPLORED_CELL * grid.cells.size)
    return total


def several_seeds(seed: Any) -> list[Any] | None:
    """Return the members of a sequence of seeds, or None if `seed` is none."""
    if isinstance(seed, (str, bytes)) or not getattr(seed, "ndim", 1):
        return None
    return list(seed) if isinstance(seed, (Sequence, np.ndarray)) else None


def _seeds(seed: Any, worlds: Any) -> list[int]:
    """Return the seed of each world."""
    if worlds is not None and (
        isinstance(worlds, bool) or not isinstance(worlds, (int, np.integer)) or not 1 <= worlds <= MOST_WORLDS
    ):
        raise InvalidValueError(f"worlds is {worlds!r:.60}; give a whole number from 1 to {MOST_WORLDS}")
    if isinstance(seed, (int, np.integer)) and not isinstance(seed, bool):
        if worlds is None:
            raise InvalidValueError("worlds is missing; give the number of worlds, or a seed for each: seed=[1, 2, 3]")
        seeds = [int(seed) + k for k in range(int(worlds))]
    else:
        seeds = several_seeds(seed) or []
        if not seeds or not all(isinstance(s, (int, np.integer)) and not isinstance(s, bool) for s in seeds):
            raise InvalidValueError(f"seed is {seed!r:.60}; give a whole number, or one for each world")
        if worlds is not None and len(seeds) != worlds:
            raise InvalidValueError(f"there are {len(seeds)} seeds for {worlds} worlds; give one for each")
    if wrong := [s for s in seeds if not 0 <= s < 2**63]:
        raise InvalidValueError(f"seed is {wrong[0]}; give whole numbers from 0 to 2^63 - 1")
    return [int(s) for s in seeds]
