"""Readings of sensors that got worse."""

import numpy as np
import pytest

from covey.random import stream_key
from covey.sensors.bumper import BumperReadings
from covey.sensors.cloud import CloudReadings
from covey.sensors.degradation import Degradation
from covey.sensors.lidar import LidarReadings
from covey.sensors.neighbours import NeighboursReadings
from covey.sensors.odometry import OdometryReadings
from covey.sensors.proximity import ProximityReadings
from covey.sensors.wedge import WedgeReadings, Windows

KEY = stream_key(1, "test")
SOUND = {"range_m": np.inf, "noise_m": 0.0, "dropout": 0.0}


def lidar(rays=400):
    ranges = np.tile(np.linspace(0.5, 9.5, rays), (2, 1))
    ranges[:, -1] = np.inf
    return LidarReadings(ranges.copy(), np.zeros(rays), 10.0, np.zeros(3), truth=np.minimum(ranges, 10.0))


def test_only_the_robot_meant_is_spoiled_and_a_sound_one_is_as_it_was():
    reading, same = lidar(), lidar()
    reading.degrade(1, Degradation(1, KEY, **(SOUND | {"dropout": 1.0}), sample=0))
    assert np.array_equal(reading.ranges[0], same.ranges[0])
    assert np.isnan(reading.ranges[1]).all()
    assert np.isnan(reading.truth[1]).all(), "a dead lidar explores nothing"
    reading.degrade(0, Degradation(0, KEY, **SOUND, sample=0))
    assert np.array_equal(reading.ranges[0], same.ranges[0])


def test_a_shorter_range_ends_all_rays():
    reading = lidar()
    reading.degrade(0, Degradation(0, KEY, **(SOUND | {"range_m": 4.0}), sample=0))
    assert np.array_equal(reading.ranges[0] == np.inf, lidar().ranges[0] > 4.0)
    assert reading.truth[0].max() == 4.0


def test_noise_and_loss_are_as_large_as_stated_and_the_same_every_time():
    error, lost = [], []
    for sample in range(60):
        reading, again = lidar(), lidar()
        for r in (reading, again):
            r.degrade(0, Degradation(0, KEY, np.inf, 0.1, 0.3, sample))
        assert np.array_equal(reading.ranges, again.ranges, equal_nan=True)
        lost.append(np.isnan(reading.ranges[0]))
        error.append(reading.ranges[0, :-1] - lidar().ranges[0, :-1])
    noise = np.concatenate(error)
    assert np.mean(lost) == pytest.approx(0.3, abs=4 * np.sqrt(0.21 / (60 * 400)))
    assert np.nanstd(noise) == pytest.approx(0.1, rel=0.03)
    assert np.nanmean(noise) == pytest.approx(0.0, abs=4 * 0.1 / np.sqrt(60 * 280))


def test_a_ring_without_sight_senses_nothing():
    ranges = np.array([[0.5, 1.5, np.inf]])
    reading = ProximityReadings(np.isfinite(ranges), ranges, np.zeros(3))
    reading.degrade(0, Degradation(0, KEY, **(SOUND | {"range_m": 1.0}), sample=0))
    assert reading.presence.tolist() == [[True, False, False]]
    reading.degrade(0, Degradation(0, KEY, **(SOUND | {"dropout": 1.0}), sample=0))
    assert not reading.presence.any()
    assert np.isinf(reading.ranges).all()


def test_far_neighbours_are_lost_and_the_others_stay_in_order():
    reading = NeighboursReadings(
        np.array([3]),
        np.array([[1.0, 2.0, 5.0, np.inf]]),
        np.array([[0.1, 0.2, 0.3, np.nan]]),
        np.array([[7, 8, 9, -1]]),
        np.full((1, 4), np.nan),
    )
    reading.degrade(0, Degradation(0, KEY, **(SOUND | {"range_m": 3.0}), sample=0))
    seen = reading.row(0)
    assert (seen.ranges.tolist(), seen.bearings.tolist(), seen.identities.tolist()) == ([1.0, 2.0], [0.1, 0.2], [7, 8])
    reading.degrade(0, Degradation(0, KEY, **(SOUND | {"dropout": 1.0}), sample=0))
    assert len(reading.row(0)) == 0


