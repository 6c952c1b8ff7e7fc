"""Edits of a ground: altitudes set or shifted, craters, mounds, trenches, banks of earth, and digs.

Each function returns a `GroundEdit` and changes nothing; `Ground.edited` and `covey.world.state.GroundState.apply`
apply it. An edit with an altitude outside the ground's ``range_m`` is refused as a whole.
"""

import math
from typing import Any

import numpy as np

from covey.errors import InvalidValueError
from covey.geometry.grid import Grid
from covey.lazy import shapely
from covey.world.editing.obstacles import Patch, disc_patch, shape_patch
from covey.world.ground import GroundEdit, Heightfield

Point = tuple[float, float]


def altitudes(ground: Heightfield, row: int, column: int, altitude: np.ndarray, what: str = "the edit") -> GroundEdit:
    """Set the altitudes [m] of a rectangle of vertices that starts at [row, column].

    Args:
        ground: the ground.
        row, column: the first vertex, with the smallest row and column.
        altitude: float64 (h, w), [m].
        what: name of the edit in an error.

    Raises:
        InvalidValueError: an altitude is outside ``range_m``, or the rectangle outside the ground.
    """
    rows, columns = ground.shape
    h, w = altitude.shape
    if not (0 <= row <= rows - h and 0 <= column <= columns - w and altitude.size):
        raise InvalidValueError(
            f"{what} of {h} x {w} vertices from [{row}, {column}] on does not lie inside the {rows} x {columns} of the "
            "ground"
        )
    lowest, highest = ground.range_m
    low, high = float(altitude.min()), float(altitude.max())
    if not (lowest <= low and high <= highest):
        raise InvalidValueError(
            f"{what} asks for altitudes from {low:g} to {high:g} m, but the ground was declared to reach from "
            f"{lowest:g} to {highest:g} m; ask for less, or declare a larger range_m where the ground is loaded"
        )
    before = ground.altitude[row : row + h, column : column + w].copy()
    return GroundEdit(row, column, before, np.array(altitude, np.float64))


def region(
    ground: Heightfield, *, point_m: Point | None = None, box_m: tuple[float, float, float, float] | None = None,
    polygon_m: Any = None, centre_m: Point | None = None, radius_m: float | None = None,
) -> Patch:  # fmt: skip
    """Return the vertex nearest to a point, or the vertices in a box, a polygon or a disc.

    Args:
        ground: the ground.
        point_m: x, y [m].
        box_m: left, bottom, right, top [m].
        polygon_m: vertices [x, y] [m]; where it is narrower than the spacing, it includes every vertex that it passes.
        centre_m, radius_m: a disc [m].

    Raises:
        InvalidValueError: there are no such vertices, or not exactly one of these was given.
    """
    given = [name for name, value in (("point_m", point_m), ("box_m", box_m), ("polygon_m", polygon_m),
                                      ("centre_m", centre_m)) if value is not None]  # fmt: skip
    if len(given) != 1 or (centre_m is None) != (radius_m is None):
        raise InvalidValueError(
            f"a part of the ground is given by {given or 'nothing'}; it must be one of point_m, box_m, polygon_m, or "
            "centre_m with radius_m"
        )
    x0, y0, spacing = ground.frame.tolist()
    what = f"the part of the ground at {given[0]}"
    if point_m is not None:
        u, v = (point_m[0] - x0) / spacing + 0.5, (point_m[1] - y0) / spacing + 0.5
        return _inside(ground, Patch(math.floor(v), math.floor(u), np.ones((1, 1), bool)), what)
    if box_m is not None:
        left, bottom, right, top = box_m
        in_rows = _between(bottom, top, y0, spacing, ground.shape[0])
        in_columns = _between(left, right, x0, spacing, ground.shape[1])
        return _inside(ground, Patch(0, 0, in_rows[:, None] & in_columns), what)
    if centre_m is not None and radius_m is not None:
        return _disc(ground, centre_m, radius_m, what)
    from covey.world.editing.shapes import polygon

    return _inside(ground, shape_patch(_cells(ground), polygon(polygon_m)), what)


def set_altitude(ground: Heightfield, place: Patch, altitude_m: float) -> GroundEdit:
    """Set the altitude of the vertices of a `region` [m]."""
    return _edit_patch(ground, place, np.full(place.mask.shape, float(altitude_m)), "the new altitude")


def shift(ground: Heightfield, place: Patch, by_m: float) -> GroundEdit:
    """Raise the vertices of a `region` by an offset [m]; a negative one lowers them."""
    return _edit_patch(ground, place, _part(ground, place) + by_m, "the shift")


