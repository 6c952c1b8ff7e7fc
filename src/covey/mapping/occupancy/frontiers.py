"""Frontiers: the borders of the known area, in four common definitions, grouped into clusters.

References:
    B. Yamauchi: Frontier-based exploration using multiple robots. Agents 1998. The definitions are those of the ROS
    packages ``explore`` (C. Bosch; Z. Yan) and ``explore_lite``/``m-explore``, of the leader in the DAT160 rescue
    challenge, and of the frontier follower of MAES.
"""

import io
from dataclasses import dataclass

import numpy as np

from covey.errors import InvalidValueError, UnknownNameError
from covey.kernel import kernel
from covey.lazy import Image

DEFINITIONS = {"explore": 0, "m_explore": 1, "rescue": 2, "maes": 3}
"""The definitions of a frontier cell:

- ``explore``: a free cell with an unknown 4-neighbour.
- ``m_explore``: an *unknown* cell with a free 4-neighbour.
- ``rescue``: a free cell with an unknown 4-neighbour and no occupied 4-neighbour.
- ``maes``: a free cell with at least 2 unknown cells among its 8 neighbours.

Cells outside the grid are neither unknown, free, nor occupied.
"""

_COLOURS = np.array([[0, 114, 178], [213, 94, 0], [0, 158, 115], [204, 121, 167], [230, 159, 0]], np.uint8)
_ONES = np.uint64(0x0101010101010101)
_SIGNS = np.uint64(0x8080808080808080)
_LOW7 = np.uint64(0x7E7E7E7E7E7E7E7E)
_OUTSIDE = 1


@dataclass(frozen=True)
class Frontiers:
    """Clusters of frontier cells, in storage order of their first cells (from the south-west corner, row by row).

    Attributes:
        cells: int64 (k, 2), rows and columns of all frontier cells, cluster by cluster, each in storage order.
        label: int64 (k,), the cluster of each cell, 0 ... m - 1.
        sizes: int64 (m,), cells in each cluster.
        centroids: float64 (m, 2), mean row and column of each cluster; it can lie off the frontier, even in a wall.
        nearest: int64 (m, 2), the cell of each cluster that is nearest to its centroid (ties: the first).
    """

    cells: np.ndarray
    label: np.ndarray
    sizes: np.ndarray
    centroids: np.ndarray
    nearest: np.ndarray

    def __len__(self) -> int:
        return len(self.sizes)

    def __repr__(self) -> str:
        return f"<Frontiers: {len(self)} clusters, {len(self.cells)} cells>"

    def plot(self) -> "Image.Image":
        """Return a picture of the clusters, each in its own colour, +y up; notebooks show it."""
        low = self.cells.min(axis=0) if len(self.cells) else np.zeros(2, np.int64)
        rows, columns = (self.cells.max(axis=0) - low + 1).tolist() if len(self.cells) else (1, 1)
        shown = np.full((rows, columns, 3), 255, np.uint8)
        where = self.cells - low
        shown[where[:, 0], where[:, 1]] = _COLOURS[self.label % len(_COLOURS)]
        zoom = max(1, round(300 / max(rows, columns)))
        image = Image.fromarray(np.ascontiguousarray(shown[::-1]))
        return image.resize((columns * zoom, rows * zoom), Image.Resampling.NEAREST)

    def _repr_png_(self) -> bytes:
        buffer = io.BytesIO()
        self.plot().save(buffer, "PNG")
        return buffer.getvalue()

    def of(self, cluster: int) -> np.ndarray:
        """Return the cells, int64 (size, 2), of one cluster."""
        end = int(self.sizes[: cluster + 1].sum())
        return self.cells[end - self.sizes[cluster] : end]


