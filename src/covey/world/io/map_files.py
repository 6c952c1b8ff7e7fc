"""Read worlds from files: ROS map_server YAML with its image, or a bare PGM or PNG."""

import math
import reprlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from covey.errors import InvalidValueError, MapFileError
from covey.geometry.grid import Grid
from covey.plain_files import beside
from covey.world.doors import Door
from covey.world.io.image_remarks import of_bare_image, of_map
from covey.world.io.images import GrayImage, is_file, read_bytes, read_image
from covey.world.world import FREE, OPEN, UNKNOWN, WALL, Border, World, closed

UNKNOWN_GRAY = 205
"""The gray value that map_saver writes for unknown cells."""

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_CORNERS = ("x0_m", "y0_m", "x1_m", "y1_m")


def read_map(
    path: Path,
    *,
    resolution_m: float | None = None,
    wall_below: float | None = None,
    bare_thresholds: bool = False,
    border: Border | None = None,
    wall_height_m: float | None = None,
) -> World:
    """Read a world from a ROS map (``.yaml``, ``.yml``) or from a bare image (PGM, PNG).

    The top row of the image is the north. If the border is ``wall`` and the edge of the image has a gap, a ring of wall
    cells is added around it. Where pixels are transparent, the alpha of a ROS map is averaged with the colours, as
    map_server does it; a bare image lies on white paper.

    Args:
        path: the file.
        resolution_m: side of a pixel [m]; only for a bare image, which is centred on the origin.
        wall_below: for a bare image: pixels darker than this (0 to 255) are walls; by default only black ones.
        bare_thresholds: for a ROS map: classify the gray value 205 by the thresholds alone, not as unknown.
        border: ``wall`` or ``open``; default: that of the file, else ``wall``.
        wall_height_m: height of the walls [m]; default: that of the file, else 2.

    Raises:
        MapFileError: names the file, what was found, and what is allowed.

    References:
        The format: https://wiki.ros.org/map_server
    """
    path = Path(path)
    is_map = path.suffix.lower() in (".yaml", ".yml")
    if is_map and (resolution_m is not None or wall_below is not None):
        raise MapFileError(f"{path}: resolution_m and wall_below are for a bare image; this file states its own")
    world = _read_ros_map(path, bare_thresholds) if is_map else _read_bare_image(path, resolution_m, wall_below)
    changes: dict[str, Any] = {"border": border or world.border}
    if wall_height_m is not None:
        changes["wall_height_m"] = wall_height_m
    if changes["border"] == "wall":
        changes["grid"] = grid = closed(world.grid)
        if world.materials is not None and grid is not world.grid:
            changes["materials"] = np.pad(world.materials, 1)
    return world.replace(**changes)


def files_of(path: Path) -> list[Path]:
    """Return a map file and the existing images that it names."""
    found = [path]
    if path.suffix.lower() in (".yaml", ".yml") and path.is_file():
        header = _load_yaml(path)
        part = header.get("covey")
        names = [header.get("image"), *((part.get("cells"), part.get("materials")) if isinstance(part, dict) else ())]
        images = [beside(path.parent, name) for name in names if isinstance(name, str)]
        found += [image for image in images if is_file(image)]
    return found


def _read_bare_image(path: Path, resolution_m: float | None, wall_below: float | None) -> World:
    if resolution_m is None:
        raise MapFileError(
            f"{path}: a bare image needs resolution_m, the side of a pixel in metres: for covey map "
            "-s resolution_m=0.1, in a scenario resolution_m: 0.1 beside file"
        )
    resolution = _resolution(path, resolution_m)
    image = read_image(path).on_white()
    gray = np.arange(image.white + 1) * (255.0 / image.white)
    is_wall = gray == 0 if wall_below is None else gray < wall_below
    cells = _classify(image, np.where(is_wall, WALL, FREE))
    rows, columns = cells.shape
    origin = (-columns * resolution / 2, -rows * resolution / 2, 0.0)
    return World(Grid(cells, resolution, origin), path.stem, remark=of_bare_image(image, wall_below))


