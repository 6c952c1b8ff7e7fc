"""Exploring as a team: the cost of each frontier for each robot, and a rule that assigns frontiers to robots."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from covey.controllers.exploration.frontier_loop import Goal, explore
from covey.controllers.teammates import Mate, Teammates
from covey.errors import InvalidValueError
from covey.kernel import kernel
from covey.mapping.occupancy.frontiers import Frontiers
from covey.onboard.handle import Robot

MOST_MATES = 10
"""Largest number of team mates considered, the nearest ones: each takes a search over the map."""


class Candidates(NamedTuple):
    """The goals that the team can go to next, as one robot knows them.

    Attributes:
        cells: int64 (k, 2), rows and columns of the goals, on frontiers that the robot itself can reach.
        points: float64 (k, 2), their centres [m].
        costs: float64 (n, k), cost of each goal for each robot, in metres of open floor, on the robot's own map.
        robot: row of the robot itself. Rows are in the order of the robots' names, so that robots with the same
            knowledge decide the same.
    """

    cells: np.ndarray
    points: np.ndarray
    costs: np.ndarray
    robot: int


Decide = Callable[[Robot, Candidates], int]


async def explore_together(
    robot: Robot, decide: Decide, min_cells: int, definition: str, piece_m: float, replan_s: float, forget_s: float
) -> None:
    """Explore until nothing is left; each choice uses what the others have reported.

    Robots report their position and goal once a second. A robot that has been silent for ``forget_s`` no longer counts;
    a robot that hears nobody decides for itself alone.

    Args:
        robot: the robot.
        decide: given the robot and the candidates, returns the index of its goal, or -1.
        min_cells, definition, replan_s: see `explore`.
        piece_m: longer frontiers are cut into pieces of about this length, one goal each [m].
        forget_s: time for which a report holds [s].
    """
    team = Teammates(forget_s=forget_s)

    def choose(robot: Robot, frontiers: Frontiers, allowed: np.ndarray) -> Goal | None:
        found = candidates(robot, frontiers, allowed, team.others(robot), piece_m)
        chosen = -1 if found is None else decide(robot, found)
        if found is None or chosen < 0:
            return None
        x, y = found.points[chosen].tolist()
        return x, y

    def tell(robot: Robot, goal: Goal | None) -> None:
        team.step(robot, goal=goal)

    await explore(robot, choose, definition=definition, min_cells=min_cells, replan_s=replan_s, each_step=tell)


def candidates(
    robot: Robot, frontiers: Frontiers, allowed: np.ndarray, mates: dict[str, Mate], piece_m: float
) -> Candidates | None:
    """Return the goals that the robot can reach and their costs for the team, or None if there is none.

    Args:
        robot: the robot.
        frontiers: the frontiers of its map.
        allowed: which of their cells may be chosen, bool (k,).
        mates: the reports of the others, by name.
        piece_m: length of a piece of frontier [m].
    """
    assert robot.map is not None
    grid = robot.map.grid
    usable = allowed & robot.reachable()[frontiers.cells[:, 0], frontiers.cells[:, 1]]
    if not usable.any():
        return None
    cells = middles(frontiers.cells[usable], frontiers.label[usable], piece_m / grid.resolution)
    x, y = robot.pose[:2]
    near = sorted(mates, key=lambda name: (np.hypot(mates[name].pose[0] - x, mates[name].pose[1] - y), name))
    names = sorted([robot.name, *near[:MOST_MATES]])
    starts = [robot.pose[:2] if name == robot.name else mates[name].pose[:2] for name in names]
    costs = robot.travel_from(starts, cells)
    own = names.index(robot.name)
    if not np.isfinite(costs[own]).any():  # the coarse search can miss a path that the fine one has found
        costs[own] = robot.travel_cost()[cells[:, 0], cells[:, 1]]
    return Candidates(cells, grid.to_world(cells), costs, own)


def middles(cells: np.ndarray, label: np.ndarray, piece: float) -> np.ndarray:
    """Cut clusters of cells into pieces, and return the cell of each piece that is nearest to the mean of its cells.

    Args:
        cells: int64 (k, 2), rows and columns.
        label: int64 (k,), the cluster of each cell.
        piece: largest diameter of a piece, roughly [cells].

    Returns:
        int64 (m, 2), cluster by cluster.

    References:
        J. Faigl, M. Kulich: On determination of goal candidates in frontier-based multi-robot exploration. ECMR 2013
        (they cut frontiers into pieces by k-means).

    Examples:
        >>> row = np.column_stack((np.zeros(9, int), np.arange(9)))
        >>> middles(row, np.zeros(9, int), 100.0).tolist()
        [[0, 4]]
    """
    order = np.argsort(label, kind="stable")
    out = np.empty((len(cells), 2), np.int64)
    return out[: _middles(np.ascontiguousarray(cells[order], np.int64), label[order], piece * piece, out)]


@kernel
def _middles(cells, label, most, out):
    """Write the middles of all pieces; return how many. ``cells``: those of each cluster together; changed."""
    count, begin = 0, 0
    while begin < label.size:
        end = begin
        while end < label.size and label[end] == label[begin]:
            end += 1
        last = end  # cells that are left: from begin to there, in their order
        while last > begin:
            u, v = _mean(cells, begin, last)
            far, away = begin, -1.0
            for k in range(begin, last):
                d = (cells[k, 0] - u) ** 2 + (cells[k, 1] - v) ** 2
                if d > away:  # begin at an end
                    far, away = k, d
            row, column, left, part = cells[far, 0], cells[far, 1], begin, np.empty((last - begin, 2), np.int64)
            inside = 0
            for k in range(begin, last):
                r, c = cells[k, 0], cells[k, 1]
                if (r - row) ** 2 + (c - column) ** 2 <= most:
                    part[inside, 0], part[inside, 1] = r, c
                    inside += 1
                else:
                    cells[left, 0], cells[left, 1] = r, c
                    left += 1
            u, v = _mean(part, 0, inside)
            middle, away = 0, np.inf
            for k in range(inside):
                d = (part[k, 0] - u) ** 2 + (part[k, 1] - v) ** 2
                if d < away:
                    middle, away = k, d
            out[count, 0], out[count, 1] = part[middle, 0], part[middle, 1]
            count, last = count + 1, left
        begin = end
    return count


@kernel(inline=True)
def _mean(cells, begin, end):
    row, column = 0, 0
    for k in range(begin, end):
        row, column = row + cells[k, 0], column + cells[k, 1]
    return row / (end - begin), column / (end - begin)


def sensor_range_m(robot: Robot) -> float:
    """Return the range of the robot's mapping sensor [m].

    Raises:
        InvalidValueError: the robot does not map.
    """
    if (range_m := robot.model.mapping_range_m) is not None:
        return range_m
    raise InvalidValueError(f"{robot.name} does not map; give its robot a sensor that maps, and `mapping`")
