"""Doors, put-up walls and obstacles over the world's own cells."""

import numpy as np
import pytest
import shapely

from covey.errors import InvalidValueError
from covey.geometry.raycast import line_of_sight, skip_field
from covey.world.doors import Door
from covey.world.editing import changing
from covey.world.editing.changing import Structures, _part, robot_in, with_doors, with_doors_open
from covey.world.editing.obstacles import shape_patch
from covey.world.state import WorldState
from covey.world.world import FREE, WALL, World


def rooms(**door):
    """Two rooms of 4 x 4 m, a wall of 0.2 m between them, and a door of 1 m in it."""
    world = World.polygons([[0, 0], [8, 0], [8, 4], [0, 4]], walls_m=[[[4, 0], [4, 4]]], wall_m=0.2, resolution_m=0.1)
    return with_doors(world, [Door("d", 3.9, 1.5, 4.1, 2.5, **door)])


def sees_through(world):
    return line_of_sight(world.skip, world.grid.frame, 2.0, 2.0, 6.0, 2.05)


@pytest.mark.parametrize("starts_open", [True, False])
def test_a_door_opens_and_closes(starts_open):
    world = WorldState(rooms(open=starts_open))
    place = Structures(world)
    assert place.is_open("d") == sees_through(world) == starts_open
    opened = with_doors_open(world.world).free_area_m2
    for open_now in (not starts_open, starts_open, not starts_open):
        (place.open_door if open_now else place.close_door)("d")
        assert place.is_open("d") == sees_through(world) == open_now
        assert world.world.free_area_m2 == pytest.approx(opened - (0 if open_now else 0.2))
        assert np.array_equal(world.skip, skip_field(world.grid.cells != FREE))


def test_what_lies_below_comes_back_in_any_order():
    world = WorldState(rooms())
    before = world.grid.cells.copy()
    place = Structures(world)
    names = ["a", "b", "c"]
    for name, x in zip(names, (3.0, 3.2, 3.6), strict=True):
        place.put(name, shape_patch(world.grid, shapely.box(x, 1.0, x + 0.7, 3.0)))
    place.close_door("d")
    filled = world.grid.cells.copy()
    place.remove("b")
    place.remove("a")
    place.put("a", shape_patch(world.grid, shapely.box(3.0, 1.0, 3.7, 3.0)))
    place.put("b", shape_patch(world.grid, shapely.box(3.2, 1.0, 3.9, 3.0)))
    assert np.array_equal(world.grid.cells, filled)
    for name in reversed(names):
        place.remove(name)
    place.open_door("d")
    assert np.array_equal(world.grid.cells, before)
    assert np.array_equal(world.skip, skip_field(before != FREE))


def test_walls_lie_over_each_other_as_if_all_were_painted_anew():
    draw = np.random.default_rng(4)
    world = WorldState(World.empty(12, 9, resolution_m=0.1))
    place, own, standing = Structures(world), world.grid.cells.copy(), {}
    for _ in range(150):
        name, (x, y), sides = f"w{draw.integers(30)}", draw.uniform((-6, -4.5), (5, 3.5)), draw.uniform(0.1, 4.0, 2)
        if standing.pop(name, None) is not None and draw.random() < 0.5:
            place.remove(name)
        else:
            box = shapely.box(x, y, x + sides[0], y + sides[1])
            standing[name] = shape_patch(world.grid, box), draw.choice(["brick", "wood"])
            place.put(name, *standing[name])
        cells = own.copy()
        for patch, _ in standing.values():
            _part(cells, patch)[patch.mask] = WALL
        assert np.array_equal(world.grid.cells, cells)
        last, material = next(reversed(standing.values())) if standing else (None, "")
        if last is not None:
            painted = _part(world.materials, last)[last.mask]
            assert (painted == world.material_names.index(material)).all()  # it lies on top


def test_a_wall_costs_the_same_however_many_stand_elsewhere(monkeypatch):
    compared = []
    overlap = changing._overlap
    monkeypatch.setattr(changing, "_overlap", lambda *of: compared.append(1) or overlap(*of))
    world = WorldState(World.empty(60, 60, resolution_m=0.1))
    place = Structures(world)
    counts = []
    for i in range(400):  # 3 m apart
        compared.clear()
        x, y = i % 20 * 3.0 - 29.0, i // 20 * 3.0 - 29.0
        place.put(f"w{i}", shape_patch(world.grid, shapely.box(x, y, x + 0.5, y + 0.5)))
        counts.append(len(compared))
    assert max(counts) <= 9  # those of 2 x 2 blocks of 3.2 m
    for i in range(400):
        compared.clear()
        place.remove(f"w{i}")
        assert len(compared) <= 9
    assert not place._near


def test_own_walls_fall_and_put_up_ones_stay():
    world = WorldState(rooms())
    place = Structures(world)
    place.put("w", shape_patch(world.grid, shapely.box(3.5, 0.2, 4.5, 0.4)))
    fallen = place.clear(shape_patch(world.grid, shapely.box(3.0, 0.0, 5.0, 1.0))).mask.sum()
    assert fallen == 10 * 2
    row, column = world.grid.to_cells((4.05, 0.35))
    assert world.grid.cells[row, column] == WALL
    place.remove("w")
    assert world.grid.cells[row, column] == FREE


def test_a_put_up_wall_is_of_its_material():
    world = WorldState(rooms())
    place = Structures(world)
    place.put("w", shape_patch(world.grid, shapely.box(1.0, 1.0, 2.0, 2.0)), "metal")
    row, column = world.grid.to_cells((1.5, 1.5))
    assert world.material_names[world.materials[row, column]] == "metal"
    assert world.material_names[world.materials[0, 0]] == "concrete"


@pytest.mark.parametrize(
    ("x", "radius", "meets"), [(3.4, 0.49, False), (3.4, 0.51, True), (4.0, 0.1, True), (4.6, 0.49, False)]
)
def test_a_body_is_in_a_door_when_it_overlaps_its_cells(x, radius, meets):
    world = rooms()
    door = shape_patch(world.grid, shapely.box(3.9, 1.5, 4.1, 2.5))
    discs = np.array([[[1.0, 1.0, 0.3], [0.0, 0.0, 0.0]], [[x, 2.0, radius], [4.0, 2.0, 0.0]]])
    assert robot_in(world, door, discs) == (1 if meets else -1)


def test_a_door_outside_the_world_is_refused():
    with pytest.raises(InvalidValueError, match="lies outside"):
        with_doors(World.empty(2, 2), [Door("d", 50, 50, 51, 51)])
