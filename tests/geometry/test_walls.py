"""Rays over walls of one height, against a look at every millimetre of them."""

import math

import numpy as np
import pytest
from tests.references.geometry import wall_on_way_reference

from covey.geometry.grid import Grid
from covey.geometry.raycast import skip_field
from covey.geometry.walls import wall_on_way


def way_to_wall(solid, height, start, way, altitude, frame):
    grid = Grid(solid, 0.5, (-1.0, -2.0, 0.3)).frame
    flat = math.hypot(way[0], way[1])
    ahead = way[0] / flat, way[1] / flat
    return wall_on_way(
        skip_field(solid), grid, altitude, frame, height, *start, *ahead, way[2] / flat, flat
    ), wall_on_way_reference(solid, grid, altitude, frame, height, start, way)


@pytest.mark.slow
def test_rays_that_pass_over_walls_and_come_down_agree_with_a_look_at_every_millimetre():
    random = np.random.default_rng(4)
    frame, met, over = np.array([-20.0, -20.0, 1.0]), 0, 0
    for _ in range(40):
        solid = random.random((24, 24)) < 0.25
        altitude = 0.3 * random.normal(size=(41, 41))
        start = np.array([*random.uniform(1, 5, 2), random.uniform(0.2, 4.0)])
        way = np.array([*random.uniform(-7, 7, 2), random.uniform(-5.0, 1.0)])
        fast, plain = way_to_wall(solid, 0.8, start, way, altitude, frame)
        high, _ = way_to_wall(solid, 1e3, start, way, altitude, frame)
        assert abs(fast - plain) < 0.05
        met += fast < math.hypot(way[0], way[1])
        over += fast > high + 0.1
    assert met > 10
    assert over > 10


def test_a_ray_over_a_low_wall_ends_at_the_high_ground_behind_it_or_at_the_next_wall():
    solid, level = np.zeros((24, 60), bool), np.zeros((41, 41))
    solid[:, [10, 40]] = True  # 0.5 m thick
    grid, frame = Grid(solid, 0.5, (0.0, 0.0, 0.0)).frame, np.array([-20.0, -20.0, 1.0])
    # From 2 m above the ground over a wall of 1 m from 5 m on: a steep ray meets its side, others the next wall at 20 m.
    for drop, expected in ((0.0, 25.0), (0.1, 20.0), (0.0666, 20.0), (0.205, 5.0)):
        got = wall_on_way(skip_field(solid), grid, level, frame, 1.0, 0.0, 6.0, 2.0, 1.0, 0.0, -drop, 25.0)
        np.testing.assert_allclose(got, expected, atol=1e-6)
    on_top = wall_on_way(skip_field(solid), grid, level, frame, 1.0, 0.0, 6.0, 2.0, 1.0, 0.0, -0.19, 25.0)
    np.testing.assert_allclose(on_top, 1.0 / 0.19, atol=1e-6)  # 1 m lower at 5.26 m, over the wall of 5 to 5.5 m


def test_free_air_beyond_a_low_wall_is_free():
    """A ray that has passed over the only wall comes down to level ground: it meets nothing, to the last bit."""
    solid, level = np.zeros((400, 400), bool), np.zeros((41, 41))
    solid[:, 220] = True  # x from 2.0 to 2.1 m
    grid, frame, skip = np.array([-20.0, -20.0, 1.0, 0.0, 0.1]), np.array([-20.0, -20.0, 1.0]), skip_field(solid)
    random, low = np.random.default_rng(2), 0
    for heading, length in zip(random.uniform(-1.2, 1.2, 4000), random.uniform(2.2, 8.0, 4000), strict=True):
        ahead, begin = (math.cos(heading), math.sin(heading)), 2.0 / math.cos(heading)
        end = 2.1 / math.cos(heading)
        if length <= end:
            continue
        slope = -0.5 / length  # from 0.5 m to the ground at the end of the ray
        got = wall_on_way(skip, grid, level, frame, 0.3, 0.0, 0.0, 0.5, *ahead, slope, length)
        above = 0.5 + slope * end - 0.3  # where it leaves the top of the wall
        if above > 1e-9:
            assert got == length
            low += 1
        elif 0.5 + slope * begin - 0.3 < -1e-9:
            assert abs(got - begin) < 1e-9
        else:
            assert begin - 1e-9 <= got <= end + 1e-9
    assert low > 900
