import math

import numpy as np
import pytest
from pydantic import ValidationError

from covey.errors import InvalidValueError
from covey.world.editing.ground_edits import (
    altitudes,
    bank,
    crater,
    mound,
    region,
    set_altitude,
    shift,
    trench,
)
from covey.world.generators.grounds import flat, hills
from covey.world.records.ground_edits import GROUND_EDITS
from covey.world.state import GroundState, WorldState


def plain(spacing_m=1.0):
    return GroundState(flat(size_m=(40, 30), spacing_m=spacing_m))


def test_a_crater_is_a_paraboloid():
    """Radius 5, depth 2: at r the ground falls by 2 (1 - r^2 / 25); 1.28 at 3 m, 0.72 at 4 m, 0 from 5 m on."""
    ground = plain()
    done = crater(ground, (2.0, -3.0), 2.0, 5.0)
    assert not ground.altitude.any()
    ground.apply(done)
    at = ground.altitude_at([[2, -3], [5, -3], [2, 1], [6, 0], [-3, -3], [9, 9]])
    np.testing.assert_allclose(at, [-2, -1.28, -0.72, 0, 0, 0], atol=1e-12)
    assert ground.version == 1
    assert done.before.shape == done.after.shape == (11, 11)
    np.testing.assert_array_equal(done.before, 0)
    np.testing.assert_array_equal(ground.altitude[done.row : done.row + 11, done.column : done.column + 11], done.after)
    volume = -np.sum(done.after - done.before)
    assert volume == pytest.approx(math.pi * 25 * 2 / 2, rel=0.01)  # half of the cylinder around it


def test_a_mound_fills_a_crater():
    ground = GroundState(hills(size_m=(40, 30)))
    before = ground.altitude.copy()
    ground.apply(crater(ground, (0.3, 0.4), 1.5, 6.0))
    assert (before - ground.altitude).max() == pytest.approx(1.5, rel=0.02)
    ground.apply(mound(ground, (0.3, 0.4), 1.5, 6.0))
    np.testing.assert_allclose(ground.altitude, before, atol=1e-12)
    assert ground.version == 2


def test_a_crater_over_the_edge_changes_what_is_there():
    ground = plain()
    ground.apply(crater(ground, (21.0, 0.0), 1.0, 3.0))
    np.testing.assert_allclose(ground.altitude_at([[20, 0], [19, 0], [18, 0]]), [-(1 - 1 / 9), -(1 - 4 / 9), 0])


def test_trenches_and_banks_are_steps_along_a_line():
    ground = plain(0.5)
    ground.apply(trench(ground, (-5.0, 0.0), (5.0, 0.0), 2.0, 1.5))
    ground.apply(bank(ground, (0.0, 5.0), (0.0, 8.0), 1.2, 0.8))
    at = ground.altitude_at([[0, 0], [-4.5, 0.5], [4.5, -0.5], [0, 1.5], [6, 0], [0, 6], [0.5, 7], [1, 6], [0, 8.5]])
    np.testing.assert_allclose(at, [-1.5, -1.5, -1.5, 0, 0, 0.8, 0.8, 0, 0])


@pytest.mark.parametrize("degrees", [0, 20, 45, 70])
def test_a_thin_trench_has_no_gaps(degrees):
    """A trench narrower than the spacing: whoever crosses its line from side to side passes a lowered vertex."""
    from scipy import ndimage

    ground = plain()
    c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    ground.apply(trench(ground, (-10 * c, -10 * s), (10 * c, 10 * s), 0.2, 1.0))
    low = ground.altitude < -0.5
    assert ndimage.label(low)[1] == 1  # over edges, not corners
    assert np.count_nonzero(low.any(axis=1)) + np.count_nonzero(low.any(axis=0)) >= 20 * max(c, s)


def test_parts_of_the_ground():
    ground = plain()
    assert region(ground, point_m=(2.4, -3.4)).mask.tolist() == [[True]]
    ground.apply(set_altitude(ground, region(ground, point_m=(2.4, -3.4)), 4.0))
    ground.apply(set_altitude(ground, region(ground, box_m=(-20.0, -15.0, -18.0, -14.0)), 2.0))
    ground.apply(shift(ground, region(ground, polygon_m=[(-10.5, 0.5), (-5.5, 0.5), (-5.5, 4.5), (-10.5, 4.5)]), -3.0))
    ground.apply(shift(ground, region(ground, centre_m=(10.0, 10.0), radius_m=2.0), 1.0))
    assert ground.altitude_at([2, -3]) == 4.0
    assert ground.altitude_at([[-20, -15], [-18, -14], [-17, -15], [-20, -13]]).tolist() == [2, 2, 0, 0]
    assert np.count_nonzero(ground.altitude == -3.0) == 5 * 4
    assert np.count_nonzero(ground.altitude == 1.0) == 13  # the lattice points within 2 of one of them
    assert ground.version == 4


