"""`Maps`: the truth, what was explored of it and when, and what the robots hold to be true, at the end of a run."""

import io
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from covey.geometry.grid import Grid

FREE, WALL, UNKNOWN, OPEN = 0, 1, 2, 3


@dataclass
class Maps:
    """Grids at the end of a run; ``maps.npz`` in the run folder.

    Attributes:
        truth: uint8 cells of the world: 0 free, 1 wall, 2 unknown (outside), 3 open (outside an open border).
        explorable: bool, shape of the truth: G, what can be explored.
        first_explored, last_explored: int32, shape of the truth: step at which a cell was first and last crossed
            by any beam, -1 never.
        last_covered: int32, shape of the truth: step at which a body was last over a cell, -1 never.
        union: occupancy of the union of all maps, int8: -1 unknown, 0 free, 100 occupied; None without maps.
        robots: each robot's map in the order of the team, like ``union``; empty without maps.
    """

    truth: Grid
    explorable: np.ndarray
    first_explored: np.ndarray
    last_explored: np.ndarray
    last_covered: np.ndarray
    union: Grid | None = None
    robots: list[Grid] = field(default_factory=list)

    @property
    def explorable_area_m2(self) -> float:
        """Area of G [m^2]."""
        return int(self.explorable.sum()) * self.truth.resolution**2

    def to_bytes(self) -> bytes:
        """Return the content of ``maps.npz``; equal maps give equal bytes."""
        arrays = _pack("truth", self.truth.with_cells(self.truth.cells.astype(np.uint8)))
        arrays["explorable"] = self.explorable.astype(bool)
        for name in ("first_explored", "last_explored", "last_covered"):
            arrays[name] = getattr(self, name).astype(np.int32)
        if self.union is not None:
            arrays |= _pack("union", self.union)
        for i, grid in enumerate(self.robots):
            arrays |= _pack(f"robot{i}", grid)
        buffer = io.BytesIO()
        np.savez_compressed(buffer, allow_pickle=False, **arrays)
        return buffer.getvalue()

    @staticmethod
    def load(path: Path) -> "Maps":
        """Read ``maps.npz``."""
        with np.load(path, allow_pickle=False) as file:
            arrays = dict(file)
        count = sum(name.startswith("robot") and not name.endswith("_place") for name in arrays)
        return Maps(
            truth=_unpack("truth", arrays),
            explorable=arrays["explorable"],
            first_explored=arrays["first_explored"],
            last_explored=arrays["last_explored"],
            last_covered=arrays["last_covered"],
            union=_unpack("union", arrays) if "union" in arrays else None,
            robots=[_unpack(f"robot{i}", arrays) for i in range(count)],
        )


def values_at(source: Grid, target: Grid, outside: int, row_part: float = 0.5, column_part: float = 0.5) -> np.ndarray:
    """Return the values of ``source`` at one point in each cell of ``target``, shape of the target's cells.

    The point lies at the given parts of the cell's height and width, by default in its centre; ``outside`` stands
    where ``source`` has no cell. The places of both grids, yaw included, may be any.
    """
    x0, y0, c, s, resolution = source.frame
    points = target.to_world(np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]) - 0.5)
    dx, dy = points[:, 0] - x0, points[:, 1] - y0
    first, below, beside = np.stack((c * dy - s * dx, c * dx + s * dy), axis=-1) / resolution
    down = (np.arange(target.shape[0]) + row_part)[:, None, None] * (below - first)
    right = (np.arange(target.shape[1]) + column_part)[None, :, None] * (beside - first)
    if not (below - first)[1] and not (beside - first)[0]:  # axes in line: a row index for each row is enough
        i, j = first[0] + down[..., 0], first[1] + right[..., 1]
    else:
        i, j = first[0] + down[..., 0] + right[..., 0], first[1] + down[..., 1] + right[..., 1]
    i, j = np.floor(i).astype(np.int64), np.floor(j).astype(np.int64)
    inside = (i >= 0) & (i < source.shape[0]) & (j >= 0) & (j < source.shape[1])
    return np.where(inside, source.cells[np.where(inside, i, 0), np.where(inside, j, 0)], outside)


def _pack(name: str, grid: Grid) -> dict[str, np.ndarray]:
    return {name: grid.cells, f"{name}_place": np.array([*grid.origin, grid.resolution])}


def _unpack(name: str, arrays: dict[str, np.ndarray]) -> Grid:
    x, y, yaw, resolution = (float(v) for v in arrays[f"{name}_place"])
    return Grid(arrays[name], resolution, (x, y, yaw))
