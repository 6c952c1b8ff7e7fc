"""Find team mates in the scans of a robot without a sensor for them: what stood where a mate began, and what moves.

A lidar sees mates as it sees walls. Four facts tell them apart, without any message:

* When the robots know each other's start poses, a mate stands there at the beginning.
* A mate is no larger than a robot: neighbouring returns that span more are a wall.
* What moves appears where the robot has looked through before. Walls do not.
* A mate is near where it was in the last scan.

A thing of this size that appears out of nothing and then stands still is a mate for two seconds and an obstacle
afterwards; a thing that was seen to move stays a mate for a minute after it has stopped.
"""

import math

import numpy as np

from covey.kernel import kernel
from covey.mapping.occupancy.team_mates import MARGIN_M, hide_team_mates, seen_from

REACH_M = 6.0
"""Mates are looked for up to this distance [m]; farther away they are a few beams."""
_FAR = 2.0**24  # more cells than any world is wide
_CELL_M, _SIDE = 0.1, 128  # of the cells around the robot; the side is a power of two and longer than twice the reach
_SHORT_M = 0.2  # a beam says nothing about so much of its way before its end
_GAP_M = 0.2  # returns that are neighbours and nearer to each other than this belong to one thing
_THROUGH = 3  # scans that must have looked through a cell that is free
_STANDS_S = 2.0  # after this time what appeared is no longer new
_NEW, _OLD = 0.6, 0.5  # shares of the returns of a thing in cells where there was nothing, or where something stands
_WALK_M_S, _NEAR_M = 1.0, 0.2  # a mate is so near to where it was at the last scan
_LOST_S, _RESTS_S = 1.0, 60.0  # a mate that is not seen, or that has stopped, is forgotten then
_MOVED_M = 0.15
_JUMP_M, _JUMP_RAD = 0.15, 0.06  # a correction of the pose by more makes the cells useless

_ROW, _COLUMN, _FREE, _SINCE, _HITS, _PASSED, _ENDED = range(7)
_OBSTACLE = -1.0
_X, _Y, _SEEN_S, _FROM_X, _FROM_Y, _RESTED_S, _SURE = range(7)


