"""The cells that a team has truly covered: cells of the world whose centres bodies have stood on or swept."""

import math

import numpy as np

from covey.bound import Bound
from covey.errors import InvalidValueError
from covey.geometry.grid import Grid
from covey.kernel import bare, fetch, kernel
from covey.memory import small_pages

_WORD, _SLOTS = 32, 16
_NEVER, _NO_WORD = -1, 2**32 - 1
_LANES, _LATE = 64, 256


class CoveredCells:
    """The cells of the world whose centre a robot's body has covered or swept.

    Attributes:
        last_step: int32 (rows, columns), the step in which a cell was last covered; -1 = never.
        goal: bool (rows, columns), the cells to cover.
        total: their number.
        count: int64 (1,), the number of those that have been covered.
    """

    def __init__(self, goal: Grid, robots: int = 1):
        self.goal = goal.cells != 0
        self.grid, self._goal = goal, np.ascontiguousarray(goal.cells != 0).view(np.uint8)
        self.total = int(self._goal.sum())
        if not self.total:
            raise InvalidValueError("there is no cell to cover")
        self.last_step = np.full(goal.shape, _NEVER, np.int32)
        self.count = np.zeros(1, np.int64)
        self._each = small_pages((robots, -(-goal.shape[1] // _WORD), goal.shape[0]), np.uint32)
        self._recent = no_words(robots)

    def mark(self, poses: np.ndarray, discs: np.ndarray, step: int, before: np.ndarray | None = None) -> None:
        """Cover the cells that bodies sweep on straight paths from one pose to the next.

        Args:
            poses: true poses (n, 3).
            discs: (n, k, 3): x, y, radius [m] on the body; radius 0 for none.
            step: the control step.
            before: previous poses, (n, 3); None: no motion.
        """
        self.path(poses if before is None else before, poses, np.empty((0, 2, len(poses), 3)), discs)(1, step)

    def path(self, before: np.ndarray, after: np.ndarray, trace: np.ndarray, discs: np.ndarray) -> Bound:
        """Return `cover_path`, to be called with its last arguments, for poses (n, 3) that change in place."""
        if len(after) > len(self._each):
            raise InvalidValueError(f"{len(after)} robots, but the coverage is for {len(self._each)}")
        return Bound(cover_path, (before, after, trace, discs, self.count, self.arrays), (0, 0))

    @property
    def arrays(self) -> tuple[np.ndarray, ...]:
        """What `cover` reads and writes."""
        return self.grid.frame, self._goal, self.last_step, self._each, self._recent

    @property
    def share(self) -> float:
        """Return the share of the cells that have been covered."""
        return float(self.count[0] / self.total)

    @property
    def passed_by(self) -> np.ndarray:
        """Return the number of robots that have passed over each cell of the goal, int32 (rows, columns)."""
        put_back(self._each, self._recent)
        return count_bits(self._each, self.goal)


def no_words(robots: int) -> np.ndarray:
    """Return ``recent`` of `cover` before the first step: no words of any robot."""
    return np.full((robots, _SLOTS, 2), _NO_WORD, np.uint32)


@kernel
def cover_path(before, after, trace, discs, count, cells, stride, step):
    """Cover the cells that bodies sweep in a control step, in straight lines between some of its poses.

    Args:
        before, after: poses at its begin and its end, float64 (n, 3).
        trace: poses and attitudes after each substep, float64 (substeps, 2, n, 3).
        discs: see `CoveredCells.mark`.
        count: int64 (1,), the number of covered cells of the goal; it grows.
        cells: the other arrays of `cover`.
        stride: number of substeps of a straight line.
        step: the control step.
    """
    for k in range(stride - 1, len(trace) - 1, stride):
        count[0] += cover(before, trace[k, 0], discs, *cells, step)
        before = trace[k, 0]
    count[0] += cover(before, after, discs, *cells, step)


@kernel
def cover(before, poses, discs, frame, goal, last, each, recent, step):
    """Set the step in the cells whose centres discs sweep on straight paths from one pose to the next.

    The swept area is exact: a disc moved along a segment, a capsule. ``each``, uint32 (n, words of a row, rows), gets
    the bits of the cells that each robot has passed over, but only once the robot has left them: ``recent``,
    uint32 (n, slots, 2), keeps its latest words, each with its place in ``each[i]``; see `put_back`.

    The paths of many robots are cut with their rows at once, and the memory of all these cells is asked for before
    the first is written: waiting for each of them took most of the time of large teams.

    Returns:
        the number of newly covered cells of ``goal``.
    """
    before, poses, discs, frame = bare(before), bare(poses), bare(discs), bare(frame)
    goal, last, each, recent = bare(goal), bare(last), bare(each), bare(recent)
    lanes, found, left_behind = np.empty(10 * _LANES), np.empty((_LANES, 4), np.int64), np.empty((_LATE, 2), np.int64)
    new, late = np.int64(0), np.int64(0)
    for begin in range(0, len(poses), _LANES):
        count = min(_LANES, len(poses) - begin)
        for k in range(discs.shape[1]):
            rows = _paths(before, poses, discs, frame, begin, count, k, last.shape[0], bare(lanes))
            for r in range(rows):
                _cut(bare(lanes), count, float(r), float(last.shape[1]))
                size = _cells(bare(lanes), begin, count, r, last, recent, bare(found))
                new += _cover_rows(bare(found), size, step, goal, last)
                late = _keep_words(bare(found), size, each, recent, bare(left_behind), late)
            late = _set_bits(each, bare(left_behind), late)
    return new


@kernel(inline=True)
def _paths(before, poses, discs, frame, begin, count, k, height, lanes):
    """Write the paths of disc k of some robots, see `_cut`; return the largest number of rows that one meets."""
    rows = np.int64(0)
    for q in range(count):
        p, i = np.uint64(q), begin + q
        radius = discs[i, k, 2] / frame[4]
        x0, y0 = _centre_in_grid(frame, before[i], discs[i, k])
        x1, y1 = _centre_in_grid(frame, poses[i], discs[i, k])
        low, high = max(math.ceil(min(y0, y1) - radius), 0), min(math.floor(max(y0, y1) + radius), height - 1)
        if radius <= 0.0 or high < low:  # a pose that is no number has the smallest integer as its rows
            high = low - 1
        dx, dy = x1 - x0, y1 - y0
        lanes[p], lanes[p + _LANES], lanes[p + 2 * _LANES], lanes[p + 3 * _LANES] = x0, y0, x1, y1
        lanes[p + 4 * _LANES], lanes[p + 5 * _LANES] = radius, radius / math.sqrt(dx * dx + dy * dy)
        lanes[p + 6 * _LANES], lanes[p + 7 * _LANES] = low, high
        rows = max(rows, high - low + 1)
    return rows


@kernel
def _cut(lanes, count, r, width):
    """Write the first and the last column whose centres some paths sweep in row r of each.

    The loop has no branches, so the compiler makes vector instructions of it: 5 ns for a path.

    Args:
        lanes: float64 (10 * lanes,), for each path the columns and rows of its two ends, its radius, this over its
            length, its first and its last row; it gets the first and last column of row r, last < first if there are
            none.
        count: number of paths.
        r: the row, counted from the first of each path.
        width: number of columns.
    """
    for q in range(count):
        p = np.uint64(q)
        x0, y0, x1, y1 = lanes[p], lanes[p + _LANES], lanes[p + 2 * _LANES], lanes[p + 3 * _LANES]
        radius, out = lanes[p + 4 * _LANES], lanes[p + 5 * _LANES]
        y, high = lanes[p + 6 * _LANES] + r, lanes[p + 7 * _LANES]
        up = y - y0
        rest = radius * radius - up * up
        half = math.sqrt(rest if rest >= 0.0 else 0.0)
        left, right = (x0 - half if rest >= 0.0 else math.inf), (x0 + half if rest >= 0.0 else -math.inf)
        up = y - y1
        rest = radius * radius - up * up
        half = math.sqrt(rest if rest >= 0.0 else 0.0)
        left, right = (min(left, x1 - half) if rest >= 0.0 else left), (max(right, x1 + half) if rest >= 0.0 else right)
        dx, dy = x1 - x0, y1 - y0
        along = (y - y0 - out * dx) / dy  # no number, or infinite, if dy is 0
        x = x0 - out * dy + along * dx
        beside = (along >= 0.0) & (along <= 1.0)
        left, right = (min(left, x) if beside else left), (max(right, x) if beside else right)
        along = (y - y0 + out * dx) / dy
        x = x0 + out * dy + along * dx
        beside = (along >= 0.0) & (along <= 1.0)
        left, right = (min(left, x) if beside else left), (max(right, x) if beside else right)
        end = min(np.floor(right), width - 1.0)
        lanes[p + 8 * _LANES] = min(max(np.ceil(left), 0.0), width)
        lanes[p + 9 * _LANES] = end if y <= high else -1.0


@kernel(inline=True)
def _cells(lanes, begin, count, r, last, recent, found):
    """Write robot, row, first and last column of those paths that meet cells in their row r; return their number."""
    size = np.int64(0)
    for q in range(count):
        p = np.uint64(q)
        first, end = lanes[p + 8 * _LANES], lanes[p + 9 * _LANES]
        row = int(lanes[p + 6 * _LANES]) + r
        found[size, 0], found[size, 1], found[size, 2], found[size, 3] = begin + q, row, int(first), int(end)
        size += first <= end
    for f in range(size):
        i, row, first = found[f, 0], found[f, 1], found[f, 2]
        fetch(last, row, first)
        fetch(recent[i], (2 * row + first // _WORD) & (_SLOTS - 1), 0)
    return size


@kernel(inline=True)
def _cover_rows(found, size, step, goal, last):
    """Set the step in the cells of some rows, see `_cells`; return how many cells of ``goal`` are new."""
    new = np.int64(0)
    for f in range(size):
        row = np.uint64(found[f, 1])
        for c in range(found[f, 2], found[f, 3] + 1):
            column = np.uint64(c)
            new += last[row, column] < 0 and goal[row, column] > 0
            last[row, column] = step
    return new


@kernel(inline=True)
def _keep_words(found, size, each, recent, left_behind, late):
    """Set the bits of the cells of some rows, see `_cells`, in ``recent``; see `cover`.

    The words that leave it are put into ``left_behind``, int64 (m, 2), from place ``late`` on; return the next place.
    """
    for f in range(size):
        i, row, first, end = np.uint64(found[f, 0]), found[f, 1], found[f, 2], found[f, 3]
        for w in range(first // _WORD, end // _WORD + 1):
            start = w * _WORD
            bits = np.uint32((2 << min(end - start, _WORD - 1)) - (1 << max(first - start, 0)))
            number, slot = np.uint32(w * each.shape[2] + row), np.uint64((2 * row + w) & (_SLOTS - 1))
            if recent[i, slot, 0] == number:
                recent[i, slot, 1] |= bits
                continue
            if recent[i, slot, 0] != _NO_WORD:
                if late == _LATE:
                    late = _set_bits(each, left_behind, late)
                left_behind[late, 0] = found[f, 0] * each.shape[1] * each.shape[2] + recent[i, slot, 0]
                left_behind[late, 1] = recent[i, slot, 1]
                late += 1
            recent[i, slot, 0], recent[i, slot, 1] = number, bits
    return late


@kernel
def _set_bits(each, left_behind, late):
    """Set the bits of the words before place ``late`` in ``each``, see `_keep_words`; return the next place, 0."""
    words = bare(each.reshape(-1))
    for k in range(late):
        words[np.uint64(left_behind[k, 0])] |= np.uint32(left_behind[k, 1])
    return np.int64(0)


@kernel
def put_back(each, recent):
    """Set all bits that ``recent`` keeps in ``each``; see `cover`."""
    words = each.reshape((each.shape[0], each.shape[1] * each.shape[2]))
    for i in range(each.shape[0]):
        for slot in range(_SLOTS):
            if recent[i, slot, 0] != _NO_WORD:
                words[i, recent[i, slot, 0]] |= recent[i, slot, 1]


@kernel
def count_bits(each, goal):
    """Return the number of robots with a bit in ``each``, see `cover`, for each cell of ``goal``, int32."""
    count = np.zeros(goal.shape, np.int32)
    for i in range(each.shape[0]):
        for word in range(each.shape[1]):
            for row in range(each.shape[2]):
                bits = each[i, word, row]
                column = word * _WORD
                while bits != 0:
                    if bits & 1 and goal[row, column]:
                        count[row, column] += 1
                    bits >>= np.uint32(1)
                    column += 1
    return count


@kernel(inline=True)
def _centre_in_grid(frame, pose, disc):
    """Return column and row of a disc's centre (x, y on the body); whole numbers are centres of cells."""
    x, y = pose[0] - frame[0], pose[1] - frame[1]
    if disc[0] != 0.0 or disc[1] != 0.0:
        c, s = math.cos(pose[2]), math.sin(pose[2])
        x += c * disc[0] - s * disc[1]
        y += s * disc[0] + c * disc[1]
    return (frame[2] * x + frame[3] * y) / frame[4] - 0.5, (frame[2] * y - frame[3] * x) / frame[4] - 0.5
