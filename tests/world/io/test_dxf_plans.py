"""DXF drawings as worlds: geometry by hand and by shapely, and files that are damaged or meant to do harm."""

import math
import time

import numpy as np
import pytest
import shapely
from shapely import affinity

from covey import MapFileError, World
from covey.errors import CoveyError
from covey.scenario.load import parse_scenario
from covey.world.io import floor_plans
from covey.world.io.drawings import drawing as drawings
from covey.world.io.drawings import dxf
from covey.world.io.floor_plans import layers_of, read_floor_plan
from covey.world.rooms import rooms
from covey.world.world import FREE, OPEN, UNKNOWN, WALL

ezdxf = pytest.importorskip("ezdxf", reason="ezdxf, of the extra covey[lab], is not installed")
SQUARE = [(0, 0), (10, 0), (10, 8), (0, 8)]


def drawn(folder, draw, units=6, binary=False):
    """Return the path of a DXF file with what ``draw(modelspace, document)`` draws."""
    document = ezdxf.new(units=units)
    draw(document.modelspace(), document)
    path = folder / "plan.dxf"
    document.saveas(path, fmt="bin" if binary else "asc")
    return path


def house(space, document, scale=1.0):
    space.add_lwpolyline(np.array(SQUARE) * scale, close=True, dxfattribs={"layer": "A-WALL"})


def walls_of(world):
    """Return the centres [m] of the wall cells."""
    return world.grid.to_world(np.argwhere(world.grid.cells == WALL))


def differs(world, lines, wall_m=0.1):
    """Return how many cells are wall although the walls along some lines do not contain their centre, or the reverse."""
    solid = shapely.union_all(
        [shapely.buffer(line, wall_m / 2, cap_style="square", join_style="mitre") for line in lines]
    )
    centres = world.grid.to_world(np.stack(np.indices(world.grid.shape), -1))
    at_edge = shapely.distance(shapely.points(centres), solid.boundary) < 0.004  # of curves: their tolerance
    inside = shapely.contains_xy(solid, centres[..., 0], centres[..., 1])
    return int(np.count_nonzero((inside != (world.grid.cells == WALL)) & ~at_edge))


@pytest.mark.parametrize(("units", "scale"), [(4, 1000), (5, 100), (6, 1), (1, 1 / 0.0254), (2, 1 / 0.3048)])
def test_the_header_says_the_unit(tmp_path, units, scale):
    world = World.from_file(drawn(tmp_path, lambda *a: house(*a, scale), units))
    assert world.free_area_m2 == pytest.approx(9.9 * 7.9)  # walls of 0.1 m on the lines
    assert world.grid.extent[:3:2] == pytest.approx((-0.1, -0.1), abs=1e-6)
    assert world.name == "plan"


def test_a_binary_file_is_the_same(tmp_path):
    cells = [World.from_file(drawn(tmp_path, house, binary=binary)).grid.cells for binary in (False, True)]
    assert np.array_equal(*cells)


def test_given_units_win_and_known_lengths_give_the_scale(tmp_path):
    def draw(space, document):
        house(space, document, 4.0)
        space.add_line((100, 100), (107, 100), dxfattribs={"layer": "BAR"})
        space.add_line((100, 101), (101, 101), dxfattribs={"layer": "BAR"})

    path = drawn(tmp_path, draw, units=0)
    given = {"without_layers": ["bar"], "resolution_m": 0.1}
    for option in (
        {"scale": {"from": [0, 0], "to": [0, 32], "length_m": 4}},
        {"scale": {"layer": "bar", "length_m": 0.875}},
    ):
        plan = read_floor_plan(path, **option, **given)
        assert plan.unit_m == pytest.approx(0.125)
        assert plan.world.free_area_m2 == pytest.approx(4.9 * 3.9)
    assert read_floor_plan(path, units="ft", **given).unit_m == 0.3048
    with pytest.raises(MapFileError, match=r"does not say in which unit.*mm: 0.107 m, cm: 1.07 m, m: 107 m.*scale: "):
        read_floor_plan(path)
    with pytest.raises(CoveyError, match="units and scale are both given"):
        read_floor_plan(path, units="m", scale={"layer": "BAR", "length_m": 1})
    for wrong in ({"layer": "BAR"}, {"from": [0, 0], "length_m": 1}, {"from": [1, 1], "to": [1, 1], "length_m": 1}):
        with pytest.raises(CoveyError, match=r"length_m|from"):
            read_floor_plan(path, scale=wrong)


