"""Commands that can be reached, and braked before anything is touched."""

import math

import numpy as np
import pytest

from covey.planning.dynamic_window import V_SAMPLES, W_SAMPLES, braking_path, dynamic_window, holonomic_window

# speeds, accelerations, period, reaction, radius, margins, wheel limit of a Pioneer
LIMITS = np.array([-0.5, 1.2, 5.24, 2.5, 2.5, 3.2, 0.1, 0.0, 0.29, 0.04, 0.03, 1.2, 0.1785])


def no_tracks():
    return np.full((4, 8), math.inf)


def one_track(x, y, vx=0.0, vy=0.0, identity=1):
    tracks = no_tracks()
    tracks[0] = x, y, vx, vy, identity, 0.0, math.atan2(vy, vx), 0.0
    return tracks


def test_braking_path_is_the_stopping_distance_along_the_arc():
    way = np.empty((6, 2))
    length = braking_path(1.0, 0.5, 1.0, LIMITS, way)
    assert length == pytest.approx(0.1 + 1.0 / 5.0)  # one period at 1 m/s, then v^2 / 2a
    assert np.hypot(way[-1, 0], way[-1, 1] - 2.0) == pytest.approx(2.0)  # on the circle of radius v / w
    assert np.arctan2(way[-1, 0], 2.0 - way[-1, 1]) * 2.0 == pytest.approx(length)


@pytest.mark.parametrize("seed", range(6))
def test_a_chosen_command_never_brakes_into_a_wall_or_beyond_the_middle_to_another_robot(seed):
    draw, way, found_some = np.random.default_rng(seed), np.empty((6, 2)), 0
    for _ in range(200):
        angle, away = draw.uniform(-math.pi, math.pi, 12), draw.uniform(0.4, 2.0, 12)
        points = np.column_stack((away * np.cos(angle), away * np.sin(angle)))
        other = draw.uniform(-2, 2, 2)
        if np.hypot(*other) < 0.7:
            continue
        v0, w0 = draw.uniform(-0.4, 1.2), draw.uniform(-1, 1)
        wanted = draw.uniform(-1, 1.2), draw.uniform(-3, 3)
        v, w, found = dynamic_window(v0, w0, *wanted, points, 12, one_track(*other), LIMITS, way)
        assert abs(v - v0) <= 0.25 + 1e-9
        slowed = abs(v) + abs(w) * 0.1785 > 1.2 - 1e-9  # for the wheels, which may turn it less than the window does
        assert not found or slowed or abs(w - w0) <= 0.32 + 1e-9
        if not found:
            continue
        found_some += 1
        braking_path(v, w, v0, LIMITS, way)
        gaps = np.hypot(*(points[:, None] - way[None]).transpose(2, 0, 1))
        assert (gaps.min(1) >= np.minimum(0.33, away) - 2e-4).all()
        reach = way @ other / np.hypot(*other)
        assert reach.max() <= max(np.hypot(*other) / 2 - 0.32, 1e-3) + 1e-9
    assert found_some > 50


def test_with_nothing_in_the_way_the_window_gives_what_is_wanted_or_the_nearest_it_can_reach():
    way, nothing = np.empty((6, 2)), np.empty((1, 2))
    assert dynamic_window(0.9, 0.0, 1.0, 0.2, nothing, 0, no_tracks(), LIMITS, way) == (1.0, 0.2, True)
    assert dynamic_window(0.0, 0.0, 1.0, 2.0, nothing, 0, no_tracks(), LIMITS, way) == pytest.approx((0.25, 0.32, True))
    vx, vy, found = holonomic_window(0.0, 0.9, 0.0, 1.0, nothing, 0, no_tracks(), LIMITS, way)
    assert (vx, vy, found) == (0.0, 1.0, True)


def test_a_holonomic_robot_slows_down_before_a_wall():
    wall = np.column_stack((np.linspace(-1, 1, 41), np.full(41, 0.6)))
    _, vy, found = holonomic_window(0.0, 0.5, 0.0, 1.2, wall, 41, no_tracks(), LIMITS, np.empty((6, 2)))
    assert found
    assert 0.5 * 0.0 + 0.05 * (0.5 + vy) + vy**2 / 5.0 <= 0.6 - 0.33 + 1e-3


def may_drive(way, points, tracks):
    """Whether points of a braking path keep off walls (0.33 m) and on the own side of others (0.32 m before the middle)."""
    now = np.hypot(*points.T)
    gaps = np.hypot(*(points[:, None] - way[None]).transpose(2, 0, 1)).min(axis=1, initial=math.inf)
    others = tracks[np.isfinite(tracks[:, 5]), :2]
    away = np.hypot(*others.T)
    ahead = (way @ others.T).max(axis=0, initial=-math.inf) / away
    return (gaps >= np.minimum(0.33, now) - 1e-4).all() and (ahead <= np.maximum(0.5 * away - 0.32, 1e-3)).all()


def surroundings(draw):
    points = draw.uniform(-1.5, 1.5, (8, 2))
    tracks = no_tracks()
    for k in range(int(draw.integers(3))):
        tracks[k] = one_track(*draw.uniform(-2, 2, 2))[0]
    return points, int(draw.integers(9)), tracks


