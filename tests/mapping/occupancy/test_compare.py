import tracemalloc

import numpy as np
import pytest

from covey.errors import InvalidValueError
from covey.geometry.grid import Grid
from covey.mapping.occupancy import compare
from covey.mapping.occupancy.belief import Beliefs
from covey.mapping.occupancy.compare import (
    EITHER,
    KnownShare,
    compare_parallel,
    compare_turned,
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


@pytest.mark.parametrize(("yaw", "way"), [(0.0, "parallel"), (1e-9, "turned")])
def test_a_map_cell_may_hold_any_number_of_cells_of_the_world(yaw, way, monkeypatch):
    compares = getattr(compare, f"compare_{way}")  # counts cells; of the samples of walls, 514 x 514, some are enough
    monkeypatch.setattr(compare, f"compare_{way}", lambda *given: compares(*given[:3], given[3][::64]))
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
    assert (truth.states[0] == -1).all()
    for state, errors in ((0, 0), (100, 0), (-1, 36)):
        occupancy = np.where(truth.states == EITHER, state, truth.states).astype(np.int8)
        assert map_error(occupancy, truth) == errors


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


@pytest.mark.parametrize(("resolution", "origin"), [(0.2, (1.0, 2.0)), (0.25, (0.3, 2.71)), (0.07, (1.9, 1.5))])
def test_grids_side_by_side_compare_as_turned_ones_do(resolution, origin):
    draw = np.random.default_rng(4)
    wall = Grid(draw.random((24, 31)) < 0.3, 0.1, (1.0, 2.0, 0.0))
    explorable = wall.with_cells(~wall.cells & (draw.random(wall.shape) < 0.7))
    map_grid = Grid(np.zeros((14, 17)), resolution, (*origin, 0.0))
    offsets = np.array([-0.375, -0.125, 0.125, 0.375])
    grids = wall, explorable, map_grid, offsets
    for one, other in zip(compare_parallel(*grids), compare_turned(*grids), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("yaw", [0.0, 0.1])
def test_a_large_map_is_compared_in_parts_and_none_of_them_is_lost(yaw, monkeypatch):
    draw = np.random.default_rng(5)
    wall = Grid(draw.random((200, 250)) < 0.3, 0.1, (0.0, 0.0, yaw))
    free, maps = wall.with_cells(~wall.cells), Grid(np.zeros((190, 260)), 0.1, (0.03, 0.04, 0.0))
    whole = ground_truth(wall, free, maps)
    monkeypatch.setattr(compare, "_AT_ONCE", 2500)
    tracemalloc.start()
    parts = ground_truth.__wrapped__(wall, free, maps)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    np.testing.assert_array_equal(parts.states, whole.states)
    np.testing.assert_array_equal(parts.explorable, whole.explorable)
    assert peak < 25 * maps.cells.size  # of which 8 are kept until the end; all at once take 50 and more
