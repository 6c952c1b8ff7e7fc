"""Spanning tree coverage: drive around a tree of large cells, over each of the small cells once.

References:
    Y. Gabriely, E. Rimon: Spanning-tree based coverage of continuous areas by a mobile robot. Annals of Mathematics
    and Artificial Intelligence 31, 2001.
"""

from collections.abc import Callable, Iterable, Iterator

Cell = tuple[int, int]
State = tuple[int, int, int]
"""Row and column of a large cell, and its quarter: 0 south-west, 1 south-east, 2 north-east, 3 north-west."""

_OUT = ((-1, 0), (0, 1), (1, 0), (0, -1))
_LANDING = (3, 0, 1, 2)
_QUARTER = ((0, 0), (0, 1), (1, 1), (1, 0))


class SpanningTree:
    """A tree that grows while the robot drives around it, counter-clockwise, with the tree on its left.

    At each quarter of a large cell one neighbour lies ahead. If it belongs to the tree, the robot crosses over to it.
    If it is free and new, it joins the tree. Otherwise the robot turns to the next quarter. This makes the walk the
    depth-first search of the paper, which visits the neighbours counter-clockwise from the one it came from.

    Args:
        free: returns whether a large cell can be driven over, as far as known.
        start: the robot's place.

    Examples:
        >>> tree = SpanningTree(lambda cell: cell in [(0, 0), (0, 1)], (0, 0, 0))
        >>> walk = [tree.state]
        >>> while tree.advance():
        ...     walk.append(tree.state)
        >>> walk
        [(0, 0, 0), (0, 0, 1), (0, 1, 0), (0, 1, 1), (0, 1, 2), (0, 1, 3), (0, 0, 2), (0, 0, 3)]
    """

    def __init__(self, free: Callable[[Cell], bool], start: State):
        self.free, self.start, self.state = free, start, start
        self.cells: set[Cell] = {start[:2]}
        self.edges: set[tuple[Cell, Cell]] = set()

    def advance(self) -> bool:
        """Go to the next quarter; return False if that is the start of the walk: everything has been covered."""
        row, column, quarter = self.state
        here, ahead = (row, column), (row + _OUT[quarter][0], column + _OUT[quarter][1])
        edge = (min(here, ahead), max(here, ahead))
        if edge not in self.edges and ahead not in self.cells and self.free(ahead):
            self.cells.add(ahead)
            self.edges.add(edge)
        self.state = (*ahead, _LANDING[quarter]) if edge in self.edges else (row, column, (quarter + 1) % 4)
        return self.state != self.start


def small_cell(state: State) -> Cell:
    """Return row and column of the small cell of a state; small cells are half as large as large ones.

    Examples:
        >>> small_cell((1, 2, 3))
        (3, 4)
    """
    row, column, quarter = state
    return 2 * row + _QUARTER[quarter][0], 2 * column + _QUARTER[quarter][1]


def whole_walk(free: Callable[[Cell], bool], start: State) -> list[State]:
    """Return the whole walk around the tree of a known place, from ``start`` on."""
    tree = SpanningTree(free, start)
    walk = [start]
    while tree.advance():
        walk.append(tree.state)
    return walk


def straight_runs(walk: Iterable[State]) -> Iterator[list[State]]:
    """Yield the straight pieces of the walk, each with the quarter where it ends; the first piece is the start alone.

    Examples:
        >>> [run[-1] for run in straight_runs(whole_walk(lambda cell: cell in [(0, 0), (0, 1)], (0, 0, 0)))]
        [(0, 0, 0), (0, 1, 1), (0, 1, 2), (0, 0, 3)]
    """
    run: list[State] = []
    direction = None
    for state in walk:
        if run:
            (a, b), (c, d) = small_cell(run[-1]), small_cell(state)
            if direction not in (None, (c - a, d - b)) or direction is None:
                yield run
                run = []
            direction = c - a, d - b
        run.append(state)
    if run:
        yield run


def sections(entries: dict[str, int], length: int) -> dict[str, range]:
    """Return the part of the closed walk that each robot covers: equal parts, in the robots' order along the walk.

    MSTC gives each robot the part up to the next robot's place. These parts are as unequal as the places: of robots
    that start side by side, one covers nearly everything. Here the first part begins at the first robot's place.

    Args:
        entries: index of each robot's place on the walk.
        length: length of the walk.

    References:
        N. Hazon, G. A. Kaminka: Redundancy, efficiency and robustness in multi-robot coverage. ICRA 2005.

    Examples:
        >>> sections({"a": 7, "b": 2, "c": 3}, 9)
        {'b': range(2, 5), 'c': range(5, 8), 'a': range(8, 11)}
    """
    order = sorted(entries, key=lambda name: (entries[name], name))
    first = entries[order[0]]
    cuts = [first + k * length // len(order) for k in range(len(order) + 1)]
    return {name: range(cuts[k], cuts[k + 1]) for k, name in enumerate(order)}
