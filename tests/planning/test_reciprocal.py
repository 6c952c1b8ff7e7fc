"""Velocities among walls and other robots, and the lane."""

import math

import numpy as np
import pytest

from covey.planning.reciprocal import (
    DIRECTIONS,
    SPEEDS,
    free_distance,
    lane,
    reciprocal_velocity,
    time_to_contact,
    velocity_in_lane,
)

PARAMS = np.array([0.33, 0.68, 3.0, 0.8, 0.25, 0.15])


def no_tracks():
    return np.full((4, 8), math.inf)


def one_track(x, y, vx=0.0, vy=0.0, identity=1):
    tracks = no_tracks()
    tracks[0] = x, y, vx, vy, identity, 0.0, math.atan2(vy, vx), 0.0
    return tracks


def test_time_to_contact_and_free_distance_from_geometry():
    assert time_to_contact(5.0, 0.0, 2.0, 0.0, 1.0) == pytest.approx(2.0)
    assert time_to_contact(5.0, 1.1, 2.0, 0.0, 1.0) == math.inf
    assert time_to_contact(5.0, 0.6, 2.0, 0.0, 1.0) == pytest.approx(2.1)
    assert free_distance(np.array([[3.0, 0.3]]), 1, 1.0, 0.0, 0.5) == pytest.approx(2.6)
    assert free_distance(np.array([[3.0, 0.6]]), 1, 1.0, 0.0, 0.5) == math.inf


def test_robots_that_meet_head_on_pass_on_the_right():
    vx, vy = reciprocal_velocity(1.0, 0.0, 1.0, 0.0, 1.2, 9.0, np.empty((1, 2)), 0, one_track(2.5, 0.0, -1.0), PARAMS)
    assert vx > 0.5
    assert vy < 0.0
    assert lane(1.0, 0.0, np.empty((1, 2)), 0, one_track(4.0, 0.0, -1.0), 0.33, 0.68) == pytest.approx(0.39)
    assert lane(1.0, 0.0, np.empty((1, 2)), 0, one_track(4.0, 0.0, 1.0), 0.33, 0.68) == 0.0


def test_in_a_passage_for_two_the_lane_is_on_the_right_whichever_way_the_other_drives():
    walls = np.array([(1.0, 0.75), (1.0, -0.75)])
    assert lane(1.0, 0.0, walls, 2, one_track(4.0, 0.0, 1.0), 0.33, 0.68) == pytest.approx(0.39)
    assert lane(1.0, 0.0, walls, 2, one_track(7.0, 0.0, 1.0), 0.33, 0.68) == 0.0
    assert lane(1.0, 0.0, 2.0 * walls - (1.0, 0.0), 2, one_track(4.0, 0.0, 1.0), 0.33, 0.68) == 0.0


def test_the_free_way_is_taken_as_wanted_and_a_wall_ahead_is_not():
    free = reciprocal_velocity(1.0, 0.0, 1.0, 0.0, 1.2, 9.0, np.empty((1, 2)), 0, no_tracks(), PARAMS)
    assert free == pytest.approx((1.0, 0.0))
    wall = np.column_stack((np.full(41, 0.6), np.linspace(-2, 2, 41)))
    vx, _ = reciprocal_velocity(1.0, 0.0, 1.0, 0.0, 1.2, 9.0, wall, 41, no_tracks(), PARAMS)
    assert vx < 0.4


def test_the_velocity_in_a_lane_is_the_reciprocal_one_unless_somebody_comes():
    wanted = 1.0, 0.0, 1.2, 9.0, np.array([[0.9, 0.1]]), 1
    for other, aside in ((one_track(4.0, 0.0, 1.0), False), (one_track(4.0, 0.0, -1.0), True)):
        shift, vx, vy = velocity_in_lane(1.0, 0.2, 0.8, *wanted, other, PARAMS)
        assert (shift > 0.0) == aside
        assert shift == lane(1.0, 0.2, *wanted[-2:], other, PARAMS[0], PARAMS[1])
        if not aside:
            assert (vx, vy) == reciprocal_velocity(0.8, 0.8 * 0.2, *wanted, other, PARAMS)


def random_tracks(draw):
    tracks = no_tracks()
    for k in np.flatnonzero(draw.random(len(tracks)) < 0.6):
        speed = draw.choice([0.0, 0.1, 1.0])
        tracks[k] = *draw.uniform(-3, 3, 2), *(speed * draw.uniform(-1, 1, 2)), k, 0.0, draw.uniform(-4, 4), 0.0
    tracks[draw.random(len(tracks)) < 0.2, 6] = math.nan
    return tracks


def contacts(px, py, vx, vy, radius):
    """When points that move with these velocities come within a radius of a place: the smaller root of a polynomial."""
    a, b, c = vx**2 + vy**2, px * vx + py * vy, px**2 + py**2 - radius**2
    if c <= 0.0:
        return np.where(b > 0.0, 0.0, math.inf)
    with np.errstate(divide="ignore", invalid="ignore"):
        first = (b - np.emath.sqrt(b**2 - a * c)) / a
    return np.where(np.isreal(first) & (first.real > 0.0), first.real, math.inf)


