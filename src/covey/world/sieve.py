"""Which beams of a fan may find something new: the others need not be marked, nor even cast.

The cells are looked at in blocks of 4 x 4. Neighbouring beams are taken together, as a cone, which is walked one column
of blocks after another (one row when it is steep) up to a column that holds a block with something left to explore, or
where walls fill all blocks that the cone meets. A cone that may find something is then walked beam by beam, and of a
beam the part before the first such block is left out. All bounds are on the safe side: what is left out crosses no cell
that was not explored.
"""

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from covey.geometry.beams import beam_directions, sensor_in_grid
from covey.kernel import kernel

BLOCK = 4
"""Side of a block in cells."""
WHOLE = 255
"""A beam that is wanted by all means, from where it begins."""
_CONE = math.radians(10.0)
_SAFE = 1e-5  # blocks that are nearer to a beam than this [blocks] count as met


class Fan(NamedTuple):
    """The beams of a range sensor, taken together by cones.

    ``directions`` float64 (rays, 2), unit vectors; ``first`` int64 (cones + 1,), where the beams of each cone begin;
    ``edges`` float64 (cones, 4), the directions of the two edges of each.
    """

    directions: np.ndarray
    first: np.ndarray
    edges: np.ndarray


def fan(angles: np.ndarray) -> Fan:
    """Return the fan of beams at angles [rad] in the frame of the sensor, float64 (rays,)."""
    return _fan(np.ascontiguousarray(angles, np.float64).tobytes())


@lru_cache(maxsize=64)
def _fan(code: bytes) -> Fan:
    angles = np.frombuffer(code)
    first, edges, low, high = [], [], math.inf, -math.inf
    for i, angle in enumerate(angles.tolist()):
        if not first or max(high, angle) - min(low, angle) > _CONE:
            first.append(i)
            edges.append((angle, angle))
            low, high = angle, angle
        low, high = min(low, angle), max(high, angle)
        edges[-1] = low, high
    bounds = np.array(edges, float).reshape(-1, 2)
    sides = np.stack((np.cos(bounds), np.sin(bounds)), axis=-1).reshape(-1, 4)
    return Fan(beam_directions(angles), np.array([*first, len(angles)], np.int64), sides)


