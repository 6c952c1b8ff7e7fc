"""Rays over walls of one height, against a look at every millimetre of them."""

import math

import numpy as np

from covey.geometry.grid import Grid
from covey.geometry.raycast import skip_field
from covey.geometry.walls import wall_on_way, wall_on_way_reference


def way_to_wall(solid, height, start, way, altitude, frame):
    grid = Grid(solid, 0.5, (-1.0, -2.0, 0.3)).frame
    flat = math.hypot(way[0], way[1])
    ahead = way[0] / flat, way[1] / flat
    return wall_on_way(
        skip_field(solid), grid, altitude, frame, height, *start, *ahead, way[2] / flat, flat
    ), wall_on_way_reference(solid, grid, altitude, frame, height, start, way)


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
