"""The readings of a group answer the same questions as the reading of one robot, for all robots at once."""

import numpy as np
import pytest

from covey.sensors.lidar import LidarReading, LidarReadings
from covey.sensors.neighbours import NeighboursReading, NeighboursReadings
from covey.sensors.proximity import ProximityReading, ProximityReadings
from covey.sensors.tag_camera import TagCameraReading, TagCameraReadings
from covey.sensors.wedge import SEEN, WedgeReading, WedgeReadings

INF, NAN = np.inf, np.nan
LIDAR = LidarReadings(
    np.array([[1.0, INF, 2.0], [NAN, 3.0, INF]]), np.array([-0.5, 0.0, 0.5]), 5.0, np.array([0.1, 0.0, np.pi / 2])
)
NEIGHBOURS = NeighboursReadings(
    np.array([2, 0, 1]),
    np.array([[1.0, 2.0], [INF, INF], [3.0, INF]]),
    np.array([[np.pi / 2, 0.0], [NAN, NAN], [np.pi, NAN]]),
    np.array([[2, 1], [-1, -1], [0, -1]]),
    np.full((3, 2), NAN),
)
PROXIMITY = ProximityReadings(
    np.array([[True, False], [False, False]]), np.array([[0.3, INF], [INF, INF]]), np.array([0.0, np.pi])
)
MARKERS = TagCameraReadings(
    np.array([1, 0]),
    np.array([[7], [-1]]),
    np.array([["victim"], [""]]),
    np.array([[2.0], [INF]]),
    np.array([[0.0], [NAN]]),
    np.array([[[2.0, 0.5, 0.3]], [[NAN, NAN, NAN]]]),
)
WEDGE = WedgeReadings(
    np.array([[[1, 0], [2, 1]], [[0, 0], [0, 1]]], np.uint8),
    np.array([[[0.5, NAN], [0.1, 0.7]], [[NAN, NAN], [NAN, 0.9]]]),
    np.full((2, 2, 2), NAN),
    np.array([[[1.0, 2.0], [0.5, 0.0], [0.0, 0.25]], [[-1.0, 0.0], [0.0, 0.5], [0.5, 0.0]]]),
    0.02,
)
POSES = np.array([(1.0, 2.0, np.pi / 2), (0.0, 0.0, 0.0)])
ALL = [
    (LIDAR, LidarReading, "points", ()),
    (NEIGHBOURS, NeighboursReading, "points", ()),
    (NEIGHBOURS, NeighboursReading, "any", ()),
    (PROXIMITY, ProximityReading, "any", ()),
    (PROXIMITY, ProximityReading, "__getitem__", (0,)),
    (MARKERS, TagCameraReading, "any", ()),
    (MARKERS, TagCameraReading, "places", (POSES,)),
    (WEDGE, WedgeReading, "points", ()),
    (WEDGE, WedgeReading, "points", (SEEN + 1,)),
]


@pytest.mark.parametrize(("readings", "kind", "method", "given"), ALL)
def test_each_row_of_the_group_is_the_reading_of_its_robot(readings, kind, method, given):
    of_group = getattr(readings, method)(*given)
    for i in range(len(of_group)):
        own = [value[i] if isinstance(value, np.ndarray) else value for value in given]
        row, expected = of_group[i], np.asarray(getattr(readings.row(i), method)(*own))
        measured = row[np.isfinite(row).all(axis=-1)] if row.ndim > 1 else row
        np.testing.assert_allclose(measured, expected, atol=1e-12)


def test_every_method_of_a_reading_is_tested_here():
    for kind in {kind for _, kind, _, _ in ALL}:
        methods = {name for name, item in vars(kind).items() if callable(item) and not name.startswith("_")}
        assert methods == {name for _, one, name, _ in ALL if one is kind and not name.startswith("_")}


def test_places_of_neighbours_by_hand():
    points = NEIGHBOURS.points()
    np.testing.assert_allclose(points[0], [(0.0, 1.0), (2.0, 0.0)], atol=1e-12)
    np.testing.assert_allclose(points[2, 0], (-3.0, 0.0), atol=1e-12)
    assert np.isnan(points[1]).all()
    assert np.isnan(points[2, 1]).all()
