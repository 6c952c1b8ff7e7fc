import math
import tracemalloc

import numpy as np
import pytest

from covey.errors import InvalidValueError
from covey.world.generators.grounds import boulders, flat, hills, ridges
from covey.world.ground import Ground
from covey.world.world import FREE, WALL, World

GENERATORS = (flat, hills, ridges, boulders)


def slope(rows=5, columns=9, spacing_m=0.5):
    return Ground.of(np.tile(0.1 * np.arange(columns), (rows, 1)), spacing_m)


def test_a_ground_is_centred_and_says_where_its_vertices_are():
    ground = slope()
    assert ground.size_m == (4.0, 2.0)
    assert ground.bounds == (-2.0, 2.0, -1.0, 1.0)
    np.testing.assert_allclose(ground.vertices()[4, 8], (2.0, 1.0, 0.8))
    np.testing.assert_allclose(ground.frame, (-2.0, -1.0, 0.5))
    assert ground.range_m == (-10.0, pytest.approx(10.8))
    np.testing.assert_array_equal(ground.contains([[0, 0], [2, 1], [2.01, 0], [0, -1.1]]), [True, True, False, False])


def test_altitude_normal_and_rays_of_a_slope():
    """A slope of 0.2 along x: z = 0.4 + 0.2 x."""
    ground = slope()
    points = np.array([[[0.0, 0.0], [1.3, -0.7]], [[-2.0, 1.0], [0.51, 0.49]]])
    np.testing.assert_allclose(ground.altitude_at(points), 0.4 + 0.2 * points[..., 0])
    np.testing.assert_allclose(ground.normal_at(points)[1, 1], np.array([-0.2, 0, 1]) / math.hypot(0.2, 1), atol=1e-12)
    np.testing.assert_allclose(ground.cast([[1, 0, 5]], [[0, 0, -1]]), [4.4])
    np.testing.assert_allclose(ground.steepness(), 0.1)


def test_resampled_takes_the_surface():
    fine = slope().resampled(0.2)
    assert fine.shape == (11, 21)
    np.testing.assert_allclose(fine.altitude[3], 0.4 + 0.2 * np.linspace(-2, 2, 21), atol=1e-12)
    coarse = slope().resampled(1.5)  # 2 x 1 spacings fit: 3 x 1.5 m around the same middle
    assert coarse.bounds == (-1.5, 1.5, -0.75, 0.75)
    again = hills(size_m=(20, 10)).resampled(0.5).resampled(1.0)
    np.testing.assert_allclose(again.altitude, hills(size_m=(20, 10)).altitude, atol=1e-9)


@pytest.mark.parametrize("generate", GENERATORS)
def test_the_same_seed_gives_the_same_ground(generate):
    options = {} if generate is flat else {"seed": 4}
    one, two = (generate(size_m=(40.0, 30.0), **options) for _ in range(2))
    np.testing.assert_array_equal(one.altitude, two.altitude)
    assert one.size_m == (40.0, 30.0)
    assert np.isfinite(one.altitude).all()
    if generate is not flat:
        assert not np.array_equal(one.altitude, generate(size_m=(40.0, 30.0), seed=5).altitude)


@pytest.mark.parametrize("generate", [hills, ridges])
def test_generated_heights_reach_from_0_to_what_was_asked(generate):
    ground = generate(size_m=(60, 60), height_m=7.0)
    assert (ground.altitude.min(), ground.altitude.max()) == (0.0, pytest.approx(7.0))


@pytest.mark.parametrize("roughness", [0.2, 0.8])
def test_hills_have_the_dimension_that_was_asked_for(roughness):
    """Of fractional Brownian motion, the mean square difference over a distance d grows as d^(2 H), H = 1 - roughness.

    The waves end at four times the lattice: within 16 spacings all are there.
    """
    ground = hills(size_m=(1023, 1023), roughness=roughness, wavelength_m=4000, seed=1)
    lags = np.array([2, 4, 8, 16])
    square = [np.mean((ground.altitude[:, k:] - ground.altitude[:, :-k]) ** 2) for k in lags]
    exponent = np.polyfit(np.log(lags), np.log(square), 1)[0]
    assert exponent / 2 == pytest.approx(1 - roughness, abs=0.12)