class Movers:
    """The mates that one robot sees in its scans.

    Args:
        radius_m: of the largest robot.
    """

    def __init__(self, radius_m: float):
        self.radius_m = radius_m
        self._cells, self._first_s = _empty(), np.zeros(_SIDE * _SIDE)
        self._mates = np.empty((0, 7))  # rows as `_X` … `_SURE`, in the frame of the estimates
        self._scan = 0
        self._at = np.zeros(3)  # the robot, at the scan in which they were found

    def expect(self, places: np.ndarray, time_s: float) -> None:
        """Take for known that mates stand at x, y [m], (k, 2), in the frame of the estimates."""
        at, sure = np.full(len(places), time_s), np.ones(len(places))
        self._mates = np.vstack((self._mates, np.column_stack((places, at, places, at, sure))))

    def find(self, guess: np.ndarray, ranges: np.ndarray, angles: np.ndarray, mount: np.ndarray, time_s: float) -> None:
        """Find the mates in a scan, which `hide` then leaves out.

        Args:
            guess: pose (3,) of the robot at the scan as it is expected.
            ranges: (B,) [m]; inf: no return, NaN: nothing is known.
            angles, mount: of the lidar.
            time_s: time of the scan.
        """
        self._at = np.array(guess, np.float64)
        things = _things(self._cells, self._first_s, self._at, ranges, angles, mount, REACH_M, self.radius_m, time_s)
        self._follow(things, time_s)

    def hide(self, ranges: np.ndarray, angles: np.ndarray, mount: np.ndarray, moved: np.ndarray | None = None) -> None:
        """Replace, in place, the returns (B,) that lie on the mates by NaN.

        Args:
            ranges, angles, mount: of a scan.
            moved: pose (3,) of the robot at the scan of the last `find`, from its pose at this one; None: it is this.
        """
        mates = self._mates[self._mates[:, _SURE] > _OBSTACLE]
        if not len(mates):
            return
        dx, dy = mates[:, _X] - self._at[0], mates[:, _Y] - self._at[1]
        away, bearings = np.hypot(dx, dy)[None], (np.arctan2(dy, dx) - self._at[2])[None]
        if moved is not None:
            away, bearings = seen_from(moved[None], away, bearings)
        count, radius = np.array([len(mates)]), np.array([self.radius_m + MARGIN_M])
        hide_team_mates(ranges[None], angles, mount, count, away, bearings, radius)

    def _follow(self, things: np.ndarray, time_s: float) -> None:
        """Move the mates to the things (k, 4) that they are, and take those that move for more mates.

        A thing: x, y [m], shares of its returns where there was nothing, and where something stands.
        """
        mates, taken = self._mates, set()
        for mate in sorted(range(len(mates)), key=lambda k: -mates[k, _SEEN_S]):
            row = mates[mate]
            reach = _NEAR_M + self.radius_m + _WALK_M_S * (time_s - row[_SEEN_S])
            away = np.hypot(things[:, 0] - row[_X], things[:, 1] - row[_Y])
            away[[*taken]] = math.inf
            away[things[:, 3] >= _OLD] = math.inf
            if len(away) and away.min() <= reach:
                nearest = int(np.argmin(away))
                taken.add(nearest)
                row[[_X, _Y]], row[_SEEN_S] = things[nearest, :2], time_s
                if math.hypot(row[_X] - row[_FROM_X], row[_Y] - row[_FROM_Y]) > _MOVED_M:
                    row[[_FROM_X, _FROM_Y]], row[_RESTED_S], row[_SURE] = row[[_X, _Y]], time_s, 1.0
        new = [k for k in range(len(things)) if k not in taken and things[k, 2] >= _NEW]
        if new:
            x, y, at = things[new, 0], things[new, 1], np.full(len(new), time_s)
            mates = np.vstack((mates, np.column_stack((x, y, at, x, y, at, np.zeros(len(new))))))
        rests = np.where(mates[:, _SURE] > 0.0, _RESTS_S, _STANDS_S)
        mates[time_s - mates[:, _RESTED_S] > rests, _SURE] = _OBSTACLE
        self._mates = mates[time_s - mates[:, _SEEN_S] <= _LOST_S]

    def note(self, pose: np.ndarray, ranges: np.ndarray, angles: np.ndarray, mount: np.ndarray, time_s: float) -> None:
        """Note what is free and what is not, by the scan of the last `find` without mates (NaN), at its pose (3,)."""
        guess = self._at
        turn = math.remainder(pose[2] - guess[2], 2.0 * math.pi)
        if math.hypot(pose[0] - guess[0], pose[1] - guess[1]) > _JUMP_M or abs(turn) > _JUMP_RAD:
            self._cells = _empty()
        c, s = math.cos(turn), math.sin(turn)
        for x, y in ((_X, _Y), (_FROM_X, _FROM_Y)):  # where they are is known from the robot
            dx, dy = self._mates[:, x] - guess[0], self._mates[:, y] - guess[1]
            self._mates[:, x], self._mates[:, y] = pose[0] + c * dx - s * dy, pose[1] + s * dx + c * dy
        self._at, self._scan = np.array(pose, np.float64), self._scan + 1
        _look(self._cells, self._first_s, self._at, ranges, angles, mount, REACH_M, time_s, self._scan)


def _empty() -> np.ndarray:
    """Return cells that say nothing, int32 (side * side, 8), each at its row and column in the world modulo the side.

    They hold row and column; how many scans looked through it, in all and since the last return; returns; which scans
    looked through it and ended in it last.
    """
    return np.full((_SIDE * _SIDE, 8), -(2**31), np.int32)


@kernel
def _cell(cells, y, x):
    """Return the index of the cell at y, x, in cells of the world; it begins anew if it was another one."""
    row, column = int(y + _FAR), int(x + _FAR)  # truncation is quicker than math.floor
    at = np.uintp((row & (_SIDE - 1)) * _SIDE + (column & (_SIDE - 1)))
    if cells[at, _ROW] != row or cells[at, _COLUMN] != column:
        cells[at, _ROW], cells[at, _COLUMN] = row, column
        for k in range(_FREE, _ENDED + 1):
            cells[at, k] = 0
    return at


