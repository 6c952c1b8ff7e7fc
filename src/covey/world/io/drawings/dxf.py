"""Read DXF drawings, with the library ezdxf (extra ``[lab]``)."""

import io
import re
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from covey.errors import CoveyError, MapFileError
from covey.world.io.drawings.drawing import MAX_BYTES, MAX_COORDINATE, Drawing, Observe, Stroke, library, silent
from covey.world.io.images import read_bytes

_UNITS_M = {
    1: 0.0254,
    2: 0.3048,
    3: 1609.344,
    4: 1e-3,
    5: 1e-2,
    6: 1.0,
    7: 1e3,
    8: 2.54e-8,
    9: 2.54e-5,
    10: 0.9144,
    11: 1e-10,
    12: 1e-9,
    13: 1e-6,
    14: 0.1,
    15: 10.0,
    16: 100.0,
    17: 1e9,
}
_CURVES = {"LWPOLYLINE", "POLYLINE", "ARC", "CIRCLE", "ELLIPSE", "SPLINE"}
_BINARY = b"AutoCAD Binary DXF"
_DEEPEST = 100  # blocks within blocks
_FINEST = 1e-5  # tolerance of a curve at least, as a share of its size


def read_dxf(path: Path, observe: Observe = silent) -> Drawing:
    """Read the model space of a DXF file, in text or binary form; blocks are taken apart.

    Raises:
        MapFileError: the file is no DXF, damaged or too large, or a block contains itself.
        CoveyError: the library ezdxf is not installed.

    References:
        AutoCAD: DXF reference, 2018 (``$INSUNITS``: header variables).
    """
    data = read_bytes(path, MAX_BYTES)
    if not data.strip():
        raise MapFileError(f"{path}: is empty")
    if data[:4] == b"AC10" and b"SECTION" not in data[:200]:
        raise MapFileError(f"{path}: is a DWG file; save the drawing as DXF in your CAD program")
    is_binary = data.startswith(_BINARY)
    if not is_binary and data.rstrip()[-3:] != b"EOF":
        if not re.search(rb"(?m)^\s*0\s*\r?\n\s*SECTION", data[:100_000]):
            raise MapFileError(f"{path}: is no DXF file; it has no sections")
        raise MapFileError(f"{path}: is cut off, it does not end with EOF; copy or save it again")
    try:
        document = _document(path, is_binary, observe)
    except CoveyError:
        raise
    except Exception as error:  # ezdxf raises nearly anything on a damaged file
        said = " ".join(str(error).split())[:200] or type(error).__name__
        where = "" if is_binary else _entity_near(data, said)
        raise MapFileError(f"{path}: a damaged DXF: {where}{said}; mend it, or save it again as DXF") from error
    drawing = Drawing(path, unit_m=_UNITS_M.get(document.header.get("$INSUNITS", 0)))
    drawing.hidden = {layer.dxf.name for layer in document.layers if layer.is_off() or layer.is_frozen()}
    _add(drawing, document.modelspace(), (), (), None)
    if not drawing.strokes and (layouts := [one.name for one in document.layouts if one.name != "Model" and len(one)]):
        raise MapFileError(
            f"{path}: the model space has no lines; only the sheets do: {', '.join(layouts)}. Draw the plan in the "
            "model space"
        )
    return drawing


def _document(path: Path, is_binary: bool, observe: Observe) -> Any:
    """Return the document of ezdxf; the text of a file is observed as it is read."""
    ezdxf = library("ezdxf")
    if is_binary or not library("ezdxf.lldxf.validator").is_dxf_file(path):  # it says what is wrong
        return ezdxf.readfile(path)
    encoding = library("ezdxf.filemanagement").dxf_file_info(path).encoding
    with io.TextIOWrapper(io.BufferedReader(_Watched(path, observe)), encoding, "surrogateescape") as text:
        return ezdxf.read(text)


