import numpy as np
import pytest

from covey.controllers.coverage.brick_and_mortar import blocks, closes, next_way
from covey.controllers.coverage.tiles import EAST, NORTH, SOUTH, WEST

RING = ["e", "ne", "n", "nw", "w", "sw", "s", "se"]


def ring(open_, cuts=()):
    """Return which of the eight cells are open, and the links between those that follow each other."""
    cells = [name in open_.split() for name in RING]
    links = [cells[i] and cells[(i + 1) % 8] and RING[i] not in cuts for i in range(8)]
    return cells, links


@pytest.mark.parametrize(
    ("open_", "blocked"),
    [
        ("e ne n nw w sw s se", False),  # in the open
        ("e ne n nw w", False),  # along a wall
        ("e", False),  # the end of a passage
        ("", False),
        ("e w", True),  # a passage
        ("e n", True),  # a bend whose inner corner is a wall
        ("e ne n", False),  # ... or is open: the way leads round by it
        ("e ne n nw w sw s", False),
        ("e ne n w", True),
        ("ne nw sw se", False),  # no side is open
    ],
)
def test_a_cell_may_become_a_wall_where_the_others_stay_joined_around_it(open_, blocked):
    assert blocks(*ring(open_)) == blocked


def test_a_wall_between_two_open_cells_cuts_the_way_around():
    assert not blocks(*ring("e ne n"))
    assert blocks(*ring("e ne n", cuts=("e",)))


def test_the_unexplored_cell_with_most_walls_around_comes_first():
    # Explored to the east, unexplored to the north (one wall at its flank) and south (none).
    everywhere, new, walls = [True] * 4, [False, True, False, True], [2, 1, 0, 0]
    assert next_way(everywhere, new, walls, None, 0) == NORTH  # 11 against 10, 2 and 0
    assert next_way(everywhere, [False] * 4, walls, EAST, 0) == NORTH  # 1 against 2 - 100
    assert next_way([True, False, False, False], [False] * 4, walls, EAST, 0) == EAST  # nothing else is left
    assert next_way([False] * 4, new, walls, None, 0) is None


def test_robots_that_have_the_same_choice_part():
    ways = [next_way([True] * 4, [True] * 4, [0] * 4, None, rank) for rank in range(5)]
    assert ways == [EAST, SOUTH, WEST, NORTH, EAST]
    assert next_way([True] * 4, [True] * 4, [0] * 4, None, 0, shuffle=(2, 0, 1, 3)) == WEST


def test_a_loop_is_closed_where_no_way_leads_off():
    loop = {(0, 0), (0, 1), (1, 0), (1, 1)}
    cells = [(0, 1), (1, 0), (0, -1), (-1, 0)]  # east, north, west and south of (0, 0)
    assert closes([True, True, False, False], cells, loop)
    assert not closes([True, True, True, False], cells, loop)


def test_all_of_a_room_with_a_pillar_is_marked_and_the_loop_around_it_closed(run_on):
    # The pillar is as wide as a passage: around it leads a loop, which no local rule may cut.
    pillar = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)]
    sim, run = run_on("brick_and_mortar", (4, 4), [pillar], robots=1, timeout_s=300)
    tags = sim.communication.tags.tags
    visited = {t.content[1:3] for t in tags if t.content[0] == "visited"}
    assert sim.status == "reached"  # it says itself that it is done
    assert len(visited) == 8 * 8 - 4 * 4
    assert run.metrics["collisions_wall"] == 0
    assert any(t.content[0] == "claim" for t in tags)


@pytest.mark.slow
def test_two_robots_enter_every_cell_and_end(run_on):
    sim, run = run_on("brick_and_mortar", (4, 3), robots=2, timeout_s=400)
    tagged = {t.content[1:3] for t in sim.communication.tags.tags if t.content[0] in ("explored", "visited")}
    assert sim.status == "reached"
    assert len(tagged) == 8 * 6
    assert np.all(run.series("distance_m")[-1] > 4)
    assert run.metrics["collisions"] == 0
