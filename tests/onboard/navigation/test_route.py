"""Routes over a map, without a robot."""

import numpy as np
import pytest
from scipy import ndimage

from covey.geometry import Grid
from covey.onboard.driving import Driving
from covey.onboard.navigation import route as kernels
from covey.onboard.navigation.right_of_way import point_on
from covey.onboard.navigation.route import is_blocked, narrow_stretches, plan
from covey.world.world import World

NOBODY = np.empty((0, 2))
SQUARE = np.ones((3, 3), int)


def two_rooms():
    """The map of a room of 8 m x 6 m with a wall of 0.2 m across it, and a doorway of 0.8 m at the top."""
    wall = [[(-0.1, -3), (0.1, -3), (0.1, 1.5), (-0.1, 1.5)], [(-0.1, 2.3), (0.1, 2.3), (0.1, 3), (-0.1, 3)]]
    world = World.polygons([(-4, -3), (4, -3), (4, 3), (-4, 3)], obstacles_m=wall, resolution_m=0.1)
    return Grid(np.where(world.solid, 100, 0).astype(np.int8), world.grid.resolution, world.grid.origin)


def test_a_route_is_planned_again_when_a_wall_appears_on_it():
    cells = np.zeros((40, 60), np.int8)
    grid = Grid(cells, 0.1)
    route = plan(grid, (0.5, 2.0), (5.5, 2.0), 0.3, Driving(), NOBODY, 0.1)
    assert not route.problem
    place = (0.0, 0.0, 0.1, 0.2, 6.0)
    assert not is_blocked(route.line, 0, 0.5, 2.0, cells, *place)
    cells[10:, 30] = 100
    assert is_blocked(route.line, 0, 0.5, 2.0, cells, *place)
    around = plan(grid, (0.5, 2.0), (5.5, 2.0), 0.3, Driving(), NOBODY, 0.1)
    assert not around.problem
    assert around.line[:, 1].min() < 0.9
    assert not is_blocked(around.line, 0, 0.5, 2.0, cells, *place)


def test_a_robot_that_the_map_shows_in_a_doorway_does_not_close_it():
    grid = two_rooms()
    ends = ((-3.0, -2.0), (3.0, -2.0))
    columns, rows = np.meshgrid(np.arange(grid.shape[1]), np.arange(grid.shape[0]))
    centres = grid.to_world(np.stack((rows, columns), -1))
    robot = np.hypot(centres[..., 0], centres[..., 1] - 2.0) < 0.34
    jammed = grid.with_cells(np.where(robot, 100, grid.cells).astype(np.int8))
    assert plan(jammed, *ends, 0.29, Driving(), NOBODY, 0.1).problem == "no way"
    assert plan(jammed, *ends, 0.29, Driving(), NOBODY, 0.1, lambda: np.array([(3.0, 1.0)])).problem == "no way"
    assert not plan(jammed, *ends, 0.29, Driving(), NOBODY, 0.1, lambda: np.array([(0.0, 2.0)])).problem
    there = ((-3.0, -2.0), (0.0, 2.0))  # the goal is where the map shows the robot, at one with the wall
    assert plan(jammed, *there, 0.29, Driving(), NOBODY, 0.1).problem == "wall"
    assert not plan(jammed, *there, 0.29, Driving(), NOBODY, 0.1, lambda: np.array([(0.0, 2.0)])).problem


def test_a_place_where_it_did_not_get_through_is_avoided_if_there_is_another_way():
    grid = two_rooms()
    ends = ((-3.0, -2.0), (3.0, -2.0))
    low, columns = grid.cell_at(0.0, -2.0)[0], slice(grid.cell_at(-0.1, 0.0)[1], grid.cell_at(0.1, 0.0)[1] + 1)
    grid.cells[low - 4 : low + 5, columns] = 0  # a second opening, on the straight way
    near, around = (plan(grid, *ends, 0.29, Driving(), NOBODY, 0.1, None, j) for j in (NOBODY, np.array([[0.0, -2.0]])))
    only = plan(two_rooms(), *ends, 0.29, Driving(), NOBODY, 0.1, None, np.array([[0.0, 1.9]]))
    assert not any(route.problem for route in (near, around, only))
    assert np.abs(near.line[:, 1] + 2.0).max() < 0.5
    assert around.line[:, 1].max() > 1.5  # by the doorway at the top
    assert only.line[:, 1].max() > 1.5  # there is no other way


