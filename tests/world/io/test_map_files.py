import dataclasses
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
import yaml
from PIL import Image

from covey.errors import InvalidValueError, MapFileError
from covey.geometry.grid import Grid
from covey.world.io.map_files import read_map
from covey.world.world import FREE, OPEN, UNKNOWN, WALL, World

HEADER = {"image": "map.pgm", "resolution": 0.05, "origin": [0.0, 0.0, 0.0], "negate": 0, "occupied_thresh": 0.65,
          "free_thresh": 0.25}  # fmt: skip


def pgm(values, white=255):
    values = np.asarray(values)
    kind = "u1" if white < 256 else ">u2"
    return (
        f"P5\n# made by hand\n{values.shape[1]} {values.shape[0]}\n{white}\n".encode() + values.astype(kind).tobytes()
    )


def ros_map(folder: Path, pixels: bytes, **header) -> Path:
    (folder / "map.pgm").write_bytes(pixels)
    (folder / "map.yaml").write_text(yaml.safe_dump({**HEADER, **header}))
    return folder / "map.yaml"


def cells(path, **options):
    return read_map(path, border="open", **options).grid.cells.tolist()


def test_the_top_row_of_the_image_is_the_north(tmp_path):
    world = read_map(ros_map(tmp_path, pgm([[0, 0, 0], [0, 254, 0], [0, 205, 0], [0, 0, 0]])))
    assert world.grid.cells.tolist() == [[1, 1, 1], [1, UNKNOWN, 1], [1, FREE, 1], [1, 1, 1]]
    assert world.grid.to_world((2, 1)) == pytest.approx((0.075, 0.125))
    assert world.name == "map"


@pytest.mark.parametrize(
    ("header", "options", "expected"),
    [
        # occupancy = (255 - gray) / 255: 0 -> 1, 89 -> 0.651, 90 -> 0.647, 191 -> 0.251, 192 -> 0.247, 205 -> 0.196
        ({}, {}, [WALL, WALL, UNKNOWN, UNKNOWN, FREE, UNKNOWN, FREE]),
        ({}, {"bare_thresholds": True}, [WALL, WALL, UNKNOWN, UNKNOWN, FREE, FREE, FREE]),
        ({"free_thresh": 0.196}, {"bare_thresholds": True}, [WALL, WALL] + 4 * [UNKNOWN] + [FREE]),
        ({"negate": 1}, {}, [FREE, UNKNOWN, UNKNOWN, WALL, WALL, WALL, WALL]),
        ({"occupied_thresh": 0.9, "free_thresh": 0.1}, {}, [WALL] + 5 * [UNKNOWN] + [FREE]),
        ({"resolution": "5e-2", "mode": "trinary"}, {}, [WALL, WALL, UNKNOWN, UNKNOWN, FREE, UNKNOWN, FREE]),
    ],
)
def test_thresholds(tmp_path, header, options, expected):
    path = ros_map(tmp_path, pgm([[0, 89, 90, 191, 192, 205, 254]]), **header)
    assert cells(path, **options) == [expected]


def test_an_image_that_ends_in_free_cells_gets_a_wall_around_it(tmp_path):
    path = ros_map(tmp_path, pgm([[254, 254], [254, 0]]), origin=[1.0, 2.0, np.pi / 2])
    world = read_map(path)
    assert world.grid.shape == (4, 4)
    assert world.free.sum() == 3
    assert (world.grid.cells[[0, -1]] == WALL).all()
    # The free cell of the south-west, half a cell along both axes of a map that is turned by 90 degrees.
    assert world.grid.to_world((2, 1)) == pytest.approx((1.0 - 0.075, 2.0 + 0.025))


