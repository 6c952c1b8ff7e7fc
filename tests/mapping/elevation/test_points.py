"""What points on the ground say of its vertices, against a regression and against where rays meet the ground."""

import math

import numpy as np
import pytest
from tests.references.geometry import cast_reference

from covey.geometry.heightfield import slopes_at
from covey.mapping.elevation.belief import Elevations
from covey.mapping.elevation.kinds import MEASURED
from covey.mapping.elevation.points import GRAZING, LEAST, ROUGH, landed
from covey.mapping.elevation.slopes import SLOPE, slopes_around

ONE, NOWHERE = np.array([0]), np.zeros((1, 3))
CORNERS = ((0, 1), (1, 1), (1, 0), (0, -1), (-1, -1), (-1, 0))  # east, north-east, north, west, south-west, south


def vertex_of(points, weights, z, spacing, row, column, slopes=(0.0, 0.0, 0.0, 0.0, SLOPE**2)):
    """Altitude of a vertex, its variance and how much of that is the shape's: regression with normal slopes around.

    ``slopes``: the mean slopes east and north, their variances, and that of single slopes around them.
    """
    rows, values, inverse = [], [], []
    near = (np.abs(points - (column, row)) < 1.0).all(axis=1)
    for (x, y), weight, altitude in zip(points[near], weights[near], z[near], strict=True):
        a, b = math.floor(y), math.floor(x)
        u, v = x - b, y - a
        far, near = (v, u) if v > u else (u, v)
        shares = {(a, b): 1 - far, (a + 1, b) if v > u else (a, b + 1): far - near, (a + 1, b + 1): near}
        if (row, column) not in shares:
            continue
        design = np.zeros(7)
        for (i, j), share in shares.items():
            design[6] += share  # all are counted from the vertex
            if (i, j) != (row, column):
                design[CORNERS.index((i - row, j - column))] += share
        rows.append(design)
        values.append(altitude)
        inverse.append(weight)
    if not rows:
        return None
    # unknowns: the heights of the neighbours above the vertex, its altitude, and how far the mean slopes are off
    away = np.array([(column, row) for row, column in CORNERS]) * spacing
    expected, apart = away @ slopes[:2], math.sqrt(slopes[4]) * np.hypot(*away.T)
    least = np.array([max(slopes[2], 1e-12), max(slopes[3], 1e-12)])
    heights = np.diag(apart**2) + away @ np.diag(least) @ away.T
    design, inverse = np.array(rows), np.diag(inverse)
    prior = np.zeros((7, 7))
    prior[:6, :6] = np.linalg.inv(np.diag(apart**2))
    covariance = np.linalg.inv(design.T @ inverse @ design + prior)
    mean = covariance @ (design.T @ inverse @ np.array(values) + prior[:, :6] @ expected)
    gain = covariance[6, :6] @ prior[:6, :6]  # how the vertex follows the expected heights
    return mean[6], covariance[6, 6] + gain @ (heights - np.diag(apart**2)) @ gain, gain @ heights @ gain


@pytest.mark.parametrize("height", [1e4, 1.5])
def test_vertices_are_the_regression_of_the_points_in_the_triangles_around_them(height):
    rng, spacing = np.random.default_rng(1), 0.5
    eye, sigma, pose = np.array([4.0, 3.0, height]), 0.05, np.array([[1.2, 0.4, 0.7]])
    body = np.column_stack((rng.uniform(-4, 6, (500, 2)), rng.normal(0, 0.3, 500)))
    body[::50, 2] = np.nan
    beliefs = Elevations(["a"], (14, 12), (0.0, 0.0), spacing)
    beliefs.see_points(np.array([0]), np.array([0]), pose, body[None], eye[None], sigma, 0)
    body = body[np.isfinite(body[:, 2])]
    c, s = math.cos(0.7), math.sin(0.7)
    x, y = 1.2 + c * body[:, 0] - s * body[:, 1], 0.4 + s * body[:, 0] + c * body[:, 1]
    way = body - eye
    way /= np.linalg.norm(way, axis=1, keepdims=True)
    weights = 1.0 / (sigma**2 * (way[:, 2] ** 2 + SLOPE**2 * (way[:, 0] ** 2 + way[:, 1] ** 2)))
    inside = (x >= 0) & (x < 31 * spacing) & (y >= 0) & (y < 31 * spacing)  # of whole tiles
    points = np.column_stack((x, y))[inside] / spacing
    found, known = 0, beliefs[0].marks()
    for row, column in np.ndindex(known.shape):
        got = vertex_of(points, weights[inside], body[inside, 2], spacing, row, column)
        if got is None or got[1] > (ROUGH * spacing) ** 2:
            assert not known[row, column]
            continue
        assert known[row, column] == MEASURED
        assert beliefs[0].altitude()[row, column] == pytest.approx(got[0], abs=1e-6)
        assert beliefs[0].variance()[row, column] == pytest.approx(got[1] + (LEAST * sigma) ** 2, rel=1e-6)
        found += 1
    assert 50 < found < 250