class _Watched(io.FileIO):
    """A file that says how much of it has been read [kB]."""

    def __init__(self, path: Path, observe: Observe):
        super().__init__(path)
        self._observe, self._size = observe, path.stat().st_size

    def readinto(self, buffer: Any) -> int | None:
        """Read some bytes into a buffer; return how many."""
        count = super().readinto(buffer)
        if (at := self.tell()) < self._size:
            self._observe("reading the file, kB", at // 1000, self._size // 1000)
        else:
            self._observe("making its entities", 0, 0)
        return count


def _add(drawing: Drawing, entities: Iterable[Any], outer: tuple[str, ...], blocks: tuple[str, ...], to: Any) -> None:
    """Add entities.

    Args:
        drawing: what they are added to.
        entities: entities of ezdxf.
        outer: layers of the inserts around them, from the innermost.
        blocks: names of the blocks around them.
        to: matrix into the frame of the drawing; None: they are in it.
    """
    for entity in entities:
        drawing.counted()
        kind, layer = entity.dxftype(), entity.dxf.layer
        layers = (outer[0] if outer and layer == "0" else layer, *outer)
        name = f"handle {entity.dxf.handle}" + (f" of block {blocks[-1]!r}" if blocks else "")
        if entity.dxf.get("invisible", 0):
            drawing.ignored[f"invisible {kind}"] += 1
        elif kind == "INSERT":
            _add_block(drawing, entity, layers, blocks, to, name)
        elif kind == "LINE":
            drawing.strokes.append(Stroke(kind, name, layers, partial(_line, entity, to)))
        elif kind == "MLINE":
            for part in _parts(entity):
                drawing.strokes.append(Stroke(kind, name, layers, partial(_curve, part, to)))
        elif kind in _CURVES and (kind != "POLYLINE" or entity.is_2d_polyline or entity.is_3d_polyline):
            width = _width(entity, to) if kind == "LWPOLYLINE" else 0.0
            drawing.strokes.append(Stroke(kind, name, layers, partial(_curve, entity, to), width))
        else:
            drawing.ignored[kind] += 1


def _add_block(drawing: Drawing, insert: Any, layers: tuple[str, ...], blocks: tuple[str, ...], to: Any,
               name: str) -> None:  # fmt: skip
    block = insert.block()
    if block is None or block.block_record.is_xref or (block.block is not None and block.block.dxf.get("xref_path")):
        drawing.ignored["INSERT of another file" if block is not None else "INSERT of a missing block"] += 1
        return
    if block.name in blocks:
        raise MapFileError(
            f"{drawing.path}: block {block.name!r} contains itself (INSERT, {name}, layer {layers[0]!r}); delete that "
            "insert in the drawing"
        )
    if len(blocks) == _DEEPEST:
        raise MapFileError(
            f"{drawing.path}: blocks are nested more than {_DEEPEST} deep (INSERT, {name}, layer {layers[0]!r}); "
            "explode some of them in the drawing"
        )
    drawing.counted(insert.mcount)
    for one in insert.multi_insert() if insert.mcount > 1 else (insert,):
        try:
            own = one.matrix44()
        except Exception as error:  # of whatever is wrong with it
            said = " ".join(str(error).split())[:150] or type(error).__name__
            raise MapFileError(
                f"{drawing.path}: INSERT ({name}, layer {layers[0]!r}) of block {block.name!r}: {said}; mend or delete "
                "it in the drawing"
            ) from error
        _add(drawing, block, layers, (*blocks, block.name), own if to is None else own @ to)


def _parts(mline: Any) -> list[Any]:
    try:
        return list(mline.virtual_entities())
    except Exception:  # of whatever is wrong with it: reading it as a curve says that
        return [mline]


def _line(entity: Any, to: Any, tolerance: float) -> np.ndarray:
    ends = entity.dxf.start, entity.dxf.end
    return np.array([(end.x, end.y) for end in (ends if to is None else to.transform_vertices(ends))])


def _curve(entity: Any, to: Any, tolerance: float) -> np.ndarray:
    path = library("ezdxf.path").make_path(entity)
    if to is not None:
        path = path.transform(to)
    corners = np.array([(point.x, point.y) for point in path.control_vertices()]).reshape(-1, 2)
    if not np.all(np.abs(corners) <= MAX_COORDINATE) or not len(corners):
        return corners
    finest = _FINEST * float(np.ptp(corners, axis=0).max())
    return np.array([(point.x, point.y) for point in path.flattening(max(tolerance, finest))])


def _width(entity: Any, to: Any) -> float:
    scale = 1.0 if to is None else abs(np.linalg.det(np.array(to.get_2d_transformation()).reshape(3, 3)[:2, :2])) ** 0.5
    width = float(entity.dxf.get("const_width", 0.0)) * scale
    return width if 0 < width <= MAX_COORDINATE else 0.0


def _entity_near(data: bytes, said: str) -> str:
    """Return the entity around the line of a text file that an error names, with a colon; empty if there is none."""
    found = re.search(r"line:? (\d+)", said)
    lines = data.splitlines()
    if not found or not 0 < int(found[1]) <= len(lines):
        return ""
    first = (int(found[1]) - 1) // 2 * 2
    while first > 0 and lines[first].strip() != b"0":
        first -= 2
    texts = [line.decode("utf-8", "replace").strip() for line in lines[first : first + 400]]
    pairs = list(zip(texts[::2], texts[1::2], strict=False))
    own = pairs[: 1 + next((i for i, (code, _) in enumerate(pairs[1:]) if code == "0"), len(pairs))]
    values = dict(reversed(own))
    if values.get("0") in (None, "SECTION"):
        return ""
    return f"{values['0']} (handle {values.get('5', '?')}, layer {values.get('8', '?')!r}): "
