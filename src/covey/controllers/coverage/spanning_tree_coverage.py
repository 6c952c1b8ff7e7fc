"""Spanning tree coverage: drive around a spanning tree of large cells, over every place once."""

import math
from collections.abc import Container, Iterable

import numpy as np

from covey.controllers.coverage.coverage_loop import Sweep, know_the_place
from covey.onboard.controller import controller
from covey.onboard.handle import Robot
from covey.planning.spanning_tree import Cell, SpanningTree, State, sections, small_cell, straight_runs, whole_walk
from covey.robots.model import inscribed_radius
from covey.robots.parameters import Gap

_LISTEN_S = 2.0
_AHEAD = 4
"""Number of quarters that the robot looks ahead while it does not know the map."""
_TREE, _TELL_ALL_S = "tree", 10.0
_MISSED = 3
"""Number of places in a row that a robot fails to reach before it leaves its tree."""


@controller(
    "spanning_tree_coverage",
    sees=("pose", "map", "shared_map", "radio", "lidar", "neighbours", "shared_frame"),
    missions=("coverage", "exploration"),
)
async def spanning_tree_coverage(robot: Robot, *, gap_m: Gap = 0.02) -> None:
    """Drive counter-clockwise around a spanning tree of free cells that are twice as wide as the body.

    The width D of the body is the side of the largest square in it, so that the corners are covered, too. The place is
    cut into cells of 2D. Without a map, robots build their trees as they drive, from their lidars, on the cells of
    their shared frame (ORMSTC): a robot adds each free neighbour that is in no other robot's tree to its own, and
    announces it. A robot that has finished its tree waits for the others. A robot that falls silent loses its cells,
    and one that is done builds a tree through them. With a given map (``known_map``) the cells are placed so that most
    of them are free, and the robots that hear each other share the walk around one tree in equal parts (after MSTC).
    The method leaves out cells that are only partly free: the nearest robot visits what is left of them. It ends when
    nothing is left to cover.

    Args:
        robot: a robot with a map and a lidar.
        gap_m: gap to walls that is kept [m].

    Unlike the source:
        Compared with abstracts and later papers: Gabriely, Rimon; without a map Hazon, Mieli, Kaminka; with one MSTC.

        - partly occupied cells are not covered -> visited in the end; D is the side of the largest square in the body
        - without a map: robots agree on the cells -> they begin at 0, 0 of the common frame
        - cells are announced, neighbours are checked -> announced again every 10 s; who is not heard for 10 s counts as
          dead
        - a tree grows through cells of the dead -> a new tree in the nearest free cell
        - with a map: each robot goes to the place of the next -> equal parts, else one robot would do everything if all
          start together

    References:
        Y. Gabriely, E. Rimon: Spanning-tree based coverage of continuous areas by a mobile robot. Annals of Mathematics
        and Artificial Intelligence 31, 2001. N. Hazon, F. Mieli, G. A. Kaminka: Towards robust on-line multi-robot
        coverage. ICRA 2006 (ORMSTC). N. Hazon, G. A. Kaminka: Redundancy, efficiency and robustness in multi-robot
        coverage. ICRA 2005 (MSTC).
    """
    await robot.sleep(0.5)  # the first scan
    known = not len(robot.frontiers())
    if not known:
        await robot.turn(2.0 * math.pi)  # so that no nearby cell stays unknown between two rays
    sweep = Sweep(robot, gap_m)
    cells = LargeCells(sweep, robot, known)
    if known:
        await robot.sleep(_LISTEN_S, until=sweep.mark)
        await _cover_section(robot, sweep, cells)
    else:
        await robot.sleep(0.3 * robot.team.index(robot.name), until=sweep.mark)  # robots begin one after the other
        await Forest(robot, sweep, cells).cover()
    await sweep.finish(robot)


class LargeCells:
    """Square cells, twice as wide as the body, over a map.

    Args:
        sweep: the map and where the body can be.
        robot: gives the width of the body.
        known: place the cells so that as many as possible are free; else they begin at the frame's origin.

    Attributes:
        side: side of a quarter [m].
        origin: x, y of the corner of large cell (0, 0) [m].
    """

    def __init__(self, sweep: Sweep, robot: Robot, known: bool):
        self.sweep, self.robot = sweep, robot
        self.side = math.sqrt(2.0) * inscribed_radius(np.array(robot.model.body_discs))
        self.origin = (0.0, 0.0)
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
        """Return whether the body fits in the middle of all four quarters of a large cell, and between them."""
        return bool(self._free(np.array([cell]))[0])

    def _free(self, cells: np.ndarray) -> np.ndarray:
        """Return `free` for large cells, int64 (k, 2), as bool (k,)."""
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

    def all_free(self) -> list[Cell]:
        """Return the free large cells of the map."""
        (x, y), (width, height) = self.sweep.grid.origin[:2], self.sweep.grid.size_m
        low, high = self.state_at(x, y), self.state_at(x + width, y + height)
        cells = np.mgrid[low[0] : high[0] + 1, low[1] : high[1] + 1].reshape(2, -1).T
        return [(row, column) for row, column in cells[self._free(cells)].tolist()]

    def nearest_free(self, x: float, y: float, taken: Container[Cell] = ()) -> State | None:
        """Return the quarter of a free large cell, not taken, that is nearest to a point [m]; None if there is none."""
        states = [(*cell, quarter) for cell in self.all_free() if cell not in taken for quarter in range(4)]
        return min(states, key=lambda s: math.dist(self.middle(s), (x, y))) if states else None

    def covered(self, cell: Cell) -> bool:
        """Return whether some robot has been in the middle of all four quarters of a large cell."""
        return all(self.sweep.done[self.sweep.cell_of(*self.middle((*cell, quarter)))] for quarter in range(4))

    def within(self, cells: Iterable[Cell]) -> np.ndarray:
        """Return which cells of the map lie in the given large cells, bool (rows, columns)."""
        grid, mask = self.sweep.grid, np.zeros(self.sweep.grid.shape, bool)
        for row, column in cells:
            low = (self.origin[0] + 2 * self.side * column, self.origin[1] + 2 * self.side * row)
            (first, left), (last, right) = grid.to_cells([low, np.add(low, 2 * self.side)]).tolist()
            mask[max(first, 0) : max(last + 1, 0), max(left, 0) : max(right + 1, 0)] = True
        return mask