@pytest.mark.parametrize("dig", [lambda g: crater(g, (0, 0), 11.0, 3.0), lambda g: mound(g, (0, 0), 10.5, 3.0)])
def test_an_edit_out_of_range_is_refused_as_a_whole(dig):
    ground = plain()
    with pytest.raises(InvalidValueError, match=r"declared to reach from -10 to 10 m; ask for less, or declare"):
        dig(ground)
    assert ground.version == 0
    assert not ground.altitude.any()


def test_the_source_stays_as_it_is():
    source = hills(size_m=(20, 20))
    before = source.altitude.copy()
    world = WorldState(source.world())
    world.ground.apply(crater(world.ground, (0, 0), 1.0, 5.0))
    np.testing.assert_array_equal(source.altitude, before)
    assert source.version == 0
    assert world.ground.version == 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda g: crater(g, (100, 0), 1.0, 3.0), "the crater holds no vertex of the ground, .* move or enlarge"),
        (lambda g: crater(g, (0.5, 0.5), 1.0, 0.3), "holds no vertex"),
        (lambda g: crater(g, (0, 0), -1.0, 3.0), "depth_m is -1.0; it must be a positive"),
        (lambda g: crater(g, (0, 0), 1.0, 0.0), "radius_m is 0.0"),
        (lambda g: crater(g, (math.nan, 0), 1.0, 1.0), "centre_m of the crater"),
        (lambda g: trench(g, (0, 0), (0, 0), 1.0, 1.0), "two different points"),
        (lambda g: bank(g, (0, 0), (1, math.inf), 1.0, 1.0), "two different points"),
        (lambda g: trench(g, (0, 0), (1, 0), -1.0, 1.0), "width_m is -1.0"),
        (lambda g: region(g, box_m=(5, 5, 4, 4)), "holds no vertex"),
        (lambda g: region(g), "given by nothing; it must be one of"),
        (lambda g: region(g, point_m=(0, 0), centre_m=(0, 0), radius_m=1), "'point_m', 'centre_m'"),
        (lambda g: set_altitude(g, region(g, point_m=(0, 0)), math.nan), "from nan to nan m"),
        (lambda g: altitudes(g, -1, 0, np.zeros((2, 2))), "does not lie inside the 31 x 41"),
    ],
)
def test_edits_that_make_no_sense(call, message):
    ground = plain()
    with pytest.raises(InvalidValueError, match=message):
        call(ground)
    assert ground.version == 0


@pytest.mark.parametrize(
    ("key", "declared", "at", "expected"),
    [
        ("altitude", {"point_m": [0, 0], "to_m": 2}, (0, 0), 2.0),
        ("shift", {"centre_m": [1, 1], "radius_m": 2, "by_m": -1}, (1, 1), -1.0),
        ("crater", {"centre_m": [0, 0], "depth_m": 2, "radius_m": 4}, (0, 0), -2.0),
        ("mound", {"centre_m": [3, 0]}, (3, 0), 1.0),
        ("trench", {"from": [0, 0], "to": [5, 0], "depth_m": 0.5}, (2, 0), -0.5),
        ("bank", {"from": [0, 0], "to": [0, 5]}, (0, 2), 1.0),
    ],
)
def test_declared_edits(key, declared, at, expected):
    ground, record = plain(), GROUND_EDITS[key].model_validate(declared)
    ground.apply(record.edit(ground))
    assert ground.altitude_at(at) == pytest.approx(expected)
    assert GROUND_EDITS[key].model_validate(record.model_dump(mode="json")) == record


@pytest.mark.parametrize(
    ("key", "declared", "message"),
    [
        ("altitude", {"to_m": 1}, "the place is given by nothing; give one of"),
        ("shift", {"point_m": [0, 0], "radius_m": 2, "by_m": 1}, "centre_m with radius_m"),
        ("shift", {"point_m": [0, 0]}, "by_m"),
        ("crater", {"centre_m": [0, 0], "depth_m": 0}, "greater than 0"),
        ("crater", {"centre_m": [0, 0], "deep_m": 1}, "Extra inputs"),
        ("trench", {"from": [1, 1], "to": [1, 1]}, "two different points"),
    ],
)
def test_declarations_that_make_no_sense(key, declared, message):
    with pytest.raises(ValidationError, match=message):
        GROUND_EDITS[key].model_validate(declared)
