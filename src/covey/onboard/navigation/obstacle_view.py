"""Local obstacle view: the present obstacles around a robot, as points."""

import math
from typing import Any

import numpy as np

from covey.planning.obstacles import lidar_points, map_points, move_points, seen_points

_POINTS = 256
_ALL_AROUND = 6.0  # with a lidar of this field of view [rad] the map is not needed


class ObstacleView:
    """Points of nearby obstacles: from the lidar, from the map where the lidar is blind, and of unsafe ground.

    Args:
        reach_m: distance up to which obstacles count [m].
        keep_m: distance kept from unsafe ground [m].
        robot_m: points within this distance of another robot belong to that robot [m].

    Attributes:
        points: float64 (256, 2), in the body frame [m]; the first `count` are in use.
        grid: the frame of the robot's map, or None.
    """

    def __init__(self, reach_m: float, keep_m: float, robot_m: float):
        self._reach, self._keep, self._robot = reach_m, keep_m, robot_m
        self.points, self.count = np.empty((_POINTS, 2)), 0
        self.grid: Any = None
        self._walls = 0  # number of points that are walls; the others are unsafe ground
        self._scan: Any = None
        self._scan_count = 0
        self._angles: Any = None
        self._seen = (1.0, -1.0)
        self._belief: Any = None

    @property
    def nearest_m(self) -> float:
        """The distance of the nearest wall in view from the middle of the robot [m]; inf: there is none."""
        return float(np.hypot(*self.points[: self._walls].T).min(initial=math.inf))

    @property
    def unsafe(self) -> np.ndarray:
        """The border of ground that is not known to be good, in the body frame, float64 (k, 2) [m]."""
        return self.points[self._walls : self.count]

    def update(self, lidar: Any, belief: Any, pose: Any, twist: Any, elapsed_s: float, tracks: np.ndarray) -> None:
        """Collect the present points, without those on tracked robots; lidar and belief may be None.

        An old reading is moved by the robot's own motion.
        """
        self.count = self._walls = self._see_walls(lidar, belief, pose, twist, elapsed_s, tracks)
        if belief is not None:
            self.count = belief.unsafe_ground(self.points, self.count, pose, self._reach, self._keep)

    def _see_walls(self, lidar: Any, belief: Any, pose: Any, twist: Any, elapsed_s: float, tracks: np.ndarray) -> int:
        points, count, (seen_from, seen_to), place = self.points, 0, (1.0, -1.0), ()
        if belief is not None:
            if belief is not self._belief:
                self._belief, self.grid = belief, belief.grid
            x0, y0, _ = self.grid.origin
            place = belief.occupancy(), self.grid.resolution, x0, y0, *pose, min(self._reach, 1.0)
        if lidar is not None:
            angles, (mx, my, yaw) = lidar.angles, lidar.mount.tolist()
            if angles is not self._angles:
                self._angles, self._seen = angles, (yaw + float(angles[0]), yaw + float(angles[-1]))
            seen_from, seen_to = self._seen
            if lidar is not self._scan:
                self._scan = lidar
                scan = points, lidar.ranges, angles, mx, my, yaw, self._reach, 0.04, tracks, self._robot
                if place and seen_to - seen_from < _ALL_AROUND:
                    self._scan_count, count = seen_points(*scan, *place)
                    return count
                self._scan_count = lidar_points(*scan)
            else:
                move_points(points, self._scan_count, *twist, elapsed_s)
            count = self._scan_count
        if place and seen_to - seen_from < _ALL_AROUND:
            count = map_points(points, count, *place, seen_from, seen_to, tracks, self._robot)
        return count
