"""`Landscape`: the ground of a run, its changes, and the robots' beliefs about it at the end."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np

from covey.results.archive import npz_bytes
from covey.results.checked import read_arrays


class Believed(NamedTuple):
    """A robot's belief about the vertices, arrays of (rows, columns).

    Attributes:
        altitude: float32 [m], NaN where nothing is known.
        interval: float32, half the 95 % interval [m].
        marks: uint8, 0 nothing, 1 measured, 2 a drop, 3 an obstacle.
        resets: uint16, how often it found a vertex changed.
    """

    altitude: np.ndarray
    interval: np.ndarray
    marks: np.ndarray
    resets: np.ndarray


class Change(NamedTuple):
    """An edit: the step at whose start it was made, the first vertex, and the altitudes [m] before and after it."""

    step: int
    row: int
    column: int
    before: np.ndarray
    after: np.ndarray


@dataclass
class Landscape:
    """``ground.npz`` in the folder of a run on a ground.

    Attributes:
        altitude: float64 (rows, columns), the ground at the end [m].
        frame: float64 (3,), x, y of vertex [0, 0] and the spacing [m].
        changes: the edits, in order.
        beliefs: final belief of each robot that maps the ground, by name.
        spacing_m: distance of the beliefs' vertices [m]; their vertex [0, 0] is that of the ground.
    """

    altitude: np.ndarray
    frame: np.ndarray
    changes: list[Change]
    beliefs: Mapping[str, Believed]
    spacing_m: float

    def at(self, step: int) -> np.ndarray:
        """Return the altitudes at the end of a step, float64 (rows, columns) [m]."""
        altitude = self.altitude.copy()
        for change in reversed(self.changes):
            if change.step <= step:
                break
            h, w = change.before.shape
            altitude[change.row : change.row + h, change.column : change.column + w] = change.before
        return altitude

    @cached_property
    def truth(self) -> np.ndarray:
        """The final ground at the vertices of the beliefs, float64 [m]."""
        if self.spacing_m == self.frame[2]:
            return self.altitude
        from covey.geometry.heightfield import altitudes_at

        rows, columns = next(iter(self.beliefs.values())).marks.shape
        x, y = (self.frame[k] + np.arange(size) * self.spacing_m for k, size in enumerate((columns, rows)))
        points = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
        return altitudes_at(self.altitude, self.frame, np.ascontiguousarray(points)).reshape(rows, columns)

    def to_bytes(self) -> bytes:
        """Return the content of ``ground.npz``; equal landscapes give equal bytes."""
        arrays = {"altitude": self.altitude, "frame": self.frame, "spacing_m": np.array(self.spacing_m)}
        arrays["changes"] = np.array([change[:3] for change in self.changes], np.int64).reshape(-1, 3)
        for i, change in enumerate(self.changes):
            arrays |= {f"change{i}_before": change.before, f"change{i}_after": change.after}
        for name, believed in self.beliefs.items():
            arrays |= {f"belief/{name}/{field}": value for field, value in believed._asdict().items()}
        return npz_bytes(arrays)

    @staticmethod
    def load(path: Path) -> "Landscape":
        """Read ``ground.npz``."""
        arrays = read_arrays(path)
        names = dict.fromkeys(key.split("/")[1] for key in arrays if key.startswith("belief/"))
        changes = [
            Change(step, row, column, arrays[f"change{i}_before"], arrays[f"change{i}_after"])
            for i, (step, row, column) in enumerate(arrays["changes"].tolist())
        ]
        beliefs = {
            name: Believed(**{field: arrays[f"belief/{name}/{field}"] for field in Believed._fields}) for name in names
        }
        return Landscape(arrays["altitude"], arrays["frame"], changes, beliefs, float(arrays["spacing_m"]))
