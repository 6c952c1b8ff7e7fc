"""Floor plans (DXF, SVG) as worlds: scale, walls, the outside."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np

from covey.errors import InvalidValueError, MapFileError, did_you_mean
from covey.geometry.grid import Grid
from covey.lazy import ndimage
from covey.world.editing.shapes import grid_around
from covey.world.io.drawings.drawing import Drawing, Observe, Stroke, silent
from covey.world.records.floor_plans import KnownLength
from covey.world.world import FREE, MAX_CELLS, OPEN, UNKNOWN, WALL, Border, World, closed

UNITS_M = {"mm": 1e-3, "cm": 1e-2, "m": 1.0, "in": 0.0254, "ft": 0.3048}
MAX_PIECES = 400_000
"""Largest number of straight pieces of the lines of a floor plan."""

_BATCH = 2_000_000  # rows of walls at a time
_NUDGE = 1e-6  # of a cell: a centre on an edge belongs to the side of larger x and y despite rounding
_COARSE = 1e-4  # tolerance for lengths, as a share of the length
_SMALLEST_M = 1.0  # of a plan that nobody gave a scale for
_FARTHEST_M = 1e6
_SHORTEST_M = 1e-9  # step between two points


@dataclass(frozen=True)
class FloorPlan:
    """A floor plan as it was read.

    Attributes:
        world: the world.
        drawing: the content of the file.
        unit_m: length of a unit of the drawing [m].
        said_by: where the unit comes from.
        lines: points [m] of the lines of each layer that was read, arrays of shape (n, 2).
        surrounded: whether an outer wall separates the world from the outside.
        filled: number of closed spaces that were filled as the inside of walls.
    """

    world: World
    drawing: Drawing
    unit_m: float
    said_by: str
    lines: dict[str, list[np.ndarray]]
    surrounded: bool
    filled: int


def read_floor_plan(
    path: Path,
    *,
    layers: Sequence[str] | None = None,
    without_layers: Sequence[str] = (),
    units: str | None = None,
    scale: Any = None,
    origin: Sequence[float] | None = None,
    wall_m: float = 0.1,
    fill_m: float = 0.5,
    close_m: float = 1.5,
    border: Border = "wall",
    resolution_m: float = 0.05,
    wall_height_m: float = 2.0,
    observe: Observe = silent,
) -> FloorPlan:
    """Read a floor plan from a drawing, ``.dxf`` or ``.svg``.

    Args:
        path: the file.
        layers: names of the layers to read; ``*`` stands for any letters; None: all that are shown.
        without_layers: names of layers to leave out.
        units: unit of the drawing, ``mm``, ``cm``, ``m``, ``in`` or ``ft``; None: as the file says.
        scale: instead: ``{"from": [x, y], "to": [x, y], "length_m": …}``, two points as in the drawing and their
            distance [m], or ``{"layer": …, "length_m": …}``, the length of the longest line of a layer.
        origin: x, y as in the drawing of the point that lies at (0, 0) of the world; None: the origin of a DXF, the
            lower left corner of the page of an SVG.
        wall_m: thickness of the walls [m]; a polyline that has a width of its own and is thicker keeps it.
        fill_m: closed spaces narrower than this [m] are walls.
        close_m: the outside is all that a disc of this diameter [m] reaches from the edge of the plan.
        border: ``wall``: the outside is solid; ``open``: robots can leave the plan.
        resolution_m: side of a cell [m].
        wall_height_m: height of the walls [m].
        observe: is called with the stage, how many of its parts are done, and of how many (0: it has no parts).

    Raises:
        MapFileError: the file is damaged, or says no unit, or an entity, a layer or the size is wrong.
        CoveyError: a library of the extra ``[lab]`` is not installed.
    """
    path = Path(path)
    lengths = {"wall_m": wall_m, "resolution_m": resolution_m, "fill_m": fill_m, "close_m": close_m}
    for name, value in lengths.items():
        least = 0 if name in ("fill_m", "close_m") else 1e-3
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not least <= value <= 100:
            raise InvalidValueError(f"{name} is {value!r}; it must be from {least:g} to 100 m")
    drawing = read_drawing(path, observe)
    chosen = _chosen(drawing, layers, without_layers)
    unit_m, said_by = _unit(drawing, units, scale)
    corner = drawing.corner if origin is None else origin
    flip = np.array([1.0, drawing.up])
    tolerance = resolution_m / 20 / unit_m
    lines: list[tuple[Stroke, np.ndarray]] = []
    pieces = 0
    for done, stroke in enumerate(chosen):
        observe("measuring the lines", done, len(chosen))
        points = stroke.points(tolerance, path)
        points = (points - corner) * flip * unit_m
        points = points[np.hypot(*np.diff(points, axis=0, prepend=np.inf).T) > _SHORTEST_M]
        if len(points) > 1:
            lines.append((stroke, points))
            pieces += len(points) - 1
        if pieces > MAX_PIECES:
            raise MapFileError(
                f"{path}: its lines have more than {MAX_PIECES:,} straight pieces at resolution_m {resolution_m}; read "
                "fewer layers"
            )
    if not lines:
        raise MapFileError(f"{path}: has no lines to read; it has {_all_layers(drawing)}")
    _check_size(drawing, lines, unit_m, corner, resolution_m, given=units is not None or scale is not None)
    thickness = [max(wall_m, stroke.width * unit_m) for stroke, _ in lines]
    observe("drawing the walls", 0, 0)
    grid = _drawn([points for _, points in lines], thickness, resolution_m)
    observe("finding the outside and narrow spaces", 0, 0)
    cells, surrounded, filled = _cells(grid.cells, resolution_m, fill_m, close_m, border)
    grid = Grid(cells, resolution_m, grid.origin)
    world = World(closed(grid) if border == "wall" else grid, path.stem, border, wall_height_m)
    by_layer: dict[str, list[np.ndarray]] = {}
    for stroke, points in lines:
        by_layer.setdefault(stroke.layers[0], []).append(points)
    return FloorPlan(world, drawing, unit_m, said_by, by_layer, surrounded, filled)


def read_drawing(path: Path, observe: Observe = silent) -> Drawing:
    """Return the lines of a DXF or SVG file; see `covey.world.io.drawings`."""
    if path.suffix.lower() == ".svg":
        from covey.world.io.drawings.svg import read_svg

        return read_svg(path)
    from covey.world.io.drawings.dxf import read_dxf

    return read_dxf(path, observe)


def layers_of(drawing: Drawing) -> dict[str, Counter[str]]:
    """Return the layers that have lines, sorted by name: how many of each type."""
    found: dict[str, Counter[str]] = {}
    for stroke in drawing.strokes:
        found.setdefault(stroke.layers[0], Counter())[stroke.kind] += 1
    return dict(sorted(found.items()))


def _chosen(drawing: Drawing, layers: Sequence[str] | None, without: Sequence[str]) -> list[Stroke]:
    """Return the lines on the wanted layers; raise `MapFileError` for a layer that the drawing does not have."""
    known = sorted({layer for stroke in drawing.strokes for layer in stroke.layers})
    for key, patterns in (("layers", layers or ()), ("without_layers", without)):
        if isinstance(patterns, str):
            raise InvalidValueError(f"{key} is {patterns!r}; it must be a list: [{patterns!r}]")
        for pattern in patterns:
            if not any(_matches(layer, [pattern]) for layer in known):
                hint = did_you_mean(pattern, known) if "*" not in pattern else ""
                hint = hint if hint.startswith(",") else ""
                raise MapFileError(
                    f"{drawing.path}: {key}: no layer {pattern!r} has lines{hint}; it has {_all_layers(drawing)}"
                )
    hidden = {name.casefold() for name in drawing.hidden}

    def wanted(stroke: Stroke) -> bool:
        if any(_matches(layer, without) for layer in stroke.layers):
            return False
        if layers is not None:
            return any(_matches(layer, layers) for layer in stroke.layers)
        return not any(layer.casefold() in hidden or layer.casefold() == "defpoints" for layer in stroke.layers)

    return [stroke for stroke in drawing.strokes if wanted(stroke)]


def _matches(layer: str, patterns: Sequence[str]) -> bool:
    """Return whether a layer has one of some names; capital letters do not matter."""
    return any(fnmatchcase(layer.casefold(), pattern.casefold().replace("[", "[[]")) for pattern in patterns)


def _all_layers(drawing: Drawing) -> str:
    found = layers_of(drawing)
    if not found:
        rest = ", ".join(f"{count} {kind}" for kind, count in drawing.ignored.most_common(5))
        return "no layer with lines" + (f", only {rest}" if rest else "")
    names = [f"{name!r} ({sum(kinds.values())})" for name, kinds in found.items()]
    more = f" and {len(names) - 30} more" if len(names) > 30 else ""
    return f"the layers {', '.join(names[:30])}{more}"


def _unit(drawing: Drawing, units: str | None, scale: Any) -> tuple[float, str]:
    """Return the length of a unit of the drawing [m], and who says so."""
    if units is not None and scale is not None:
        raise InvalidValueError("units and scale are both given; give one of them")
    if units is not None:
        if units not in UNITS_M:
            raise InvalidValueError(f"units is {units!r}{did_you_mean(str(units), UNITS_M)}")
        return UNITS_M[units], "as given"
    if scale is not None:
        if not isinstance(scale, (dict, KnownLength)):
            raise InvalidValueError(f"scale is {scale!r}; it must be as in {{'layer': 'BAR', 'length_m': 5}}")
        known = scale if isinstance(scale, KnownLength) else KnownLength(**scale)
        return _measured(drawing, known), "by the known length"
    if drawing.unit_m is not None:
        return drawing.unit_m, "as the file says"
    extent = _extent(drawing)
    sizes = ", ".join(f"{unit}: {extent * UNITS_M[unit]:.3g} m" for unit in ("mm", "cm", "m"))
    raise MapFileError(
        f"{drawing.path}: does not say in which unit it is drawn. Give units (its longer side would be, in {sizes}), "
        "or a length that you know: scale: {from: [x, y], to: [x, y], length_m: 8.4}"
    )


def _extent(drawing: Drawing) -> float:
    """Return the longer side of the box around all lines that can be read, in units of the drawing."""
    corners = []
    for stroke in drawing.strokes:
        try:
            points = stroke.points(math.inf, drawing.path)
        except MapFileError:
            continue
        if len(points):
            corners += [points.min(axis=0), points.max(axis=0)]
    return float(np.ptp(corners, axis=0).max()) if corners else 0.0


def _measured(drawing: Drawing, known: KnownLength) -> float:
    if known.layer is None:
        assert known.from_ is not None
        assert known.to is not None
        return known.length_m / math.dist(known.from_, known.to)
    longest = 0.0
    for stroke in _chosen(drawing, [known.layer], ()):
        coarse = _length(stroke.points(math.inf, drawing.path))
        longest = max(longest, _length(stroke.points(_COARSE * coarse, drawing.path)))
    if longest == 0:
        raise MapFileError(f"{drawing.path}: scale: no line on layer {known.layer!r} has a length; it has "
                           f"{_all_layers(drawing)}")  # fmt: skip
    return known.length_m / longest


def _length(points: np.ndarray) -> float:
    return float(np.hypot(*np.diff(points, axis=0).T).sum()) if len(points) > 1 else 0.0


def _check_size(drawing: Drawing, lines: list[tuple[Stroke, np.ndarray]], unit_m: float, corner: Sequence[float],
                resolution_m: float, given: bool) -> None:  # fmt: skip
    """Raise `MapFileError` if a plan is far too large or small, or far away, with what to do about it."""
    boxes = np.array([(*points.min(axis=0), *points.max(axis=0)) for _, points in lines])
    left, bottom, right, top = *boxes[:, :2].min(axis=0), *boxes[:, 2:].max(axis=0)
    wide, high = right - left, top - bottom
    unit = f"a unit of the drawing is {unit_m:g} m"
    if (wide / resolution_m + 3) * (high / resolution_m + 3) > MAX_CELLS:
        middle = np.median(boxes, axis=0)
        stroke, points = lines[int(np.abs(boxes - middle).max(axis=1).argmax())]
        far = (points[np.abs(points - middle[:2]).sum(axis=1).argmax()] / [1, drawing.up]) / unit_m
        raise MapFileError(
            f"{drawing.path}: the plan would be {wide:.4g} m x {high:.4g} m, {unit}; at most {MAX_CELLS:,} cells of "
            f"{resolution_m} m are allowed. Farthest out is {stroke.kind} ({stroke.name}, layer {stroke.layers[0]!r}), "
            f"{np.hypot(*far):.4g} units from the origin. Leave its layer out, give units, or a coarser resolution_m"
        )
    if max(wide, high) < _SMALLEST_M and not given:
        raise MapFileError(
            f"{drawing.path}: the plan would be only {wide:.3g} m x {high:.3g} m, {unit}, as the file says; that is "
            "perhaps its size on paper. Give units, or scale: {from: [x, y], to: [x, y], length_m: 8.4}"
        )
    if max(wide, high) < 2 * resolution_m:
        raise MapFileError(f"{drawing.path}: the plan would be only {wide:.3g} m x {high:.3g} m, {unit}; give units, "
                           "or a finer resolution_m")  # fmt: skip
    if max(abs(left), abs(bottom), abs(right), abs(top)) > _FARTHEST_M:
        x, y = left / unit_m + corner[0], bottom * drawing.up / unit_m + corner[1]
        raise MapFileError(
            f"{drawing.path}: the plan lies {max(abs(left), abs(bottom)) / 1000:.0f} km from its origin; move it "
            f"there with origin: [{math.floor(x)}, {math.floor(y)}]"
        )


def _drawn(lines: Sequence[np.ndarray], thickness: Sequence[float], resolution: float) -> Grid:
    """Return the cells that walls along lines fill, bool (rows, columns).

    A wall is a rectangle along each straight piece, longer by half its thickness at both ends; it fills the cells whose
    centre it contains. It is at least so thick that its cells are connected by edges.

    Args:
        lines: points [m] along each line, shape (n, 2).
        thickness: of each line [m].
        resolution: side of a cell [m].

    References:
        J.-P. Reveillès: Géométrie discrète, calcul en nombres entiers et algorithmique, 1991 (thickness |a| + |b|).
    """
    starts = np.concatenate([points[:-1] for points in lines])
    ends = np.concatenate([points[1:] for points in lines])
    along = ends - starts
    lengths = np.hypot(along[:, 0], along[:, 1])
    along = along / lengths[:, None]
    wide = np.repeat(thickness, [len(points) - 1 for points in lines])
    half = np.maximum(wide, resolution * np.abs(along).sum(axis=1)) / 2
    reach = half * np.abs(along).sum(axis=1)  # of the square ends, in x and in y
    low, high = np.minimum(starts, ends) - reach[:, None], np.maximum(starts, ends) + reach[:, None]
    grid = grid_around((*low.min(axis=0), *high.max(axis=0)), resolution)
    origin = np.array(grid.origin[:2])
    rows, columns = grid.shape
    edges = np.zeros(rows * (columns + 1), np.int32)  # +1 where a wall begins in a row, -1 after its end
    middle = (
        ((starts + ends) / 2 - origin) / resolution - 0.5 - _NUDGE
    )  # in cells; row and column of a cell: its centre
    first = np.clip(np.ceil((low[:, 1] - origin[1]) / resolution - 0.5 - _NUDGE), 0, rows).astype(np.int64)
    end = np.clip(np.floor((high[:, 1] - origin[1]) / resolution - 0.5 - _NUDGE) + 1, 0, rows).astype(np.int64)
    half, reach = half / resolution, (lengths + wide) / 2 / resolution
    for batch in np.split(np.arange(len(lengths)), np.flatnonzero(np.diff(np.cumsum(end - first) // _BATCH)) + 1):
        count = (end - first)[batch]
        piece = np.repeat(batch, count)
        row = first[piece] + np.arange(len(piece)) - np.repeat(np.cumsum(count) - count, count)
        up = row - middle[piece, 1]
        ux, uy = along[piece].T
        one = _between(ux, up * uy, reach[piece])
        other = _between(-uy, up * ux, half[piece])
        left = np.ceil(middle[piece, 0] + np.maximum(one[0], other[0]))
        right = np.floor(middle[piece, 0] + np.minimum(one[1], other[1])) + 1
        left, right = (np.clip(side, 0, columns) for side in (left, right))
        at = row * (columns + 1)
        some = left < right
        np.add.at(edges, (at + left)[some].astype(np.int64), np.int32(1))  # of the same type: many times as fast
        np.add.at(edges, (at + right)[some].astype(np.int64), np.int32(-1))
    return Grid(np.cumsum(edges.reshape(rows, -1), axis=1)[:, :-1] > 0, resolution, grid.origin)


def _between(slope: np.ndarray, offset: np.ndarray, limit: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return from where to where x is such that ``|slope x + offset| <= limit``; from infinity on if nowhere."""
    flat = np.abs(slope) < 1e-12
    slope = np.where(flat, 1.0, slope)
    ends = (-limit - offset) / slope, (limit - offset) / slope
    inside = np.abs(offset) <= limit
    low, high = np.where(inside, -np.inf, np.inf), np.where(inside, np.inf, -np.inf)
    return np.where(flat, low, np.minimum(*ends)), np.where(flat, high, np.maximum(*ends))