def crater(
    ground: Heightfield, centre_m: Point, depth_m: float, radius_m: float, *, ejecta: bool = False
) -> GroundEdit:
    """Dig a paraboloid: the altitude at a distance r < R from its centre falls by depth * (1 - (r / R)^2).

    Args:
        ground: the ground.
        centre_m: x, y [m]; it may lie outside the ground.
        depth_m: depth at the centre [m].
        radius_m: radius R of the rim [m].
        ejecta: True: the removed ground flies as rocks and stays (`covey.world.editing.ejecta`); False: it vanishes.

    References:
        De Rango, Nahavandi: Simulating autonomous robot teams with Microsoft Robotics Studio. 2007 (the tool; it
        gives no formula).
    """
    if not ejecta:
        return _bowl(ground, centre_m, -_positive("depth_m", depth_m), radius_m, "the crater")
    from covey.world.editing.ejecta import landed, spread

    after = ground.altitude.copy()
    dug = _bowl(ground, centre_m, -_positive("depth_m", depth_m), radius_m, "the crater")
    after[dug.row : dug.row + dug.after.shape[0], dug.column : dug.column + dug.after.shape[1]] = dug.after
    volume = float((dug.before - dug.after).sum()) * ground.spacing_m**2
    spread(after, ground.frame, landed(after, ground.frame, centre_m, radius_m, volume), volume)
    changed = after != ground.altitude
    changed[dug.row, dug.column] = True  # so that there always is a rectangle
    rows, columns = np.nonzero(changed)
    r0, r1, c0, c1 = int(rows.min()), int(rows.max()) + 1, int(columns.min()), int(columns.max()) + 1
    return altitudes(ground, r0, c0, after[r0:r1, c0:c1], "the crater with its ejecta")


def mound(ground: Heightfield, centre_m: Point, height_m: float, radius_m: float) -> GroundEdit:
    """Heap up a mound, a paraboloid: the opposite of a `crater`."""
    return _bowl(ground, centre_m, _positive("height_m", height_m), radius_m, "the mound")


def trench(ground: Heightfield, from_m: Point, to_m: Point, width_m: float, depth_m: float) -> GroundEdit:
    """Dig a trench along a straight line: the vertices within half its width fall by its depth [m]."""
    return _strip(ground, from_m, to_m, width_m, -_positive("depth_m", depth_m), "the trench")


def bank(ground: Heightfield, from_m: Point, to_m: Point, width_m: float, height_m: float) -> GroundEdit:
    """Heap up a bank of earth along a straight line: the vertices within half its width rise by its height [m]."""
    return _strip(ground, from_m, to_m, width_m, _positive("height_m", height_m), "the bank")


def undo(ground: Heightfield, edit: GroundEdit) -> GroundEdit:
    """Take an edit back; later edits of the same vertices stay."""
    h, w = edit.after.shape
    now = ground.altitude[edit.row : edit.row + h, edit.column : edit.column + w]
    altitude = np.where(now == edit.after, edit.before, now - (edit.after - edit.before))
    return altitudes(ground, edit.row, edit.column, altitude, "the restoration")


def dig(ground: Heightfield, from_m: Point, to_m: Point, volume_m3: float, radius_m: float) -> GroundEdit:
    """Move ground from a bowl at one place to a heap at another; no volume is lost.

    Each is a paraboloid sampled at points. The volume of a point goes to the three vertices of the triangle around it,
    in proportion to their barycentric coordinates. So volume and centre are exact but for rounding, for any ratio of
    radius to spacing. Slopes are not limited.

    Args:
        ground: the ground.
        from_m, to_m: the centres, x, y [m]; both bowls lie inside the ground, a spacing or more from its edge.
        volume_m3: the volume [m3].
        radius_m: radius of both [m].
    """
    moved = np.zeros(ground.shape)
    depth_m = _positive("volume_m3", volume_m3) / ground.spacing_m**2
    for what, middle, sign in (("from_m", from_m, -1.0), ("to_m", to_m, 1.0)):
        rows, columns, share = _bowl_shares(ground, middle, radius_m, what)
        np.add.at(moved, (rows, columns), sign * depth_m * share)
    rows, columns = np.nonzero(moved)
    part = (slice(int(rows.min()), int(rows.max()) + 1), slice(int(columns.min()), int(columns.max()) + 1))
    return altitudes(ground, part[0].start, part[1].start, ground.altitude[part] + moved[part], "the dig")