@pytest.mark.parametrize(
    "data",
    [
        b"P2 # comment\n# another\n3 1 # size\n255\n0 # wall\n125 255\n",
        b"P2\n3\n1\n65535\n0\n32000\n65535",
        pgm([[0, 125, 255]]),
        pgm([[0, 32000, 65535]], 65535),
        pgm([[0, 8, 15]], 15),
    ],
)
def test_bare_pgm(tmp_path, data):
    path = tmp_path / "plan.pgm"
    path.write_bytes(data)
    assert cells(path, resolution_m=0.5) == [[WALL, FREE, FREE]]
    assert cells(path, resolution_m=0.5, wall_below=150) == [[WALL, WALL, FREE]]
    world = read_map(path, resolution_m=0.5, border="open")
    assert world.grid.extent == pytest.approx((-0.75, 0.75, -0.25, 0.25))


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA", "I;16"])
def test_bare_png(tmp_path, mode):
    gray = Image.fromarray(np.array([[0, 130, 255]], np.uint8))
    if mode == "I;16":
        image = Image.fromarray(np.array([[0, 130 * 257, 65535]], np.uint16))
    elif mode == "1":
        image = Image.fromarray(np.array([[0, 255, 255]], np.uint8)).convert("1")
    else:
        image = gray.convert(mode)
    if mode in ("LA", "RGBA"):
        image.putalpha(Image.fromarray(np.array([[255, 255, 0]], np.uint8)))
    image.save(tmp_path / "plan.png")
    assert cells(tmp_path / "plan.png", resolution_m=0.1) == [[WALL, FREE, FREE]]


def test_a_colour_counts_with_the_mean_of_its_bands(tmp_path):
    Image.fromarray(np.array([[[255, 0, 0], [255, 255, 0]]], np.uint8)).save(tmp_path / "map.png")
    (tmp_path / "map.yaml").write_text(yaml.safe_dump({**HEADER, "image": "map.png"}))
    # Occupancy 0.667 and 0.333.
    assert cells(tmp_path / "map.yaml") == [[WALL, UNKNOWN]]


def same(a: World, b: World) -> bool:
    layers = [(a.grid.cells, b.grid.cells), (a.materials, b.materials)]
    return all(np.array_equal(x, y) for x, y in layers) and (
        (a.grid.origin, a.grid.resolution, a.name, a.border, a.wall_height_m, a.material_names, a.doors, a.halls)
        == (b.grid.origin, b.grid.resolution, b.name, b.border, b.wall_height_m, b.material_names, b.doors, b.halls)
    )


def test_a_saved_world_comes_back_exactly(tmp_path):
    random = np.random.default_rng(0)
    for border in ("wall", "open"):
        values = random.integers(0, 4 if border == "open" else 3, (7, 9)).astype(np.uint8)
        values[[0, -1]] = values[:, [0, -1]] = WALL
        world = World(Grid(values, 0.1 / 3, (-1 / 3, 1e-7, 2 / 3)), "my: world ü", border, 2.5)
        world.save(tmp_path / "a.yaml")
        assert same(read_map(tmp_path / "a.yaml"), world)
        materials = random.integers(0, 3, (7, 9)).astype(np.uint8)
        world = world.replace(materials=materials, material_names=("concrete", "wood", "brick"))
        world.save(tmp_path / "sub" / "b.yaml")
        assert same(read_map(tmp_path / "sub" / "b.yaml"), world)
    assert sorted(p.name for p in (tmp_path / "sub").iterdir()) == [
        "b.cells.pgm", "b.materials.pgm", "b.pgm", "b.yaml"]  # fmt: skip


def test_only_what_is_needed_is_written_in_the_values_of_map_saver(tmp_path):
    values = np.array([[WALL, FREE], [UNKNOWN, WALL]], np.uint8)
    World(Grid(values, 0.1)).save(tmp_path / "w.yaml")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["w.pgm", "w.yaml"]
    assert np.asarray(Image.open(tmp_path / "w.pgm")).tolist() == [[205, 0], [0, 254]]
    # Readers that know only the thresholds see the same three kinds.
    assert cells(tmp_path / "w.yaml", bare_thresholds=True) == values.tolist()


def test_terrains_come_back_exactly(tmp_path):
    world = World.terrain("maze", resolution_m=0.2)
    world.save(tmp_path / "maze.yaml")
    assert same(read_map(tmp_path / "maze.yaml"), world)


