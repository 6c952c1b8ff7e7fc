"""Read grounds from files: gray images, NumPy arrays, ESRI ASCII grids and GeoTIFF.

In every file the first row is the north. Altitude = zero_m + m_per_step * value.
"""

import io
import json
import math
import re
import warnings
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from covey.errors import InvalidValueError, MapFileError
from covey.lazy import Image
from covey.world.ground import MAX_VERTICES, Ground, Range, check_shape
from covey.world.io.images import read_bytes, read_image, read_numbers

METRES_PER_DEGREE = 111_195.0
"""Metres per degree of latitude, on a sphere of 6371 km."""

MAX_BYTES = 16 * MAX_VERTICES
"""Largest total size of the arrays of an archive."""

MARK = b"covey ground "
"""Prefix of an image's metadata about its altitudes, as JSON."""

SCALE_TAG, TIE_TAG, KEYS_TAG, NODATA_TAG = 33550, 33922, 34735, 42113
MODEL_KEY, RASTER_KEY, GEOGRAPHIC, POINT = 1024, 1025, 2, 2


_HEADER = 4096  # bytes of an ASCII grid within which its header must end


@dataclass
class GroundLayer:
    """The content of a file: values, and its metadata, None where missing.

    Attributes:
        values: numbers (rows, columns), the first row in the north; NaN where missing.
        spacing: spacing along x and y [m].
        m_per_step, zero_m: altitude = zero_m + m_per_step * value [m].
        origin: x, y of the vertex in the last row and first column [m].
        range_m: lowest and highest altitude for edits [m].
    """

    values: np.ndarray
    spacing: tuple[float, float] | None = None
    m_per_step: float | None = None
    zero_m: float | None = None
    origin: tuple[float, float] | None = None
    range_m: Range | None = None


def read_ground(
    path: Path | str, *, spacing_m: float | None = None, m_per_step: float | None = None, zero_m: float | None = None,
    range_m: Range | None = None, resample_m: float | None = None, fill_m: float | None = None, key: str | None = None,
) -> Ground:  # fmt: skip
    """Read a ground: ``.png``, ``.pgm`` (8 and 16 bit), ``.npy``, ``.npz``, ``.asc`` (ESRI ASCII grid), ``.tif``.

    A pixel or number is the altitude of a vertex. The centre of the ground is at (0, 0), regardless of its place on
    Earth. Degrees become metres on a sphere, at the middle latitude. If the spacings along x and y differ, the ground
    is resampled at the finer one.

    Args:
        path: the file.
        spacing_m: distance between vertices [m]; default: that of the file, else 1.
        m_per_step: height of a gray level of PNG and PGM, or of a unit of the others [m]; default: that of the file,
            else 0.1 for PNG and PGM, 1 for the others.
        zero_m: altitude of the value 0 [m]; default: that of the file, else 0.
        range_m: lowest and highest altitude for edits [m]; see `Ground.of`.
        resample_m: resample the surface with this spacing [m].
        fill_m: altitude of holes (NODATA, NaN) [m]; by default holes are refused.
        key: name of the array of a ``.npz``; needed if it holds several.

    Raises:
        MapFileError: names the file, what was found, and what is allowed.

    References:
        ESRI: ASCII raster format. OGC 19-008r4: GeoTIFF standard 1.1.
    """
    path = Path(path)
    read = _READERS.get(path.suffix.lower())
    if read is None:
        raise MapFileError(
            f"{path}: unknown kind of height map; it must end in {', '.join(sorted(_READERS))}"
            + ("" if path.exists() else ", and there is no such file")
        )
    if key is not None and path.suffix.lower() != ".npz":
        raise MapFileError(f"{path}: key is {key!r}, but only a .npz file holds arrays by name; leave it out")
    try:
        layer = read(path, key) if read is _read_npz else read(path)
        altitude = _altitudes(layer, m_per_step, zero_m, fill_m)
        spacing = layer.spacing or (1.0, 1.0)
        spacing = (spacing_m, spacing_m) if spacing_m is not None else spacing
        altitude, even_m = _even(altitude, spacing)
        origin, range_m = layer.origin, range_m if range_m is not None else layer.range_m
        ground = Ground.of(altitude, even_m, origin=origin, range_m=range_m, name=path.stem)
        return ground if resample_m is None else ground.resampled(resample_m)
    except InvalidValueError as error:
        raise MapFileError(f"{path}: {error}") from error


