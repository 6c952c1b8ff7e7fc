import math

import networkx
import numpy as np
import pytest
from scipy import ndimage

from covey.errors import InvalidValueError
from covey.random import generator
from covey.world.generators.buildings import Lengths, cut_doors, lay_halls, plan, split
from covey.world.generators.floor_plan import Box
from covey.world.world import World

LENGTHS = Lengths(hall=4, room=6, door=2, padding=2, wall=1)
SIZE, SHARE, SPLIT = 50, 0.2, 0.85
AREA = Box(0, 0, SIZE, SIZE).shrunk(1)


def pieces(mask):
    """Count the parts that are connected over edges."""
    return ndimage.label(mask)[1]


def without(floor, *kinds):
    is_open = np.zeros((floor.rows, floor.columns), bool)
    for kind in ("halls", "rooms", "doors"):
        if kind not in kinds:
            for box in getattr(floor, kind):
                is_open[box.y0 : box.y1, box.x0 : box.x1] = True
    return is_open


@pytest.fixture(scope="module")
def floors():
    return [plan(AREA, SIZE, SIZE, LENGTHS, SHARE, SPLIT, generator(seed, "test")) for seed in range(200)]


def test_halls_of_200_buildings_take_their_share_and_no_more_than_the_last_one_over_it():
    for seed in range(200):
        halls, regions = lay_halls(AREA, LENGTHS, SHARE, generator(seed, "test"))
        areas = [hall.area for hall in halls]
        assert sum(areas[:-1]) < SHARE * AREA.area
        if sum(areas) < SHARE * AREA.area:
            # No room for another one: no c with 6 + 2 < c < n - 1 - 12 across the largest region.
            largest, axis = max(regions, key=lambda region: region.area), len(halls) % 2
            assert largest[axis + 2] - largest[axis] < 6 + 2 + 12 + 3
        assert sum(areas) + sum(region.area for region in regions) == AREA.area
        assert [min(h.x1 - h.x0, h.y1 - h.y0) for h in halls] == [4] * len(halls)
        # In turn from north to south and from west to east.
        assert [h.x1 - h.x0 == 4 for h in halls] == [i % 2 == 0 for i in range(len(halls))]
        # Every region has room for a room longer than the least side within its ring of wall.
        assert all(min(r.x1 - r.x0, r.y1 - r.y0) >= 6 + 1 + 2 for r in regions)


def test_rooms_are_truly_subdivided_in_200_buildings(floors):
    for seed, floor in enumerate(floors):
        halls = pieces(without(floor, "rooms", "doors"))
        # Without doors every room is by itself.
        assert pieces(without(floor, "doors")) == len(floor.rooms) + halls
        sides = [side for room in floor.rooms for side in (room.x1 - room.x0, room.y1 - room.y0)]
        assert min(sides) > LENGTHS.room
        # Halls cut the area into one region more than there are halls; each is split where it is high enough within
        # its ring of wall: some c with 6 < c < n - 1 - 12.
        _, regions = lay_halls(AREA, LENGTHS, SHARE, generator(seed, "test"))
        assert len(regions) == len(floor.halls) + 1
        assert len(floor.rooms) >= len(regions) + sum(r.y1 - r.y0 - 2 >= 6 + 12 + 3 for r in regions)
        assert len(floor.rooms) * (LENGTHS.room + 1) ** 2 <= AREA.area
    assert np.mean([len(floor.rooms) for floor in floors]) > 1.5 * np.mean([len(floor.halls) + 1 for floor in floors])


@pytest.mark.parametrize("chance", [0.0, 0.85, 1.0])
def test_parts_are_split_as_often_as_declared(chance):
    counts = []
    for seed in range(200):
        box = Box(0, 0, 30, 30)
        rooms = split(box, 1, True, LENGTHS, chance, generator(seed, "test"))
        taken = np.zeros((30, 30), int)
        for room in rooms:
            taken[room.y0 : room.y1, room.x0 : room.x1] += 1
        assert taken.max() == 1
        assert pieces(taken) == len(rooms)
        counts.append(len(rooms))
        # A wall fits across a side of length n when some c has 6 < c < n - 1 - 12.
        if chance == 1:
            assert all(max(room.x1 - room.x0, room.y1 - room.y0) < 6 + 12 + 3 for room in rooms)
    if chance == 0:
        assert set(counts) == {2}  # the first split is forced


def test_no_split_where_no_wall_fits_on_the_first_axis():
    assert split(Box(0, 0, 40, 20), 1, True, LENGTHS, 1.0, generator(0, "test")) == [Box(0, 0, 40, 20)]


def test_everything_is_connected_by_doors_of_their_width_in_200_buildings(floors):
    for floor in floors:
        is_open = floor.tiles()
        assert pieces(is_open) == 1
        spaces, count = ndimage.label(without(floor, "doors"))
        graph = networkx.Graph()
        graph.add_nodes_from(range(1, count + 1))
        for door in floor.doors:
            wide, high = door.x1 - door.x0, door.y1 - door.y0
            assert sorted((wide, high)) == [LENGTHS.wall, LENGTHS.door]
            assert not without(floor, "doors")[door.y0 : door.y1, door.x0 : door.x1].any()
            along = wide > high
            ends = (door.y0 - 1, door.x0), (door.y1, door.x0) if along else (door.y0, door.x1)
            ends = ends if along else ((door.y0, door.x0 - 1), (door.y0, door.x1))
            graph.add_edge(*(int(spaces[end]) for end in ends))
            # Wall on both sides, as wide as the padding (or one tile, where two rooms share too little).
            row, column = door.y0, door.x0
            beside = [is_open[row, column - 1], is_open[row, door.x1]] if along else [
                is_open[row - 1, column], is_open[door.y1, column]]  # fmt: skip
            assert not any(beside)
        assert 0 not in graph
        assert networkx.is_connected(graph)
        assert graph.number_of_nodes() == count
        # Each place is reached by 1 to 3 doors from what was connected before.
        assert count - 1 <= len(floor.doors) <= 3 * (count - 1)


