"""Which robot goes first where two cannot pass each other, and where the other one waits.

Each robot decides alone, from what it sees, by shared rules. A robot in a narrow place comes out first. Of two robots
that want to enter from both sides, the one with the smaller identity goes. A waiting robot stands beside the path, on
the right.
"""

import math
from typing import Any

import numpy as np

from covey.kernel import kernel
from covey.planning.obstacles import AGE, X, Y

AHEAD_M = 2.5
"""A narrow place counts from this distance before it [m]."""
BEYOND_M = 2.5
"""Robots on the other side count up to this distance behind it [m]."""
PATIENCE_S = 4.0
"""A robot that has stood for longer than this does not count as waiting to go [s]."""
GO, WAIT, RETREAT = 0, 1, 2
Aside = tuple[tuple[float, float], float] | None
"""Where to go instead of driving on [m], and for how long at least [s]."""
_RETREAT_S = 4.0


@kernel
def project(line, x, y):
    """Return the place on a line nearest to a point: length along the line, signed distance (left is positive), course.

    Points before the first or behind the last corner are projected on the line's straight continuation [m, m, rad].
    Corners may repeat.
    """
    best, at, off, course = math.inf, 0.0, math.hypot(x - line[0, 0], y - line[0, 1]), 0.0
    s = 0.0
    first, last = 0, line.shape[0] - 2
    while first < last and line[first, 0] == line[first + 1, 0] and line[first, 1] == line[first + 1, 1]:
        first += 1
    while first < last and line[last, 0] == line[last + 1, 0] and line[last, 1] == line[last + 1, 1]:
        last -= 1
    for i in range(first, last + 1):
        dx, dy = line[i + 1, 0] - line[i, 0], line[i + 1, 1] - line[i, 1]
        length = math.hypot(dx, dy)
        if length == 0.0:
            continue
        ux, uy = dx / length, dy / length
        along = (x - line[i, 0]) * ux + (y - line[i, 1]) * uy
        if i > first or along > 0.0:
            along = max(along, 0.0)
        if i < last or along < length:
            along = min(along, length)
        px, py = x - line[i, 0] - along * ux, y - line[i, 1] - along * uy
        d = math.hypot(px, py)
        if d < best:
            best, at, off, course = d, s + along, math.copysign(d, ux * py - uy * px), math.atan2(dy, dx)
        s += length
    return at, off, course


@kernel
def point_on(line, s):
    """Return x, y [m] and course [rad] at length ``s`` [m] along a line, continued straight at its ends."""
    last = line.shape[0] - 2
    x, y, course = line[0, 0], line[0, 1], 0.0
    for i in range(line.shape[0] - 1):
        dx, dy = line[i + 1, 0] - line[i, 0], line[i + 1, 1] - line[i, 1]
        length = math.hypot(dx, dy)
        if length == 0.0:
            continue
        course = math.atan2(dy, dx)
        x, y = line[i, 0] + dx * s / length, line[i, 1] + dy * s / length
        if s <= length or i == last:
            break
        s -= length
    return x, y, course


@kernel
def may_enter(line, begin, end, s, others, identity, stalled_s):
    """Decide whether a robot may enter a narrow stretch of a line.

    Args:
        line: float64 (m, 2) [m], the robot's path.
        begin, end: the stretch, as lengths along the line [m].
        s: position of the robot on the line [m].
        others: float64 (k, 5): x, y [m], heading [rad] (NaN: unknown), identity, time since it last moved [s].
        identity: the robot's own identity.
        stalled_s: time without progress of the robot itself [s].

    Returns:
        `GO`, `WAIT`, or `RETREAT` if the robot is inside and must back out.
    """
    inside = s > begin - 0.3
    exit_x, exit_y, _ = point_on(line, end)
    decision = GO
    for k in range(others.shape[0]):
        x, y, heading = others[k, 0], others[k, 1], others[k, 2]
        at, off, course = project(line, x, y)
        along = 0.0 if math.isnan(heading) else math.cos(heading - course)
        first = others[k, 3] < identity
        if inside:
            opposed = s < at < end + 1.0 and abs(off) < 0.6 and along < -0.2 and at - s < 2.0
            waits = at > end + 0.3 and others[k, 4] > 1.0  # the other lets this robot out
            if opposed and stalled_s > (1.5 if first and not waits else 8.0):
                return RETREAT
            continue
        if begin - 0.3 <= at <= end + 0.3 and abs(off) < 0.6:
            if along < 0.2 and not (along == 0.0 and others[k, 4] > 2.0 * PATIENCE_S):
                decision = WAIT
        elif begin - 1.5 <= at < begin - 0.3 and abs(off) < 0.6 and along < -0.2 and others[k, 4] < 1.0:
            decision = WAIT
        elif at > end and math.hypot(x - exit_x, y - exit_y) < BEYOND_M and first and others[k, 4] < PATIENCE_S:
            wants = math.isnan(heading) or math.cos(heading - math.atan2(exit_y - y, exit_x - x)) > 0.3
            if wants:
                decision = WAIT
    return decision


