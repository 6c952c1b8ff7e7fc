"""Boustrophedon coverage: divide the floor into cells without obstacles, and sweep each in parallel lanes."""

import numpy as np

from covey.controllers.coverage.coverage_loop import Sweep, know_the_place
from covey.onboard.controller import controller
from covey.onboard.handle import Robot
from covey.planning.boustrophedon import Strip, decompose, lanes, zigzag
from covey.robots.model import inscribed_radius
from covey.robots.parameters import Gap, Overlap

_LISTEN_S = 1.5


@controller(
    "boustrophedon",
    sees=("pose", "map", "shared_map", "radio", "lidar", "neighbours", "shared_frame"),
    needs=("map",),
    missions=("coverage", "exploration"),
)
async def boustrophedon(robot: Robot, *, overlap: Overlap = 0.1, gap_m: Gap = 0.02) -> None:
    """Divide the map into cells, and sweep the nearest cell that no robot has begun, again and again.

    The robot needs a map: given (``known_map``) or, where there are frontiers, explored first. Robots report what they
    do, to keep out of each other's cells: none begins a cell that is more than half covered, or that another robot is
    in or has begun. At the end the robots visit the places that the lanes missed. If a robot vanishes, the others take
    over its cell; a robot that hears nobody covers everything. It ends when nothing is left to cover.

    Args:
        robot: a robot with a map and a lidar.
        overlap: overlap of neighbouring lanes, as a share of the body's width.
        gap_m: gap kept to walls [m].

    Unlike the source:
        Compared with Choset by ipa320/ipa_coverage_planning, a program by others; the paper was not at hand.

        - the map is turned to the direction of most walls (``computeRoomRotationMatrix``) -> rows or columns, whichever
          need fewer lanes; oblique walls cost lanes
        - small cells are merged (``mergeCells``) -> cells smaller than the square of the lane width come last
        - lanes along the longest edge of each cell -> one direction for all cells, as Choset has it
        - cells by an exhaustive walk, or a genetic search -> the nearest cell that no robot has begun; so teams share
          cells

    References:
        H. Choset: Coverage of known spaces: the boustrophedon cellular decomposition. Autonomous Robots 9(3), 2000.
    """
    await know_the_place(robot)
    sweep = Sweep(robot, gap_m)
    await robot.sleep(_LISTEN_S + 0.3 * robot.team.index(robot.name), until=sweep.mark)  # they choose one by one
    await sweep_cells(robot, sweep, sweep.standing, overlap, shared=True)
    await sweep.finish(robot)


async def sweep_cells(robot: Robot, sweep: Sweep, region: np.ndarray, overlap: float, shared: bool) -> None:
    """Cover a region of standing places, bool (rows, columns), cell by cell, always the nearest of those left.

    If ``shared``, other robots cover the same region, so their cells are left to them.
    """
    width = 2.0 * (1.0 - overlap) * inscribed_radius(np.array(robot.model.body_discs)) / sweep.grid.resolution
    turned, strips = best_cells(region, width)
    todo = {i: lane_points(sweep, strip, width, turned) for i, strip in enumerate(strips) if strip.area > width**2}
    while todo:
        open_ones = [i for i in todo if is_open(sweep, strips[i], turned)]
        if shared:
            open_ones = [i for i in open_ones if not is_taken(robot, sweep, strips[i], turned)]
        if not open_ones:
            break
        way = robot.travel_cost()
        entries = [
            (float(way[sweep.cell_of(*path[0])]), i, corner) for i in open_ones for corner, path in enumerate(todo[i])
        ]
        _, i, corner = min(entries)
        robot.note(f"cell {i} of {len(strips)}")
        path = todo.pop(i)[corner]
        sweep.goal_point = path[len(path) // 2]
        for x, y in path:
            await sweep.go(robot, x, y)
    sweep.goal_point = None


def best_cells(region: np.ndarray, width: float) -> tuple[bool, list[Strip]]:
    """Return whether to drive along rows rather than columns, and the cells; the direction with fewer lanes wins."""
    upright, turned = decompose(region), decompose(np.ascontiguousarray(region.T))
    counts = [sum(len(lanes(strip, width)) for strip in strips) for strips in (upright, turned)]
    return (True, turned) if counts[1] < counts[0] else (False, upright)


def lane_points(sweep: Sweep, strip: Strip, width: float, turned: bool) -> list[list[tuple[float, float]]]:
    """Return the points [m] to drive through in a cell, for each of its four corners as the start.

    Lanes along walls and the ends of lanes are moved to where the body just keeps its gap, because a cell of the map
    is coarser than the gap.
    """
    rows = lanes(strip, width)
    clearance = sweep.clearance.T if turned else sweep.clearance
    resolution = sweep.grid.resolution
    needed = sweep.radius + sweep.gap_m

    def slack(part: np.ndarray) -> float:
        return float(min(max(part.min() - needed, 0.0), resolution)) / resolution

    ends = []
    for k, (column, low, high) in enumerate(rows):
        aside = slack(clearance[low : high + 1, column])
        shift = (-aside if k == 0 else 0.0) + (aside if k == len(rows) - 1 and len(rows) > 1 else 0.0)
        below, above = (slack(clearance[row, column : column + 1]) for row in (low, high))
        ends.append((column + shift, low - below, high + above))
    paths = []
    for corner in range(4):
        points = zigzag(ends, corner)  # pyright: ignore[reportArgumentType]
        cells = np.array([(column, row) if turned else (row, column) for row, column in points])
        paths.append([(float(x), float(y)) for x, y in sweep.grid.to_world(cells)])
    return paths


def is_open(sweep: Sweep, strip: Strip, turned: bool) -> bool:
    """Return whether more than half of a cell is uncovered."""
    left = sweep.left.T if turned else sweep.left
    runs = zip(range(strip.first, strip.first + strip.columns), strip.low, strip.high, strict=True)
    return sum(int(left[low : high + 1, column].sum()) for column, low, high in runs) > 0.5 * strip.area


def is_taken(robot: Robot, sweep: Sweep, strip: Strip, turned: bool) -> bool:
    """Return whether another robot is in a cell, or reports that it covers it."""
    for mate in sweep.mates.others(robot).values():
        for point in [tuple(mate.pose[:2]), *([mate.goal] if mate.goal else [])]:
            row, column = sweep.cell_of(*point)[:: -1 if turned else 1]
            k = column - strip.first
            if 0 <= k < strip.columns and strip.low[k] - 1 <= row <= strip.high[k] + 1:
                return True
    return False
