"""`covey map`: what a map file or floor plan holds."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from covey.cli.bar import StageBar
from covey.errors import InvalidValueError, near_file, printable
from covey.world.io.floor_plans import FloorPlan, layers_of, read_floor_plan
from covey.world.materials import made_of
from covey.world.records.floor_plans import FloorPlanWorld
from covey.world.records.walls import FileWorld
from covey.world.rooms import Room, rooms
from covey.world.world import World

_SHOWN = 12  # rooms
_PICTURES = {".png": "png", ".svg": "svg", ".pdf": "pdf"}


def map_command(path: Path, changes: Mapping[str, Any], out: Path | None, save: Path | None, door_m: float) -> None:
    """Print what a map holds, and draw it; the arguments are those of `covey map`."""
    out = Path(f"{path.stem}_map.png") if out is None else out
    if out.suffix.lower() not in _PICTURES:
        raise InvalidValueError(f"--out {out}: a picture ends in .png, .svg or .pdf; a map is written by --save")
    if save is not None and save.suffix.lower() not in (".yaml", ".yml"):
        raise InvalidValueError(f"--save {save}: a map ends in .yaml")
    if not 0 < door_m <= 100:
        raise InvalidValueError(f"--door is {door_m:g}; it must be above 0 and at most 100 m")
    if not path.is_file():
        raise InvalidValueError(f"there is no file {str(path)!r}{near_file(path)}")
    if path.suffix.lower() == ".py":
        raise InvalidValueError(f"{path} is Python and no map; covey play {path} plays a law")
    world, plan = _read(path, changes)
    if plan is not None:
        _print_plan(plan)
    found = rooms(world, door_m)
    _print_rooms(world, found, door_m)
    from covey.results.figures.plan import plan_picture  # loads matplotlib

    out.write_bytes(plan_picture(world, plan.lines if plan else {}, found).to_bytes(_PICTURES[out.suffix.lower()]))
    print(f"picture: {out}")
    if save is not None:
        world.save(save)
        print(f"map: {save}")


def _read(path: Path, changes: Mapping[str, Any]) -> tuple[World, FloorPlan | None]:
    kind = FloorPlanWorld if path.suffix.lower() in (".dxf", ".svg") else FileWorld
    record = kind(**{"file": str(path), **changes})
    if not isinstance(record, FloorPlanWorld):
        return record.build(Path(), 0), None
    with StageBar() as bar:
        plan = read_floor_plan(path, **record.options(), observe=bar.observe)
    return made_of(plan.world, record.material), plan


def _print_plan(plan: FloorPlan) -> None:
    known = f"a unit of the drawing is {plan.unit_m:g} m, {plan.said_by}"
    print(f"{printable(str(plan.drawing.path))}: {known}")
    table = Table("layer", "", "what", box=None, header_style="bold", pad_edge=False, padding=(0, 2))
    for layer, kinds in layers_of(plan.drawing).items():
        hidden = layer in plan.drawing.hidden
        used = "read" if layer in plan.lines else "hidden" if hidden else "left out"
        table.add_row(Text(printable(layer)), used, Text(printable(_counted(kinds))))
    Console(highlight=False).print(table)
    if plan.drawing.ignored:
        print(printable(f"ignored: {_counted(plan.drawing.ignored)}"))
    if not plan.surrounded:
        print("no outer wall closes the plan: what lies around it is part of the world; close_m closes wider openings")


def _print_rooms(world: World, found: tuple[Room, ...], door_m: float) -> None:
    wide, high = world.grid.size_m
    print(f"{wide:.4g} m x {high:.4g} m, cells of {world.grid.resolution:g} m, {world.free_area_m2:.1f} m² free")
    print(world.cells_in_words)
    closed, rooms = sum(room.closed for room in found), "room" if len(found) == 1 else "rooms"
    print(f"{len(found)} {rooms}, {closed} of them closed, if openings up to {door_m:g} m count as doors")
    table = Table("room", "area", "at", "", box=None, header_style="bold", pad_edge=False, padding=(0, 2))
    for number, room in enumerate(found[:_SHOWN], start=1):
        at = f"({room.x_m:.2f}, {room.y_m:.2f})"
        table.add_row(str(number), f"{room.area_m2:.1f} m²", at, "closed" if room.closed else "")
    if found:
        Console(highlight=False).print(table)
    if len(found) > _SHOWN:
        print(f"… and {len(found) - _SHOWN} smaller ones")


def _counted(kinds: Counter[str]) -> str:
    return ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())
