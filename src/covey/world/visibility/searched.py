"""The faces of walls that the cameras of a team could have read."""

import math
from typing import Any

import numpy as np

from covey.geometry.beams import sensor_in_grid
from covey.geometry.faces import face_list, on_faces
from covey.kernel import kernel
from covey.world.visibility.explorable import reachable
from covey.world.visibility.seeable import seeable_from
from covey.world.world import World


def readable(world: World, starts: np.ndarray, radii: np.ndarray, range_m: float, incidence_rad: float) -> np.ndarray:
    """Return the faces that some camera can read from a place that its robot can reach, int64 (f, 3).

    Args:
        world: the truth.
        starts: shape (n, 3), poses of the robots with a camera.
        radii: shape (n,), circumscribed radius of their bodies [m].
        range_m, incidence_rad: of the camera, see `covey.sensors.tag_camera.TagCamera`.
    """
    reached = np.zeros(world.grid.shape, bool)
    for radius in sorted(set(radii.tolist())):
        reached |= reachable(world, starts[radii == radius, :2], radius)
    faces = face_list(world.free, world.solid)
    return faces[seeable_from(world, reached, on_faces(world.grid, faces), range_m, incidence_rad)]


class SearchedFaces:
    """Counts, for each robot and for the team, the faces that a ray of a camera has met flat enough to read them.

    Args:
        world: the truth at the start.
        faces: int64 (f, 3), the faces to search, see `readable`.
        robots: number of robots n.

    Attributes:
        faces: the faces, sorted by cell and side.
        first_step: int32 (f,), the step in which any robot first searched a face; -1 = never.
    """

    def __init__(self, world: World, faces: np.ndarray, robots: int):
        self.faces = faces[np.lexsort((faces[:, 2], faces[:, 1], faces[:, 0]))]
        self.first_step = np.full(len(faces), -1, np.int32)
        self._frame, self._bits = world.grid.frame, np.zeros(world.grid.shape, np.uint8)
        np.bitwise_or.at(self._bits, (self.faces[:, 0], self.faces[:, 1]), (1 << self.faces[:, 2]).astype(np.uint8))
        self._at = np.zeros(world.grid.shape, np.int32)  # index of the first face of a cell
        cells, first = np.unique(self.faces[:, 0] * world.grid.shape[1] + self.faces[:, 1], return_index=True)
        self._at.ravel()[cells] = first
        self._angles = self._fan = np.empty(0)
        self._seen, self._counts = np.zeros((robots + 1, len(faces)), bool), np.zeros(robots + 1, np.int64)
        self._shares: tuple[np.ndarray, float] | None = None

    def mark(
        self,
        robots: np.ndarray,
        poses: np.ndarray,
        ranges: np.ndarray,
        angles: np.ndarray,
        mount: Any,
        incidence_rad: float,
        range_m: float,
        step: int,
    ) -> None:
        """Take in one view of each of some robots.

        Args:
            robots: indices of the robots, int64 (m,).
            poses: true poses of their bodies, (m, 3).
            ranges: float64 (m, rays) [m], how far each ray sees; NaN is skipped.
            angles: (rays,) [rad] in the frame of the camera.
            mount: pose of the camera on the body.
            incidence_rad: largest angle between a ray and the normal of a face [rad].
            range_m: range of the camera; rays that see so far have met nothing.
            step: the control step.
        """
        if angles is not self._angles:
            self._angles, self._fan = angles, np.column_stack((np.cos(angles), np.sin(angles)))
        found = _mark(
            np.ascontiguousarray(robots, np.int64), np.ascontiguousarray(poses, np.float64), ranges, self._fan,
            np.ascontiguousarray(mount, np.float64), math.cos(incidence_rad), range_m, step, self._frame, self._bits,
            self._at, self._seen, self._counts, self.first_step,
        )  # fmt: skip
        if found:
            self._shares = None

    @property
    def table(self) -> np.ndarray:
        """The faces and `first_step`, int32 (f, 4): row, column, side, step."""
        return np.column_stack((self.faces, self.first_step)).astype(np.int32)

    @property
    def share_each(self) -> np.ndarray:
        """Share of the faces that each robot has searched itself, float64 (n,), read-only; NaN if there are none."""
        return self.shares[0]

    @property
    def share_union(self) -> float:
        """Share of the faces that the robots have searched together; NaN if there are none."""
        return self.shares[1]

    @property
    def shares(self) -> tuple[np.ndarray, float]:
        """`share_each` and `share_union`; the same tuple until somebody searches a face."""
        if self._shares is None:
            shares = self._counts / (len(self.faces) or math.nan)
            shares.flags.writeable = False
            self._shares = shares[:-1], float(shares[-1])
        return self._shares

    def searched(self, robot: int | None = None) -> np.ndarray:
        """Return which faces a robot (None: the team) has searched, bool (f,)."""
        return self._seen[-1 if robot is None else robot].copy()


@kernel
def _mark(robots, poses, ranges, fan, mount, least, range_m, step, frame, bits, at, seen, counts, first):
    """Mark the faces that rays meet, see `SearchedFaces.mark`; return whether any robot searched a new one."""
    rows, columns = bits.shape
    cell, found = frame[4], False
    for k in range(robots.size):
        u, v, c, s = sensor_in_grid(frame, poses[k], mount)
        for j in range(fan.shape[0]):
            length = ranges[k, j]
            if not length < range_m:
                continue
            du, dv = c * fan[j, 0] - s * fan[j, 1], s * fan[j, 0] + c * fan[j, 1]
            row, column, side = face_met(u + length / cell * du, v + length / cell * dv, du, dv)
            if not (0 <= row < rows and 0 <= column < columns) or (bits[row, column] >> side) & 1 == 0:
                continue
            if (abs(du) if side % 2 == 0 else abs(dv)) < least:
                continue
            i = at[row, column]
            for lower in range(side):
                i += (bits[row, column] >> lower) & 1
            for who in (robots[k], seen.shape[0] - 1):
                if not seen[who, i]:
                    seen[who, i] = found = True
                    counts[who] += 1
                    if who == seen.shape[0] - 1:
                        first[i] = step
    return found


@kernel
def face_met(u, v, du, dv):
    """Return row and column of the free cell, and side, of the face that a ray meets at (u, v) [cells].

    Args:
        u, v: where the ray ends, on the border of a cell.
        du, dv: its direction.
    """
    border_u, border_v = math.floor(u + 0.5), math.floor(v + 0.5)
    if abs(u - border_u) < abs(v - border_v):
        if du > 0.0:
            return math.floor(v), border_u - 1, 0
        return math.floor(v), border_u, 2
    if dv > 0.0:
        return border_v - 1, math.floor(u), 1
    return border_v, math.floor(u), 3
