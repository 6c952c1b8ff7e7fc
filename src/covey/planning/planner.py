"""Planners: records that search the way over the cost map to a goal."""

from abc import ABC, abstractmethod
from typing import Literal

import numpy as np

from covey.errors import InvalidValueError
from covey.named import OfKind
from covey.registry import Registry

planners: Registry[type["Planner"]] = Registry("planner", shelf="covey.planning.planner")
"""Planners by name; packages add theirs under the entry-point group ``covey.planner``."""
_SLACK = 0.02  # share by which a straight line may cost more than the stretch of the path that it replaces


class Planner(OfKind, ABC):
    """Base of the records that say how a robot searches the way to a goal. Its fields are tuples rather than lists."""

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


def corners_of(
    planner: Planner, cost: np.ndarray, start: tuple[int, int], goal: tuple[int, int]
) -> tuple[np.ndarray, int]:
    """Return what a planner answers, see `Planner.corners`; one of somebody else gets a copy of the costs.

    Raises:
        InvalidValueError: the answer is not as it must be.
    """
    if type(planner) is AStar:
        return planner.corners(cost, start, goal)
    answer, name = planner.corners(cost.copy(), start, goal), type(planner).__name__
    try:
        corners, work = np.asarray(answer[0]), int(answer[1])
        cells = corners.reshape(-1, 2)
        is_way = corners.ndim == 2 and corners.dtype.kind in "iu" and bool(((cells >= 0) & (cells < cost.shape)).all())
        good = len(answer) == 2 and work >= 0 and (is_way or not corners.size)
    except (TypeError, ValueError, IndexError):
        good = False
    if not good:
        raise InvalidValueError(
            f"planner {name!r} gives {answer!r:.80}; return the corners, integers (k, 2) with rows and columns of the "
            f"{cost.shape[0]} x {cost.shape[1]} cells, and the work of the search, a number from 0"
        )
    return corners, work
