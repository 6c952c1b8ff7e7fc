import networkx
import numpy as np
import pytest
from scipy import ndimage

from covey.errors import InvalidValueError
from covey.world.world import WALL, World

COLUMNS, ROWS, PITCH, WALLS, DOOR, RESOLUTION = 4, 3, 3.0, 0.25, 1.0, 0.25
SMALL: dict = {"size_m": (12, 9), "room_m": PITCH, "wall_m": WALLS, "door_m": DOOR, "resolution_m": RESOLUTION}
INNER = (COLUMNS - 1) * ROWS + COLUMNS * (ROWS - 1)  # walls between two rooms
TREE = COLUMNS * ROWS - 1  # doors that connect all


def cells_of(world, door):
    half = world.grid.resolution / 2
    corners = [(door.x0_m + half, door.y0_m + half), (door.x1_m - half, door.y1_m - half)]
    (r0, c0), (r1, c1) = world.grid.to_cells(corners)
    return slice(r0, r1 + 1), slice(c0, c1 + 1)


@pytest.fixture(scope="module")
def worlds():
    return [World.rooms(**SMALL, seed=seed, extra_doors=0.3) for seed in range(200)]


def test_200_grids_of_rooms(worlds):
    for world in worlds:
        assert world.grid.size_m == pytest.approx((12.25, 9.25))
        shut = world.grid.cells.copy()
        for door in world.doors:
            assert world.free[cells_of(world, door)].all()
            assert world.free[cells_of(world, door)].size == round(DOOR * WALLS / RESOLUTION**2)
            shut[cells_of(world, door)] = WALL
        labels, count = ndimage.label(shut != WALL)
        assert count == COLUMNS * ROWS
        assert (np.bincount(labels.ravel())[1:] == round(((PITCH - WALLS) / RESOLUTION) ** 2)).all()
        area = COLUMNS * ROWS * (PITCH - WALLS) ** 2 + len(world.doors) * DOOR * WALLS
        assert world.free_area_m2 == pytest.approx(area)
        graph = networkx.Graph()
        for door in world.doors:
            rows, columns = cells_of(world, door)
            tall = rows.stop - rows.start > columns.stop - columns.start
            ends = labels[rows.start, [columns.start - 1, columns.stop]] if tall else labels[
                [rows.start - 1, rows.stop], columns.start]  # fmt: skip
            graph.add_edge(*ends.tolist())
        assert networkx.is_connected(graph)
        assert graph.number_of_nodes() == COLUMNS * ROWS
        assert graph.number_of_edges() == len(world.doors)  # one for each pair


def test_a_disc_as_wide_as_a_door_gets_into_every_room(worlds):
    # Doors are an even number of cells wide: the nearest centre is half a cell off their middle.
    for world in worlds:
        assert ndimage.label(world.clearance >= DOOR / 2 - RESOLUTION / 2 - 1e-6)[1] == 1


def test_extra_doors_come_with_their_probability(worlds):
    extra = np.array([len(world.doors) - TREE for world in worlds])
    mean, deviation = (INNER - TREE) * 0.3, ((INNER - TREE) * 0.3 * 0.7 / len(worlds)) ** 0.5
    assert extra.mean() == pytest.approx(mean, abs=4 * deviation)
    assert len(World.rooms(**SMALL, extra_doors=0.0).doors) == TREE
    assert len(World.rooms(**SMALL, extra_doors=1.0).doors) == INNER


def test_the_seed_decides_and_the_material_is_known():
    first, again, other = (World.rooms(**SMALL, seed=s, material="drywall") for s in (1, 1, 2))
    np.testing.assert_array_equal(first.grid.cells, again.grid.cells)
    assert (first.grid.cells != other.grid.cells).any()
    assert first.materials is not None
    assert {first.material_names[k] for k in np.unique(first.materials[first.solid])} == {"drywall"}
    assert {first.material_names[k] for k in np.unique(first.materials[cells_of(first, first.doors[0])])} == {"wood"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"size_m": (11, 9)}, r"size_m\[0\] is 11; it must be a multiple .* such as 12"),
        ({"size_m": (3, 3)}, "2 rooms or more"),
        ({"door_m": 2.5}, "room_m is 3.*at least 3.25"),
        ({"wall_m": 0.1}, "wall_m is 0.1"),
        ({"extra_doors": -0.1}, "probability"),
        ({"size_m": (3e5, 3e5)}, "at most"),
    ],
)
def test_what_does_not_fit_is_refused(options, message):
    with pytest.raises(InvalidValueError, match=message):
        World.rooms(**{**SMALL, **options})