def _altitudes(layer: GroundLayer, m_per_step: float | None, zero_m: float | None, fill_m: float | None) -> np.ndarray:
    """Return the altitudes of a layer, row 0 in the south [m]."""
    step = next(v for v in (m_per_step, layer.m_per_step, 1.0) if v is not None)
    zero = next(v for v in (zero_m, layer.zero_m, 0.0) if v is not None)
    if not (math.isfinite(step) and step != 0 and math.isfinite(zero)):
        raise InvalidValueError(f"m_per_step is {step!r} and zero_m {zero!r}; they must be numbers of metres, not 0")
    check_shape(*_two(layer.values.shape), "the ground")
    with np.errstate(over="ignore", invalid="ignore"):  # values that are not finite are refused below
        altitude = zero + step * layer.values[::-1].astype(np.float64)
    holes = np.isnan(altitude)
    if fill_m is not None:
        altitude[holes] = fill_m
    elif holes.any():
        raise InvalidValueError(
            f"{np.count_nonzero(holes)} of {holes.size} altitudes are holes (NaN or NODATA); give fill_m, the altitude "
            "for them, or fill them first"
        )
    return altitude


def _two(shape: tuple[int, ...]) -> tuple[int, int]:
    if len(shape) != 2:
        raise InvalidValueError(f"the array has the shape {shape}; it must be (rows, columns)")
    return shape[0], shape[1]


def _even(altitude: np.ndarray, spacing: tuple[float, float]) -> tuple[np.ndarray, float]:
    """Return altitudes with the finer of the two spacings along both axes, and this spacing [m]."""
    dx, dy = spacing
    if not all(1e-3 <= s <= 1e5 for s in spacing):
        raise InvalidValueError(f"spacing_m is {dx if dx == dy else list(spacing)!r}; it must be a positive number of "
                                "metres, from 0.001 to 100 000")  # fmt: skip
    if abs(dx - dy) <= 1e-6 * dx:
        return altitude, dx
    finer, counts = min(dx, dy), []
    for n, step in zip(altitude.shape, (dy, dx), strict=True):
        counts.append(1 + int((n - 1) * step / finer * (1 + 1e-12)))
    check_shape(counts[0], counts[1], "the ground")
    for axis, step in enumerate((dy, dx)):
        at = np.minimum(np.arange(counts[axis]) * (finer / step), altitude.shape[axis] - 1.0)
        below = np.minimum(at.astype(int), altitude.shape[axis] - 2)
        share = at - below
        share = share[:, None] if axis == 0 else share
        altitude = np.take(altitude, below, axis) * (1 - share) + np.take(altitude, below + 1, axis) * share
    return altitude, finer


