"""Plain references of compiled code of `covey.controllers`: loops and NumPy, to compare with."""

import math
from typing import Any

import numpy as np

from covey.controllers.coverage.tiles import OPEN, SOLID, UNSEEN, Tiles
from covey.controllers.exploration.lvd import Tile, TileWindow
from covey.controllers.rescue.missed import _RAYS, Sights, _hit
from covey.geometry import Grid, Pose


def coarse_reference(occupancy: Grid, reachable: np.ndarray, tile_m: float, reach_m: float = 0.0) -> Tiles:
    """NumPy reference of `coarse`."""
    rows, columns = occupancy.shape
    x = occupancy.to_world(np.column_stack((np.zeros(columns), np.arange(columns))))[:, 0]
    y = occupancy.to_world(np.column_stack((np.arange(rows), np.zeros(rows))))[:, 1]
    row, column = np.floor(y / tile_m + 1e-9).astype(int), np.floor(x / tile_m + 1e-9).astype(int)
    first = int(row[0]), int(column[0])
    row, column = row - first[0], column - first[1]
    state = np.full((int(row[-1]) + 1, int(column[-1]) + 1), SOLID, np.int8)
    middle_x = (np.arange(state.shape[1]) + first[1] + 0.5) * tile_m
    middle_y = (np.arange(state.shape[0]) + first[0] + 0.5) * tile_m
    stand = np.full((*state.shape, 2), np.nan)

    def open_up(i: np.ndarray, k: np.ndarray, r: np.ndarray, c: np.ndarray) -> None:
        """Open the tiles (i, k) with the cells (r, c) to stand on; each tile gets the cell nearest to its centre."""
        away = np.hypot(x[c] - middle_x[k], y[r] - middle_y[i])
        order = np.argsort(-away, kind="stable")  # the last one wins
        at = i[order], k[order]
        state[at] = OPEN
        stand[at] = np.stack((x[c[order]], y[r[order]]), axis=-1)

    r, c = np.nonzero(reachable & (occupancy.cells == -1))
    state[row[r], column[c]] = UNSEEN
    standing = reachable & (occupancy.cells == 0)
    r, c = np.nonzero(standing)
    open_up(row[r], column[c], r, c)
    r, c = np.nonzero((occupancy.cells == 0) & (state[row[:, None], column] == SOLID))
    most = int(reach_m / occupancy.resolution)
    near = [(i, k) for i in range(-most, most + 1) for k in range(-most, most + 1)]
    offsets = np.array([o for o in near if math.hypot(*o) * occupancy.resolution <= reach_m])
    down, right = np.clip(r + offsets[:, :1], 0, rows - 1), np.clip(c + offsets[:, 1:], 0, columns - 1)
    which, cell = np.nonzero(standing[down, right])
    open_up(row[r[cell]], column[c[cell]], down[which, cell], right[which, cell])
    _to_middle(stand, middle_x, middle_y, standing, x, y)
    return Tiles(tile_m, first, state, stand)


def seen_reference(
    pose: Pose, ranges: np.ndarray, angles: np.ndarray, tile_m: float, reach_m: float
) -> tuple[Tile, np.ndarray]:
    """NumPy reference of `seen_tiles`."""
    k = math.ceil(reach_m / tile_m)
    first = math.floor(pose[1] / tile_m) - k, math.floor(pose[0] / tile_m) - k
    blank = np.zeros((2 * k + 1, 2 * k + 1), bool)
    offset = TileWindow(first, blank, blank).centres() * tile_m - np.array(pose[:2])
    distance = np.hypot(offset[..., 0], offset[..., 1])
    free = np.where(np.isnan(ranges), 0.0, ranges)
    opening, spacing = angles[-1] - angles[0], (angles[-1] - angles[0]) / max(len(angles) - 1, 1)
    bearing = np.arctan2(offset[..., 1], offset[..., 0]) - pose[2] - angles[0]
    ray = np.rint((bearing + 0.5 * spacing) % (2 * math.pi) / max(spacing, 1e-9) - 0.5).astype(int)
    within = (ray < len(angles)) | (opening + 1.5 * spacing >= 2 * math.pi)
    seen = within & (distance <= np.minimum(free[np.minimum(ray, len(angles) - 1)], reach_m))
    seen[k, k] = True
    return first, seen


def middles_reference(cells: np.ndarray, label: np.ndarray, piece: float) -> np.ndarray:
    """Plain NumPy reference of `middles`."""
    found = list[np.ndarray]()
    for cluster in np.unique(label):
        left = cells[label == cluster]
        while len(left):
            far = left[np.argmax(((left - left.mean(axis=0)) ** 2).sum(axis=1))]
            inside = ((left - far) ** 2).sum(axis=1) <= piece * piece
            part = left[inside]
            found.append(part[np.argmin(((part - part.mean(axis=0)) ** 2).sum(axis=1))])
            left = left[~inside]
    return np.array(found, np.int64).reshape(-1, 2)


def sights_reference(occupancy: np.ndarray, cell: Any, reach: float, least_cosine: float) -> list[tuple[int, ...]]:
    """Plain reference of `Missed.sights` without its patches: ray, row, column and side of each wall that is met."""
    met = list[tuple[int, ...]]()
    for k in range(_RAYS):
        angle = 2.0 * math.pi * k / _RAYS - math.pi
        dr, dc = math.sin(angle), math.cos(angle)
        r, c, side, _ = _hit.py_func(occupancy, cell[0] + 0.5, cell[1] + 0.5, dr, dc, reach)
        if side >= 0 and (abs(dr) if side < 2 else abs(dc)) >= least_cosine:
            met.append((k, r, c, side))
    return met


def cover_reference(
    sights: Sights, missed: np.ndarray, most: int, least: float | np.ndarray, cost: np.ndarray | None = None
) -> list[tuple[int, float]]:
    """Plain NumPy reference of `Sights.cover`: all gains again for each place."""
    left, chosen = missed.flatten(), list[tuple[int, float]]()
    while len(chosen) < most and len(sights.patches):
        gains = sights.gains(left)
        gains[gains < least] = 0.0
        best = int((gains if cost is None or len(chosen) % 2 else gains / cost).argmax())
        if gains[best] <= 0.0:
            break
        chosen.append((best, float(gains[best])))
        own = sights.patches[best]
        left[own[own >= 0]] = 0.0
    return chosen


def _to_middle(
    stand: np.ndarray, middle_x: np.ndarray, middle_y: np.ndarray, standing: np.ndarray, x: np.ndarray, y: np.ndarray
) -> None:
    """Move the standing places to the centre of the tile, or to its centre line, if all cells around have room."""
    i, k = np.nonzero(np.isfinite(stand[:, :, 0]))
    px, py = stand[i, k].T
    resolution = x[1] - x[0] if len(x) > 1 else 1.0
    for qx, qy in ((px, middle_y[i]), (middle_x[k], py), (middle_x[k], middle_y[i])):  # the last that fits wins
        u, v = (qx - x[0]) / resolution, (qy - y[0]) / resolution
        fits = np.ones(len(i), bool)
        for row in (np.floor(v + 1e-6), np.ceil(v - 1e-6)):
            for column in (np.floor(u + 1e-6), np.ceil(u - 1e-6)):
                r, c = row.astype(int), column.astype(int)
                inside = (r >= 0) & (r < len(y)) & (c >= 0) & (c < len(x))
                fits &= inside & standing[np.clip(r, 0, len(y) - 1), np.clip(c, 0, len(x) - 1)]
        stand[i[fits], k[fits]] = np.stack((qx, qy), axis=-1)[fits]
