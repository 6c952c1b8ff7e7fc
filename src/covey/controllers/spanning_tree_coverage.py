"""Spanning tree coverage: round a spanning tree of large cells, every place once."""

import math

import numpy as np

from covey.controllers.cover_loop import Sweep
from covey.planning.spanning_tree import Cell, SpanningTree, State, sections, small_cell, straight_runs, whole_walk
from covey.robots.controller import controller
from covey.robots.handle import Robot
from covey.robots.model import inscribed_radius

_LISTEN_S = 2.0
_AHEAD = 4
"""So many quarters the robot looks ahead while it does not know the map."""


@controller(
    "spanning_tree_coverage", sees=("pose", "map", "shared_map", "radio", "lidar", "neighbours", "shared_frame")
)
async def spanning_tree_coverage(robot: Robot, *, gap_m: float = 0.02) -> None:
    """Go round a spanning tree of free cells that are twice as wide as the body, counter-clockwise.

    The width D of the body is the side of the largest square in it: then the corners are covered, too. The place is cut
    into cells of 2D; a robot without a map builds the tree while it goes, from what its lidar shows (STC on line). With
    the map given (``known_map``) the cells are laid so that most of them are free, and the robots that hear each other
    share the way round one tree in equal parts (after MSTC). Cells that are only partly free are not part
    of the method: what they leave over, and what a partner that vanished has left over, is visited in the end by
    whoever is nearest. It ends when nothing is left to cover.

    Args:
        robot: a robot with a map and a lidar.
        gap_m: gap to walls that is kept [m].

    References:
        Y. Gabriely, E. Rimon: Spanning-tree based coverage of continuous areas by a mobile robot. Annals of Mathematics
        and Artificial Intelligence 31, 2001. N. Hazon, G. A. Kaminka: Redundancy, efficiency and robustness in
        multi-robot coverage. ICRA 2005.
    """
    await robot.sleep(0.5)  # the first scan
    known = not len(robot.frontiers())
    if not known:
        await robot.turn(2.0 * math.pi)  # so that no cell near by stays unknown between two rays
    sweep = Sweep(robot, gap_m)
    cells = LargeCells(sweep, robot, known)
    if known:
        await robot.sleep(_LISTEN_S, until=sweep.mark)
        await _cover_section(robot, sweep, cells)
    else:
        await _cover_on_line(robot, sweep, cells)
    await sweep.finish(robot)


