"""A very small picture of a run: hundreds of them fit into one report."""

import io
from typing import TYPE_CHECKING

import numpy as np

from covey.lazy import Image
from covey.results.figures.style import FREE_COLOR, OPEN_COLOR, UNKNOWN_COLOR, WALL_COLOR, rgb, robot_color
from covey.results.maps import FREE, OPEN, WALL, Maps

if TYPE_CHECKING:
    from covey.results.run import Run

MISSED_COLOR = "#F7D9C4"


def thumbnail(run: "Run", side_px: int = 160) -> bytes | None:
    """Return a small PNG of a run: the world, its unexplored part in light orange, and the robots' paths.

    Args:
        run: what to draw.
        side_px: length of the longer side in pixels.

    Returns:
        The bytes of the file; None if the run kept no maps.
    """
    maps = run.maps
    if maps is None:
        return None
    used = np.argwhere(np.isin(maps.truth.cells, (FREE, WALL)))
    first, last = (used.min(axis=0), used.max(axis=0)) if len(used) else ((0, 0), np.array(maps.truth.shape) - 1)
    span = np.maximum(1, last - first + 1)
    shape = np.maximum(1, np.round(span * side_px / span.max())).astype(int)
    rows, columns = (_firsts(first[k], span[k], shape[k]) for k in range(2))
    pixels = _ground(maps)[rows[:, None], columns]
    wall = (maps.truth.cells == WALL)[: first[0] + span[0], : first[1] + span[1]]
    thick = np.logical_or.reduceat(np.logical_or.reduceat(wall, rows, axis=0), columns, axis=1)
    pixels[thick] = rgb(WALL_COLOR)  # walls thinner than a pixel stay visible
    if len(run.pose_times):
        _draw_ways(pixels, run, np.asarray(first), span)
    buffer = io.BytesIO()
    Image.fromarray(pixels[::-1]).convert("P", palette=Image.Palette.ADAPTIVE, colors=64).save(
        buffer, "PNG", optimize=False
    )
    return buffer.getvalue()


def _ground(maps: Maps) -> np.ndarray:
    """Return the colours of the world, uint8 (rows, columns, 3)."""
    palette = np.tile(rgb(UNKNOWN_COLOR), (256, 1))
    for value, color in ((FREE, FREE_COLOR), (WALL, WALL_COLOR), (OPEN, OPEN_COLOR)):
        palette[value] = rgb(color)
    pixels = palette[maps.truth.cells]
    pixels[maps.explorable & (maps.first_explored < 0)] = rgb(MISSED_COLOR)
    return pixels


def _firsts(first: int, span: int, count: int) -> np.ndarray:
    """Return the first cell under each pixel, int64 (count,)."""
    return first + (np.arange(count) * span / count).astype(np.int64)


def _draw_ways(pixels: np.ndarray, run: "Run", first: np.ndarray, span: np.ndarray) -> None:
    """Colour the pixels that robots passed over, and a dot at each robot's end."""
    assert run.maps is not None
    rows, columns = pixels.shape[:2]
    for i in range(len(run.names)):
        color = rgb(robot_color(i, len(run.names)))
        cells = run.maps.truth.to_cells(run.poses[:, i, :2])
        at = ((cells - first) * (rows, columns) // span).astype(np.int64)
        at = at[np.isfinite(run.poses[:, i, 0]) & (at >= 0).all(axis=1) & (at < (rows, columns)).all(axis=1)]
        pixels[at[:, 0], at[:, 1]] = color
        if len(at):
            row, column = at[-1]
            pixels[max(0, row - 1) : row + 2, max(0, column - 1) : column + 2] = color
