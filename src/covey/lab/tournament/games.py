"""The games that come with Covey."""

import math
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from covey.errors import InvalidValueError, UnknownNameError
from covey.geometry.voronoi import voronoi
from covey.lab.tournament.game import Game, GameError, Played
from covey.onboard.controller import Program
from covey.registry import load_file
from covey.robots.model import RobotModel
from covey.runtime.execution import Execution
from covey.runtime.simulation import Simulation
from covey.scenario.build import build
from covey.scenario.controller import ControllerReference
from covey.scenario.load import load_scenario
from covey.world.world import World


class Pursuit(Game):
    """One pursuer and one evader in a square of 10 m; the evader, 1 m/s, must not be touched for a minute.

    The pursuer is a tenth slower. It has caught the evader within 0.3 m. The game of 31 students of M. Casini, A.
    Garulli: MARS, 2016.
    """

    name = "pursuit"
    sides = ("pursuers", "evaders")
    speeds_m_s: Mapping[str, float] = {"pursuers": 0.9, "evaders": 1.0}
    capture_m = 0.3

    def model(self, side: str) -> RobotModel:
        """Return a unicycle of 0.2 m."""
        top = self.speeds_m_s[side]
        return RobotModel(name=side, kinematics="unicycle", radius_m=0.1, max_speed_m_s=top, max_turn_rad_s=6.0)

    def starts(self, side: str, world: World, random: np.random.Generator) -> np.ndarray:
        """Return places at random in the left third for pursuers, in the right third for evaders."""
        left = 0.5 if side == "pursuers" else 6.5
        x, y, heading = random.uniform((left, 0.5, -math.pi), (left + 3.0, 9.5, math.pi))
        return np.array([[x, y, heading]])

    def over(self, poses: Mapping[str, np.ndarray], time_s: float) -> str:
        """Return whether the evader is caught."""
        gap = poses["pursuers"][0, :2] - poses["evaders"][0, :2]
        return "caught" if math.hypot(*gap) <= self.capture_m else ""

    def score(self, played: Played) -> float:
        """Return 1 if the evader was caught, else 0."""
        return float(played.ended == "caught")


class CoverageGame(Game):
    """Eight robots spread over a square of 10 m; the smaller coverage cost after a minute wins."""

    name = "coverage"
    robots = 8
    unit = "m⁴"

    def score(self, played: Played) -> float:
        """Return the integral of the squared distance to the nearest robot (J. Cortés et al., IEEE T-RA 2004)."""
        return float(voronoi(played.poses["laws"][-1, :, :2], self.workspace).cost.sum())


class Rendezvous(Game):
    """Six robots meet: all within 1 m of their middle, soonest, and nobody is touched."""

    name = "rendezvous"
    robots = 6
    unit = "s"
    meeting_m = 1.0

    def over(self, poses: Mapping[str, np.ndarray], time_s: float) -> str:
        """Return whether all have met."""
        at = poses["laws"][:, :2]
        return "met" if np.hypot(*(at - at.mean(axis=0)).T).max() <= self.meeting_m else ""

    def score(self, played: Played) -> float:
        """Return the time to meet [s]; the time limit if they did not; twice the limit after a collision."""
        touched = played.run.metrics["collisions_wall"] + played.run.metrics["collisions_robot"]
        return 2.0 * self.stop_s if touched else played.time_s if played.ended else self.stop_s