def _cells(
    walls: np.ndarray, resolution: float, fill_m: float, close_m: float, border: Border
) -> tuple[np.ndarray, bool, int]:
    """Return the cells, uint8 (rows, columns), whether there is an inside, and the number of spaces that were filled.

    Args:
        walls: bool (rows, columns), the lines.
        resolution: side of a cell [m].
        fill_m, close_m, border: see `read_floor_plan`.
    """
    outside = _outside(walls, resolution, close_m) if close_m > 0 else np.zeros_like(walls)
    cells = np.where(walls, WALL, FREE).astype(np.uint8)
    labels = np.empty(walls.shape, np.int32)
    count: Any = ndimage.label(~walls & ~outside, output=labels)
    deepest = np.zeros(count + 1)
    depth = np.asarray(ndimage.distance_transform_edt(~walls & ~outside)) * resolution
    np.maximum.at(deepest, labels.ravel(), depth.ravel())
    beside = np.zeros(count + 1, bool)  # the outside: what the disc does not reach in niches and corners
    beside[labels[np.asarray(ndimage.binary_dilation(outside), bool)]] = True
    narrow = 2 * deepest - resolution < fill_m
    niche = beside & (2 * deepest - resolution < close_m)
    narrow[0] = niche[0] = False
    if not np.any(~narrow[1:] & ~niche[1:]):
        if border == "open":  # the edge of the grid is free of lines
            cells[[0, -1], :] = cells[:, [0, -1]] = OPEN
        return cells, False, 0
    cells[(narrow & ~niche)[labels]] = WALL
    cells[outside | niche[labels]] = OPEN if border == "open" else UNKNOWN
    return cells, bool(outside.any()), int(np.count_nonzero(narrow & ~niche))


def _outside(walls: np.ndarray, resolution: float, close_m: float) -> np.ndarray:
    """Return the cells that a disc of diameter ``close_m`` [m] covers when it comes from outside, bool."""
    reach = close_m / 2 / resolution
    margin = math.ceil(reach) + 2
    free = np.pad(~walls, margin, constant_values=True)
    centres = np.asarray(ndimage.distance_transform_edt(free)) > reach
    labels = np.empty(centres.shape, np.int32)
    ndimage.label(centres, output=labels)
    from_outside = labels == labels[0, 0] if labels[0, 0] else np.zeros_like(free)
    covered = np.asarray(ndimage.distance_transform_edt(~from_outside)) <= reach
    inner = (slice(margin, -margin), slice(margin, -margin))
    return (covered & free)[inner]
