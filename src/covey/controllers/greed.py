"""Greed: to the nearest unseen place, and all the way there."""

import numpy as np

from covey.controllers.frontier_loop import Goal, explore
from covey.errors import InvalidValueError
from covey.mapping.frontiers import Frontiers
from covey.planning.flood import nearest_by_steps
from covey.robots.controller import controller
from covey.robots.handle import Robot

_ALL_THE_WAY_M = 1000.0


@controller("greed", sees=("pose", "map", "shared_map"))
async def greed(robot: Robot, *, tile_m: float = 1.0) -> None:
    """Go to the open cell beside the nearest unseen one, counted in steps over the own map, again and again.

    A breadth-first search over four-connected cells finds the nearest unseen cell; the open cell from which it is
    reached is where the robot goes, all the way, also when the others have seen it meanwhile. Robots share their maps
    and nothing else: those that start together follow each other. It ends when its own map holds no unseen cell that
    can be reached. Robots that vanish leave what they told; nobody waits for them.

    Args:
        robot: a robot with a map.
        tile_m: side of MAES' tiles [m]: unseen places that show less of a rim than this come last.

    References:
        The baseline of E. E. Schmidt, R. Sørensen, M. Beregaard, M. Albano: Spiralling human-inspired exploration
        algorithm with doorway detection, ICAART 2025; in its experiments also called avarice.
    """
    if not tile_m > 0:
        raise InvalidValueError(f"tile_m is {tile_m!r}; it must be above 0")
    assert robot.map is not None
    least = max(1, round(tile_m / robot.map.grid.resolution))
    await explore(robot, choose_by_steps, definition="explore", min_cells=least, replan_s=np.inf, near_m=_ALL_THE_WAY_M)


def choose_by_steps(robot: Robot, frontiers: Frontiers, allowed: np.ndarray) -> Goal | None:
    """Return the centre [m] of the open cell beside the unseen cell that is the fewest steps away."""
    assert robot.map is not None
    grid = robot.map.grid
    start = tuple(int(i) for i in grid.to_cells(robot.pose[:2]))
    target = np.zeros(grid.shape, bool)
    cells = frontiers.cells[allowed]
    target[cells[:, 0], cells[:, 1]] = True
    passable = robot.reachable() & (robot.map.occupancy() == 0)
    found = nearest_by_steps(passable, (start[0], start[1]), target & passable)
    if found is None:
        return robot.nearest(cells)
    x, y = grid.to_world(found).tolist()
    return x, y