@pytest.mark.slow
def test_curves_are_where_theory_has_them(tmp_path):
    def draw(space, document):
        space.add_arc((2, 0), 2, 0, 180)  # left to right above y = 0
        space.add_lwpolyline([(0, -2, 0, 0, 1), (4, -2)])  # a bulge of 1: half a circle below
        space.add_circle((9, 0), 1.5)
        space.add_ellipse((15, 0), (2.5, 0), 0.4)
        space.add_spline().set_open_uniform([(0, 6, 0), (4, 12, 0), (8, 0, 0), (12, 6, 0)], degree=3)
        space.add_polyline2d([(14, 5), (16, 5), (16, 7)], close=True)
        space.add_polyline3d([(18, 0, 0), (18, 3, 2), (19, 4, 5)])

    t = np.linspace(0, 1, 400)[:, None]
    bezier = (1 - t) ** 3 * [0, 6] + 3 * t * (1 - t) ** 2 * [4, 12] + 3 * t**2 * (1 - t) * [8, 0] + t**3 * [12, 6]
    turn = np.linspace(0, math.pi, 400)
    half = np.stack((np.cos(turn), np.sin(turn)), 1)
    lines = [
        *(2 * half + [2, 0], 2 * half * [1, -1] + [2, -2], 1.5 * half + [9, 0], -1.5 * half + [9, 0]),
        *(half * [2.5, 1] + [15, 0], half * [-2.5, -1] + [15, 0], bezier),
        *([(14, 5), (16, 5), (16, 7), (14, 5)], [(18, 0), (18, 3), (19, 4)]),
    ]
    world = World.from_file(drawn(tmp_path, draw), close_m=0, fill_m=0)
    assert len(walls_of(world)) > 1000
    inside = world.replace(grid=world.grid.with_cells(world.grid.cells))
    inside.grid.cells[[0, -1]] = inside.grid.cells[:, [0, -1]] = FREE  # without the ring that closes the world
    assert differs(inside, [shapely.LineString(line) for line in lines]) == 0


def test_nested_blocks_are_moved_turned_stretched_and_mirrored(tmp_path):
    def draw(space, document):
        desk = document.blocks.new("DESK", base_point=(1, 1))
        desk.add_line((1, 1), (3, 1))
        desk.add_line((1, 1), (1, 2), dxfattribs={"layer": "LEGS"})
        desk.add_arc((1, 1), 1, 0, 90)
        room = document.blocks.new("ROOM")
        room.add_blockref("DESK", (2, 0), {"xscale": 2, "yscale": 1, "rotation": 30})
        space.add_blockref("ROOM", (5, 5), {"xscale": -1, "yscale": 1.5, "rotation": 90, "layer": "A-FURN"})
        grid = space.add_blockref("DESK", (-10, 0), {"layer": "GRID", "row_count": 2, "column_count": 3})
        grid.dxf.row_spacing, grid.dxf.column_spacing = 4, 5

    path = drawn(tmp_path, draw)
    quarter = [(math.cos(a), math.sin(a)) for a in np.linspace(0, math.pi / 2, 200)]
    desk = shapely.MultiLineString([[(0, 0), (2, 0)], [(0, 0), (0, 1)], quarter])
    inner = affinity.translate(affinity.rotate(affinity.scale(desk, 2, 1, origin=(0, 0)), 30, origin=(0, 0)), 2, 0)
    outer = affinity.rotate(affinity.scale(inner, -1, 1.5, origin=(0, 0)), 90, origin=(0, 0))
    lines = [affinity.translate(outer, 5, 5)]
    lines += [affinity.translate(desk, -10 + 5 * i, 4 * j) for i in range(3) for j in range(2)]
    world = World.from_file(path, close_m=0, fill_m=0)
    world.grid.cells[[0, -1]] = world.grid.cells[:, [0, -1]] = FREE
    assert differs(world, lines) == 0
    found = layers_of(read_floor_plan(path).drawing)
    assert found == {"A-FURN": {"LINE": 1, "ARC": 1}, "GRID": {"LINE": 6, "ARC": 6}, "LEGS": {"LINE": 7}}
    assert len(walls_of(World.from_file(path, layers=["a-furn"], close_m=0, border="open"))) < len(walls_of(world)) / 2
    assert set(read_floor_plan(path, layers=["A-FURN"]).lines) == {"A-FURN", "LEGS"}, (
        "what an insert holds is on its layer, too"
    )


