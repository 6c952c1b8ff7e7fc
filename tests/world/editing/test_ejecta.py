import numpy as np
import pytest

from covey.errors import InvalidValueError
from covey.world.editing.ejecta import landed
from covey.world.editing.ground_edits import crater
from covey.world.generators.grounds import flat, hills
from covey.world.ground import Ground
from covey.world.records.ground_edits import Crater
from covey.world.state import GroundState


def test_nothing_is_lost_of_what_a_crater_removes():
    ground = GroundState(hills(size_m=(80, 80)))
    before = ground.altitude.copy()
    done = crater(ground, (2.0, 3.0), 2.0, 6.0, ejecta=True)
    ground.apply(done)
    changed = ground.altitude - before
    assert changed.sum() == pytest.approx(0, abs=1e-9)
    assert changed.min() < -1.8
    assert ground.version == 1
    assert done.after.sum() == pytest.approx(done.before.sum())


def test_the_layer_gets_thinner_with_the_third_power_of_the_distance():
    """Volume within r, of what lies between R and 3 R: (1 - R / r) / (1 - 1 / 3)."""
    ground = flat(size_m=(120, 120))
    places = landed(ground.altitude, ground.frame, (0.0, 0.0), 10.0, 100.0)
    assert len(places) == round(100 / 0.03)
    r = np.hypot(*places.T)
    for within in (12.0, 15.0, 20.0, 25.0):
        assert np.mean(r < within) == pytest.approx((1 - 10 / within) / (1 - 1 / 3), abs=0.01)
    assert r.max() == pytest.approx(30, rel=0.01)
    np.testing.assert_allclose(places.mean(axis=0), 0, atol=0.1)


def test_rocks_fly_farther_downhill():
    """From a plane that falls by the slope s, at 45 degrees: v^2 (1 + s) / g instead of v^2 / g."""
    x = np.arange(200) - 99.5
    ground = Ground.of(np.tile(-0.5 * x, (200, 1)))
    places = landed(ground.altitude, ground.frame, (0.0, 0.0), 10.0, 60.0)
    down, up = (places[np.abs(places[:, 1]) < 1], places[np.abs(places[:, 1]) < 1])
    down, up = down[down[:, 0] > 0, 0], up[up[:, 0] < 0, 0]
    assert down.max() - 10 == pytest.approx(20 * 1.5, rel=0.1)
    assert -up.min() - 10 == pytest.approx(20 * 0.5, rel=0.1)


def test_rocks_over_the_edge_are_lost_and_a_range_holds_for_them_too():
    ground = GroundState(flat(size_m=(30, 30)))
    ground.apply(crater(ground, (13.0, 0.0), 2.0, 5.0, ejecta=True))
    assert -60 < ground.altitude.sum() < -20  # about half of 78 m^3
    tight = GroundState(flat(size_m=(60, 60), range_m=(-3.0, 0.01)))
    with pytest.raises(InvalidValueError, match="the crater with its ejecta asks for altitudes"):
        crater(tight, (0.0, 0.0), 2.0, 5.0, ejecta=True)
    assert tight.version == 0


def test_declared():
    ground = GroundState(flat(size_m=(60, 60)))
    ground.apply(Crater(centre_m=(0, 0), ejecta=True).edit(ground))
    assert ground.altitude.max() > 0
    again = GroundState(flat(size_m=(60, 60)))
    again.apply(Crater(centre_m=(0, 0), ejecta=True).edit(again))
    np.testing.assert_array_equal(ground.altitude, again.altitude)
