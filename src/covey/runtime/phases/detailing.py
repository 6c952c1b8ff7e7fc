"""Detailing: what a run records besides its tables, and what viewers see of it: plans, scans, maps as they grow."""

import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from covey.geometry.grid import Grid
from covey.geometry.se2 import compose
from covey.results.details import UNION, arrays_of_draws
from covey.results.recorder import Recorder
from covey.results.recording import Details

if TYPE_CHECKING:
    from covey.runtime.phases.sensing import SensorBank
    from covey.runtime.simulation import Simulation


class Detailing:
    """Records plans, scans and maps as they grow.

    Args:
        sim: the simulation; nothing of it is changed.
        recorder: its recorder.
        record: what is recorded.

    Attributes:
        due: whether anything is recorded in some step of this run.
    """

    def __init__(self, sim: "Simulation", recorder: Recorder, record: Details):
        self._sim, self._recorder, self._record = sim, recorder, record
        self._plans: dict[int, Any] = {}  # version of the last recorded plan, by robot
        self._scans, self._maps = RecordingPeriod(record.scans_every_s), RecordingPeriod(record.maps_every_s)
        self._has_plans = record.plans and bool(sim.deciding.answered)
        self._has_readings = record.readings and bool(sim.sensing.banks)
        self._lidars = sim.sensing.feeding("scan")
        self._scanned: dict[int, int] = {}  # substep of the last recorded scans, by bank
        self._growing: list[Growing] = []
        self._read: set[int] = set()  # banks with recorded readings
        self._recorded = -1  # last step whose maps are recorded
        periods = record.scans_every_s, record.maps_every_s
        self.due = self._has_plans or self._has_readings or any(every_s is not None for every_s in periods)

    def observe(self) -> None:
        """Record what is due at the end of a step."""
        if self._has_plans:
            self._add_plans()
        if self._has_readings:
            self._add_readings()
        if self._scans.is_due(self._sim.time):
            self._add_scans()
        if self._maps.is_due(self._sim.time):
            self.add_maps()

    def _add_readings(self) -> None:
        """Record the readings that have come in this step."""
        clock = self._sim.clock
        for k, bank in enumerate(self._sim.sensing.banks):
            for sample in (one for one in bank.samples if one.readings is not None):
                arrays = _row(step=clock.step) | {"time_s": np.array([sample.substep * clock.substep_s])}
                if k not in self._read:
                    arrays |= {"robot": bank.members.astype(np.int32), "sensor": np.array([bank.record.name])}
                    arrays |= arrays_of_draws(bank.record.drawn(sample.readings))
                for name, values in sample.readings.arrays().items():
                    if name not in sample.readings.shared or k not in self._read:
                        arrays |= {
                            f"values/{name}": values.ravel(),
                            f"shape/{name}": np.array([values.shape], np.int32),
                        }
                self._read.add(k)
                self._recorder.add_arrays("readings", {f"{k}/{name}": array for name, array in arrays.items()})

    def _add_plans(self) -> None:
        driving = set()
        for i, navigator in navigators(self._sim) or ():
            version = navigator.route_version
            if version is None:
                continue
            driving.add(i)
            if version != self._plans.get(i):
                self._plans[i] = version
                self._add_plan(i, route_of(self._sim, i, navigator))
        if len(driving) < len(self._plans):
            for i in sorted(self._plans.keys() - driving):
                del self._plans[i]
                self._add_plan(i, np.zeros((0, 2)))

    def _add_plan(self, robot: int, points: np.ndarray) -> None:
        row = {"step": self._sim.clock.step, "robot": robot, "count": len(points)}
        self._recorder.add_arrays("plans", {**_row(**row), "point": points})

    def _add_scans(self) -> None:
        clock = self._sim.clock
        for k, bank in enumerate(self._lidars):
            sample = bank.newest
            if sample is None or sample.readings is None or sample.substep == self._scanned.get(k):
                continue
            arrays = {} if k in self._scanned else _facts(bank)
            self._scanned[k] = sample.substep
            arrays |= _row(step=clock.step)
            arrays["time_s"] = np.array([sample.substep * clock.substep_s])
            arrays["pose"] = compose(sample.pose[bank.members], sample.readings.mount)[None]
            arrays["ranges"] = sample.readings.ranges[None].astype(np.float32)
            self._recorder.add_arrays("scans", {f"{k}/{name}": array for name, array in arrays.items()})

    def add_maps(self) -> None:
        """Record what has changed in the maps."""
        if self._record.maps_every_s is None or self._recorded == self._sim.clock.step:
            return
        if not self._growing:
            self._growing = list(growing_maps(self._sim))
            for one in self._growing:
                place = {"place": np.array([[*one.grid.origin, one.grid.resolution]])}
                shape = {"shape": np.array([one.grid.shape], np.int32)}
                self._recorder.add_arrays("map_changes", _row(of=one.robot) | place | shape)
        self._recorded = step = self._sim.clock.step
        self._recorder.add_arrays("map_changes", _row(recorded=step))
        for one in self._growing:
            cells, values = one.changes()
            if len(cells):
                row = _row(step=step, robot=one.robot, count=len(cells))
                changes = {"cell": np.diff(cells, prepend=0).astype(np.int32), "value": values}  # small numbers
                self._recorder.add_arrays("map_changes", row | changes)


