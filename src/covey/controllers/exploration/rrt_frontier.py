"""RRT frontier: rapidly-exploring random trees find frontiers, one over the whole map, one restarting at the robot."""

import math

import numpy as np

from covey.controllers.exploration.frontier_loop import Goal, explore
from covey.controllers.exploration.nearest_frontier import choose_nearest
from covey.controllers.teammates import Teammates
from covey.geometry import Grid
from covey.kernel import kernel
from covey.mapping.occupancy.frontiers import Frontiers
from covey.onboard.controller import controller
from covey.onboard.handle import Robot
from covey.planning.progress import Blacklist
from covey.robots.parameters import Draws, Metres, MetresOrNone, Radius, Seconds, Weight

_MOST_NODES = 5000
_LEAST_GAIN_M2 = 0.2
"""Points with less unknown area [m2] within half the radius are no longer frontiers, as in the authors' filter."""


@controller("rrt_frontier", sees=("pose", "map", "shared_map", "radio"), needs=("map",), missions=("exploration",))
async def rrt_frontier(
    robot: Robot,
    *,
    local_step_m: Metres = 0.5,
    global_step_m: Metres = 15.0,
    samples: Draws = 300,
    info_radius_m: Radius = 1.0,
    info_multiplier: Weight = 3.0,
    hysteresis_radius_m: MetresOrNone = 3.0,
    hysteresis_gain: Weight = 2.0,
    replan_s: Seconds = 3.0,
    forget_s: Seconds = 10.0,
) -> None:
    """Go to the point at the edge of the known area with the largest ``info_multiplier`` x I - N.

    Two trees grow through the free cells of the robot's map; a branch that reaches the unknown ends in a frontier
    point. The local tree restarts at the robot whenever it has found one. I is the unknown area within
    ``info_radius_m`` of a point [m2], without the area within that radius of another robot's goal, times
    ``hysteresis_gain`` within ``hysteresis_radius_m`` of the robot. N is the straight-line distance to the robot [m].
    When the robot chooses again on the way, the same gain holds near its own goal, there for the full unknown area.

    Trees may miss frontiers. If they have found none that can be reached, the goal is the nearest frontier of the map;
    when the map has none left, the robot is done. The goals of robots that have been silent for ``forget_s`` no longer
    count.

    Args:
        robot: a robot with a map.
        local_step_m, global_step_m: longest branch of the local and of the global tree [m].
        samples: number of points drawn for each tree at each choice (published: 100 per second).
        info_radius_m: radius around a point in which the unknown counts [m].
        info_multiplier: metres of path that a square metre of the unknown is worth.
        hysteresis_radius_m, hysteresis_gain: within this distance of the robot or its goal, I counts this many times.
        replan_s: time between two choices while driving; the trees grow at each choice [s] (published: 0.5).
        forget_s: time for which a robot counts after it was last heard [s].

    Unlike the source:
        Compared with hasauino/rrt_exploration.

        - one global tree for all -> one for each robot
        - the point is the first unknown place on a branch -> the last free cell before it, which can be reached
        - points are drawn in a rectangle of the user -> in the map
        - mean shift merges points within 0.3 m -> points in one cell are merged
        - dropped: cost above 70, little unknown around -> dropped: unreachable, or no frontier any more
        - less 1 for each cell near an assigned point (``discount``) -> minus its area, as the program's comment says
        - the own last goal counts as assigned -> everything within 1 m of a reached goal is skipped
        - one pair at a time for all robots, every 0.5 s -> each robot for itself, every ``replan_s``
        - the trees grow all the time -> by ``samples`` at each choice
        - no point: wait -> the nearest frontier of the map

    References:
        H. Umari, S. Mukhopadhyay: Autonomous robotic exploration based on multiple rapidly-exploring randomized trees.
        IROS 2017; the authors' ROS package rrt_exploration (scripts/assigner.py, filter.py).
    """
    team, forest, refused = Teammates(forget_s=forget_s), _Forest(), Blacklist(tolerance_m=1.0)
    goal: Goal | None = None

    def choose(robot: Robot, frontiers: Frontiers, allowed: np.ndarray) -> Goal | None:
        nonlocal goal
        assert robot.map is not None
        forest.grow(robot, samples, local_step_m, global_step_m)
        points = forest.points(robot, frontiers.cells[allowed], info_radius_m)
        if not len(points):
            goal = choose_nearest(robot, frontiers, allowed)
            return goal
        goals = [mate.goal for mate in team.others(robot).values() if mate.goal is not None]
        robot.charge_work("view", len(points))
        grid, nobody, mates = robot.map.grid, np.empty((0, 2)), np.array(goals).reshape(-1, 2)
        own = goal if goal is not None and goal not in refused else (math.inf, math.inf)
        best = most_revenue(
            information_m2(grid, points, mates, info_radius_m),
            information_m2(grid, points, nobody, info_radius_m),
            np.hypot(*(points - robot.pose[:2]).T),
            np.hypot(*(points - own).T),
            info_multiplier,
            hysteresis_radius_m,
            hysteresis_gain,
        )
        goal = points[best, 0].item(), points[best, 1].item()
        return goal

    def tell(robot: Robot, goal: Goal | None) -> None:
        team.step(robot, goal=goal)

    await explore(robot, choose, definition="explore", min_cells=1, replan_s=replan_s, refused=refused, each_step=tell)


