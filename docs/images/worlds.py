"""The pictures of generated worlds in docs/worlds.md. To renew them: python docs/images/worlds.py"""

from pathlib import Path

from matplotlib.patches import Rectangle

from covey.results.figures import ground, layout
from covey.results.figures.style import ROBOTS, Picture
from covey.world.world import World

WORLDS = {
    "cave": World.cave(size_m=(75, 75), seed=3),
    "building": World.building(size_m=(75, 75), seed=3),
    "rooms": World.rooms(seed=3),
    "rubble": World.rubble(density=0.2, seed=3),
}


def picture(world: World) -> Picture:
    """Return a picture of a world with its doors."""
    figure, axes = layout.map_picture(ground.bounds(world.grid))
    ground.show_cells(axes, world.grid, ground.truth_pixels(world.grid))
    for door in world.doors:
        corner, size = (door.x0_m, door.y0_m), (door.x1_m - door.x0_m, door.y1_m - door.y0_m)
        axes.add_patch(Rectangle(corner, *size, color=ROBOTS[1], lw=0))
    if world.doors:
        layout.legend(axes, [layout.patch(ROBOTS[1], "door")])
    layout.scale_bar(axes)
    return figure


if __name__ == "__main__":
    for name, world in WORLDS.items():
        (Path(__file__).parent / f"{name}.png").write_bytes(picture(world).to_bytes("png"))
