import math

import numpy as np
import pytest
from scipy import ndimage

from covey.errors import InvalidValueError
from covey.testing import check_world
from covey.world.generators.rescue import laid, rescue_plan
from covey.world.placement.targets import lay
from covey.world.records.generated import GeneratedRescue
from covey.world.world import UNKNOWN, WALL, World

STARTS = np.array([[0.0, 1.0], [0.0, -1.0]])
FIVE = [{"draw": "victim", "count": 2}, {"draw": "small_fire", "count": 2}, {"draw": "big_fire"}]


@pytest.mark.slow
def test_floors_have_the_statistics_of_the_course_and_targets_that_robots_can_see(all_can_be_seen):
    for seed in range(16):
        plan = rescue_plan(seed)
        world = laid(plan, 0.05)
        length = sum(math.dist(a, b) for a, b in plan.walls)
        assert 28 <= len(plan.walls) <= 32
        assert 94 <= length <= 110
        # Cells of walls: walls that meet share a square, and a square at a corner is outside both centre lines.
        assert np.count_nonzero(world.grid.cells == WALL) * 0.05**2 == pytest.approx(0.15 * length, rel=0.02)
        assert all(size <= most for size, most in zip(world.grid.size_m, (19, 16), strict=True))
        navigable, parts = ndimage.label(world.clearance >= 0.18, np.ones((3, 3)))
        assert parts == 1
        assert 110 <= np.count_nonzero(navigable) * 0.05**2 <= 150
        assert ndimage.label(world.clearance >= 0.85 / 2 - 0.025)[1] == 1
        assert ndimage.label(world.free)[1] == 1
        assert (navigable[tuple(world.grid.to_cells(STARTS).T)] > 0).all()
        all_can_be_seen(world, lay(FIVE, world, np.column_stack((STARTS, (0, 0))), [0.22, 0.22], seed), 0.22)


def test_the_start_room_has_one_exit():
    for seed in range(8):
        plan = rescue_plan(seed)
        world = laid(plan, 0.05)
        x0, y0, x1, y1 = plan.room
        assert 3.75 <= x1 - x0 <= 4.25
        assert 5.75 <= y1 - y0 <= 6.25
        (r0, c0), (r1, c1) = world.grid.to_cells([(x0, y0), (x1, y1)])
        shut = world.grid.cells.copy()
        gap = [shut[r0 : r1 + 1, c] != WALL for c in (c0, c1)]
        gap += [shut[r, c0 : c1 + 1] != WALL for r in (r0, r1)]
        assert sorted(bool(side.any()) for side in gap) == [False, False, False, True]
        shut[r0 : r1 + 1, [c0, c1]] = WALL
        assert ndimage.label(shut == 0)[1] in (2, 3)  # the wall in the exit can reach the far side of the room


def test_walls_are_0_15_m_thick_and_2_5_m_high():
    for seed in range(5):
        plan, world = rescue_plan(seed), World.rescue(seed=seed)
        assert world.wall_height_m == 2.5
        if all(xa == xb or ya == yb for (xa, ya), (xb, yb) in plan.walls):
            walls = world.grid.cells == WALL
            np.testing.assert_array_equal(ndimage.binary_opening(walls, np.ones((3, 3))), walls)
            assert not ndimage.binary_erosion(walls, np.ones((4, 4))).any()


def test_outside_is_unknown_and_the_seed_decides():
    first, again, other = (World.rescue(seed=s, material="brick") for s in (1, 1, 2))
    np.testing.assert_array_equal(first.grid.cells, again.grid.cells)
    assert first.grid.shape != other.grid.shape or (first.grid.cells != other.grid.cells).any()
    assert (first.grid.cells == UNKNOWN).any()
    assert first.materials is not None
    check_world(GeneratedRescue.model_validate({"generate": "rescue"}))


def test_cells_that_are_too_coarse_are_refused():
    with pytest.raises(InvalidValueError, match=r"resolution_m is 0.2.*0.1 or less"):
        World.rescue(resolution_m=0.2)