def _bowl_shares(
    ground: Heightfield, middle: Point, radius_m: float, what: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return rows and columns of the vertices under a bowl, and the share of its volume at each."""
    reach = _positive("radius_m", radius_m) + ground.spacing_m
    left, right, bottom, top = ground.bounds
    x, y = middle
    if not (left + reach <= x <= right - reach and bottom + reach <= y <= top - reach):
        raise InvalidValueError(
            f"{what} of the dig is ({x:g}, {y:g}); with its radius of {radius_m:g} m it must lie at least a spacing of "
            f"{ground.spacing_m:g} m inside the ground, ({left:g}, {bottom:g}) to ({right:g}, {top:g}) m"
        )
    count = 8 * max(1, math.ceil(radius_m / ground.spacing_m))
    u, v = np.meshgrid(*2 * [np.arange(-count + 0.5, count) / count])
    weight = np.maximum(1.0 - u * u - v * v, 0.0).ravel()
    x0, y0, spacing = ground.frame.tolist()
    across, up = ((x + radius_m * u.ravel() - x0) / spacing, (y + radius_m * v.ravel() - y0) / spacing)
    column, row = np.floor(across).astype(int), np.floor(up).astype(int)
    a, b = across - column, up - row
    upper = b > a  # the diagonal goes from [row, column] to [row + 1, column + 1]
    rows, columns = np.concatenate((row, row + 1, row + upper)), np.concatenate((column, column + 1, column + ~upper))
    shares = np.concatenate((1.0 - np.maximum(a, b), np.minimum(a, b), np.abs(a - b))) * np.tile(weight, 3)
    return rows, columns, shares / shares.sum()


def _bowl(ground: Heightfield, centre_m: Point, height_m: float, radius_m: float, what: str) -> GroundEdit:
    place = _disc(ground, centre_m, radius_m, what)
    x0, y0, spacing = ground.frame.tolist()
    h, w = place.mask.shape
    dx = x0 + (place.column + np.arange(w)) * spacing - centre_m[0]
    dy = y0 + (place.row + np.arange(h)) * spacing - centre_m[1]
    share = np.maximum(1.0 - (dx * dx + (dy * dy)[:, None]) / radius_m**2, 0.0)
    return _edit_patch(ground, place, _part(ground, place) + height_m * share, what)


def _strip(ground: Heightfield, from_m: Point, to_m: Point, width_m: float, height_m: float, what: str) -> GroundEdit:
    _positive("width_m", width_m)
    if not np.isfinite((*from_m, *to_m)).all() or tuple(from_m) == tuple(to_m):
        raise InvalidValueError(f"{what} goes from {from_m} to {to_m}; it needs two different points [x, y] in metres")
    shape = shapely.LineString((from_m, to_m)).buffer(width_m / 2, cap_style="flat")
    place = _inside(ground, shape_patch(_cells(ground), shape), what)
    return _edit_patch(ground, place, _part(ground, place) + height_m, what)


def _edit_patch(ground: Heightfield, place: Patch, altitude: np.ndarray, what: str) -> GroundEdit:
    return altitudes(ground, place.row, place.column, np.where(place.mask, altitude, _part(ground, place)), what)


def _disc(ground: Heightfield, centre_m: Point, radius_m: float, what: str) -> Patch:
    _positive("radius_m", radius_m)
    if not np.isfinite(centre_m).all():
        raise InvalidValueError(f"centre_m of {what} is {centre_m}; it must be finite numbers of metres")
    x0, y0, spacing = ground.frame.tolist()
    u, v, reach = (centre_m[0] - x0) / spacing + 0.5, (centre_m[1] - y0) / spacing + 0.5, radius_m / spacing
    return _inside(ground, disc_patch(v, u, reach, ground.shape), what)


def _inside(ground: Heightfield, place: Patch | None, what: str) -> Patch:
    """Return the part of a patch on the ground, or raise."""
    part = place.clipped(ground.shape) if place is not None and place.mask.size else None
    if part is None:
        left, right, bottom, top = ground.bounds
        raise InvalidValueError(
            f"{what} holds no vertex of the ground, whose vertices are {ground.spacing_m:g} m apart from "
            f"({left:g}, {bottom:g}) to ({right:g}, {top:g}) m; move or enlarge it"
        )
    return part


def _between(low: float, high: float, first: float, spacing: float, count: int) -> np.ndarray:
    """Return which of the coordinates ``first + k * spacing`` lie from low to high, with room for rounding."""
    at = first + np.arange(count) * spacing
    return (low - 1e-9 * spacing <= at) & (at <= high + 1e-9 * spacing)


def _cells(ground: Heightfield) -> Grid:
    """Return a grid with a cell around each vertex."""
    (x, y), half = ground.origin, 0.5 * ground.spacing_m
    return Grid(ground.altitude, ground.spacing_m, (x - half, y - half, 0.0))


def _part(ground: Heightfield, place: Patch) -> np.ndarray:
    h, w = place.mask.shape
    return ground.altitude[place.row : place.row + h, place.column : place.column + w]


def _positive(name: str, value: float) -> float:
    if not (math.isfinite(value) and value > 0):
        raise InvalidValueError(f"{name} is {value!r}; it must be a positive number of metres")
    return value
