"""Height fields against planes, single triangles and every triangle of a field."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.references.geometry import altitudes_at_reference, cast_reference, steepness_reference

from covey.geometry.heightfield import (
    altitude_at,
    altitudes_at,
    cast,
    slopes_at,
    steepness,
)

FRAME = np.array([-3.0, 2.0, 0.5])


def rough(seed=0, rows=12, columns=16):
    steps = np.random.default_rng(seed).normal(size=(rows, columns))
    return np.cumsum(np.cumsum(steps, axis=0), axis=1) * 0.3


def plane(slope_x, slope_y, rows=12, columns=16):
    x = FRAME[0] + FRAME[2] * np.arange(columns)
    y = FRAME[1] + FRAME[2] * np.arange(rows)
    return np.ascontiguousarray(1.0 + slope_x * x[None] + slope_y * y[:, None])


def rays(seed, count, top):
    """Starts above a field of 12 x 16 vertices, half of them on its lines, and directions, some along its lines."""
    draw = np.random.default_rng(seed)
    origins = np.column_stack(
        (draw.uniform(-3, 4.5, count), draw.uniform(2, 7.5, count), draw.uniform(top, top + 3, count))
    )
    origins[::2, :2] = np.round(origins[::2, :2] * 4) / 4
    directions = draw.normal(size=(count, 3))
    for k, zero in enumerate([(0,), (1,), (0, 1), (2,)]):
        directions[k::9, zero] = 0.0
    directions[4::9, 0] = directions[4::9, 1]
    return origins, directions / np.linalg.norm(directions, axis=1, keepdims=True)


def test_altitudes_between_the_vertices_lie_on_two_triangles():
    """One cell: over the triangle of smaller row, z = b x - b y, b the altitude of [0, 1]; level in the other."""
    cell, frame = np.array([[0.0, 3.0], [0.0, 0.0]]), np.array([0.0, 0.0, 1.0])
    assert altitude_at(cell, frame, 0.7, 0.2) == pytest.approx(3 * 0.7 - 3 * 0.2)
    assert altitude_at(cell, frame, 0.2, 0.7) == 0.0
    assert altitude_at(cell, frame, 0.5, 0.5) == 0.0
    np.testing.assert_allclose(slopes_at(cell, frame, np.array([[0.7, 0.2], [0.2, 0.7]])), [[3, -3], [0, 0]])


def test_a_plane_is_met_where_its_equation_says():
    field = plane(0.2, -0.1)
    points = np.random.default_rng(1).uniform((-3, 2), (4.5, 7.5), (200, 2))
    np.testing.assert_allclose(altitudes_at(field, FRAME, points), 1 + points @ (0.2, -0.1), atol=1e-12)
    np.testing.assert_allclose(slopes_at(field, FRAME, points), np.tile((0.2, -0.1), (200, 1)), atol=1e-12)
    origins, directions = rays(2, 400, 3.0)
    fall = directions @ (-0.2, 0.1, 1.0)
    with np.errstate(divide="ignore"):
        expected = np.where(fall < 0, (1 - origins @ (-0.2, 0.1, 1.0)) / fall, math.inf)
    ends = origins + np.where(np.isfinite(expected), expected, 0)[:, None] * directions
    there = np.all((ends[:, :2] >= (-3, 2)) & (ends[:, :2] <= (4.5, 7.5)), axis=1) & np.isfinite(expected)
    got = cast(field, FRAME, origins, directions, math.inf)
    np.testing.assert_allclose(got[there], expected[there], rtol=1e-9)
    assert np.all(np.isinf(got[~there]))
    assert there.sum() > 50


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 1000))
def test_rays_end_at_the_first_of_all_triangles(seed):
    field = rough(seed)
    origins, directions = rays(seed, 40, field.max() + 0.01)
    got = cast(field, FRAME, origins, directions, 30.0)
    expected = [cast_reference(field, FRAME, o, d, 30.0) for o, d in zip(origins, directions, strict=True)]
    np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-9)


def test_rays_that_start_just_above_the_surface():
    field = rough(3)
    origins, directions = rays(5, 600, 0.0)
    origins[:, 2] = altitudes_at(field, FRAME, origins[:, :2].copy()) + 0.05
    got = cast(field, FRAME, origins, directions, 4.0)
    expected = [cast_reference(field, FRAME, o, d, 4.0) for o, d in zip(origins, directions, strict=True)]
    np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-9)
    assert np.isinf(got).any()
    hit = np.isfinite(got)
    ends = origins[hit] + got[hit, None] * directions[hit]
    np.testing.assert_allclose(altitudes_at(field, FRAME, ends[:, :2].copy()), ends[:, 2], atol=1e-9)


def test_the_ground_is_solid():
    field, down = plane(0.0, 0.0), [0.0, 0.0, -1.0]
    origins = np.array([[0.0, 4.0, 0.9], [-5.0, 4.0, 0.5], [-5.0, 4.0, 1.5], [9.0, 4.0, 0.5], [0.0, 0.0, 5.0]])
    directions = np.array([down, [1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 0.0, 0.0], down])
    expected = [0.0, 2.0, math.inf, math.inf, math.inf]  # in it; its side; over it; away from it; beside it
    np.testing.assert_allclose(cast(field, FRAME, origins, directions, math.inf), expected)


def test_range_ends_a_ray():
    field = plane(0.0, 0.0)
    origins, directions = np.array([[0.0, 4.0, 3.0]] * 2), np.array([[0.0, 0.0, -1.0], [0.6, 0.0, -0.8]])
    np.testing.assert_allclose(cast(field, FRAME, origins, directions, 2.5), [2.0, 2.5])
    assert np.isinf(cast(field, FRAME, origins, directions, 1.99)).all()


def test_altitudes_are_those_of_the_reference_also_beyond_the_edge():
    field = rough(7)
    points = np.random.default_rng(0).uniform(-6, 12, (500, 2))
    np.testing.assert_allclose(
        altitudes_at(field, FRAME, points), altitudes_at_reference(field, FRAME, points), atol=1e-12
    )
    assert altitude_at(field, FRAME, -99.0, -99.0) == field[0, 0]
    assert altitude_at(field, FRAME, 99.0, 99.0) == field[-1, -1]


def test_steepness_is_the_largest_step_to_a_neighbour():
    field = np.zeros((3, 4))
    field[1, 1] = 0.5
    expected = np.full((3, 4), 0.5)
    expected[:, 3] = 0.0
    np.testing.assert_array_equal(steepness(field), expected)
    holes = rough(2)
    holes[np.random.default_rng(0).random(holes.shape) < 0.3] = np.nan
    np.testing.assert_array_equal(steepness(holes), steepness_reference(holes))


def test_rays_end_where_those_of_mujoco_end():
    mujoco = pytest.importorskip("mujoco")
    field = rough(11)
    rows, columns = field.shape
    low, high = field.min(), field.max()
    half = 0.5 * FRAME[2] * np.array([columns - 1, rows - 1])
    spec = mujoco.MjSpec()
    data = ((field - low) / (high - low)).astype(np.float32).ravel()
    spec.add_hfield(name="ground", nrow=rows, ncol=columns, size=[*half, high - low, 1.0], userdata=data)
    kind = mujoco.mjtGeom.mjGEOM_HFIELD
    spec.worldbody.add_geom(type=kind, hfieldname="ground", pos=[*(FRAME[:2] + half), low])
    model = spec.compile()
    state = mujoco.MjData(model)
    mujoco.mj_forward(model, state)
    origins, directions = rays(9, 500, high + 0.01)
    got = cast(field, FRAME, origins, directions, math.inf)
    geom = np.zeros(1, np.int32)
    theirs = np.array(
        [mujoco.mj_ray(model, state, o, d, None, 1, -1, geom) for o, d in zip(origins, directions, strict=True)]
    )
    hit = np.isfinite(got)
    assert hit.sum() > 40
    np.testing.assert_array_equal(theirs >= 0, hit)
    np.testing.assert_allclose(got[hit], theirs[hit], atol=1e-4)
