"""Shared by the coverage strategies: exact straight lanes, a record of covered cells, and the cleanup at the end."""

import math
from typing import Any

import numpy as np

from covey.controllers.exploration.frontier_loop import explore
from covey.controllers.exploration.nearest_frontier import choose_nearest
from covey.controllers.teammates import Teammates
from covey.errors import InvalidValueError
from covey.kernel import kernel
from covey.lazy import ndimage
from covey.onboard.driving import DriveLimits, approach_speed
from covey.onboard.handle import Robot
from covey.planning.astar import astar
from covey.planning.costs import clearance, traversal_cost
from covey.planning.progress import ProgressTimer
from covey.planning.shorten import shorten

_SWEPT = "swept"
_TELL_S = 1.0
_WAIT_S = 2.0
_AHEAD_M = 0.3
_NEAR_M, _TOUCH_M = 0.5, 0.1
_STALL_S = 4.0
_ROUNDING_M = 0.01
_FRONTIER_CELLS = 8
_YIELD_S = 5.0


class Sweep:
    """One robot's record of what is covered and what is left, and its driver.

    Robots tell each other once a second where they have driven. A robot out of reach is assumed to have covered
    nothing.

    Args:
        robot: a robot whose map is complete, or will not become more complete.
        gap_m: gap kept to walls on lanes [m].

    Attributes:
        grid: the robot's map.
        clearance: distance of each cell's centre from walls [m].
        standing: where the body's centre may be, bool (rows, columns).
        goal: cells that the body can cover.
        done: cells that some robot has covered, or that turned out to be unreachable.
        mates: what the others have reported about themselves.
        goal_point: a point [m] of the cell that the robot covers now, to be told to the others.
        facts: other data to be told to the others.
    """

    def __init__(self, robot: Robot, gap_m: float = 0.02):
        if robot.map is None:
            raise InvalidValueError(f"{robot.name} has no map to cover; give its robot a lidar and `mapping`")
        self.radius, self.gap_m = robot.model.outer_radius_m, gap_m
        self.mates = Teammates()
        self.goal_point: tuple[float, float] | None = None
        self.facts: dict[str, Any] = {}
        self.limits = DriveLimits.of(robot.model)
        self._discs = np.array(robot.model.body_discs)
        self._trail: list[tuple[float, float, float]] = []
        self._told_s = 0.0
        self._version = -1
        self.update(robot)
        self.done = np.zeros(self.grid.shape, bool)

    def update(self, robot: Robot) -> None:
        """Read the present map: occupied cells, where the body fits, and what it can cover."""
        assert robot.map is not None
        if robot.map.version == self._version:
            return
        self._version, self.grid = robot.map.version, robot.map.grid
        cells, resolution = self.grid.cells, self.grid.resolution
        walls = np.where(cells < 0, 100, cells).astype(np.int8)  # unknown cells are not floor
        self.clearance = clearance(walls, resolution, self.radius + 3 * resolution)
        room = (cells == 0) & (self.clearance >= self.radius + self.gap_m - 1e-6)
        labels = np.empty(room.shape, np.int32)
        ndimage.label(room, np.ones((3, 3)), output=labels)
        row, column = self.cell_of(*robot.pose[:2])
        near = labels[max(row - 3, 0) : row + 4, max(column - 3, 0) : column + 4]
        self.standing = room & (labels == (labels[row, column] or near.max(initial=0)))
        reach_m = self.radius - 0.5 * resolution + 1e-6  # `clearance` ends at the side of a cell
        stands = np.where(self.standing, np.int8(100), np.int8(0))
        away = clearance(stands, resolution, max(reach_m, 0.0) + resolution)
        self.goal = (cells == 0) & (self.standing | (away <= reach_m))

    @property
    def left(self) -> np.ndarray:
        """Cells left to cover, bool (rows, columns)."""
        return self.goal & ~self.done

    def cell_of(self, x: float, y: float) -> tuple[int, int]:
        """Return the row and column of a point [m], clipped to the map."""
        row, column = self.grid.to_cells((x, y)).tolist()
        return min(max(row, 0), self.grid.shape[0] - 1), min(max(column, 0), self.grid.shape[1] - 1)

    def mark(self, robot: Robot) -> bool:
        """Record what the body stands on and what the others covered, and tell the others; always return False.

        The message holds the robot's pose, `goal_point` and `facts`.
        """
        pose = (float(robot.pose[0]), float(robot.pose[1]), float(robot.pose[2]))
        poses = np.array(pose)[None]
        self._trail.append(pose)
        if messages := robot.messages(_SWEPT):
            poses = np.vstack((poses, *(message.payload for message in messages)))
        mark_covered(self.done, poses, self._discs, self.grid.origin[0], self.grid.origin[1], self.grid.resolution)
        if robot.time >= self._told_s + _TELL_S - 1e-9:
            robot.send(np.array(self._trail), kind=_SWEPT)
            self._trail, self._told_s = [], robot.time
        self.mates.step(robot, self.goal_point, **self.facts)
        return False

    # -- driving ---------------------------------------------------------------------------------------------------

    async def go(self, robot: Robot, x: float, y: float) -> bool:
        """Go to a point [m]: straight if the body fits along the line, else around walls, piece by piece.

        If another robot blocks the path for some seconds, the navigator finds a path around it, unless the other robot
        is at the point itself.
        """
        corners = [(x, y)] if self.is_straight(robot.pose[:2], (x, y)) else self._around(robot, x, y)
        for corner in corners:
            if not await self.straight(robot, *corner):
                return not self._occupied(robot, x, y) and await self._navigate(robot, x, y)
        if (
            not corners and not self.standing[self.cell_of(*robot.pose[:2])]
        ):  # for example beside a team mate that has left its shadow on the map
            return await self._navigate(robot, x, y)
        if not corners:
            await robot.sleep(0.0, until=self.mark)  # let one step pass, even if nothing can be reached
        return bool(corners)

    def _around(self, robot: Robot, x: float, y: float) -> list[tuple[float, float]]:
        """Return the corners of the shortest path to a point [m] on which the body fits; empty if there is none."""
        comfort_m, start, target = self.radius + 3.0 * self.grid.resolution, robot.pose[:2], self.cell_of(x, y)
        walls = np.where(self.grid.cells < 0, 100, self.grid.cells).astype(np.int8)
        for spare_m in (0.5 * self.grid.resolution, 0.0):  # paths cut corners by up to half a cell
            cost = traversal_cost(walls, self.clearance, self.radius + self.gap_m + spare_m, comfort_m, 1.0, np.inf)
            cost[target] = min(float(cost[target]), 50.0)
            path = astar(cost, self.cell_of(*start), target)
            robot.charge_search(path.work)
            if math.isfinite(path.cost):
                points = self.grid.to_world(shorten(path.cells, cost, 0.02))[1:-1]
                return [*((float(a), float(b)) for a, b in points), (x, y)]
        return []

    async def _navigate(self, robot: Robot, x: float, y: float) -> bool:
        timer = ProgressTimer(0.2, _STALL_S)
        timer.restart(robot.time, *robot.pose[:2])

        def near(r: Robot) -> bool:
            self.mark(r)
            close = math.hypot(r.pose[0] - x, r.pose[1] - y) < 0.5 and self.is_straight(r.pose[:2], (x, y))
            return close or timer.expired(r.time, *r.pose[:2])

        await robot.goto((x, y), tolerance_m=0.1, until=near)
        return self.is_straight(robot.pose[:2], (x, y)) and await self.straight(robot, x, y)

    def is_straight(self, a: tuple[float, float], b: tuple[float, float]) -> bool:
        """Return whether the body fits along the straight line between two points [m]."""
        (x0, y0), resolution = self.grid.origin[:2], self.grid.resolution
        steps = np.linspace(0.0, 1.0, 2 + math.ceil(2.0 * math.dist(a, b) / resolution))[:, None]
        columns, rows = ((np.array(a) + steps * (np.array(b) - a) - (x0, y0)) / resolution - 0.5).T
        signed = np.where(self.clearance > 0, self.clearance, -0.5 * resolution)  # 0 at the face of a wall
        beside = ndimage.map_coordinates(signed, [rows, columns], order=1, mode="nearest")
        return bool(beside.min() >= self.radius + self.gap_m - _ROUNDING_M)

    async def straight(self, robot: Robot, x: float, y: float) -> bool:
        """Drive straight to a point [m]; return False if something has blocked the path for some seconds."""
        x0, y0 = robot.pose[0], robot.pose[1]
        length = math.hypot(x - x0, y - y0)
        deceleration = 0.8 * min(self.limits.deceleration, 100.0)
        reaction = self.limits.period + self.limits.reaction
        gain, waited_s = min(5.0, 0.5 / reaction), 0.0
        moves = ProgressTimer(0.02, _STALL_S)
        while True:
            px, py, heading = robot.pose
            left = length - ((px - x0) * (x - x0) + (py - y0) * (y - y0)) / max(length, 1e-9)
            if left < 0.01 or length < 0.01:
                robot.stop()
                self.mark(robot)
                return True
            share = min(1.0, (length - left + _AHEAD_M) / length)
            ahead_x, ahead_y = x0 + share * (x - x0) - px, y0 + share * (y - y0) - py
            turn = math.remainder(math.atan2(ahead_y, ahead_x) - heading, math.tau)
            v = min(self.limits.max_speed, approach_speed(left, deceleration, reaction), left / self.limits.period)
            turning = abs(turn) > 0.1
            blocked = not turning and self._blocked(robot, left)
            waited_s = waited_s + self.limits.period if blocked else 0.0
            if waited_s > _WAIT_S or moves.expired(robot.time, px + heading, py):  # it may be pushing against a wall
                robot.stop()
                return False
            if blocked or turning:
                v = 0.0
            robot.drive(v, 0.0 if blocked else self._turn_rate(turn, gain if v else 2.0 * gain, reaction))
            self.mark(robot)
            await robot.sleep(0.0)

    def _turn_rate(self, turn: float, gain: float, reaction: float) -> float:
        stopping = approach_speed(abs(turn), 0.8 * min(self.limits.turn_acceleration, 100.0), reaction)
        limit = min(self.limits.max_turn, stopping)
        return max(-limit, min(limit, gain * turn))

    def _blocked(self, robot: Robot, left: float) -> bool:
        """Return whether something blocks the path ahead, before its end; for all a blind robot knows, it does."""
        if robot.blind:
            return True
        scan, others = getattr(robot, "lidar", None), getattr(robot, "neighbours", None)
        if others is not None and len(others.ranges):
            ahead, beside = others.ranges * np.cos(others.bearings), others.ranges * np.sin(others.bearings)
            first = others.identities < robot.team.index(robot.name)  # earlier robots of the team have priority
            reach = 2.0 * self.radius + np.where(first, np.minimum(_NEAR_M, left + 0.1), _TOUCH_M)
            if ((ahead > 0) & (ahead < reach) & (np.abs(beside) < 2.0 * self.radius + _TOUCH_M)).any():
                return True
        if scan is None:
            return False
        ranges = np.nan_to_num(scan.ranges, nan=1e3, posinf=1e3)
        ahead, beside = ranges * np.cos(scan.angles), ranges * np.sin(scan.angles)
        free = ahead - self.radius
        narrow = np.abs(beside) < self.radius - 0.03
        return bool((narrow & (ahead > 0) & (free < min(0.25, left - 0.05))).any())

    def _occupied(self, robot: Robot, x: float, y: float) -> bool:
        """Return whether another robot in sight is so close to a point [m] that the body does not fit there."""
        others = getattr(robot, "neighbours", None)
        if others is None or not len(others.ranges):
            return False
        bearing = robot.pose[2] + others.bearings
        off_x = robot.pose[0] + others.ranges * np.cos(bearing) - x
        off_y = robot.pose[1] + others.ranges * np.sin(bearing) - y
        return bool((np.hypot(off_x, off_y) < 3.0 * self.radius).any())

    # -- what is left ------------------------------------------------------------------------------------------------

    def mine(self, robot: Robot, left: np.ndarray) -> np.ndarray:
        """Return the cells of ``left`` to which no recently heard robot is nearer, bool (rows, columns)."""
        cells = np.argwhere(left)
        points = self.grid.to_world(cells)
        own = np.hypot(*(points - robot.pose[:2]).T)
        keep = np.ones(len(cells), bool)
        for name, mate in self.mates.others(robot).items():
            away = np.hypot(*(points - mate.pose[:2]).T)
            keep &= (own < away) | ((own == away) & (robot.name < name))
        mask = np.zeros(left.shape, bool)
        mask[tuple(cells[keep].T)] = True
        return mask

    async def finish(self, robot: Robot) -> None:
        """Cover what is left, the nearest first; each robot covers what it is nearest to. Ends when nothing is left.

        After some seconds the robot also covers cells to which others are nearer: they may have given these cells up,
            or
        cover them out of reach. Cells that a growing map adds are covered, too.
        """
        robot.note("what is left")
        yield_s = _YIELD_S * (1 + robot.team.index(robot.name))  # not all at once
        changed_s, cells = robot.time, -1
        while True:
            self.update(robot)
            left = self.left
            if np.count_nonzero(left) != cells:
                changed_s, cells = robot.time, np.count_nonzero(left)
            if not left.any():
                if not len(robot.frontiers(min_cells=_FRONTIER_CELLS)):
                    return
                before = self._version
                await know_the_place(robot)
                if robot.map is None or robot.map.version == before:
                    return
                continue
            mask = self.mine(robot, left)
            if not mask.any() and robot.time < changed_s + yield_s:
                await robot.sleep(0.5, until=self.mark)  # the others are working on it
                continue
            await self.visit_nearest(robot, mask if mask.any() else left)

    async def visit_nearest(self, robot: Robot, mask: np.ndarray) -> None:
        """Cover the cell of ``mask``, bool (rows, columns), that is nearest in a straight line, or give it up."""
        target = self._nearest(robot, mask)
        place = self._stand_for(robot, target)
        if place is not None:
            await self.go(robot, *place)
        self.done[target] = True  # covered, or unreachable

    def _nearest(self, robot: Robot, mask: np.ndarray) -> tuple[int, int]:
        """Return the cell of a mask that is nearest in a straight line."""
        cells = np.argwhere(mask)
        row, column = cells[np.argmin(np.hypot(*(self.grid.to_world(cells) - robot.pose[:2]).T))].tolist()
        return row, column

    def _stand_for(self, robot: Robot, cell: tuple[int, int]) -> tuple[float, float] | None:
        """Return the nearest point [m] from which the body covers a cell; None if there is none."""
        reach = math.ceil(self.radius / self.grid.resolution)
        top, first = max(cell[0] - reach, 0), max(cell[1] - reach, 0)
        window = self.standing[top : cell[0] + reach + 1, first : cell[1] + reach + 1]
        stands = np.argwhere(window) + np.array([top, first])
        off = np.hypot(*(stands - cell).T) * self.grid.resolution
        if not len(stands):
            return None
        row, column = stands[np.argmin(off)].tolist()
        room = float(self.clearance[row, column]) - self.radius - self.gap_m  # a cell of the map is coarser than that
        (x, y), (cx, cy) = self.grid.to_world((row, column)).tolist(), self.grid.to_world(cell).tolist()
        share = min(1.0, max(room, 0.0) / max(math.hypot(cx - x, cy - y), 1e-9))
        return x + share * (cx - x), y + share * (cy - y)