def test_odometry_and_bumper_that_dropped_out_say_nothing():
    motion, bumper = (
        OdometryReadings(np.ones((1, 3))),
        BumperReadings(np.array([True]), np.array([0.3]), np.array([[0.3]])),
    )
    for reading in (motion, bumper):
        reading.degrade(0, Degradation(0, KEY, **(SOUND | {"dropout": 1.0}), sample=0))
    assert not motion.motion.any()
    assert not bumper.row(0)
    assert np.isnan(bumper.bearing[0])


def wedge():
    """Two robots in the middle of a window of 11 x 11 vertices that they see, and one that they see below the wedge."""
    kind = np.ones((2, 11, 11), np.uint8)
    kind[:, 0, 0] = 2
    level = np.zeros((2, 11, 11))
    corner, lattice, middle = np.full((2, 2), 10), np.array([0.0, 0.0, 1.0]), np.full((2, 3), 15.0)
    return WedgeReadings.inside(Windows(corner, lattice, middle), kind, level, level.copy(), 0.02)


def test_a_wedge_loses_what_is_far_and_what_is_lost():
    reading = wedge()
    reading.degrade(0, Degradation(0, KEY, **(SOUND | {"range_m": 3.0}), sample=0))
    row, column = np.indices((11, 11)) - 5
    np.testing.assert_array_equal(reading.kind[0] == 1, np.hypot(row, column) <= 3.0)
    np.testing.assert_array_equal(np.isfinite(reading.altitude[0]), np.hypot(row, column) <= 3.0)
    assert (reading.kind[1] > 0).all()
    reading.degrade(1, Degradation(1, KEY, **(SOUND | {"dropout": 1.0}), sample=0))
    assert not reading.kind.any(axis=(1, 2))[1]
    share = []
    for sample in range(40):
        reading = wedge()
        reading.degrade(0, Degradation(0, KEY, **(SOUND | {"dropout": 0.3}), sample=sample))
        share.append((reading.kind[0] == 0).mean())
    assert np.mean(share) == pytest.approx(0.3, abs=0.04)


def test_noise_of_a_wedge_is_as_large_as_stated_and_the_edge_stays():
    one, four = [], []
    for sample in range(40):
        reading = wedge()
        reading.degrade(0, Degradation(0, KEY, **(SOUND | {"noise_m": 0.1}), sample=sample))
        assert reading.altitude[0, 0, 0] == 0.0  # where the edge of the wedge is, is no measurement
        one.append(reading.altitude[0].ravel()[1:])
        four.append(reading.again[0].ravel()[1:])
    assert np.std(one) == pytest.approx(0.1, rel=0.03)
    assert np.std(four) == pytest.approx(0.05, rel=0.03)


def test_a_cloud_loses_points_beyond_the_range_and_lost_ones():
    ranges = np.tile(np.linspace(1.0, 9.0, 9), (2, 1))
    reading = CloudReadings(
        ranges, np.tile(np.arange(9.0), (3, 2, 1)).transpose(1, 2, 0).copy(), 0.02, np.zeros((2, 3))
    )
    reading.degrade(0, Degradation(0, KEY, **(SOUND | {"range_m": 4.5}), sample=0))
    np.testing.assert_array_equal(np.isfinite(reading.points[0]).all(axis=1), np.arange(9) < 4)
    assert np.isinf(reading.ranges[0, 4:]).all()
    reading.degrade(1, Degradation(1, KEY, **(SOUND | {"dropout": 1.0}), sample=0))
    assert np.isnan(reading.points[1]).all()
    assert len(reading.seen(np.zeros((2, 3)))[0]) == 4
