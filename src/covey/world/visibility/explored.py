"""The cells that a team has truly explored: cells of G that beams crossed.

Cells are grouped in blocks of 4 x 4, with a bit per cell: a robot takes one bit per cell of the part of the world that
it has explored, and 16 cells are compared at once. Beams, and first parts of beams, that only cross cells that their
robot has explored are skipped (`covey.world.visibility.beam_culling`), except in an occasional scan that updates the
heat map.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from covey.errors import InvalidValueError
from covey.geometry.beams import clip_segment, sensor_in_grid, walk
from covey.geometry.grid import Grid
from covey.geometry.raycast import march_flat
from covey.kernel import kernel
from covey.memory import small_pages
from covey.world.state import Window
from covey.world.visibility.beam_culling import (
    BLOCK,
    SAFE,
    block_bits,
    cell_bits,
    cells_of,
    closed_bits,
    fan,
    first_open,
    put_bit,
    update_closed,
)

_NEVER = -1
_UNKNOWN = np.zeros((0, 0))
_NO_WALLS = np.zeros((4, 0, 0), np.uint8)


class ExploredTruth:
    """Counts, for each robot and for the team, the explorable cells that a beam has crossed at the true pose.

    Args:
        explorable: bool or 0/1 cells of G at the world's resolution, as a `Grid` with the world's place.
        robots: number of robots n.
        seen_every: accuracy of the heat map `last_step` in steps (its colours stand for minutes); first steps and
            shares are exact.
        solid: bool (rows, columns), cells in which beams end, so cells behind them are skipped; see `close`.

    Attributes:
        first_step: int32 (rows, columns), the step in which any robot first explored a cell; -1 = never.
        total: number of cells of G.

    Raises:
        InvalidValueError: there are no cells to explore, or no robots.
    """

    def __init__(self, explorable: Grid, robots: int, seen_every: int = 50, solid: np.ndarray | None = None):
        self.total = int((explorable.cells != 0).sum())
        if not self.total or robots < 1:
            raise InvalidValueError(f"{self.total} explorable cells and {robots} robots; there must be some of both")
        self.grid, self._seen_every = explorable, seen_every
        self._goal = cell_bits(explorable.cells != 0)
        self._seen, self._unseen = small_pages((robots + 1, *self._goal.shape), np.uint16), self._goal.copy()
        self._first, self._last = (np.full(explorable.shape, _NEVER, np.int32) for _ in range(2))
        self._open = block_bits(self._goal > 0, False)
        self._done = small_pages((robots, len(self._open)), np.int64)
        self.close(np.zeros(explorable.shape, np.bool_) if solid is None else solid)
        self._all_beams_at, self._world = np.arange(robots) % max(seen_every, 1), np.zeros(robots, np.int64)
        self._counts = np.zeros(robots + 1, np.int64)
        self._shape, self._angles, self._fan = np.array(explorable.shape), np.zeros(0), fan(np.zeros(0))
        self._since = self._step = 0
        self._shares: tuple[np.ndarray, float] | None = None

    def close(self, solid: np.ndarray, windows: Sequence[Window] | None = None) -> None:
        """Set the cells in which beams end now, bool (rows, columns).

        They have changed only in some windows, as `covey.world.state.WorldState.edited_since` says; None: anywhere.
        """
        if windows is None:
            self._closed = closed_bits(solid)
            return
        for window in windows:
            update_closed(self._closed, solid, *window)

    def cast_and_mark(
        self,
        robots: np.ndarray,
        poses: np.ndarray,
        skip: np.ndarray,
        range_m: float,
        angles: np.ndarray,
        mount: Any,
        step: int,
    ) -> None:
        """Do as `mark` for a sensor that sees only walls; beams are cast only where they may find something new.

        Args:
            robots, poses, angles, mount, step: see `mark`.
            skip: the walls, see `covey.geometry.raycast.skip_field`.
            range_m: range of the sensor [m].
        """
        self._explore(robots, poses, _UNKNOWN, skip, range_m, angles, mount, step)

    def mark(
        self, robots: Any, poses: np.ndarray, true_ranges: np.ndarray, angles: np.ndarray, mount: Any, step: int
    ) -> None:
        """Take in one scan of each of some robots.

        Args:
            robots: indices of the robots, integers (m,).
            poses: true poses of their bodies, (m, 3) x, y [m], heading [rad].
            true_ranges: (m, rays) [m] without noise; the range of the sensor if nothing is hit. NaN is skipped.
            angles: (rays,) [rad] in the frame of the sensor.
            mount: pose of the sensor on the body.
            step: the control step, at least that of the last call.
        """
        self._explore(robots, poses, np.ascontiguousarray(true_ranges, np.float64), _NO_WALLS, 0.0, angles, mount, step)

    def _explore(self, robots, poses, ranges, skip, reach, angles, mount, step) -> None:
        self._at(step)
        robots, poses = np.ascontiguousarray(robots, np.int64), np.ascontiguousarray(poses, np.float64)
        if angles is not self._angles:
            self._angles, self._fan = angles, fan(angles)
        place = self._fan, np.ascontiguousarray(mount, np.float64), step, self.grid.frame, self._shape
        beams = self._closed, self._all_beams_at, self._seen_every, self._world
        if explore(robots, poses, ranges, skip, float(reach), *place, *beams, *self._state_of_worlds):
            self._shares = None

    def mark_cells(self, robots: np.ndarray, cells: np.ndarray, step: int) -> None:
        """Record that robots, int64 (k,), see cells, int64 (k,), numbered row by row; ``step`` as in `mark`."""
        self._at(step)
        explore_cells(robots, cells, self.grid.shape[1], step, *self._state)
        self._shares = None

    def _at(self, step: int) -> None:
        if step >= self._since + self._seen_every:
            self._flush()
            self._since = step
        self._step = step

    @property
    def _state(self) -> tuple[np.ndarray, ...]:
        return self._goal, self._open, self._seen, self._unseen, self._first, self._counts, self._done

    @property
    def _state_of_worlds(self) -> tuple[np.ndarray, ...]:
        goal, open_, seen, unseen, first, counts, done = self._state
        return goal[None], open_[None], seen, unseen[None], first[None], counts, done

    @property
    def share_each(self) -> np.ndarray:
        """Share of G that each robot explored itself, float64 (n,), read-only."""
        return self.shares[0]

    @property
    def share_union(self) -> float:
        """Share of G that the robots explored together."""
        return self.shares[1]

    @property
    def shares(self) -> tuple[np.ndarray, float]:
        """`share_each` and `share_union`; the same tuple until somebody explores a cell."""
        if self._shares is None:
            shares = self._counts / self.total
            shares.flags.writeable = False
            self._shares = shares[:-1], float(shares[-1])
        return self._shares

    @property
    def first_step(self) -> np.ndarray:
        """int32 (rows, columns), the step in which any robot first explored a cell; -1 = never. A view."""
        return self._first

    @property
    def last_step(self) -> np.ndarray:
        """int32 (rows, columns), the step in which any robot last saw a cell; -1 = never. A view.

        It is approximate, see ``seen_every``.
        """
        self._flush()
        return self._last

    @property
    def last_step_before(self) -> np.ndarray:
        """`last_step`, up to ``seen_every`` steps late. A view; reading it changes nothing, not even `last_step`."""
        return self._last

    def explored(self, robot: int | None = None) -> np.ndarray:
        """Return the cells, bool (rows, columns), that a robot (None: the team) has explored."""
        return self._cells_of(self._seen[-1 if robot is None else robot])

    def seen(self, robot: int) -> np.ndarray:
        """Return what a robot has explored, uint16 (rows / 4, columns / 4), see `cell_bits`. A view."""
        return self._seen[robot]

    @property
    def seen_by(self) -> np.ndarray:
        """Return the number of robots that have explored each cell, int32 (rows, columns)."""
        count = np.zeros(self.grid.shape, np.int32)
        for seen in self._seen[:-1]:
            count += self._cells_of(seen)
        return count

    def _flush(self) -> None:
        flush(self._goal, self._unseen, self._step, self._last)

    def _cells_of(self, bits: np.ndarray) -> np.ndarray:
        """Return the cells, bool (rows, columns), whose bits are set."""
        return cells_of(bits)[: self.grid.shape[0], : self.grid.shape[1]]


@kernel
def flush(goal, unseen, step, last):
    """Set the step in the cells of ``goal`` that are not in ``unseen``, both `cell_bits`, and put them back there."""
    for block_row in range(goal.shape[0]):
        for block in range(goal.shape[1]):
            bits = goal[block_row, block] & ~unseen[block_row, block]
            unseen[block_row, block] = goal[block_row, block]
            for bit in range(BLOCK * BLOCK if bits != 0 else 0):
                if (bits >> bit) & 1:
                    last[block_row * BLOCK + bit // BLOCK, block * BLOCK + bit % BLOCK] = step


@kernel
def explore_cells(robots, cells, columns, step, goal, open_, seen, unseen, first, counts, done):
    """Mark cells, int64 (k,), numbered row by row, that robots, int64 (k,), see; see `explore`."""
    for k in range(robots.size):
        row, column = cells[k] // columns, cells[k] % columns
        block_row, block, bit = row // BLOCK, column // BLOCK, row % BLOCK * BLOCK + column % BLOCK
        unseen[block_row, block] &= np.uint16(~(1 << bit))
        if not (goal[block_row, block] >> bit) & 1:
            continue
        for i, explorer in enumerate((robots[k], seen.shape[0] - 1)):
            if not (seen[explorer, block_row, block] >> bit) & 1:
                seen[explorer, block_row, block] |= np.uint16(1 << bit)
                counts[explorer] += 1
                if i == 1:
                    first[row, column] = step
                elif seen[explorer, block_row, block] == goal[block_row, block]:
                    put_bit(done[explorer], goal.shape, block_row, block, 1)


@kernel
def explore(
    robots, poses, ranges, skip, reach, fan, mount, step, frame, shape, closed, all_beams_at, every, world,
    goal, open_, seen, unseen, first, counts, done,
):  # fmt: skip
    """Mark the beams of some robots' scans, see `ExploredTruth.mark`, except beams that find nothing new.

    Returns whether any robot explored a cell.

    Args:
        ranges: float64 (m, rays) [m]; without columns, the beams end at walls, see `ExploredTruth.cast_and_mark`, or
            after ``reach`` [m].
        fan: see `covey.world.visibility.beam_culling.BeamCones`.
        shape: rows and columns of the grid.
        closed: int64 (words,), see `covey.world.visibility.beam_culling.closed_bits`.
        all_beams_at: int64 (n,), the next step at which all beams are marked once; then ``every`` steps later.
        world: int64 (n,), in which of w worlds each robot is.
        goal: uint16 (w, rows / 4, columns / 4), `cell_bits` of the cells to explore in each world.
        open_: int64 (w, words), `block_bits` of blocks in which ``goal`` is not 0.
        seen: uint16 (n + w, rows / 4, columns / 4), those that each robot has explored, and those that any has in each
            world.
        unseen: uint16 (w, rows / 4, columns / 4), those that no robot has seen lately.
        first: int32 (w, rows, columns); (1, rows, columns): of all worlds, which nobody reads then.
        counts: int64 (n + w,), number of explored cells of each robot, and of all in each world.
        done: int64 (n, words), `block_bits` of blocks in which ``seen`` became ``goal``.
    """
    known, cell, blocks, none = ranges.shape[1] > 0, frame[4], goal.shape[1:], np.int64(0)
    t_max, walls, found = reach / frame[4], skip.reshape(-1), False
    for k in range(robots.size):
        robot = robots[k]
        own, team = world[robot], done.shape[0] + world[robot]
        mine, finished, opened = seen[robot].reshape(-1), done[robot], open_[own]
        flat = goal[own].reshape(-1), seen[team].reshape(-1), unseen[own].reshape(-1)  # not checked for indices < 0
        when = first[min(own, first.shape[0] - 1)]
        all_beams = step >= all_beams_at[robot]
        if all_beams:
            all_beams_at[robot] = step + every
        u, v, c, s = sensor_in_grid(frame, poses[k], mount)
        a, b = math.cos(poses[k, 2] + mount[2]), math.sin(poses[k, 2] + mount[2])
        c_scan, s_scan = frame[2] * a + frame[3] * b, frame[2] * b - frame[3] * a  # c and s with the rounding of scans
        for cone in range(fan.edges.shape[0]):
            begin, end, farthest = fan.first[cone], fan.first[cone + 1], reach
            x0, y0, x1, y1 = fan.edges[cone, 0], fan.edges[cone, 1], fan.edges[cone, 2], fan.edges[cone, 3]
            a0, b0, a1, b1 = c * x0 - s * y0, s * x0 + c * y0, c * x1 - s * y1, s * x1 + c * y1
            by_rows, met = abs(a0 + a1) < abs(b0 + b1), none
            if not all_beams:
                if known:
                    farthest = 0.0
                    for i in range(begin, end):
                        if ranges[k, i] > farthest and ranges[k, i] < math.inf:
                            farthest = ranges[k, i]
                far = farthest / cell / BLOCK
                x, y = u / BLOCK, v / BLOCK
                met = first_open(opened, finished, closed, blocks, by_rows, none, x, y, a0, b0, a1, b1, far)
            for i in range(begin, end if met >= 0 else begin):
                x, y = fan.directions[i, 0], fan.directions[i, 1]
                du, dv = c * x - s * y, s * x + c * y
                length, clear = (ranges[k, i] if known else reach) / cell, 0.0  # [cells] that find nothing new
                if not all_beams:
                    x, y, far = u / BLOCK, v / BLOCK, length / BLOCK
                    at = first_open(opened, finished, closed, blocks, by_rows, met, x, y, du, dv, du, dv, far)
                    if at < 0:
                        continue
                    if at > 0:
                        along, ahead = (v, dv) if by_rows else (u, du)
                        clear = (_to_border(along / BLOCK, ahead) + at - 1 - SAFE) * BLOCK / abs(ahead)
                if not known:
                    x, y = fan.directions[i, 0], fan.directions[i, 1]
                    du_scan, dv_scan = c_scan * x - s_scan * y, s_scan * x + c_scan * y
                    t = march_flat(walls, skip.shape[1], skip.shape[2], u, v, du_scan, dv_scan, t_max)
                    length = (min(reach, t * cell) if t < t_max else reach) / cell
                if not (length > 0.0 and length < math.inf and length >= clear):
                    continue
                u0, v0, u1, v1, inside = clip_segment(u, v, u + length * du, v + length * dv, shape[1], shape[0])
                if not inside:
                    continue
                leap = int(clear * max(abs(du), abs(dv))) - 1  # cells that need not be looked at
                new, new_of_all = _mark_line(u0, v0, u1, v1, leap, mine, flat, finished, blocks, when, step)
                counts[robot], counts[team], found = counts[robot] + new, counts[team] + new_of_all, found or new > 0
    return found


@kernel(inline=True)
def _mark_line(u0, v0, u1, v1, leap, mine, flat, finished, blocks, first, step):
    """Mark the cells of a line but the first ``leap`` ones; return how many are new to its robot, and to all.

    Args:
        u0, v0, u1, v1: its ends [cells], inside the grid.
        mine, flat: uint16, flat; ``seen`` of the robot; ``goal``, ``seen`` of all and ``unseen``, see `explore`.
        finished: int64 (words,), ``done`` of the robot. blocks: rows and columns of blocks.
    """
    goal, ours, lately = flat
    new, new_of_all = 0, 0
    steep = abs(u1 - u0) < abs(v1 - v0)
    if steep:
        u0, v0, u1, v1 = v0, u0, v1, u1
    along, sign, more, leave, slope = walk(u0, v0, u1, v1)
    here, leap = int(v0), min(leap, more)
    if leap > 0:
        along, more, leave = along + sign * leap, more - leap, leave + (leap - 1) * slope
        here = leave >> 32
        leave += slope
    for j in range(more + 1):
        there = leave >> 32 if j < more else int(v1)
        for side in range(1 if here == there else 2):
            across = here if side == 0 else there
            row, column = (along, across) if steep else (across, along)
            at, bit = np.uint64((row >> 2) * blocks[1] + (column >> 2)), (row & 3) << 2 | column & 3
            wanted = goal[at]
            if ((wanted & ~mine[at] | lately[at]) >> bit) & 1 == 0:
                continue
            bits = np.uint16(1 << bit)
            lately[at] &= ~bits
            if (mine[at] >> bit) & 1:
                continue
            mine[at] |= bits
            new += 1
            if mine[at] == wanted:
                put_bit(finished, blocks, row >> 2, column >> 2, 1)
            if (ours[at] >> bit) & 1 == 0:
                ours[at] |= bits
                new_of_all += 1
                first[row, column] = step
        here = there
        along, leave = along + sign, leave + slope
    return new, new_of_all


@kernel
def _to_border(u, a):
    """Return the distance [blocks] from u to the next border of a block in the direction of a."""
    return u - int(u) if a < 0.0 else int(u) + 1 - u