@pytest.mark.parametrize("wheel", [0.0, 0.6, 1.2], ids=["wheels of any speed", "slow wheels", "a Pioneer's wheels"])
@pytest.mark.parametrize("seed", range(5))
def test_the_command_is_the_nearest_of_all_safe_ones_in_the_window(seed, wheel):
    draw, way, none, limits = np.random.default_rng(seed), np.empty((6, 2)), 0, LIMITS.copy()
    limits[11] = wheel
    for _ in range(40):
        points, count, tracks = surroundings(draw)
        v0, w0, want_v, want_w = draw.uniform((-0.5, -2, -1, -4), (1.2, 2, 1.5, 4))
        low, high = max(-0.5, v0 - 0.25), min(1.2, v0 + 0.25)  # 2.5 m/s2 for 0.1 s, both ways
        left, right = w0 - 0.32, w0 + 0.32
        safe = []
        for v_sample in [np.clip(want_v, low, high), *np.linspace(low, high, V_SAMPLES)]:
            for w_sample in [np.clip(want_w, left, right), *np.linspace(left, right, W_SAMPLES)]:
                fastest = abs(v_sample) + abs(w_sample) * 0.1785  # of the two wheels, at half the track
                share = min(1.0, wheel / fastest) if wheel else 1.0  # along the same arc
                v, w = share * v_sample, share * w_sample
                braking_path(v, w, v0, limits, way)
                if may_drive(way, points[:count], tracks):
                    safe.append(abs(v - want_v) / 1.2 + 0.3 * abs(w - want_w) / 5.24)
        v, w, found = dynamic_window(v0, w0, want_v, want_w, points, count, tracks, limits, way)
        assert found == bool(safe)
        if found:
            assert abs(v - want_v) / 1.2 + 0.3 * abs(w - want_w) / 5.24 == pytest.approx(min(safe))
            braking_path(v, w, v0, limits, way)
            assert may_drive(way, points[:count], tracks)
            assert not wheel or abs(v) + abs(w) * 0.1785 <= wheel + 1e-9
        else:  # as hard as it can, along the same arc
            none += 1
            assert v == pytest.approx(math.copysign(max(abs(v0) - 0.25, 0.0), v0))
            assert w * v0 == pytest.approx(w0 * v)
    assert none > 0


def test_what_accelerates_and_brakes_differently_does_so_forwards_and_backwards():
    limits, nothing, way = LIMITS.copy(), np.empty((1, 2)), np.empty((6, 2))
    limits[3], limits[4], limits[11] = 1.0, 3.0, 0.0
    for v0, want, expected in ((0.5, 9.0, 0.6), (0.5, -9.0, 0.2), (-0.3, -9.0, -0.4), (-0.3, 9.0, 0.0)):
        assert dynamic_window(v0, 0.0, want, 0.0, nothing, 0, no_tracks(), limits, way)[0] == pytest.approx(expected)
    assert holonomic_window(0.0, 0.5, 0.0, 9.0, nothing, 0, no_tracks(), limits, way)[1] == pytest.approx(0.6)
    assert holonomic_window(0.0, 0.5, 0.0, -0.1, nothing, 0, no_tracks(), limits, way)[1] == pytest.approx(0.2)


def test_a_robot_in_the_same_place_as_another_brakes():
    assert dynamic_window(1.0, 0.5, 1.0, 0.5, np.empty((1, 2)), 0, one_track(0.0, 0.0), LIMITS, np.empty((6, 2))) == (
        0.75,
        pytest.approx(0.375),
        False,
    )


@pytest.mark.parametrize("seed", range(5))
def test_a_holonomic_robot_takes_as_much_of_the_wanted_velocity_as_is_safe(seed):
    draw, shares = np.random.default_rng(seed), set()
    for _ in range(100):
        points, count, tracks = surroundings(draw)
        now = draw.uniform(-0.8, 0.8, 2)
        wanted = now + draw.uniform(-0.4, 0.4, 2)  # about as much as it can change
        expected = None
        for share in (1.0, 0.75, 0.5, 0.25, 0.0):
            v = share * wanted
            change = math.dist(v, now)
            v = now + (v - now) * min(1.0, 0.25 / max(change, 1e-9))
            top = math.hypot(*v)
            length = 0.05 * (math.hypot(*now) + top) + top * top / 5.0
            way = np.outer(np.arange(1, 7) / 6.0 * length / max(top, 1e-12), v)
            if may_drive(way, points[:count], tracks):
                expected = (*v, True)
                shares.add(share)
                break
        if expected is None:
            shares.add(None)
            speed = math.hypot(*now)
            expected = (*(now * max(speed - 0.25, 0.0) / speed), False)
        got = holonomic_window(*now, *wanted, points, count, tracks, LIMITS, np.empty((6, 2)))
        assert got == pytest.approx(expected)
    assert {1.0, None} <= shares
    assert len(shares) > 3  # some in between


def test_a_robot_that_stands_and_may_not_drive_turns_as_it_wants():
    """Every other speed that it can reach would bring it nearer to the walls around it; turning does not."""
    walls = np.array([(0.30, 0.02 * k) for k in range(-8, 9)] + [(0.02 * k, 0.30) for k in range(-8, 9)])
    around, way = np.vstack((walls, -walls)), np.empty((6, 2))
    for want, wheel, expected in ((0.3, 1.2, 0.3), (-5.0, 1.2, -0.32), (0.3, 0.03, 0.03 / 0.1785)):
        limits = LIMITS.copy()
        limits[3] = limits[4] = 100.0  # so 0 m/s is none of the speeds that are tried
        limits[11] = wheel
        v, w, _ = dynamic_window(0.0, 0.0, 0.5, want, around, len(around), no_tracks(), limits, way)
        assert (v, w) == (0.0, pytest.approx(expected))