def test_layers_are_chosen_by_name_and_an_error_lists_them(tmp_path):
    def draw(space, document):
        house(space, document)
        space.add_line((5, 0), (5, 8), dxfattribs={"layer": "A-DOOR"})
        space.add_line((2, 0), (2, 8), dxfattribs={"layer": "HIDDEN"})
        space.add_line((3, 0), (3, 8), dxfattribs={"layer": "FROZEN"})
        document.layers.add("HIDDEN").off()
        document.layers.add("FROZEN").freeze()

    path = drawn(tmp_path, draw)

    def areas(**options):
        return [round(room.area_m2, 2) for room in rooms(World.from_file(path, **options))]

    assert areas() == [round(4.9 * 7.9, 2)] * 2
    assert areas(layers=["a-*"]) == areas()
    assert areas(without_layers=["A-DOOR"]) == [round(9.9 * 7.9, 2)]
    assert areas(layers=["A-WALL", "HIDDEN"]) == [round(7.9 * 7.9, 2), round(1.9 * 7.9, 2)], "asked for by name"
    for key in ("layers", "without_layers"):
        with pytest.raises(
            MapFileError, match=rf"{key}: no layer 'A-WAL' has lines, did you mean 'A-WALL'\?.*'A-DOOR' \(1\), 'A-WALL'"
        ):
            World.from_file(path, **{key: ["A-WAL"]})
    with pytest.raises(MapFileError, match=r"no layer 'Z\*' has lines; it has the layers 'A-DOOR' \(1\)"):
        World.from_file(path, layers=["Z*"])


def test_what_is_no_wall_is_counted(tmp_path):
    def draw(space, document):
        house(space, document)
        for x in range(3):
            space.add_text("room", dxfattribs={"insert": (x, 1)})
        space.add_hatch().paths.add_polyline_path([(1, 1), (2, 1), (2, 2)])
        space.add_linear_dim((0, -1), (0, 0), (10, 0)).render()
        space.add_blockref("NOT THERE", (0, 0))
        document.add_xref_def("other.dxf", "XREF")
        space.add_blockref("XREF", (0, 0))
        space.add_line((0, 4), (10, 4), dxfattribs={"invisible": 1})
        space.add_mline([(5, 1), (5, 7)])

    plan = read_floor_plan(drawn(tmp_path, draw))
    assert plan.drawing.ignored == {
        "TEXT": 3,
        "HATCH": 1,
        "DIMENSION": 1,
        "INSERT of a missing block": 1,
        "INSERT of another file": 1,
        "invisible LINE": 1,
    }
    assert layers_of(plan.drawing)["0"] == {"MLINE": 2}


def test_walls_of_two_lines_are_filled_and_wide_lines_keep_their_width(tmp_path):
    def draw(space, document):
        house(space, document)
        space.add_lwpolyline([(-0.3, -0.3), (10.3, -0.3), (10.3, 8.3), (-0.3, 8.3)], close=True)
        space.add_lwpolyline([(5, 0), (5, 5)], dxfattribs={"const_width": 0.4})

    plan = read_floor_plan(drawn(tmp_path, draw))
    assert plan.filled == 1
    assert plan.world.free_area_m2 == pytest.approx(9.9 * 7.9 - 0.4 * (5.2 - 0.05))
    thin = read_floor_plan(drawn(tmp_path, draw), fill_m=0)
    assert thin.world.free_area_m2 == pytest.approx(plan.world.free_area_m2 + 10.5 * 8.5 - 10.1 * 8.1 - 0.4 * 0.15)


def test_rooms_are_what_is_left_when_doors_are_closed(tmp_path):
    def draw(space, document):
        house(space, document)
        for points in ([(4, 0), (4, 3)], [(4, 4), (4, 8)], [(7, 0), (7, 8)]):
            space.add_lwpolyline(points)

    left, middle, right = rooms(World.from_file(drawn(tmp_path, draw)))
    door = 0.1 * 0.9  # belongs to one of the rooms or to both
    assert left.area_m2 == pytest.approx(3.9 * 7.9, abs=door)
    assert middle.area_m2 == pytest.approx(2.9 * 7.9, abs=door)
    assert right.area_m2 == pytest.approx(2.9 * 7.9)
    assert (left.closed, middle.closed, right.closed) == (False, False, True)
    assert (right.x_m, left.x_m) == (pytest.approx(8.5, abs=0.06), pytest.approx(2, abs=0.06))
    assert [room.closed for room in rooms(World.from_file(drawn(tmp_path, draw)), 0.8)] == [True, True]


