import numpy as np
import pytest

from covey.errors import InvalidValueError
from covey.geometry.grid import Grid
from covey.world.world import FREE, OPEN, UNKNOWN, WALL, World, closed


def test_an_empty_world_is_centred_and_has_its_area():
    world = World.empty(10, 6, resolution_m=0.05)
    assert world.free_area_m2 == pytest.approx(60)
    assert world.grid.size_m == pytest.approx((10.1, 6.1))
    assert world.grid.to_world((60.5, 100.5)) == pytest.approx((0, 0), abs=1e-9)
    assert world.solid.sum() == 2 * 202 + 2 * 120


def test_an_open_world_has_no_solid_cell():
    world = World.empty(2, 1, 0.1, border="open")
    assert not world.solid.any()
    assert (world.grid.cells == OPEN).sum() == 22 * 12 - 200
    assert np.isinf(world.clearance).all()


@pytest.mark.parametrize("size", [(0, 1), (-1, 1), (float("nan"), 1), (1, float("inf")), (1e5, 1e5)])
def test_absurd_sizes_are_refused(size):
    with pytest.raises(InvalidValueError):
        World.empty(*size)


def test_parts_are_sorted_by_size():
    cells = np.full((5, 9), WALL, np.uint8)
    cells[1:4, 1] = FREE  # 3 cells
    cells[1:4, 3:8] = FREE  # 15 cells
    labels, areas = World(Grid(cells, 0.5)).components()
    assert areas == pytest.approx([15 / 4, 3 / 4])
    assert labels[2, 1] == 2
    assert labels[2, 5] == 1
    assert labels[0, 0] == 0


def test_the_largest_room_ends_at_its_door():
    world = World.polygons(
        [(0, 0), (9, 0), (9, 4), (0, 4)], walls_m=[[(3, 0), (3, 1.5)], [(3, 2.5), (3, 4)]], resolution_m=0.05
    )
    assert len(world.components()[1]) == 1
    room = world.largest_room(door_m=1.2)
    left = world.grid.to_world(np.argwhere(room))[:, 0].min()
    # The walls end at y = 1.55 and 2.45: between them a disc of radius 0.6 m gets this far into the door.
    assert left == pytest.approx(3.05 + np.sqrt(0.6**2 - 0.45**2), abs=0.05)


def test_a_change_is_a_copy_with_the_next_version():
    world = World.empty(1, 1, 0.1)
    cells = world.grid.cells.copy()
    cells[5, 5] = WALL
    other = world.with_cells(cells)
    assert (world.version, other.version) == (0, 1)
    assert other.free_area_m2 == pytest.approx(world.free_area_m2 - 0.01)
    assert other.clearance[5, 6] == pytest.approx(0.05)


def test_closing_puts_a_ring_only_where_there_is_a_gap():
    gap = Grid(np.array([[UNKNOWN, WALL], [WALL, FREE]], np.uint8), 0.5, (1.0, 2.0, np.pi / 2))
    ring = closed(gap)
    assert ring.shape == (4, 4)
    assert ring.to_world((2, 2)) == pytest.approx(gap.to_world((1, 1)))
    assert closed(ring) is ring


@pytest.mark.parametrize("cells", [np.zeros((2, 2)), np.full((2, 2), 4, np.uint8), np.zeros((0, 2), np.uint8)])
def test_cells_that_are_no_world_are_refused(cells):
    with pytest.raises(InvalidValueError, match="uint8"):
        World(Grid(cells, 0.1))


def test_a_material_needs_a_name():
    world = World.empty(1, 1, 0.5)
    materials = np.full(world.grid.shape, 2, np.uint8)
    with pytest.raises(InvalidValueError, match="2 material_names"):
        world.replace(materials=materials, material_names=("concrete", "wood"))