class OfScenario(Game):
    """A scenario in which every robot runs the law of one robot; a metric of the run is the score."""

    scope = "robot"
    scenario = ""
    metric = ""
    changes: Mapping[str, Any] = {}

    def simulation(
        self, programs: Mapping[str, Program], start: int, execution: Execution, folder: Path
    ) -> tuple[Simulation, Any]:
        """Return the simulation of the scenario with the law; see `Game.simulation`."""
        limits = {"stop.timeout_s": self.stop_s, "seed": start}
        scenario = load_scenario(self.scenario, {**limits, **self.changes})
        program = programs[self.sides[0]]
        law = ControllerReference(target=program.factory, parameters=dict(program.parameters))
        groups = tuple(group.model_copy(update={"controller": law}) for group in scenario.robots)
        timing = {"step_s": scenario.execution.step_s, "substep_s": scenario.execution.substep_s}
        own = {"robots": groups, "execution": execution.model_copy(update=timing)}
        sim = build(scenario.model_copy(update=own), folder=folder, overwrite=True)
        return sim, lambda: "goal reached" if sim.status == "reached" else ""

    def score(self, played: Played) -> float:
        """Return the metric; where the run has none, such as a goal that it did not reach, the worst score."""
        value = played.run.metrics[self.metric]
        return math.nan if value is None else float(value)


class ExplorationGame(OfScenario):
    """Three robots explore rooms of which they know nothing; the sooner 99 % are explored, the better.

    A law that does not get there in time has the time limit, and as much again for what is not explored.
    """

    name = "exploration"
    scenario, metric, unit, stop_s = "office", "t99_s", "s", 900.0
    changes: Mapping[str, Any] = {"robots.scout.count": 3, "stop.explored": 0.99}

    def score(self, played: Played) -> float:
        """Return the time at which 99 % were explored [s], or the time limit times 1 + the share that is left."""
        explored = float(played.run.series("explored_share_union")[-1])
        return super().score(played) if played.ended else self.stop_s * (2.0 - explored)


class RescueGame(OfScenario):
    """Two robots search a damaged building for people and fires; the referee's score counts.

    The points for the time left only count for a law that finds everything: to stand still is worth nothing.
    """

    name = "rescue"
    scenario, metric, unit, stop_s, smaller_wins = "rescue", "rescue_score", "points", 600.0, False


GAMES: Mapping[str, type[Game]] = {
    one.name: one for one in (Pursuit, CoverageGame, Rendezvous, ExplorationGame, RescueGame)
}


def game_of(name: str) -> Game:
    """Return a game by its name, or the game that a Python file defines.

    Raises:
        UnknownNameError: there is no game of this name.
        InvalidValueError: the file does not exist.
        GameError: its code fails, or does not define one game with a score.
    """
    if not name.endswith(".py"):
        if name not in GAMES:
            raise UnknownNameError("game", name, GAMES)
        return GAMES[name]()
    path = Path(name).resolve()
    if not path.is_file():
        raise InvalidValueError(
            f"{name} is no file; give a Python file with a subclass of Game, or one of: {', '.join(GAMES)}"
        )
    try:
        module = load_file(path)
        own = [item for item in vars(module).values() if isinstance(item, type) and issubclass(item, Game)]
        own = [item for item in own if item.__module__ == module.__name__]
        if len(own) == 1 and own[0].score is not Game.score:
            return own[0]()
    except Exception as error:
        raise error_of_game(error, name) from None
    if len(own) != 1:
        raise GameError(f"{name} defines {len(own)} games; write one class that derives from Game")
    raise GameError(f"{name}: the game {own[0].__name__} has no score; write def score(self, played)")


def error_of_game(error: Exception, name: str) -> GameError:
    """Return an error for one that the code of a game raised, with the line if the game is a file."""
    path, line = str(Path(name).resolve()), getattr(error, "lineno", None)
    for frame, at in traceback.walk_tb(error.__traceback__):
        line = at if frame.f_code.co_filename == path else line
    where = f"{name}, line {line}" if line is not None else f"the game {name}"
    return GameError(f"{where}: {type(error).__name__}: {error} (an error of the game, so no law has lost)")


def is_of_game(error: Exception, name: str) -> bool:
    """Return whether code of a game in a file raised an error, or called what raised it."""
    path = str(Path(name).resolve())
    return any(frame.f_code.co_filename == path for frame, _ in traceback.walk_tb(error.__traceback__))
