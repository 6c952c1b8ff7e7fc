import math

import numpy as np
import pytest
from scipy import ndimage
from scipy.stats import binom

from covey.errors import InvalidValueError
from covey.random import generator
from covey.world.generators.caves import connected, seeded, smoothed, without_narrow
from covey.world.world import World

SIZE, BORDER = 36, 2
SMALL: dict = {"size_m": (SIZE, SIZE), "resolution_m": 0.5}


def pieces(mask):
    """Count the parts that are connected over edges."""
    return ndimage.label(mask)[1]


def tiles(world, tile_m=1.0):
    """Return the free tiles of a cave of square corners."""
    step = round(tile_m / world.grid.resolution)
    return world.free[::step, ::step]


@pytest.fixture(scope="module")
def caves():
    return [World.cave(**SMALL, seed=seed) for seed in range(200)]


def test_200_caves_are_each_in_one_piece_within_their_border(caves):
    margin = round((BORDER + 1) / 0.5)  # the border and the edge of what grows
    for world in caves:
        assert pieces(world.free) == 1
        assert world.grid.extent == pytest.approx((-SIZE / 2, SIZE / 2, -SIZE / 2, SIZE / 2))
        inner = world.free.copy()
        inner[margin:-margin, margin:-margin] = False
        assert not inner.any()


def test_a_disc_as_wide_as_the_narrowest_passage_gets_everywhere_in_200_caves(caves):
    # The middle of a 2 m square is a corner of cells: the nearest centre is half a diagonal of a cell off it.
    fits = 1.0 - 0.5 * math.sqrt(0.5) - 1e-6
    for world in caves:
        labels, _ = ndimage.label(world.clearance >= fits)
        reached = labels == 1 + np.argmax(np.bincount(labels.ravel())[1:])
        # What is free lies under such a square somewhere, so no farther from its middle than half its diagonal.
        away = ndimage.distance_transform_edt(~reached) * 0.5
        assert away[world.free].max() <= math.sqrt(2) + 0.5


def test_free_share_of_200_caves(caves):
    area = (SIZE - 2 * BORDER - 2) ** 2
    shares = np.array([world.free_area_m2 for world in caves]) / area
    # The automaton strengthens the majority, 0.55 free; narrow corridors, the walls at the edge and cut corners cost.
    assert 0.45 < shares.mean() < 0.75
    assert 10 / area < shares.min()
    assert shares.max() < 1


def test_the_first_run_of_the_automaton_frees_what_a_binomial_law_says():
    before = seeded(400, 400, 0.45, generator(1, "test"))[1:-1, 1:-1]
    assert before.mean() == pytest.approx(0.55, abs=4 * math.sqrt(0.55 * 0.45 / before.size))
    after = smoothed(before, 4)[1:-1, 1:-1]
    expected = binom.cdf(3, 8, 0.45) + binom.pmf(4, 8, 0.45) * 0.55
    # Neighbours share up to 6 of their 9 tiles: as if there were 9 times fewer of them.
    assert after.mean() == pytest.approx(expected, abs=4 * 3 * math.sqrt(0.25 / after.size))


def test_more_walls_in_the_beginning_are_more_walls_in_the_end():
    # Walls of the smaller fill are among those of the larger one, and both steps keep that.
    for seed in range(200):
        grown = []
        for fill in (0.35, 0.45, 0.55):
            cave = seeded(24, 24, fill, generator(seed, "test"))
            for _ in range(4):
                cave = smoothed(cave, 4)
            grown.append(without_narrow(cave))
        assert (grown[0] >= grown[1]).all()
        assert (grown[1] >= grown[2]).all()
        assert grown[0].sum() > grown[2].sum()


def test_an_empty_cave_lacks_its_four_corners():
    # A corner has 5 walls around it and becomes wall; no other tile has more than 4.
    world = World.cave(size_m=(20, 14), fill=0.0, rounded=False, resolution_m=1.0)
    assert world.free_area_m2 == (20 - 4 - 2) * (14 - 4 - 2) - 4


def test_narrow_corridors_are_closed():
    cave = np.zeros((9, 16), bool)
    cave[2:7, 2:7] = True  # a room
    cave[4, 7:12] = True  # a neck of one tile
    cave[2:7, 12:14] = True  # a shaft of two
    kept = without_narrow(cave)
    expected = np.zeros_like(cave)
    expected[2:7, 2:7] = True
    expected[[2, 2, 6, 6], [2, 6, 2, 6]] = False  # corners have no free neighbour on one diagonal
    np.testing.assert_array_equal(kept, expected)