@pytest.mark.parametrize("world", [
    World.cave(size_m=(30, 30), material="random", seed=1),
    World.building(size_m=(30, 25), tile_m=1 / 3, resolution_m=1 / 3, material="random", seed=1),
    World.rooms(size_m=(12, 12), material="drywall"),
    World.rubble(size_m=(10, 10), material="random"),
    World.polygons([(0, 0), (4, 0), (0, 3)], material="brick", resolution_m=0.1),
], ids=lambda world: world.name)  # fmt: skip
def test_generated_worlds_come_back_exactly_with_materials_doors_and_halls(tmp_path, world):
    if world.doors:
        shut = dataclasses.replace(world.doors[0], open=False)
        world = world.replace(doors=(shut, *world.doors[1:]))
    world.save(tmp_path / "w.yaml")
    assert same(read_map(tmp_path / "w.yaml"), world)
    assert (tmp_path / "w.materials.pgm").exists()


DOOR = {"name": "d0", "x0_m": 0, "y0_m": 0, "x1_m": 1, "y1_m": 1}


@pytest.mark.parametrize(
    ("part", "message"),
    [
        ({"materials": "m.pgm"}, "material_names is .*a list of 1 to 256 texts"),
        ({"material_names": ["brick"]}, "materials is None; it must be the path of an image"),
        ({"materials": "m.pgm", "material_names": ["brick", 3]}, "material_names"),
        ({"materials": "m.pgm", "material_names": ["brick"]}, r"m.pgm: is 1 x 1 pixels with values up to 1; .*up to 0"),
        ({"materials": "n.pgm", "material_names": ["a", "b"]}, "n.pgm: is 2 x 1 pixels.*the map is 1 x 1"),
        ({"materials": "none.pgm", "material_names": ["a", "b"]}, "none.pgm: there is no such file"),
        ({"materials": "cut.pgm", "material_names": ["a", "b"]}, "cut.pgm.*truncated"),
        ({"doors": {"d0": DOOR}}, r"covey.doors is .*a list"),
        ({"doors": [DOOR, 3]}, r"covey.doors\[1\] is 3; it must be \{name, x0_m"),
        ({"doors": [DOOR | {"x1_m": 0}]}, r"covey.doors\[0\].*x0 < x1"),
        ({"doors": [DOOR | {"x1_m": float("inf")}]}, r"covey.doors\[0\]"),
        ({"doors": [DOOR | {"open": "yes"}]}, r"covey.doors\[0\]"),
        ({"doors": [DOOR | {"shut": True}]}, r"covey.doors\[0\]"),
        ({"doors": [DOOR, DOOR]}, "'d0' first; each needs its own"),
        ({"halls": [[0, 0, 1]]}, r"covey.halls\[0\] is \[0, 0, 1\]; it must be \[x0, y0, x1, y1\] in metres"),
        ({"halls": [[0, 0, 0, 1]]}, r"covey.halls\[0\]"),
        ({"halls": [[0, 0, float("inf"), 1]]}, r"covey.halls\[0\]"),
    ],
)  # fmt: skip
def test_bad_side_files_doors_and_halls_are_refused(tmp_path, part, message):
    (tmp_path / "m.pgm").write_bytes(pgm([[1]]))
    (tmp_path / "n.pgm").write_bytes(pgm([[0, 1]]))
    (tmp_path / "cut.pgm").write_bytes(pgm([[1]])[:-1])
    path = ros_map(tmp_path, pgm([[0]]), covey={"format": 1, **part})
    with pytest.raises(MapFileError, match=message) as caught:
        read_map(path)
    assert str(tmp_path) in str(caught.value)


