"""Small pictures of scenarios: the world from above, with the robots at their starts."""

import hashlib
import io
from contextlib import suppress

import numpy as np

from covey import __version__
from covey.kernel import cache_root
from covey.lazy import Image, ImageDraw
from covey.results.folder import write_whole
from covey.results.manifest import sha256
from covey.scenario.build import SetUp, inputs, set_up
from covey.scenario.dump import to_yaml
from covey.scenario.records import Scenario
from covey.world.world import UNKNOWN, WALL

SIZE = 320
"""Largest side of a picture [pixels]."""
_LOOK = "4"  # a new look has a new number, so that kept pictures are drawn again
_FREE, _WALL, _UNKNOWN, _ROBOT, _RIM = (244, 246, 248), (43, 52, 64), (138, 148, 159), (213, 94, 0), (255, 255, 255)


def picture_of(scenario: Scenario) -> bytes:
    """Return a picture as PNG; it is kept in the cache folder of the user.

    Raises:
        CoveyError: the world cannot be made, or the robots do not fit.
    """
    parts = (_LOOK, __version__, to_yaml(scenario), *map(sha256, inputs(scenario)))
    path = cache_root() / "pictures" / f"{hashlib.blake2b(repr(parts).encode(), digest_size=16).hexdigest()}.png"
    with suppress(OSError):
        return path.read_bytes()
    png = drawn(set_up(scenario))
    with suppress(OSError):
        path.parent.mkdir(exist_ok=True)
        write_whole(path, png)
    return png


def drawn(ready: SetUp) -> bytes:
    """Return a picture of a world and the robots in it, as PNG; +y is up."""
    grid, ground = ready.world.grid, ready.world.ground
    longer = max(grid.shape)
    block, zoom = -(-longer // SIZE), max(1, SIZE // longer)
    scale = zoom / block  # pixels per cell
    if ground is None:
        colors = _colors(_darkest(grid.cells, block))
        image = Image.fromarray(colors[::-1].repeat(zoom, 0).repeat(zoom, 1))
    else:
        from covey.results.figures.hillshade import shaded  # loads matplotlib

        size = [max(8, round(scale * n)) for n in grid.shape[::-1]]
        image = Image.fromarray(shaded(ground.altitude, ground.spacing_m)[::-1]).resize(size)
    image = image.quantize(60).convert("RGB")  # the robots' colours are added to it
    draw = ImageDraw.Draw(image)
    for group, poses in zip(ready.groups, ready.poses, strict=True):
        reach = max(4.5, scale * group.robot.outer_radius_m / grid.resolution)
        for row, column in grid.to_cells(poses[:, :2]):
            x, y = scale * (column + 0.5), image.height - scale * (row + 0.5)
            draw.ellipse((x - reach, y - reach, x + reach, y + reach), fill=_ROBOT, outline=_RIM)
    buffer = io.BytesIO()
    image.quantize(64).save(buffer, "PNG", optimize=True)
    return buffer.getvalue()


def _darkest(cells: np.ndarray, block: int) -> np.ndarray:
    """Return one cell for each square of ``block`` x ``block``; walls stay, however thin they are."""
    rows, columns = (-(-n // block) for n in cells.shape)
    padded = np.zeros((rows * block, columns * block), np.uint8)
    padded[: cells.shape[0], : cells.shape[1]] = cells
    blocks = padded.reshape(rows, block, columns, block)
    return np.where((blocks == WALL).any((1, 3)), WALL, np.where((blocks == UNKNOWN).all((1, 3)), UNKNOWN, 0))


def _colors(cells: np.ndarray) -> np.ndarray:
    return np.array([_FREE, _WALL, _UNKNOWN, _FREE], np.uint8)[cells]
