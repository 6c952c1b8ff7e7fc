"""Partitioned coverage: each robot covers the area nearest to it; what is left is divided again."""

import numpy as np

from covey.controllers.coverage.boustrophedon import sweep_cells
from covey.controllers.coverage.coverage_loop import Sweep, know_the_place
from covey.onboard.controller import controller, controllers
from covey.onboard.handle import Robot
from covey.planning.dijkstra import dijkstra
from covey.robots.parameters import Gap, Overlap

_LISTEN_S = 2.0
_SMALL = 20.0


@controller(
    "partitioned_coverage",
    sees=("pose", "map", "shared_map", "radio", "lidar", "neighbours", "shared_frame"),
    needs=("map",),
    missions=("coverage", "exploration"),
)
async def partitioned_coverage(robot: Robot, *, overlap: Overlap = 0.1, gap_m: Gap = 0.02) -> None:
    """Divide the area by the path length from each robot, and sweep the robot's own part.

    The robot needs a map: given (``known_map``) or, where there are frontiers, explored first. Robots report where they
    are and where they have driven. A robot that has finished divides the rest among the robots that it still hears, so
    the others take over the part of a robot that vanishes or is slow. A robot that hears nobody covers everything. It
    ends when nothing is left to cover.

    Args:
        robot: a robot with a map and a lidar.
        overlap: overlap of neighbouring lanes, as a share of the body's width.
        gap_m: gap kept to walls [m].

    The parts are the geodesic Voronoi regions of the robots' positions at one moment. This method is not from a paper.
    What is called Voronoi coverage (J. Cortés, S. Martínez, T. Karataş, F. Bullo: Coverage control for mobile sensing
    networks. IEEE Transactions on Robotics and Automation 20(2), 2004; A. Breitenmoser et al., ICRA 2010) moves each
    robot to the centroid of its region, so that the robots together watch a place, but does not sweep it.

    References:
        H. Choset: Coverage of known spaces. Autonomous Robots 9(3), 2000 (the lanes within a part).
    """
    await know_the_place(robot)
    sweep = Sweep(robot, gap_m)
    await robot.sleep(_LISTEN_S, until=sweep.mark)
    small = _SMALL * (2.0 * sweep.radius / sweep.grid.resolution) ** 2
    before = np.inf
    while True:
        sources = [robot.pose[:2], *(mate.pose[:2] for mate in sweep.mates.others(robot).values())]
        names = [robot.name, *sweep.mates.others(robot)]
        rank = sorted(range(len(names)), key=lambda k: names[k])
        part, work = nearest_robot(sweep.standing, [sweep.cell_of(*sources[k]) for k in rank])
        robot.charge_search(work)
        region = sweep.standing & sweep.left & (part == rank.index(0))
        left = int(region.sum())
        if left < small or left > 0.7 * before:
            break
        before = left
        await sweep_cells(robot, sweep, region, overlap, shared=False)
    await sweep.finish(robot)


controllers.renamed["voronoi_coverage"] = "partitioned_coverage"


def nearest_robot(standing: np.ndarray, robots: list[tuple[int, int]]) -> tuple[np.ndarray, int]:
    """Return the robot with the shortest path to each cell, int (rows, columns); and the work of the searches.

    It is -1 where no robot has a path; of several, the first.

    Args:
        standing: bool (rows, columns), where a robot can be.
        robots: row and column of each robot.

    Examples:
        >>> nearest_robot(np.ones((1, 5), bool), [(0, 0), (0, 4)])[0].tolist()
        [[0, 0, 0, 1, 1]]
        >>> wall = np.array([[1, 0, 1], [1, 0, 1], [1, 1, 1]], bool)  # a wall between the two upper corners
        >>> nearest_robot(wall, [(0, 0), (2, 2)])[0].tolist()
        [[0, -1, 1], [0, -1, 1], [0, 1, 1]]
    """
    cost = np.where(standing, np.float32(1), np.float32(np.inf)).astype(np.float32)
    fields = [dijkstra(cost, robot) for robot in robots]
    way = np.stack([field.cost for field in fields])
    near = np.where(standing & np.isfinite(way).any(axis=0), way.argmin(axis=0), -1)
    return near, sum(field.work for field in fields)
