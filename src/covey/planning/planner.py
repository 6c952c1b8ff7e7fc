"""Planners: records that search the way over the cost map to a goal."""

from abc import ABC, abstractmethod
from typing import Literal

import numpy as np

from covey.named import OfKind
from covey.registry import Registry

planners: Registry[type["Planner"]] = Registry("planner", shelf="covey.planning.planner")
"""Planners by name; packages add theirs under the entry-point group ``covey.planner``."""
_SLACK = 0.02  # share by which a straight line may cost more than the stretch of the path that it replaces


class Planner(OfKind, ABC):
    """Base of the records that say how a robot searches the way to a goal."""

    registry = planners

    @abstractmethod
    def corners(self, cost: np.ndarray, start: tuple[int, int], goal: tuple[int, int]) -> tuple[np.ndarray, int]:
        """Return the corners of a route of straight lines, int64 (k, 2), rows and columns from start to goal; and work.

        There are none, (0, 2), if there is no route. The work is the number of entries of the search's queue, for which
        the robot's computer is charged.

        Args:
            cost: float32 (rows, columns), of a metre in each cell: 1 in open space, more near walls and where another
                robot is, inf where the body does not fit. It is not changed.
            start: row and column of the robot, whose cell may be impassable.
            goal: row and column of the goal, whose cell is passable.
        """


@planners.register("astar")
class AStar(Planner):
    """The cheapest path by `covey.planning.astar`, with straight lines where they cost no more."""

    kind: Literal["astar"] = "astar"

    def corners(self, cost: np.ndarray, start: tuple[int, int], goal: tuple[int, int]) -> tuple[np.ndarray, int]:
        """Return the corners of the route, see `Planner.corners`."""
        from covey.planning.astar import astar  # these load kernels
        from covey.planning.shorten import shorten

        path = astar(cost, start, goal)
        return shorten(path.cells, cost, _SLACK) if len(path.cells) else path.cells, path.work