def reference_without_narrow(cave):
    """Look at one tile after the other, until nothing changes."""
    cave = cave.copy()

    def three(r, c, dr, dc):
        runs = [[(r + (k + i) * dr, c + (k + i) * dc) for i in range(3)] for k in (-2, -1, 0)]
        return any(all(free(*at) for at in run) for run in runs)

    def free(r, c):
        return 0 <= r < cave.shape[0] and 0 <= c < cave.shape[1] and cave[r, c]

    changed = True
    while changed:
        changed = False
        for r, c in np.argwhere(cave):
            rising = free(r + 1, c + 1) or free(r - 1, c - 1)
            falling = free(r + 1, c - 1) or free(r - 1, c + 1)
            if not (three(r, c, 1, 0) and three(r, c, 0, 1) and rising and falling):
                cave[r, c] = False
                changed = True
    return cave


@pytest.mark.parametrize("seed", range(10))
def test_narrow_corridors_are_closed_as_tile_by_tile(seed):
    cave = generator(seed, "test").random((18, 15)) < 0.8
    np.testing.assert_array_equal(without_narrow(cave), reference_without_narrow(cave))


@pytest.mark.parametrize("passage", [1, 2, 3])
def test_connected_rooms_are_what_a_square_moves_about_in(passage):
    for seed in range(20):
        before = np.pad(ndimage.binary_opening(generator(seed, "test").random((30, 30)) < 0.75, np.ones((2, 2))), 1)
        after = connected(before, passage, 0.0, 9)
        # Positions of the square, by an independent erosion: in one piece, and they cover all.
        stands = ndimage.binary_erosion(after, np.ones((passage, passage)))
        assert pieces(stands) == 1
        np.testing.assert_array_equal(ndimage.binary_opening(after, np.ones((passage, passage))), after)
        assert not after[[0, -1]].any()


def test_two_rooms_are_joined_where_they_are_nearest():
    cave = np.zeros((11, 20), bool)
    cave[2:9, 2:7] = True
    cave[4:7, 10:18] = True
    after = connected(cave, 1, 1.0, 1)
    new = np.argwhere(after & ~cave)
    assert new[:, 1].min() >= 7
    assert new[:, 1].max() <= 10  # a disc around the first free tile, column 10, is wider than what is left of the room
    assert 3 * 3 <= len(new) <= 3 * 3 + 2  # three tiles of wall, each with its two neighbours


def test_small_rooms_vanish_but_never_the_largest():
    cave = np.zeros((12, 12), bool)
    cave[1:3, 1:3] = cave[6:9, 6:9] = True
    assert connected(cave, 1, 0.0, 5).sum() == 9
    assert connected(cave, 1, 0.0, 1000).sum() == 9
    with pytest.raises(InvalidValueError, match="no room of 4 x 4 tiles"):
        connected(cave, 4, 0.0, 1)


def test_corners_are_cut_by_marching_squares():
    square, rounded = (World.cave(**SMALL, rounded=r, seed=3) for r in (False, True))
    is_open = np.pad(tiles(square), 1)
    corners = [is_open[:-1, :-1], is_open[:-1, 1:], is_open[1:, :-1], is_open[1:, 1:]]
    count = sum(c.astype(int) for c in corners)
    across = (count == 2) & (corners[0] == corners[3])
    # A diamond of half a tile² at each corner: of 3 free tiles it loses a quarter of wall, of 1 the other way round;
    # across a meeting of two walls both halves become wall.
    change = 0.5 / 4 * ((count == 3).sum() - (count == 1).sum() - 2 * across.sum())
    fine = World.cave(size_m=(SIZE, SIZE), resolution_m=0.05, seed=3)
    assert fine.free_area_m2 - square.free_area_m2 == pytest.approx(change, abs=0.1 * (count == 3).sum())
    assert (rounded.free != square.free).any()


def test_the_seed_decides_and_materials_do_not():
    first, again, other = (World.cave(**SMALL, seed=s) for s in (1, 1, 2))
    np.testing.assert_array_equal(first.grid.cells, again.grid.cells)
    assert (first.grid.cells != other.grid.cells).any()
    assert first.materials is None
    patchy = World.cave(**SMALL, seed=1, material="random")
    np.testing.assert_array_equal(first.grid.cells, patchy.grid.cells)
    assert patchy.materials is not None
    assert set(np.unique(patchy.materials)) == {0, 1, 2, 3, 4}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"size_m": (50.5, 50)}, r"size_m\[0\] is 50.5; it must be a multiple"),
        ({"size_m": (6, 50)}, "at least 8 m"),
        ({"size_m": (1e5, 1e5)}, "at most"),
        ({"fill": 1.5}, "fill is 1.5"),
        ({"fill": 1.0}, "no room"),
        ({"border_m": 0.5}, "border_m is 0.5"),
        ({"resolution_m": 0.3}, "tile_m is 1; it must be a multiple"),
        ({"tile_m": 0.0}, "tile_m is 0.0"),
        ({"tile_m": math.nan}, "tile_m is nan"),
        ({"material": "brik"}, "did you mean 'brick'"),
    ],
)
def test_what_is_no_cave_is_refused(options, message):
    with pytest.raises(InvalidValueError, match=message):
        World.cave(**options)
