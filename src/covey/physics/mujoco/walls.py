"""Walls as boxes on the ground: the solid cells of a world, merged into few rectangles."""

import math
from typing import Any

import numpy as np

from covey.kernel import kernel
from covey.physics.mujoco.engine import BUMP, WALL, mujoco
from covey.world.ground import Heightfield
from covey.world.state import AnyWorld

_FENCE_M = 1.0


@kernel
def rectangles(solid):
    """Return few large rectangles that cover exactly the solid cells and do not overlap.

    Each starts at the first cell that is not covered yet, and grows as far as possible along the row, then over rows.

    Args:
        solid: bool (rows, columns).

    Returns:
        int64 (k, 4): first row, last row + 1, first column, last column + 1.
    """
    rows, columns = solid.shape
    left, out, count = solid.copy(), np.empty((16, 4), np.int64), 0
    for i in range(rows):
        for j in range(columns):
            if not left[i, j]:
                continue
            right = j
            while right < columns and left[i, right]:
                left[i, right] = False
                right += 1
            top, whole = i + 1, True
            while top < rows and whole:
                for k in range(j, right):
                    whole = whole and left[top, k]
                if whole:
                    for k in range(j, right):
                        left[top, k] = False
                    top += 1
            if count == out.shape[0]:
                more = np.empty((2 * count, 4), np.int64)
                for k in range(count):
                    for c in range(4):
                        more[k, c] = out[k, c]
                out = more
            out[count, 0], out[count, 1], out[count, 2], out[count, 3] = i, top, j, right
            count += 1
    return out[:count]


def add_walls(spec: Any, world: AnyWorld) -> None:
    """Add the walls of a world to a model, as boxes named ``wall …``.

    On a landscape, a box starts at the lowest altitude that the ground may have, so digging opens no gap below it. It
    ends at the wall height above the highest ground below it. A fence surrounds the landscape.
    """
    ground, x0, y0, c, s, side = world.ground, *world.grid.frame.tolist()
    for k, (first, last, left, right) in enumerate(rectangles(world.solid).tolist()):
        u, v = 0.5 * (left + right) * side, 0.5 * (first + last) * side
        half_u, half_v = 0.5 * (right - left) * side, 0.5 * (last - first) * side
        x, y = x0 + c * u - s * v, y0 + s * u + c * v
        low, high = 0.0, world.wall_height_m
        if ground is not None:
            low, high = ground.range_m[0], high + _highest(ground, x, y, math.hypot(half_u, half_v))
        turn = [math.cos(0.5 * world.grid.origin[2]), 0.0, 0.0, math.sin(0.5 * world.grid.origin[2])]
        _box(spec, f"wall {k}", (x, y, 0.5 * (low + high)), (half_u, half_v, 0.5 * (high - low)), turn)
    if ground is not None:
        _fence(spec, ground)


def _fence(spec: Any, ground: Heightfield) -> None:
    """Add a fence at the edge of a landscape, so that nothing falls off."""
    west, east, south, north = ground.bounds
    low, high = ground.range_m[0], ground.range_m[1] + 10.0
    middle, half = (0.5 * (west + east), 0.5 * (south + north)), (0.5 * (east - west), 0.5 * (north - south))
    z, half_z, thin = 0.5 * (low + high), 0.5 * (high - low), 0.5 * _FENCE_M
    for name, x, y, half_x, half_y in (
        ("west", west - thin, middle[1], thin, half[1] + _FENCE_M),
        ("east", east + thin, middle[1], thin, half[1] + _FENCE_M),
        ("south", middle[0], south - thin, half[0], thin),
        ("north", middle[0], north + thin, half[0], thin),
    ):
        _box(spec, f"wall {name}", (x, y, z), (half_x, half_y, half_z), [1.0, 0.0, 0.0, 0.0])


def _box(spec: Any, name: str, at: Any, half: Any, turn: Any) -> None:
    kind = mujoco().mjtGeom.mjGEOM_BOX
    spec.worldbody.add_geom(
        name=name,
        type=kind,
        pos=list(at),
        size=list(half),
        quat=turn,
        contype=WALL,
        conaffinity=0,
        condim=1,
        solref=BUMP,
    )


def _highest(ground: Heightfield, x: float, y: float, radius_m: float) -> float:
    """Return the highest altitude [m] within a distance of a point; outside the landscape, that of the nearest edge."""
    x0, y0, spacing = ground.frame.tolist()
    rows, columns = ground.shape
    i0, i1 = math.floor((y - radius_m - y0) / spacing), math.ceil((y + radius_m - y0) / spacing) + 1
    j0, j1 = math.floor((x - radius_m - x0) / spacing), math.ceil((x + radius_m - x0) / spacing) + 1
    i0, j0 = min(max(i0, 0), rows - 1), min(max(j0, 0), columns - 1)
    return float(ground.altitude[i0 : max(i1, i0 + 1), j0 : max(j1, j0 + 1)].max())
