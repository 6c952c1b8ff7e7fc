"""The software of a robot, or a controller of several robots, under a watchdog: in a process, a node or a replay."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from covey.geometry import Pose
from covey.geometry.grid import Grid
from covey.mapping.exchange.apart import Changes
from covey.mapping.occupancy.apart import BeliefStart
from covey.onboard.alone import RobotAlone
from covey.onboard.controller import Program
from covey.onboard.group_answer import answer_of
from covey.onboard.group_view import GroupView
from covey.onboard.handle import Robot
from covey.onboard.step import (
    GroupInput,
    GroupOutput,
    Located,
    MapInput,
    ScanInput,
    SenseInput,
    StepInput,
    StepOutput,
)
from covey.runtime.local.watchdog import Watchdog, failed
from covey.runtime.remote.spawn_spec import GroupSpawn, RobotSpawn
from covey.sensors.lidar import LidarReading


class RobotAgent(RobotAlone):
    """The software of a robot whose controller a watchdog looks after; its failure becomes a part of its output."""

    def __init__(self, spawn: RobotSpawn, watchdog: Watchdog, begin_s: float = 0.0):
        self._watchdog = watchdog
        super().__init__(spawn, begin_s)

    def act(self, shown: StepInput) -> StepOutput:
        """Let the controller act; an error is in its output."""
        try:
            with self._watchdog:
                return self.onboard.step(shown)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            return self.onboard.failed(failed(error, self._watchdog))

    def close(self) -> None:
        """End the controller (a coroutine's ``finally`` blocks run)."""
        with self._watchdog:
            super().close()


class GroupAgent:
    """A controller of a group or of the whole team that shares no memory with the simulation."""

    def __init__(self, spawn: GroupSpawn, watchdog: Watchdog):
        self._watchdog = watchdog
        self._program = spawn.program
        self._call: Any = None
        self._views = {facts.name: GroupView(facts) for facts in spawn.facts}

    def step(self, shown: Sequence[GroupInput]) -> GroupOutput:
        """Let the controller act on the input of its robots."""
        views = {given.name: self._views[given.name].at(*given[2:]) for given in shown}
        view = views if self._program.scope == "team" else next(iter(views.values()))
        try:
            with self._watchdog:
                self._call = self._call or self._program.bound()
                return answer_of(self._call, view)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            return GroupOutput(failure=failed(error, self._watchdog))

    def close(self) -> None:
        """End."""


def answered_localize(agent: RobotAgent, sensed: SenseInput) -> tuple[Located, Changes | None]:
    """Let a robot find out where it is; return that, and what it has corrected in its map."""
    return agent.localize(sensed), agent.changes()


def answered_map(agent: RobotAgent, given: MapInput) -> Changes | None:
    """Let a robot map with a scan; return what that has changed in its map."""
    return agent.changes() if agent.map(given) else None


def warm_up(spawn: RobotSpawn) -> None:
    """Load the code that a robot usually runs, so that later steps are not late and measure only themselves."""
    place, own, here = None, spawn.localization, Pose(3.0, 3.0, 0.0)
    laser = spawn.laser or (None if own is None else own.laser)
    if spawn.laser is not None and isinstance(spawn.map, BeliefStart):
        mapping = spawn.map.mapping.model_copy(update={"resolution_m": _CELL_M})
        size = _CELLS * _CELL_M, _CELLS * _CELL_M
        place = BeliefStart(0, ["rehearsing"], size, (0.0, 0.0), mapping, spawn.map.rule)
    if own is not None:
        plans = dict.fromkeys(own.plans, _hall())
        own = (
            None if getattr(own.record, "from_", None) else dataclasses.replace(own, plans=plans, start=np.array(here))
        )
    program = Program(_stroll)
    sensors = ("lidar",) if place is not None else ()
    spec = dataclasses.replace(spawn.spec, home=here, program=program, sensors=sensors, waypoints=None)
    spawn = dataclasses.replace(spawn, spec=spec, map=place, localization=own)
    agent = RobotAgent(spawn, watchdog := Watchdog(1e9))
    try:
        readings: tuple[Any, ...] = ()
        scan = None if laser is None else ScanInput(0.0, np.full(len(laser.angles), 2.0))
        for step in range(2) if own is not None else ():
            agent.localize(SenseInput(step, 0.1 * step, [(0.1 * step, np.zeros(3))], scan=scan))
        if place is not None and laser is not None:
            assert scan is not None
            told = {} if own is not None else {"pose": np.array(here), "covariance": np.zeros((3, 3))}
            agent.map(MapInput(0, scan, **told))
            readings = (LidarReading(scan.measured, laser.angles, laser.range_max, np.array(laser.mount)),)
        for step in range(4):
            agent.step(StepInput(0.1 * step, here, readings=readings))
    finally:
        agent.close()
        watchdog.close()


_CELLS, _CELL_M = 64, 0.1


def _hall() -> Grid:
    """Return a map of an empty hall to rehearse in."""
    cells = np.full((_CELLS, _CELLS), 100, np.int8)
    cells[1:-1, 1:-1] = 0
    return Grid(cells, _CELL_M)


async def _stroll(robot: Robot) -> None:
    if robot.map is not None:
        robot.nearest(robot.frontiers().cells)
    await robot.goto((4.0, 3.5))
