"""Write grounds to files, in the format of their suffix; `covey.world.io.ground_files` reads them."""

import io
import json
import math
from pathlib import Path
from typing import Any

import numpy as np

from covey.errors import InvalidValueError
from covey.lazy import Image, PngImagePlugin, TiffImagePlugin, TiffTags
from covey.world.ground import Ground
from covey.world.io.ground_files import KEYS_TAG, MARK, POINT, RASTER_KEY, SCALE_TAG, TIE_TAG
from covey.world.io.map_writer import write_atomically


def save_ground(ground: Ground, path: Path, *, m_per_step: float | None = None, bits: int = 16) -> None:
    """Write a ground as an image (``.png``, ``.pgm``), an array (``.npz``, ``.npy``), ``.asc`` or GeoTIFF (``.tif``).

    The first row of the file is the north. An image rounds to its steps, and its metadata hold their size. Only
    ``.npz`` also keeps the origin and the range.

    Args:
        ground: the ground.
        path: the file, written atomically.
        m_per_step: for an image: altitude of a gray level [m]; default: the finest of 1, 2, 5 times a power of ten,
            from 1 mm on, with which the altitudes fit.
        bits: for an image: 8 or 16 bits per pixel.

    Raises:
        InvalidValueError: the suffix is unknown, or the altitudes do not fit the steps.
    """
    suffix = path.suffix.lower()
    write = _WRITERS.get(suffix)
    if write is None:
        raise InvalidValueError(f"a ground is saved as {', '.join(sorted(_WRITERS))}, not as {path.name!r}")
    if suffix in (".png", ".pgm"):
        write_atomically(path, write(ground, *_gray(ground, m_per_step, bits)))
    elif m_per_step is not None or bits != 16:
        raise InvalidValueError(f"m_per_step and bits are for images; {path.name!r} holds numbers")
    else:
        write_atomically(path, write(ground))


def _gray(ground: Ground, m_per_step: float | None, bits: int) -> tuple[np.ndarray, bytes]:
    """Return the gray levels of the vertices, uint8 or uint16, row 0 in the north, and their metadata."""
    if bits not in (8, 16):
        raise InvalidValueError(f"bits is {bits!r}; an image has 8 or 16 per pixel")
    low, high = float(ground.altitude.min()), float(ground.altitude.max())
    white = 2**bits - 1
    step = m_per_step if m_per_step is not None else _finest(high - min(low, 0.0), white)
    if not (math.isfinite(step) and step > 0):
        raise InvalidValueError(f"m_per_step is {step!r}; it must be a positive number of metres")
    zero = 0.0 if low >= 0 and high <= (white + 0.5) * step else math.floor(low / step + 0.5) * step
    levels = np.rint((ground.altitude[::-1] - zero) / step)
    if levels.max() > white:
        raise InvalidValueError(
            f"m_per_step is {step:g}, but altitudes from {low:g} to {high:g} m need {levels.max():.0f} steps, and "
            f"{bits} bits have {white}; use a larger m_per_step or more bits"
        )
    said = json.dumps({"spacing_m": ground.spacing_m, "m_per_step": step, "zero_m": zero})
    return np.maximum(levels, 0).astype(np.uint8 if bits == 8 else np.uint16), MARK + said.encode()


def _finest(height_m: float, white: int) -> float:
    """Return the finest step [m] with which a height takes at most ``white`` steps.

    Steps are 1, 2 or 5 times a power of ten, from 1 mm on.
    """
    steps = (f * 10.0**power for power in range(-3, 300) for f in (1, 2, 5))
    return float(next(float(f"{step:.0e}") for step in steps if height_m <= step * white * (1 + 1e-12)))


def _png(ground: Ground, levels: np.ndarray, said: bytes) -> bytes:
    info, buffer = PngImagePlugin.PngInfo(), io.BytesIO()
    info.add_text("Comment", said.decode())
    Image.fromarray(levels).save(buffer, "PNG", pnginfo=info)
    return buffer.getvalue()


def _pgm(ground: Ground, levels: np.ndarray, said: bytes) -> bytes:
    rows, columns = levels.shape
    white = np.iinfo(levels.dtype).max
    return (
        b"P5\n# %b\n%d %d\n%d\n" % (said, columns, rows, white)
        + levels.astype(levels.dtype.newbyteorder(">")).tobytes()
    )


def _npy(ground: Ground) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, ground.altitude[::-1], allow_pickle=False)
    return buffer.getvalue()


def _npz(ground: Ground) -> bytes:
    buffer = io.BytesIO()
    arrays: dict[str, Any] = {"altitude": ground.altitude[::-1], "spacing_m": ground.spacing_m}
    np.savez_compressed(buffer, **arrays, origin=np.array(ground.origin), range_m=np.array(ground.range_m))
    return buffer.getvalue()


def _asc(ground: Ground) -> bytes:
    rows, columns = ground.shape
    x, y = ground.origin
    header = {"ncols": columns, "nrows": rows, "xllcenter": x, "yllcenter": y, "cellsize": ground.spacing_m}
    lines = [f"{key} {value!r}" for key, value in header.items()]
    lines += [" ".join(f"{value:.6f}" for value in row) for row in ground.altitude[::-1].tolist()]
    return ("\n".join(lines) + "\n").encode()


def _tif(ground: Ground) -> bytes:
    tags = TiffImagePlugin.ImageFileDirectory_v2()
    left, _, _, top = ground.bounds
    for tag, kind, values in (
        (SCALE_TAG, TiffTags.DOUBLE, (ground.spacing_m, ground.spacing_m, 0.0)),
        (TIE_TAG, TiffTags.DOUBLE, (0.0, 0.0, 0.0, left, top, 0.0)),
        (KEYS_TAG, TiffTags.SHORT, (1, 1, 0, 1, RASTER_KEY, 0, 1, POINT)),
    ):
        tags.tagtype[tag] = kind
        tags[tag] = values
    buffer = io.BytesIO()
    Image.fromarray(ground.altitude[::-1].astype(np.float32)).save(buffer, "TIFF", tiffinfo=tags)
    return buffer.getvalue()


_WRITERS: dict[str, Any] = {
    ".png": _png,
    ".pgm": _pgm,
    ".npy": _npy,
    ".npz": _npz,
    ".asc": _asc,
    ".tif": _tif,
    ".tiff": _tif,
}
