"""Where good ground ends around a robot, ray by ray."""

import math

import numpy as np
import pytest

from covey.mapping.elevation.footing import BEARINGS, ground_points
from covey.mapping.elevation.kinds import DROP, MEASURED, OBSTACLE, UNKNOWN

LIMIT, KEEP = 0.5, 0.4
BAD, STEEP, GOOD = 0, 1, 2


def kinds(mark, mean, ends):
    """What the ground is between each vertex and the next row and column, of the vertices that there are."""
    mark, mean = mark[: ends[0], : ends[1]], mean[: ends[0], : ends[1]]
    corners = np.lib.stride_tricks.sliding_window_view(mark, (2, 2))
    heights = np.lib.stride_tricks.sliding_window_view(np.where(mark == MEASURED, mean, np.nan), (2, 2))
    bad = ((corners == UNKNOWN) | (corners == DROP)).any(axis=(2, 3))
    steep = np.nan_to_num(np.fmax.reduce(heights, (2, 3)) - np.fmin.reduce(heights, (2, 3))) > LIMIT
    return np.where(bad, BAD, np.where(steep, STEEP, GOOD))


def away(kind, u, v, bearing, wanted, begin, far, step):
    """How far ground of a kind reaches along a ray, looked at step by step, all in cells; beyond the ground all is good."""
    at = begin + step * np.arange(1, int((far - begin) / step + 1e-9) + 1)
    row, column = np.floor(v + at * math.sin(bearing)).astype(int), np.floor(u + at * math.cos(bearing)).astype(int)
    inside = (row >= 0) & (column >= 0) & (row < kind.shape[0]) & (column < kind.shape[1])
    met = np.where(inside, kind[np.clip(row, 0, kind.shape[0] - 1), np.clip(column, 0, kind.shape[1] - 1)], GOOD)
    here = (row == math.floor(v + begin * math.sin(bearing))) & (column == math.floor(u + begin * math.cos(bearing)))
    ends = np.flatnonzero((met != wanted) & ~here)
    return begin + step * ends[0] if len(ends) else far


def looked(mark, mean, frame, ends, pose, reach):
    points = np.full((400, 2), 7.0)
    count = ground_points(points, 1, mark, mean, frame, ends, LIMIT, *pose, reach, KEEP)
    assert (points[0] == 7.0).all()
    return points[1:count]


@pytest.mark.parametrize("spacing", [0.1, 1.0])
@pytest.mark.parametrize("seed", range(4))
def test_good_ground_reaches_as_far_as_steps_along_each_ray_find(seed, spacing):
    rng, ends, reach, found = np.random.default_rng(seed), np.array([23, 26]), 6 * spacing, set()
    for _ in range(12):
        mark = rng.choice([UNKNOWN, MEASURED, DROP, OBSTACLE], (26, 30), p=[0.02, 0.94, 0.02, 0.02]).astype(np.uint8)
        mean = 0.4 * rng.random((26, 30)) + 0.5 * (rng.random((26, 30)) < 0.02)
        frame = np.array([-2.0, 1.0, spacing])
        u, v, heading = *rng.uniform(-1, 26, 2), rng.uniform(-3, 3)
        kind, row, column = kinds(mark, mean, ends), math.floor(v), math.floor(u)
        if 0 <= row < 22 and 0 <= column < 25 and kind[row, column] == STEEP:
            continue
        expected = []
        for k in range(BEARINGS):
            bearing = 2.0 * math.pi * k / BEARINGS
            far = spacing * away(kind, u, v, heading + bearing, GOOD, 0.0, reach / spacing, min(0.25, 0.05 / spacing))
            if far < reach:
                far = max(far, min(far + 0.5 * KEEP, KEEP))
                expected.append((far * math.cos(bearing), far * math.sin(bearing)))
        for p, q in ((row, column), (row, column + 1), (row + 1, column), (row + 1, column + 1)):
            if 0 <= p < ends[0] and 0 <= q < ends[1] and mark[p, q] in (UNKNOWN, DROP):
                bearing = math.atan2(p - v, q - u) - heading
                expected.append((0.5 * KEEP * math.cos(bearing), 0.5 * KEEP * math.sin(bearing)))
        pose = frame[0] + u * spacing, frame[1] + v * spacing, heading
        got = looked(mark, mean, frame, ends, pose, reach)
        np.testing.assert_allclose(got, np.array(expected).reshape(-1, 2), atol=1e-6)
        found.add(len(expected))
    assert len(found) > 4


def test_who_stands_on_the_steep_may_leave_it_by_the_shortest_way_and_back_along_it():
    """A ramp between the columns 5 and 8, good ground on both sides; it stands 0.6 m from the eastern end."""
    mark, mean = np.ones((20, 20), np.uint8), np.zeros((20, 20))
    mean[:, 6], mean[:, 7], mean[:, 8:] = 1.0, 2.0, 3.0
    frame, ends, heading = np.array([0.0, 0.0, 1.0]), np.array([20, 20]), 0.8
    points = looked(mark, mean, frame, ends, (7.4, 10.5, heading), 5.0)
    bearing = np.arctan2(points[:, 1], points[:, 0]) + heading  # from the east
    # It may go where the steep ends within 1.5 times 0.6 m, and 0.1 m, which is up to 53 degrees beside the east. The
    # way back is closed: acos(0.9) to both sides of the way out, which is one of those that are no longer by a step.
    assert len(points) == 11
    np.testing.assert_allclose(np.hypot(*points.T), 0.5 * KEEP)
    middle = np.angle(np.exp(1j * bearing).mean())
    assert abs(math.remainder(middle - math.pi, 2 * math.pi)) < math.acos(0.6 / 0.65) + 0.1
    np.testing.assert_array_less(np.cos(middle + math.pi - bearing), -0.9 + 0.02)
