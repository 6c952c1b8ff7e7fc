"""The noise of an odometry, recovered from motions that were made noisy by the formulas of the books."""

import numpy as np
import pytest

from covey.errors import InvalidValueError
from covey.experiments.logs.odometry_noise import fit_odometry, resampled

RATE = 10.0


def driven(seed, minutes=10.0):
    """Return motions (n, 3) between samples: arcs with a new speed and turn rate every 2.5 s."""
    random, n = np.random.default_rng(seed), int(60 * minutes * RATE)
    v = np.repeat(random.uniform(0.0, 0.6, n // 25 + 1), 25)[:n] / RATE
    w = np.repeat(random.choice([0.0, 0.0, 0.8, -0.8, 0.4], n // 25 + 1), 25)[:n] / RATE
    chord = v * np.sinc(w / 2 / np.pi)
    return np.column_stack((chord * np.cos(w / 2), chord * np.sin(w / 2), w)), random


def way(motions, start=(0.0, 0.0, 0.0)):
    """Return the poses of motions, one after the other, with a loop and no library."""
    x, y, heading = start
    poses = [(x, y, heading)]
    for dx, dy, turn in motions:
        x, y = x + np.cos(heading) * dx - np.sin(heading) * dy, y + np.sin(heading) * dx + np.cos(heading) * dy
        heading += turn
        poses.append((x, y, heading))
    return np.array(poses)


@pytest.mark.parametrize("known_to_m", [0.0, 0.01])
def test_gmappings_noise_is_found_again(known_to_m):
    motions, random = driven(1)
    (dx, dy, turn), e = np.abs(motions).T, random.normal(size=motions.shape)
    srr, srt, str_, stt = 0.05, 0.1, 0.03, 0.15
    sigma = (
        srr * dx + str_ * turn + 0.3 * srr * dy,
        srr * dy + str_ * turn + 0.3 * srr * dx,
        stt * turn + srt * np.hypot(dx, dy),
    )
    odometry = way(motions + e * np.column_stack(sigma), (5.0, -2.0, 1.0))  # in another frame
    truth = way(motions)
    truth += random.normal(size=truth.shape) * (known_to_m, known_to_m, known_to_m / 2)
    found = fit_odometry(np.arange(len(truth)) / RATE, odometry, truth, RATE)
    assert found.windows == 300 - 1  # the last sample ends no window of 2 s
    noise = found.gmapping
    assert (noise.m_per_m, noise.rad_per_m, noise.m_per_rad, noise.rad_per_rad) == pytest.approx(
        (srr, srt, str_, stt), rel=0.3
    )
    assert (found.reference_m, found.reference_rad) == pytest.approx((known_to_m, known_to_m / 2), rel=0.25, abs=2e-3)
    assert (found.distance_scale, found.turn_scale) == pytest.approx((1.0, 1.0), abs=0.02)


def test_jumps_of_the_better_poses_are_left_out():
    motions, random = driven(4)
    e, (dx, _, turn) = random.normal(size=motions.shape), np.abs(motions).T
    odometry = way(motions + e * np.column_stack((0.05 * dx, 0.015 * dx, 0.1 * turn)))
    truth = way(motions)
    for k in range(300, len(truth), 600):  # ten times it is elsewhere from now on
        truth[k:, :2] += (0.5, -0.3)
    found = fit_odometry(np.arange(len(truth)) / RATE, odometry, truth, RATE)
    assert found.left_out == 10
    assert (found.gmapping.m_per_m, found.gmapping.rad_per_rad) == pytest.approx((0.05, 0.1), rel=0.3)


def test_noise_of_velocities_is_found_again():
    motions, random = driven(2)
    turn = motions[:, 2]
    length = motions[:, 0] / np.cos(turn / 2) / np.sinc(turn / 2 / np.pi)  # of the arc
    a1, a2, a3, a4 = 0.01, 0.002, 0.02, 0.04
    noisy = length + random.normal(size=len(turn)) * np.sqrt(a1 * length**2 + a2 * turn**2)
    turned = turn + random.normal(size=len(turn)) * np.sqrt(a3 * length**2 + a4 * turn**2)
    chord = noisy * np.sinc(turned / 2 / np.pi)
    odometry = way(np.column_stack((chord * np.cos(turned / 2), chord * np.sin(turned / 2), turned)))
    found = fit_odometry(np.arange(len(odometry)) / RATE, odometry, way(motions), RATE)
    # of 299 windows, a variance is known to about 8 %, of those that share the motion less
    assert found.velocity.alpha[:4] == pytest.approx((a1, a2, a3, a4), rel=0.4)
    assert found.velocity.alpha[4:] == (0.0, 0.0)


@pytest.mark.parametrize(("distance", "turn"), [(1.05, 1.0), (1.0, 0.9)])
def test_a_wheel_of_another_size_shows_as_a_scale(distance, turn):
    motions, _ = driven(3, minutes=3.0)
    times, wrong = np.arange(len(motions) + 1) / RATE, way(motions * (distance, distance, turn))
    found = fit_odometry(times, wrong, way(motions), RATE)
    assert found.turn_scale == pytest.approx(turn, abs=1e-9)
    assert found.distance_scale == pytest.approx(distance, abs=1e-9 if turn == 1.0 else 0.05)  # ahead lies elsewhere


def test_logs_that_say_nothing_are_refused():
    still = np.zeros((1000, 3))
    with pytest.raises(InvalidValueError, match="the odometry never moves"):
        fit_odometry(np.arange(1000) / RATE, still, still)
    with pytest.raises(InvalidValueError, match=r"the log of 9.9 s is too short: 40 s are needed"):
        fit_odometry(np.arange(100) / RATE, still[:100], still[:100])


def test_headings_are_resampled_across_the_cut():
    poses = np.array([[0.0, 0.0, 3.0], [1.0, 2.0, -3.0]])
    ((x, y, heading),) = resampled(np.array([0.0, 1.0]), poses, np.array([0.5]))
    assert (x, y) == (0.5, 1.0)
    assert np.cos(heading) == pytest.approx(-1.0)  # halfway over pi, not over 0