def find_frontiers(occupancy: np.ndarray, definition: str = "explore", min_cells: int = 1) -> Frontiers:
    """Return the frontiers of a map; cells are grouped with their 8 neighbours.

    Args:
        occupancy: int8 (rows, columns), -1 unknown, 0 free, 100 occupied.
        definition: a name of `DEFINITIONS`.
        min_cells: smaller clusters are left out.

    Raises:
        UnknownNameError: there is no such definition.
        InvalidValueError: the occupancy is not a two-dimensional int8 array.

    Examples:
        >>> occupancy = np.array([[0, 0, -1], [0, 0, -1], [100, 100, 100]], np.int8)
        >>> find_frontiers(occupancy).cells.tolist()
        [[0, 1], [1, 1]]
    """
    if definition not in DEFINITIONS:
        raise UnknownNameError("frontier definition", definition, DEFINITIONS)
    if occupancy.dtype != np.int8 or occupancy.ndim != 2:
        raise InvalidValueError(f"occupancy is {occupancy.dtype} {occupancy.shape}; give int8 (rows, columns)")
    rows, columns = occupancy.shape
    if columns % 8 or not occupancy.flags.c_contiguous:
        padded = np.full((rows, columns + -columns % 8), _OUTSIDE, np.int8)
        padded[:, :columns] = occupancy
        occupancy = padded
    cells = frontier_cells(occupancy.view(np.uint64), DEFINITIONS[definition])
    label, count = label_cells(cells, columns)
    return Frontiers(*group_cells(cells, label, count, max(min_cells, 1)))


@kernel
def _beside(words, row, word):
    """Return a word of 8 cells, and the words of their left and of their right neighbours; 1 outside the grid."""
    outside = np.uint64(_OUTSIDE)
    if row < 0 or row >= words.shape[0]:
        return _ONES, _ONES, _ONES
    here = words[row, word]
    before = words[row, word - 1] >> np.uint64(56) if word > 0 else outside
    after = words[row, word + 1] if word + 1 < words.shape[1] else outside
    return here, (here << np.uint64(8)) | before, (here >> np.uint64(8)) | (after << np.uint64(56))


@kernel
def _unknown(word):
    return (word >> np.uint64(7)) & _ONES


@kernel
def _free(word):
    return ~((word >> np.uint64(7)) | (word >> np.uint64(6)) | word) & _ONES


@kernel
def _occupied(word):
    return (word >> np.uint64(6)) & ~(word >> np.uint64(7)) & _ONES


@kernel
def frontier_cells(words, definition):
    """Return rows and columns, int64 (k, 2), of the frontier cells in storage order, eight cells at a time.

    Args:
        words: the occupancy as uint64 (rows, columns / 8), little-endian: cell k of a word is byte k.
        definition: an index into `DEFINITIONS`.
    """
    rows, width = words.shape
    found = np.empty((256, 2), np.int64)
    count = 0
    flip = ~np.uint64(0) if definition == 1 else np.uint64(0)
    near = np.zeros(width + 2, np.uint64)
    for row in range(rows):
        south_row, own_row, north_row = words[max(row - 1, 0)], words[row], words[min(row + 1, rows - 1)]
        for word in range(width):
            near[word + 1] = (south_row[word] ^ flip) | (own_row[word] ^ flip) | (north_row[word] ^ flip)
        for word in range(width):
            if (near[word] | near[word + 1] | near[word + 2]) & _SIGNS == 0:
                continue  # nothing unknown (for m_explore: nothing known) here or beside
            own = own_row[word]
            candidates = _unknown(own) if definition == 1 else _free(own)
            if candidates == 0:
                continue
            _, left, right = _beside(words, row, word)
            south, south_left, south_right = _beside(words, row - 1, word)
            north, north_left, north_right = _beside(words, row + 1, word)
            if definition == 1:
                mask = candidates & (_free(left) | _free(right) | _free(south) | _free(north))
            elif definition == 3:
                number = _unknown(left) + _unknown(right) + _unknown(south) + _unknown(north)
                number += _unknown(south_left) + _unknown(south_right) + _unknown(north_left) + _unknown(north_right)
                mask = candidates & ((number + _LOW7) >> np.uint64(7))
            else:
                mask = candidates & (_unknown(left) | _unknown(right) | _unknown(south) | _unknown(north))
                if definition == 2:
                    mask &= ~(_occupied(left) | _occupied(right) | _occupied(south) | _occupied(north))
            if mask == 0:
                continue
            if count + 8 > found.shape[0]:
                larger = np.empty((2 * found.shape[0], 2), np.int64)
                for k in range(count):
                    larger[k, 0], larger[k, 1] = found[k, 0], found[k, 1]
                found = larger
            for k in range(8):
                if (mask >> np.uint64(8 * k)) & np.uint64(1):
                    found[count, 0], found[count, 1] = row, 8 * word + k
                    count += 1
    return found[:count].copy()


