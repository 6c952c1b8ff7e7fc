"""Lines of sight over a height field, and the bound that saves looking along them."""

import math

import numpy as np
import pytest
from tests.references.geometry import cast_reference

from covey.geometry.heightfield import altitudes_at
from covey.geometry.sight import BINS, RINGS, bin_of, clear_until, horizon, is_hidden, shadow

FRAME = np.array([0.0, 0.0, 1.0])


def rough(side, seed, height):
    random = np.random.default_rng(seed)
    waves = np.sin(np.add.outer(np.arange(side) / 7.0, np.arange(side) / 5.0))
    return np.ascontiguousarray(height * (waves + 0.3 * random.normal(size=(side, side))))


@pytest.mark.parametrize("height", [0.1, 1.0])
def test_a_vertex_is_hidden_when_a_ray_towards_it_ends_before_it(height):
    altitude, random = rough(15, 1, height), np.random.default_rng(2)
    hidden = 0
    for _ in range(150):
        u, v = random.uniform(-1.0, 15.0, 2)  # also from beyond the edge
        row, column = random.integers(0, 15, 2)
        origin = np.array([u, v, altitude.max() * random.uniform(0.5, 1.5)])
        if altitudes_at(altitude, FRAME, origin[None, :2])[0] >= origin[2]:
            continue
        way = np.array([column, row, altitude[row, column]]) - origin
        length = np.linalg.norm(way)
        expected = cast_reference(altitude, FRAME, origin, way / length, length - 1e-6) < math.inf
        assert is_hidden(altitude, u, v, origin[2], row, column, 0.0) == expected
        hidden += expected
    assert hidden > 10


@pytest.mark.parametrize(("seed", "height"), [(0, 0.05), (1, 0.5), (2, 5.0)])
def test_no_point_of_the_ground_rises_more_than_its_horizon_says(seed, height):
    altitude, random = rough(101, seed, height), np.random.default_rng(seed)
    u, v = 50.0 + random.uniform(0, 1, 2)
    z, reach = altitude[50, 50] + 4.0, 45.0
    table, wanted = np.empty((RINGS + 1, BINS)), np.ones(BINS, np.uint8)
    horizon(altitude, u, v, z, reach, wanted, table)
    points = random.uniform(5.0, 95.0, (40_000, 2))
    away = np.hypot(points[:, 0] - u, points[:, 1] - v)
    rise = (altitudes_at(altitude, FRAME, points) - z) / away
    for (x, y), r, one in zip(points[away < reach], away[away < reach], rise[away < reach], strict=True):
        assert one <= table[int(r / reach * RINGS) + 1, bin_of(x - u, y - v)]
    clear = [clear_until(table, reach, 40.0, 3.0, slope * 40.0) for slope in (-9.0, -0.05, 0.0, 99.0)]
    assert clear == sorted(clear)
    assert clear[-1] > 0.9


def rises(altitude, u, v, z, row, column):
    """How fast lines from a point rise that touch the ground on the way to a vertex [m per way], edge by edge."""
    way = np.array([column - u, row - v])
    begin = np.array([u, v])
    shares = []
    for start, step in ((u, way[0]), (v, way[1]), (u - v, way[0] - way[1])):  # columns, rows, diagonals
        if step:
            lines = np.arange(math.ceil(min(start, start + step)), math.floor(max(start, start + step)) + 1)
            shares += ((lines - start) / step).tolist()
    shares = np.array([share for share in shares if 1e-9 < share < 1 - 1e-9])
    points = begin + shares[:, None] * way
    over = ((points >= 0) & (points <= np.array(altitude.shape)[::-1] - 1)).all(axis=1)
    return (altitudes_at(altitude, FRAME, points[over]) - z) / shares[over]


@pytest.mark.parametrize("height", [0.1, 1.0])
def test_the_shadow_ends_on_the_line_that_touches_the_highest_ground_before_it(height):
    altitude, random, hidden = rough(15, 3, height), np.random.default_rng(4), 0
    for k in range(300):
        u, v = random.uniform(-1.0, 15.0, 2) if k % 3 else random.integers(0, 15, 2).astype(float)
        row, column = random.integers(0, 15, 2)
        z = altitude.max() * random.uniform(0.5, 1.5)
        if altitudes_at(altitude, FRAME, np.array([[u, v]]))[0] >= z or (u, v) == (column, row):
            continue
        expected = max([altitude[row, column], *(z + rises(altitude, u, v, z, row, column)).tolist()])
        assert shadow(altitude, u, v, z, row, column, 0.0) == pytest.approx(expected, abs=1e-8)
        hidden += expected > altitude[row, column] + 1e-6
    assert hidden > 30
