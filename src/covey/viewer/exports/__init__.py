"""A recorded run in one file: a page that plays offline, MCAP for Foxglove, .rrd for Rerun; its map; a log."""

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from covey.errors import CoveyError
from covey.results.folder import new_part, part, unwritable
from covey.results.run import Run
from covey.world.doors import Door
from covey.world.world import OPEN, WALL, World

Format = Literal["html", "mcap", "rrd", "map", "log", "ros2"]
ENDINGS: dict[str, str] = {"map": "yaml", "log": "npz", "ros2": "mcap"}
"""Endings of files that differ from the format."""


def export(
    run: Run, form: Format, path: Path, robot: str | None = None, writer: Callable[..., None] | None = None
) -> None:
    """Write a run into one file, whole or not at all.

    Args:
        run: the run.
        form: ``html``, ``mcap``, ``rrd``, ``map``: the world as it was at the end, see `world_of`, or
            ``log``: what one robot measured, for `covey slam`.
        path: the file; one that exists is replaced.
        robot: of a log, the name of the robot.
        writer: of ``ros2``, `covey.ros.bag_writing.write`, which this package does not know.

    Raises:
        RunFolderError: the file cannot be written.
        CoveyError: the library for this format is not installed, or the run has no map.
    """
    if form == "map":
        try:
            return world_of(run).save(path)
        except OSError as error:
            raise unwritable(repr(str(path)), error) from error
    write = writer or importlib.import_module(f"covey.viewer.exports.{form}").write
    try:
        write(run, new_part(path), *([robot] if form == "log" else []))
        part(path).replace(path)
    except OSError as error:
        raise unwritable(repr(str(path)), error) from error
    finally:
        part(path).unlink(missing_ok=True)


def world_of(run: Run) -> World:
    """Return the world of a run as it was at the end, without materials, which a run does not record.

    Raises:
        CoveyError: the run has no map.
    """
    if run.maps is None:
        raise CoveyError(f"the run in {str(run.folder)!r} has no map of its world")
    truth, place = run.maps.truth, run.manifest.get("world", {})
    doors = []
    for door in place.get("doors", []):
        middle = (door["x0_m"] + door["x1_m"]) / 2, (door["y0_m"] + door["y1_m"]) / 2
        doors.append(Door(**{**door, "open": bool(truth.cells[truth.cell_at(*middle)] != WALL)}))
    border = "open" if (truth.cells == OPEN).any() else "wall"
    height = float(place.get("wall_height_m", 2.0))
    return World(truth, place.get("name", "world"), border, height, doors=tuple(doors))


def library(name: str, extra: str) -> Any:
    """Return a library that only an extra of Covey installs.

    Raises:
        CoveyError: it is not installed.
    """
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise CoveyError(f"this format needs {name}; install it with: pip install 'covey[{extra}]'") from error
