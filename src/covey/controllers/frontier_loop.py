"""What the frontier strategies share: choose, go, look again, until nothing is left to choose."""

from collections.abc import Callable, Iterator

import numpy as np

from covey.mapping.frontiers import Frontiers
from covey.robots.handle import Robot

Choice = tuple[float, float]
Choose = Callable[[Robot, Frontiers, np.ndarray], Choice | None]


async def explore(robot: Robot, choose: Choose, *, definition: str, min_cells: int, replan_s: float) -> None:
    """Explore until the robot's own map holds no frontier that it can reach.

    Args:
        robot: the robot.
        choose: from the robot, its frontiers and the mask of those that may be chosen, the goal (x, y) [m], or None.
        definition: which cells are frontier cells, see `find_frontiers`.
        min_cells: smallest frontier to go for; smaller ones are tried when no other is left.
        replan_s: how often the choice is looked at again [s].
    """
    refused = Refused()
    patience = 0
    while patience < 5:
        goal = None
        for smallest in thresholds(min_cells):
            frontiers = robot.frontiers(definition, smallest)
            goal = choose(robot, frontiers, refused.allows(frontiers))
            if goal is not None:
                break
        if goal is None:
            patience += 1
            refused.forget()
            await robot.sleep(2.0)  # others may still send news
            continue
        patience = 0
        robot.note(f"frontier at ({goal[0]:.1f}, {goal[1]:.1f})")
        begin = robot.time
        outcome = await robot.goto(goal, tolerance_m=0.5, until=lambda r, b=begin: r.time >= b + replan_s - 1e-9)
        if outcome.state in ("unreachable", "stuck"):
            refused.add(goal)


def thresholds(min_cells: int) -> Iterator[int]:
    """Yield min_cells, half of it, … down to 1: no frontier is left behind for its size."""
    while True:
        yield min_cells
        if min_cells == 1:
            return
        min_cells = max(1, min_cells // 2)
