"""Shared by the frontier strategies: choose a goal, drive, look again, until nothing is left to choose."""

import inspect
import math
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from covey.kernel import kernel
from covey.mapping.occupancy.frontiers import Frontiers
from covey.onboard.handle import Robot
from covey.planning.progress import Blacklist, ProgressTimer

Goal = tuple[float, float]


@dataclass(frozen=True)
class Errand:
    """A strategy's alternative to a frontier: drive to a place [m], or stand, until it chooses again."""

    place: Goal | None = None


Choice = Goal | Errand | None
Choose = Callable[[Robot, Frontiers, np.ndarray], Choice | Awaitable[Choice]]
EachStep = Callable[[Robot, Goal | None], Any]

_PATIENCE = 5
_NEWS_S = 2.0
_AGAIN_S = 10.0


async def explore(
    robot: Robot,
    choose: Choose,
    *,
    definition: str,
    min_cells: int,
    replan_s: float,
    near_m: float = 1.0,
    tolerance_m: float = 0.3,
    stall_s: float = 15.0,
    refused: Blacklist | None = None,
    each_step: EachStep | None = None,
    unreachable: Callable[[Robot, Goal], None] | None = None,
    first: Callable[[Robot], Errand | None] | None = None,
) -> None:
    """Explore until the robot's own map holds no frontier that it can reach.

    The robot leaves a goal as soon as no frontier cell remains near it. It lists the goals that did not help: those
    that turned out unreachable, those towards which it has long not moved (maps have holes where walls have none), and
    those that it reached. Frontier cells near them are skipped until nothing else is left; then they are tried again.
    A robot whose sensors for the map are silent rests until they are not.
    In the first such round, a robot that does not see all around turns to look behind, because a closed door may have
    opened. After some rounds without a newly known cell the robot is done.

    Args:
        robot: the robot.
        choose: given the robot, its frontiers and which of their cells may be chosen, bool (k,), returns the goal, an
            `Errand`, or None if it can reach none of them. It may await something first.
        definition: which cells are frontier cells, see `find_frontiers`.
        min_cells: smallest frontier to go for; smaller ones are tried when no other is left.
        replan_s: time between two choices while driving [s].
        near_m: a goal stays valid while a frontier cell lies within this distance [m]; inf: it always does. This is
            independent of the distance around tried goals at which frontier cells are skipped.
        tolerance_m: a goal is reached within this distance [m].
        stall_s: a robot that has not moved by 0.3 m for this time gives its goal up [s].
        refused: list of the goals that were tried, and the distance around them at which frontier cells are skipped;
            default 1 m. A strategy whose goals are not frontier cells gives a list, to skip these goals as well.
        each_step: called at every step with the robot and its goal (None if it has none), to talk to the others.
            If it returns true, the strategy chooses again at once.
        unreachable: called with the robot and a goal that it could not reach.
        first: called before each choice; returns an errand that comes first, or None.
    """
    tell: EachStep = each_step or _silent
    refused = Blacklist(tolerance_m=1.0) if refused is None else refused
    progress = ProgressTimer(0.3, stall_s)
    in_vain, known = 0, -1
    while in_vain < _PATIENCE:
        if robot.blind:
            await rest_blind(robot)
            progress.restart(robot.time, *robot.pose[:2])
        goal = first(robot) if first is not None else None
        goal = goal or await _next_goal(robot, choose, definition, min_cells, refused)
        if isinstance(goal, Errand):
            await _run(robot, goal, replan_s, tell)
            progress.restart(robot.time, *robot.pose[:2])
            continue
        if goal is None:
            before, known = known, _known_cells(robot)
            in_vain = 0 if known > before else in_vain + 1
            refused.goals.clear()
            if in_vain == 1 and not _sees_all_around(robot):  # a door behind the robot may have opened
                await robot.turn(math.tau, until=lambda robot: tell(robot, None))
            await robot.sleep(_NEWS_S, until=lambda robot: tell(robot, None))  # others may still send map updates
            progress.restart(robot.time, *robot.pose[:2])
            continue
        if robot.text != (text := f"frontier at ({goal[0]:.1f}, {goal[1]:.1f})"):
            robot.note(text)
        watch = _Watch(goal, robot.time + replan_s, near_m, progress, tell)
        outcome = await robot.goto(goal, tolerance_m=tolerance_m, until=watch)
        failed = outcome.state in ("unreachable", "stuck") or watch.stalled
        if outcome or failed:
            refused.add(goal)
            if failed and unreachable is not None:
                unreachable(robot, goal)
            progress.restart(robot.time, *robot.pose[:2])


