"""Rays against the exact geometry of the solid squares."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.references.geometry import cast_ray_reference

from covey.geometry import Grid
from covey.geometry.raycast import cast_fan, cast_many, cast_ray, line_of_sight, march, skip_field

PLACE = st.one_of(
    st.integers(0, 48).map(lambda n: n / 4),  # corners, borders, centres
    st.floats(0.0, 12.0),
)
DIRECTION = st.one_of(st.integers(-4, 4).map(float), st.floats(-1.0, 1.0).map(lambda a: a if abs(a) > 1e-100 else 0.0))


def random_solid(seed, rows=9, columns=12, share=0.2):
    return np.random.default_rng(seed).random((rows, columns)) < share


def slab_distance(solid, u, v, du, dv, grown):
    """Exact length to the nearest solid square, each side moved outwards by ``grown``; None if nothing is hit."""
    u, v, du, dv = (Fraction(a) for a in (u, v, du, dv))
    best = None
    for row, column in np.argwhere(solid):
        low, high = Fraction(0), None
        for o, d, cell in ((u, du, int(column)), (v, dv, int(row))):
            a, b = cell - grown, cell + 1 + grown
            if d == 0:
                if not a <= o <= b:
                    break
                continue
            t0, t1 = sorted(((a - o) / d, (b - o) / d))
            low, high = max(low, t0), t1 if high is None else min(high, t1)
        else:
            if (high is None or low <= high) and (best is None or low < best):
                best = low
    return best


@settings(max_examples=300, deadline=None)
@given(st.integers(0, 60), PLACE, PLACE.map(lambda a: a * 0.75), DIRECTION, DIRECTION)
def test_a_ray_ends_between_slightly_grown_and_slightly_shrunk_squares(seed, u, v, du, dv):
    solid = random_solid(seed)
    grown = slab_distance(solid, u, v, du, dv, Fraction(1, 10**9))
    shrunk = slab_distance(solid, u, v, du, dv, Fraction(-1, 10**9))
    t = march(skip_field(solid), u, v, du, dv, math.inf)
    assert grown is None or grown <= t
    assert shrunk is None or t <= shrunk


@pytest.mark.parametrize("yaw", [0.0, 0.3, math.pi / 2, -2.0])
def test_the_same_distance_as_a_walk_from_cell_to_cell(yaw):
    random = np.random.default_rng(5)
    solid = random_solid(7, 60, 80, 0.02)
    grid = Grid(solid, 0.1, (3.0, -2.0, yaw))
    cells = np.argwhere(~solid)
    chosen = cells[random.integers(len(cells), size=400)] + random.uniform(-0.5, 0.5, (400, 2))
    points = grid.to_world(chosen)
    angles = np.concatenate((random.uniform(-4, 4, 300), yaw + np.arange(100) * math.pi / 4))
    got = cast_many(skip_field(solid), grid.frame, points[:, 0].copy(), points[:, 1].copy(), angles, 3.0)
    expected = [cast_ray_reference(solid, grid.frame, x, y, a, 3.0) for (x, y), a in zip(points, angles, strict=True)]
    np.testing.assert_allclose(got, expected, rtol=0, atol=1e-9)
    assert np.any(got < 3.0)
    assert np.any(got == 3.0)


def test_distances_in_an_empty_room_are_those_of_its_rectangle():
    """Inside a closed room of 4 x 3 m: distance = min over the walls of gap / |direction|."""
    solid = np.ones((62, 82), bool)
    solid[1:-1, 1:-1] = False
    grid = Grid(solid, 0.05, (-2.05, -1.55, 0.0))
    skip = skip_field(solid)
    for angle in np.linspace(-3.0, 3.0, 96):
        c, s = math.cos(angle), math.sin(angle)
        expected = min((2 - 0.3 * np.sign(c)) / abs(c), (1.5 + 0.2 * np.sign(s)) / abs(s))
        assert cast_ray(skip, grid.frame, 0.3, -0.2, angle, 100.0) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("turns", [0, 1, 2, 3])
@pytest.mark.parametrize("mirrored", [False, True])
@pytest.mark.parametrize("slope", [(1.0, 1.0), (2.0, 1.0), (1.0, 2.0)])
def test_two_squares_that_touch_at_a_corner_let_nothing_through(turns, mirrored, slope):
    """The eight images of one picture see the same."""
    solid = np.zeros((8, 8), bool)
    solid[4, 3] = solid[3, 4] = True
    u, v, du, dv = 4 - 1.5 * slope[0], 4 - 1.5 * slope[1], *slope
    if mirrored:
        solid, u, du = solid[:, ::-1], 8 - u, -du
    for _ in range(turns):  # a quarter turn counter-clockwise with row 0 in the south: x, y -> -y, x
        solid, u, v, du, dv = np.rot90(solid, -1), 8 - v, u, -dv, du
    assert march(skip_field(solid), u, v, du, dv, 100.0) == 1.5


def test_the_corner_of_one_square_stops_a_ray_from_every_side():
    solid = np.zeros((4, 4), bool)
    solid[1, 1] = True
    skip = skip_field(solid)
    for corner_x, corner_y, along in ((1, 1, 1.0), (2, 2, 1.0), (1, 2, -1.0), (2, 1, -1.0)):
        for du in (1.0, -1.0):  # the line that touches the square in this corner alone, both ways
            dv = -along * du
            assert march(skip, corner_x - du, corner_y - dv, du, dv, 9.0) == 1.0


def test_a_start_on_a_border_belongs_to_the_cell_ahead():
    solid = np.zeros((3, 4), bool)
    solid[1, 2] = True
    skip = skip_field(solid)
    assert march(skip, 2.0, 1.5, 1.0, 0.0, 9.0) == 0.0
    assert march(skip, 2.0, 1.5, -1.0, 0.0, 9.0) == 9.0
    assert march(skip, 3.0, 1.5, -1.0, 0.0, 9.0) == 0.0
    assert march(skip, 3.0, 1.5, 1.0, 0.0, 9.0) == 9.0


def test_inside_a_solid_square_every_distance_is_zero():
    solid = np.ones((3, 3), bool)
    grid = Grid(solid, 0.5)
    assert all(cast_ray(skip_field(solid), grid.frame, 0.7, 0.7, a, 5.0) == 0.0 for a in np.linspace(-3, 3, 13))


def test_beyond_the_array_there_is_nothing_but_a_ray_may_come_in():
    solid = np.zeros((4, 6), bool)
    solid[2, 3] = True
    grid = Grid(solid, 1.0)
    skip = skip_field(solid)
    assert cast_ray(skip, grid.frame, 0.5, 2.5, math.pi, 50.0) == 50.0
    assert cast_ray(skip, grid.frame, -7.0, 2.5, 0.0, 50.0) == 10.0
    assert cast_ray(skip, grid.frame, 3.5, 9.0, -math.pi / 2, 50.0) == pytest.approx(6.0)
    assert cast_ray(skip, grid.frame, -1.0, -1.5, math.pi / 4, 50.0) == pytest.approx(4.0 * math.sqrt(2))
    assert cast_ray(skip, grid.frame, -1.0, 9.5, 0.0, 50.0) == 50.0
    assert cast_ray(skip, grid.frame, 3.5, -4.0, math.pi / 2, 5.9) == 5.9


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 9), *[st.floats(allow_nan=True, allow_infinity=True, width=64)] * 4)
def test_no_number_leads_out_of_the_array(seed, u, v, du, dv):
    t = march(skip_field(random_solid(seed)), u, v, du, dv, 5.0)
    assert t <= 5.0 or math.isnan(t)


def test_skip_is_the_side_of_the_largest_free_square_ahead():
    solid = random_solid(11, 13, 17, 0.08)
    skip = skip_field(solid)
    assert skip.dtype == np.uint8
    assert skip.shape == (4, 13, 17)
    for q, view in enumerate((np.s_[:, :], np.s_[:, ::-1], np.s_[::-1, :], np.s_[::-1, ::-1])):
        flipped, got = solid[view], skip[q][view]
        for row, column in np.ndindex(solid.shape):
            side = 0
            while (
                row + side < 13
                and column + side < 17
                and not flipped[row : row + side + 1, column : column + side + 1].any()
            ):
                side += 1
            assert got[row, column] == side


def test_skip_stops_at_255_and_long_rays_still_arrive():
    solid = np.zeros((300, 700), bool)
    solid[:, -1] = True
    skip = skip_field(solid)
    assert skip[0, 0, 0] == 255
    assert march(skip, 0.25, 0.25, 1.0, 0.125, math.inf) == 698.75


def test_a_fan_is_many_single_rays():
    solid = random_solid(3, 40, 40, 0.05)
    grid = Grid(solid, 0.1, (0.0, 0.0, 0.4))
    skip = skip_field(solid)
    body = np.linspace(-1.5, 1.5, 31)
    out = np.empty(31)
    x, y = grid.to_world(np.argwhere(~solid)[300])
    cast_fan(skip, grid.frame, x, y, 0.7, np.column_stack((np.cos(body), np.sin(body))), 2.0, out)
    np.testing.assert_allclose(out, cast_many(skip, grid.frame, np.full(31, x), np.full(31, y), body + 0.7, 2.0))


def test_sight_is_mutual_and_ends_at_the_target():
    solid = random_solid(4, 30, 30, 0.1)
    grid = Grid(solid, 0.2, (1.0, 1.0, -0.5))
    skip = skip_field(solid)
    points = grid.to_world(np.random.default_rng(0).uniform(0, 29, (400, 2)))
    seen = 0
    for (x0, y0), (x1, y1) in zip(points[::2], points[1::2], strict=True):
        sight = line_of_sight(skip, grid.frame, x0, y0, x1, y1)
        length, angle = math.hypot(x1 - x0, y1 - y0), math.atan2(y1 - y0, x1 - x0)
        assert sight == line_of_sight(skip, grid.frame, x1, y1, x0, y0)
        assert sight == (cast_ray_reference(solid, grid.frame, x0, y0, angle, length) >= length)
        seen += sight
    assert 10 < seen < 190