class Forest:
    """The trees that robots without a map build as they drive, as one robot knows them.

    Attributes:
        own: large cells of this robot's trees.
    """

    def __init__(self, robot: Robot, sweep: Sweep, cells: LargeCells):
        self.robot, self.sweep, self.cells = robot, sweep, cells
        self.own: set[Cell] = set()
        self._others: dict[str, set[Cell]] = {}
        self._told_s = 0.0

    def taken(self) -> set[Cell]:
        """Return the cells in the trees of recently heard robots; silent robots lose theirs."""
        for message in self.robot.messages(_TREE):
            self._others.setdefault(message.sender, set()).update(message.payload)
        heard = self.sweep.mates.others(self.robot)
        self._others = {name: tree for name, tree in self._others.items() if name in heard}
        return set().union(*self._others.values())

    def claim(self, cells: set[Cell]) -> None:
        """Add cells to the robot's trees and announce them; repeat all every few seconds, for robots that come near."""
        again = self.robot.time >= self._told_s + _TELL_ALL_S
        if new_cells := self.own | cells if again else cells - self.own:
            self.robot.send(sorted(new_cells), kind=_TREE)
        self._told_s = self.robot.time if again else self._told_s
        self.own |= cells

    async def cover(self) -> None:
        """Build trees and drive around them until each free cell is in a tree and all robots are done."""
        robot, explored = self.robot, False
        while True:
            self.sweep.update(robot)
            covered = {cell for cell in self.cells.all_free() if self.cells.covered(cell)}
            start = self.cells.nearest_free(robot.pose[0], robot.pose[1], self.own | self.taken() | covered)
            if start is not None:
                explored = False
                await self.go_round(start)
            elif any(mate.facts.get("walks") for mate in self.sweep.mates.others(robot).values()):
                await self.help()
            elif explored:
                return
            else:
                explored = True
                await know_the_place(robot)

    async def go_round(self, start: State) -> None:
        """Build one tree and drive around it.

        If another robot blocks the path, the walk continues behind it. If the robot fails to reach several places in a
        row, it gives up, and its trees lose the cells that it has not covered.
        """
        tree = SpanningTree(self._is_new, start)
        self.sweep.facts = {"walks": True}
        self.robot.note("round the tree")
        ahead, goes_on, missed = [start], True, []
        while ahead:
            self.claim(tree.cells)
            for run in straight_runs(ahead):
                got_there = await self.sweep.go(self.robot, *self.cells.middle(run[-1]))
                missed = [] if got_there else [*missed, run[-1][:2]]
            if len(missed) >= _MISSED:
                self.own = {cell for cell in self.own if self.cells.covered(cell)}.union(missed)
                break
            ahead = []
            while goes_on and len(ahead) < _AHEAD:
                goes_on = tree.advance()
                ahead.append(tree.state)
        self.sweep.facts = {"walks": False}

    def _is_new(self, cell: Cell) -> bool:
        self.sweep.update(self.robot)
        return cell not in self.own and cell not in self.taken() and self.cells.free(cell)

    async def help(self) -> None:
        """While others drive around their trees: cover a nearby place that no tree reaches, or wait."""
        mask = self.sweep.mine(self.robot, self.sweep.left & ~self.cells.within(self.cells.all_free()))
        if mask.any():
            await self.sweep.visit_nearest(self.robot, mask)
        else:
            await self.robot.sleep(0.5, until=self.sweep.mark)


async def _cover_section(robot: Robot, sweep: Sweep, cells: LargeCells) -> None:
    """Cover this robot's section of the walk around the shared tree."""
    places = {name: tuple(mate.pose[:2]) for name, mate in sweep.mates.others(robot).items()}
    places[robot.name] = (float(robot.home.x), float(robot.home.y))
    x, y = places[min(places)]
    root = cells.nearest_free(x, y)
    if root is None:
        return
    walk = whole_walk(cells.free, root)
    middles = np.array([cells.middle(state) for state in walk])
    entries = {name: int(np.argmin(np.hypot(*(middles - place).T))) for name, place in sorted(places.items())}
    section = sections(entries, len(walk))[robot.name]
    robot.note(f"{len(section)} of {len(walk)} cells")
    for run in straight_runs(walk[k % len(walk)] for k in section):
        await sweep.go(robot, *cells.middle(run[-1]))
