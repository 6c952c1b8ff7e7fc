"""`Maps`: the truth, the explored cells with times, and the robots' maps at the end of a run."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from covey.geometry.grid import Grid
from covey.results.archive import npz_bytes
from covey.results.checked import read_arrays

if TYPE_CHECKING:
    from covey.mapping.occupancy.compare import GroundTruth

FREE, WALL, UNKNOWN, OPEN = 0, 1, 2, 3
SHARES = (50, 80, 90)
"""Explored shares at which the union of the maps is kept [%]."""


@dataclass
class Maps:
    """Grids at the end of a run; ``maps.npz`` in the run folder.

    Attributes:
        truth: uint8 cells of the world: 0 free, 1 wall, 2 unknown (outside), 3 open (outside an open border).
        explorable: bool, shape of the truth: G, the explorable cells.
        first_explored, last_explored: int32, shape of the truth: step at which a cell was first and last crossed
            by any beam, -1 never.
        last_covered: int32, shape of the truth: step at which a body was last over a cell, -1 never.
        coverable: bool, shape of the truth: cells that a body can pass over; None if unknown.
        explored_by, covered_by: int, shape of the truth: number of robots that have seen each cell, and that have
            passed over it (of the coverable ones); None if not counted.
        union: occupancy of the union of all maps, int8: -1 unknown, 0 free, 100 occupied; None without maps.
        robots: each robot's map in the order of the team, like ``union``; None for a robot without one; empty if no
            robot has one.
        changed: int32 (k, 4), changes of the truth, in order: step, cell (row x columns + column), value before and
            after.
        faces: int32 (f, 4), the faces of walls that a tag camera can read: row and column of their free cell, side (see
            `covey.geometry.faces`), and the step at which a camera could first have read it, -1 never; None without
            cameras.
        first_searched: int32, shape of the truth: step at which a camera first saw a cell, -1 never; None without
            cameras.
        union_at: the union when the team had explored each of the `SHARES` of G [%]; without those that it did not.
    """

    truth: Grid
    explorable: np.ndarray
    first_explored: np.ndarray
    last_explored: np.ndarray
    last_covered: np.ndarray
    union: Grid | None = None
    robots: list[Grid | None] = field(default_factory=list)
    coverable: np.ndarray | None = None
    explored_by: np.ndarray | None = None
    covered_by: np.ndarray | None = None
    changed: np.ndarray = field(default_factory=lambda: np.empty((0, 4), np.int32))
    faces: np.ndarray | None = None
    first_searched: np.ndarray | None = None
    union_at: dict[int, Grid] = field(default_factory=dict)
    _truths: "dict[Any, GroundTruth]" = field(default_factory=dict, repr=False)

    @property
    def explorable_area_m2(self) -> float:
        """Area of G [m^2]."""
        return int(self.explorable.sum()) * self.truth.resolution**2

    @property
    def to_cover(self) -> np.ndarray:
        """Cells that a body can pass over, bool; all free cells if that is unknown."""
        return self.truth.cells == FREE if self.coverable is None else self.coverable

    def truth_at(self, step: int) -> Grid:
        """Return the world at a step."""
        later = self.changed[self.changed[:, 0] > step][::-1]
        if not len(later):
            return self.truth
        cells = self.truth.cells.copy()
        cells.reshape(-1)[later[:, 1]] = later[:, 2]  # the first change of a cell wins
        return self.truth.with_cells(cells)

    def ground_truth(self, belief: Grid) -> "GroundTruth":
        """Return the truth on a map's cells, for `covey.mapping.occupancy.compare`; maps at one place share it."""
        from covey.mapping.occupancy.compare import ground_truth

        place = (belief.shape, belief.origin, belief.resolution)
        if place not in self._truths:
            wall, explorable = (self.truth.with_cells(cells) for cells in (self.truth.cells == WALL, self.explorable))
            self._truths[place] = ground_truth(wall, explorable, belief)
        return self._truths[place]

    def to_bytes(self) -> bytes:
        """Return the content of ``maps.npz``; equal maps give equal bytes."""
        arrays = _pack("truth", self.truth.with_cells(self.truth.cells.astype(np.uint8, copy=False)))
        arrays["explorable"] = self.explorable.astype(bool, copy=False)
        for name in ("first_explored", "last_explored", "last_covered"):
            arrays[name] = getattr(self, name).astype(np.int32, copy=False)
        if self.coverable is not None:
            arrays["coverable"] = self.coverable.astype(bool, copy=False)
        for name, count in (("explored_by", self.explored_by), ("covered_by", self.covered_by)):
            if count is not None:
                arrays[name] = count.astype(np.int32, copy=False)
        for name, steps in (("faces", self.faces), ("first_searched", self.first_searched)):
            if steps is not None:
                arrays[name] = steps.astype(np.int32, copy=False)
        if self.union is not None:
            arrays |= _pack("union", self.union)
        for percent, grid in self.union_at.items():
            arrays |= _pack(f"union_at_{percent}", grid)
        if len(self.changed):
            arrays["changed"] = self.changed
        arrays["robots"] = np.array(len(self.robots))
        for i, grid in enumerate(self.robots):
            arrays |= {} if grid is None else _pack(f"robot{i}", grid)
        return npz_bytes(arrays)

    @staticmethod
    def load(path: Path, robots: int | None = None) -> "Maps":
        """Read ``maps.npz`` of a team of ``robots``.

        Raises:
            ValueError: the arrays do not belong together; other errors if they cannot be read.
        """
        arrays = read_arrays(path)
        _check(arrays, robots)
        numbers = [int(name[5:]) for name in arrays if name.startswith("robot") and name[5:].isdigit()]
        return Maps(
            truth=_unpack("truth", arrays),
            explorable=arrays["explorable"],
            first_explored=arrays["first_explored"],
            last_explored=arrays["last_explored"],
            last_covered=arrays["last_covered"],
            union=_unpack("union", arrays) if "union" in arrays else None,
            union_at={p: _unpack(f"union_at_{p}", arrays) for p in SHARES if f"union_at_{p}" in arrays},
            coverable=arrays.get("coverable"),
            explored_by=arrays.get("explored_by"),
            covered_by=arrays.get("covered_by"),
            changed=arrays.get("changed", np.empty((0, 4), np.int32)),
            faces=arrays.get("faces"),
            first_searched=arrays.get("first_searched"),
            robots=[_unpack(f"robot{i}", arrays) if i in numbers else None for i in range(arrays["robots"])],
        )