async def rest_blind(robot: Robot) -> None:
    """Stand and tell nothing until the robot sees again: the others forget it, and do what it would have done."""
    robot.note("its sensors for the map are silent; it stands")
    while robot.blind:
        robot.rest()
        await robot.sleep(1.0, until=lambda robot: not robot.blind)
    await robot.stop()


def _silent(robot: Robot, goal: Goal | None) -> None:
    pass


async def _run(robot: Robot, errand: Errand, for_s: float, tell: EachStep) -> None:
    end = robot.time + for_s

    def over(robot: Robot) -> bool:
        return bool(tell(robot, errand.place)) or robot.time >= end - 1e-9

    if errand.place is not None:
        outcome = await robot.goto(errand.place, tolerance_m=0.3, until=over)
        if outcome or (outcome.state == "cancelled" and robot.time < end - 1e-9):
            return
        end = min(end, robot.time + _AGAIN_S)  # something is in the way
    await robot.sleep(max(end - robot.time, 0.0), until=over)


async def _next_goal(robot: Robot, choose: Choose, definition: str, min_cells: int, refused: Blacklist) -> Choice:
    for smallest in thresholds(min_cells):
        frontiers = robot.frontiers(definition, smallest)
        if len(frontiers):
            choice = choose(robot, frontiers, _allowed(robot, frontiers, refused))
            goal = await choice if inspect.isawaitable(choice) else choice
            if goal is not None:
                return goal
    return None


def _sees_all_around(robot: Robot) -> bool:
    return any("scan" in sensor.feeds and sensor.fov_deg > 350.0 for sensor in robot.model.sensors)


def _known_cells(robot: Robot) -> int:
    return 0 if robot.map is None else int(np.count_nonzero(robot.map.occupancy() >= 0))


def thresholds(min_cells: int) -> Iterator[int]:
    """Yield min_cells, half of it, … down to 1, so that no frontier is left only because it is small.

    Examples:
        >>> list(thresholds(8))
        [8, 4, 2, 1]
    """
    while min_cells > 1:
        yield min_cells
        min_cells //= 2
    yield 1


def _allowed(robot: Robot, frontiers: Frontiers, refused: Blacklist) -> np.ndarray:
    if not refused.goals or robot.map is None:
        return np.ones(len(frontiers.cells), bool)
    return refused.clear(robot.map.grid.to_world(frontiers.cells))


class _Watch:
    """True if it is time to choose again, if the robot stands, or if no frontier is left near the goal."""

    def __init__(self, goal: Goal, deadline_s: float, near_m: float, progress: ProgressTimer, tell: EachStep):
        self.goal, self.deadline_s, self.near_m, self.progress, self.tell = goal, deadline_s, near_m, progress, tell
        self.stalled = False
        self._version = -1
        self._cell: tuple[int, int, int] | None = None

    def __call__(self, robot: Robot) -> bool:
        again = self.tell is not _silent and self.tell(robot, self.goal)
        time_s, (x, y, _) = robot.time, robot.pose
        self.stalled = self.progress.expired(time_s, x, y)
        if again or self.stalled or time_s >= self.deadline_s - 1e-9 or robot.blind:
            return True
        belief = robot.map
        if belief is None or self.near_m == math.inf or (version := belief.version) == self._version:
            return False
        self._version = version
        if self._cell is None:
            grid = belief.grid
            self._cell = *grid.cell_at(*self.goal), math.ceil(self.near_m / grid.resolution) + 1
        return not _frontier_near(belief.occupancy(), *self._cell)


@kernel
def _frontier_near(occupancy, row, column, reach):
    """Return whether a free cell next to an unknown one lies in the square of half side ``reach`` around a cell."""
    top, bottom = max(0, row - reach), min(occupancy.shape[0] - 1, row + reach)
    left, right = max(0, column - reach), min(occupancy.shape[1] - 1, column + reach)
    for r in range(top, bottom + 1):
        for c in range(left, right + 1):
            if occupancy[r, c] == -1 and (
                (r > top and occupancy[r - 1, c] == 0)
                or (r < bottom and occupancy[r + 1, c] == 0)
                or (c > left and occupancy[r, c - 1] == 0)
                or (c < right and occupancy[r, c + 1] == 0)
            ):
                return True
    return False