def _read_gray(path: Path) -> GroundLayer:
    image = read_image(path)
    if image.alpha is not None and (image.alpha < 255).any():
        raise MapFileError(f"{path}: has transparent pixels, which have no altitude; save it without transparency")
    if image.coloured:
        raise MapFileError(f"{path}: has colours, which are not altitudes; save it as a gray image, best with 16 bits")
    values = image.values
    if image.white in (510, 765) and path.suffix.lower() == ".png":  # a sum of bands
        values = values / (image.white // 255)
    said = _said(path)
    return GroundLayer(values, said.get("spacing_m"), said.get("m_per_step", 0.1), said.get("zero_m"))


def _said(path: Path) -> dict[str, Any]:
    """Return the metadata that `save_ground` wrote into an image."""
    data = read_bytes(path)
    start = data[:4096].find(MARK)
    if start < 0:
        return {}
    try:
        said = json.loads(data[start + len(MARK) : data.index(b"}", start) + 1])
        numbers = {key: float(said[key]) for key in ("spacing_m", "m_per_step", "zero_m")}
    except (ValueError, TypeError, KeyError, OverflowError) as error:
        raise MapFileError(
            f"{path}: the description of its altitudes is damaged: {error}; save the file again"
        ) from error
    spacing = numbers["spacing_m"]
    return numbers | {"spacing_m": (spacing, spacing)}


def _read_npy(path: Path) -> GroundLayer:
    return GroundLayer(_numbers(path, _load(path)))


def _read_npz(path: Path, key: str | None) -> GroundLayer:
    arrays = _load(path)
    grids = [name for name in arrays if arrays[name].ndim == 2]
    if (len(grids) != 1) if key is None else (key not in arrays):
        raise MapFileError(
            f"{path}: holds {', '.join(f'{n} {a.shape}' for n, a in arrays.items()) or 'nothing'}; key must name the "
            "array of altitudes"
        )
    layer = GroundLayer(_numbers(path, arrays[key if key is not None else grids[0]]))
    rows, columns = _two(layer.values.shape)

    def number(name: str) -> float | None:
        value = arrays.get(name)
        if value is None or value.size != 1 or value.dtype.kind not in "iuf":
            return None
        return float(value.reshape(-1)[0])

    own = number("spacing_m")
    if own is not None:
        layer.spacing = own, own
        pairs = {name: tuple(map(float, arrays[name])) for name in ("origin", "range_m")
                 if name in arrays and arrays[name].shape == (2,) and arrays[name].dtype.kind in "iuf"}  # fmt: skip
        layer.origin, layer.range_m = pairs.get("origin"), pairs.get("range_m")  # pyright: ignore
        return layer
    dx, dy = number("dx"), number("dy")
    if dx is not None and dy is not None:
        layer.spacing = abs(dx), abs(dy)
        x0, x1, y0, y1 = (number(name) for name in ("xmin", "xmax", "ymin", "ymax"))
        if x0 is not None and x1 is not None and y0 is not None and y1 is not None:
            spans = abs(abs(x1 - x0) / abs(dx) - columns) < 1.5 and abs(abs(y1 - y0) / abs(dy) - rows) < 1.5
            if spans and max(abs(x0), abs(x1)) <= 360 and max(abs(y0), abs(y1)) <= 90:
                layer.spacing = _metres(layer.spacing, (y0 + y1) / 2)
    return layer


def _load(path: Path) -> Any:
    """Return an array, or those of an archive by name; sizes are checked before anything is unpacked."""
    data = read_bytes(path)
    try:
        if not data.startswith(b"PK"):
            return _array(path, data)
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            size = sum(member.file_size for member in archive.infolist())
            if size > MAX_BYTES:
                raise MapFileError(f"{path}: holds {size} bytes when unpacked; at most {MAX_BYTES} are allowed")
            return {
                member.filename.removesuffix(".npy"): _array(path, archive.read(member))
                for member in archive.infolist()
                if member.filename.endswith(".npy")
            }
    except MapFileError:
        raise
    except Exception as error:  # NumPy and zipfile raise nearly anything on a damaged file
        raise MapFileError(f"{path}: a damaged NumPy file: {type(error).__name__}: {str(error)[:300]}") from error


def _array(path: Path, data: bytes) -> np.ndarray:
    """Return the array in the bytes of a .npy file; their number must agree with the header."""
    stream = io.BytesIO(data)
    version = np.lib.format.read_magic(stream)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, kind = read(stream)
    wanted, there = math.prod(shape) * kind.itemsize, len(data) - stream.tell()
    if wanted > there:
        raise MapFileError(f"{path}: an array of shape {shape} takes {wanted} bytes, but there are only {there}")
    stream.seek(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # warnings about files that Python 2 wrote
        return np.lib.format.read_array(stream, allow_pickle=False)


def _numbers(path: Path, array: Any) -> np.ndarray:
    if not isinstance(array, np.ndarray) or array.ndim != 2 or array.dtype.kind not in "iufb":
        what = f"{array.dtype} of shape {array.shape}" if isinstance(array, np.ndarray) else "several arrays"
        raise MapFileError(f"{path}: holds {what}; it must be numbers of shape (rows, columns)")
    return array


def _read_asc(path: Path) -> GroundLayer:
    text = read_bytes(path)
    words = text[:_HEADER].split()
    header: dict[str, float] = {}
    at = 0
    while at + 1 < len(words) and words[at][:1].isalpha() and words[at].lower() not in (b"nan", b"inf"):
        header[words[at].decode("ascii", "replace").lower()] = _float(path, words[at + 1])
        at += 2
    missing = [name for name in ("ncols", "nrows") if name not in header]
    if missing or not ("cellsize" in header or {"dx", "dy"} <= set(header)):
        raise MapFileError(
            f"{path}: an ESRI ASCII grid begins with ncols, nrows, xllcorner, yllcorner and cellsize; this one says "
            f"{', '.join(header) or 'none of it'}"
        )
    if not all(float(header[name]).is_integer() and 1 <= header[name] <= 1e9 for name in ("ncols", "nrows")):
        raise MapFileError(f"{path}: has {header['ncols']:g} columns and {header['nrows']:g} rows; they must be counts")
    rows, columns = int(header["nrows"]), int(header["ncols"])
    check_shape(rows, columns, "the ground")
    head = re.match(rb"\s*(?:\S+\s+){%d}" % at, text)
    values, found = read_numbers(path, text[head.end() if head else len(text) :], rows * columns, np.float64)
    if found != rows * columns:
        raise MapFileError(
            f"{path}: has {found} numbers behind its header, but {columns} columns x {rows} rows need {rows * columns}"
        )
    values = values.reshape(rows, columns)
    if "nodata_value" in header:
        values[values == header["nodata_value"]] = np.nan
    return GroundLayer(
        values, (header.get("dx", header.get("cellsize", 0.0)), header.get("dy", header.get("cellsize", 0.0)))
    )


def _float(path: Path, word: bytes) -> float:
    try:
        return float(word)
    except ValueError as error:
        raise MapFileError(f"{path}: has {word[:30]!r} in its header where a number is expected") from error


def _read_tif(path: Path) -> GroundLayer:
    read_bytes(path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            with Image.open(path, formats=("TIFF",)) as image:
                check_shape(image.size[1], image.size[0], "the ground")
                tags: Any = dict(image.tag_v2)  # pyright: ignore
                values = np.asarray(image)
        except InvalidValueError:
            raise
        except Exception as error:  # Pillow raises nearly anything on a damaged file
            raise MapFileError(f"{path}: a damaged TIFF: {type(error).__name__}: {str(error)[:300]}") from error
    values = _numbers(path, values).astype(np.float64)
    try:
        layer = GroundLayer(values)
        if NODATA_TAG in tags:
            values[values == float(str(tags[NODATA_TAG]).strip("\0 "))] = np.nan
        if SCALE_TAG in tags:
            layer.spacing = float(tags[SCALE_TAG][0]), float(tags[SCALE_TAG][1])
            keys = np.array(tags.get(KEYS_TAG, ()), int)
            keys = {int(k[0]): int(k[3]) for k in keys[4 : len(keys) // 4 * 4].reshape(-1, 4)}
            if keys.get(MODEL_KEY) == GEOGRAPHIC:
                _, row, _, _, latitude, _ = (float(v) for v in tags[TIE_TAG][:6])
                middle = latitude - (len(values) / 2 - row) * layer.spacing[1]
                layer.spacing = _metres(layer.spacing, middle)
    except (ValueError, TypeError, IndexError, KeyError, OverflowError) as error:
        raise MapFileError(f"{path}: its GeoTIFF tags are damaged: {str(error)[:300]}") from error
    return layer


def _metres(degrees: tuple[float, float], latitude: float) -> tuple[float, float]:
    """Return steps of longitude and latitude in metres along x and y."""
    return degrees[0] * METRES_PER_DEGREE * math.cos(math.radians(latitude)), degrees[1] * METRES_PER_DEGREE


_READERS: dict[str, Any] = {
    ".png": _read_gray,
    ".pgm": _read_gray,
    ".npy": _read_npy,
    ".npz": _read_npz,
    ".asc": _read_asc,
    ".tif": _read_tif,
    ".tiff": _read_tif,
}