class RecordingPeriod:
    """Says which steps are recorded: the first one, and the first at or after each multiple of a period [s]."""

    def __init__(self, every_s: float | None):
        self._every_s, self._number = every_s, -1

    def is_due(self, time_s: float) -> bool:
        """Return whether a step is recorded; the times grow from call to call."""
        if self._every_s is None:
            return False
        before, self._number = self._number, math.floor(time_s / self._every_s + 1e-9)
        return self._number > before


class Growing:
    """A map that changes.

    Args:
        robot: whose map it is; `UNION`: the merged map.
        of: returns the map.
        version: returns a value that differs if the map may have changed.
    """

    def __init__(self, robot: int, of: Callable[[], Grid], version: Callable[[], Any]):
        self.robot, self._of, self._version_of = robot, of, version
        self.grid = of()
        self._known = np.full(self.grid.shape, -1, np.int8).ravel()
        self._version: Any = None

    def changes(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the cells that have changed since the last call, ascending, and their values, int8; at first -1."""
        version = self._version_of()
        if version == self._version:
            return np.zeros(0, np.int64), np.zeros(0, np.int8)
        self._version = version
        now = self._of().cells.ravel()
        cells = np.flatnonzero(now != self._known)
        values = self._known[cells] = now[cells]
        return cells, values


def growing_maps(sim: "Simulation") -> Iterator[Growing]:
    """Yield the maps of the robots, and the merged map."""
    localization = sim.localization
    for robot, belief in sorted(localization.belief_of.items()):
        place = localization.map_in_world(robot)
        yield Growing(
            robot,
            lambda place=place, belief=belief: place.with_cells(belief.occupancy()),
            lambda belief=belief: belief.version,
        )
    if localization.teams:
        beliefs = localization.teams[0].beliefs
        yield Growing(UNION, sim.scoring.union, lambda: beliefs.version.tobytes())  # type: ignore[arg-type]


def navigators(sim: "Simulation") -> Iterator[tuple[int, Any]] | None:
    """Return the navigators that drive robots to a goal now, by team index; None: they are in other processes."""
    found = sim.deciding.host.navigators()
    if not found:
        return None if found is None else iter(())
    gone = sim.deciding.failed | sim.deciding.lost
    return ((i, navigator) for i, navigator in found if i not in gone)


def route_of(sim: "Simulation", robot: int, navigator: Any) -> np.ndarray:
    """Return the points ahead of a robot in the world frame [m], the goal last, float64 (k, 2); none without a goal."""
    route, frames = navigator.route, sim.localization.frames
    if route is None:
        return np.zeros((0, 2))
    if frames is None:
        return route
    return compose(frames[robot], np.column_stack((route, np.zeros(len(route)))))[:, :2]


def _facts(bank: "SensorBank") -> dict[str, np.ndarray]:
    """Return what never changes of the scans of a bank."""
    return {
        "robot": bank.members.astype(np.int32),
        "sensor": np.array([bank.record.name]),
        "angle": bank.record.angles,
        "range_m": np.array([bank.record.range_m]),
    }


def _row(**values: int) -> dict[str, np.ndarray]:
    return {name: np.array([value], np.int32) for name, value in values.items()}
