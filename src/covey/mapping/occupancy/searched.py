"""What cameras have searched of a robot's map: the faces of its walls and its free cells, from the poses of views."""

import math
from typing import NamedTuple

import numpy as np

from covey.geometry.beams import sensor_in_grid
from covey.geometry.faces import faces
from covey.geometry.grid import Grid
from covey.kernel import kernel

_OCCUPIED, _FREE = 100, 0


class CameraView(NamedTuple):
    """What a camera can read from its place.

    Attributes:
        fov_rad: field of view [rad].
        range_m: [m].
        incidence_rad: largest angle between a ray and the normal of a face [rad].
        mount: x, y [m], heading [rad] on the body.
    """

    fov_rad: float
    range_m: float
    incidence_rad: float
    mount: tuple[float, float, float]


class SearchedMap:
    """The searched faces and cells of one map.

    Args:
        grid: place and size of the map; its cells are not used.

    Attributes:
        cells: bool (rows, columns), the free cells that a camera has seen.
        bits: uint8 (rows, columns), the faces that a camera has read, see `covey.geometry.faces.faces`.
    """

    def __init__(self, grid: Grid):
        self.grid = grid
        self.cells, self.bits = np.zeros(grid.shape, bool), np.zeros(grid.shape, np.uint8)

    def search_from(self, poses: np.ndarray, view: CameraView, occupancy: np.ndarray) -> np.ndarray:
        """Search what is visible from some poses.

        Args:
            poses: float64 (m, 3), of the body, in the frame of the map.
            view: of the camera.
            occupancy: int8 (rows, columns), -1 unknown, 0 free, 100 occupied; rays end where nothing is known.

        Returns:
            Which poses see an unknown cell, bool (m,): they may see more when it is known.
        """
        rays = max(2, math.ceil(view.fov_rad * view.range_m / self.grid.resolution) + 1)
        angles = np.linspace(-view.fov_rad / 2, view.fov_rad / 2, rays)
        fan, limits = np.column_stack((np.cos(angles), np.sin(angles))), (view.range_m, math.cos(view.incidence_rad))
        is_open = np.zeros(len(poses), np.bool_)
        mount = np.array(view.mount, np.float64)
        poses = np.ascontiguousarray(poses, np.float64)
        _look(poses, mount, fan, limits, self.grid.frame, occupancy, self.cells.view(np.uint8), self.bits, is_open)
        return is_open

    def left(self, occupancy: np.ndarray) -> np.ndarray:
        """Return the faces of the map that have not been searched, uint8 (rows, columns) as ``bits``.

        A face counts as searched if one that looks to the same side was, at most a cell away: measured walls shift.
        """
        near = np.pad(self.bits, 1)
        rows, columns = self.bits.shape
        searched = np.zeros_like(self.bits)
        for row in range(3):
            for column in range(3):
                searched |= near[row : row + rows, column : column + columns]
        return faces(occupancy == _FREE, occupancy == _OCCUPIED) & ~searched


@kernel
def _look(poses, mount, fan, limits, frame, occupancy, cells, bits, is_open):
    rows, columns = occupancy.shape
    reach, least = limits[0] / frame[4], limits[1]
    for k in range(poses.shape[0]):
        u, v, c, s = sensor_in_grid(frame, poses[k], mount)
        for j in range(fan.shape[0]):
            du, dv = c * fan[j, 0] - s * fan[j, 1], s * fan[j, 0] + c * fan[j, 1]
            row, column, side = math.floor(v), math.floor(u), -1
            step_u, step_v = (1 if du > 0.0 else -1), (1 if dv > 0.0 else -1)
            per_u = 1.0 / abs(du) if du != 0.0 else math.inf
            per_v = 1.0 / abs(dv) if dv != 0.0 else math.inf
            next_u = ((column + 1 - u) if du > 0.0 else (u - column)) * per_u if du != 0.0 else math.inf
            next_v = ((row + 1 - v) if dv > 0.0 else (v - row)) * per_v if dv != 0.0 else math.inf
            while 0 <= row < rows and 0 <= column < columns:
                value = occupancy[row, column]
                if value < 0:
                    is_open[k] = True
                    break
                if value == _OCCUPIED:
                    if side == 0 and abs(du) >= least:
                        bits[row, column - step_u] |= np.uint8(1 if step_u > 0 else 4)
                    elif side == 1 and abs(dv) >= least:
                        bits[row - step_v, column] |= np.uint8(2 if step_v > 0 else 8)
                    break
                cells[row, column] = 1
                if min(next_u, next_v) > reach:
                    break
                if next_u < next_v:
                    column, next_u, side = column + step_u, next_u + per_u, 0
                else:
                    row, next_v, side = row + step_v, next_v + per_v, 1