def test_a_world_is_not_saved_under_another_suffix(tmp_path):
    with pytest.raises(InvalidValueError, match="yaml"):
        World.empty(1, 1).save(tmp_path / "w.png")


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png_of(width, height, data=b""):
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(data)) + chunk(b"IEND", b"")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "begins with"),
        (b"P6 1 1 255 abc", "PGM"),
        (b"P5", "truncated"),
        (b"P5 3 3 255\n12345678", "truncated: 8 bytes"),
        (b"P2 2 2 255 0 0 0", "truncated: 3 pixels"),
        (b"P2 2 1 255 0 300", "at most 255|outside 0 to 255"),
        (b"P2 2 1 255 0 -3", "outside 0 to 255"),
        (b"P2 2 1 255 0 x", "whole number"),
        (b"P5 0 3 255\n", "0 x 3"),
        (b"P5 40000 25000 255\n", "at most 80000000"),
        (b"P5 99999999999999 1 255\n", "header"),
        (b"P5 1 1 70000\nab", "65535"),
        (b"P5 1 1 0\na", "1 to 65535"),
        (b"P5 1 1 15\n\xff", "at most 15"),
        (b"P5 -1 1 255\na", "header"),
        (png_of(31_000, 33_000), "80000000|bomb"),
        (png_of(10_000, 9_000), "80000000|bomb"),
        (png_of(100, 100), "damaged PNG"),
        (png_of(10, 10, b"\0" * 110)[:45], "damaged PNG"),
    ],
)
def test_absurd_images_are_refused(tmp_path, data, message):
    path = tmp_path / "plan.pgm"
    path.write_bytes(data)
    with pytest.raises(MapFileError, match=message) as caught:
        read_map(path, resolution_m=0.1)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ({"resolution": float("nan")}, "resolution"),
        ({"resolution": 0}, "resolution"),
        ({"resolution": True}, "resolution"),
        ({"resolution": None}, "resolution"),
        ({"origin": [0, 0]}, "x, y, yaw"),
        ({"origin": [0, float("inf"), 0]}, "origin"),
        ({"negate": 2}, "0 or 1"),
        ({"mode": "scale"}, "trinary"),
        ({"mode": "raw"}, "trinary"),
        ({"free_thresh": 0.9}, "free_thresh"),
        ({"image": "other.pgm"}, "no such file"),
        ({"image": "."}, "no such file"),
        ({"image": "a\0b"}, "cannot be read|no such file"),
        ({"image": 3}, "path of an image"),
        ({"covey": {"format": 2}}, "format: 1"),
        ({"covey": {"format": 1, "border": "fence"}}, "wall or open"),
        ({"covey": {"format": 1, "cells": "map.pgm"}}, "values up to"),
    ],
)
def test_absurd_map_headers_are_refused(tmp_path, header, message):
    path = ros_map(tmp_path, pgm([[254]]), **header)
    with pytest.raises(MapFileError, match=message):
        read_map(path)


@pytest.mark.parametrize("text", ["", "[1, 2]", "image: [", "a: &a [*a]\nimage: *a", "image: map.pgm\nresolution: 1"])
def test_what_is_no_map_header_is_refused(tmp_path, text):
    (tmp_path / "map.yaml").write_text(text)
    with pytest.raises(MapFileError):
        read_map(tmp_path / "map.yaml")


def test_a_bare_image_needs_a_resolution_and_a_map_has_its_own(tmp_path):
    path = ros_map(tmp_path, pgm([[254]]))
    with pytest.raises(MapFileError, match=r"needs resolution_m.*-s resolution_m=0.1"):
        read_map(tmp_path / "map.pgm")
    with pytest.raises(MapFileError, match="states its own"):
        read_map(path, resolution_m=0.1)
    with pytest.raises(MapFileError, match="no such file"):
        read_map(tmp_path / "nowhere.yaml")


def test_open_cells_survive_in_a_side_file(tmp_path):
    world = World.empty(1, 1, 0.25, border="open")
    world.save(tmp_path / "o.yaml")
    again = read_map(tmp_path / "o.yaml")
    assert same(again, world)
    assert (again.grid.cells == OPEN).sum() == 20


DEPOT = next((p / "shared/data/maps/depot.yaml" for p in Path(__file__).resolve().parents
              if (p / "shared/data/maps").is_dir()), None)  # fmt: skip


@pytest.mark.skipif(DEPOT is None, reason="the map of the depot is not here")
def test_the_depot_as_it_is(tmp_path):
    assert DEPOT is not None
    world = read_map(DEPOT)
    # Counted in the image: 170587 pixels of 254.
    assert world.free_area_m2 == pytest.approx(170587 * 0.05**2)
    world.save(tmp_path / "depot.yaml")
    assert same(read_map(tmp_path / "depot.yaml"), world)