def most_revenue(
    gain: np.ndarray,
    full: np.ndarray,
    distance: np.ndarray,
    to_goal: np.ndarray,
    multiplier: float,
    hysteresis_radius: float,
    hysteresis_gain: float,
) -> int:
    """Return the index of the point with the largest multiplier x gain - distance; near points gain more.

    Args:
        gain: unknown area around each point [m2] that no other robot will see, float64 (k,).
        full: the same with the area that others will see [m2], (k,); it counts around the robot's own goal.
        distance: distance from the robot to each point [m], float64 (k,).
        to_goal: distance from the robot's goal to each point [m], (k,); inf without a goal.
        multiplier: weight of the gain [m/m2].
        hysteresis_radius: points within this distance of the robot, or nearer to its goal [m], are near ...
        hysteresis_gain: ... and their gain is multiplied by this factor.

    Examples:
        >>> gain, nowhere = np.array([0.5, 1.5]), np.full(2, np.inf)
        >>> most_revenue(gain, gain, np.array([4.0, 5.0]), nowhere, 3.0, 3.0, 2.0)  # 1.5 - 4 against 4.5 - 5
        1
    """
    worth = np.where(distance <= hysteresis_radius, hysteresis_gain, 1.0) * gain
    worth = np.where(to_goal < hysteresis_radius, hysteresis_gain * full, worth)
    return int(np.argmax(multiplier * worth - distance))


def information_m2(grid: Grid, points: np.ndarray, taken: np.ndarray, radius_m: float) -> np.ndarray:
    """Return the unknown area [m2] within a radius of each point, without the area within the radius of taken points.

    Args:
        grid: the belief, int8 (-1 unknown, 0 free, 100 occupied).
        points: float64 (k, 2) [m].
        taken: float64 (n, 2) [m], goals of other robots.
        radius_m: the radius [m].
    """
    side = int(radius_m / grid.resolution)
    offset = np.stack(np.meshgrid(np.arange(-side, side + 1), np.arange(-side, side + 1)), axis=-1).reshape(-1, 2)
    offset = offset[np.hypot(*offset.T) * grid.resolution <= radius_m + 1e-9]
    cells = grid.to_cells(points)[:, None] + offset
    unknown = np.asarray(grid.inside(cells))
    row, column = np.where(unknown[..., None], cells, 0).transpose(2, 0, 1)
    unknown &= grid.cells[row, column] < 0
    for point in taken:
        unknown &= np.hypot(*(grid.to_world(cells) - point).transpose(2, 0, 1)) > radius_m
    return unknown.sum(axis=1) * grid.resolution**2


