"""Rooms in a robot's map: straight walls, the doorways between them, and rays.

References:
    E. E. Schmidt, R. Sørensen, M. Beregaard, M. Albano: Spiralling human-inspired exploration algorithm with doorway
    detection. ICAART 2025.
"""

import math
from typing import NamedTuple

import numpy as np

_STEPS = ((0, 1), (1, 0), (0, -1), (-1, 0))


class Wall(NamedTuple):
    """A straight run of wall cells: the rows and columns of both ends, inclusive, and its free side.

    ``free`` is the direction (0 east, 1 north, 2 west, 3 south) in which the neighbouring cells are free.
    """

    start: tuple[int, int]
    end: tuple[int, int]
    free: int


class Doorway(NamedTuple):
    """An opening: its middle in rows and columns, its width in cells, and the direction that leads through it."""

    middle: tuple[float, float]
    cells: int
    way: int


def find_walls(occupancy: np.ndarray, least: int) -> list[Wall]:
    """Return the straight walls of a map, along rows and columns, each at its full length.

    Args:
        occupancy: int8 (rows, columns), -1 unknown, 0 free, 100 occupied.
        least: shortest run [cells].

    Examples:
        >>> find_walls(np.array([[100, 100, 0], [0, 0, 0]], np.int8), 2)
        [Wall(start=(0, 0), end=(0, 1), free=1)]
    """
    solid = occupancy > 50
    found = []
    for way, (i, j) in enumerate(_STEPS):
        beside = np.zeros_like(solid)
        rows, columns = solid.shape
        inner = slice(max(0, -i), rows - max(0, i)), slice(max(0, -j), columns - max(0, j))
        outer = slice(max(0, i), rows + min(0, i)), slice(max(0, j), columns + min(0, j))
        beside[inner] = occupancy[outer] == 0
        face = solid & beside
        lines = face if i else face.T
        edges = np.diff(np.pad(lines.astype(np.int8), ((0, 0), (1, 1))), axis=1)
        starts, ends = np.argwhere(edges == 1), np.argwhere(edges == -1)
        for (line, first), (_, after) in zip(starts.tolist(), ends.tolist(), strict=True):
            if after - first >= least:
                a, b = (line, first), (line, after - 1)
                found.append(Wall(a, b, way) if i else Wall((a[1], a[0]), (b[1], b[0]), way))
    return found


def find_doorways(
    occupancy: np.ndarray, walls: list[Wall], own: tuple[float, float], narrow: float, wide: float
) -> list[Doorway]:
    """Return the doorways: places where free cells continue a wall, followed by a wall again.

    Args:
        occupancy: see `find_walls`.
        walls: the walls of that map.
        own: row and column of the robot; a doorway leads away from it.
        narrow, wide: least and largest width [cells].

    Examples:
        >>> cells = np.zeros((5, 8), np.int8)
        >>> cells[2, :3] = cells[2, 5:] = 100
        >>> find_doorways(cells, find_walls(cells, 2), (0.0, 4.0), 1, 3)
        [Doorway(middle=(2.0, 3.5), cells=2, way=1)]
    """
    found: dict[tuple[float, float, int], Doorway] = {}
    for wall in walls:
        along_row = wall.start[0] == wall.end[0] and wall.free % 2 == 1
        step = (0, 1) if along_row else (1, 0)
        for (row, column), sign in ((wall.end, 1), (wall.start, -1)):
            width = _gap(occupancy, row, column, sign * step[0], sign * step[1], math.floor(wide) + 1)
            if not narrow <= width <= wide:
                continue
            half = sign * (width + 1) / 2
            middle = row + half * step[0], column + half * step[1]
            ahead = (middle[0] - own[0]) if along_row else (middle[1] - own[1])
            way = (1 if ahead >= 0 else 3) if along_row else (0 if ahead >= 0 else 2)
            found.setdefault((*middle, way % 2), Doorway(middle, width, way))
    return [found[key] for key in sorted(found)]


def open_ends(
    occupancy: np.ndarray, walls: list[Wall], own: tuple[int, int], least: float, ahead: float
) -> list[tuple[tuple[int, int], tuple[float, float]]]:
    """Return the ends of walls whose line continues over open floor, and the places from which to check for a doorway.

    Such a place lies ``ahead`` beyond the end of the wall, as far from the wall's line as the robot is. Only walls with
    the robot on their free side count; the nearest end comes first.

    Args:
        occupancy: see `find_walls`.
        walls: the walls of that map.
        own: row and column of the robot.
        least: shortest wall [cells].
        ahead: distance of the place beyond the end of the wall [cells].

    Examples:
        >>> cells = np.zeros((5, 8), np.int8)
        >>> cells[2, :4] = 100
        >>> open_ends(cells, find_walls(cells, 2), (0, 1), 4, 2.0)
        [((2, 4), (0.0, 5.0))]
    """
    found = {}
    for wall in walls:
        axis = 1 if wall.free % 2 else 0  # along a row, or along a column
        side = (own[1 - axis] - wall.start[1 - axis]) * (1 if wall.free < 2 else -1)
        if side <= 0 or wall.end[axis] - wall.start[axis] + 1 < least:
            continue
        for end, sign in ((wall.start, -1), (wall.end, 1)):
            gap, place = list(end), [float(own[0]), float(own[1])]
            gap[axis] += sign
            place[axis] = end[axis] + sign * ahead
            if 0 <= gap[axis] < occupancy.shape[axis] and occupancy[gap[0], gap[1]] == 0:
                found[gap[0], gap[1]] = place[0], place[1]
    return sorted(found.items(), key=lambda item: (math.dist(item[0], own), item[0]))


def _gap(occupancy: np.ndarray, row: int, column: int, i: int, j: int, most: int) -> int:
    """Return the number of free cells before an occupied one; 0 if anything else follows, or if they are too many."""
    for k in range(1, most + 2):
        r, c = row + k * i, column + k * j
        if not (0 <= r < occupancy.shape[0] and 0 <= c < occupancy.shape[1]):
            return 0
        if occupancy[r, c] > 50:
            return k - 1
        if occupancy[r, c] != 0:
            return 0
    return 0


def cast(
    occupancy: np.ndarray, row: int, column: int, headings: np.ndarray, reach: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return where rays over a map end: at the first cell that is not free, or at their full length.

    Args:
        occupancy: see `find_walls`.
        row, column: start of the rays.
        headings: shape (k,) [rad], 0 east, counter-clockwise.
        reach: length of a ray [cells].

    Returns:
        rows and columns of the last cells, int64 (k, 2), and their occupancy, int8 (k,), occupied outside the map.
    """
    steps = np.arange(1, math.floor(reach) + 1)
    rows = np.rint(row + steps * np.sin(headings)[:, None]).astype(np.int64)
    columns = np.rint(column + steps * np.cos(headings)[:, None]).astype(np.int64)
    inside = (rows >= 0) & (rows < occupancy.shape[0]) & (columns >= 0) & (columns < occupancy.shape[1])
    state = np.where(inside, occupancy[rows * inside, columns * inside], 100)
    stops = state != 0
    last = np.where(stops.any(axis=1), stops.argmax(axis=1), len(steps) - 1)
    at = np.arange(len(headings)), last
    return np.stack((rows[at], columns[at]), axis=-1), state[at].astype(np.int8)