def test_what_is_known_around_a_vertex_tells_how_rough_the_ground_may_be_there():
    """By hand for the first sight; seen again and again from the same place, the shape stays as unsure as it is."""
    beliefs, sigma, random = Elevations(["a"], (8, 8)), 0.05, np.random.default_rng(2)
    around = 0.2 * np.arange(8.0) + random.normal(0.0, 0.1, (8, 8))
    around[3, 3] = np.nan
    beliefs.know(ONE, around, 0.05)
    team, slopes = beliefs.team, np.empty(5)
    slopes_around(team.mark[0], team.mean[0], team.variance[0], 3, 3, 1.0, slopes)
    points = np.array([[3.3, 3.1, 0.9], [3.4, 3.2, 0.8], [2.9, 3.2, 0.7]])
    value, variance, shape = vertex_of(points[:, :2], np.full(3, 1 / sigma**2), points[:, 2], 1.0, 3, 3, slopes)
    edge = (LEAST * sigma) ** 2 * slopes[4] / SLOPE**2
    assert 0 < slopes[4] < SLOPE**2
    for step in range(400):
        beliefs.see_points(ONE, ONE, NOWHERE, points[None], np.array([[3.0, 3.0, 1e4]]), sigma, step)
        if step == 0:
            assert beliefs[0].altitude()[3, 3] == pytest.approx(value, abs=1e-6)
            assert beliefs[0].variance()[3, 3] == pytest.approx(variance + edge, rel=1e-6)
    assert 0.3 * shape < beliefs[0].variance()[3, 3] < variance


def test_a_ray_lands_where_it_meets_the_ground_that_is_believed():
    rng, spacing = np.random.default_rng(3), 0.5
    column, row = np.meshgrid(np.arange(30), np.arange(30))
    mean = 0.02 * rng.normal(size=(30, 30)) + 0.05 * column - 0.03 * row
    mark, variance = np.ones((30, 30), np.uint8), np.full((30, 30), 0.01**2)
    frame, cases = np.array([0.0, 0.0, spacing]), {"met": 0, "far": 0, "grazing": 0}
    for _ in range(800):
        eye = np.array([*rng.uniform(4, 10, 2), rng.uniform(1.0, 3.0)])
        way = np.array([*rng.normal(size=2), -rng.uniform(0.0, 1.5)])
        way /= np.linalg.norm(way)
        length = cast_reference(mean, frame, eye, way, 30.0)
        end = eye + length * way if math.isfinite(length) else np.full(3, np.nan)
        if not (end[:2] > 1.0).all() or not (end[:2] < 13.5).all():
            continue
        off = rng.normal(0, 0.05)
        point = end + off * way
        x, y, z, across = landed(mark, mean, variance, *point[:2] / spacing, point[2], *way, 0.2, spacing)
        slopes = slopes_at(mean, frame, end[:2] + np.linspace(0, off, 200)[:, None] * way[:2])  # at the end, and back
        falls, flat = way[2] - slopes @ way[:2], way[0] ** 2 + way[1] ** 2
        if math.isnan(x):
            assert np.abs(falls).min() < GRAZING
            cases["grazing"] += 1
        elif (x, y) == pytest.approx(point[:2] / spacing, abs=1e-12):
            cases["far"] += 1
        else:
            assert abs(falls[0]) >= GRAZING
            assert (spacing * x, spacing * y) == pytest.approx(end[:2], abs=1e-6)
            # The altitude keeps the noise of the ray as far as the ground lies across it.
            assert z == pytest.approx(point[2] - off * (slopes[0] @ way[:2]), abs=1e-6)
            assert across == pytest.approx(falls[0] ** 2 + flat * 2 * 0.01**2 / spacing**2)
            cases["met"] += 1
    assert cases["met"] > 100
    assert cases["grazing"] > 3
    assert cases["far"] < 40


def test_where_no_ground_is_believed_points_stay_where_they_are():
    mark, mean, variance = np.ones((8, 8), np.uint8), np.zeros((8, 8)), np.full((8, 8), 1e-4)
    mark[3, 3] = 0
    slant = 1.0 / math.sqrt(2.0)
    stays = landed(mark, mean, variance, 3.2, 3.1, 0.01, slant, 0.0, -slant, 0.2, 1.0)
    assert stays == pytest.approx((3.2, 3.1, 0.01, 0.5 + SLOPE**2 * 0.5))
    assert landed(mark, mean, variance, -0.5, 3.1, 0.01, slant, 0.0, -slant, 0.2, 1.0)[:3] == (-0.5, 3.1, 0.01)
    far = landed(mark, mean, variance, 5.2, 5.1, 0.5, slant, 0.0, -slant, 0.2, 1.0)  # 0.7 m along the ray
    assert far == pytest.approx((5.2, 5.1, 0.5, 0.5 + 0.5 * 2e-4))
