"""What the cameras of a team have searched: walls on a robot's map, and the chance that a target there was missed."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from covey.geometry.grid import Grid
from covey.geometry.se2 import compose
from covey.kernel import kernel

PATCH_M = 0.25
"""Side of a patch [m]."""
_RAYS = 120
_SPARE_DEG = 3.0  # a patch is as wide as this from where it is seen, and poses and walls of the map are not exact
_SAMPLE_SHARE = 0.7  # samples of one camera miss together more often than independent ones
_LEAST = 1e-3
_UNKNOWN = 4  # cells
_OUT_OF = np.array([-0.5, 0.5, 1.0, 0.0]) * math.pi  # out of the sides south, north, west, east [rad]


class Eye(NamedTuple):
    """What counts of a tag camera: half its view [rad], range [m], cosine of the largest incidence, chances."""

    half: float
    range_m: float
    least_cosine: float
    near: float
    far: float
    slant: float
    blur: float
    mount: tuple[float, float, float]

    @staticmethod
    def of(camera: Any) -> "Eye":
        """Return that of a `covey.sensors.tag_camera.TagCamera`."""
        return Eye(
            math.radians(camera.fov_deg) / 2,
            camera.range_m,
            math.cos(math.radians(max(camera.incidence_deg - _SPARE_DEG, 0.0))),
            camera.detect_near,
            camera.detect_far,
            camera.detect_slant,
            math.radians(camera.blur_deg_s),
            (camera.mount_x_m, camera.mount_y_m, math.radians(camera.mount_heading_deg)),
        )


class Missed:
    """The chance that targets on the walls of one map were missed.

    A patch is one side of the walls in a square of `PATCH_M`. ``missed`` is the probability that the cameras have not
    detected a target there: 1 at first, multiplied by 1 - chance with each sample that shows the patch. A patch that
    the own camera saw last moves with the robot's pose of that time when SLAM corrects it.

    Args:
        grid: the robot's map.
        eye: the camera.

    Attributes:
        missed: float64 (rows, columns, 4), by patch and side: south, north, west, east.
    """

    def __init__(self, grid: Grid, eye: Eye):
        self.grid, self.eye = grid, eye
        self.tile = max(round(PATCH_M / grid.resolution), 1)
        self._limits = eye.range_m / grid.resolution, eye.least_cosine, eye.near, eye.far, eye.slant
        shape = (-(-grid.shape[0] // self.tile), -(-grid.shape[1] // self.tile), 4)
        self.missed = np.ones(shape)
        self._stamp, self._number = np.zeros(shape, np.int64), 0
        self._seen_s = np.full(shape, -np.inf)  # when the own camera saw it, if no other did later
        self._off = np.zeros((*shape, 2))  # how far it has moved from the centre of its square, x and y [m]
        self._fan: tuple[float, RayCells] | None = None

    def add_sample(
        self,
        occupancy: np.ndarray,
        pose: Any,
        turn_rate: float = 0.0,
        time_s: float = -math.inf,
        samples: float = 1.0,
    ) -> None:
        """Process samples of a camera at a pose x, y [m], heading [rad], on a robot with this map.

        ``time_s``: when, if the camera is the robot's own; see `follow`. ``samples``: how many the camera takes near
        that pose; all of them miss with the probability of one to this power.
        """
        self._number += 1
        eye, (x, y, heading) = self.eye, pose
        mx, my, turned = eye.mount
        x, y = x + math.cos(heading) * mx - math.sin(heading) * my, y + math.sin(heading) * mx + math.cos(heading) * my
        sharp = min(1.0, eye.blur / max(abs(turn_rate), 1e-9)) * _SAMPLE_SHARE
        column, row = self._place(x, y)
        _look(
            occupancy, row, column, heading + turned, eye.half, self._limits, sharp, self.tile, self.missed,
            self._stamp, self._number, self._seen_s, self._off, time_s, samples,
        )  # fmt: skip

    def follow(self, motions: np.ndarray) -> None:
        """Move the patches as SLAM has moved the poses from which the robot saw them.

        Args:
            motions: see `covey.onboard.handle.Robot.corrections`.
        """
        seen_s, values = self._seen_s.reshape(-1), self.missed.reshape(-1)
        row = np.searchsorted(motions[:, 0], seen_s + 1e-9, side="right") - 1
        which = np.flatnonzero((row >= 0) & (seen_s < motions[row, 1] - 1e-9))
        which = which[np.argsort(-values[which], kind="stable")]  # the searched of two in one square counts
        i, j, side = np.unravel_index(which, self.missed.shape)
        length, corner, off = self.tile * self.grid.resolution, np.array(self.grid.origin[:2]), self._off.reshape(-1, 2)
        places = corner + length * (np.column_stack((j, i)) + 0.5) + off[which]
        places = compose(motions[row[which], 2:], np.column_stack((places, np.zeros(len(places)))))[:, :2]
        to = np.floor((places - corner) / length).astype(np.int64)
        inside = ((to >= 0) & (to < self.missed.shape[1::-1])).all(axis=1)
        moved, when, to, places = values[which][inside], seen_s[which][inside], to[inside], places[inside]
        values[which], seen_s[which], off[which] = 1.0, -np.inf, 0.0
        at = np.ravel_multi_index((to[:, 1], to[:, 0], side[inside]), self.missed.shape)
        np.minimum.at(values, at, moved)
        seen_s[at], off[at] = when, places - corner - length * (to + 0.5)

    def forget(self, x: float, y: float, radius_m: float, directions: Sequence[float] | None = None) -> None:
        """Count the patches around a place as not searched; of sides that can be read from some directions [rad]."""
        column, row = self._place(x, y)
        reach = radius_m / self.grid.resolution
        rows = slice(max(int(row - reach) // self.tile, 0), int(row + reach) // self.tile + 1)
        columns = slice(max(int(column - reach) // self.tile, 0), int(column + reach) // self.tile + 1)
        sides = range(4)
        if directions is not None:
            cosines = np.cos(np.asarray(directions)[:, None] - _OUT_OF).max(axis=0)
            sides = np.flatnonzero(cosines >= self.eye.least_cosine)
        for side in sides:
            self.missed[rows, columns, side] = 1.0

    def sights(self, occupancy: np.ndarray, cells: np.ndarray, share: float = 0.8) -> "Sights":
        """Return the patches that a camera sees from places when it turns all around.

        Args:
            occupancy: the map.
            cells: rows and columns of the places, int64 (k, 2).
            share: share of the range of the camera that counts.
        """
        reach = share * self.eye.range_m / self.grid.resolution
        if self._fan is None or self._fan[0] != reach:
            self._fan = reach, fan_of(reach, self.eye.least_cosine)
        patches, places = np.full((len(cells), _RAYS), -1, np.int32), np.ascontiguousarray(cells, np.int64)
        fan = self._fan[1]
        self._number = _sights(occupancy, places, fan, self.tile, self._stamp, self._number, patches)
        return Sights(patches, fan.angles)

    def _place(self, x: float, y: float) -> tuple[float, float]:
        left, bottom, _ = self.grid.origin
        return (x - left) / self.grid.resolution, (y - bottom) / self.grid.resolution


class Sights(NamedTuple):
    """What is seen from k places.

    Attributes:
        patches: int32 (k, rays), indices into ``missed.ravel()``, once each in a row, or -1.
        angles: float64 (rays,), directions of the rays [rad].
    """

    patches: np.ndarray
    angles: np.ndarray

    def gains(self, missed: np.ndarray) -> np.ndarray:
        """Return for each place the expected number of patches with a missed target there, float64 (k,)."""
        return (np.where(self.patches >= 0, missed.ravel()[self.patches], 0.0)).sum(axis=1)

    def cover(
        self, missed: np.ndarray, most: int, least: float | np.ndarray, cost: np.ndarray | None = None
    ) -> list[tuple[int, float]]:
        """Choose places one after another by the gain that is left; return places and their gains.

        In turn, a place has the largest gain for its cost, or the largest gain; without costs always the latter.

        Args:
            missed: see `Missed`.
            most: largest number of places.
            least: smallest gain of a place, of all or float64 (k,).
            cost: float64 (k,), above 0.
        """
        k = len(self.patches)
        best, gains = np.empty(min(most, k), np.int64), np.empty(k)
        worth = np.empty(len(best))
        costs = np.ones(k) if cost is None else np.ascontiguousarray(cost, float)
        smallest = np.full(k, least, float)
        count = _cover(self.patches, missed.flatten(), costs, cost is not None, smallest, gains, best, worth)
        return list(zip(best[:count].tolist(), worth[:count].tolist(), strict=True))


@kernel
def _cover(patches, left, cost, in_turn, least, gains, best, worth):
    """Choose places, see `Sights.cover`; return how many. ``left``: what was missed; changed.

    Gains only shrink. So an old gain is an upper bound, and only that of the best place is computed again.
    """
    fresh = np.zeros(patches.shape[0], np.int64)
    for p in range(patches.shape[0]):
        gains[p] = _gain(patches[p], left, least[p])
    for count in range(best.size):
        while True:
            top, most = -1, 0.0
            for p in range(patches.shape[0]):
                ratio = gains[p] if not in_turn or count % 2 == 1 else gains[p] / cost[p]
                if ratio > most:
                    top, most = p, ratio
            if top < 0 or fresh[top] == count:
                break
            gains[top], fresh[top] = _gain(patches[top], left, least[top]), count
        if top < 0:
            return count
        best[count], worth[count] = top, gains[top]
        for k in range(patches.shape[1]):
            if patches[top, k] >= 0:
                left[patches[top, k]] = 0.0
    return best.size


@kernel
def _gain(patches, left, least):
    gain = 0.0
    for k in range(patches.size):
        if patches[k] >= 0:
            gain += left[patches[k]]
    return gain if gain >= least else 0.0


@kernel
def _hit(occupancy, row, column, dr, dc, reach):
    """March a ray from (row, column) [cells] along (dr, dc); return cell, side and distance of the wall that it meets.

    Sides: 0 south, 1 north, 2 west, 3 east; -1: it meets no wall. A wall that is known from its other side alone has a
    few unknown cells before it.
    """
    unknown = 0
    r, c = math.floor(row), math.floor(column)
    step_r, step_c = (1 if dr > 0 else -1), (1 if dc > 0 else -1)
    each_r = abs(1.0 / dr) if dr != 0.0 else math.inf
    each_c = abs(1.0 / dc) if dc != 0.0 else math.inf
    next_r = ((r + 1 - row) if dr > 0 else (row - r)) * each_r if dr != 0.0 else math.inf
    next_c = ((c + 1 - column) if dc > 0 else (column - c)) * each_c if dc != 0.0 else math.inf
    while True:
        if next_r < next_c:
            away, side = next_r, (0 if step_r > 0 else 1)
            r += step_r
            next_r += each_r
        else:
            away, side = next_c, (2 if step_c > 0 else 3)
            c += step_c
            next_c += each_c
        if away > reach or r < 0 or c < 0 or r >= occupancy.shape[0] or c >= occupancy.shape[1]:
            return r, c, -1, away
        if occupancy[r, c] > 0:
            return r, c, side, away
        if occupancy[r, c] < 0:
            unknown += 1
        if unknown > _UNKNOWN or (unknown and occupancy[r, c] == 0):
            return r, c, -1, away


@kernel
def _look(
    occupancy, row, column, heading, half, limits, sharp, tile, missed, stamp, number, seen_s, off, time_s, samples
):
    """Multiply ``missed`` of all patches in sight by (1 - chance)^samples, once each; they are seen at a time [s].

    A patch at an edge of the view is only in part in it, and does not count.
    """
    reach, least_cosine, near, far, slant = limits
    rays = math.ceil(2.0 * half * reach) + 1  # one for each cell at full range
    steepest = math.acos(least_cosine)
    for n in range(-2, rays):  # first the two at the edges of the view: their patches are only in part in it
        is_edge = n < 0
        if is_edge and half > 3.1:
            continue
        k = (n + 2) * (rays - 1) if is_edge else n
        angle = heading - half + 2.0 * half * k / (rays - 1)
        dr, dc = math.sin(angle), math.cos(angle)
        r, c, side, away = _hit(occupancy, row, column, dr, dc, reach)
        if side < 0:
            continue
        cosine = abs(dr) if side < 2 else abs(dc)
        if cosine < least_cosine:
            continue
        straight = near + (far - near) * away / reach
        chance = straight * (1.0 - (1.0 - slant) * math.acos(min(cosine, 1.0)) / steepest) * sharp
        left = (1.0 - chance) ** samples
        for depth in range(-1, 2):  # walls of the map shift by a cell
            rr = r + (depth if side == 0 else -depth if side == 1 else 0)
            cc = c + (depth if side == 2 else -depth if side == 3 else 0)
            i, j = rr // tile, cc // tile
            if 0 <= i < missed.shape[0] and 0 <= j < missed.shape[1] and stamp[i, j, side] != number:
                stamp[i, j, side] = number
                if is_edge:
                    continue
                missed[i, j, side] = max(missed[i, j, side] * left, _LEAST)
                seen_s[i, j, side], off[i, j, side, 0], off[i, j, side, 1] = time_s, 0.0, 0.0


class RayCells(NamedTuple):
    """The cells that rays from the centre of a cell cross, the same from each cell.

    Attributes:
        cells: int32 (rays, m, 2), rows and columns from that cell, in the order in which a ray enters them.
        sides: int8 (rays, m), the side by which it enters them, as in `_hit`; -1 if it is too steep to read a wall.
        length: int64 (rays,), how many cells it reaches.
        angles: float64 (rays,) [rad].
        margin: no ray goes farther in rows or columns.
    """

    cells: np.ndarray
    sides: np.ndarray
    length: np.ndarray
    angles: np.ndarray
    margin: int


def fan_of(reach: float, least_cosine: float) -> RayCells:
    """Return the fan of a camera that turns all around, with a range [cells] and a least cosine of the incidence."""
    margin = int(reach) + 2
    cells, sides = np.zeros((_RAYS, 2 * margin, 2), np.int32), np.zeros((_RAYS, 2 * margin), np.int8)
    length, angles = np.zeros(_RAYS, np.int64), np.empty(_RAYS)
    _trace(reach, least_cosine, cells, sides, length, angles)
    return RayCells(cells, sides, length, angles, margin)


@kernel
def _trace(reach, least_cosine, cells, sides, length, angles):
    """Fill the parts of a `RayCells`; the steps are those of `_hit`."""
    for k in range(angles.size):
        angles[k] = 2.0 * math.pi * k / angles.size - math.pi
        dr, dc = math.sin(angles[k]), math.cos(angles[k])
        r, c, n = 0, 0, 0
        step_r, step_c = (1 if dr > 0 else -1), (1 if dc > 0 else -1)
        each_r = abs(1.0 / dr) if dr != 0.0 else math.inf
        each_c = abs(1.0 / dc) if dc != 0.0 else math.inf
        next_r, next_c = 0.5 * each_r, 0.5 * each_c
        while min(next_r, next_c) <= reach:
            if next_r < next_c:
                r, next_r, side = r + step_r, next_r + each_r, (0 if step_r > 0 else 1)
            else:
                c, next_c, side = c + step_c, next_c + each_c, (2 if step_c > 0 else 3)
            cells[k, n, 0], cells[k, n, 1] = r, c
            sides[k, n] = side if (abs(dr) if side < 2 else abs(dc)) >= least_cosine else -1
            n += 1
        length[k] = n


@kernel
def _sights(occupancy, cells, fan, tile, stamp, number, patches):
    """Fill the patches seen from each place, once each; return the last number used."""
    margin = fan.margin
    width = occupancy.shape[1] + 2 * margin
    framed = np.full((occupancy.shape[0] + 2 * margin, width), np.int8(-1))  # rays that leave the map meet no wall
    framed[margin:-margin, margin:-margin] = occupancy
    states = framed.reshape(-1)
    steps = np.empty(fan.sides.shape, np.int32)
    for k in range(steps.shape[0]):
        for n in range(fan.length[k]):
            steps[k, n] = fan.cells[k, n, 0] * width + fan.cells[k, n, 1]
    for p in range(cells.shape[0]):
        number += 1
        place = (cells[p, 0] + margin) * width + cells[p, 1] + margin
        for k in range(steps.shape[0]):
            n, length, unknown = 0, fan.length[k], 0
            while n < length and states[np.uint64(place + steps[k, n])] == 0:
                n += 1
            while n < length and states[np.uint64(place + steps[k, n])] < 0 and unknown < _UNKNOWN:
                n, unknown = n + 1, unknown + 1
            if n == length or states[np.uint64(place + steps[k, n])] <= 0 or fan.sides[k, n] < 0:
                continue
            side = fan.sides[k, n]
            i, j = (cells[p, 0] + fan.cells[k, n, 0]) // tile, (cells[p, 1] + fan.cells[k, n, 1]) // tile
            if stamp[i, j, side] != number:
                stamp[i, j, side] = number
                patches[p, k] = (i * stamp.shape[1] + j) * 4 + side
    return number
