import numpy as np
import pytest

from covey.errors import InvalidValueError
from covey.geometry.grid import Grid
from covey.mapping.occupancy.belief import Beliefs
from covey.mapping.occupancy.compare import (
    BEHIND,
    EITHER,
    KnownShare,
    count_known,
    explored_area,
    ground_truth,
    map_completeness,
    map_error,
    map_quality,
    map_wrong,
)
from covey.mapping.occupancy.evidence import TILE
from covey.mapping.records import Mapping


def room(wall_cells=2, resolution=0.1, size=24):
    """A square room with walls of some cells around it."""
    wall = np.ones((size, size), bool)
    wall[wall_cells:-wall_cells, wall_cells:-wall_cells] = False
    grid = Grid(wall, resolution, (1.0, 2.0, 0.0))
    return grid, grid.with_cells(~wall)


def test_aligned_walls_are_free_and_occupied_without_mixture():
    wall, free = room()
    truth = ground_truth(wall, free, Grid(np.zeros((12, 12)), 0.2, (1.0, 2.0, 0.0)))
    assert set(np.unique(truth.states)) == {-1, 0, 100}
    assert (truth.states[1:-1, 1:-1] == 0).all()
    assert (truth.states[0, 1:-1] == 100).all()
    assert truth.states[0, 0] == -1  # no beam can end on the outer corner of a room
    assert (truth.explorable[1:-1, 1:-1] == 4).all()
    assert truth.explorable_m2 == pytest.approx(2.0 * 2.0)


@pytest.mark.parametrize("yaw", [0.0, 1e-9])
def test_a_map_cell_may_hold_any_number_of_cells_of_the_world(yaw):
    free = Grid(np.ones((257, 256), bool), 0.01, (0.0, 0.0, yaw))
    truth = ground_truth(free.with_cells(~free.cells), free, Grid(np.zeros((1, 1)), 2.57, (0.0, 0.0, 0.0)))
    assert truth.explorable.tolist() == [[65_792]]  # 257 x 256
    assert explored_area(np.array([[0]], np.int8), truth) == pytest.approx(6.5792)
    tiles = np.zeros((2, 1), np.int64)
    weights = np.zeros((TILE, TILE), truth.explorable.dtype)
    weights[0, 0] = truth.explorable[0, 0]
    cells = np.zeros((1, TILE, TILE), np.int8)
    count_known(cells, weights, np.zeros((1, 1), np.int64), np.full(1, -1), tiles)
    assert tiles.tolist() == [[65_792], [65_792]]


def test_the_perfect_map_has_quality_one():
    wall, free = room()
    truth = ground_truth(wall, free, Grid(np.zeros((12, 12)), 0.2, (1.0, 2.0, 0.0)))
    perfect = np.where(truth.states >= 0, truth.states, -1).astype(np.int8)
    assert map_error(perfect, truth) == 0
    assert map_completeness(perfect, truth) == pytest.approx(1.0)
    assert map_quality(perfect, truth) == pytest.approx(1.0)


def test_error_and_quality_count_every_kind_of_wrong_cell():
    wall, free = room()
    truth = ground_truth(wall, free, Grid(np.zeros((12, 12)), 0.2, (1.0, 2.0, 0.0)))
    occupancy = truth.states.copy()
    occupancy[5, 5:7] = 100  # free taken for wall
    occupancy[0, 5] = 0  # wall taken for free
    occupancy[3, 3:6] = -1  # not known
    assert map_error(occupancy, truth) == 6
    assert map_wrong(occupancy, truth) == 3
    assert explored_area(occupancy, truth) == pytest.approx(4.0 - 3 * 0.04)
    assert map_completeness(occupancy, truth) == pytest.approx(0.97)
    assert map_quality(occupancy, truth) == pytest.approx((4.0 - 0.12 - 6 * 0.04) / 4.0)


