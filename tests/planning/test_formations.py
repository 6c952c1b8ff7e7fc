"""Formations: the distances of the paper, any count, and where they look."""

import itertools
import math

import numpy as np
import pytest

from covey.errors import InvalidValueError, UnknownNameError
from covey.planning.formations import FORMATIONS, slots


def gaps(places):
    """Return the distance of each place to its nearest neighbour."""
    apart = np.hypot(*(places[:, None] - places[None]).transpose(2, 0, 1))
    np.fill_diagonal(apart, np.inf)
    return apart.min(axis=1)


def test_a_hexagon_of_six_has_radius_and_neighbours_at_the_spacing():
    places = slots("hexagon", 6, (3.0, -4.0), 2.0)
    assert np.hypot(*(places - (3.0, -4.0)).T) == pytest.approx(np.full(6, 2.0))
    assert gaps(places) == pytest.approx(np.full(6, 2.0))


@pytest.mark.parametrize(
    ("spacing_of", "radius_m", "neighbour_m"),
    [("radius", 2.0, 4.0 * math.sin(math.radians(36))), ("neighbours", 2.0 / (2 * math.sin(math.radians(36))), 2.0)],
)
def test_a_pentagon_has_one_robot_on_the_objective(spacing_of, radius_m, neighbour_m):
    places = slots("pentagon", 6, (1.0, 1.0), 2.0, spacing_of=spacing_of)
    assert places[0].tolist() == [1.0, 1.0]
    around = places[1:]
    assert np.hypot(*(around - 1.0).T) == pytest.approx(np.full(5, radius_m))
    assert np.hypot(*(around - np.roll(around, 1, axis=0)).T) == pytest.approx(np.full(5, neighbour_m))


def test_a_rank_lies_across_its_facing_at_two_and_a_half_spacings_to_each_side():
    facing = math.radians(30)
    places = slots("rank", 6, (5.0, 0.0), 2.0, facing) - (5.0, 0.0)
    assert places @ (math.cos(facing), math.sin(facing)) == pytest.approx(np.zeros(6))
    assert places @ (-math.sin(facing), math.cos(facing)) == pytest.approx(np.array([-5, -3, -1, 1, 3, 5]))


@pytest.mark.parametrize("formation", FORMATIONS)
@pytest.mark.parametrize("count", [1, 2, 3, 5, 6, 7, 12, 19, 40])
def test_any_number_of_robots_stands_apart_and_around_the_objective(formation, count):
    places = slots(formation, count, (10.0, 20.0), 1.5, 0.7)
    assert places.shape == (count, 2)
    if count > 1:
        assert gaps(places).min() >= 1.5 - 1e-9
    far = np.hypot(*(places - (10.0, 20.0)).T).max()
    assert far <= (0.75 * count if formation == "rank" else 1.5 * (1 + math.sqrt(count)))


def test_facing_turns_the_whole_formation():
    for formation in FORMATIONS:
        ahead, turned = slots(formation, 6, spacing_m=2.0), slots(formation, 6, spacing_m=2.0, facing=math.pi / 2)
        assert turned == pytest.approx(np.column_stack((-ahead[:, 1], ahead[:, 0])))
    first = slots("hexagon", 6, (0.0, 0.0), 2.0, math.pi / 2)[0]
    assert first == pytest.approx((0.0, 2.0))  # a corner points where the formation looks


def test_few_robots_spread_over_the_corners():
    three = slots("hexagon", 3, spacing_m=1.0)
    assert [math.dist(a, b) for a, b in itertools.combinations(three, 2)] == pytest.approx([math.sqrt(3)] * 3)


def test_what_is_no_formation_is_refused():
    with pytest.raises(UnknownNameError, match="hexagon"):
        slots("hexagn", 6)
    with pytest.raises(InvalidValueError):
        slots("rank", 0)
    with pytest.raises(InvalidValueError):
        slots("rank", 2, spacing_m=0.0)
