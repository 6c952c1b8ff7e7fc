"""Decisions of selective spiraling and backtracking, as pure functions of tiles."""

from collections.abc import Callable, Iterable, Mapping

from covey.controllers.coverage.tiles import EAST, NORTH, SOUTH, WEST, Tile, beside

Free = Callable[[Tile], bool]
"""Whether a tile may be driven onto: open, not covered, and not reserved by another robot."""

LEFT, RIGHT = 1, -1
_MOST_TILES, _MOST_STRAIGHT = 100, 20


def align(tile: Tile, free: Free) -> tuple[int, int]:
    """Return the direction in which to start a spiral, and the side of its outer wall (`LEFT` or `RIGHT`).

    It is the first of east, south, west, north that is free and has a blocked tile beside it; else north, with the
    outer wall on the right.
    """
    for direction in (EAST, SOUTH, WEST, NORTH):
        if free(beside(tile, direction)):
            for side in (LEFT, RIGHT):
                if not free(beside(tile, direction + side)):
                    return direction, side
    return NORTH, RIGHT


def next_direction(tile: Tile, direction: int, side: int, free: Free) -> int | None:
    """Return the next direction of a spiral: to the outer wall if free, else ahead, else inwards; None: it ends."""
    for way in (direction + side, direction, direction - side):
        if free(beside(tile, way)):
            return way % 4
    return None


def straight_run(tile: Tile, direction: int, side: int, free: Free, most: int = 5) -> list[Tile]:
    """Return the tiles ahead along which a spiral goes straight: free ones with the outer wall beside them."""
    run = []
    here = beside(tile, direction)
    while len(run) < most and free(here):
        run.append(here)
        if free(beside(here, direction + side)):
            break
        here = beside(here, direction)
    return run


def backtracking_points(tile: Tile, direction: int, done: Free) -> list[Tile]:
    """Return the tiles beside a spiral to return to.

    The tile to the left or right is one if it is not done, but the tile ahead, or a tile ahead or behind on that side,
    is.

    Args:
        tile, direction: the robot's tile and its direction.
        done: whether a tile is solid or covered.
    """
    found = []
    for side in (LEFT, RIGHT):
        point = beside(tile, direction + side)
        near = (beside(tile, direction), beside(point, direction), beside(point, direction + 2))
        if not done(point) and any(done(t) for t in near):
            found.append(point)
    return found


def tiles_left(tile: Tile, direction: int, side: int, free: Free) -> int | None:
    """Return the number of tiles left in a spiral; None if that is more than 100, or 20 in a straight line.

    ``free`` treats unknown tiles as free.
    """
    taken, straight = {tile}, 0
    while len(taken) <= _MOST_TILES:
        way = next_direction(tile, direction, side, lambda t: t not in taken and free(t))
        if way is None:
            return len(taken) - 1
        straight = straight + 1 if way == direction % 4 else 0
        if straight > _MOST_STRAIGHT:
            return None
        direction, tile = way, beside(tile, way)
        taken.add(tile)
    return None


def bids_for(points: Iterable[Tile], tile: Tile, left: int) -> dict[Tile, int]:
    """Return a robot's bid for each point: the tiles left in its spiral + the Manhattan distance.

    Examples:
        >>> bids_for([(3, 4)], (1, 1), 2)
        {(3, 4): 7}
    """
    return {p: left + abs(p[0] - tile[0]) + abs(p[1] - tile[1]) for p in sorted(points)}


def winners(bids: Mapping[str, Mapping[Tile, int]]) -> dict[str, Tile]:
    """Return the point of each robot: at most one point for each robot, and one robot for each point.

    Each point has a queue of bids, the cheapest first. The robot at the head of a queue takes the point if it has none,
    or if its bid here is cheaper than for the point it has; that point then goes to the next robot in its queue.
    Otherwise the robot leaves this queue.

    Args:
        bids: by robot name, the bid for each point.

    Examples:
        >>> winners({"a": {(0, 0): 1, (0, 9): 8}, "b": {(0, 0): 2, (0, 9): 3}})
        {'a': (0, 0), 'b': (0, 9)}
    """
    points = sorted({p for offers in bids.values() for p in offers})
    queues = {p: sorted((offers[p], name) for name, offers in bids.items() if p in offers) for p in points}
    best: dict[str, tuple[int, Tile]] = {}
    changed = True
    while changed:
        changed = False
        for point in points:
            while queues[point]:
                cost, name = queues[point][0]
                held = best.get(name)
                if held is not None and held[1] == point:
                    break
                changed = True
                if held is None or cost < held[0]:
                    if held is not None:
                        queues[held[1]].pop(0)
                    best[name] = cost, point
                    break
                queues[point].pop(0)
    return {name: point for name, (_, point) in sorted(best.items())}