def test_cells_half_in_a_wall_are_right_either_way_but_not_unknown():
    wall, free = room(wall_cells=3)  # the wall's face runs through the middle of map cells
    truth = ground_truth(wall, free, Grid(np.zeros((12, 12)), 0.2, (1.0, 2.0, 0.0)))
    assert (truth.states[1, 1:-1] == EITHER).all()
    assert (truth.states[0, 1:-1] == BEHIND).all()
    assert truth.states[0, 0] == -1
    for state, errors in ((0, 0), (100, 0), (-1, 36)):
        occupancy = np.where(truth.states == EITHER, state, truth.states).astype(np.int8)
        assert map_error(occupancy, truth) == errors
    occupancy[0, 3:6] = 0  # free all through the wall
    assert map_error(occupancy, truth) == 36 + 3
    assert map_wrong(occupancy, truth) == 3


def test_what_nobody_can_see_is_not_compared():
    wall, free = room()
    free.cells[:, 12:] = False  # a closed room, or outside the world
    truth = ground_truth(wall, free, Grid(np.zeros((20, 20)), 0.2, (0.0, 0.0, 0.0)))
    assert (truth.states[:, 5 + 6 + 1 :] == -1).all()
    with pytest.raises(InvalidValueError, match="explorable"):
        ground_truth(wall, free.with_cells(np.zeros_like(free.cells)), wall)


def test_area_is_kept_under_a_turned_world():
    wall, free = room()
    turned = [Grid(g.cells, 0.1, (0.0, 0.0, 0.6)) for g in (wall, free)]
    team = Beliefs.covering(turned[0], ["a"], Mapping(resolution_m=0.15))
    truth = ground_truth(*turned, team.grid)
    assert truth.explorable.sum() * truth.world_cell_m2 == pytest.approx(truth.explorable_m2) == pytest.approx(4.0)
    assert map_completeness(np.zeros(team.grid.shape, np.int8), truth) == pytest.approx(1.0)


def test_scans_of_a_room_give_a_map_without_error():
    wall, free = room(wall_cells=4, size=104)  # 9.6 m square
    team = Beliefs.covering(wall, ["a"], Mapping(resolution_m=0.2))
    angles = np.linspace(-np.pi, np.pi, 720, endpoint=False)
    for step, (x, y) in enumerate([(5.0, 5.0), (3.3, 8.1), (8.7, 4.2), (6.1, 9.9)] * 3):
        with np.errstate(divide="ignore"):
            to_x = np.where(np.cos(angles) > 0, 11.0 - x, 1.4 - x) / np.cos(angles)
            to_y = np.where(np.sin(angles) > 0, 12.0 - y, 2.4 - y) / np.sin(angles)
        team[0].update((x, y, 0.0), np.minimum(to_x, to_y), angles, (0, 0, 0), 20.0, step)
    truth = ground_truth(wall, free, team.grid)
    assert map_completeness(team.occupancy[0], truth) == 1.0
    assert map_error(team.occupancy[0], truth) == 0


def test_known_shares_follow_the_beliefs_tile_by_tile():
    wall, free = room(size=128)
    team = Beliefs.covering(wall, ["a", "b", "c"], Mapping(resolution_m=0.1))
    truth = ground_truth(wall, free, team.grid)
    known = KnownShare(team, truth)
    rng = np.random.default_rng(4)
    for step in range(12):
        pose = np.array([[*rng.uniform(2, 12, 2), rng.uniform(-3, 3)]])
        team.update(
            np.array([step % 3]), pose, rng.uniform(1, 6, (1, 40)), np.linspace(-1, 1, 40), (0, 0, 0), 6.0, step
        )
        if step % 4 == 3:
            team.share(np.eye(3, k=1, dtype=bool))
        each, union = known.update()
        np.testing.assert_allclose(each, [map_completeness(team.occupancy[i], truth) for i in range(3)])
        assert union == pytest.approx(map_completeness(team.occupancy.max(axis=0), truth))
    assert union > each.max() > 0


def overlap(corners, left, low, right, high):
    """The area that a convex polygon, (k, 2), shares with a rectangle (Sutherland and Hodgman, CACM 17, 1974)."""
    for axis, sign, bound in ((0, 1, left), (0, -1, right), (1, 1, low), (1, -1, high)):
        kept = []
        for a, b in zip(corners, np.roll(corners, -1, axis=0), strict=True):
            u, v = sign * (a[axis] - bound), sign * (b[axis] - bound)
            kept += [a] if u >= 0 else []
            kept += [a + u / (u - v) * (b - a)] if u * v < 0 else []
        if not kept:
            return 0.0
        corners = np.array(kept)
    x, y = corners.T
    return 0.5 * abs(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1)))


