"""Which beams of a fan may find something new: the others need not be marked, nor even cast.

The cells are looked at in blocks of 4 x 4. Neighbouring beams are taken together, as a cone, which is walked one column
of blocks after another (one row when it is steep) up to a column that holds a block with something left to explore, or
where walls fill all blocks that the cone meets. A cone that may find something is then walked beam by beam. All bounds
are on the safe side: what is left out crosses no cell that was not explored.
"""

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from covey.geometry.beams import beam_directions, sensor_in_grid
from covey.kernel import kernel

BLOCK = 4
"""Side of a block in cells."""
_CONE = math.radians(20.0)
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


def closed_blocks(solid: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """Return which blocks of an array, uint8 of a shape, walls fill; what is beyond ``solid`` counts as wall."""
    padded = np.ones((shape[0] * BLOCK, shape[1] * BLOCK), np.uint8)
    padded[: solid.shape[0], : solid.shape[1]] = solid
    whole = padded.view(np.uint32) == 0x01010101
    rows = whole.reshape(shape[0], BLOCK, shape[1])
    return (rows[:, 0] & rows[:, 1] & rows[:, 2] & rows[:, 3]).view(np.uint8)


@kernel
def sieve(robots, poses, ranges, reach, fan, mount, step, frame, left, closed, all_beams_at, every, wanted):
    """Set which beams of some robots' fans may find something new, uint8 (m, rays).

    Args:
        ranges: float64 (m, rays) [m], see `ExploredTruth.mark`; without columns: the beams are not longer than
            ``reach`` [m].
        left: uint8 (n, rows, columns), cells that each robot has still to explore in each block.
        closed: uint8 (rows, columns), see `closed_blocks`.
        all_beams_at: int64 (n,), the step from which on all beams are wanted, once; then ``every`` steps later.
    """
    rays, known = fan.directions.shape[0], ranges.shape[1] > 0
    cell = frame[4] * BLOCK
    for k in range(robots.size):
        robot = robots[k]
        if step >= all_beams_at[robot]:
            all_beams_at[robot] = step + every
            for i in range(rays):
                wanted[k, i] = 1
            continue
        u, v, c, s = sensor_in_grid(frame, poses[k], mount)
        u, v = u / BLOCK, v / BLOCK
        mine = left[robot]
        for cone in range(fan.edges.shape[0]):
            begin, end, farthest = fan.first[cone], fan.first[cone + 1], reach
            if known:
                farthest = 0.0
                for i in range(begin, end):
                    if ranges[k, i] > farthest and ranges[k, i] < math.inf:
                        farthest = ranges[k, i]
            x0, y0, x1, y1 = fan.edges[cone, 0], fan.edges[cone, 1], fan.edges[cone, 2], fan.edges[cone, 3]
            a0, b0, a1, b1 = c * x0 - s * y0, s * x0 + c * y0, c * x1 - s * y1, s * x1 + c * y1
            some = may_find(mine, closed, u, v, a0, b0, a1, b1, farthest / cell)
            for i in range(begin, end):
                wanted[k, i] = 0
                if some:
                    a, b = fan.directions[i, 0], fan.directions[i, 1]
                    a, b = c * a - s * b, s * a + c * b
                    wanted[k, i] = may_find(mine, closed, u, v, a, b, a, b, (ranges[k, i] if known else reach) / cell)


@kernel
def may_find(left, closed, u, v, a0, b0, a1, b1, length):
    """Return whether a beam between two others, at most 45 degrees apart, may meet a block where something is left.

    Args:
        left, closed: see `sieve`.
        u, v: where the beams begin [blocks].
        a0, b0, a1, b1: the directions of the two.
        length: how far they go at most [blocks]; not above 0, or not a number: nowhere.
    """
    rows, columns = left.shape
    if not length > 0.0:
        return False
    if not (u >= 0.0 and v >= 0.0 and u < columns and v < rows):
        return True
    steep = abs(a0 + a1) < abs(b0 + b1)
    if steep:
        u, v, a0, b0, a1, b1, rows, columns = v, u, b0, a0, b1, a1, columns, rows
    sign = 1 if a0 > 0.0 else -1
    low, high = b0 / abs(a0), b1 / abs(a1)
    if low > high:
        low, high = high, low
    column, near = int(u), 0.0
    far = column + 1 - u if sign > 0 else u - column
    while near <= length + _SAFE:
        first = int(max(v + min(low * near, low * far) - _SAFE, 0.0))
        last = int(min(v + max(high * near, high * far) + _SAFE, rows - 1.0))
        if last < first:
            return False
        shut = True
        for row in range(first, last + 1):
            if (left[column, row] if steep else left[row, column]) != 0:
                return True
            shut = shut and (closed[column, row] if steep else closed[row, column]) != 0
        column += sign
        if shut or column < 0 or column >= columns:
            return False
        near, far = far, far + 1.0
    return False