def test_costs_that_are_held_take_a_bounded_memory_and_change_no_route(monkeypatch):
    """Five maps in turn, in which a wall grows; two of the costs may be held."""

    def routes():
        grids = [Grid(np.zeros((40, 60), np.int8), 0.1) for _ in range(5)]
        for step in range(12):
            for k, grid in enumerate(grids):
                grid.cells[: 3 * step, 20 + 3 * k] = 100
                cost = kernels.passage(grid, (0.5, 2.0), 0.3, Driving(), NOBODY)[1].copy()
                yield cost, plan(grid, (0.5, 2.0), (5.5, 2.0), 0.3, Driving(), NOBODY, 0.1).line
                held = [pair for costs in kernels._held.values() for pair in costs.values()]
                sizes.append(sum(array.nbytes for pair in held for array in pair))

    sizes: list[int] = []
    kernels._held.clear()
    usual, most = list(routes()), 2 * 40 * 60 * 5
    assert max(sizes) > 2 * most
    sizes.clear()
    kernels._held.clear()
    monkeypatch.setattr(kernels, "MOST_HELD", most)
    for wanted, given in zip(usual, routes(), strict=True):
        np.testing.assert_array_equal(given[0], wanted[0])
        np.testing.assert_array_equal(given[1], wanted[1])
    assert max(sizes) == most


def test_a_doorway_is_a_narrow_stretch_and_a_corridor_for_two_is_not():
    route = plan(two_rooms(), (-3.0, -2.0), (3.0, -2.0), 0.29, Driving(), NOBODY, 0.1)
    assert not route.problem
    assert len(route.narrow) == 1
    begin, end = route.narrow[0]
    assert point_on(route.line, 0.5 * (begin + end))[:2] == pytest.approx((0.0, 1.9), abs=0.25)
    cells = np.full((40, 100), 100, np.int8)
    cells[12:28, 2:-2] = 0  # 1.6 m wide
    wide = plan(Grid(cells, 0.1), (0.6, 2.0), (9.4, 2.0), 0.29, Driving(), NOBODY, 0.1)
    assert not wide.problem
    assert len(wide.narrow) == 0


def random_map(seed, shape=(23, 31), occupied=0.25):
    return np.random.default_rng(seed).choice([-1, 0, 100], shape, p=[0.2, 0.8 - occupied, occupied]).astype(np.int8)


@pytest.mark.parametrize("seed", range(8))
def test_what_is_freed_and_what_is_made_dearer_are_the_cells_whose_centres_lie_in_discs_around_the_others(seed):
    draw = np.random.default_rng(seed)
    x0, y0, resolution, radius = -1.3, 2.2, draw.choice([0.1, 0.25]), draw.uniform(0.05, 0.8)
    cells = random_map(seed)
    others = np.array([x0, y0]) + resolution * draw.uniform(-6, 37, (5, 2))  # some beyond the border
    centres = Grid(cells, resolution, (x0, y0, 0.0)).to_world(np.moveaxis(np.indices(cells.shape), 0, -1))
    near = (np.hypot(*(centres[..., None, :] - others).transpose(3, 0, 1, 2)) <= radius).sum(-1)
    freed = cells.copy()
    kernels._paint(freed, others, x0, y0, resolution, radius)
    np.testing.assert_array_equal(freed, np.where((near > 0) & (cells > 0), 0, cells))
    cost = np.where(cells == 100, np.inf, draw.uniform(1, 49, cells.shape)).astype(np.float32)
    dearer = np.where((near > 0) & np.isfinite(cost), np.minimum(cost + 8.0 * near, 50.0), cost)
    kernels._avoid(cost, others, x0, y0, resolution, radius, 8.0, 50.0)
    np.testing.assert_allclose(cost, dearer, rtol=1e-6)


@pytest.mark.parametrize("seed", range(6))
def test_large_is_what_hangs_together_with_something_far_away(seed):
    cells = random_map(seed, occupied=0.35)
    labels, _ = ndimage.label(cells > 50, SQUARE)
    found = set()
    for row, column in np.ndindex(cells.shape):
        away = np.maximum(*np.abs(np.indices(cells.shape) - np.array([row, column])[:, None, None]))
        for near, far in ((0, 3), (1, 5), (2, 8)):
            parts = np.setdiff1d(labels[away <= near], 0)
            expected = bool((away[np.isin(labels, parts)] >= far).any())
            assert kernels._is_large(cells, row, column, near, far) == expected
            found.add(expected)
    assert found == {True, False}


@pytest.mark.parametrize("seed", range(6))
def test_the_nearest_passable_cell_is_the_first_of_the_nearest(seed):
    cost = np.where(random_map(seed, (9, 14), 0.7) == 100, np.inf, 1.0).astype(np.float32)
    for row, column in np.ndindex(cost.shape):
        squares = np.square(np.indices(cost.shape) - np.array([row, column])[:, None, None]).sum(0)
        for reach in (0, 1, 2, 4):
            open_to = np.where(np.isfinite(cost) & (squares <= reach * reach), squares, 999)
            first = np.unravel_index(np.argmin(open_to), cost.shape)
            expected = first if open_to[first] < 999 else (-1, -1)
            assert kernels._nearest_passable(cost, row, column, reach) == expected


