"""Missions: a record that a scenario names, and a tracker that scores the run from the truth."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np

from covey.clock import Clock
from covey.missions.referee import Judgement
from covey.named import Named
from covey.planning.orders import Order
from covey.planning.waypoints import Waypoints
from covey.registry import Registry
from covey.results.event_data import Data
from covey.robots.team import TeamModel, TeamState
from covey.world.state import WorldState
from covey.world.targets import Targets
from covey.world.world import World

missions: Registry[type["Mission"]] = Registry("mission", shelf="covey.missions")
"""Missions by name; packages add theirs under the entry-point group ``covey.mission``."""


@dataclass(frozen=True, eq=False)
class MissionContext:
    """The truth that a mission may measure. It belongs to the simulation and changes with it: do not write to it.

    Attributes:
        place: the present world.
        model: bodies of the n robots: ``model.radius`` (n,) [m], ``model.flies`` and so on.
        state: their true state: ``state.pose`` (n, 3) and so on; at the beginning, the start poses.
        clock: the clock of the simulation.
        pose_before: true poses at the beginning of the step, (n, 3).
        trace: poses and attitudes after each substep of the step, (substeps, 2, n, 3), where a tracker `wanted` them.
        banks: the sensors of the team, see `covey.runtime.phases.sensing.SensorBank`.
        maps: the robots' beliefs, a `LocalizationAndMapping` of `covey.runtime.phases`; None if there are none.
        names: names of the robots.
        seed: of the run.
    """

    place: WorldState
    model: TeamModel
    state: TeamState
    clock: Clock
    pose_before: np.ndarray = field(default_factory=lambda: np.empty((0, 3)))
    trace: np.ndarray = field(default_factory=lambda: np.empty((0, 2, 0, 3)))
    banks: Sequence[Any] = ()
    maps: Any = None
    names: Sequence[str] = ()
    seed: int = 0

    @property
    def world(self) -> World:
        """The present world."""
        return self.place.world

    def feeding(self, fed: str) -> list[Any]:
        """Return the sensors that feed something, see `covey.sensors.sensor.SensorRecord.feeds`."""
        return [bank for bank in self.banks if fed in bank.record.feeds]


class Tracker(ABC):
    """Scores one run of a mission, step by step. A subclass overrides `measure`, `values`, and other methods it needs.

    Attributes:
        columns: names of its measurements of the team, columns of ``team.parquet``.
        robot_columns: names of its measurements of each robot, columns of ``measurements.parquet``.
        facts: constant plain data for the manifest. The entry ``order`` is put on the blackboard.
        waypoints: the graph given to every robot; None for none.
        goals: where each robot is to drive, x, y [m], float64 (n, 2), which controllers of groups see; None: nowhere.
        places: places to visit, x, y [m], and 1 or 0 for whether that is still to be done, float64 (m, 3); None: none.
        base: index of the robot that takes the others' reports by radio; None: they need no radio.
        reached: True ends the run with the status ``reached``.
        closed: True ends the run with the status ``timeout``.
        measures: False if it measures nothing in this run: `measure` is not called, and `values` stay the same.
        accomplished: whether the goal is reached when all controllers are done; else the run is ``exhausted``.
    """

    columns: tuple[str, ...] = ()
    robot_columns: tuple[str, ...] = ()
    facts: Mapping[str, Any] = MappingProxyType({})
    waypoints: Waypoints | None = None
    goals: np.ndarray | None = None
    places: np.ndarray | None = None
    base: int | None = None
    reached: bool = False
    closed: bool = False
    accomplished: bool = True
    measures: bool = True

    @abstractmethod
    def measure(self, time_s: float, pose: np.ndarray, able: np.ndarray) -> Sequence[tuple[int, str | Data]]:
        """Process the true poses (n, 3) of one step and the robots that are able to act, bool (n,).

        Returns:
            The events of the step, as pairs of a robot and what it has done, in words or as a record of
            `covey.results.event_data`; each becomes an event of the kind ``mission``.
        """

    @property
    def values(self) -> dict[str, Any]:
        """The measurements of this step by column: a number of the team, an array (n,) of its robots."""
        return {}

    def give(self, order: Order) -> None:
        """Accept an order given during the mission, by an event ``order`` or by `Simulation.order`."""

    def report(self, time_s: float, robot: int, identity: int, place: tuple[float, float, float]) -> Judgement:
        """Judge the report of a robot, `Robot.report`, that a target is at a place x, y, height [m] (NaN: none)."""
        return Judgement("no referee")

    def wanted(self, substeps: int) -> np.ndarray:
        """Return the substeps of a step after which it needs the poses in the trace, uint8 (substeps,)."""
        return np.zeros(substeps, np.uint8)


class TrackerInWorlds(ABC):
    """Scores the runs of the B worlds of a batch, each as its own `Tracker` would; made of these at their beginning.

    Attributes:
        goals, places: those of the trackers, with an axis for the world before the others.
    """

    goals: Any = None
    places: Any = None

    @abstractmethod
    def __init__(self, trackers: Sequence[Any]): ...

    @abstractmethod
    def begin(self, world: int, tracker: Any) -> None:
        """Begin anew in a world, as the tracker does, which is at its beginning."""

    @abstractmethod
    def measure(self, pose: np.ndarray, running: np.ndarray) -> np.ndarray:
        """Process the true poses (B, n, 3) of the worlds that run, bool (B,); return which have reached their goal."""

    @abstractmethod
    def values(self, pose: np.ndarray) -> dict[str, np.ndarray]:
        """Return the measurements at these true poses, by column: float64 (B, n)."""


class Mission(Named, ABC):
    """The task of a team: a record of its parameters; `begin` returns a tracker.

    In a file it is ``name`` or ``{name: {parameter: ...}}``, where the name is that of `missions`, or
    ``./mine.py:Name``.

    Attributes:
        gives_waypoints: whether its tracker has `waypoints`, which patrol controllers need.
        seeks: whether robots are to see targets.
        in_world: what of it lies in the world frame, with a verb, which robots with unknown starts do not know.
        in_worlds: what scores it in a batch; None: nothing does.
        rewards: weights of measurements, by column: the sum of weight times increase is its progress, for learning.
    """

    registry = missions
    gives_waypoints: ClassVar[bool] = False
    seeks: ClassVar[bool] = False
    in_world: ClassVar[str] = ""
    in_worlds: ClassVar[type[TrackerInWorlds] | None] = None
    rewards: ClassVar[Mapping[str, float]] = MappingProxyType({"explored_share_union": 1.0})

    @property
    def kind(self) -> str:
        """Its registered name, or the name of its class."""
        return missions.name_of(type(self)) or type(self).__name__

    def in_file(self, parameters: dict[str, Any]) -> Any:
        """Return its form in a file: only its name if no parameter was given."""
        return super().in_file(parameters if self.model_fields_set else {})

    def summary(self, targets: Targets) -> str:
        """Return what there is to find, in one line: the number of targets of each kind."""
        return ", ".join(f"{number} {kind}" for kind, number in Counter(targets.kinds).items())

    def doubt(self, targets: Targets) -> str:
        """Return a warning about the targets of a world; empty if there is none."""
        return ""

    @abstractmethod
    def begin(self, context: MissionContext) -> Tracker:
        """Return the tracker for a run that is about to start.

        Raises:
            MissionError: the mission is impossible in this world or for this team.
        """
