"""Pictures of maps: the cells, the lines of a floor plan by layer, and the rooms."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.lines import Line2D

from covey.results.figures import ground, layout
from covey.results.figures.style import FAINT, INK, ROBOTS, SMALL, Picture
from covey.world.rooms import Room
from covey.world.world import World

_MOST_LAYERS, _MOST_NAMED = len(ROBOTS), 40
_LETTER = 0.6  # width of a letter, by the size of the font


def plan_picture(world: World, lines: Mapping[str, Sequence[np.ndarray]], rooms: Sequence[Room]) -> Picture:
    """Return a picture of a world: walls, the lines they come from, and the rooms with number and area, if it has room.

    Args:
        world: the world.
        lines: points [m] of the lines of each layer, arrays of shape (n, 2); empty if the map is no drawing.
        rooms: its rooms.
    """
    figure, axes = layout.map_picture(ground.bounds(world.grid), top_in=0.22 + 0.13 * ((min(len(lines), 8) + 3) // 4))
    ground.show_cells(axes, world.grid, ground.truth_pixels(world.grid))
    handles = []
    by_size = sorted(lines, key=lambda layer: -len(lines[layer]))
    for i, layer in enumerate(by_size):
        color = ROBOTS[i] if i < _MOST_LAYERS else FAINT
        axes.add_collection(LineCollection(list(lines[layer]), colors=color, linewidths=0.7))
        if i < _MOST_LAYERS:
            shown = layer if len(layer) <= 16 else f"{layer[:15]}…"
            handles.append(Line2D([], [], color=color, lw=1.2, label=shown))
    (left, right), width_pt = axes.get_xlim(), 72.0 * figure.get_figwidth() * axes.get_position().width
    for number, room in enumerate(rooms[:_MOST_NAMED], start=1):
        area = f"{room.area_m2:.{1 if room.area_m2 < 10 else 0}f} m²"
        has_room = _LETTER * (SMALL - 1.5) * len(area) < room.area_m2**0.5 * width_pt / (right - left)
        text = "\n".join([str(number), *([area] if has_room else []), *(["closed"] if room.closed else [])])
        axes.text(room.x_m, room.y_m, text, fontsize=SMALL - 1.5, color=INK, ha="center", va="center", zorder=9)
    if handles:
        layout.legend(axes, handles)
    layout.scale_bar(axes)
    return figure
