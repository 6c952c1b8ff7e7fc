"""The part of a simulation that events and faults can access."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from covey.clock import Clock
from covey.geometry.se2 import Pose
from covey.onboard.group import Group
from covey.planning.orders import Order
from covey.results.snapshot import RunEvent
from covey.robots.team import TeamModel, TeamState
from covey.sensors.degradation import Degradation
from covey.world.ground import GroundEdit
from covey.world.state import WorldState

Point = tuple[float, float]
Dig = tuple[int, Point, Point, float]
"""A robot, the places from and to which it moves ground, x, y [m] in the world frame, and the volume [m3]."""


@dataclass(frozen=True, eq=False)
class Impairment:
    """The effects of faults on robots.

    Attributes:
        down: robots that do not act; ``lost``: those of them that never will again.
        jumps: motions of the world frame by which their pose estimates are off.
        degraded: degradation of the readings, by the record of the sensor.
    """

    down: frozenset[int] = frozenset()
    lost: frozenset[int] = frozenset()
    jumps: Mapping[int, Pose] = field(default_factory=dict)
    degraded: Mapping[Any, Sequence[Degradation]] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Happening:
    """What an event may touch while it happens, see `covey.events.records.Event.apply`.

    Attributes:
        port: the simulation.
        say: records an event: its kind, ``robot`` and ``other``, its ``place`` x, y [m], and what it ``says``.
        random: its random numbers, the same in every run with this seed.
    """

    port: "Port"
    say: Callable[..., None]
    random: np.random.Generator


@dataclass(frozen=True, eq=False)
class Port:
    """Access to a simulation for events and faults.

    Attributes:
        seed, clock, groups, model: constant, except for the time.
        world: its cells, doors and ground may be edited.
        state: the bodies, the robots that have vanished, and those whose radio is dead.
        estimate: float64 (n, 3), the robots' estimates of their poses.
        explored: returns the share that the team has explored.
        digs: returns the digging that robots have asked for since its last call.
        record: called with each event.
        carry: called with a robot and the pose to which it is carried.
        impair: called with the present effects of faults on robots.
        order: called with an order and its number.
        ground_edited: called with the step and the edit.
        grounds: returns the folder for saved grounds.
    """

    seed: int
    clock: Clock
    groups: Sequence[Group]
    model: TeamModel
    world: WorldState
    state: TeamState
    estimate: np.ndarray
    explored: Callable[[], float]
    digs: Callable[[], Iterable[Dig]]
    record: Callable[[RunEvent], None]
    carry: Callable[[int, Pose], None]
    impair: Callable[[Impairment], None]
    order: Callable[[Order, int], None]
    ground_edited: Callable[[int, GroundEdit], None]
    grounds: Callable[[], Path]

    @cached_property
    def names(self) -> list[str]:
        """The names of the robots, in order."""
        return [name for group in self.groups for name in group.names]

    def bodies(self, pose: np.ndarray) -> np.ndarray:
        """Return the discs (n, k, 3) of the bodies at poses (n, 3): x, y, radius [m]; 0: no disc, or vanished."""
        discs = self.model.discs.copy()
        c, s = np.cos(pose[:, 2, None]), np.sin(pose[:, 2, None])
        discs[..., 0] = pose[:, 0, None] + c * self.model.discs[..., 0] - s * self.model.discs[..., 1]
        discs[..., 1] = pose[:, 1, None] + s * self.model.discs[..., 0] + c * self.model.discs[..., 1]
        discs[self.state.vanished, :, 2] = 0.0
        return discs
