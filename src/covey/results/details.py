"""What a run records besides its tables: plans, scans, and maps as they grew; see `covey.results.recording.Details`."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from pathlib import Path

import numpy as np

from covey.draws import WORDS, Draws, Word
from covey.errors import UnknownNameError, did_you_mean
from covey.geometry.grid import Grid
from covey.results.archive import read_blocks
from covey.results.maps import Maps

UNION = -1
"""Number of the merged map, beside those of the robots."""


class _Fixed:
    """A record whose arrays are read-only, because everybody who asks a run for them gets the same."""

    def __post_init__(self) -> None:
        for field in fields(self):  # type: ignore[arg-type]
            if isinstance(values := getattr(self, field.name), np.ndarray):
                values.flags.writeable = False


@dataclass(frozen=True)
class Plans(_Fixed):
    """The paths of the robots to their goals, ``plans.npz``: one plan after another, each from its step on; read-only.

    Attributes:
        names: robots in the order of the team.
        steps: int64 (p,), at whose end each plan was in force; never descending.
        robots: int64 (p,), numbers of the robots.
        begins: int64 (p + 1,), where the points of each plan begin; a plan without points means that the robot drives
            to no goal.
        points: float64 (k, 2), the points ahead in the world frame [m], the goal last; made with the robot's estimate
            of its pose.
    """

    names: tuple[str, ...]
    steps: np.ndarray
    robots: np.ndarray
    begins: np.ndarray
    points: np.ndarray

    def at(self, step: int) -> dict[str, np.ndarray]:
        """Return the plans at the end of a step: the points ahead [m], float64 (k, 2), by robot; the goal is the last.

        Robots that drove to no goal are left out.
        """
        last: dict[int, int] = {}
        for row in range(int(np.searchsorted(self.steps, step, side="right"))):
            last[int(self.robots[row])] = row
        parts = {i: self.points[self.begins[row] : self.begins[row + 1]] for i, row in sorted(last.items())}
        return {self.names[i]: points for i, points in parts.items() if len(points)}

    @staticmethod
    def load(path: Path, names: Sequence[str]) -> "Plans":
        """Read ``plans.npz``."""
        arrays = read_blocks(path)
        steps, robots, counts = (_whole(arrays[name]).astype(np.int64) for name in ("step", "robot", "count"))
        begins, points = np.append(0, np.cumsum(counts)), arrays["point"]
        _check(
            len(steps) == len(robots) == len(counts) and points.shape == (begins[-1], 2) and points.dtype.kind == "f"
        )
        _check(bool(np.isin(robots, np.arange(len(names))).all() and (counts >= 0).all()))
        return Plans(tuple(names), steps, robots, begins, points)


class RecordedReadings:
    """All readings of one sensor, from ``readings.npz``; its arrays are read-only attributes: ``readings.ranges``.

    Attributes:
        robots: names of the m robots that carry it.
        steps: int64 (k,), the steps in which the readings came.
        times: float64 (k,), when each was taken [s].
        arrays: the arrays of the sensor by name, (k, m, …); those that never change have no first axis. Where samples
            differ in length, the rest is NaN, -1 or False.
        draws: how they are drawn; None: they are not, or were recorded before this was known.
    """

    def __init__(
        self,
        robots: tuple[str, ...],
        steps: np.ndarray,
        times: np.ndarray,
        arrays: dict[str, np.ndarray],
        draws: Draws | None = None,
    ):
        self.robots, self.steps, self.times, self.arrays, self.draws = robots, steps, times, arrays, draws
        for values in (steps, times, *arrays.values()):
            values.flags.writeable = False

    def __getattr__(self, name: str) -> np.ndarray:
        arrays = self.__dict__.get("arrays", {})
        if name not in arrays:
            raise AttributeError(f"the readings have no {name!r}{did_you_mean(name, arrays)}")
        return arrays[name]

    def __repr__(self) -> str:
        return f"<Readings of {len(self.robots)} robots, {len(self.times)} samples: {', '.join(self.arrays)}>"

    @staticmethod
    def load(path: Path, names: Sequence[str]) -> "dict[str, RecordedReadings]":
        """Read ``readings.npz``: the readings by sensor; if robots have different ones of a name, ``NAME:ROBOT``."""
        blocks, found = read_blocks(path), dict[str, RecordedReadings]()
        for k in sorted({int(name.partition("/")[0]) for name in blocks}):
            own = {name.partition("/")[2]: rows for name, rows in blocks.items() if name.startswith(f"{k}/")}
            steps, times, robots = _whole(own["step"]).astype(np.int64), own["time_s"], _whole(own["robot"])
            _check(len(times) == len(steps) and bool(((robots >= 0) & (robots < len(names))).all()))
            values = {
                name.removeprefix("values/"): _stacked(rows, own[f"shape/{name.removeprefix('values/')}"], len(steps))
                for name, rows in own.items()
                if name.startswith("values/")
            }
            sensor, carriers = str(own["sensor"][0]), tuple(names[int(i)] for i in robots)
            key = f"{sensor}:{carriers[0]}" if sensor in found else sensor
            found[key] = RecordedReadings(
                carriers, steps, times, values, draws_of(own, values, len(steps), len(robots))
            )
        return found


def arrays_of_draws(draws: Draws | None) -> dict[str, np.ndarray]:
    """Return how readings are drawn as arrays, which `draws_of` reads: the word and the array, and the sectors."""
    if draws is None:
        return {}
    sectors = [draws.begin_rad, draws.width_rad, draws.inner_m, draws.range_m]
    return {"draws": np.array([draws.word, draws.of]), "sectors": np.array(sectors, float)}


def draws_of(
    own: Mapping[str, np.ndarray], values: Mapping[str, np.ndarray], samples: int, carriers: int
) -> Draws | None:
    """Return how readings are drawn, from the arrays of `arrays_of_draws`; None if there are none.

    Args:
        own: these arrays.
        values: the arrays of the sensor by name.
        samples: number of its samples.
        carriers: number of its robots.

    Raises:
        ValueError: the arrays do not belong together.
    """
    if "draws" not in own:
        return None
    word, of = map(str, own["draws"])
    sectors = [float(value) for value in own["sectors"]]
    known: Word | None = next((one for one in WORDS if one == word), None)
    if known is None or of not in values or len(sectors) != 4 or not np.isfinite(sectors[:3]).all():
        raise ValueError("its arrays do not belong together")
    shape, kind = values[of].shape, values[of].dtype.kind
    _check(kind in "biuf" and len(shape) in (2, 3) and shape[:2] == (samples, carriers))
    _check(known not in ("ray", "place") or (len(shape) == 3 and shape[2] >= 2))
    begin, width, inner, reach = sectors
    return Draws(known, of, begin, width, inner, reach)


def _stacked(rows: np.ndarray, shapes: np.ndarray, count: int) -> np.ndarray:
    """Return arrays that follow each other in one row as one array; a single one that holds for all as it is."""
    sizes = shapes.prod(axis=1)
    _check(bool((shapes >= 0).all()) and sizes.sum() == len(rows) and len(shapes) in (1, count))
    if (shapes == shapes[0]).all():
        stacked = rows.reshape(len(shapes), *shapes[0])
        return stacked[0].copy() if len(shapes) < count else stacked
    fill = {"f": np.nan, "i": -1}.get(rows.dtype.kind, np.zeros((), rows.dtype)[()])
    stacked = np.full((count, *shapes.max(axis=0)), fill, rows.dtype)
    for k, (shape, part) in enumerate(zip(shapes, np.split(rows, np.cumsum(sizes)[:-1]), strict=True)):
        stacked[(k, *map(slice, shape))] = part.reshape(shape)
    return stacked


@dataclass(frozen=True)
class Scans(_Fixed):
    """The scans of one lidar of one robot, from ``scans.npz``; read-only.

    Attributes:
        steps: int64 (k,), at whose end each scan was the newest.
        times: float64 (k,), when each was taken [s].
        poses: float64 (k, 3), true x, y [m], heading [rad] of the sensor then, in the world frame.
        ranges: float32 (k, rays) [m], as they were read: inf where nothing is within range, NaN where the measurement
            was lost.
        angles: float64 (rays,) [rad], direction of each ray in the frame of the sensor.
        range_m: range of the sensor [m].
    """

    steps: np.ndarray
    times: np.ndarray
    poses: np.ndarray
    ranges: np.ndarray
    angles: np.ndarray
    range_m: float

    def points(self, step: int) -> np.ndarray:
        """Return the points that the newest scan at a step hit, in the world frame [m], float64 (hits, 2)."""
        k = int(np.searchsorted(self.steps, step, side="right")) - 1
        if k < 0:
            return np.zeros((0, 2))
        hit = np.isfinite(self.ranges[k])
        angle, length = self.poses[k, 2] + self.angles[hit], self.ranges[k][hit].astype(np.float64)
        return self.poses[k, :2] + np.column_stack((length * np.cos(angle), length * np.sin(angle)))

    @staticmethod
    def load(path: Path, names: Sequence[str]) -> dict[str, dict[str, "Scans"]]:
        """Read ``scans.npz``: the scans by robot and sensor."""
        arrays, found = read_blocks(path), dict[str, dict[str, Scans]]()
        for k in sorted({int(name.partition("/")[0]) for name in arrays}):
            step, times, pose, ranges, robots, angles = (
                arrays[f"{k}/{name}"] for name in ("step", "time_s", "pose", "ranges", "robot", "angle")
            )
            sensor, range_m = str(arrays[f"{k}/sensor"][0]), float(arrays[f"{k}/range_m"][0])
            _check(pose.shape == (len(step), len(robots), 3) and len(times) == len(_whole(step)))
            _check(times.ndim == 1 and times.dtype.kind == "f")
            _check(ranges.shape == (len(step), len(robots), len(angles)) and ranges.dtype == np.float32)
            _check(
                angles.ndim == 1 and pose.dtype.kind == angles.dtype.kind == "f" and bool((_whole(robots) >= 0).all())
            )
            for row, robot in enumerate(robots.tolist()):
                one = Scans(step.astype(np.int64), times, pose[:, row], ranges[:, row], angles, range_m)
                found.setdefault(names[int(robot)], {})[sensor] = one
        return {name: found[name] for name in names if name in found}


@dataclass(frozen=True)
class Changes(_Fixed):
    """Changes of the cells of one map, in order; read-only.

    Attributes:
        grid: place of the cells; its own are all -1, as at the beginning.
        steps: int32 (k,), the recorded step at which each change was noticed.
        cells: int32 (k,), row x columns + column.
        values: int8 (k,), from then on: -1 unknown, 0 free, 100 occupied.
    """

    grid: Grid
    steps: np.ndarray
    cells: np.ndarray
    values: np.ndarray

    @property
    def before(self) -> np.ndarray:
        """The value of each cell before its change, int8 (k,)."""
        before, now = np.empty_like(self.values), self.grid.cells.flatten()
        begins = np.flatnonzero(np.diff(self.steps, prepend=-1, append=np.iinfo(np.int32).max)).tolist()
        for begin, end in pairwise(begins):  # at one step a cell changes once
            before[begin:end] = now[self.cells[begin:end]]
            now[self.cells[begin:end]] = self.values[begin:end]
        return before


@dataclass(frozen=True)
class MapChanges(_Fixed):
    """The maps as they grew, ``map_changes.npz``.

    Attributes:
        steps: int64 (s,), the recorded steps; in between, a map is as it was at the one before.
        of: the changes of each robot's map by its name, and of the merged map, by the name None.
    """

    steps: np.ndarray
    of: dict[str | None, Changes]

    def at(self, step: int, robot: str | None = None) -> Grid:
        """Return a map at the end of a step: -1 unknown, 0 free, 100 occupied.

        Args:
            step: the step; if it was not recorded, the map is that of the recorded one before.
            robot: name of the robot; None: the merged map.

        Raises:
            UnknownNameError: no map of this robot was recorded.
        """
        if robot not in self.of:
            raise UnknownNameError("robot with a recorded map", str(robot), [name for name in self.of if name])
        changes = self.of[robot]
        end, cells = np.searchsorted(changes.steps, step, side="right"), changes.grid.cells.copy()
        cells.reshape(-1)[changes.cells[:end]] = changes.values[:end]  # of several changes of a cell the last one stays
        return changes.grid.with_cells(cells)

    @staticmethod
    def load(path: Path, names: Sequence[str], maps: Maps | None) -> "MapChanges":
        """Read ``map_changes.npz`` of a run that ended with ``maps``.

        Raises:
            ValueError: a map has another shape than at the end; other errors if the arrays cannot be read.
        """
        arrays = read_blocks(path)
        of = dict[str | None, Changes]()
        for robot, grid in _places(arrays, maps):
            of[None if robot == UNION else names[robot]] = _changes_of(robot, grid, arrays)
        return MapChanges(_whole(arrays["recorded"]).astype(np.int64), of)


def _places(arrays: dict[str, np.ndarray], maps: Maps | None) -> Iterator[tuple[int, Grid]]:
    for robot, (x, y, yaw, resolution), shape in zip(
        arrays["of"].tolist(), arrays["place"].tolist(), arrays["shape"].tolist(), strict=True
    ):
        at_end = None if maps is None else maps.union if robot == UNION else maps.robots[robot]
        if at_end is None or tuple(shape) != at_end.shape:
            has = "no such map" if at_end is None else f"{at_end.shape[0]} x {at_end.shape[1]}"
            whose = "the merged map" if robot == UNION else f"the map of robot {robot}"
            raise ValueError(f"{whose} has {' x '.join(map(str, shape))} cells, but in maps.npz {has}")
        cells = np.full(shape, -1, np.int8)
        cells.flags.writeable = False
        yield robot, Grid(cells, resolution, (x, y, yaw))


def _changes_of(robot: int, grid: Grid, arrays: dict[str, np.ndarray]) -> Changes:
    nothing = {name: np.zeros(0, np.int32) for name in ("step", "robot", "count", "cell")}
    arrays = {**nothing, "value": np.zeros(0, np.int8), **arrays}
    _check(arrays["value"].dtype == np.int8 and robot >= UNION)
    ends = np.cumsum(_whole(arrays["count"]), dtype=np.int64)
    _check(len(arrays["step"]) == len(arrays["robot"]) == len(ends))
    _check(len(arrays["cell"]) == len(arrays["value"]) == (ends[-1] if len(ends) else 0))
    mine = np.flatnonzero(arrays["robot"] == robot).tolist()
    parts = [slice(ends[k] - arrays["count"][k], ends[k]) for k in mine]
    cells = [np.cumsum(arrays["cell"][part], dtype=np.int32) for part in parts]  # they are stored as differences
    _check(all(len(some) and some.min() >= 0 and some.max() < grid.cells.size for some in cells))
    return Changes(
        grid,
        np.repeat(arrays["step"][mine], arrays["count"][mine]),
        np.concatenate([np.zeros(0, np.int32), *cells]),
        np.concatenate([np.zeros(0, np.int8), *(arrays["value"][part] for part in parts)]),
    )


def _whole(values: np.ndarray) -> np.ndarray:
    """Return a row of whole numbers, or refuse anything else."""
    _check(values.ndim == 1 and values.dtype.kind == "i")
    return values


def _check(belongs: bool) -> None:
    if not belongs:
        raise ValueError("its arrays do not belong together")