@pytest.mark.parametrize("seed", range(3))
def test_a_disc_touches_at_the_time_and_the_distance_that_are_told(seed):
    draw = np.random.default_rng(seed)
    for _ in range(100):
        (px, py), (vx, vy), radius = draw.uniform(-3, 3, 2), draw.uniform(-2, 2, 2), draw.uniform(0.1, 2.0)
        expected = contacts(px, py, np.array(vx), np.array(vy), radius)
        assert time_to_contact(px, py, vx, vy, radius) == pytest.approx(float(expected), rel=1e-6)
        points, angle = draw.uniform(-3, 3, (6, 2)), draw.uniform(-4, 4)
        ux, uy = np.array(math.cos(angle)), np.array(math.sin(angle))
        ahead = [p for p in points[:4] if p[0] * ux + p[1] * uy > 0.0]
        touched = [float(contacts(*p, ux, uy, radius)) for p in ahead]
        assert free_distance(points, 4, float(ux), float(uy), radius) == pytest.approx(min([*touched, math.inf]))
    assert time_to_contact(1.0, 0.0, 0.0, 0.0, 0.5) == math.inf


@pytest.mark.parametrize("seed", range(60))
def test_the_velocity_is_the_cheapest_of_all_that_are_looked_at(seed):
    """All costs at once, in NumPy."""
    draw = np.random.default_rng(seed)
    want, own = draw.uniform(-1.2, 1.2, 2), draw.uniform(-1, 1, 2)
    top, goal, points, count = 1.2, draw.uniform(0.1, 4.0), draw.uniform(-2, 2, (9, 2)), int(draw.integers(9))
    tracks, (wall, keep, horizon, wall_horizon, left, turning) = random_tracks(draw), PARAMS
    number = np.arange(DIRECTIONS)
    turn = np.where(number % 2, -1, 1) * np.pi * ((number + 1) // 2) / (DIRECTIONS // 2)
    speed = max(math.hypot(*want), 0.3 * top) * (1 - np.arange(SPEEDS) / SPEEDS)
    turn, speed = (np.append(some.ravel(), 0.0) for some in np.meshgrid(turn, speed, indexing="ij"))  # and to stand
    ux, uy = np.cos(math.atan2(want[1], want[0]) + turn), np.sin(math.atan2(want[1], want[0]) + turn)
    vx, vy = speed * ux, speed * uy
    others = tracks[np.isfinite(tracks[:, 5])]
    met = (np.hypot(others[:, 0], others[:, 1]) < 5.0).any()
    cost = np.hypot(vx - want[0], vy - want[1]) / top + np.where(speed > 0, turning * (1 - ux), 0.0)
    cost += np.where((turn > 0) & met & (speed > 0), left * np.minimum(turn, np.pi - turn) / (0.5 * np.pi), 0.0)
    free = np.full(len(speed), math.inf)
    for p in points[:count]:
        free = np.minimum(free, np.where(p[0] * ux + p[1] * uy > 0, contacts(*p, ux, uy, wall), math.inf))
    near = (free < goal) & (free < wall_horizon * speed)
    cost[near] += 2.0 * (1.0 - free[near] / (wall_horizon * speed[near]))
    for px, py, ox, oy, *_ in others if met else []:
        share = 0.5 if math.hypot(ox, oy) > 0.1 else 1.0
        relative = (vx - own[0]) / share + own[0] - ox, (vy - own[1]) / share + own[1] - oy
        contact = contacts(px, py, *relative, keep)
        cost += np.where(contact < horizon, 0.35 * (horizon / np.maximum(contact, 0.15) - 1.0), 0.0)
    got = reciprocal_velocity(*want, *own, top, goal, points, count, tracks, PARAMS)
    chosen = np.argmin(np.hypot(vx - got[0], vy - got[1]))
    assert got == pytest.approx((vx[chosen], vy[chosen]), abs=1e-9)
    assert cost[chosen] == pytest.approx(cost.min(), rel=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_the_lane_is_kept_for_who_comes_towards_and_where_walls_leave_room(seed):
    """In the frame of the way, in NumPy."""
    draw, shifts, wall, keep = np.random.default_rng(seed), [], 0.33, 0.68
    for _ in range(150):
        point, points, count = draw.uniform(-3, 3, 2), draw.uniform(-3, 3, (7, 2)), int(draw.integers(8))
        points[:4] = point + draw.uniform(-0.8, 0.8, (4, 2))
        tracks, length = random_tracks(draw), math.hypot(*point)
        turn = np.array([[point[0], -point[1]], [point[1], point[0]]]) / length
        walls, others = points[:count] @ turn, tracks[np.isfinite(tracks[:, 5])]
        places, speeds = others[:, :2] @ turn, others[:, 2:4] @ turn
        beside = walls[np.abs(walls[:, 0] - length) < 0.5 * keep, 1]
        gap = min([*beside[beside > 0], math.inf]) - max([*beside[beside <= 0], -math.inf])
        facing = np.cos(others[:, 6] - math.atan2(point[1], point[0])) < -0.5
        opposed = (speeds[:, 0] < -0.1) | ((speeds[:, 0] < 0.1) & facing)
        opposed &= (places[:, 0] > -0.2) & (places[:, 0] < 6) & (np.abs(places[:, 1]) < 1.5 * keep)
        seen = (np.hypot(*places.T) < 6.0).any()
        expected = 0.0
        if opposed.any() or (gap < 3.0 * keep and seen):
            for shift in 0.5 * keep + 0.05 - 0.06 * np.arange(7):
                if shift > 0 and (np.hypot(*(walls - (length, -shift)).T) >= wall).all():
                    expected = shift
                    break
        assert lane(*point, points, count, tracks, wall, keep) == pytest.approx(expected)
        shifts.append(expected)
    assert 0 < np.count_nonzero(shifts) < 150
    assert len(np.unique(np.round(shifts, 6))) > 3  # 0, all of it, and what walls leave
    assert lane(0.0, 0.0, points, 0, no_tracks(), wall, keep) == 0.0
