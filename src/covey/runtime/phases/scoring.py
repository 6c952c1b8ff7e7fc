"""Scoring: what of the truth has been explored and covered, and which contacts there were."""

import math

import numpy as np

from covey.geometry.grid import Grid
from covey.mapping.alignment.unknown_starts import union_apart
from covey.mapping.occupancy.belief import Beliefs
from covey.mapping.occupancy.compare import KnownShare, KnownShareApart, ground_truth
from covey.mapping.records import ElevationMapping
from covey.onboard.group import Group
from covey.physics.clock import Clock
from covey.physics.motion import ARM, MAX_SPEED, MAX_TURN
from covey.physics.protocol import ROBOT_CONTACT, Contacts
from covey.results.maps import Maps
from covey.robots.chassis import FlyingChassis
from covey.robots.team import TeamModel, TeamState
from covey.runtime.phases.localization_and_mapping import Estimating, MappedTeam
from covey.runtime.phases.sensing import BankSample, Sensing, SensorBank
from covey.world.editing.changing import with_doors_open
from covey.world.state import WorldState
from covey.world.visibility.coverable import coverable
from covey.world.visibility.explorable import explorable
from covey.world.visibility.explorable_ground import GroundCells, explorable_ground
from covey.world.visibility.explored import Coverage, ExploredTruth
from covey.world.world import OPEN, WALL, World

SAGITTA = 0.02
"""How far a way that is taken for straight may bend [cells]."""
KNOWN_EVERY_S = 1.0
"""How often the share that the maps hold as known is brought up to date [s]; between, the last value stands."""


