"""Look before leap: drive only over ground that the robot itself has just seen."""

import math

import numpy as np

from covey.controllers.terrain.terrain_driving import Driver
from covey.onboard.handle import Robot

BLIND_M = 0.75
"""Unseen ground within this distance counts as the ground that the robot stands on [m]."""
OLD_S = 30.0
"""Ground that was seen longer ago than this may have changed and is looked at again [s]."""
MARGIN = 0.1
"""Ground that has been drivable may exceed the limit by this much, see `Margin`."""
_SEEN_S = 3.0  # ground seen within this time counts as seen, because nearby ground leaves the field of view
_AHEAD_M = 2.0  # a robot looks this far along its path
_PATIENCE_S = 2.0  # time that it looks at unseen ground before it drives around
_OFF = math.radians(20)


class Looker:
    """Checks that a robot sees the vertices that it is about to drive over.

    Attributes:
        looks: whether the robot stands and looks, and must not drive on.

    References:
        De Rango, Nahavandi: Simulating autonomous robot teams with Microsoft Robotics Studio. 2007.
    """

    def __init__(self) -> None:
        self.looks = False
        self._since_s = math.inf
        self._seen_s = np.empty((0, 0))
        self._newest = -1  # the step of the last reading

    def sees_ahead(self, robot: Robot, driver: Driver) -> tuple[float, float] | None:
        """Turn to unseen ground ahead on the path; return its place [m] if looking there did not help."""
        self._look(robot)
        assert robot.map is not None
        x, y, _ = robot.pose
        grid = robot.map.grid
        ahead = _samples(driver.left(robot), _AHEAD_M)
        cells = grid.to_cells(ahead[np.hypot(ahead[:, 0] - x, ahead[:, 1] - y) > BLIND_M])
        cells = cells[grid.inside(cells)]
        unseen = cells[self._seen_s[cells[:, 0], cells[:, 1]] < robot.time - _SEEN_S]
        self.looks = len(unseen) > 0
        if not self.looks:
            self._since_s = math.inf
            return None
        to_x, to_y = grid.to_world(unseen[0]).tolist()
        robot.note(f"looks at ({to_x:.1f}, {to_y:.1f}) before it leaps")
        if driver.turn_to(robot, math.atan2(to_y - y, to_x - x)) > _OFF:
            self._since_s = math.inf
        elif robot.time > self._since_s + _PATIENCE_S:
            self._since_s = math.inf
            return to_x, to_y
        else:
            self._since_s = min(self._since_s, robot.time)
        return None

    def _look(self, robot: Robot) -> None:
        """Record when the robot itself last saw each vertex [s]."""
        assert robot.map is not None
        last_seen = robot.map.last_seen
        if self._seen_s.shape != last_seen.shape:
            self._seen_s = np.full(last_seen.shape, -math.inf)
        newest = int(last_seen.max())
        if newest > self._newest:  # otherwise nothing new has been seen
            self._newest = newest
            self._seen_s[last_seen == newest] = robot.time


class Margin:
    """Keeps drivable vertices drivable until they are clearly too steep.

    The belief about a vertex at the limit changes every few measurements; paths must not.
    """

    def __init__(self) -> None:
        self._was = np.empty((0, 0), bool)

    def apply(self, robot: Robot, cells: np.ndarray) -> None:
        """Restore, in place, drivable vertices of the robot's map that exceed the limit by at most `MARGIN`."""
        altitude, limit = getattr(robot.map, "altitude", None), getattr(robot.model.mapping, "max_step_m", None)
        if altitude is None or limit is None or robot.map is None:
            return
        if self._was.shape != cells.shape:
            self._was = np.zeros(cells.shape, bool)
        rows, columns = np.nonzero(self._was & (cells > 50))
        if len(rows):
            padded = np.pad(altitude(), 1, constant_values=np.nan)
            around = np.array([padded[rows + i, columns + j] for i in range(3) for j in range(3)])
            most = np.nanmax(np.abs(around - around[4]), axis=0)
            mild = most <= (1.0 + MARGIN) * limit * robot.map.grid.resolution
            cells[rows[mild], columns[mild]] = 0
            self._was[rows[~mild], columns[~mild]] = False
        self._was |= cells == 0


def age_s(robot: Robot) -> np.ndarray:
    """Return the approximate time since the robot saw each vertex [s], in the shape of the map."""
    assert robot.map is not None
    seen = robot.map.last_seen
    return (seen.max() - seen) * (robot.time / (seen.max() + 1.0))


def sight(robot: Robot) -> tuple[float, float]:
    """Return the field of view [degrees] and the range [m] of the robot's mapping sensor."""
    for sensor in robot.model.sensors:
        if {"scan", "ground"} & {*sensor.feeds}:
            return float(getattr(sensor, "fov_deg", 360.0)), float(getattr(sensor, "range_m", 0.0))
    return 360.0, 0.0


def _samples(line: np.ndarray, length_m: float) -> np.ndarray:
    """Return points every half metre along a line, up to a length, float64 (m, 2) [m]."""
    along = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(line, axis=0).T))])
    at = np.arange(0.5, min(length_m, along[-1]) + 1e-9, 0.5)
    return np.column_stack([np.interp(at, along, line[:, k]) for k in (0, 1)])