class LargeCells:
    """Square cells of twice the body's width over a map.

    Args:
        sweep: the map and where the body can be.
        robot: it stands in the middle of a quarter of a large cell, unless the map is known.
        known: lay the cells so that as many as possible are free.

    Attributes:
        side: of a quarter [m].
        origin: x, y of the corner of large cell (0, 0) [m].
    """

    def __init__(self, sweep: Sweep, robot: Robot, known: bool):
        self.sweep, self.robot = sweep, robot
        self.side = math.sqrt(2.0) * inscribed_radius(np.array(robot.model.body_discs))
        x, y = robot.pose[:2]
        self.origin = (x - 0.5 * self.side, y - 0.5 * self.side)
        if known:
            steps = max(1, round(2.0 * self.side / sweep.grid.resolution))
            shifts = [2.0 * self.side * k / steps for k in range(steps)]
            x0, y0 = self._corner()
            candidates = [(x0 + a, y0 + b) for b in shifts for a in shifts]
            self.origin = max(candidates, key=lambda o: (self._count(o), -o[0], -o[1]))

    def _corner(self) -> tuple[float, float]:
        x, y = self.sweep.grid.to_world(np.argwhere(self.sweep.standing)).min(axis=0).tolist()
        return x - 2.0 * self.side, y - 2.0 * self.side

    def _middles(self, origin: tuple[float, float], rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        return np.stack((origin[0] + self.side * (columns + 0.5), origin[1] + self.side * (rows + 0.5)), axis=-1)

    def _count(self, origin: tuple[float, float]) -> int:
        rows, columns = (math.ceil(s / self.side) + 4 for s in self.sweep.grid.size_m[::-1])
        rows, columns = rows + rows % 2, columns + columns % 2
        at = self.sweep.grid.to_cells(self._middles(origin, *np.mgrid[0:rows, 0:columns]))
        inside = self.sweep.grid.inside(at)
        at = np.where(inside[..., None], at, 0)
        free = inside & self.sweep.standing[at[..., 0], at[..., 1]]
        return int(free.reshape(rows // 2, 2, columns // 2, 2).all(axis=(1, 3)).sum())

    def free(self, cell: Cell) -> bool:
        """Return whether the body can be in the middles of all four quarters of a large cell, and between them."""
        return bool(self._free(np.array([cell]))[0])

    def _free(self, cells: np.ndarray) -> np.ndarray:
        """Return `free` of large cells, int64 (k, 2), bool (k,)."""
        rows, columns = 2 * cells[:, :1] + [0, 0, 1, 1, 0.5], 2 * cells[:, 1:] + [0, 1, 0, 1, 0.5]
        at = self.sweep.grid.to_cells(self._middles(self.origin, rows, columns))
        inside = self.sweep.grid.inside(at)
        at = np.where(inside[..., None], at, 0)
        return (inside & self.sweep.standing[at[..., 0], at[..., 1]]).all(axis=-1)

    def middle(self, state: State) -> tuple[float, float]:
        """Return the middle of a quarter [m]."""
        row, column = small_cell(state)
        return self.origin[0] + self.side * (column + 0.5), self.origin[1] + self.side * (row + 0.5)

    def state_at(self, x: float, y: float) -> State:
        """Return the quarter that holds a point [m]."""
        row, column = math.floor((y - self.origin[1]) / self.side), math.floor((x - self.origin[0]) / self.side)
        quarter = {(0, 0): 0, (0, 1): 1, (1, 1): 2, (1, 0): 3}[row % 2, column % 2]
        return row // 2, column // 2, quarter

    def nearest_free(self, x: float, y: float) -> State | None:
        """Return the quarter of a free large cell nearest to a point [m]; None when there is none within 20 cells."""
        row, column, _ = self.state_at(x, y)
        near = np.array([(row + a, column + b) for a in range(-20, 21) for b in range(-20, 21)])
        states = [(r, c, q) for r, c in near[self._free(near)].tolist() for q in range(4)]
        return min(states, key=lambda s: math.dist(self.middle(s), (x, y))) if states else None


async def _cover_on_line(robot: Robot, sweep: Sweep, cells: LargeCells) -> None:
    """Build the tree while going round it."""

    def free(cell: Cell) -> bool:
        sweep.look(robot)
        return cells.free(cell)

    start = cells.nearest_free(*robot.pose[:2])
    if start is None:
        return
    robot.note("round the tree")
    tree = SpanningTree(free, start)
    ahead, goes_on = [start], True
    while ahead:
        await _drive(robot, sweep, cells, ahead)
        ahead = []
        while goes_on and len(ahead) < _AHEAD:
            goes_on = tree.advance()
            ahead.append(tree.state)


async def _cover_section(robot: Robot, sweep: Sweep, cells: LargeCells) -> None:
    """Cover this robot's section of the walk round the tree that all robots share."""
    places = {name: tuple(mate.pose[:2]) for name, mate in sweep.mates.others(robot).items()}
    places[robot.name] = (float(robot.home.x), float(robot.home.y))
    root = cells.nearest_free(*places[min(places)])
    if root is None:
        return
    walk = whole_walk(cells.free, root)
    middles = np.array([cells.middle(state) for state in walk])
    entries = {name: int(np.argmin(np.hypot(*(middles - place).T))) for name, place in sorted(places.items())}
    section = sections(entries, len(walk))[robot.name]
    robot.note(f"{len(section)} of {len(walk)} cells")
    await _drive(robot, sweep, cells, [walk[k % len(walk)] for k in section])


async def _drive(robot: Robot, sweep: Sweep, cells: LargeCells, states: list[State]) -> None:
    """Drive through the middles of some quarters, without a stop where they lie in a line."""
    for run in straight_runs(states):
        await sweep.go(robot, *cells.middle(run[-1]))