def test_doors_keep_their_padding_in_200_buildings(floors):
    less = 0
    for floor in floors:
        is_open = floor.tiles()
        for door in floor.doors:
            along = door.x1 - door.x0 > door.y1 - door.y0
            line = is_open[door.y0] if along else is_open[:, door.x0]
            low, high = (door.x0, door.x1) if along else (door.y0, door.y1)
            less += line[low - 2 : low].any() or line[high : high + 2].any()
    # Only where walls meet from both sides is there less; and that last resort is hardly ever needed.
    assert less < 0.01 * sum(len(floor.doors) for floor in floors)


def test_free_share_of_200_buildings(floors):
    for floor in floors:
        boxes = (*floor.halls, *floor.rooms, *floor.doors)
        assert floor.tiles().sum() == sum(box.area for box in boxes)  # nothing overlaps but where halls touch
        # At the least: rooms as small as can be, each with a wall of its own. At the most: all but the outer wall.
        assert (7 / 9) ** 2 < floor.tiles().sum() / AREA.area < 1 - 4 * 47 / AREA.area


def test_narrow_rooms_are_connected_without_padding():
    # Two columns of rooms between no halls, whose walls meet in the middle of each other's sides.
    west = [Box(0, 8 * i, 7, 8 * i + 7) for i in range(4)]
    east = [Box(8, 8 * i + 4, 15, 8 * i + 11) for i in range(4)]
    doors = cut_doors([], west + east, LENGTHS, generator(0, "test"))
    assert len(doors) >= 7
    crossing = [door for door in doors if door.x0 == 7]
    assert len(crossing) == 1
    assert crossing[0].y1 - crossing[0].y0 == 2


def test_a_disc_as_wide_as_a_door_gets_everywhere():
    for seed in range(50):
        world = World.building(size_m=(30, 30), resolution_m=0.5, seed=seed)
        # The middle of a door of 2 m is a border of cells: the nearest centre is half a cell off it.
        assert pieces(world.clearance >= 1.0 - 0.25 - 1e-6) == 1
        assert len(world.components()[1]) == 1


def test_doors_and_halls_are_known_in_metres():
    world = World.building(seed=2)
    shut = world.grid.cells.copy()
    for i, door in enumerate(world.doors):
        assert door.name == f"d{i}"
        assert door.open
        assert sorted((door.x1_m - door.x0_m, door.y1_m - door.y0_m)) == pytest.approx([1, 2])
        corners = [(door.x0_m + 0.01, door.y0_m + 0.01), (door.x1_m - 0.01, door.y1_m - 0.01)]
        (r0, c0), (r1, c1) = world.grid.to_cells(corners)
        assert world.free[r0 : r1 + 1, c0 : c1 + 1].all()
        shut[r0 : r1 + 1, c0 : c1 + 1] = 1
    assert pieces(shut == 0) > len(world.halls) + 1
    for x0, y0, x1, y1 in world.halls:
        assert min(x1 - x0, y1 - y0) == pytest.approx(4)
        assert world.free[tuple(world.grid.to_cells(((x0 + x1) / 2, (y0 + y1) / 2)))]


def test_a_building_of_one_material_has_doors_of_wood():
    world = World.building(seed=2, material="brick")
    assert world.materials is not None
    names = np.array(world.material_names)[world.materials]
    assert set(names[world.solid]) == {"brick"}
    for door in world.doors:
        assert names[tuple(world.grid.to_cells(((door.x0_m + door.x1_m) / 2, (door.y0_m + door.y1_m) / 2)))] == "wood"
    drawn = [World.building(size_m=(20, 20), seed=seed, material="random").materials for seed in range(60)]
    # Of 60 draws each of five materials comes up, but with a probability of 5 * 0.8^60 < 1e-5.
    assert {int(m[0, 0]) for m in drawn if m is not None} == {0, 1, 2, 3, 4}


def test_thin_walls_on_a_fine_lattice():
    world = World.building(
        size_m=(30, 20), tile_m=0.25, wall_m=0.25, border_m=0.25, hall_m=2.5, min_room_m=3.5, door_m=1.25,
        door_padding_m=0.5, seed=1
    )  # fmt: skip
    assert pieces(world.clearance >= 1.25 / 2 - 1e-6) == 1
    assert min(min(d.x1_m - d.x0_m, d.y1_m - d.y0_m) for d in world.doors) == pytest.approx(0.25)


def test_the_seed_decides():
    first, again, other = (World.building(seed=s) for s in (1, 1, 2))
    np.testing.assert_array_equal(first.grid.cells, again.grid.cells)
    assert first.doors == again.doors
    assert (first.grid.cells != other.grid.cells).any()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"size_m": (9, 50)}, "at least 11 m both ways"),
        ({"size_m": (1e5, 1e5)}, "at most"),
        ({"hall_m": 1.0}, "at least as wide as a door"),
        ({"min_room_m": 5.0}, "min_room_m is 5.*at least 6"),
        ({"door_m": 1.5}, "door_m is 1.5; it must be a multiple"),
        ({"hall_share": 1.5}, "hall_share is 1.5"),
        ({"wall_m": 0.0}, "wall_m is 0"),
        ({"size_m": (math.inf, 50)}, "inf"),
    ],
)
def test_what_is_no_building_is_refused(options, message):
    with pytest.raises(InvalidValueError, match=message):
        World.building(**options)