@pytest.mark.parametrize(
    ("resolution", "place"),
    [(0.2, (0.8, 1.8, 0.0)), (0.07, (1.1, 2.3, 0.0)), (0.2, (1.5, 1.7, 0.7)), (0.08, (1.9, 2.1, 2.5))],
)
def test_a_cell_holds_what_its_area_overlaps(resolution, place):
    draw = np.random.default_rng(4)
    wall = Grid(draw.random((7, 9)) < 0.6, 0.1, (1.0, 2.0, 0.0))
    explorable = wall.with_cells(~wall.cells & (draw.random(wall.shape) < 0.7))
    map_grid = Grid(np.zeros((8, 9)), resolution, place)
    truth = ground_truth(wall, explorable, map_grid)
    walls, seen, other = (np.zeros(map_grid.shape) for _ in range(3))
    x0, y0, c, s, _ = map_grid.frame
    for (row, column), _ in np.ndenumerate(walls):
        square = resolution * (np.array([(0, 0), (1, 0), (1, 1), (0, 1)]) + np.array([column, row]))
        square = square @ np.array([[c, s], [-s, c]]) + (x0, y0)
        for (q, p), is_wall in np.ndenumerate(wall.cells):
            area = overlap(square, 1.0 + 0.1 * p, 2.0 + 0.1 * q, 1.1 + 0.1 * p, 2.1 + 0.1 * q)
            walls[row, column] += is_wall * area
            seen[row, column] += explorable.cells[q, p] * area
            other[row, column] += (not is_wall) * area
    full = np.isclose(walls, resolution**2, rtol=1e-4, atol=0.0)
    has_wall, is_seen = walls > 1e-8, seen > 1e-8
    np.testing.assert_array_equal(truth.states == 0, is_seen & ~has_wall)
    np.testing.assert_array_equal(truth.states == EITHER, is_seen & has_wall)
    for state, beside in ((100, truth.states == 0), (BEHIND, truth.states == EITHER)):
        padded = np.pad(beside, 1)
        near = padded[2:, 1:-1] | padded[:-2, 1:-1] | padded[1:-1, 2:] | padded[1:-1, :-2]
        expected = full & near & ((state == 100) | (truth.states != 100))
        np.testing.assert_array_equal(truth.states == state, expected)
    assert {EITHER, BEHIND} & set(truth.states.ravel().tolist())
    assert full.any() or resolution > 0.1


@pytest.mark.parametrize("yaw", [0.0, 0.09, 0.7, 2.0])
def test_a_map_off_by_less_than_half_a_cell_is_right_in_a_frame_of_any_heading(yaw):
    wall, free = room(wall_cells=8, size=48)
    wall.cells[20:26, 14:30] = True
    free.cells[:] = ~wall.cells
    covering = Beliefs.covering(Grid(wall.cells, 0.1, (0.0, 0.0, yaw)), ["a"], Mapping(resolution_m=0.1)).grid
    turned = [Grid(g.cells, 0.1, (0.0, 0.0, yaw)) for g in (wall, free)]
    truth = ground_truth(*turned, covering)
    centres = covering.to_world(np.argwhere(np.ones(covering.shape, bool)))

    def wrong(dx, dy):
        at = turned[0].to_cells(centres - (dx, dy))
        inside = turned[0].inside(at)
        rows, columns = np.where(inside[:, None], at, 0).T
        occupancy = np.where(inside, np.where(wall.cells[rows, columns], 100, 0), -1)  # a cell is wall if its centre is
        return map_error(occupancy.reshape(covering.shape).astype(np.int8), truth)

    for heading in np.linspace(0.0, 2.0 * np.pi, 7):
        assert wrong(0.049 * np.cos(heading), 0.049 * np.sin(heading)) == 0
        # two cells off, strips of at least 2 x 2 x 32 cells along the walls are; at most 1.5 of 2 cells are tolerated
        assert wrong(0.2 * np.cos(heading), 0.2 * np.sin(heading)) > 32
