"""Maps that follow corrections: scans are kept, and where their poses change the evidence is made again, only there."""

import math

import numpy as np

from covey.geometry.beams import beam_directions, sensor_in_grid
from covey.kernel import kernel
from covey.mapping.occupancy.belief import Beliefs
from covey.mapping.occupancy.evidence import mark_scan
from covey.mapping.occupancy.tiles import TILE, TILE_CELLS
from covey.mapping.slam.log import Laser, relative

_LEVER_M = 5.0  # how far from the robot a turn counts
_MOVED = 0.2  # cells: scans that move less stay where they are; with half a cell walls were doubled more often


class KeptScans:
    """The scans that make one robot's own evidence.

    Args:
        beliefs: the beliefs of its team.
        robot: its index there.
        laser: its lidar.

    Attributes:
        rows: for each scan its number among those of the localizer.
    """

    def __init__(self, beliefs: Beliefs, robot: int, laser: Laser):
        self._beliefs, self._robot, self._laser = beliefs, robot, laser
        self._directions = beam_directions(laser.angles)
        self.rows: list[int] = []
        self._poses, self._ranges = np.empty((0, 3)), np.empty((0, len(laser.angles)), np.float32)  # with room for more
        self._boxes = np.empty((0, 4), np.int64)  # the tiles that each scan touches: rows, columns

    def add(self, row: int, pose: np.ndarray, ranges: np.ndarray) -> None:
        """Keep a scan that was added to the belief at a pose (3,); ``row``: its number among the localizer's."""
        k = len(self.rows)
        if k == len(self._poses):
            self._poses, self._ranges, self._boxes = (
                np.concatenate((some, np.empty((max(k, 64), some.shape[1]), some.dtype)))
                for some in (self._poses, self._ranges, self._boxes)
            )
        self.rows.append(row)
        self._poses[k], self._ranges[k] = pose, ranges
        self._find_boxes(np.array([k]))

    @property
    def poses(self) -> np.ndarray:
        """Where each scan is in the map, (S, 3)."""
        return self._poses[: len(self.rows)]

    def move(self, poses: np.ndarray) -> bool:
        """Move the scans to better poses (S, 3), and make the evidence of all tiles that it changes again.

        Scans that move by less than a fifth of a cell stay where they are. Returns whether anything changed.
        """
        beliefs = self._beliefs
        off = relative(self.poses, poses)
        far = np.hypot(off[:, 0], off[:, 1]) + _LEVER_M * np.abs(off[:, 2])
        moved = np.flatnonzero(far > _MOVED * beliefs.grid.resolution)
        if not len(moved):
            return False
        rows, columns = (side // TILE for side in beliefs.grid.shape)
        dirty = np.zeros((rows, columns), bool)
        before = self._boxes[moved]
        self.poses[moved] = poses[moved]
        self._find_boxes(moved)
        touches = touching(self._boxes[: len(self.rows)], np.concatenate((before, self._boxes[moved])), dirty)
        tiles = np.flatnonzero(dirty)
        place = np.full(rows * columns, -1, np.int64)
        place[tiles] = np.arange(len(tiles))
        cells = np.zeros((len(tiles), TILE_CELLS), np.int8)
        far_m = beliefs.mapping.max_range_m or self._laser.range_max
        gather(
            self.poses[touches],
            self._ranges[touches].astype(np.float64),
            self._directions,
            np.array(self._laser.mount),
            np.array([self._laser.range_max, far_m, beliefs.mapping.max_free_m or far_m]),
            beliefs.grid.frame,
            beliefs.evidence_model,
            place,
            np.zeros(beliefs.grid.shape, np.uint8),
            cells,
        )
        beliefs.put_own(self._robot, tiles.astype(np.int32), cells)
        return True

    def _find_boxes(self, which: np.ndarray) -> None:
        """Find the tiles that some scans, int64 (m,), may touch."""
        far_m = self._beliefs.mapping.max_range_m or self._laser.range_max
        mount, grid = np.array(self._laser.mount), self._beliefs.grid
        tiles_in(which, self._poses, self._ranges, self._directions, mount, far_m, grid.frame, grid.shape, self._boxes)


@kernel
def tiles_in(which, poses, ranges, directions, mount, far_m, frame, shape, boxes):
    """Write the first and last row, first and last column of the tiles that some scans may touch, (S, 4)."""
    for k in which:
        u, v, c, s = sensor_in_grid(frame, poses[k], mount)
        left = right = u
        low = high = v
        for i in range(ranges.shape[1]):
            r = float(ranges[k, i])
            if r > 0.0:
                length = min(r, far_m) / frame[4] + 1.0
                x = u + length * (c * directions[i, 0] - s * directions[i, 1])
                y = v + length * (s * directions[i, 0] + c * directions[i, 1])
                left, right, low, high = min(left, x), max(right, x), min(low, y), max(high, y)
        boxes[k, 0], boxes[k, 1] = max(math.floor(low) // TILE, 0), min(math.floor(high) // TILE, shape[0] // TILE - 1)
        boxes[k, 2] = max(math.floor(left) // TILE, 0)
        boxes[k, 3] = min(math.floor(right) // TILE, shape[1] // TILE - 1)


@kernel
def touching(boxes, changed, dirty):
    """Mark the tiles of the changed boxes, (m, 4), in ``dirty``, all False before; return which boxes touch them."""
    for k in range(changed.shape[0]):
        for row in range(changed[k, 0], changed[k, 1] + 1):
            for column in range(changed[k, 2], changed[k, 3] + 1):
                dirty[row, column] = True
    found, n = np.empty(boxes.shape[0], np.int64), 0
    for k in range(boxes.shape[0]):
        is_hit = False
        for row in range(boxes[k, 0], boxes[k, 1] + 1):
            for column in range(boxes[k, 2], boxes[k, 3] + 1):
                is_hit |= dirty[row, column]
        found[n] = k
        n += is_hit
    return found[:n]


@kernel
def gather(poses, ranges, directions, mount, limits, frame, model, place, scratch, cells):
    """Add the evidence of scans, one after the other, in some tiles.

    Args:
        poses, ranges, directions, mount, limits, frame, model: see `covey.mapping.occupancy.evidence.use_scans`.
        place: int64 (tiles,), the row of ``cells`` that holds a tile; -1: the tile is left alone.
        scratch: uint8 (rows, columns), all 0 before and after.
        cells: int8 (k, 1024), the evidence.
    """
    box, per_row = np.empty(4, np.int64), scratch.shape[1] // TILE
    miss, hit, low, high = model[0], model[1], model[2], model[3]
    for k in range(poses.shape[0]):
        box[0], box[1], box[2], box[3] = scratch.shape[0], -1, scratch.shape[1], -1
        mark_scan(scratch, box, frame, poses[k], mount, directions, ranges[k], limits[0], limits[1], limits[2])
        for row in range(box[0], box[1] + 1):
            for column in range(box[2], box[3] + 1):
                mark = scratch[row, column]
                if mark == 0:
                    continue
                scratch[row, column] = 0
                at = place[row // TILE * per_row + column // TILE]
                if at < 0:
                    continue
                cell = row % TILE * TILE + column % TILE
                delta, seen = (-miss, -1) if mark == 1 else (hit, 1)
                after = min(max(cells[at, cell] + delta, low), high)
                cells[at, cell] = seen if after == 0 else after
