"""Next best view: go where much of the unknown would come into sight at a short distance."""

import math

import numpy as np

from covey.controllers.exploration.frontier_loop import Goal, explore
from covey.controllers.exploration.team_assignment import middles, sensor_range_m
from covey.kernel import kernel
from covey.mapping.occupancy.frontiers import Frontiers
from covey.onboard.controller import controller
from covey.onboard.handle import Robot
from covey.planning.progress import Blacklist
from covey.robots.parameters import Count, Definition, Draws, Metres, Seconds, Weight

_RAYS = 90
_SIDE = 5  # of the squares in which views are counted [cells]
_NEAR_M = 2.0
"""Views are drawn within this distance of the frontiers [m]."""


@controller("next_best_view", sees=("pose", "map", "shared_map"), needs=("map",), missions=("exploration",))
async def next_best_view(
    robot: Robot,
    *,
    decay_per_m: Weight = 0.2,
    views: Draws = 40,
    min_cells: Count = 8,
    definition: Definition = "explore",
    piece_m: Metres = 4.0,
    replan_s: Seconds = 10.0,
) -> None:
    """Go to the place with the largest A exp(-``decay_per_m`` L): A is the unknown area in sight, L the path length.

    A [m2] is the unknown area that rays of the sensor's range would cross before they hit a known wall, if everything
    unknown were open ground: the most that the view can reveal. Candidates are the frontiers, and random places near
    them that the robot can reach. Each robot decides for itself; shared maps are the only coordination, and a robot
    that vanishes changes nothing. It ends when it can reach no frontier.

    Args:
        robot: a robot with a map.
        decay_per_m: rate at which a view loses value with the path length to it [1/m].
        views: number of places drawn near the frontiers for each choice.
        min_cells: smallest frontier to look at, in cells; smaller ones count when no other is left.
        definition: which cells are frontier cells, see `covey.mapping.occupancy.frontiers.find_frontiers`.
        piece_m: distance between candidates on a frontier [m].
        replan_s: time between two choices while driving [s].

    Unlike the source:
        Compared with the abstract, and the formula A exp(-lambda L) that later work cites (lambda 0.2).

        - candidates: random points near the border of the known -> also the frontiers, so the exploration ends
        - views that see too little of the known are dropped -> left out: scans are not matched here
        - one robot -> a team shares maps and nothing else
        - it always drives to the chosen view -> it chooses again every ``replan_s``, and when nothing near is unknown;
          no return to a view that failed

    References:
        H. H. Gonzalez-Banos, J.-C. Latombe: Navigation strategies for exploring indoor environments. International
        Journal of Robotics Research 21(10-11), 2002 (the criterion).
        F. Amigoni: Experimental evaluation of some exploration strategies for mobile robots. ICRA 2008 (0.2 1/m).
    """
    reach, refused = sensor_range_m(robot), Blacklist(tolerance_m=1.0)

    def choose(robot: Robot, frontiers: Frontiers, allowed: np.ndarray) -> Goal | None:
        assert robot.map is not None
        grid, way = robot.map.grid, robot.travel_cost()
        open_cells = allowed & np.isfinite(way[frontiers.cells[:, 0], frontiers.cells[:, 1]])
        if not open_cells.any():
            return None
        edge = frontiers.cells[open_cells]
        cells = middles(edge, frontiers.label[open_cells], piece_m / grid.resolution)
        drawn = _drawn(robot, edge, way, views, _NEAR_M / grid.resolution)
        cells = np.vstack((cells, drawn[refused.clear(grid.to_world(drawn))]))
        robot.charge_work("view", len(cells))
        area = unseen_area(robot.map.occupancy(), cells, reach / grid.resolution) * grid.resolution**2
        x, y = grid.to_world(cells[best_view(area, way[cells[:, 0], cells[:, 1]], decay_per_m)]).tolist()
        return x, y

    near_m = _NEAR_M + 1.0
    await explore(
        robot, choose, definition=definition, min_cells=min_cells, replan_s=replan_s, near_m=near_m, refused=refused
    )


def best_view(area: np.ndarray, way: np.ndarray, decay_per_m: float) -> int:
    """Return the index of the view with the largest A exp(-decay L); if no view shows anything, of the nearest.

    Args:
        area: unknown area in sight from each view [m2], float64 (k,).
        way: travel cost to each view [m], float (k,).
        decay_per_m: rate of decay [1/m].

    Examples:
        >>> best_view(np.array([2.0, 30.0]), np.array([1.0, 8.0]), 0.2)  # 2 exp(-0.2) = 1.6 against 30 exp(-1.6) = 6.1
        1
    """
    with np.errstate(divide="ignore"):
        worth = np.log(area) - decay_per_m * way
    return int(np.lexsort((way, -worth))[0])


def _drawn(robot: Robot, edge: np.ndarray, way: np.ndarray, count: int, near: float) -> np.ndarray:
    """Return random reachable cells within ``near`` cells of frontier cells, int64 (at most count, 2)."""
    drawn = edge[robot.random.integers(len(edge), size=count)] + np.rint(
        robot.random.uniform(-near, near, (count, 2)) / math.sqrt(2.0)
    ).astype(np.int64)
    drawn = drawn[((drawn >= 0) & (drawn < way.shape)).all(axis=1)]
    return drawn[np.isfinite(way[drawn[:, 0], drawn[:, 1]])]


def unseen_area(occupancy: np.ndarray, cells: np.ndarray, reach: float, shared: bool = False) -> np.ndarray:
    """Return the number of unknown cells that can come into sight from each of some cells.

    Each ray stands for a sector; its part between r1 and r2 has an area of (r2^2 - r1^2) / 2 times its angle.

    Args:
        occupancy: int8 (rows, columns), -1 unknown, 0 free, 100 occupied.
        cells: int64 (k, 2), rows and columns.
        reach: range of the sensor [cells].
        shared: what comes into sight from several cells is divided among them.

    Returns:
        float64 (k,) [cells].
    """
    angle = 2.0 * math.pi * np.arange(_RAYS) / _RAYS
    directions = np.column_stack((np.sin(angle), np.cos(angle)))
    return _unseen(occupancy, np.ascontiguousarray(cells, np.int64), directions, float(reach), shared)


@kernel
def _unseen(occupancy, cells, directions, reach, shared):
    rows, columns = occupancy.shape
    seers = np.zeros((rows // _SIDE + 1, columns // _SIDE + 1), np.int64)  # how many cells see each square
    last, out = np.full(seers.shape, -1), np.zeros(cells.shape[0])
    sector = 2.0 * math.pi / directions.shape[0]
    for counts in (True, False):
        if counts and not shared:
            continue
        for k in range(cells.shape[0]):
            total = 0.0
            for d in range(directions.shape[0]):
                for i in range(1, int(reach) + 1):
                    r = math.floor(cells[k, 0] + 0.5 + i * directions[d, 0])
                    c = math.floor(cells[k, 1] + 0.5 + i * directions[d, 1])
                    if r < 0 or c < 0 or r >= rows or c >= columns or occupancy[r, c] > 50:
                        break
                    if occupancy[r, c] >= 0:
                        continue
                    a, b = r // _SIDE, c // _SIDE
                    if not counts:
                        ring = i * sector  # from i - 1/2 to i + 1/2
                        total += ring / seers[a, b] if shared else ring
                    elif last[a, b] != k:
                        last[a, b] = k
                        seers[a, b] += 1
            out[k] = total
    return out
