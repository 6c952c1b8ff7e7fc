"""Driving for selective spiraling: exactly straight from tile to tile, and around obstacles."""

import math
from collections.abc import Callable

import numpy as np

from covey.geometry import wrap_angle
from covey.onboard.handle import Robot
from covey.planning.astar import astar
from covey.planning.progress import ProgressTimer
from covey.planning.shorten import shorten

_AT_M = 0.03
_PAUSE_S, _STALL_S = 1.5, 4.0
_DETOUR = 4.0
_AIM = math.radians(1.5)

Until = Callable[[Robot], bool]


class LaneDriver:
    """Drives lanes of tiles of a given size [m]; calls ``step`` at every step on the way.

    Attributes:
        speed: the robot's speed in its last step [m/s].
    """

    def __init__(self, tile_m: float, step: Until):
        self._tile_m, self._step, self.speed = tile_m, step, 0.0

    async def straight(self, robot: Robot, place: tuple[float, float], until: Until) -> str:
        """Turn to a place and drive straight there; return "arrived", "changed" (``until`` is true) or "stalled"."""
        while True:
            if _is_off(robot, place, self.speed):
                x, y = _rest(robot, self.speed)
                angle = wrap_angle(math.atan2(place[1] - y, place[0] - x) - robot.pose[2])
                await robot.turn(angle, until=lambda r: self._step(r) or _is_aimed(r, place))
            progress = ProgressTimer(0.5 * self._tile_m, _PAUSE_S)
            progress.restart(robot.time, *robot.pose[:2])
            why = "stalled"

            def over(r: Robot, progress: ProgressTimer = progress) -> bool:
                nonlocal why
                self._step(r)
                if math.dist(place, _rest(r, r.twist[0])) < _AT_M:
                    why = "arrived"
                elif until(r):
                    why = "changed"
                elif not progress.expired(r.time, *r.pose[:2]):
                    why = "off"
                    return _is_off(r, place, 0.0) and r.twist[0] > 0.0
                else:
                    why = "stalled"
                return True

            outcome = await robot.forward(math.dist(place, robot.pose[:2]), until=over)
            if outcome or why != "off":
                return "arrived" if outcome else why

    async def go_around(self, robot: Robot, place: tuple[float, float], until: Until) -> str:
        """Go to a place around obstacles; returns the same as `straight`."""
        row, column = robot.map.grid.to_cells(place).tolist()  # type: ignore[union-attr]
        way_s = float(robot.travel_cost()[row, column]) / robot.model.max_speed_m_s
        progress, end_s = ProgressTimer(0.5 * self._tile_m, _STALL_S), robot.time + _STALL_S + _DETOUR * way_s
        progress.restart(robot.time, *robot.pose[:2])
        why = "stalled"

        def over(r: Robot) -> bool:
            nonlocal why
            self._step(r)
            if until(r):
                why = "changed"
            return why == "changed" or r.time > end_s or progress.expired(r.time, *r.pose[:2])

        outcome = await robot.goto(place, tolerance_m=0.2 * self._tile_m, until=over)
        return "arrived" if outcome else why


def corners_to(robot: Robot, place: tuple[float, float], room: np.ndarray) -> list[tuple[float, float]]:
    """Return the corners of the shortest path to a place on which the body fits; empty if there is none."""
    grid = robot.map.grid  # type: ignore[union-attr]
    start, end = (tuple(grid.to_cells(p).tolist()) for p in (robot.pose[:2], place))
    cost = np.where(room, np.float32(1.0), np.float32(np.inf))
    cost[start] = cost[end] = 1.0
    path = astar(cost, start, end)
    robot.charge_search(path.work)
    if not math.isfinite(path.cost):
        return []
    x, y = grid.to_world(shorten(path.cells, cost, 0.02))[1:-1].T.tolist()
    return [*zip(x, y, strict=True), place]


def _rest(robot: Robot, v: float) -> tuple[float, float]:
    """Return where a robot at a speed [m/s] comes to rest if it stops now [m]."""
    x, y, heading = robot.pose
    ahead = v * (robot.model.speed_lag_s + robot.model.command_delay_s)
    return x + ahead * math.cos(heading), y + ahead * math.sin(heading)


def _is_off(robot: Robot, place: tuple[float, float], v: float) -> bool:
    """Return whether a robot at a speed [m/s] will miss a place if it drives straight on."""
    x, y = _rest(robot, v)
    angle = abs(wrap_angle(math.atan2(place[1] - y, place[0] - x) - robot.pose[2]))
    return angle > _AIM and math.dist(place, (x, y)) * angle > _AT_M


def _is_aimed(robot: Robot, place: tuple[float, float]) -> bool:
    """Return whether a robot will face a place if it stops turning now."""
    x, y = robot.pose[:2]
    lag_s = robot.model.turn_lag_s + robot.model.command_delay_s
    return abs(wrap_angle(math.atan2(place[1] - y, place[0] - x) - robot.pose[2] - robot.twist[2] * lag_s)) < _AIM