def test_the_outside_is_no_part_of_the_world_unless_wished(tmp_path):
    def draw(space, document):  # an L with an entrance of 1.2 m
        space.add_lwpolyline([(4, 0), (0, 0), (0, 8), (8, 8), (8, 4), (4, 4), (4, 1.2)])

    path = drawn(tmp_path, draw)
    plan = read_floor_plan(path)
    cells = plan.world.grid.cells
    inside = 3.9 * 7.9 + 4 * 3.9
    assert plan.surrounded
    assert plan.world.free_area_m2 == pytest.approx(inside, abs=0.3)  # the disc bulges into the entrance
    assert cells[plan.world.grid.cell_at(6, 2)] == UNKNOWN
    assert not (cells[[0, -1]] == FREE).any()
    opened = World.from_file(path, border="open")
    assert opened.grid.cells[opened.grid.cell_at(6, 2)] == OPEN
    around = read_floor_plan(path, close_m=0)
    assert not around.surrounded
    lines = len(walls_of(around.world)) - ring(around)
    assert around.world.free_area_m2 == pytest.approx(8.2 * 8.2 - lines * 0.05**2)  # with a margin of one cell
    wide = read_floor_plan(path, close_m=1.0)
    assert not wide.surrounded, "the entrance is wider, so nothing is inside"
    assert wide.world.free_area_m2 == around.world.free_area_m2


def ring(plan):
    rows, columns = plan.world.grid.shape
    return 2 * (rows + columns) - 4


def test_the_origin_can_be_moved_and_must_be_when_it_is_far(tmp_path):
    def draw(space, document):
        space.add_lwpolyline([(x + 500_000, y + 5_400_000) for x, y in SQUARE], close=True)

    path = drawn(tmp_path, draw)
    with pytest.raises(MapFileError, match=r"5400 km from its origin; move it there with origin: \[500000, 5400000\]"):
        World.from_file(path)
    world = World.from_file(path, origin=[500_000, 5_400_000])
    assert world.free_area_m2 == pytest.approx(9.9 * 7.9)
    assert world.grid.origin[:2] == pytest.approx((-0.1, -0.1))


def test_an_entity_that_is_wrong_is_named(tmp_path):
    def nan(space, document):
        house(space, document)
        space.add_line((math.nan, 1), (2, 2), dxfattribs={"layer": "BAD", "handle": "ABC"})

    path = drawn(tmp_path, nan)
    with pytest.raises(
        MapFileError, match=r"LINE \(handle ABC, layer 'BAD'\): it has the coordinate nan; mend.*without_layers"
    ):
        World.from_file(path)
    assert World.from_file(path, without_layers=["bad"]).free_area_m2 == pytest.approx(9.9 * 7.9)

    def huge(space, document):
        house(space, document)
        block = document.blocks.new("B")
        block.add_circle((0, 0), 1e200, dxfattribs={"layer": "BAD", "handle": "ABC"})
        space.add_blockref("B", (0, 0))

    with pytest.raises(MapFileError, match=r"CIRCLE \(handle ABC of block 'B', layer 'BAD'\): it has the coordinate"):
        World.from_file(drawn(tmp_path, huge))

    def far(space, document):
        house(space, document)
        house(space, document)
        space.add_line((0, 0), (0, 9e6), dxfattribs={"layer": "BAD", "handle": "ABC"})

    with pytest.raises(
        MapFileError, match=r"10 m x 9e\+06 m.*Farthest out is LINE \(handle ABC, layer 'BAD'\), 9e\+06 units"
    ):
        World.from_file(drawn(tmp_path, far))

    def broken(space, document):
        space.add_spline().dxf.layer = "BAD"

    with pytest.raises(MapFileError, match=r"SPLINE \(handle \w+, layer 'BAD'\): .*mend"):
        World.from_file(drawn(tmp_path, broken))