_OF_THE_TRUTH = (
    "explorable",
    "first_explored",
    "last_explored",
    "last_covered",
    "coverable",
    "explored_by",
    "covered_by",
    "first_searched",
)


def _check(arrays: dict[str, np.ndarray], robots: int | None) -> None:
    """Raise `ValueError` if arrays are not the maps of one run."""
    shape = arrays["truth"].shape
    for name in [name for name in _OF_THE_TRUTH if name in arrays]:
        if arrays[name].shape != shape or arrays[name].dtype.kind not in "bui":
            raise ValueError(f"{name} is not an array of the shape of the truth, {shape}")
    if (faces := arrays.get("faces")) is not None:
        places = faces[:, :3] if faces.ndim == 2 and faces.shape[1] == 4 and faces.dtype.kind == "i" else np.full(3, -1)
        if (places < 0).any() or (places >= (*shape, 4)).any():
            raise ValueError(f"faces are not rows, columns, sides and steps of a truth of shape {shape}")
    if robots is not None and arrays["robots"] not in (0, robots):
        raise ValueError(f"it has the maps of {arrays['robots']} robots, and the run has {robots}")


def _pack(name: str, grid: Grid) -> dict[str, np.ndarray]:
    return {name: grid.cells, f"{name}_place": np.array([*grid.origin, grid.resolution])}


def _unpack(name: str, arrays: dict[str, np.ndarray]) -> Grid:
    x, y, yaw, resolution = (float(v) for v in arrays[f"{name}_place"])
    return Grid(arrays[name], resolution, (x, y, yaw))
