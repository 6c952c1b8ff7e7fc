"""Robot models: one body, discs that cover a footprint, errors that say what to do."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shapely.geometry import MultiPoint, Point, Polygon
from shapely.ops import unary_union

import covey
from covey.errors import InvalidValueError
from covey.robots.catalogue import pioneer3dx
from covey.robots.model import RobotModel, cover_with_discs, inscribed_radius

L_SHAPE = ((0.0, 0.0), (0.6, 0.0), (0.6, 0.2), (0.2, 0.2), (0.2, 0.5), (0.0, 0.5))


def union(discs):
    return unary_union([Point(x, y).buffer(radius, 256) for x, y, radius in discs])


@pytest.mark.parametrize("polygon", [pioneer3dx().footprint_m, L_SHAPE, L_SHAPE[::-1]])
@pytest.mark.parametrize("excess", [0.025, 0.035, 0.1])
def test_discs_cover_a_polygon_and_stay_near_it(polygon, excess):
    assert polygon is not None
    discs = cover_with_discs(polygon, excess)
    covered = union(discs)
    assert Polygon(polygon).difference(covered.buffer(1e-5)).is_empty
    assert covered.difference(Polygon(polygon).buffer(excess + 1e-5, 256)).area < 1e-9


def test_pioneer_is_a_handful_of_discs_as_symmetric_as_it():
    discs = np.array(pioneer3dx().body_discs)
    assert len(discs) <= 8
    mirrored = discs * [1.0, -1.0, 1.0]
    assert {tuple(row) for row in (discs + 0.0).tolist()} == {tuple(row) for row in (mirrored + 0.0).tolist()}


def test_the_discs_of_a_polygon_are_sought_once():
    """Drivers ask for them in each step, and seeking takes milliseconds."""
    model = pioneer3dx()
    assert model.body_discs is model.body_discs


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.floats(-1, 1), st.floats(-1, 1)), min_size=4, max_size=9))
def test_discs_cover_any_hull(points):
    hull = MultiPoint(points).convex_hull
    if hull.geom_type != "Polygon" or hull.area < 0.05:
        return
    polygon = tuple(hull.exterior.coords[:-1])
    covered = union(cover_with_discs(polygon, 0.1))
    assert hull.difference(covered.buffer(1e-4)).is_empty
    assert covered.difference(hull.buffer(0.1 + 1e-4, 256)).area < 1e-9


def test_inscribed_radius_of_two_discs_is_that_of_their_corner():
    assert inscribed_radius(np.array([[0.1, 0.0, 0.2], [-0.1, 0.0, 0.2]])) == pytest.approx(math.sqrt(0.03), abs=3e-4)
    assert inscribed_radius(np.array([[0.05, 0.0, 0.2]])) == pytest.approx(0.15, abs=1e-6)
    assert inscribed_radius(np.array([[1.0, 0.0, 0.2]])) == 0.0


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({}, "nothing; give one of"),
        ({"radius_m": 0.2, "discs_m": [(0, 0, 0.1)]}, "radius_m and discs_m"),
        ({"radius_m": -0.2}, "greater than 0"),
        ({"discs_m": [(0, 0, 0.0)]}, "not positive"),
        ({"footprint_m": [(0, 0), (1, 1), (1, 0), (0, 1)]}, "cross"),
        ({"footprint_m": [(0, 0), (1, 1), (1, 1), (0, 1)]}, "twice in a row"),
        ({"radius_m": 0.2, "colour": "red"}, "colour"),
        ({"radius_m": 0.2, "kinematics": "tank"}, "differential"),
    ],
)
def test_what_is_wrong_with_a_body_is_said(given, says):
    with pytest.raises(ValueError, match=says):
        RobotModel(**given)


def test_polygon_of_two_points_is_refused():
    with pytest.raises(InvalidValueError, match="at least 3"):
        cover_with_discs(((0.0, 0.0), (1.0, 0.0)))


SCENE = """world: {{empty_m: [6, 6]}}
robots:
  - robot: {{base: turtlebot3_burger, radius_m: 0.2{rest}}}
"""


def test_a_base_with_another_shape_gives_it_up_by_null(tmp_path):
    (tmp_path / "a.yaml").write_text(SCENE.format(rest=""))
    with pytest.raises(covey.CoveyError, match="set the others, also of a base, to null"):
        covey.load_scenario(tmp_path / "a.yaml")
    (tmp_path / "a.yaml").write_text(SCENE.format(rest=", footprint_m: null"))
    assert covey.load_scenario(tmp_path / "a.yaml").robots[0].robot.radius_m == 0.2
