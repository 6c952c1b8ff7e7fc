"""The point ahead on a path."""

import numpy as np
import pytest
import shapely

from covey.planning.follow import lookahead


def test_lookahead_goes_round_the_corner_and_tells_what_is_left():
    path = np.array([[0.0, 0.0], [2.0, 0.0], [2.0, 3.0]])
    x, y, segment, left, off = lookahead(path, 0, 1.5, 0.2, 1.0)
    assert (x, y, segment) == (2.0, pytest.approx(0.5), 0)
    assert left == pytest.approx(3.5)
    assert off == pytest.approx(0.2)
    assert lookahead(path, 0, 2.0, 2.9, 5.0)[:2] == (2.0, 3.0)


@pytest.mark.parametrize("seed", range(5))
def test_the_point_ahead_is_that_of_shapely(seed):
    draw = np.random.default_rng(seed)
    for _ in range(80):
        path = np.cumsum(draw.uniform(-1.5, 1.5, (int(draw.integers(2, 9)), 2)), axis=0)
        path = np.repeat(path, draw.integers(1, 3, len(path)), axis=0)  # some corners twice
        start, distance = int(draw.integers(len(path) - 1)), draw.uniform(0.0, 4.0)
        x, y = draw.uniform(path.min(0) - 1.0, path.max(0) + 1.0)
        along = np.cumsum(np.hypot(*np.diff(path[start:], axis=0).T))
        # It looks no farther than the first segment, not its own one, at whose end it has come more than 3 m.
        last = start + 1 + int(np.argmax(along[1:] > 3.0)) if (along[1:] > 3.0).any() else len(path) - 2
        ahead, way = shapely.LineString(path[start : last + 2]), shapely.LineString(path[start:])
        here = ahead.project(shapely.Point(x, y))
        tx, ty, segment, left, off = lookahead(path, start, x, y, distance)
        assert off == pytest.approx(ahead.distance(shapely.Point(x, y)))
        assert left == pytest.approx(way.length - here)
        assert (tx, ty) == pytest.approx(way.interpolate(here + distance).coords[0], abs=1e-7)
        assert start <= segment <= last
        assert shapely.LineString(path[segment : segment + 2]).distance(shapely.Point(x, y)) == pytest.approx(off)


def test_a_path_of_one_place_is_that_place():
    assert lookahead(np.array([[4.0, 6.0]]), 0, 1.0, 2.0, 1.0) == (4.0, 6.0, 0, 5.0, 0.0)