@kernel
def waiting_place(line, begin, x, y, others, occupancy, x0, y0, resolution, radius, keep):
    """Return where to wait for a narrow stretch: beside the path, preferably on the right, clear of walls and others.

    Args:
        line, begin: the robot's path, float64 (m, 2) [m], and the start of the stretch on it [m].
        x, y: position of the robot [m].
        others: float64 (k, 5) as in `may_enter`.
        occupancy, x0, y0, resolution: the grid.
        radius: distance to keep from walls [m].
        keep: distance to keep from the centres of others, and from the line [m].

    Returns:
        x, y [m], and whether there is such a place.
    """
    rows, columns = occupancy.shape
    entry_x, entry_y, course = point_on(line, begin)
    c, s = math.cos(course), math.sin(course)
    best, best_x, best_y = math.inf, x, y
    block = int(radius / resolution) + 1
    for i in range(6):
        back = 1.0 + 0.35 * i
        for k in range(8):
            side = -(keep + 0.15 + 0.25 * (k // 2)) * (1.0 if k % 2 == 0 else -1.0)
            px, py = entry_x - back * c - side * s, entry_y - back * s + side * c
            cost = math.hypot(px - x, py - y) + (0.0 if side < 0.0 else 1.2) + 0.1 * back
            if cost >= best:
                continue
            free = True
            row, column = int((py - y0) // resolution), int((px - x0) // resolution)
            for r in range(row - block, row + block + 1):
                for q in range(column - block, column + block + 1):
                    if r < 0 or q < 0 or r >= rows or q >= columns:
                        free = False
                    elif occupancy[r, q] != 0:
                        dx = max(abs(x0 + (q + 0.5) * resolution - px) - 0.5 * resolution, 0.0)
                        dy = max(abs(y0 + (r + 0.5) * resolution - py) - 0.5 * resolution, 0.0)
                        if dx * dx + dy * dy < radius * radius:
                            free = False
            for j in range(others.shape[0]):
                if math.hypot(others[j, 0] - px, others[j, 1] - py) < keep:
                    free = False
            if free:
                best, best_x, best_y = cost, px, py
    return best_x, best_y, best < math.inf


@kernel
def way_out(course, points, count, tracks, wall_radius, keep):
    """Return the direction [rad, body frame] with most room to back off from other robots, preferably backwards.

    Args:
        course: direction of the robot's path [rad, body frame].
        points, count: wall points in the body frame [m].
        tracks: tracks of others, see `covey.planning.obstacles`.
        wall_radius, keep: distance to keep from walls and from the centres of others [m].
    """
    best, best_angle = -math.inf, course + math.pi
    for d in range(16):
        angle = course + math.pi - math.pi * ((d + 1) // 2) / 8.0 * (-1.0 if d % 2 else 1.0)
        ux, uy = math.cos(angle), math.sin(angle)
        room = 1.0
        for i in range(count):
            along = points[i, 0] * ux + points[i, 1] * uy
            across = abs(points[i, 1] * ux - points[i, 0] * uy)
            if along > 0.0 and across < wall_radius:
                room = min(room, along - wall_radius)
        for j in range(tracks.shape[0]):
            if tracks[j, AGE] != math.inf:
                along = tracks[j, X] * ux + tracks[j, Y] * uy
                across = abs(tracks[j, Y] * ux - tracks[j, X] * uy)
                if along > 0.0 and across < keep:
                    room = min(room, along - keep)
        score = room - 0.02 * d
        if score > best:
            best, best_angle = score, angle
    return best_angle


class RightOfWay:
    """Finds where a robot waits for others before narrow stretches, at given distances from walls and from others.

    Attributes:
        place: where it waits; None if it does not.
    """

    def __init__(self, identity: int, wall_m: float, robot_m: float):
        self._identity, self._wall, self._robot = identity, wall_m, robot_m
        self.place: tuple[float, float] | None = None

    def wait_at(self, plan: Any, s: float, pose: Any, tracks: np.ndarray, belief: Any, stalled_s: float) -> Aside:
        """Return where to wait at a length ``s`` [m] of a plan (with `line` and `narrow`); None if the path is free."""
        x, y, _ = pose
        for begin, end in plan.narrow:
            if s > end or begin - s > AHEAD_M:
                continue
            others = others_of(tracks, *pose)
            if not len(others):
                break
            decision = may_enter(plan.line, begin, end, s, others, self._identity, stalled_s)
            if decision == GO:
                break
            if self.place is None or decision == RETREAT or stalled_s > 3.0:
                x0, y0, _ = belief.grid.origin
                grid = belief.occupancy(), x0, y0, belief.grid.resolution
                px, py, found = waiting_place(plan.line, begin, x, y, others, *grid, self._wall, self._robot)
                self.place = (px, py) if found else (x, y)
            return self.place, _RETREAT_S if decision == RETREAT else 0.0
        self.place = None
        return None


def others_of(tracks: np.ndarray, x: float, y: float, heading: float) -> np.ndarray:
    """Return the tracked robots in the map frame, in the form of `may_enter`."""
    seen = tracks[np.isfinite(tracks[:, AGE])]
    c, s = math.cos(heading), math.sin(heading)
    return np.column_stack(
        (
            x + c * seen[:, 0] - s * seen[:, 1],
            y + s * seen[:, 0] + c * seen[:, 1],
            seen[:, 6] + heading,
            seen[:, 4],
            seen[:, 7],
        )
    )