@kernel
def mark_covered(done, poses, discs, x0, y0, resolution):
    """Set, in place, the cells whose centres lie under bodies.

    Args:
        done: bool (rows, columns).
        poses: float64 (k, 3), x, y [m], heading [rad] of the bodies.
        discs: float64 (d, 3), x, y in the body frame, radius [m] of the discs of a body.
        x0, y0, resolution: corner of the grid and side of its cells [m].
    """
    for i in range(poses.shape[0]):
        cosine, sine = math.cos(poses[i, 2]), math.sin(poses[i, 2])
        for d in range(discs.shape[0]):
            u = (poses[i, 0] + cosine * discs[d, 0] - sine * discs[d, 1] - x0) / resolution - 0.5
            v = (poses[i, 1] + sine * discs[d, 0] + cosine * discs[d, 1] - y0) / resolution - 0.5
            r = discs[d, 2] / resolution
            for row in range(max(math.ceil(v - r), 0), min(math.floor(v + r) + 1, done.shape[0])):
                for column in range(max(math.ceil(u - r), 0), min(math.floor(u + r) + 1, done.shape[1])):
                    if (row - v) ** 2 + (column - u) ** 2 <= r * r:
                        done[row, column] = True


async def know_the_place(robot: Robot) -> None:
    """Explore first if the map has frontiers; a robot with a given map continues at once."""
    if len(robot.frontiers(min_cells=_FRONTIER_CELLS)):
        await explore(robot, choose_nearest, definition="explore", min_cells=8, replan_s=10.0)
