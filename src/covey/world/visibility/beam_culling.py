"""Find the beams of a fan that may see something new; the others need not be marked, or even cast.

Cells are grouped in blocks of 4 x 4. Neighbouring beams form a cone. The walk follows the cone column by column of
blocks (row by row if it is steep), until a column has a block with something left to explore, or walls fill all blocks
that the cone meets. A cone that may find something is then walked beam by beam, and the part of a beam before the first
such block is skipped. All bounds are conservative: skipped parts cross only explored cells.
"""

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from covey.geometry.beams import beam_directions
from covey.kernel import kernel

BLOCK = 4
"""Side of a block in cells."""
_CONE = math.radians(10)
SAFE = 1e-5
"""Blocks nearer to a beam than this [blocks] count as met."""


class BeamCones(NamedTuple):
    """The beams of a range sensor, grouped in cones.

    ``directions`` float64 (rays, 2), unit vectors; ``first`` int64 (cones + 1,), where the beams of each cone begin;
    ``edges`` float64 (cones, 4), the directions of the two edges of each.
    """

    directions: np.ndarray
    first: np.ndarray
    edges: np.ndarray


def fan(angles: np.ndarray) -> BeamCones:
    """Return the fan of beams at angles [rad] in the frame of the sensor, float64 (rays,)."""
    return _fan(np.ascontiguousarray(angles, np.float64).tobytes())


@lru_cache(maxsize=64)
def _fan(code: bytes) -> BeamCones:
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
    return BeamCones(beam_directions(angles), np.array([*first, len(angles)], np.int64), sides)


def cell_bits(cells: np.ndarray) -> np.ndarray:
    """Return cells, bool (rows, columns), as the bits of each block, row by row: uint16 (rows / 4, columns / 4)."""
    rows, columns = cells.shape
    padded = np.pad(cells, ((0, -rows % BLOCK), (0, -columns % BLOCK)))
    blocks = padded.reshape(-(-rows // BLOCK), BLOCK, -1, BLOCK).swapaxes(1, 2)
    return np.packbits(blocks.reshape(*blocks.shape[:2], -1), axis=-1, bitorder="little").view("<u2")[..., 0]


def cells_of(bits: np.ndarray) -> np.ndarray:
    """Return the cells, bool, of the whole blocks of `cell_bits`."""
    rows, columns = bits.shape
    cells = np.unpackbits(bits[..., None].view(np.uint8), axis=-1, bitorder="little").view(np.bool_)
    return cells.reshape(rows, columns, BLOCK, BLOCK).swapaxes(1, 2).reshape(rows * BLOCK, columns * BLOCK)


def block_bits(blocks: np.ndarray, beyond: bool) -> np.ndarray:
    """Return a bit for each block, bool (rows, columns), by rows and then by columns: int64 (words,).

    Each row has columns / 32 words, rounded up, and each column rows / 32. Word w of a line holds the bits from 32 w to
    32 w + 63, so any 33 consecutive bits are in one word. ``beyond`` is the value of bits outside the blocks.
    """
    return np.concatenate([_line_bits(lines, beyond) for lines in (blocks, blocks.T)])


def _line_bits(lines: np.ndarray, beyond: bool) -> np.ndarray:
    count, length = lines.shape
    padded = np.full((count, length - length % -32 + 32), beyond)
    padded[:, :length] = lines
    halves = np.packbits(padded, axis=-1, bitorder="little").view("<u4").astype(np.int64)
    return (halves[:, :-1] | halves[:, 1:] << 32).reshape(-1)


def closed_bits(solid: np.ndarray) -> np.ndarray:
    """Return the `block_bits` of blocks that walls fill; outside ``solid``, bool (rows, columns), is wall."""
    return block_bits(cell_bits(~solid) == 0, True)


@kernel
def put_bit(bits, shape, row, column, value):
    """Set (``value`` 1) or clear (0) the bit of a block in `block_bits`; ``shape``: rows and columns of blocks."""
    by_row, by_column = (shape[1] + 31) >> 5, (shape[0] + 31) >> 5
    for side in range(2):
        at, bit = (row * by_row, column) if side == 0 else (shape[0] * by_row + column * by_column, row)
        at, low = at + (bit >> 5), bit & 31
        bits[at] = bits[at] & ~(1 << low) | value << low
        if bit >= 32:
            bits[at - 1] = bits[at - 1] & ~(1 << (32 + low)) | value << (32 + low)


@kernel
def update_closed(closed, solid, row0, row1, column0, column1):
    """Bring `closed_bits` up to date, in place, after cells of ``solid`` in a window changed.

    Args:
        closed: int64, the bits of what it was before.
        solid: bool (rows, columns), as it is now.
        row0, row1, column0, column1: first row, last row + 1, first column, last column + 1.
    """
    rows, columns = solid.shape
    shape = (rows + BLOCK - 1) // BLOCK, (columns + BLOCK - 1) // BLOCK
    for row in range(row0 // BLOCK, (row1 - 1) // BLOCK + 1):
        for column in range(column0 // BLOCK, (column1 - 1) // BLOCK + 1):
            full = True
            for r in range(row * BLOCK, min((row + 1) * BLOCK, rows)):
                for c in range(column * BLOCK, min((column + 1) * BLOCK, columns)):
                    full = full and solid[r, c]
            put_bit(closed, shape, row, column, np.int64(full))


@kernel
def first_open(goal, done, closed, shape, steep, count, u, v, a0, b0, a1, b1, length):
    """Return how many columns a beam between two others may cross before a block with something left to explore.

    It is -1 if there is no such block. The two beams are at most 45 degrees apart.

    Args:
        goal, done: int64, `block_bits` of blocks in which there is something to explore, and of those of them in which
            the robot has nothing left.
        closed: int64, see `closed_bits`.
        shape: rows and columns of blocks.
        steep: walk by rows instead of columns, for steep beams.
        count: number of columns known to have no such block.
        u, v: start of the beams [blocks].
        a0, b0, a1, b1: directions of the two beams.
        length: largest length of the beams [blocks]; 0, negative or NaN for none.
    """
    rows, columns = shape[0], shape[1]
    if not length > 0.0:
        return -1
    if not (u >= 0.0 and v >= 0.0 and u < columns and v < rows):
        return 0
    begin = rows * ((columns + 31) >> 5)
    if steep:
        u, v, a0, b0, a1, b1, rows, columns, begin = v, u, b0, a0, b1, a1, columns, rows, 0
    words = (rows + 31) >> 5
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
    at = begin + column * words
    ahead = 1.0 if b0 * b1 < 0.0 else max(abs(a0), abs(a1))  # for the beam straight ahead, if there is one
    top, length = rows - 1.0, length * ahead + SAFE
    while near <= length:
        first = int(max(v + low * (near if low > 0.0 else far) - SAFE, 0.0))
        last = int(min(v + high * (far if high > 0.0 else near) + SAFE, top))
        if last < first:
            return -1
        mask = ((2 << (last - first)) - 1) << (first & 31)
        word = first >> 5
        here = np.uint64(at + word)
        if last - first > 32 or goal[here] & ~done[here] & mask != 0:
            return count
        column, count = column + sign, count + 1
        if closed[here] & mask == mask or column < 0 or column >= columns:
            return -1
        at += sign * words
        near, far = far, far + 1.0
    return -1