@pytest.mark.parametrize("seed", range(8))
def test_a_line_is_blocked_by_the_cells_around_those_that_it_crosses(seed):
    draw, results = np.random.default_rng(seed), set()
    for _ in range(40):
        cells = random_map(int(draw.integers(1 << 30)), (30, 40), 0.012)
        x0, y0, resolution, radius = 3.1, -2.7, 0.1, draw.choice([0.0, 0.15, 0.25])
        line = np.array([x0, y0]) + draw.uniform(-0.3, (4.3, 3.3), (4, 2))
        segment, t, reach = int(draw.integers(3)), draw.uniform(), draw.uniform(0.2, 6.0)
        x, y = line[segment] + t * (line[segment + 1] - line[segment])
        ahead = np.vstack(([x, y], line[segment + 1 :]))
        came = np.concatenate(([0.0], np.cumsum(np.hypot(*np.diff(ahead, axis=0).T))))
        at = np.arange(0.0, min(reach, came[-1]), 0.01 * resolution)
        points = np.column_stack([np.interp(at, came, axis) for axis in ahead.T])
        column, row = np.floor((points - (x0, y0)) / resolution).astype(int).T
        wide = np.pad(cells > 50, 8)
        block = int(radius / resolution)
        beside = ndimage.binary_dilation(wide, np.ones((2 * block + 1, 2 * block + 1)))
        hit = beside[np.clip(row + 8, 0, 45), np.clip(column + 8, 0, 55)]
        entered = np.flatnonzero(np.diff(np.concatenate(([False], hit, [False])).astype(int)))
        longest = np.max(np.diff(entered)[::2], initial=0)  # a hundred to a cell; the line is looked at every 0.4
        got = is_blocked(line, segment, x, y, cells, x0, y0, resolution, radius, reach)
        if longest == 0 or longest > 41:
            assert got == hit.any()
            results.add(got)
    assert results == {True, False}


def corridor(seed):
    """A corridor along the columns, its width below and above the line in the middle, and what lies in it."""
    draw = np.random.default_rng(seed)
    below, above = np.repeat(draw.integers(2, 9, (2, 20)), 8, axis=1)  # free cells on both sides
    rows = np.arange(41)[:, None] - 20
    return np.where((rows < -below) | (rows > above), 100, 0).astype(np.int8), below, above


@pytest.mark.parametrize("turns", range(4))
@pytest.mark.parametrize("seed", range(4))
def test_narrow_stretches_are_where_the_walls_on_both_sides_are_near(seed, turns):
    cells, below, above = corridor(seed)
    resolution, width = 0.1, 1.07
    # From 0.3 of the cell of the middle row; walls are looked for in steps of half a cell, so the gap on the way to
    # them is 0.5 and 1 longer than the free cells.
    gap = (below + 0.5 + above + 1.0) * resolution
    expected: list[list[float]] = []
    for column in np.flatnonzero(gap < width):
        if expected and column * resolution - expected[-1][1] < 1.0 - resolution:
            expected[-1][1] = (column + 1) * resolution
        else:
            expected.append([column * resolution, (column + 1) * resolution])
    line = np.array([[0.0, 2.03], [7.03, 2.03], [7.03, 2.03], [16.0, 2.03]])
    for _ in range(turns):  # a quarter turn counter-clockwise: row 0 is in the south
        line = np.column_stack((cells.shape[0] * resolution - line[:, 1], line[:, 0]))
        cells = np.rot90(cells, -1)
    found = narrow_stretches(line, np.ascontiguousarray(cells), 0.0, 0.0, resolution, width)
    assert len(expected) > 1
    np.testing.assert_allclose(found, expected, atol=resolution)


@pytest.mark.parametrize(("last", "stretches"), [(79, 1), (29, 0)])
def test_what_is_small_makes_no_stretch_narrow(last, stretches):
    cells = np.zeros((40, 80), np.int8)
    cells[15, :] = 100  # a wall below the line, and above it a wall, or something whose cells lie less than 1 m apart
    cells[25, 20 : last + 1] = 100
    line = np.array([[0.05, 2.0], [7.95, 2.0]])
    assert len(narrow_stretches(line, cells, 0.0, 0.0, 0.1, 1.2)) == stretches


def test_a_line_without_length_has_no_narrow_stretch():
    assert len(narrow_stretches(np.ones((2, 2)), corridor(0)[0], 0.0, 0.0, 0.1, 9.0)) == 0


def test_an_obstacle_is_met_also_by_a_line_from_just_outside_of_the_map():
    """The line comes from the cell diagonally below the first one of the map, a cell away from the obstacle."""
    occupancy = np.zeros((10, 10), np.int8)
    occupancy[0, 0] = 100
    line = np.array([[-0.05, -0.05], [-0.05, -1.0]])
    assert kernels.is_blocked(line, 0, -0.05, -0.05, occupancy, 0.0, 0.0, 0.1, 0.15, 2.0)
    assert not kernels.is_blocked(line, 0, -0.25, -0.25, occupancy, 0.0, 0.0, 0.1, 0.15, 0.0)
