"""The pictures of generated worlds in docs/worlds.md. To renew them: python docs/images/worlds.py"""

from collections.abc import Iterable
from pathlib import Path

from matplotlib.patches import Rectangle

from covey.results.figures import ground, layout
from covey.results.figures.style import ROBOTS, Picture
from covey.world.records.named import NamedWorld
from covey.world.world import World

WORLDS = {
    "cave": World.cave(size_m=(75, 75), seed=3),
    "building": World.building(size_m=(75, 75), seed=3),
    "rooms": World.rooms(seed=3),
    "rubble": World.rubble(density=0.2, seed=3),
}

KINDS = {"victim": ROBOTS[0], "small_fire": ROBOTS[4], "big_fire": ROBOTS[1]}
FIRST = NamedWorld.model_validate({"named": "rescue_1"})
GONE, NEW = (238, 150, 120), (60, 110, 200)


def picture(world: World, marks: Iterable[tuple[float, float, str]] = ()) -> Picture:
    """Return a picture of a world with its doors, and colours at some places."""
    figure, axes = layout.map_picture(ground.bounds(world.grid))
    ground.show_cells(axes, world.grid, ground.truth_pixels(world.grid))
    for door in world.doors:
        corner, size = (door.x0_m, door.y0_m), (door.x1_m - door.x0_m, door.y1_m - door.y0_m)
        axes.add_patch(Rectangle(corner, *size, color=ROBOTS[1], lw=0))
    if world.doors:
        layout.legend(axes, [layout.patch(ROBOTS[1], "door")])
    for x, y, colour in marks:
        axes.plot(x, y, "o", color=colour, ms=6)
    layout.scale_bar(axes)
    return figure


def rescue(name: str) -> Picture:
    """Return a picture of a named floor with its targets."""
    record = NamedWorld.model_validate({"named": name})
    return picture(record.build(Path(), 0), [(*target.at, KINDS[target.kind]) for target in record.targets])


def damage(world: World) -> Picture:
    """Return a picture of a damaged world: what has gone since its plan, and what has come."""
    assert world.plan is not None
    figure, axes = layout.map_picture(ground.bounds(world.grid))
    pixels = ground.truth_pixels(world.grid)
    before, now = world.plan.solid, world.solid
    pixels[before & ~now], pixels[now & ~before] = GONE, NEW
    ground.show_cells(axes, world.grid, pixels)
    layout.legend(axes, [layout.patch([c / 255 for c in GONE], "gone"), layout.patch([c / 255 for c in NEW], "new")])
    layout.scale_bar(axes)
    return figure


if __name__ == "__main__":
    pictures = {name: picture(world) for name, world in WORLDS.items()}
    pictures |= {name: rescue(name) for name in (f"rescue_{i}" for i in range(1, 6))}
    pictures["damage_rescue"] = damage(FIRST.build(Path(), 0).damaged(seed=3))
    much = {"walls_gone": 5, "blocked": 3, "rubble": 16, "furniture": 8}
    pictures["damage_office"] = damage(World.office(seed=3).damaged(seed=3, **much))
    pictures["damage_building"] = damage(World.building(seed=3).damaged(seed=3, **much, rubble_m=(0.8, 2.5)))
    for name, figure in pictures.items():
        (Path(__file__).parent / f"{name}.png").write_bytes(figure.to_bytes("png"))
