"""What events and faults may see and do of a simulation: nothing else of it is within their reach."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from covey.geometry.se2 import Pose
from covey.onboard.group import Group
from covey.physics.clock import Clock
from covey.planning.orders import Order
from covey.results.frame import Event
from covey.robots.team import TeamModel, TeamState
from covey.sensors.degradation import Degradation
from covey.world.ground import GroundEdit
from covey.world.state import WorldState

Point = tuple[float, float]
Dig = tuple[int, Point, Point, float]
"""A robot, from where and to where it moves ground, x, y [m] in the world frame, and how much [m3]."""


@dataclass(frozen=True, eq=False)
class Impairment:
    """What faults keep robots from, from now on.

    Attributes:
        down: robots that do not act, and ``lost`` those of them that never will again.
        jumps: motions of the world frame that their pose estimates are off by.
        degraded: what makes readings worse, by the record of the sensor.
    """

    down: frozenset[int] = frozenset()
    lost: frozenset[int] = frozenset()
    jumps: Mapping[int, Pose] = field(default_factory=dict)
    degraded: Mapping[Any, Sequence[Degradation]] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Port:
    """What a simulation opens to events and faults.

    Attributes:
        seed, clock, groups, model: these never change, but for the time.
        world: its cells, doors and ground may be edited.
        state: the bodies; who has vanished, and whose radio is dead.
        estimate: float64 (n, 3), where the robots think they are.
        explored: returns the share that the team has explored.
        digs: returns what robots have asked to dig since it was last called.
        record: takes what happened.
        impair: takes what faults do now to robots.
        order: takes an order and its number.
        ground_edited: takes the step and the edit.
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
    record: Callable[[Event], None]
    impair: Callable[[Impairment], None]
    order: Callable[[Order, int], None]
    ground_edited: Callable[[int, GroundEdit], None]
    grounds: Callable[[], Path]
