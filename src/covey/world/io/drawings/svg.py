"""Read SVG drawings; the library svgelements (extra ``[lab]``) reads their paths."""

import math
import re
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

from covey.errors import CoveyError, InvalidValueError, MapFileError
from covey.world.io.drawings.drawing import MAX_BYTES, Drawing, Stroke, library
from covey.world.io.images import read_bytes

_INCH_PX = 96.0
_PX = {"": 1.0, "px": 1.0, "in": _INCH_PX, "cm": _INCH_PX / 2.54, "mm": _INCH_PX / 25.4, "q": _INCH_PX / 101.6,
       "pt": _INCH_PX / 72, "pc": _INCH_PX / 6}  # fmt: skip
_LENGTH = re.compile(r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*([a-zA-Z]*|%)\s*")
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_GROUPS = {"svg", "g", "a", "switch", "symbol"}
_NO_DRAWING = {
    *("defs", "clipPath", "mask", "pattern", "marker", "linearGradient", "radialGradient", "filter", "metadata"),
    *("title", "desc", "style", "script", "namedview", "symbol"),
}
_DEEPEST = 200
_FINEST = 1e-5  # tolerance of a curve at least, as a share of its size
NO_LAYER = "no layer"
"""Layer of what is in no group with a name."""


def read_svg(path: Path) -> Drawing:
    """Read the lines of an SVG file, in units of its ``viewBox``, or in pixels; y points down.

    Layers are groups by their names: the label of Inkscape, or else the id.

    Raises:
        MapFileError: the file is no SVG, damaged or too large, or what is used contains itself.

    References:
        W3C: Scalable Vector Graphics 2, chapters 8 (coordinate systems) and 9 (paths).
    """
    data = read_bytes(path, MAX_BYTES)
    if not data.strip():
        raise MapFileError(f"{path}: is empty")
    try:
        root = ElementTree.fromstring(data)
    except (ElementTree.ParseError, ValueError, LookupError, RecursionError) as error:
        raise MapFileError(f"{path}: a damaged SVG: {str(error)[:200]}; mend it, or save it again") from error
    if _tag(root) != "svg":
        raise MapFileError(f"{path}: is no SVG file; its first element is {_tag(root)!r}")
    drawing = Drawing(path, up=-1)
    try:
        box, _ = _view_box(root)
        width, height = (_size(root.get(key)) for key in ("width", "height"))
    except InvalidValueError as error:
        raise MapFileError(f"{path}: svg: {error}") from None
    if box is None:
        box = (0.0, 0.0, (width or (0.0, ""))[0], (height or (0.0, ""))[0])
    drawing.corner = (box[0], box[1] + box[3])
    for size, side in ((width, box[2]), (height, box[3])):
        if drawing.unit_m is None and size is not None and size[1] not in ("", "px", "%") and side > 0 and size[0] > 0:
            drawing.unit_m = 0.0254 / _INCH_PX * size[0] / side
    _Walk(drawing, root, (box[2], box[3])).children(root, np.eye(3), (), (), 0)
    return drawing


class _Walk:
    """Goes through the elements and adds their lines to a drawing."""

    def __init__(self, drawing: Drawing, root: ElementTree.Element, page: tuple[float, float]):
        self.drawing, self.page = drawing, page
        self.by_id = {key: one for one in root.iter() if (key := one.get("id")) and isinstance(one.tag, str)}

    def children(self, parent: ElementTree.Element, to: np.ndarray, layers: tuple[str, ...], used: tuple[str, ...],
                 depth: int) -> None:  # fmt: skip
        if depth > _DEEPEST:
            raise MapFileError(f"{self.drawing.path}: its groups are nested more than {_DEEPEST} deep; ungroup them")
        for child in parent:
            if isinstance(child.tag, str):  # not a comment
                self.element(child, to, layers, used, depth)
                if _tag(parent) == "switch":
                    return

    def element(self, one: ElementTree.Element, to: np.ndarray, layers: tuple[str, ...], used: tuple[str, ...],
                depth: int) -> None:  # fmt: skip
        drawing, kind = self.drawing, _tag(one)
        if kind in _NO_DRAWING and not (kind == "symbol" and used):
            return
        drawing.counted()
        style = _style(one)
        if style.get("display", "").strip() == "none" or style.get("visibility", "").strip() == "hidden":
            drawing.ignored[f"hidden {kind}"] += 1
            return
        name = f"id {one.get('id')}" if one.get("id") else f"element {drawing.count}"
        own = _label(one) if kind in _GROUPS else None
        layers = (own, *layers) if own else layers
        try:
            here = to @ _matrix(one.get("transform"))
            if kind == "svg":
                here = here @ _placed(one, partial(self.length, one)) @ _view_box(one)[1]
            if kind == "use":
                shift = np.eye(3)
                shift[:2, 2] = self.length(one, "x"), self.length(one, "y")
                return self.use(one, here @ shift, layers, used, depth, name)
        except InvalidValueError as error:
            raise MapFileError(f"{drawing.path}: {kind} ({name}): {error}; mend it in the drawing") from None
        if kind in _GROUPS:
            self.children(one, here, layers, used, depth + 1)
        elif kind in _SHAPES:
            self.shape(one, kind, here, layers or (NO_LAYER,), name)
        else:
            drawing.ignored[kind] += 1

    def use(self, one: ElementTree.Element, to: np.ndarray, layers: tuple[str, ...], used: tuple[str, ...],
            depth: int, name: str) -> None:  # fmt: skip
        href = one.get("href") or one.get("{http://www.w3.org/1999/xlink}href") or ""
        if not href.startswith("#") or href[1:] not in self.by_id:
            self.drawing.ignored["use of another file" if not href.startswith("#") else "use of a missing element"] += 1
            return
        if href in used:
            raise MapFileError(f"{self.drawing.path}: use ({name}): {href} contains itself; delete it in the drawing")
        if depth > _DEEPEST:
            raise MapFileError(f"{self.drawing.path}: its groups are nested more than {_DEEPEST} deep; ungroup them")
        self.element(self.by_id[href[1:]], to, layers, (*used, href), depth + 1)

    def shape(self, one: ElementTree.Element, kind: str, to: np.ndarray, layers: tuple[str, ...], name: str) -> None:
        def stroke(flatten: Callable[[float], np.ndarray]) -> None:
            self.drawing.strokes.append(Stroke(kind, name, layers, flatten))

        try:
            parts = _SHAPES[kind](one, partial(self.length, one))
        except Exception as error:  # svgelements raises nearly anything
            why = str(error) if isinstance(error, CoveyError) else f"its path cannot be read: {one.get('d', '')[:40]!r}"
            return stroke(partial(_raise, why))
        for part in parts:
            stroke(partial(_flattened, part, to))

    def length(self, one: ElementTree.Element, key: str, default: float = 0.0) -> float:
        """Return a length of an element in its user units; per cent are of the page."""
        found = _size(one.get(key), key)
        if found is None:
            return default
        wide, high = self.page
        if found[1] != "%":
            return found[0]
        along_x, along_y = key in ("x", "x1", "x2", "cx", "rx", "width"), key in ("y", "y1", "y2", "cy", "ry", "height")
        whole = wide if along_x else high if along_y else math.hypot(wide, high) / math.sqrt(2)
        return found[0] / 100 * whole


def _raise(why: str, tolerance: float) -> np.ndarray:
    raise InvalidValueError(why)


def _tag(one: ElementTree.Element) -> str:
    return one.tag.rpartition("}")[2]


def _label(one: ElementTree.Element) -> str | None:
    return one.get("{http://www.inkscape.org/namespaces/inkscape}label") or one.get("id")


def _style(one: ElementTree.Element) -> dict[str, str]:
    pairs = (item.partition(":") for item in one.get("style", "").split(";"))
    found = {key: one.get(key, "") for key in ("display", "visibility")}
    return found | {key.strip(): value for key, _, value in pairs if value}


def _size(text: str | None, what: str = "size") -> tuple[float, str] | None:
    """Return a length in pixels (or per cent) and its unit; None if there is none."""
    if text is None or text.strip() in ("", "auto"):
        return None
    found = _LENGTH.fullmatch(text)
    if not found or (found[2] != "%" and found[2].lower() not in _PX):
        raise InvalidValueError(f"{what} is {text[:40]!r}; it must be a number, with a unit such as mm or without one")
    return float(found[1]) * _PX.get(found[2].lower(), 1.0), found[2].lower()


def _view_box(one: ElementTree.Element) -> tuple[tuple[float, float, float, float] | None, np.ndarray]:
    """Return the view box of an element, and the matrix of a nested one into the frame around it."""
    text = one.get("viewBox")
    if text is None:
        return None, np.eye(3)
    values = _numbers(text)
    if len(values) != 4 or values[2] <= 0 or values[3] <= 0:
        raise InvalidValueError(f"viewBox is {text[:60]!r}; it must be four numbers, the last two above 0")
    x, y, wide, high = values
    sizes = [_size(one.get(key)) for key in ("width", "height")]
    scales = [size[0] / side for size, side in zip(sizes, (wide, high), strict=True) if size and size[1] != "%"]
    scale = min(scales, default=1.0)
    return (x, y, wide, high), np.array([[scale, 0, -scale * x], [0, scale, -scale * y], [0, 0, 1.0]])


def _placed(one: ElementTree.Element, length: Callable[..., float]) -> np.ndarray:
    shift = np.eye(3)
    shift[:2, 2] = length("x"), length("y")
    return shift


def _matrix(text: str | None) -> np.ndarray:
    if not text or not text.strip():
        return np.eye(3)
    try:
        m = library("svgelements").Matrix(text)
        found = np.array([[m.a, m.c, m.e], [m.b, m.d, m.f], [0, 0, 1]], float)
    except (ValueError, IndexError, TypeError, AttributeError):
        found = np.full((3, 3), np.nan)
    if not np.isfinite(found).all():
        raise InvalidValueError(f"transform is {text[:60]!r}; it must be such as translate(2, 3) or rotate(90)")
    return found


def _numbers(text: str) -> list[float]:
    if _NUMBER.sub("", text).strip(" \t\r\n,"):
        raise InvalidValueError(f"{text[:60]!r} must be numbers with blanks or commas between them")
    return [float(number) for number in _NUMBER.findall(text)]


def _path(one: ElementTree.Element, length: Callable[..., float]) -> list[list[Any]]:
    """Return the segments of each part of a path."""
    text = one.get("d", "")
    segments = list(library("svgelements").Path(text))
    if text.strip() not in ("", "none") and not segments:
        raise InvalidValueError(f"its path cannot be read: {text[:40]!r}")
    parts: list[list[Any]] = []
    for segment in segments:
        if type(segment).__name__ == "Move" or not parts:
            parts.append([segment])
        else:
            parts[-1].append(segment)
    return [part for part in parts if len(part) > 1]


def _shaped(kind: str, *keys: str) -> Callable[..., list[list[Any]]]:
    def shape(one: ElementTree.Element, length: Callable[..., float]) -> list[list[Any]]:
        svg = library("svgelements")
        return [list(svg.Path(getattr(svg, kind)(*(length(key) for key in keys))))]

    return shape


def _rectangle(one: ElementTree.Element, length: Callable[..., float]) -> list[Any]:
    wide, high = length("width"), length("height")
    if wide <= 0 or high <= 0:
        return []
    rx, ry = length("rx", math.nan), length("ry", math.nan)
    rx = min(max(ry if math.isnan(rx) else rx, 0.0), wide / 2)
    ry = min(max(rx if math.isnan(ry) else ry, 0.0), high / 2)
    x, y = length("x"), length("y")
    if not rx > 0 or not ry > 0:
        return [np.array([(x, y), (x + wide, y), (x + wide, y + high), (x, y + high), (x, y)])]
    svg = library("svgelements")
    return [list(svg.Path(svg.Rect(x, y, wide, high, rx, ry)))]


def _polyline(one: ElementTree.Element, length: Callable[..., float]) -> list[np.ndarray]:
    values = _numbers(one.get("points", ""))
    if len(values) % 2:
        raise InvalidValueError(f"points has {len(values)} numbers; each point needs two")
    points = np.array(values).reshape(-1, 2)
    return [np.concatenate((points, points[:1])) if _tag(one) == "polygon" else points]


def _straight(one: ElementTree.Element, length: Callable[..., float]) -> list[np.ndarray]:
    return [np.array([(length("x1"), length("y1")), (length("x2"), length("y2"))])]


_SHAPES: Mapping[str, Callable[..., list[Any]]] = {
    "path": _path,
    "line": _straight,
    "polyline": _polyline,
    "polygon": _polyline,
    "rect": _rectangle,
    "circle": _shaped("Circle", "cx", "cy", "r"),
    "ellipse": _shaped("Ellipse", "cx", "cy", "rx", "ry"),
}


def _flattened(part: Any, to: np.ndarray, tolerance: float) -> np.ndarray:
    """Return the points of a part, given as points or as segments of svgelements, in the frame of the drawing."""
    scale = float(np.linalg.norm(to[:2, :2]))
    points = part if isinstance(part, np.ndarray) else _sampled(part, tolerance / max(scale, 1e-30))
    with np.errstate(invalid="ignore", over="ignore"):  # of coordinates that are not finite; see Stroke.points
        return points @ to[:2, :2].T + to[:2, 2]


def _sampled(segments: list[Any], tolerance: float) -> np.ndarray:
    """Return points along segments: a curve with second derivative d deviates by at most d / (8 n²) in n pieces."""
    points = [_xy(segments[0].end)[None]]
    for segment in segments[1:]:
        kind = type(segment).__name__
        if kind in ("Line", "Close"):
            if segment.end is not None:
                points.append(_xy(segment.end)[None])
            continue
        if kind == "Arc":
            bend = max(abs(segment.rx), abs(segment.ry)) * segment.sweep**2
        else:
            names = (
                ("start", "control", "end") if kind == "QuadraticBezier" else ("start", "control1", "control2", "end")
            )
            corners = np.array([_xy(getattr(segment, name)) for name in names])
            factor = (len(corners) - 1) * (len(corners) - 2)
            bend = factor * float(np.hypot(*np.diff(corners, 2, axis=0).T).max())
        if not math.isfinite(bend):
            raise InvalidValueError("a curve of it has a coordinate that is not a number")
        count = max(1, math.ceil(math.sqrt(bend / (8 * max(tolerance, _FINEST * bend, 1e-300)))))
        points.append(np.asarray(segment.npoint(np.linspace(0, 1, count + 1)[1:]), float))
    return np.concatenate(points)


def _xy(point: Any) -> np.ndarray:
    return np.array([point.x, point.y], float)
