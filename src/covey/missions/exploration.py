"""Exploration: see everything that can be seen."""

import math
from typing import Any

import numpy as np

from covey.geometry.grid import Grid
from covey.mapping.occupancy.compare import KnownShare, KnownShareApart, ground_truth
from covey.mapping.records import ElevationMapping
from covey.missions.protocol import Mission, MissionContext, Tracker, missions
from covey.robots.chassis import FlyingChassis
from covey.world.editing.changing import with_doors_open
from covey.world.visibility.explorable import explorable
from covey.world.visibility.explorable_ground import GroundCells, explorable_ground
from covey.world.visibility.explored import ExploredTruth
from covey.world.world import WALL, World

KNOWN_EVERY_S = 1.0
"""Period at which the known share of the maps is updated [s]; in between, the last value holds."""


@missions.register("exploration")
class Exploration(Mission):
    """See everything that can be seen; the explored share is the score."""

    def begin(self, context: MissionContext) -> "ExplorationTracker":
        """Return the tracker of the explored cells."""
        return ExplorationTracker(context)


class ExplorationTracker(Tracker):
    """Tracks the seen part of G, the cells that can be explored at the start with all doors open.

    Attributes:
        mask: G, bool of the world's shape.
        cells: the seen cells of G, by which robots, and when; None if no robot can see.
        known_share: share of G that is known in each robot's map, shape (n,); NaN without a map.
        known_share_union: the same for the union of the maps; NaN without maps.
    """

    columns = ("explored_share_union", "known_share_union")
    robot_columns = ("explored_share", "known_share")

    def __init__(self, context: MissionContext):
        n = len(context.state.pose)
        self._context, self.world, self.clock = context, context.place, context.clock
        self.known_share, self.known_share_union = np.full(n, np.nan), np.nan
        self._nothing = np.full(n, np.nan)
        self._known_every = max(1, round(KNOWN_EVERY_S / context.clock.step_s))
        self._banks = context.feeding("scan")
        self._fans = [(bank, bank.record.angles, bank.record.mount) for bank in self._banks]
        self._ground_banks = context.feeding("ground") if context.place.ground is not None else []
        seeing = np.zeros(n)
        for bank in self._banks:
            seeing[bank.members] = np.maximum(seeing[bank.members], bank.record.range_m)
        can = seeing > 0
        world = with_doors_open(context.world)
        mask = np.zeros(world.grid.shape, bool)
        if can.any():
            mask = explorable(world, context.state.pose[can], context.model.radius[can], seeing[can])
        if self._ground_banks:
            self._cells = GroundCells(world)
            mask |= self._explorable_ground(world)
        self.mask = mask
        self.cells = ExploredTruth(world.grid.with_cells(mask), n, solid=self.world.solid) if mask.any() else None
        self._version = self.world.version
        wall, goal = world.grid.with_cells(world.grid.cells == WALL), world.grid.with_cells(mask)
        teams = context.maps.teams if context.maps is not None and mask.any() else []
        self._known = [(team.members, self._compare(team, wall, goal)) for team in teams]
        self.measures = self.cells is not None or bool(self._known)

    def _explorable_ground(self, world: World) -> np.ndarray:
        """Return the cells that robots with a ground sensor can see, bool (rows, columns)."""
        assert world.ground is not None
        model, state = self._context.model, self._context.state
        starts, radii, views, spacing = [], [], [], world.ground.spacing_m
        for bank in self._ground_banks:
            for i in bank.members.tolist():
                robot = model.models[model.model_id[i]]
                record = robot.mapping if isinstance(robot.mapping, ElevationMapping) else ElevationMapping()
                reach, height, *directions = bank.record.view
                step = record.max_step_m * spacing
                if isinstance(robot.chassis, FlyingChassis):
                    height, step = height + robot.chassis.height_m, math.inf
                views.append((reach, height, *directions, step))
                starts.append(state.pose[i])
                radii.append(model.radius[i])
        return explorable_ground(world, self._cells, np.array(starts), np.array(radii), np.array(views))

    def _compare(self, team: Any, wall: Grid, goal: Grid) -> KnownShare | KnownShareApart:
        maps = self._context.maps
        if maps.frames is None:
            return KnownShare(team.beliefs, ground_truth(wall, goal, team.beliefs.grid))
        return KnownShareApart(team.beliefs, [maps.map_in_world(i) for i in team.members.tolist()], goal)

    def measure(self, time_s: float, pose: np.ndarray, able: np.ndarray) -> list[tuple[int, str]]:
        """Process the beams of this step, and periodically the maps."""
        step = self.clock.step
        if self.cells is not None:
            self._look(self.cells, step)
        if step % self._known_every == 0:
            for members, known in self._known:
                self.known_share[members], self.known_share_union = known.update()
        return []

    def _look(self, explored: ExploredTruth, step: int) -> None:
        """Process all new samples of the sensors."""
        for bank, angles, mount in self._fans:
            for sample in bank.samples:
                self._explore(explored, bank, sample, angles, mount, step)
        for bank in self._ground_banks:
            for sample in bank.samples:
                row, points = sample.readings.seen(sample.pose[bank.members])
                which, cells = self._cells.at(points)
                explored.mark_cells(bank.members[row[which]], cells, step)

    def _explore(
        self, explored: ExploredTruth, bank: Any, sample: Any, angles: np.ndarray, mount: np.ndarray, step: int
    ) -> None:
        """Process one scan of each robot of a bank; unread scans are cast only where they may find something new."""
        members, poses, world = bank.members, sample.pose[bank.members], self.world
        if world.version != self._version:
            windows, self._version = world.edited_since(self._version), world.version
            explored.close(world.solid, windows)
        if sample.readings is not None:
            explored.mark(members, poses, sample.readings.truth, angles, mount, step)
        else:
            explored.cast_and_mark(members, poses, world.skip, bank.record.range_m, angles, mount, step)

    @property
    def unexplored(self) -> np.ndarray:
        """The cells of G that no robot has seen, bool (rows, columns)."""
        return self.mask if self.cells is None else self.mask & (self.cells.first_step < 0)

    @property
    def share(self) -> np.ndarray:
        """Share of G that each robot has explored itself, shape (n,); NaN if no robot can see."""
        return self._nothing if self.cells is None else self.cells.share_each

    @property
    def share_union(self) -> float:
        """Share of G that the robots have explored together."""
        return float("nan") if self.cells is None else self.cells.share_union

    @property
    def values(self) -> dict[str, Any]:
        """Explored and known shares, of each robot and of the team."""
        each, union = (self._nothing, math.nan) if self.cells is None else self.cells.shares
        return {
            "explored_share": each,
            "known_share": self.known_share,
            "explored_share_union": union,
            "known_share_union": self.known_share_union,
        }
