"""Mates in the scans of a robot without a sensor for them; scans are computed by formula here."""

import math

import numpy as np
import pytest

from covey.mapping.occupancy.movers import Movers

ANGLES, MOUNT, RADIUS_M = np.radians(np.arange(-180.0, 180.0)), np.zeros(3), 0.2


def scan(pose, mates, crates=(), sigma_m=0.01, seed=0):
    """Return the ranges in a room of 8 m x 8 m around the origin, with discs (x, y, radius) in it."""
    x, y, heading = pose
    c, s = np.cos(ANGLES + heading), np.sin(ANGLES + heading)
    ways = (4.0 - np.sign(one) * at for one, at in ((c, x), (s, y)))
    ranges = np.minimum(*(way / np.maximum(np.abs(one), 1e-9) for way, one in zip(ways, (c, s), strict=True)))
    for mx, my, radius in (*mates, *crates):
        along = c * (mx - x) + s * (my - y)
        square = along**2 - ((mx - x) ** 2 + (my - y) ** 2 - radius**2)
        hit = along - np.sqrt(np.maximum(square, 0.0))
        ranges = np.where((square > 0.0) & (along > 0.0), np.minimum(ranges, hit), ranges)
    return ranges + np.random.default_rng(seed).normal(0.0, sigma_m, len(ANGLES))


def on(mate, pose, ranges):
    """Return which beams end on a mate."""
    at = np.array(pose[:2]) + ranges[:, None] * np.column_stack((np.cos(ANGLES + pose[2]), np.sin(ANGLES + pose[2])))
    return np.hypot(at[:, 0] - mate[0], at[:, 1] - mate[1]) < RADIUS_M + 0.1


def seen(movers, pose, time_s, mates, crates=()):
    """Let a robot see; return which beams are hidden, and which are on each mate."""
    ranges = scan(pose, mates, crates, seed=round(10 * time_s))
    whole = ranges.copy()
    movers.find(np.array(pose), ranges, ANGLES, MOUNT, time_s)
    movers.hide(ranges, ANGLES, MOUNT)
    movers.note(np.array(pose), ranges, ANGLES, MOUNT, time_s)
    return np.isnan(ranges), [on(mate, pose, whole) for mate in mates]


@pytest.mark.parametrize("turning", [0.0, 0.4])
def test_a_mate_whose_start_is_known_is_never_a_wall(turning):
    """It stands for two seconds, crosses the room at 0.3 m/s and stops there, while the robot drives and turns."""
    movers = Movers(RADIUS_M)
    movers.expect(np.array([[1.0, 0.6]]), 0.0)
    for k in range(60):
        t = 0.2 * k
        mate = 1.0, 0.6 - 0.3 * min(max(t - 2.0, 0.0), 6.0), RADIUS_M
        hidden, (there,) = seen(movers, (-0.1 * t, 0.05 * t, turning * t), t, [mate])
        assert there.sum() > 5
        assert hidden[there].all(), f"at {t:.1f} s"
        assert not hidden[~there].any()


def test_a_mate_that_nobody_announced_is_found_when_it_moves():
    movers, late = Movers(RADIUS_M), 0
    for k in range(60):
        t = 0.2 * k
        mate = 1.5, 1.0 - 0.3 * max(t - 3.0, 0.0), RADIUS_M
        hidden, (there,) = seen(movers, (0.0, 0.0, 0.1 * t), t, [mate])
        if t < 3.0:
            assert not hidden.any(), "a thing that stands where nobody looked before may be a pillar"
        late += bool(t >= 3.0 and not hidden[there].all())
    assert late <= 5, "it was hidden after a second"


def test_a_mate_that_comes_in_sight_from_behind_a_pillar_is_found():
    movers = Movers(RADIUS_M)
    pillar = 1.5, 0.0, 0.3
    for k in range(60):
        t = 0.2 * k
        mate = 2.5, -1.5 + 0.26 * t, RADIUS_M
        hidden, (there,) = seen(movers, (0.0, 0.0, 0.0), t, [mate], [pillar])
        if t > 2.0 and there.sum() > 3:
            assert hidden[there].mean() > 0.9


def test_walls_and_pillars_are_left_as_they_are():
    """A robot that drives around pillars no larger than a robot, with errors of its pose of 2 cm and a degree."""
    movers, draws = Movers(RADIUS_M), np.random.default_rng(1)
    crates = [(1.0, 1.0, 0.15), (-1.2, 0.8, 0.2), (0.5, -1.5, 0.1)]
    hidden = 0
    for k in range(150):
        t = 0.2 * k
        pose = np.array([0.5 * math.cos(0.2 * t), 0.5 * math.sin(0.2 * t), 0.2 * t + math.pi / 2])
        ranges = scan(pose, (), crates, seed=k)
        guess = pose + draws.normal(0.0, [0.02, 0.02, 0.017])
        movers.find(guess, ranges, ANGLES, MOUNT, t)
        movers.hide(ranges, ANGLES, MOUNT)
        movers.note(pose, ranges, ANGLES, MOUNT, t)
        hidden += int(np.isnan(ranges).sum())
    assert hidden < 0.01 * 150 * len(ANGLES)


def test_a_crate_that_is_put_down_is_a_mate_for_two_seconds_only():
    movers = Movers(RADIUS_M)
    crate = 1.5, 0.0, 0.2
    for k in range(40):
        t = 0.2 * k
        hidden, _ = seen(movers, (0.0, 0.0, 0.0), t, (), [crate] if t > 2.0 else [])
        if t > 4.6:
            assert not hidden.any()


def test_a_correction_of_the_pose_moves_the_mates_along():
    movers = Movers(RADIUS_M)
    movers.expect(np.array([[1.0, 0.0]]), 0.0)
    pose = np.zeros(3)
    ranges = scan(pose, [(1.0, 0.0, RADIUS_M)])
    movers.find(pose, ranges, ANGLES, MOUNT, 0.0)
    movers.hide(ranges, ANGLES, MOUNT)
    corrected = np.array([3.0, -2.0, 1.0])
    movers.note(corrected, ranges, ANGLES, MOUNT, 0.0)
    again = scan(pose, [(1.0, 0.0, RADIUS_M)])
    movers.find(corrected, again, ANGLES, MOUNT, 0.1)
    movers.hide(again, ANGLES, MOUNT)
    assert np.array_equal(np.isnan(again), np.isnan(ranges))