@kernel
def _look(cells, first_s, pose, ranges, angles, mount, reach, time_s, scan):
    """Count what one scan has looked through, then where it ended."""
    n = ranges.size
    cp, sp = math.cos(pose[2]), math.sin(pose[2])
    x0 = (pose[0] + cp * mount[0] - sp * mount[1]) / _CELL_M
    y0 = (pose[1] + sp * mount[0] + cp * mount[1]) / _CELL_M
    width = max((angles[n - 1] - angles[0]) / max(n - 1, 1), 1e-4)  # between two beams
    c, s = np.cos(pose[2] + mount[2] + angles), np.sin(pose[2] + mount[2] + angles)
    for k in range(int((reach - _SHORT_M) / _CELL_M) + 1):
        stride = max(1, int(0.7 / (width * (k + 1))))  # near the robot many beams pass through a cell
        for i in range(k % stride, n, stride):
            if ranges[i] >= k * _CELL_M + _SHORT_M:
                at = _cell(cells, y0 + k * s[i], x0 + k * c[i])
                if cells[at, _PASSED] != scan:
                    cells[at, _PASSED] = scan
                    cells[at, _FREE] += 1
                    cells[at, _SINCE] += 1
                    if cells[at, _SINCE] >= _THROUGH:
                        cells[at, _HITS] = 0
    for i in range(n):
        if 0.0 < ranges[i] < reach:
            r = ranges[i] / _CELL_M
            at = _cell(cells, y0 + r * s[i], x0 + r * c[i])
            if cells[at, _ENDED] != scan:
                if cells[at, _HITS] == 0:
                    first_s[at] = time_s
                cells[at, _ENDED] = scan
                cells[at, _HITS] += 1
                cells[at, _SINCE] = 0


@kernel
def _things(cells, first_s, pose, ranges, angles, mount, reach, radius, time_s):
    """Return what in a scan is no larger than a robot, (k, 4); see `Movers._follow`."""
    n = ranges.size
    found, count = np.empty((n, 4)), 0
    cp, sp = math.cos(pose[2]), math.sin(pose[2])
    x0, y0 = pose[0] + cp * mount[0] - sp * mount[1], pose[1] + sp * mount[0] + cp * mount[1]
    xs, ys = np.empty(n), np.empty(n)
    for i in range(n):
        bearing = pose[2] + mount[2] + angles[i]
        r = ranges[i] if 0.0 < ranges[i] < reach else math.nan
        xs[i], ys[i] = x0 + r * math.cos(bearing), y0 + r * math.sin(bearing)
    begin = 0  # of a fan all around, a thing may go on over its end
    is_closed = n > 2 and (n + 0.5) * (angles[n - 1] - angles[0]) / (n - 1) > 2.0 * math.pi
    while is_closed and begin < n - 1 and _is_one(xs, ys, begin - 1 if begin else n - 1, begin):
        begin += 1
    k = 0
    while k < n:
        i = (begin + k) % n
        k += 1
        if math.isnan(xs[i]):
            continue
        first = last = i
        many, sx, sy, new, old = 1, xs[i], ys[i], 0.0, 0.0
        nearest = math.hypot(xs[i] - x0, ys[i] - y0)
        a, b = _kind(cells, first_s, xs[i], ys[i], time_s)
        new, old = new + a, old + b
        while k < n:
            j = (begin + k) % n
            if not _is_one(xs, ys, last, j):
                break
            if j < last and not is_closed:
                break
            k += 1
            last = j
            many += 1
            sx, sy = sx + xs[j], sy + ys[j]
            nearest = min(nearest, math.hypot(xs[j] - x0, ys[j] - y0))
            a, b = _kind(cells, first_s, xs[j], ys[j], time_s)
            new, old = new + a, old + b
        if many < 2 or math.hypot(xs[first] - xs[last], ys[first] - ys[last]) > 2.0 * radius + _SHORT_M:
            continue
        dx, dy = sx / many - x0, sy / many - y0
        away = math.hypot(dx, dy)
        scale = (nearest + radius) / away if away > 0.0 else 0.0
        found[count, 0], found[count, 1] = x0 + scale * dx, y0 + scale * dy
        found[count, 2], found[count, 3] = new / many, old / many
        count += 1
    return found[:count]


@kernel
def _is_one(xs, ys, i, j):
    """Return whether two neighbouring returns are of one thing; NaN: there is no return."""
    return math.hypot(xs[j] - xs[i], ys[j] - ys[i]) <= _GAP_M


@kernel
def _kind(cells, first_s, x, y, time_s):
    """Return 1, 0 if there was nothing at x, y [m] until a moment ago; 0, 1 if something stands there; else 0, 0."""
    at = _cell(cells, y / _CELL_M, x / _CELL_M)
    if cells[at, _HITS] >= 3 and time_s - first_s[at] >= _STANDS_S:
        return 0.0, 1.0
    return (1.0 if cells[at, _FREE] >= _THROUGH else 0.0), 0.0
