"""`Game`: what is played, who wins; write your own in one file."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from covey.errors import InvalidValueError, PlacementError
from covey.lab.settings import SQUARE, Robots
from covey.onboard.controller import Program
from covey.onboard.group import Group
from covey.random import generator
from covey.results.recording import Recording
from covey.results.run import Run
from covey.robots.model import RobotModel
from covey.runtime.execution import Execution
from covey.runtime.simulation import Simulation
from covey.world.placement.placing import check_free, place
from covey.world.placement.start_search import Standing
from covey.world.records.starts import Apart, ApartStart
from covey.world.world import World

__all__ = ["Game", "GameError", "Played"]

_DRAWS = 100


class GameError(InvalidValueError):
    """The game itself is wrong, not a law: its file, the line, and what."""


@dataclass(frozen=True)
class Played:
    """A game that has been played.

    Attributes:
        run: its record.
        poses: true x, y [m], heading [rad] at the start and after each step, by side, float64 (t + 1, n, 3).
        ended: why it ended: what `Game.over` returned, or empty if the time was up.
        time_s: when it ended [s].
    """

    run: Run
    poses: Mapping[str, np.ndarray]
    ended: str
    time_s: float


class Game:
    """A game of laws that command teams in a workspace. Derive your own from it, and change what differs.

    With two sides each law of the first plays each law of the second. With one side each law plays alone, from the same
    starts as the others, and of two laws the one with the better score wins.

    Attributes:
        name: its name.
        sides: names of the sides, one or two.
        scope: ``group``: a law commands its team with arrays; ``robot``: a law runs in each robot.
        sees: what a law of a team may read; ``others`` are the robots of the other side.
        robots: number of robots of each side.
        workspace: vertices of the polygon [m].
        stop_s: time limit [s].
        sampling_s: control period [s].
        unit: unit of the score.
        smaller_wins: one side: whether the smaller score is the better one.
    """

    name = "game"
    sides: tuple[str, ...] = ("laws",)
    scope = "group"
    sees: tuple[str, ...] = ("pose", "velocity", "others", "collided")
    robots: int = 1
    workspace: Any = SQUARE
    stop_s: float = 60.0
    sampling_s: float = 0.1
    unit = ""
    smaller_wins = True

    def world(self) -> World:
        """Return the world."""
        return World.polygons(self.workspace)

    def model(self, side: str) -> RobotModel:
        """Return the robot of a side."""
        return Robots().model

    def starts(self, side: str, world: World, random: np.random.Generator) -> np.ndarray:
        """Return the start poses of a side, float64 (n, 3): random places apart from each other, for all laws."""
        return place(ApartStart(apart=Apart()), world, np.full(self.robots, self.model(side).outer_radius_m), random)

    def over(self, poses: Mapping[str, np.ndarray], time_s: float) -> str:
        """Return why the game is over, or an empty text, from the true poses of each side, float64 (n, 3)."""
        return ""

    def score(self, played: Played) -> float:
        """Return the score; with two sides, the share of the first side in the win: 1, 0, or 0.5 for a draw."""
        raise NotImplementedError(f"game {self.name!r} has no score; write def score(self, played)")

    def _group(self, side: str, program: Program, standing: Standing, draw: np.random.Generator) -> Group:
        """Return a side at its starts; drawn again while they are not free of the other side.

        Raises:
            PlacementError: they never are.
        """
        model = self.model(side)
        for left in reversed(range(_DRAWS)):
            group = Group(side, model, self.starts(side, standing.world, draw), program)
            try:
                check_free(group.start[:, :2], standing, np.full(len(group.start), model.outer_radius_m), group.names)
                break
            except PlacementError:
                if not left:
                    raise
        return group

    def simulation(
        self, programs: Mapping[str, Program], start: int, execution: Execution, folder: Path
    ) -> tuple[Simulation, Any]:
        """Return the simulation of a game, and a function that says why it ended.

        Args:
            programs: the law of each side.
            start: number of the start, which also is the seed.
            execution: where and how the laws run.
            folder: for the run.
        """
        world, draw = self.world(), generator(start, f"tournament/{self.name}")
        groups, standing = list[Group](), Standing(world)
        for side, program in programs.items():
            group = self._group(side, program, standing, draw)
            standing.add(group.start[:, :2], np.full(len(group.start), group.robot.outer_radius_m))
            groups.append(group)
        ends = np.cumsum([len(group.start) for group in groups]).tolist()
        parts = {group.name: slice(end - len(group.start), end) for group, end in zip(groups, ends, strict=True)}
        ended = ""

        def is_over(sim: Simulation) -> bool:
            nonlocal ended
            ended = self.over({side: sim.state.pose[part] for side, part in parts.items()}, sim.time)
            return bool(ended)

        timing = {"step_s": self.sampling_s, "substep_s": self.sampling_s / 10}
        sim = Simulation(
            world,
            groups,
            seed=start,
            stop=is_over,
            execution=execution.model_copy(update=timing),
            recording=Recording(folder=folder, name=self.name, overwrite=True),
        )
        return sim, lambda: ended