class _Forest:
    """The two trees of a robot, and the frontier points that they have found."""

    def __init__(self) -> None:
        self._trees = np.empty((2, _MOST_NODES, 2))
        self._counts = [0, 0]
        self._found = np.empty((0, 2), np.int64)

    def grow(self, robot: Robot, samples: int, local_step_m: float, global_step_m: float) -> None:
        """Draw ``samples`` points for each tree."""
        assert robot.map is not None
        grid = robot.map.grid
        here = (np.array([robot.pose[1] - grid.origin[1], robot.pose[0] - grid.origin[0]])) / grid.resolution
        for k, step_m in enumerate((local_step_m, global_step_m)):
            drawn = robot.random.random((samples, 2)) * grid.shape
            if self._counts[k] == 0:
                self._trees[k, 0], self._counts[k] = here, 1
            hits = np.empty((samples, 2), np.int64)
            self._counts[k], hit = grow_tree(
                self._trees[k], self._counts[k], drawn, step_m / grid.resolution, grid.cells, here, k == 0, hits
            )
            self._found = np.unique(np.vstack((self._found, hits[:hit])), axis=0)

    def points(self, robot: Robot, edge: np.ndarray, radius_m: float) -> np.ndarray:
        """Return the points [m] found so far that lie on frontier cells and can be reached; forget the rest."""
        assert robot.map is not None
        grid = robot.map.grid
        is_edge = np.zeros(grid.shape, bool)
        is_edge[edge[:, 0], edge[:, 1]] = True
        found = self._found[is_edge[self._found[:, 0], self._found[:, 1]]]
        found = found[robot.reachable()[found[:, 0], found[:, 1]]]
        robot.charge_work("view", len(found))
        rich = information_m2(grid, grid.to_world(found), np.empty((0, 2)), 0.5 * radius_m) >= _LEAST_GAIN_M2
        self._found = found[rich]
        return grid.to_world(self._found)


@kernel
def grow_tree(nodes, count, drawn, step, occupancy, root, anew, found):
    """Grow a tree towards drawn points, through free cells; a branch that reaches the unknown finds a frontier.

    Args:
        nodes: float64 (m, 2), space for the nodes, row and column [cells]; the first ``count`` exist.
        drawn: float64 (k, 2), the points.
        step: longest branch [cells].
        occupancy: int8 (rows, columns), -1 unknown, 0 free, 100 occupied.
        root: float64 (2,), where the tree restarts ...
        anew: ... after it has found a frontier, if this is true.
        found: int64 (k, 2), out: the last free cell of each branch that reached the unknown.

    Returns:
        the number of nodes, and the number of frontier cells found.
    """
    hits = 0
    for i in range(drawn.shape[0]):
        best, near = np.inf, 0
        for j in range(count):
            d = (nodes[j, 0] - drawn[i, 0]) ** 2 + (nodes[j, 1] - drawn[i, 1]) ** 2
            if d < best:
                best, near = d, j
        length = math.sqrt(best)
        share = min(1.0, step / max(length, 1e-9))
        dr, dc = share * (drawn[i, 0] - nodes[near, 0]), share * (drawn[i, 1] - nodes[near, 1])
        steps = int(5.0 * share * length) + 1  # steps of a fifth of a cell
        last_row, last_column, state = int(nodes[near, 0]), int(nodes[near, 1]), 0
        for s in range(1, steps + 1):
            r, c = int(nodes[near, 0] + dr * s / steps), int(nodes[near, 1] + dc * s / steps)
            if r < 0 or c < 0 or r >= occupancy.shape[0] or c >= occupancy.shape[1]:
                state = 100
            else:
                state = occupancy[r, c]
            if state != 0:
                break
            last_row, last_column = r, c
        if state < 0:
            found[hits, 0], found[hits, 1] = last_row, last_column
            hits += 1
            if anew:
                nodes[0, 0], nodes[0, 1], count = root[0], root[1], 1
        elif state == 0 and count < nodes.shape[0]:
            nodes[count, 0], nodes[count, 1] = nodes[near, 0] + dr, nodes[near, 1] + dc
            count += 1
    return count, hits
