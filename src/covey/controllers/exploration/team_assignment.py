"""Exploring together: what each robot of the team pays for each frontier, and a rule that says who takes which."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from covey.controllers.exploration.frontier_loop import Goal, explore
from covey.controllers.teammates import Mate, Teammates
from covey.errors import InvalidValueError
from covey.mapping.occupancy.frontiers import Frontiers
from covey.onboard.handle import Robot

MOST_MATES = 10
"""Of more team mates than these only the nearest are reckoned with: each one takes a search over the map."""


class Candidates(NamedTuple):
    """Where the team can go next, as one robot knows it.

    Attributes:
        cells: int64 (k, 2), rows and columns of the goals, on frontiers that the robot itself can reach.
        points: float64 (k, 2), their centres [m].
        costs: float64 (n, k), what each robot pays for each, in metres of open floor, on the robot's own map.
        robot: which row is the robot's own. The rows are in the order of the robots' names, so that robots that know
            the same decide the same.
    """

    cells: np.ndarray
    points: np.ndarray
    costs: np.ndarray
    robot: int


Decide = Callable[[Robot, Candidates], int]


async def explore_together(
    robot: Robot, decide: Decide, min_cells: int, definition: str, piece_m: float, replan_s: float, forget_s: float
) -> None:
    """Explore until nothing is left; at every choice the rule sees what the others have told.

    Robots tell where they are and go once a second. Who is silent for ``forget_s`` is no longer reckoned with: a robot
    that hears nobody decides for itself alone.

    Args:
        robot: the robot.
        decide: from the robot and the candidates the number of its goal, or -1.
        min_cells, definition, replan_s: see `explore`.
        piece_m: longer frontiers are cut into pieces of about this length, a goal each [m].
        forget_s: how long what another said holds [s].
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
    """Return the goals that the robot can reach and what they cost the team, or None when there is none.

    Args:
        robot: the robot.
        frontiers: of its map.
        allowed: which of their cells may be chosen, bool (k,).
        mates: what the others said, by name.
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
    if not np.isfinite(costs[own]).any():  # the coarse search finds no way where the fine one has found one
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
        J. Faigl, M. Kulich: On determination of goal candidates in frontier-based multi-robot exploration. ECMR 2013,
        cut frontiers in pieces as well, by k-means.

    Examples:
        >>> row = np.column_stack((np.zeros(9, int), np.arange(9)))
        >>> middles(row, np.zeros(9, int), 100.0).tolist()
        [[0, 4]]
    """
    found = []
    for cluster in np.unique(label):
        left = cells[label == cluster]
        while len(left):
            far = left[np.argmax(((left - left.mean(axis=0)) ** 2).sum(axis=1))]  # begin at an end
            inside = ((left - far) ** 2).sum(axis=1) <= piece * piece
            part = left[inside]
            found.append(part[np.argmin(((part - part.mean(axis=0)) ** 2).sum(axis=1))])
            left = left[~inside]
    return np.array(found, np.int64)


def sensor_range_m(robot: Robot) -> float:
    """Return how far the sensor that the robot maps with sees [m].

    Raises:
        InvalidValueError: the robot does not map.
    """
    kinds = robot.model.mapping.uses if robot.model.mapping else ()
    for sensor in robot.model.sensors:
        if sensor.kind in kinds:
            return float(getattr(sensor, "range_m", 0.0))
    raise InvalidValueError(f"{robot.name} does not map; give its robot a sensor that maps, and `mapping`")
