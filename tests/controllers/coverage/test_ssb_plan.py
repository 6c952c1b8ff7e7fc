from covey.controllers.coverage.ssb_plan import (
    LEFT,
    RIGHT,
    align,
    backtracking_points,
    bids_for,
    next_direction,
    straight_run,
    tiles_left,
    winners,
)
from covey.controllers.coverage.tiles import EAST, NORTH, SOUTH, WEST, beside


def floor(rows, columns, solid=()):
    return {(r, c) for r in range(rows) for c in range(columns)} - set(solid)


def spiral(open_, tile, direction, side):
    path, covered = [tile], {tile}
    while (way := next_direction(tile, direction, side, lambda t: t in open_ and t not in covered)) is not None:
        direction, tile = way, beside(tile, way)
        path.append(tile)
        covered.add(tile)
    return path


def test_a_spiral_covers_a_room_from_the_walls_inwards():
    # Where every nearest-first rule may turn anywhere, the spiral keeps the wall on its right:
    #   (2,0) (2,1) (2,2) (2,3)
    #   (1,0) (1,1) (1,2) (1,3)
    #   (0,0) (0,1) (0,2) (0,3)
    path = spiral(floor(3, 4), (0, 0), EAST, RIGHT)
    ring = [(0, 0), (0, 1), (0, 2), (0, 3), (1, 3), (2, 3), (2, 2), (2, 1), (2, 0), (1, 0)]
    assert path == [*ring, (1, 1), (1, 2)]


def test_it_turns_towards_the_outer_wall_first_then_ahead_then_inwards():
    free = {(0, 1), (1, 0), (-1, 0)}
    assert next_direction((0, 0), EAST, RIGHT, lambda t: t in free) == SOUTH
    assert next_direction((0, 0), EAST, LEFT, lambda t: t in free) == NORTH
    assert next_direction((0, 0), EAST, RIGHT, lambda t: t in free - {(-1, 0)}) == EAST
    assert next_direction((0, 0), EAST, RIGHT, lambda t: t in {(1, 0)}) == NORTH
    assert next_direction((0, 0), EAST, RIGHT, lambda t: False) is None


def test_it_starts_along_the_first_wall_that_it_finds():
    room = floor(3, 3)
    assert align((0, 0), lambda t: t in room) == (EAST, RIGHT)  # the wall is in the south
    assert align((2, 2), lambda t: t in room) == (SOUTH, LEFT)
    assert align((1, 1), lambda t: t in room) == (NORTH, RIGHT)
    assert align((1, 1), lambda t: t in room - {(2, 1)}) == (EAST, LEFT)
    assert align((0, 0), lambda t: t == (0, -1)) == (WEST, LEFT)


def test_it_goes_straight_on_as_long_as_the_wall_is_beside_it():
    room = floor(2, 9, solid=[(0, c) for c in range(5)])
    free = lambda t: t in room  # noqa: E731
    assert straight_run((1, 0), EAST, RIGHT, free, 9) == [(1, c) for c in range(1, 6)]  # at (1, 5) it turns off
    assert straight_run((1, 0), EAST, RIGHT, free, 3) == [(1, 1), (1, 2), (1, 3)]
    assert straight_run((1, 0), NORTH, RIGHT, free, 3) == []


def test_points_to_come_back_to_lie_beside_what_is_done():
    room = floor(3, 3)
    done = lambda t: t not in room  # noqa: E731
    assert backtracking_points((0, 1), EAST, done) == []  # all around the left tile is open
    wall = room - {(1, 2)}
    assert backtracking_points((0, 1), EAST, lambda t: t not in wall) == [(1, 1)]  # ahead on the left is a wall
    assert backtracking_points((0, 2), EAST, done) == [(1, 2)]  # ahead is the wall


def test_the_tiles_left_in_a_spiral_are_simulated():
    room = floor(3, 4)
    assert tiles_left((0, 0), EAST, RIGHT, lambda t: t in room) == 11
    assert (
        tiles_left((0, 0), EAST, RIGHT, lambda t: t in {(0, c) for c in range(60)}) is None
    )  # more than 20 straight on
    assert tiles_left((0, 0), EAST, RIGHT, lambda t: t in floor(11, 11)) is None  # more than 100


def test_an_auction_sends_nobody_where_another_is_nearer():
    # Both are nearest to (0, 4): a from 3 away, b from 1. a gets the other point, 5 away, though it is farther.
    points = [(0, 4), (0, -4)]
    bids = {"a": bids_for(points, (0, 1), 0), "b": bids_for(points, (0, 5), 0)}
    assert bids["a"] == {(0, 4): 3, (0, -4): 5}
    assert winners(bids) == {"a": (0, -4), "b": (0, 4)}
    # A robot with 9 tiles left in its spiral bids 9 more.
    bids["b"] = bids_for(points, (0, 5), 9)
    assert winners(bids) == {"a": (0, 4), "b": (0, -4)}


def test_a_robot_that_finds_a_better_point_gives_the_first_back():
    # b takes p first, for want of another at its head; q is cheaper for it: p falls to a.
    p, q = (0, 0), (1, 1)
    assert winners({"a": {p: 7}, "b": {p: 5, q: 2}}) == {"a": p, "b": q}
    assert winners({"a": {p: 7}, "b": {}}) == {"a": p}
    assert winners({}) == {}
