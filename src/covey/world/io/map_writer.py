"""Write worlds to files: ROS map_server YAML with a PGM, and side files for data that ROS does not support."""

import uuid
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from covey.errors import InvalidValueError
from covey.world.doors import Door
from covey.world.world import FREE, OPEN, UNKNOWN, WALL, World

_GRAY = np.zeros(4, np.uint8)
_GRAY[[FREE, WALL, UNKNOWN, OPEN]] = 254, 0, 205, 254


def save_map(world: World, path: Path) -> None:
    """Write ``path`` (YAML) and a PGM of the same stem beside it; `read_map` gives the same world back.

    Open cells and materials go into further PGM files, if there are any; doors and halls into the YAML. Each file is
    written atomically, the YAML last.
    """
    if path.suffix.lower() not in (".yaml", ".yml"):
        raise InvalidValueError(f"a world is saved as a .yaml file, not as {path.name!r}")
    cells = world.grid.cells
    part: dict[str, Any] = {
        "format": 1,
        "name": world.name,
        "border": world.border,
        "wall_height_m": float(world.wall_height_m),
    }
    write_atomically(path.with_suffix(".pgm"), _pgm(_GRAY[cells]))
    if np.any(cells == OPEN):
        part["cells"] = f"{path.stem}.cells.pgm"
        write_atomically(path.with_name(part["cells"]), _pgm(cells))
    if world.materials is not None:
        part["materials"] = f"{path.stem}.materials.pgm"
        part["material_names"] = list(world.material_names)
        write_atomically(path.with_name(part["materials"]), _pgm(world.materials))
    if world.doors:
        part["doors"] = [plain_door(door) for door in world.doors]
    if world.halls:
        part["halls"] = [[float(value) for value in hall] for hall in world.halls]
    header = {
        "image": f"{path.stem}.pgm",
        "mode": "trinary",
        "resolution": float(world.grid.resolution),
        "origin": [float(value) for value in world.grid.origin],
        "negate": 0,
        "occupied_thresh": 0.65,
        "free_thresh": 0.196,
        "covey": part,
    }
    write_atomically(path, yaml.safe_dump(header, sort_keys=False, allow_unicode=True).encode())


def plain_door(door: Door) -> dict[str, Any]:
    """Return a door as plain data for a file."""
    corners = {key: float(getattr(door, key)) for key in ("x0_m", "y0_m", "x1_m", "y1_m")}
    return {"name": door.name, **corners, "open": bool(door.open)}


def _pgm(values: np.ndarray) -> bytes:
    rows, columns = values.shape
    return f"P5\n{columns} {rows}\n255\n".encode() + np.ascontiguousarray(values[::-1]).tobytes()


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file atomically, and make its folder if needed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex}.part")
    try:
        with temporary.open("xb") as file:
            file.write(data)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