def test_a_number_that_cannot_be_read_is_found_in_the_text(tmp_path):
    path = drawn(
        tmp_path,
        lambda space, document: space.add_line((1.23456, 2), (3, 4), dxfattribs={"layer": "BAD", "handle": "ABC"}),
    )
    path.write_text(path.read_text().replace("1.23456", "west", 1))
    with pytest.raises(MapFileError, match=r"a damaged DXF: LINE \(handle ABC, layer 'BAD'\): "):
        World.from_file(path)


def test_blocks_that_contain_themselves_or_explode_are_refused_quickly(tmp_path, monkeypatch):
    def cycle(space, document):
        for name, other in (("A", "B"), ("B", "A")):
            document.blocks.new(name).add_blockref(other, (1, 0))
        space.add_blockref("A", (0, 0))

    with pytest.raises(MapFileError, match=r"block 'A' contains itself \(INSERT, handle \w+ of block 'B', layer '0'\)"):
        World.from_file(drawn(tmp_path, cycle))

    def bomb(space, document):
        document.blocks.new("B0").add_line((0, 0), (1, 0))
        for level in range(1, 30):
            block = document.blocks.new(f"B{level}")
            for _ in range(10):
                block.add_blockref(f"B{level - 1}", (0, 0))
        space.add_blockref("B29", (0, 0))

    def rows(space, document):
        document.blocks.new("EMPTY")
        space.add_blockref(
            "EMPTY", (0, 0), {"row_count": 30_000, "column_count": 30_000, "row_spacing": 1, "column_spacing": 1}
        )

    def deep(space, document):
        document.blocks.new("B0").add_line((0, 0), (1, 0))
        for level in range(1, 1000):
            document.blocks.new(f"B{level}").add_blockref(f"B{level - 1}", (0, 0))
        space.add_blockref("B999", (0, 0))

    with pytest.raises(MapFileError, match=r"blocks are nested more than 100 deep .*explode some of them"):
        World.from_file(drawn(tmp_path, deep))
    monkeypatch.setattr(drawings, "MAX_ENTITIES", 5_000)  # of 10**29, and of 900 million
    for draw in (bomb, rows):
        with pytest.raises(MapFileError, match="more than 5,000 entities, with those of its blocks for each insert"):
            World.from_file(drawn(tmp_path, draw))