def test_boulders_cover_the_share_that_was_asked_for():
    ground = boulders(size_m=(200, 200), spacing_m=0.25, density=0.05, seed=2)
    bare = boulders(size_m=(200, 200), spacing_m=0.25, density=0.0, seed=2)
    covered = np.mean(ground.altitude > bare.altitude)
    assert covered == pytest.approx(0.05, rel=0.2)  # some overlap, some lie over the edge
    assert (ground.altitude - bare.altitude).max() <= 2.0 + 1e-9


def test_the_world_of_a_ground_has_a_cell_for_each_vertex():
    ground = hills(size_m=(20, 10))
    world = ground.world()
    assert world.ground is ground
    assert world.grid.shape == ground.shape
    np.testing.assert_allclose(world.grid.to_world((3, 4)), ground.vertices()[3, 4, :2])
    assert world.free[1:-1, 1:-1].all()
    assert world.free.sum() == world.free[1:-1, 1:-1].size


def test_walls_stand_on_a_ground_and_close_what_lies_beyond_it():
    ground, room = flat(size_m=(4, 4)), World.empty(6, 2, 0.1)
    world = ground.world(room)
    assert world.ground is ground
    assert world.free_area_m2 == pytest.approx(4 * 2, rel=0.02)
    assert world.grid.cells[tuple(world.grid.cell_at(2.5, 0))] == WALL
    assert world.grid.cells[tuple(world.grid.cell_at(1.5, 0))] == FREE
    far = room.replace(grid=type(room.grid)(room.grid.cells, 0.1, (50.0, 0.0, 0.0)))
    with pytest.raises(InvalidValueError, match="no free cell of 'empty' lies on the ground"):
        ground.world(far)


def test_long_walls_on_a_small_ground_take_little_memory():
    ground, alley = flat(size_m=(4, 4)), World.empty(2, 3000, 0.1)
    tracemalloc.start()
    world = ground.world(alley)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert world.free_area_m2 == pytest.approx(2 * 4, rel=0.05)
    assert peak < 45 * world.grid.cells.size  # five pairs of numbers for each cell at once would be 80


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[1.0]],), "1 x 1 vertices; it needs at least 2 x 2"),
        (([1.0, 2.0],), "shape"),
        ((np.zeros((3, 3)), 0.0), "spacing_m is 0.0; it must be a positive"),
        ((np.zeros((3, 3)), math.nan), "spacing_m is nan"),
        (([[0, 1], [math.nan, 2]],), r"1 altitudes that are not finite numbers, the first, nan, at \[1, 0\]"),
    ],
)
def test_what_is_no_ground(arguments, message):
    with pytest.raises(InvalidValueError, match=message):
        Ground.of(*arguments)


def test_the_range_holds_what_is_there():
    with pytest.raises(InvalidValueError, match=r"range_m is \[0.0, 1.0\], but the ground has altitudes from 0 to 3 m"):
        Ground.of([[0, 3], [0, 0]], range_m=(0.0, 1.0))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: hills(size_m=(0, 5)), "size_m is"),
        (lambda: hills(size_m=(1e6, 1e6)), "at most 2.5e\\+07"),
        (lambda: hills(spacing_m=0), "spacing_m is 0"),
        (lambda: hills(roughness=2), "roughness is 2"),
        (lambda: ridges(wavelength_m=-1), "wavelength_m is -1"),
        (lambda: ridges(height_m=math.inf), "height_m is inf"),
        (lambda: boulders(density=1), "density is 1"),
        (lambda: boulders(boulder_m=(3, 2)), "boulder_m is"),
        (lambda: flat().resampled(1e-6), "at most 2.5e\\+07"),
        (lambda: flat().resampled(1e6), "at least 2 x 2"),
        (lambda: flat().altitude_at([1, 2, 3]), "points have shape"),
    ],
)
def test_absurd_arguments_say_what_is_allowed(call, message):
    with pytest.raises(InvalidValueError, match=message):
        call()