def _read_ros_map(path: Path, bare_thresholds: bool) -> World:
    header = _load_yaml(path)
    for key in ("image", "resolution", "origin"):
        if key not in header:
            raise MapFileError(f"{path}: has no {key!r}; a map needs image, resolution and origin")
    mode = header.get("mode", "trinary")
    if mode != "trinary":
        raise MapFileError(f"{path}: mode is {reprlib.repr(mode)}; only trinary is supported, save the map as trinary")
    resolution = _resolution(path, header["resolution"])
    origin = header["origin"]
    if not isinstance(origin, list) or len(origin) != 3:
        raise MapFileError(f"{path}: origin is {reprlib.repr(origin)}; it must be [x, y, yaw] in metres and radians")
    x, y, yaw = (_number(path, "origin", value, -1e7, 1e7) for value in origin)
    negate = header.get("negate", 0)
    if not isinstance(negate, int) or negate not in (0, 1):
        raise MapFileError(f"{path}: negate is {reprlib.repr(negate)}; it must be 0 or 1")
    occupied = _number(path, "occupied_thresh", header.get("occupied_thresh", 0.65), 0, 1)
    free = _number(path, "free_thresh", header.get("free_thresh", 0.196), 0, 1)
    if free > occupied:
        raise MapFileError(f"{path}: free_thresh {free} is above occupied_thresh {occupied}; it must not be")
    given = read_image(_beside(path, "image", header["image"]))
    image = given.averaged()
    level = np.arange(image.white + 1)
    occupancy = level / image.white if negate else (image.white - level) / image.white
    kinds = np.full(level.shape, UNKNOWN)
    kinds[occupancy > occupied] = WALL
    kinds[occupancy < free] = FREE
    if not bare_thresholds and not negate:
        kinds[np.round(level * (255.0 / image.white)) == UNKNOWN_GRAY] = UNKNOWN
    remark = of_map(given, image, kinds, occupancy, free, occupied)
    world = World(Grid(_classify(image, kinds), resolution, (x, y, yaw)), path.stem, remark=remark)
    return _with_covey_part(path, world, header["covey"]) if "covey" in header else world


def _with_covey_part(path: Path, world: World, part: Any) -> World:
    """Add the data that `World.save` writes in addition to a ROS map."""
    if not isinstance(part, dict) or part.get("format") != 1:
        raise MapFileError(f"{path}: covey is {reprlib.repr(part)}; this version reads format: 1")
    grid, shape = world.grid, world.grid.shape
    border, name = part.get("border", "wall"), part.get("name", world.name)
    if border not in ("wall", "open") or not isinstance(name, str):
        raise MapFileError(f"{path}: covey.border is {reprlib.repr(border)} and covey.name {reprlib.repr(name)}; the "
                           "border must be wall or open, the name a text")  # fmt: skip
    if "cells" in part:
        grid = grid.with_cells(_layer(path, "covey.cells", part["cells"], shape, OPEN))
    height = _number(path, "covey.wall_height_m", part.get("wall_height_m", world.wall_height_m), 0, 1e4)
    doors = _rectangles(path, "doors", part.get("doors", []), _door)
    halls = _rectangles(path, "halls", part.get("halls", []), _hall)
    try:
        materials = _materials(path, part, shape)
        return World(grid, name, border, height, *materials, doors=doors, halls=halls, remark=world.remark)
    except InvalidValueError as error:
        raise MapFileError(f"{path}: {error}") from error


def _materials(path: Path, part: dict[str, Any], shape: tuple[int, int]) -> tuple[np.ndarray | None, tuple[str, ...]]:
    if "materials" not in part and "material_names" not in part:
        return None, ()
    names = part.get("material_names", [])
    if not isinstance(names, list) or not all(isinstance(n, str) for n in names) or not 0 < len(names) <= 256:
        raise MapFileError(
            f"{path}: covey.material_names is {reprlib.repr(names)}; it must be a list of 1 to 256 texts, the first of "
            "which is meant by pixels of value 0 in covey.materials"
        )
    return _layer(path, "covey.materials", part.get("materials"), shape, len(names) - 1), tuple(names)


