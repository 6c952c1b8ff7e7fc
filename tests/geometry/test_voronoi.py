"""Voronoi cells against shapely, SciPy and integrals that are known."""

import math

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import Delaunay, Voronoi

from covey.errors import InvalidValueError
from covey.geometry.voronoi import convex, voronoi

SQUARE = [(0, 0), (10, 0), (10, 10), (0, 10)]


def polygon(corners, radius=5.0, centre=(5.0, 5.0)):
    angles = 2 * math.pi * np.arange(corners) / corners
    return np.column_stack((np.cos(angles), np.sin(angles))) * radius + centre


def half_planes(points, outline, i):
    """The cell of point i: the outline cut by a large square beyond each bisector."""
    left = shapely.Polygon(outline)
    for j, q in enumerate(points):
        if j != i:
            along = (q - points[i]) / np.linalg.norm(q - points[i])
            aside, middle = np.array([-along[1], along[0]]) * 100, (points[i] + q) / 2
            away = middle - 100 * along
            left &= shapely.Polygon([middle + aside, away + aside, away - aside, middle - aside])
    return left


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 10_000), st.integers(1, 12), st.integers(3, 9), st.booleans())
def test_cells_are_those_of_shapely(seed, count, corners, clockwise):
    outline = polygon(corners)[:: -1 if clockwise else 1]
    points = np.random.default_rng(seed).uniform(1, 9, (count, 2))  # some are outside
    cells = voronoi(points, outline)
    for i in range(count):
        expected = half_planes(points, outline, i)
        assert cells.area[i] == pytest.approx(expected.area, abs=1e-9)
        if expected.area > 1e-6:
            assert (
                shapely.Polygon(cells.cell(i)).hausdorff_distance(expected) < 1e-9
            )  # the overlay of nearly equal ones fails
            assert cells.centroid[i] == pytest.approx(np.array(expected.centroid.coords[0]), abs=1e-6)
    assert cells.area.sum() == pytest.approx(shapely.Polygon(outline).area)


def test_a_hundred_cells_are_those_of_scipy():
    points = np.random.default_rng(3).uniform(0, 10, (100, 2))
    mirrored = [points, points * (-1, 1), points * (1, -1), points * (-1, 1) + (20, 0), points * (1, -1) + (0, 20)]
    diagram = Voronoi(np.concatenate(mirrored))  # the mirrors make the square the border of the cells
    cells = voronoi(points, SQUARE)
    for i in range(100):
        corners = diagram.vertices[diagram.regions[diagram.point_region[i]]]
        assert cells.area[i] == pytest.approx(shapely.Polygon(corners).area, rel=1e-9)
    simplices = Delaunay(points).simplices
    joined = np.zeros((100, 100), bool)
    for a, b, c in simplices:
        joined[[a, b, c, b, c, a], [b, c, a, a, b, c]] = True
    assert not (cells.neighbours() & ~joined).any()  # Delaunay also joins cells that meet outside of the square


def test_cost_of_a_square_around_its_centre_and_its_corner():
    assert voronoi([(5, 5)], SQUARE).cost[0] == pytest.approx(10**4 / 6)  # side⁴ / 6
    assert voronoi([(0, 0)], SQUARE).cost[0] == pytest.approx(2 * 10**4 / 3)


def test_cost_is_the_mean_of_a_million_points():
    points = np.random.default_rng(1).uniform(0, 10, (7, 2))
    samples = np.random.default_rng(2).uniform(0, 10, (1_000_000, 2))
    squares = ((samples[:, None] - points) ** 2).sum(axis=2).min(axis=1)
    assert voronoi(points, SQUARE).cost.sum() == pytest.approx(100 * squares.mean(), rel=3e-3)


def test_polynomial_densities_are_integrated_exactly():
    # x³ on the unit square: mass 1/4, centroid x 4/5; x² + y² around the origin: ∫ x³ (x² + y²) = 1/6 + 1/12
    cells = voronoi([(0.0, 0.0)], [(0, 0), (1, 0), (1, 1), (0, 1)], lambda q: q[:, 0] ** 3, fineness=1)
    assert cells.mass[0] == pytest.approx(0.25, rel=1e-12)
    assert cells.centroid[0] == pytest.approx([0.8, 0.5], rel=1e-12)
    assert cells.cost[0] == pytest.approx(1 / 4, rel=1e-12)


def test_a_normal_density_over_many_cells_has_the_mass_of_the_error_function():
    points = np.random.default_rng(0).uniform(0, 10, (30, 2))
    cells = voronoi(points, SQUARE, lambda q: np.exp(-((q - 5) ** 2).sum(axis=1) / 4))
    assert cells.mass.sum() == pytest.approx(4 * math.pi * math.erf(2.5) ** 2, rel=1e-7)


def test_a_density_of_one_changes_nothing():
    points = np.random.default_rng(0).uniform(0, 10, (30, 2))
    plain, weighed = voronoi(points, SQUARE), voronoi(points, SQUARE, lambda q: np.ones(len(q)))
    for name in ("mass", "centroid", "cost"):
        assert getattr(weighed, name) == pytest.approx(getattr(plain, name), rel=1e-12)


def test_the_first_of_two_points_at_one_place_has_the_cell():
    cells = voronoi([(2, 2), (8, 8), (2, 2)], SQUARE)
    assert cells.area.tolist() == [50.0, 50.0, 0.0]
    assert cells.centroid[2].tolist() == [2.0, 2.0]


def test_a_point_outside_may_have_no_cell():
    cells = voronoi([(5, 5), (30, 5)], SQUARE)
    assert cells.area.tolist() == [100.0, 0.0]
    assert cells.edge(0, 1) is None


def test_more_points_than_the_first_guess_of_room():
    outline = polygon(500)
    cells = voronoi([(5.0, 5.0), (5.0, 6.0)], outline)
    assert len(cells.vertices) == 504
    assert cells.area.sum() == pytest.approx(0.5 * 500 * 25 * math.sin(2 * math.pi / 500))


@pytest.mark.parametrize(
    "outline",
    [
        [(0, 0), (4, 0), (4, 4), (2, 1)],  # a dent
        [(0, 0), (1, 1), (2, 2)],  # a line
        [(0, 0), (1, 0)],
        [(math.cos(a), math.sin(a)) for a in 2 * np.pi * np.arange(0, 10, 2) / 5],  # round twice
    ],
)
def test_workspaces_that_are_not_convex_are_refused(outline):
    with pytest.raises(InvalidValueError, match="workspace"):
        convex(outline)


def test_a_corner_given_twice_is_one():
    assert len(convex([*SQUARE, SQUARE[0]])) == 4


def test_a_negative_density_is_refused():
    with pytest.raises(InvalidValueError, match="density"):
        voronoi([(1, 1)], SQUARE, lambda q: q[:, 0] - 5)