def test_files_that_are_no_drawing_say_what_they_are(tmp_path, monkeypatch):
    path = drawn(tmp_path, house)
    good = path.read_bytes()

    def refused(data, why):
        path.write_bytes(data)
        with pytest.raises(MapFileError, match=why):
            World.from_file(path)

    refused(b"", "is empty")
    refused(b"AC1027\0\0\0" + bytes(300), "a DWG file; save the drawing as DXF")
    refused(b"hello", "no DXF file")
    refused(good[: len(good) // 2], "cut off")
    refused(good[: len(good) // 2] + b"\n  0\nEOF\n", "a damaged DXF")
    refused(b"AutoCAD Binary DXF\r\n\x1a\0" + bytes(100), "a damaged DXF")
    empty = drawn(tmp_path, lambda space, document: space.add_text("nothing"))
    refused(empty.read_bytes(), r"has no lines to read; it has no layer with lines, only 1 TEXT")

    def on_paper(space, document):
        document.layout("Layout1").add_line((0, 0), (1, 1))

    refused(drawn(tmp_path, on_paper).read_bytes(), "the model space has no lines; only the sheets do: Layout1")
    monkeypatch.setattr(drawings, "MAX_BYTES", 1000)
    monkeypatch.setattr("covey.world.io.drawings.dxf.MAX_BYTES", 1000)
    refused(good, "at most 1000 are allowed")
    with pytest.raises(MapFileError, match="there is no such file"):
        World.from_file(tmp_path / "other.dxf")


def test_too_many_lines_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(drawings, "MAX_ENTITIES", 100)
    path = drawn(tmp_path, lambda space, document: [space.add_line((i, 0), (i, 1)) for i in range(101)])
    with pytest.raises(MapFileError, match="more than 100 entities"):
        World.from_file(path)
    monkeypatch.undo()
    monkeypatch.setattr(floor_plans, "MAX_PIECES", 50)
    with pytest.raises(MapFileError, match="more than 50 straight pieces"):
        World.from_file(path)


def test_a_thin_wall_has_no_gaps():
    for angle in np.linspace(0, math.pi, 17):
        line = np.array([(0, 0), (3 * math.cos(angle), 3 * math.sin(angle))])
        grid = floor_plans._drawn([line], [0.01], 0.05)
        from scipy import ndimage

        assert ndimage.label(grid.cells)[1] == 1, "connected over edges"
        points = line[0] + np.linspace(0, 1, 999)[:, None] * line[1]
        away = shapely.distance(shapely.points(grid.to_world(np.argwhere(grid.cells))), shapely.LineString(line))
        assert away.max() <= 0.05 * math.sqrt(0.5) + 1e-6
        missed = ~grid.cells[tuple(grid.to_cells(points).T)]
        assert missed.mean() < 0.5


def test_a_plan_of_600_entities_takes_less_than_two_seconds_of_processor_time(tmp_path):
    def draw(space, document):
        house(space, document, 4)
        for i in range(300):
            x, y = i % 20 * 2, i // 20 * 2
            space.add_line((x, y), (x + 1, y))
            space.add_arc((x, y), 0.8, 0, 90)

    path = drawn(tmp_path, draw)
    read_floor_plan(path)  # libraries are loaded
    start = time.process_time()
    read_floor_plan(path)
    assert time.process_time() - start < 2


@pytest.mark.parametrize("binary", [False, True])
def test_who_watches_sees_each_stage_and_the_world_is_that_of_the_plain_way(tmp_path, monkeypatch, binary):
    def draw(space, document):
        house(space, document, 4)
        document.layers.add("Tür")
        for i in range(300):
            space.add_arc((i % 20 * 2, i // 20 * 2), 0.8, 0, 90, dxfattribs={"layer": "Tür"})

    seen, path = [], drawn(tmp_path, draw, binary=binary)
    plan = read_floor_plan(path, observe=lambda *stage: seen.append(stage))
    assert list(dict.fromkeys(what for what, _, _ in seen)) == [
        *([] if binary else ["reading the file, kB", "making its entities"]),
        "measuring the lines",
        "drawing the walls",
        "finding the outside and narrow spaces",
    ]
    size = path.stat().st_size
    read = [(done, total) for what, done, total in seen if what.startswith("reading")]
    assert read == sorted(read)
    assert not read or (0 < read[0][0] < 20 and {total for _, total in read} == {size // 1000})
    assert len(read) <= size / 8000
    assert [stage[1:] for stage in seen if stage[0] == "measuring the lines"] == [(i, 301) for i in range(301)]
    monkeypatch.setattr(dxf, "_document", lambda path, *_: ezdxf.readfile(path))
    plainly = read_floor_plan(path)
    assert np.array_equal(plan.world.grid.cells, plainly.world.grid.cells)
    assert layers_of(plan.drawing) == layers_of(plainly.drawing)
    assert plan.world.grid.origin == plainly.world.grid.origin


@pytest.mark.parametrize("count", [20, 200])
def test_each_line_is_measured_once_and_drawn_in_its_own_rows(tmp_path, monkeypatch, count):
    def draw(space, document):
        house(space, document)
        for i in range(count):
            space.add_line((1, 1 + i % 60 / 10), (9, 1.5 + i % 60 / 10))

    measured, rows = [], []
    points, between = drawings.Stroke.points, floor_plans._between
    monkeypatch.setattr(drawings.Stroke, "points", lambda *of: measured.append(1) or points(*of))
    monkeypatch.setattr(floor_plans, "_between", lambda *of: rows.append(len(of[0])) or between(*of))
    read_floor_plan(drawn(tmp_path, draw))
    assert len(measured) == count + 1
    assert sum(rows) <= 2 * (count * (0.7 / 0.05 + 2) + 2 * (8.2 / 0.05 + 2) + 2 * 4)  # twice: along it and across it


def test_a_scenario_names_a_plan_with_its_options(tmp_path):
    drawn(tmp_path, house, units=0)
    text = (
        "world: {file: plan.dxf, units: m, layers: [A-WALL], resolution_m: 0.1, material: brick}\n"
        "robots: [{robot: disc, start: [[5, 4, 0]]}]"
    )
    ready = parse_scenario(text, folder=tmp_path).build()
    assert ready.world.free_area_m2 == pytest.approx(9.9 * 7.9, abs=0.1 * 40)
    assert ready.world.materials is not None
    with pytest.raises(CoveyError, match="wall_below"):
        parse_scenario(text.replace("units: m", "wall_below: 3"), folder=tmp_path)
    with pytest.raises(CoveyError, match="does not say in which unit"):
        parse_scenario(text.replace("units: m, ", ""), folder=tmp_path).build()
