import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from covey.geometry.beams import beam_directions, crossed_cells, mark_beam, mark_fan, sensor_in_grid
from covey.geometry.grid import Grid
from covey.geometry.se2 import Pose

coordinate = st.floats(-8.0, 40.0)


def marked(shape, *ends):
    mark, box = np.zeros(shape, np.uint8), np.array([10**6, -1, 10**6, -1])
    mark_beam(mark, *map(float, ends), box)
    return {(int(r), int(c)) for r, c in np.argwhere(mark)}, box


def test_a_hand_drawn_beam_crosses_the_cells_it_should():
    cells, box = marked((4, 5), 0.5, 0.5, 4.5, 2.5)
    assert cells == {(0, 0), (0, 1), (1, 1), (1, 2), (1, 3), (2, 3), (2, 4)}
    assert box.tolist() == [0, 2, 0, 4]


@pytest.mark.parametrize(
    ("ends", "count"), [((0.5, 2.5, 9.5, 2.5), 10), ((3.5, 9.5, 3.5, 0.5), 10), ((3.2, 3.3) * 2, 1)]
)
def test_beams_along_an_axis_and_of_no_length(ends, count):
    assert len(marked((10, 10), *ends)[0]) == count


@settings(max_examples=300, deadline=None)
@given(coordinate, coordinate, coordinate, coordinate)
def test_cells_are_those_of_the_plain_reference_cut_to_the_grid(u0, v0, u1, v1):
    ends = [x + 0.3712345 * (i + 1) / 7 for i, x in enumerate((u0, v0, u1, v1))]  # off the corners of cells
    rows, columns = 24, 32
    expected = {(r, c) for r, c in crossed_cells(*ends) if 0 <= r < rows and 0 <= c < columns}
    found, box = marked((rows, columns), *ends)
    corners = {(r, c) for r, c in expected ^ found if _clearance(ends, r, c) > 1e-5}
    assert not corners
    if found:
        assert box[0] <= min(r for r, _ in found) <= max(r for r, _ in found) <= box[1]
        assert box[2] <= min(c for _, c in found) <= max(c for _, c in found) <= box[3]


@pytest.mark.parametrize("seed", range(12))
def test_a_fan_marks_what_its_beams_mark_one_by_one(seed):
    """Fans of even and of random angles, sorted or not, of long, short and lost beams, from inside the grid or not."""
    rng = np.random.default_rng(seed)
    for shape in [(40, 90), (120, 60)]:
        u, v = rng.uniform(-0.1, 1.1, 2) * shape[::-1] if seed % 3 == 0 else rng.uniform(5, 35, 2)
        rays = int(rng.choice([5, 90, 360]))
        angles = np.linspace(-3, 3, rays) if seed % 2 else rng.uniform(-math.pi, math.pi, rays)
        if seed % 4 == 2:
            angles = np.sort(angles)[::-1]
        lengths = rng.uniform(0.0, 60.0, rays) if seed % 5 == 4 else rng.uniform(20.0, 24.0) + rng.uniform(0, 1, rays)
        ends = np.array([u, v]) + lengths[:, None] * beam_directions(angles)
        ends[rng.random(rays) < 0.03] = np.nan
        (fan, fan_box), (alone, box) = ((np.zeros(shape, np.uint8), np.array([10**6, -1] * 2)) for _ in range(2))
        mark_fan(fan, u, v, ends, fan_box)
        for end in ends[np.isfinite(ends[:, 0])]:
            mark_beam(alone, u, v, *end.tolist(), box)
        np.testing.assert_array_equal(fan, alone)
        assert fan_box.tolist() == box.tolist()


def _clearance(ends, row, column):
    """How far [cells] the segment reaches into or stays away from a cell: 0 where it only touches a corner or edge."""
    u0, v0, u1, v1 = ends
    low, high = 0.0, 1.0
    for start, delta, cell in ((u0, u1 - u0, column), (v0, v1 - v0, row)):
        if abs(delta) < 1e-12:
            return min(abs(start - cell), abs(start - cell - 1))
        a, b = sorted(((cell - start) / delta, (cell + 1 - start) / delta))
        low, high = max(low, a), min(high, b)
    return abs(high - low) * math.hypot(u1 - u0, v1 - v0)


def test_a_sensor_stands_where_the_poses_compose_to_also_in_a_turned_grid():
    grid = Grid(np.zeros((10, 10), np.uint8), 0.5, (3.0, -2.0, 0.7))
    body, mount = Pose(4.0, 1.0, 2.5), Pose(0.2, -0.1, 0.4)
    u, v, c, s = sensor_in_grid(grid.frame, np.array(body), np.array(mount))
    in_grid = Pose(3.0, -2.0, 0.7).inverse() @ (body @ mount)
    assert (u * 0.5, v * 0.5) == pytest.approx(in_grid[:2])
    assert math.atan2(s, c) == pytest.approx(in_grid.heading)


def test_directions_are_unit_vectors():
    np.testing.assert_allclose(beam_directions([0.0, math.pi / 2]), [[1, 0], [0, 1]], atol=1e-15)
