"""What readings look like, by hand: a robot at (1, 2) that looks north, and one at (5, 5) that looks east."""

import math

import numpy as np
import pytest

from covey.draws import WORDS, Draws
from covey.results.details import RecordedReadings, arrays_of_draws, draws_of
from covey.results.sensor_marks import SensorMarks, marks_of_values

POSES = np.array([[1.0, 2.0, math.pi / 2], [5.0, 5.0, 0.0]])
RADIUS = np.array([0.2, 0.4])


def drawn(word, values, **sectors):
    marks = marks_of_values(Draws(word, **sectors), np.array(values), POSES, RADIUS, "red", "sensor:s")
    assert all(mark.checked().by == "sensor:s" and mark.color == "red" for mark in marks)
    return marks


def test_a_ring_lights_up():
    dark, lit = drawn("ring", [0.0, 1.0])
    assert np.allclose(np.hypot(*(dark.parts[0] - POSES[0, :2]).T), 0.3)
    assert np.allclose(np.hypot(*(lit.parts[0] - POSES[1, :2]).T), 0.6)
    assert (dark.fill, lit.fill > 0) == (0.0, True)
    dark, lit = drawn("ring", [[0.0, math.nan], [0.0, 0.0]])
    assert (len(dark.parts), len(lit.parts)) == (2, 0)


def test_numbers_stand_above_the_robots():
    one, two = drawn("number", [[1.0, 2.5], [math.nan, -math.inf]])
    assert (one.text, two.text) == ("1, 2.5", "nan, -inf")
    assert one.parts[0][0] == 1.0
    assert one.parts[0][1] > 2.2
    assert drawn("number", [range(9), range(9)])[0].text == "0, 1, 2, 3, 4, 5, 6, 7, …"


def test_a_heading_is_of_the_world():
    (arrows,) = drawn("heading", [0.0, math.pi])
    at, ways = arrows.parts
    assert np.allclose(at, POSES[:, :2])
    assert np.allclose(ways / np.hypot(*ways.T)[:, None], [[1, 0], [-1, 0]])
    assert (np.hypot(*ways.T) > RADIUS).all()


def test_a_ray_and_a_place_are_of_the_robot():
    lines, points = drawn("ray", [[2.0, math.pi / 2], [math.nan, math.nan]])
    assert np.allclose(points.parts[0], [[-1, 2]])  # to the left of one that looks north
    assert np.allclose(lines.parts, [[[1, 2], [-1, 2]]])
    lines, points, arrows = drawn("place", [[3.0, 1.0, 0.0], [3.0, 1.0, math.pi / 2]])
    assert np.allclose(points.parts[0], [[0, 5], [8, 6]])
    assert np.allclose(arrows.parts[0], points.parts[0])
    ways = arrows.parts[1] / np.hypot(*arrows.parts[1].T)[:, None]
    assert np.allclose(ways, [[0, 1], [0, 1]])
    assert len(drawn("place", [[3.0, 1.0], [3.0, 1.0]])) == 2


def test_sectors_go_from_right_to_left():
    quarter = {"begin_rad": -math.pi / 4, "width_rad": math.pi / 2, "range_m": 4.0}
    hits, fields = drawn("sectors", [[math.inf, 2.0], [1.0, math.inf]], **quarter)
    north, east = hits.parts
    assert np.allclose(north[[0, 1, -1]], [[1, 2], [1, 4], [1 - math.sqrt(2), 2 + math.sqrt(2)]])
    assert np.allclose(east[[0, 1, -1]], [[5, 5], [5 + math.sqrt(0.5), 5 - math.sqrt(0.5)], [6, 5]])
    assert [len(mark.parts) for mark in (hits, fields)] == [2, 2]
    assert fields.parts[1][:, 0].max() == pytest.approx(9.0, abs=0.02)
    (ring,) = drawn("sectors", [[1.0], [math.inf]], inner_m=0.5)  # all around
    assert np.hypot(*(ring.parts[0][1:] - POSES[0, :2]).T) == pytest.approx(1.5)


def readings(draws, arrays):
    return RecordedReadings(("b",), np.array([1, 2]), np.array([0.1, 0.2]), arrays, draws)


def test_the_newest_reading_is_drawn_where_its_robot_is():
    found = {
        "s": readings(Draws("number"), {"values": np.array([[7.0], [8.0]])}),
        "silent": readings(None, {"values": np.zeros((2, 1))}),
    }
    marks = SensorMarks(found, ("a", "b"), RADIUS)
    assert marks.names == ("s",)
    assert marks.at("s", 0.05, POSES) == ()
    for time_s, text in ((0.1, "7"), (0.19, "7"), (0.2, "8"), (9.0, "8")):
        (mark,) = marks.at("s", time_s, POSES)
        assert (mark.text, mark.parts[0][0]) == (text, 5.0)


def test_how_it_is_drawn_comes_back_from_arrays():
    for word in WORDS:
        draws = Draws(word, "values", -1.0, 2.0, 0.1, math.inf)
        assert draws_of(arrays_of_draws(draws), {"values": np.zeros((3, 2, 2))}, 3, 2) == draws
    assert draws_of({}, {}, 3, 2) is None


@pytest.mark.parametrize(
    ("draws", "shape"),
    [
        (["number", "others"], (3, 2)),
        (["dance", "values"], (3, 2)),
        (["number", "values"], (4, 2)),
        (["number", "values"], (3, 3)),
        (["place", "values"], (3, 2, 1)),
        (["ray", "values"], (3, 2)),
    ],
)
def test_damaged_arrays_are_refused(draws, shape):
    arrays = {"draws": np.array(draws), "sectors": np.array([0.0, 1.0, 0.0, 1.0])}
    with pytest.raises(ValueError, match="do not belong together"):
        draws_of(arrays, {"values": np.zeros(shape)}, 3, 2)
