"""How obliquely a beam meets the surface that it ends on."""

import math

import numpy as np
import pytest
import shapely

from covey.geometry.beams import beam_directions
from covey.mapping.occupancy.evidence import _slant


@pytest.mark.parametrize("seed", range(5))
def test_the_way_through_a_surface_is_one_over_the_sine_of_the_wider_angle_to_the_returns_beside(seed):
    rng = np.random.default_rng(seed)
    angles = np.sort(rng.uniform(-3, 3, 60))
    ranges = rng.uniform(0.5, 6.0, 60) * rng.choice([1.0, math.inf, math.nan, -1.0], 60, p=[0.8, 0.1, 0.05, 0.05])
    directions, found = beam_directions(angles), []
    ends = ranges[:, None] * directions
    for i in np.flatnonzero(np.isfinite(ranges) & (ranges > 0)):
        sines = [0.0]
        for j in (i - 1, i + 1) if 0 < i < 59 else ():
            if math.isfinite(ranges[j]) and ranges[j] > 0:
                surface = shapely.LineString([ends[i] - 99 * (ends[j] - ends[i]), ends[i] + 99 * (ends[j] - ends[i])])
                sines.append(surface.distance(shapely.Point(0, 0)) / ranges[i])
        expected = min(1.0 / max(sines), 20.0) if len(sines) > 1 else 1.0
        assert _slant(directions, ranges, i) == pytest.approx(expected, rel=1e-6)
        found.append(expected)
    assert min(found) == 1.0 < max(found)
