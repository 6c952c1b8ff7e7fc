import numpy as np
import pytest
from scipy import ndimage

from covey.errors import InvalidValueError
from covey.world.editing.changing import door_patch
from covey.world.world import World, label_by_size


@pytest.mark.parametrize("size", [(30, 15), (30, 30), (60, 40)])
@pytest.mark.parametrize("seed", range(8))
def test_a_body_of_80_cm_reaches_every_room(size, seed):
    world = World.office(size_m=size, seed=seed)
    _, counts = label_by_size(world.free & (world.clearance >= 0.4))
    assert len(counts) == 1
    assert world.grid.size_m == pytest.approx((size[0] + 0.2, size[1] + 0.2))
    assert 0.8 < world.free_area_m2 / (size[0] * size[1]) < 0.95


def test_doors_have_their_width():
    world = World.office(furniture=False, door_m=0.9, seed=4)
    row = world.grid.to_cells((0.0, 1.0))[0]  # the wall north of the corridor
    edges = np.flatnonzero(np.diff(world.free[row].astype(int)))
    widths = np.diff(edges)[::2] * world.grid.resolution
    assert len(widths) >= 4
    assert widths == pytest.approx(np.full(len(widths), 0.9), abs=0.051)


@pytest.mark.parametrize("size", [(30, 15), (30, 30)])
@pytest.mark.parametrize("seed", range(4))
def test_shut_doors_part_the_rooms_from_the_corridors(size, seed):
    world = World.office(size_m=size, seed=seed, furniture=False)
    cells = world.grid.cells.copy()
    for door in world.doors:
        patch = door_patch(world, door)
        assert world.free[patch.row :, patch.column :][: patch.mask.shape[0], : patch.mask.shape[1]].mean() > 0.9
        cells[patch.row :, patch.column :][: patch.mask.shape[0], : patch.mask.shape[1]][patch.mask] = 1
    labels, count = ndimage.label(cells == 0)
    middles = [((x0 + x1) / 2, (y0 + y1) / 2) for x0, y0, x1, y1 in world.halls]
    assert len({labels[tuple(cell)] for cell in world.grid.to_cells(middles)}) == 1  # corridors are one
    # Each room has one door to its corridor; the others lead from room to room.
    to_corridor = sum(door.x1_m - door.x0_m > door.y1_m - door.y0_m for door in world.doors)
    assert count == to_corridor + 1


def test_the_seed_decides():
    first, again, other = (World.office(seed=s) for s in (1, 1, 2))
    np.testing.assert_array_equal(first.grid.cells, again.grid.cells)
    assert first.grid.shape != other.grid.shape or (first.grid.cells != other.grid.cells).any()


@pytest.mark.parametrize(
    "options", [{"size_m": (5, 5)}, {"door_m": 3.0}, {"room_m": (1.0, 2.0)}, {"room_m": (4.0, 5.0)}, {"wall_m": 0.0}]
)
def test_what_does_not_fit_is_refused(options):
    with pytest.raises(InvalidValueError):
        World.office(**options)
