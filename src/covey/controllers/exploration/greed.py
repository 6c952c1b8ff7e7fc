"""Greed: go all the way to the nearest unseen place."""

import numpy as np

from covey.controllers.exploration.frontier_loop import Goal, explore
from covey.errors import InvalidValueError
from covey.mapping.occupancy.frontiers import Frontiers
from covey.onboard.controller import controller
from covey.onboard.handle import Robot
from covey.planning.costs import clearance
from covey.planning.flood import nearest_by_steps
from covey.planning.progress import Blacklist
from covey.robots.parameters import TileSide

_DEADLOCK_S = 5.0


@controller("greed", sees=("pose", "map", "shared_map"), needs=("map",), missions=("exploration",))
async def greed(robot: Robot, *, tile_m: TileSide = 1.0) -> None:
    """Go to the open place beside the nearest unseen place, counted in steps on the robot's map, again and again.

    A breadth-first search over four-connected cells finds the nearest unseen cell. A second search finds the open place
    nearest to that cell: one with no known wall within half a tile. The robot drives to within half a tile of it, even
    if others see it meanwhile. It gives up a place that turns out to be beside a wall, or where it has stood for 5 s.
    Robots share their maps and nothing else, so robots that start together follow each other. It ends when its own map
    has no unseen cell that can be reached. The maps from robots that vanish stay; nobody waits for them.

    Args:
        robot: a robot with a map.
        tile_m: side of MAES' tiles [m]; unseen places whose border is shorter than this come last.

    Unlike the source:
        Compared with MAES, Greed.cs.

        - tiles -> cells; open: no known wall within half a tile
        - a new goal when there is no path -> also when the goal turns out to be beside a wall
        - deadlock: the same tile five times, a second apart -> less than 0.3 m in 5 s
        - maps are merged when two have arrived -> two robots merge as well
        - straight on at first -> left out
        - no open tile can be reached -> the free cell beside the unseen one; done when there is none

    References:
        The baseline of E. E. Schmidt, R. Sørensen, M. Beregaard, M. Albano: Spiralling human-inspired exploration
        algorithm with doorway detection, ICAART 2025; in its experiments also called avarice.
    """
    if not tile_m > 0:
        raise InvalidValueError(f"tile_m is {tile_m!r}; it must be above 0")
    assert robot.map is not None
    least = max(1, round(tile_m / robot.map.grid.resolution))
    refused, was_open = Blacklist(tolerance_m=1.0), False

    def choose(robot: Robot, frontiers: Frontiers, allowed: np.ndarray) -> Goal | None:
        nonlocal was_open
        goal = choose_by_steps(robot, frontiers, allowed, refused, tile_m)
        was_open = goal is not None and is_open(robot, goal, tile_m)
        return goal

    await explore(
        robot,
        choose,
        definition="explore",
        min_cells=least,
        replan_s=np.inf,
        near_m=np.inf,
        tolerance_m=0.5 * tile_m,
        stall_s=_DEADLOCK_S,
        refused=refused,
        each_step=lambda robot, goal: goal is not None and was_open and not is_open(robot, goal, tile_m),
    )


def choose_by_steps(
    robot: Robot, frontiers: Frontiers, allowed: np.ndarray, refused: Blacklist, tile_m: float
) -> Goal | None:
    """Return the centre [m] of the open cell nearest to the unseen cell that is the fewest steps away.

    If no open cell can be reached, or that cell was tried in vain, it is the free cell beside the unseen one.
    """
    assert robot.map is not None
    grid, occupancy = robot.map.grid, robot.map.occupancy()
    start = tuple(int(i) for i in grid.to_cells(robot.pose[:2]))
    target = np.zeros(grid.shape, bool)
    cells = frontiers.cells[allowed]
    target[cells[:, 0], cells[:, 1]] = True
    passable = robot.reachable() & (occupancy == 0)
    found = nearest_by_steps(passable, (start[0], start[1]), target & passable)
    if found is None:
        return robot.nearest(cells)
    roomy = clearance(occupancy, grid.resolution, tile_m) >= 0.5 * tile_m - 1e-6
    place = nearest_by_steps(passable, found, passable & roomy)
    x, y = grid.to_world(found if place is None or grid.to_world(place) in refused else place).tolist()
    return x, y


def is_open(robot: Robot, place: Goal, tile_m: float) -> bool:
    """Return whether no wall is known within half a tile of a place [m]."""
    assert robot.map is not None
    grid, reach = robot.map.grid, int(tile_m / robot.map.grid.resolution) + 2
    row, column = grid.cell_at(*place)
    top, left = max(row - reach, 0), max(column - reach, 0)
    window = np.ascontiguousarray(robot.map.occupancy()[top : row + reach + 1, left : column + reach + 1])
    return bool(clearance(window, grid.resolution, tile_m)[row - top, column - left] >= 0.5 * tile_m - 1e-6)