class Scoring:
    """The truth about what a team has achieved.

    Attributes:
        mask: G, what can be explored at the start with all doors open, bool of the world's shape.
        explored: which cells of G have been seen, by whom, and when; None when no robot can see.
        covered: which cells bodies have been over.
        known_share: share of G that each robot's map holds as known, shape (n,); NaN without a map.
        known_share_union: the same of the robots that map together; NaN without maps.
        collisions_robot, collisions_wall: contacts that began, int64 (n,); between robots they count for both.
    """

    def __init__(
        self,
        place: WorldState,
        groups: list[Group],
        model: TeamModel,
        state: TeamState,
        sensing: Sensing,
        estimating: Estimating,
        clock: Clock,
    ):
        n = len(state.pose)
        self.world, self.model, self.state, self.estimating, self.clock = place, model, state, estimating, clock
        self.collisions_robot, self.collisions_wall = np.zeros(n, np.int64), np.zeros(n, np.int64)
        self.known_share, self.known_share_union = np.full(n, np.nan), np.nan
        robots = [model.models[k] for k in model.model_id]
        self._idle_power_w = np.array([r.idle_power_w for r in robots])
        self._drive_energy_j_m = np.array([r.drive_energy_j_m for r in robots])
        self._nothing = np.full(n, np.nan)
        self._inside = np.ones(n, bool)
        self._known_every = max(1, round(KNOWN_EVERY_S / clock.step_s))
        self._banks = sensing.of_kind("lidar")
        ground_kinds = ElevationMapping.uses if place.ground is not None else ()
        self._ground_banks = [bank for bank in sensing.banks if bank.record.kind in ground_kinds]
        seeing = np.zeros(n)
        for bank in self._banks:
            seeing[bank.members] = np.maximum(seeing[bank.members], bank.record.range_m)
        can = seeing > 0
        world = with_doors_open(place.world)
        mask = np.zeros(world.grid.shape, bool)
        if can.any():
            mask = explorable(world, state.pose[can], model.radius[can], seeing[can])
        if self._ground_banks:
            self._cells = GroundCells(world)
            mask |= self._explorable_ground(world)
        self.mask = mask
        self.explored = ExploredTruth(world.grid.with_cells(mask), n, solid=self.world.solid) if mask.any() else None
        self._version = self.world.version
        to_cover = coverable(world, state.pose, model.radius)
        self.covered = Coverage(world.grid.with_cells(to_cover if to_cover.any() else world.free), n)
        self._stride = sweep_stride(model.limits, world.grid.resolution, clock)
        wall, goal = world.grid.with_cells(world.grid.cells == WALL), world.grid.with_cells(mask)
        teams = estimating.teams if mask.any() else []
        self._known = [(team.members, self._measure(team, wall, goal)) for team in teams]

    def _explorable_ground(self, world: World) -> np.ndarray:
        """Return the cells that robots which look at the ground can see, bool (rows, columns)."""
        assert world.ground is not None
        starts, radii, views, spacing = [], [], [], world.ground.spacing_m
        for bank in self._ground_banks:
            for i in bank.members.tolist():
                robot = self.model.models[self.model.model_id[i]]
                record = robot.mapping if isinstance(robot.mapping, ElevationMapping) else ElevationMapping()
                reach, height, *directions = bank.record.view
                step = record.max_step_m * spacing
                if isinstance(robot.chassis, FlyingChassis):
                    height, step = height + robot.chassis.height_m, math.inf
                views.append((reach, height, *directions, step))
                starts.append(self.state.pose[i])
                radii.append(self.model.radius[i])
        return explorable_ground(world, self._cells, np.array(starts), np.array(radii), np.array(views))

    def _measure(self, team: MappedTeam, wall: Grid, goal: Grid) -> KnownShare | KnownShareApart:
        if self.estimating.frames is None:
            return KnownShare(team.beliefs, ground_truth(wall, goal, team.beliefs.grid))
        return KnownShareApart(team.beliefs, [self.estimating.place(i) for i in team.members.tolist()], goal)

    def wanted(self, substeps: int) -> np.ndarray:
        """Return after which substeps of a step it wants the poses, uint8 (substeps,)."""
        wanted = np.zeros(substeps, np.uint8)
        wanted[self._stride - 1 : -1 : self._stride] = 1
        return wanted

    def _sweep(self, pose_before: np.ndarray, trace: np.ndarray, step: int) -> None:
        """Cover what bodies have passed over in this step, straight from one pose that was wanted to the next."""
        for k in np.flatnonzero(self.wanted(len(trace))):
            self.covered.mark(trace[k, 0], self.model.discs, step, pose_before)
            pose_before = trace[k, 0]
        self.covered.mark(self.state.pose, self.model.discs, step, pose_before)

    def score(self, pose_before: np.ndarray, trace: np.ndarray) -> None:
        """Take in the beams and bodies of this step.

        Args:
            pose_before: true poses at its begin, shape (n, 3).
            trace: see `covey.physics.protocol.Physics.step`, filled where it is `wanted`.
        """
        step = self.clock.step
        if self.explored is not None:
            self._look(self.explored, step)
        self._sweep(pose_before, trace, step)
        if step % self._known_every == 0:
            for members, known in self._known:
                self.known_share[members], self.known_share_union = known.update()

    def _look(self, explored: ExploredTruth, step: int) -> None:
        """Take in all that has come from the sensors."""
        for bank in self._banks:
            for sample in bank.samples:
                self._explore(explored, bank, sample, step)
        for bank in self._ground_banks:
            for sample in bank.samples:
                row, points = sample.readings.seen(sample.pose[bank.members])
                which, cells = self._cells.at(points)
                explored.mark_cells(bank.members[row[which]], cells, step)

    def _explore(self, explored: ExploredTruth, bank: SensorBank, sample: BankSample, step: int) -> None:
        """Take in one scan of each robot of a bank; what nobody has read is cast only where it may find something."""
        members, poses, fan, world = bank.members, sample.pose[bank.members], bank.record, self.world
        if world.version != self._version:
            self._version = world.version
            explored.close(world.solid)
        if sample.readings is not None:
            explored.mark(members, poses, sample.readings.truth, fan.angles, fan.mount, step)
        else:
            explored.look(members, poses, world.skip, fan.range_m, fan.angles, fan.mount, step)

    @property
    def energy_j(self) -> np.ndarray:
        """Energy used since the start [J], shape (n,): idle power x time + energy per metre x distance.

        References:
            The linear form of Y. Mei, Y.-H. Lu, Y. C. Hu, C. S. G. Lee: A case study of mobile robot's energy
            consumption and conservation techniques. ICAR 2005.
        """
        return self._idle_power_w * self.clock.time_s + self._drive_energy_j_m * self.state.distance_m

    @property
    def explored_share(self) -> np.ndarray:
        """Share of G that each robot has explored itself, shape (n,); NaN when no robot can see."""
        return self._nothing if self.explored is None else self.explored.share_each

    @property
    def explored_share_union(self) -> float:
        """Share of G that the robots have explored together."""
        return float("nan") if self.explored is None else self.explored.share_union

    def count(self, contacts: Contacts) -> None:
        """Count the contacts that began."""
        if not len(contacts):
            return
        between = contacts.kind == ROBOT_CONTACT
        np.add.at(self.collisions_robot, contacts.robot[between], 1)
        np.add.at(self.collisions_robot, contacts.other[between], 1)
        np.add.at(self.collisions_wall, contacts.robot[~between], 1)

    def leaving(self, pose: np.ndarray) -> np.ndarray:
        """Return the robots whose centre has left an open world since the last step."""
        if self.world.border != "open":
            return np.empty(0, np.int64)
        cells = self.world.grid.to_cells(pose[:, :2])
        inside = self.world.grid.inside(cells)
        rows, columns = np.where(inside[:, None], cells, 0).T
        inside &= self.world.grid.cells[rows, columns] != OPEN
        left, self._inside = np.flatnonzero(self._inside & ~inside), inside
        return left

    def maps(self, changed: np.ndarray) -> Maps:
        """Return what was explored and believed, for the run folder; ``changed`` as in `Maps`."""
        places = [
            self.estimating.place(i) if i in self.estimating.belief_of else None for i in range(len(self.state.pose))
        ]
        robots = [None if place is None else place.with_cells(place.cells.copy()) for place in places]
        never = np.full(self.mask.shape, -1, np.int32)
        return Maps(
            truth=self.world.grid,
            explorable=self.mask,
            first_explored=never if self.explored is None else self.explored.first_step,
            last_explored=never if self.explored is None else self.explored.last_step,
            last_covered=self.covered.last_step,
            coverable=self.covered.goal,
            explored_by=np.zeros(self.mask.shape, np.int32) if self.explored is None else self.explored.seen_by,
            covered_by=self.covered.passed_by,
            union=self._union(),
            robots=robots,
            changed=changed,
        )

    def _union(self) -> Grid | None:
        if not self.estimating.teams:
            return None
        team = self.estimating.teams[0]
        if self.estimating.frames is None:
            return team.beliefs.grid.with_cells(team.beliefs.union())
        places = [self.estimating.place(i) for i in team.members.tolist()]
        assert isinstance(team.beliefs, Beliefs)
        return union_apart([p.with_cells(team.beliefs[k].own) for k, p in enumerate(places)], self.world.grid)


def sweep_stride(limits: np.ndarray, resolution_m: float, clock: Clock) -> int:
    """Return after how many substeps ways of bodies may be taken for straight.

    A body then goes no farther than one cell, and strays from the straight line by 1/50 of a cell at most.

    Args:
        limits: see `covey.robots.team.TeamModel`.
        resolution_m: side of a cell [m].
        clock: of the simulation.
    """
    arm, turn = limits[:, ARM], limits[:, MAX_TURN]
    speed = limits[:, MAX_SPEED] + np.where(arm > 0.0, turn * arm, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        span_s = np.minimum(resolution_m / speed, np.sqrt(8.0 * SAGITTA * resolution_m / (speed * turn)))
    shortest_s = float(np.nanmin(span_s, initial=math.inf))
    return int(min(max(shortest_s // clock.substep_s, 1), clock.substeps_per_step))
