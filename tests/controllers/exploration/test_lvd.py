import math
from types import SimpleNamespace

import numpy as np
import pytest
from tests.references.controllers import seen_reference

import covey
from covey.controllers import controllers
from covey.controllers.exploration.lvd import (
    EXPAND,
    EXPLORE,
    SEARCH,
    TileWindow,
    _Watch,
    choose,
    hidden_corners,
    nearest_to_me,
    seen_tiles,
    visible_tiles,
)
from covey.geometry import Pose

OWN = np.array([3.5, 3.5])  # in the middle of a window of 7 x 7 tiles
NOBODY = np.empty((0, 2))


def view(drawing: str) -> TileWindow:
    """Return what is seen in a drawing, the north on top: . open, # wall, blank for hidden as an underscore."""
    rows = drawing.split()[::-1]
    letters = np.array([list(r) for r in rows])
    return TileWindow((0, 0), letters == ".", letters == "#")


# Open all around but for the north-west, where a corner at (4, 2) hides the rest.
CORNER = view("""
    __.....
    __.....
    ##.....
    .......
    .......
    .......
    .......
""")


def pick(seen, region, explored, visited=None, order=0, far=0.0):
    random = np.random.default_rng(1)
    return choose(seen, region, explored, visited or {}, OWN, order, random, far)


@pytest.mark.parametrize(("order", "tile"), [(0, (6, 6)), (1, (0, 6)), (2, (0, 0)), (3, (3, 0))])
def test_each_robot_explores_towards_its_own_side_first(order, tile):
    # Unexplored all but the own tile: nearest frontier would take a tile beside, LVD takes the extreme one.
    assert pick(CORNER, CORNER.open, {(3, 3)}, order=order) == (EXPLORE, tile)


def test_what_is_nearer_to_another_robot_is_left_to_it():
    other = np.array([[5.5, 3.5]])
    region = CORNER.open & nearest_to_me(CORNER, OWN, other)
    assert region[3, 4]  # as near to both: mine
    assert not region[3, 5]
    assert pick(CORNER, region, {(3, 3)}, order=0) == (EXPLORE, (6, 4))
    assert nearest_to_me(CORNER, OWN, NOBODY).all()


def test_a_corner_that_hides_something_is_searched_and_then_the_rim():
    explored = set(map(tuple, np.argwhere(CORNER.open).tolist()))
    # Hidden tiles lie beside (5, 2), 2.24 tiles away, and (6, 2), 3.16; the sensor ends at up to 4.24, less 2 is 2.24.
    assert hidden_corners(CORNER, CORNER.open, OWN) == [(5, 2)]
    assert pick(CORNER, CORNER.open, explored) == (SEARCH, (5, 2))
    assert pick(CORNER, CORNER.open, explored, {(5, 2): 3.0})[0] == EXPAND


def test_expanding_goes_near_or_far_by_chance():
    row = view("####### ....... #######")
    explored = {(1, c) for c in range(7)}
    own = np.array([3.5, 1.5])
    tiles = {far: set() for far in (0.0, 1.0)}
    for far, found in tiles.items():
        for seed in range(40):
            phase, tile = choose(row, row.open, explored, {}, own, 0, np.random.default_rng(seed), far)
            assert phase == EXPAND
            found.add(tile[1])
    assert tiles == {0.0: {1, 2, 3, 4, 5}, 1.0: {0, 1, 2, 4, 5, 6}}  # within 2 tiles of the best: 0 or 3 away


def test_a_scan_shows_the_tiles_up_to_the_walls():
    # In a room of 6 x 4 m, from its middle: 24 open tiles, and the tiles around them are walls.
    angles = np.radians(np.arange(-180.0, 180.0, 1.0))
    with np.errstate(divide="ignore"):
        ranges = np.minimum(3.0 / np.abs(np.cos(angles)), 2.0 / np.abs(np.sin(angles)))
    for heading in (0.0, 1.0, -2.5):
        turned = (angles - heading + math.pi) % (2 * math.pi) - math.pi
        order = np.argsort(turned)
        seen = visible_tiles(Pose(0.0, 0.0, heading), ranges[order], turned[order], 1.0, 7.0)
        tiles = np.argwhere(seen.open) + np.array(seen.first)
        assert len(tiles) == 24
        assert tiles.min(axis=0).tolist() == [-2, -3]
        assert tiles.max(axis=0).tolist() == [1, 2]
        assert hidden_corners(seen, seen.open, np.zeros(2)) == []


def test_a_robot_that_touches_something_chooses_anew_at_once():
    watch = _Watch(math.inf, set(), 1.0, 1.0, 7.0)
    touches = [True, True, False, True, True, False, False]  # it began in touch: that is no news
    robots = (SimpleNamespace(pose=Pose(0.0, 0.0, 0.0), time=0.1 * k, collided=t) for k, t in enumerate(touches))
    assert [bool(watch(robot)) for robot in robots] == [False, False, False, True, False, False, False]


def test_two_rooms_are_explored_together_without_radio():
    world = covey.World.polygons(
        [(-6, -3), (6, -3), (6, 3), (-6, 3)], walls_m=[[(0, -3), (0, -0.6)], [(0, 0.6), (0, 3)]], resolution_m=0.1
    )
    group = covey.Group("w", covey.robots.disc(), [(-4, 0, 0), (-4, 1, 0)], controllers.get("lvd"))
    sim = covey.Simulation(world, [group], seed=2, stop=covey.Stop(explored=0.99, timeout_s=200))
    run = sim.run()
    assert sim.status == "reached"
    assert run.metrics["collisions"] == run.metrics["collisions_wall"] == 0


@pytest.mark.parametrize("seed", range(20))
def test_the_kernel_sees_what_its_reference_sees(seed):
    rng = np.random.default_rng(seed)
    opening, rays = rng.choice([1.0, 4.0, 2 * math.pi]), int(rng.integers(1, 300))
    angles = -0.5 * opening + opening * np.arange(rays) / rays
    ranges = rng.choice([math.inf, math.nan, 3.0, 8.0], rays) * rng.uniform(0.2, 1.0, rays)
    arguments = Pose(*rng.uniform(-9.0, 9.0, 3).tolist()), ranges, angles, rng.uniform(0.3, 2.0), rng.uniform(1.0, 9.0)
    (first, seen), (wanted_first, wanted) = seen_tiles(*arguments), seen_reference(*arguments)
    assert first == wanted_first
    np.testing.assert_array_equal(seen, wanted)
