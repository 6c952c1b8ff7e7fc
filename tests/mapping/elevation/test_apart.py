"""Beliefs about the ground in processes and their mirror are what one belief would be; what strangers send is checked."""

import numpy as np
import pytest

from covey.errors import InvalidValueError
from covey.mapping.elevation.apart import MirroredElevations, OwnElevation, received
from covey.mapping.elevation.belief import Elevations
from covey.mapping.records import ElevationMapping

NAMES, SHAPE = ["a", "b", "c"], (40, 50)
SIGMA_M = 0.02


def cloud(random, tilt):
    """Return points on a plane around a robot, (1, 40, 3), and its eye (1, 3)."""
    around = random.uniform(-6.0, 6.0, (40, 2))
    return np.column_stack((around, around @ tilt + random.normal(0.0, SIGMA_M, 40)))[None], np.array([[0.0, 0.0, 1.0]])


def test_clouds_in_processes_and_sharing_in_the_mirror_give_the_same_maps_and_versions():
    random = np.random.default_rng(5)
    mapping = ElevationMapping(change_test="paper")
    whole, mirror = (kind(NAMES, SHAPE, (-20.0, -20.0), 1.0, mapping) for kind in (Elevations, MirroredElevations))
    mirror.attach(range(3))
    for beliefs in (whole, mirror):
        beliefs.stand(np.array([0, 1]), np.zeros((2, 2)), np.zeros(2), 2.0)
        beliefs.know(np.array([2]), np.full((5, 6), 0.3))
    apart = [mirror.start(row).begin() for row in range(3)]
    for step in range(24):
        tilt = np.array([0.1, -0.05]) if step < 12 else np.array([-0.3, 0.2])  # somebody digs
        for row in np.flatnonzero(random.random(3) < 0.7).tolist():
            pose, (points, eyes) = random.uniform((-9.0, -9.0, -3.0), (9.0, 9.0, 3.0))[None], cloud(random, tilt)
            for beliefs in (whole, apart[row]):
                beliefs.see_points(np.array([row]), np.array([0]), pose, points, eyes, SIGMA_M, step)
            mirror.put(row, None, apart[row].changes())
        if step % 4 == 3:
            hears = random.random((3, 3)) < 0.7
            for beliefs in (whole, mirror):
                beliefs.share(hears)
            for row, own in enumerate(apart):
                for given in mirror.waiting(row):
                    own.add_evidence(given)
        for name in ("occupancy", "version", "tile_changed", "resets", "measured", "clock"):
            np.testing.assert_array_equal(getattr(mirror, name), getattr(whole, name), name)
        for row, own in enumerate(apart):
            np.testing.assert_array_equal(own[row].altitude(), whole[row].altitude())
            np.testing.assert_array_equal(mirror[row].variance(), whole[row].variance())
            assert own.version[row] == whole.version[row]
    assert whole.resets.sum() > 20
    assert (whole.clock > 0).all()


def test_what_changed_is_told_once():
    own = OwnElevation(0, NAMES, SHAPE, (-20.0, -20.0), 1.0, ElevationMapping())
    points, eyes = cloud(np.random.default_rng(1), np.zeros(2))
    own.see_points(np.array([0]), np.array([0]), np.zeros((1, 3)), points, eyes, SIGMA_M, 0)
    changes = own.changes()
    assert changes is not None
    assert 20 < len(changes.vertices) < 200
    assert own.changes() is None


def test_bytes_of_strangers_are_an_update_of_this_team_or_refused():
    random = np.random.default_rng(2)
    giver, own = (OwnElevation(k, NAMES, SHAPE, (-20.0, -20.0), 1.0, ElevationMapping()) for k in (1, 0))
    points, eyes = cloud(random, np.zeros(2))
    giver.see_points(np.array([1]), np.array([0]), np.zeros((1, 3)), points, eyes, SIGMA_M, 0)
    giver.publish(np.array([1]))
    code = giver.encode(giver.update_since(1, np.zeros(3, np.int64)))
    assert len(received(own, 0, code).items) > 0
    assert received(own, 1, code).items == []  # what others say of a robot itself is left out
    refused = 0
    for strange in (None, b"", code[:-1], 7, "text"):
        with pytest.raises(InvalidValueError, match="another robot"):
            received(own, 0, strange)
    for _ in range(200):
        wrong = bytearray(code)
        wrong[random.integers(40)] = random.integers(256)
        try:
            update = received(own, 0, bytes(wrong))
        except InvalidValueError:
            refused += 1
        else:
            own.merge_updates(np.array([[True], [False], [False]]), [update])
    assert 20 < refused < 200
    assert np.isfinite(own[0].altitude()[own[0].marks() > 0]).all()