def block_bits(blocks: np.ndarray, beyond: bool) -> np.ndarray:
    """Return a bit for each block, bool (..., rows, columns), by rows and by columns: int64 (..., 2, lines, words).

    Word w of a line holds the bits from 32 w to 32 w + 63, so any 33 bits in a row are in one word. ``beyond`` is what
    bits beyond the blocks are.
    """
    rows, columns = blocks.shape[-2:]
    lines = max(rows, columns)
    words = -(-lines // 32)
    padded = np.full((*blocks.shape[:-2], 2, lines, 32 * words + 32), beyond)
    padded[..., 0, :rows, :columns] = blocks
    padded[..., 1, :columns, :rows] = np.swapaxes(blocks, -1, -2)
    halves = np.packbits(padded, axis=-1, bitorder="little").view("<u4").astype(np.int64)
    return halves[..., :-1] | halves[..., 1:] << 32


def closed_bits(solid: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """Return the `block_bits` of what walls fill; what is beyond ``solid``, bool (cells), counts as wall."""
    padded = np.ones((shape[0] * BLOCK, shape[1] * BLOCK), np.uint8)
    padded[: solid.shape[0], : solid.shape[1]] = solid
    rows = (padded.view(np.uint32) == 0x01010101).reshape(shape[0], BLOCK, shape[1])
    return block_bits(rows.all(axis=1), True)


@kernel
def complete(open_, robot, row, column):
    """Wipe the bit of a block in which a robot has nothing left to explore."""
    for side in range(2):
        line, bit = (row, column) if side == 0 else (column, row)
        open_[robot, side, line, bit >> 5] &= ~(1 << (bit & 31))
        if bit >= 32:
            open_[robot, side, line, (bit >> 5) - 1] &= ~(1 << (32 + (bit & 31)))


@kernel
def sieve(robots, poses, ranges, reach, fan, mount, step, frame, shape, open_, closed, all_beams_at, every, wanted):
    """Leave of the wanted beams of some robots' fans, uint8 (m, rays), those that may find something new.

    Beams are not wanted (0), wanted from so many lengths of a block, less one, on (1 ... 254), or `WHOLE`.

    Args:
        ranges: float64 (m, rays) [m], see `ExploredTruth.mark`; without columns: the beams are not longer than
            ``reach`` [m].
        shape: rows and columns of blocks.
        open_: int64 (n, 2, lines, words), `block_bits` of where each robot has something left to explore.
        closed: int64 (2, lines, words), see `closed_bits`.
        all_beams_at: int64 (n,), the step from which on all beams are wanted, once; then ``every`` steps later.
    """
    rays, known = fan.directions.shape[0], ranges.shape[1] > 0
    cell, none = frame[4] * BLOCK, np.int64(0)
    lines, words = closed.shape[1], closed.shape[2]
    left, shut = open_.reshape(-1), closed.reshape(-1)
    for k in range(robots.size):
        robot = robots[k]
        if wanted[k, 0] == WHOLE:
            continue
        if step >= all_beams_at[robot]:
            all_beams_at[robot] = step + every
            for i in range(rays):
                wanted[k, i] = WHOLE
            continue
        u, v, c, s = sensor_in_grid(frame, poses[k], mount)
        u, v = u / BLOCK, v / BLOCK
        for cone in range(fan.edges.shape[0]):
            begin, end, farthest = fan.first[cone], fan.first[cone + 1], reach
            if known:
                farthest = 0.0
                for i in range(begin, end):
                    if ranges[k, i] > farthest and ranges[k, i] < math.inf:
                        farthest = ranges[k, i]
            x0, y0, x1, y1 = fan.edges[cone, 0], fan.edges[cone, 1], fan.edges[cone, 2], fan.edges[cone, 3]
            a0, b0, a1, b1 = c * x0 - s * y0, s * x0 + c * y0, c * x1 - s * y1, s * x1 + c * y1
            steep = abs(a0 + a1) < abs(b0 + b1)
            met = first_open(left, robot, shut, lines, words, shape, steep, none, u, v, a0, b0, a1, b1, farthest / cell)
            for i in range(begin, end):
                if met < 0:
                    wanted[k, i] = 0
                elif wanted[k, i] != 0:
                    a, b = fan.directions[i, 0], fan.directions[i, 1]
                    a, b = c * a - s * b, s * a + c * b
                    length = (ranges[k, i] if known else reach) / cell
                    at = first_open(left, robot, shut, lines, words, shape, steep, met, u, v, a, b, a, b, length)
                    if at > 0:
                        far = _to_border(u, a) if not steep else _to_border(v, b)
                        at = min(int((far + at - 1) / abs(b if steep else a)), WHOLE - 2)
                    wanted[k, i] = at + 1


@kernel
def _to_border(u, a):
    """Return how far it is to the next border of a block from u on in the direction of a [blocks]."""
    return u - int(u) if a < 0.0 else int(u) + 1 - u


@kernel
def first_open(open_, robot, closed, lines, words, shape, steep, count, u, v, a0, b0, a1, b1, length):
    """Return how many columns a beam between two others may cross until it meets a block where something is left.

    It is -1 when there is no such block. The two beams are at most 45 degrees apart.

    Args:
        open_, robot, closed, shape: see `sieve`; the bits flat, in so many lines of so many words.
        steep: whether to walk by rows instead, since the beams go along them rather than along the columns.
        count: so many columns are known to hold no such block.
        u, v: where the beams begin [blocks].
        a0, b0, a1, b1: the directions of the two.
        length: how far they go at most [blocks]; not above 0, or not a number: nowhere.
    """
    rows, columns, side = shape[0], shape[1], 1
    if not length > 0.0:
        return -1
    if not (u >= 0.0 and v >= 0.0 and u < columns and v < rows):
        return 0
    if steep:
        u, v, a0, b0, a1, b1, rows, columns, side = v, u, b0, a0, b1, a1, columns, rows, 0
    column, sign = int(u), 1
    far = column + 1 - u
    if a0 < 0.0:
        sign, far = -1, u - column
    near = 0.0
    if count > 0:
        column, near, far = column + sign * count, far + count - 1, far + count
    low, high = b0 / abs(a0), b1 / abs(a1)
    if low > high:
        low, high = high, low
    at_wall = (side * lines + column) * words
    at_left = 2 * robot * lines * words + at_wall
    top, length = rows - 1.0, length * max(abs(a0), abs(a1)) + _SAFE
    while near <= length:
        first = int(max(v + low * (near if low > 0.0 else far) - _SAFE, 0.0))
        last = int(min(v + high * (far if high > 0.0 else near) + _SAFE, top))
        if last < first:
            return -1
        mask = ((2 << (last - first)) - 1) << (first & 31)
        word = first >> 5
        if last - first > 32 or open_[np.uint64(at_left + word)] & mask != 0:
            return count
        column, count = column + sign, count + 1
        if closed[np.uint64(at_wall + word)] & mask == mask or column < 0 or column >= columns:
            return -1
        at_left, at_wall = at_left + sign * words, at_wall + sign * words
        near, far = far, far + 1.0
    return -1