@kernel
def label_cells(cells, columns):
    """Group touching cells, corners included: labels int64 (k,) in order of first cells, and the number of groups.

    Args:
        cells: int64 (k, 2), rows and columns in storage order. columns: width of the grid.

    References:
        A. Rosenfeld, J. L. Pfaltz: Sequential operations in digital picture processing. JACM 13(4), 1966.
    """
    k = cells.shape[0]
    parent = np.empty(k, np.int64)
    at = np.zeros((2, columns + 2), np.int64)  # 1 + the cell of this and of the last row in each column, or an old one
    for i in range(k):
        row, column = cells[i, 0], cells[i, 1]
        parent[i] = i
        at[row & 1, column + 1] = i + 1
        for other_row, other_column in ((row, column), (row - 1, column), (row - 1, column + 1), (row - 1, column + 2)):
            j = at[other_row & 1, other_column] - 1
            if j >= 0 and cells[j, 0] == other_row:
                a, b = i, j
                while parent[a] != a:
                    a = parent[a]
                while parent[b] != b:
                    parent[b] = parent[parent[b]]
                    b = parent[b]
                parent[max(a, b)] = min(a, b)
    label = np.empty(k, np.int64)
    count = 0
    for i in range(k):
        if parent[i] == i:
            label[i] = count
            count += 1
        else:
            label[i] = label[parent[i]]
    return label, count


@kernel
def group_cells(cells, label, count, min_cells):
    """Return cells by group, labels, sizes, centroids and the cells nearest to them, of groups that are large enough.

    Shapes and types as in `Frontiers`.
    """
    size, start, kept = np.zeros(count, np.int64), np.zeros(count, np.int64), np.zeros(count, np.int64)
    for i in range(label.size):
        size[label[i]] += 1
    groups = total = 0
    for g in range(count):
        start[g], kept[g] = total, groups
        if size[g] >= min_cells:
            groups, total = groups + 1, total + size[g]
    ordered, nearest = np.empty((total, 2), np.int64), np.empty((groups, 2), np.int64)
    labels, sizes, centroids = np.empty(total, np.int64), np.empty(groups, np.int64), np.empty((groups, 2))
    for i in range(label.size):
        g = label[i]
        if size[g] >= min_cells:
            at = start[g]
            start[g] = at + 1
            ordered[at, 0], ordered[at, 1], labels[at] = cells[i, 0], cells[i, 1], kept[g]
    first = 0
    for g in range(count):
        if size[g] >= min_cells:
            group, end = kept[g], first + size[g]
            row = column = 0
            for i in range(first, end):
                row, column = row + ordered[i, 0], column + ordered[i, 1]
            sizes[group], centroids[group, 0], centroids[group, 1] = size[g], row / size[g], column / size[g]
            best = np.inf
            for i in range(first, end):
                distance = (ordered[i, 0] - centroids[group, 0]) ** 2 + (ordered[i, 1] - centroids[group, 1]) ** 2
                if distance < best:
                    best = distance
                    nearest[group, 0], nearest[group, 1] = ordered[i, 0], ordered[i, 1]
            first = end
    return ordered, labels, sizes, centroids, nearest


def frontier_mask(occupancy: np.ndarray, definition: str) -> np.ndarray:
    """Plain reference of `frontier_cells`: bool (rows, columns)."""
    rows, columns = occupancy.shape
    padded = np.pad(occupancy, 1, constant_values=_OUTSIDE)
    around = {(i, j): padded[1 + i : 1 + i + rows, 1 + j : 1 + j + columns] for i in (-1, 0, 1) for j in (-1, 0, 1)}
    four = [around[d] for d in ((0, 1), (0, -1), (1, 0), (-1, 0))]
    unknown_beside = np.any([n == -1 for n in four], axis=0)
    if definition == "m_explore":
        return (occupancy == -1) & np.any([n == 0 for n in four], axis=0)
    if definition == "maes":
        return (occupancy == 0) & (np.sum([n == -1 for d, n in around.items() if d != (0, 0)], axis=0) >= 2)
    mask = (occupancy == 0) & unknown_beside
    return mask & ~np.any([n == 100 for n in four], axis=0) if definition == "rescue" else mask