def _rectangles(path: Path, key: str, values: Any, read: Callable[[Any], Any]) -> tuple[Any, ...]:
    if not isinstance(values, list):
        raise MapFileError(f"{path}: covey.{key} is {reprlib.repr(values)}; it must be a list")
    found = []
    for i, value in enumerate(values):
        try:
            found.append(read(value))
        except (TypeError, ValueError, KeyError, OverflowError, InvalidValueError) as error:
            what = "{name, x0_m, y0_m, x1_m, y1_m, open}" if read is _door else "[x0, y0, x1, y1] in metres"
            raise MapFileError(
                f"{path}: covey.{key}[{i}] is {reprlib.repr(value)}; it must be {what}, x0 < x1 and y0 < y1"
            ) from error
    return tuple(found)


def _door(value: Any) -> Door:
    name, is_open = value["name"], value.get("open", True)
    if set(value) - {"open"} != {"name", *_CORNERS} or not isinstance(name, str) or not isinstance(is_open, bool):
        raise ValueError
    x0, y0, x1, y1 = (float(value[key]) for key in _CORNERS)
    return Door(name, x0, y0, x1, y1, is_open)


def _hall(value: Any) -> tuple[float, float, float, float]:
    x0, y0, x1, y1 = map(float, value)
    if not (-math.inf < x0 < x1 < math.inf and -math.inf < y0 < y1 < math.inf):
        raise ValueError
    return x0, y0, x1, y1


def _layer(path: Path, key: str, name: Any, shape: tuple[int, int], largest: int) -> np.ndarray:
    file = _beside(path, key, name)
    values = read_image(file).values
    if values.shape != shape or values.max() > largest:
        raise MapFileError(
            f"{file}: is {values.shape[1]} x {values.shape[0]} pixels with values up to {values.max()}; the map is "
            f"{shape[1]} x {shape[0]} and knows values up to {largest}"
        )
    return np.ascontiguousarray(values[::-1].astype(np.uint8))


def _classify(image: GrayImage, kinds: np.ndarray) -> np.ndarray:
    """Return the cells of an image, row 0 in the south, from the kind of each gray value."""
    cells = kinds.astype(np.uint8)[image.values]
    return np.ascontiguousarray(cells[::-1])


def _load_yaml(path: Path) -> dict[str, Any]:
    text = read_bytes(path, limit=1_000_000)
    try:
        header = yaml.load(text, Loader=_Loader)
    except (yaml.YAMLError, ValueError, TypeError, AttributeError, KeyError, IndexError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark else ""
        what = getattr(error, "problem", None) or str(error)[:300]
        tab = "; indent with spaces, not with tabs" if "'\\t'" in what else ""
        escape = "; write a path with / or in single quotes" if "escape" in what else ""
        raise MapFileError(f"{path}{line}: not valid YAML: {what}{tab or escape}") from error
    if not isinstance(header, dict):
        raise MapFileError(f"{path}: holds {reprlib.repr(header)}; a map is a table with image, resolution and origin")
    return header


def _beside(path: Path, key: str, name: Any) -> Path:
    if not isinstance(name, str) or not name:
        raise MapFileError(f"{path}: {key} is {reprlib.repr(name)}; it must be the path of an image")
    return beside(path.parent, name)


def _resolution(path: Path, value: Any) -> float:
    return _number(path, "resolution", value, 1e-4, 1e3)


def _number(path: Path, key: str, value: Any, low: float, high: float) -> float:
    """Return a number within limits; a text such as ``5e-2``, not a number in YAML 1.1, is allowed."""
    try:
        number = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not low <= number <= high:
        raise MapFileError(f"{path}: {key} is {reprlib.repr(value)}; it must be a number from {low:g} to {high:g}")
    return number
