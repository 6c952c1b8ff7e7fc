"""Strategies of a team that differ in one rule: given the costs of all goals for all robots, which goal is whose."""

from collections.abc import Callable
from typing import Any

import numpy as np

from covey.controllers.exploration.team_assignment import explore_together
from covey.onboard.controller import controller
from covey.onboard.handle import Robot
from covey.robots.parameters import Count, Definition, Metres, Seconds

_ARGS = """    Args:
        robot: a robot with a map.
        min_cells: smallest frontier that counts, in cells; smaller ones count when no other is left.
        definition: which cells are frontier cells, see `covey.mapping.occupancy.frontiers.find_frontiers`.
        piece_m: a longer frontier is cut into goals, one per this length [m].
        replan_s: time between two choices while driving [s].
        forget_s: time for which a robot counts after it was last heard [s].

"""

Rule = Callable[[np.ndarray, int], Any]


def by_rule(described: Rule) -> Callable[..., Any]:
    """Return the strategy in which each robot takes the goal that a rule gives it; it has the rule's name and text."""

    async def strategy(
        robot: Robot,
        *,
        min_cells: Count = 8,
        definition: Definition = "explore",
        piece_m: Metres = 10.0,
        replan_s: Seconds = 5.0,
        forget_s: Seconds = 10.0,
    ) -> None:
        def decide(robot: Robot, found: Any) -> int:
            return int(described(found.costs, found.robot))

        await explore_together(robot, decide, min_cells, definition, piece_m, replan_s, forget_s)

    name = strategy.__name__ = strategy.__qualname__ = described.__name__
    strategy.__module__ = described.__module__
    what, unlike, rest = (described.__doc__ or "").partition("    Unlike the source:")
    strategy.__doc__ = what + _ARGS + unlike + rest
    sees = ("pose", "map", "shared_map", "radio")
    return controller(name, sees=sees, needs=("map",), missions=("exploration",))(strategy)
