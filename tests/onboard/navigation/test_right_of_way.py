"""Who goes first at a doorway, and where the other one waits."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
import shapely

from covey.geometry import Grid
from covey.onboard.navigation.right_of_way import (
    GO,
    RETREAT,
    WAIT,
    RightOfWay,
    may_enter,
    point_on,
    project,
    waiting_place,
    way_out,
)

LINE = np.array([[0.0, 0.0], [10.0, 0.0]])  # with a doorway from 4.9 to 5.1 m


def decision(begin, end, s, others, identity, stalled_s):
    """What is decided on `LINE`, and on it turned about any angle."""
    found = set()
    for angle in (0.0, 1.0, -2.5):
        turn = np.array([[math.cos(angle), math.sin(angle)], [-math.sin(angle), math.cos(angle)]])
        turned = np.column_stack((others[:, :2] @ turn, others[:, 2] + angle, others[:, 3:]))
        found.add(may_enter(LINE @ turn, begin, end, s, turned, identity, stalled_s))
    (one,) = found
    return one


@pytest.mark.parametrize(
    ("x", "heading", "identity", "still", "expected"),
    [
        (5.0, math.pi, 9, 0.0, WAIT),  # comes through the door
        (5.0, 0.0, 1, 0.0, GO),  # goes through ahead of us
        (6.0, math.pi, 1, 0.0, WAIT),  # wants in from beyond, and is first
        (6.0, math.pi, 9, 0.0, GO),  # wants in from beyond, and is not
        (6.0, math.pi, 1, 9.0, GO),  # stands beyond for long: parked
        (6.0, 0.0, 1, 0.0, GO),  # goes away
        (4.0, math.pi, 9, 0.0, WAIT),  # has come out and is in front of us
        (4.0, math.pi, 9, 1.5, GO),  # stands there
        (4.0, 0.0, 9, 0.0, GO),  # goes in ahead of us
        (3.2, math.pi, 9, 0.0, GO),  # passes us
        (5.0, math.nan, 9, 0.0, WAIT),  # is in the door, and does not say which way it looks
        (5.0, math.nan, 9, 9.0, GO),  # the same, for long
        (5.0, math.pi, 9, 9.0, WAIT),  # looks at us, for long
        (6.0, math.nan, 1, 0.0, WAIT),  # is beyond, first, and does not say which way it looks
        (7.5, math.pi, 1, 0.0, WAIT),  # 2.4 m beyond
        (7.7, math.pi, 1, 0.0, GO),  # 2.6 m beyond
    ],
)
def test_right_of_way_at_a_doorway(x, heading, identity, still, expected):
    others = np.array([[x, 0.0, heading, identity, still]])
    assert decision(4.9, 5.1, 3.0, others, 5, 0.0) == expected


def test_of_two_inside_the_one_with_the_larger_identity_comes_back_out():
    others = np.array([[5.6, 0.0, math.pi, 1.0, 0.0]])
    assert decision(4.0, 6.0, 4.8, others, 5, 2.0) == RETREAT
    assert decision(4.0, 6.0, 4.8, others, 0, 2.0) == GO


@pytest.mark.parametrize(
    ("x", "y", "heading", "identity", "still", "stalled_s", "expected"),
    [
        (5.6, 0.0, math.pi, 1.0, 0.0, 1.0, GO),  # they have only just met
        (5.6, 0.0, math.pi, 9.0, 0.0, 7.0, GO),  # the other is to come back out
        (5.6, 0.0, math.pi, 9.0, 0.0, 9.0, RETREAT),  # and does not
        (5.6, 0.0, 0.0, 1.0, 0.0, 9.0, GO),  # goes the same way
        (5.6, 0.7, math.pi, 1.0, 0.0, 9.0, GO),  # is beside the way
        (4.7, 0.0, math.pi, 1.0, 0.0, 9.0, GO),  # is behind
        (6.4, 0.0, math.pi, 1.0, 2.0, 3.0, GO),  # waits at the end
        (6.4, 0.0, math.pi, 1.0, 0.0, 3.0, RETREAT),  # wants in there
        (6.9, 0.0, math.pi, 1.0, 0.0, 9.0, GO),  # is more than 2 m ahead
    ],
)
def test_inside_a_robot_comes_back_out_only_for_who_comes_against_it(
    x, y, heading, identity, still, stalled_s, expected
):
    others = np.array([[-9.0, 0.0, 0.0, 0.0, 0.0], [x, y, heading, identity, still]])
    assert decision(4.0, 6.0, 4.8, others, 5, stalled_s) == expected


def test_who_is_beside_the_way_is_not_in_it():
    assert decision(4.9, 5.1, 3.0, np.array([[5.0, 0.5, math.pi, 9, 0.0]]), 5, 0.0) == WAIT
    assert decision(4.9, 5.1, 3.0, np.array([[5.0, -0.7, math.pi, 9, 0.0]]), 5, 0.0) == GO


def bent_line(draw):
    """Return a line, some of its corners twice, and the same with long straight ends as shapely has it."""
    line = np.cumsum(draw.uniform(-2.0, 2.0, (int(draw.integers(2, 7)), 2)), axis=0)
    long = line.copy()
    for end, before in ((0, 1), (-1, -2)):
        long[end] += 1e3 * (line[end] - line[before]) / math.dist(line[end], line[before])
    return np.repeat(line, draw.integers(1, 3, len(line)), axis=0), shapely.LineString(long)


@pytest.mark.parametrize("seed", range(5))
def test_places_on_a_line_are_those_of_shapely_on_the_line_continued(seed):
    draw = np.random.default_rng(seed)
    for _ in range(60):
        line, long = bent_line(draw)
        length = shapely.LineString(line).length
        s = draw.uniform(-2.0, length + 2.0)
        x, y, course = point_on(line, s)
        there, beyond = (np.array(long.interpolate(1e3 + s + more).coords[0]) for more in (0.0, 1e-6))
        assert (x, y) == pytest.approx(there, abs=1e-9)
        assert (math.cos(course), math.sin(course)) == pytest.approx((beyond - there) / 1e-6, abs=1e-3)
        px, py = draw.uniform(line.min(0) - 2.0, line.max(0) + 2.0)
        at, off, course = project(line, px, py)
        assert at == pytest.approx(long.project(shapely.Point(px, py)) - 1e3, abs=1e-7)
        assert abs(off) == pytest.approx(long.distance(shapely.Point(px, py)), abs=1e-9)
        x, y, _ = point_on(line, at - 1e-9)  # a corner has the course of the part before it
        left = math.cos(course) * (py - y) - math.sin(course) * (px - x)
        assert left == 0.0 or math.copysign(1.0, off) == math.copysign(1.0, left) or abs(left) < 1e-6


@pytest.mark.parametrize("seed", range(6))
def test_of_the_free_places_before_a_stretch_the_nearest_is_taken(seed):
    draw, found_some = np.random.default_rng(seed), 0
    for _ in range(12):
        cells = draw.choice([-1, 0, 100], (50, 60), p=[0.004, 0.99, 0.006]).astype(np.int8)
        x0, y0, resolution, radius, keep = -1.0, 2.0, 0.1, 0.23, 0.5
        line = np.array([x0, y0]) + draw.uniform(0.5, (5.5, 4.5), (3, 2))
        x, y = np.array([x0, y0]) + draw.uniform(0.5, (5.5, 4.5))
        begin = draw.uniform(0.0, shapely.LineString(line).length)
        others = np.column_stack((draw.uniform((x0, y0), (x0 + 6, y0 + 5), (4, 2)), np.zeros((4, 3))))
        entry = np.array(point_on(line, begin)[:2])
        course = point_on(line, begin)[2]
        ahead, right = np.array([math.cos(course), math.sin(course)]), np.array([math.sin(course), -math.cos(course)])
        row, column = np.nonzero(cells)
        corner = np.column_stack((x0 + column * resolution, y0 + row * resolution))
        walls = shapely.union_all(shapely.box(*corner.T, *(corner + resolution).T))
        inside = shapely.box(x0, y0, x0 + 6.0, y0 + 5.0)
        best = math.inf
        for back in 1.0 + 0.35 * np.arange(6):
            for aside in keep + 0.15 + 0.25 * np.arange(4):
                for side, dearer in ((right, 0.0), (-right, 1.2)):
                    place = shapely.Point(entry - back * ahead + aside * side)
                    near = min(math.dist(place.coords[0], other) for other in others[:, :2])
                    free = place.distance(walls) >= radius and inside.contains(place.buffer(radius + 2 * resolution))
                    if free and near >= keep:
                        best = min(best, math.dist(place.coords[0], (x, y)) + dearer + 0.1 * back)
        px, py, found = waiting_place(line, begin, x, y, others, cells, x0, y0, resolution, radius, keep)
        if not found:
            assert best == math.inf
            assert (px, py) == (x, y)
            continue
        found_some += 1
        place = shapely.Point(px, py)
        assert place.distance(walls) >= radius - 1e-9
        assert inside.contains(place)
        assert np.hypot(*(others[:, :2] - (px, py)).T).min() >= keep
        behind, aside = (entry - (px, py)) @ ahead, (np.array([px, py]) - entry) @ right
        assert behind >= 1.0 - 1e-9
        assert abs(aside) > keep
        cost = math.dist((px, py), (x, y)) + (1.2 if aside < 0 else 0.0) + 0.1 * behind
        assert cost <= best + 1e-9
    assert found_some > 3


@pytest.mark.parametrize("seed", range(5))
def test_the_way_out_has_the_most_room_and_rather_leads_back(seed):
    draw = np.random.default_rng(seed)
    for _ in range(60):
        course, count, wall, keep = draw.uniform(-3, 3), int(draw.integers(0, 9)), 0.3, 0.6
        points = draw.uniform(-1.5, 1.5, (12, 2))  # only the first of them count
        tracks = np.full((3, 8), math.inf)
        others = draw.uniform(-1.5, 1.5, (int(draw.integers(0, 3)), 2))
        tracks[: len(others), :2], tracks[: len(others), 5] = others, 0.0
        best = -math.inf
        for d, turn in enumerate(sorted(range(-7, 9), key=lambda turn: (abs(turn), -turn))):
            angle = course + math.pi + turn * math.pi / 8.0
            room = 1.0
            for some, near in ((points[:count], wall), (others, keep)):
                turned = some @ np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
                ahead = turned[(turned[:, 0] > 0.0) & (np.abs(turned[:, 1]) < near), 0]
                room = min([room, *(ahead - near).tolist()])
            if room - 0.02 * d > best + 1e-12:
                best, expected = room - 0.02 * d, angle
        assert way_out(course, points, count, tracks, wall, keep) == pytest.approx(expected)


def test_the_waiting_place_is_on_the_right_of_the_way_and_free():
    cells = np.zeros((80, 100), np.int8)
    cells[:36, 50] = cells[44:, 50] = 100
    line = np.array([[1.0, 4.0], [9.0, 4.0]])
    place = (cells, 0.0, 0.0, 0.1, 0.33, 0.68)
    x, y, found = waiting_place(line, 4.0, 3.5, 4.0, np.empty((0, 5)), *place)
    assert found
    assert x < 4.2
    assert y < 4.0 - 0.68
    taken = np.array([[x, y, 0.0, 1.0, 0.0]])
    other_x, other_y, found = waiting_place(line, 4.0, 3.5, 4.0, taken, *place)
    assert found
    assert math.hypot(other_x - x, other_y - y) >= 0.68


def test_project_gives_the_place_on_a_line_and_its_side():
    line = np.array([[0.0, 0.0], [2.0, 0.0], [2.0, 3.0]])
    assert project(line, 1.0, 0.5) == pytest.approx((1.0, 0.5, 0.0))
    assert project(line, 2.5, 2.0) == pytest.approx((4.0, -0.5, math.pi / 2))
    assert project(line, -1.0, 0.0) == pytest.approx((-1.0, 0.0, 0.0))
    assert project(np.zeros((3, 2)), 3.0, 4.0) == (0.0, 5.0, 0.0)  # a line that is a point


def test_a_robot_waits_while_one_comes_through_the_door_and_goes_when_it_has_passed():
    cells = np.zeros((80, 100), np.int8)
    cells[:36, 50] = cells[44:, 50] = 100
    belief = SimpleNamespace(grid=Grid(cells, 0.1), occupancy=lambda: cells)
    plan = SimpleNamespace(line=np.array([[1.0, 4.0], [9.0, 4.0]]), narrow=[[3.9, 4.2]])
    rule, pose = RightOfWay(5, 0.33, 0.68), (4.0, 4.0, 0.0)
    coming = np.array([[1.0, 0.0, 0.0, 0.0, 9.0, 0.0, math.pi, 0.0]])  # ahead, in the door, and heading for this one
    aside = rule.wait_at(plan, 3.0, pose, coming, belief, 0.0)
    assert aside is not None
    (x, y), hold_s = aside
    assert (x < 4.2, y < 4.0 - 0.68, hold_s) == (True, True, 0.0)  # before the door, on the right, until it is free
    assert (
        rule.wait_at(plan, 3.0, pose, coming, belief, 0.1) == aside
    )  # it does not look for another place at each step
    passed = coming.copy()
    passed[0, 0] = -2.0
    assert rule.wait_at(plan, 3.0, pose, passed, belief, 0.0) is None
    assert rule.place is None
