"""Gray images from PGM and PNG files, checked before any memory is taken."""

import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from covey.errors import MapFileError

MAX_PIXELS = 80_000_000
"""Images with more pixels are refused (8900 x 8900: 447 m at 0.05 m)."""


@dataclass(frozen=True)
class GrayImage:
    """An image as it lies in the file: row 0 is the top.

    Attributes:
        values: uint16 (rows, columns), 0 is black and ``white`` is white.
        white: largest possible value.
        transparent: bool (rows, columns), or None when the image has no transparency.
    """

    values: np.ndarray
    white: int
    transparent: np.ndarray | None = None


def read_image(path: Path) -> GrayImage:
    """Read a PGM (P2 or P5, 8 or 16 bit) or a PNG; colours become their mean.

    Raises:
        MapFileError: the file is missing, damaged, too large, or something else.
    """
    data = read_bytes(path)
    if data[:2] in (b"P2", b"P5"):
        return _read_pgm(path, data)
    if data[:8] == b"\x89PNG\r\n\x1a\n":
        return _read_png(path)
    raise MapFileError(f"{path}: begins with {data[:8]!r}; allowed are PGM (P2, P5) and PNG images")


def read_bytes(path: Path, limit: int = 8 * MAX_PIXELS) -> bytes:
    """Return the content of a file of at most ``limit`` bytes; raise `MapFileError` otherwise."""
    try:
        if not path.is_file():
            raise MapFileError(f"{path}: there is no such file; paths are relative to the file that names them")
        size = path.stat().st_size
        if size > limit:
            raise MapFileError(f"{path}: has {size} bytes; at most {limit} are allowed")
        return path.read_bytes()
    except (OSError, ValueError) as error:
        raise MapFileError(f"{path}: cannot be read: {error}") from error


def check_pixels(path: Path, width: int, height: int) -> None:
    """Raise `MapFileError` when an image is empty or has more than `MAX_PIXELS` pixels."""
    if width < 1 or height < 1 or width * height > MAX_PIXELS:
        raise MapFileError(
            f"{path}: the image is {width} x {height} pixels; allowed are at least 1 x 1 and at most "
            f"{MAX_PIXELS} pixels altogether"
        )


def _read_pgm(path: Path, data: bytes) -> GrayImage:
    numbers, start = _pgm_header(path, data)
    width, height, white = numbers
    check_pixels(path, width, height)
    if not 1 <= white <= 65535:
        raise MapFileError(f"{path}: the largest gray value is {white}; allowed are 1 to 65535")
    count = width * height
    if data[:2] == b"P5":
        kind = np.dtype("u1" if white < 256 else ">u2")
        if len(data) - start < count * kind.itemsize:
            raise MapFileError(
                f"{path}: truncated: {len(data) - start} bytes of pixels, but {width} x {height} need "
                f"{count * kind.itemsize}"
            )
        values = np.frombuffer(data, kind, count, start).astype(np.uint16)
    else:
        text = b" ".join(line.partition(b"#")[0] for line in data[start:].splitlines()).split(maxsplit=count)[:count]
        if len(text) < count:
            raise MapFileError(f"{path}: truncated: {len(text)} pixels, but {width} x {height} need {count}")
        try:
            # Six digits hold every allowed value; a longer word is cut to one that is too large, or is refused.
            wide = np.array([int(word) if len(word) <= 20 else -1 for word in text], np.float64)
        except ValueError as error:
            raise MapFileError(f"{path}: a pixel is not a whole number: {error}") from error
        if wide.min() < 0 or wide.max() > white:
            raise MapFileError(f"{path}: has a pixel outside 0 to {white}, the largest value that its header allows")
        values = wide.astype(np.uint16)
    if values.max() > white:
        raise MapFileError(f"{path}: has a pixel of {values.max()}, but its header allows at most {white}")
    return GrayImage(values.reshape(height, width), white)


def _pgm_header(path: Path, data: bytes) -> tuple[list[int], int]:
    """Return width, height and white, and where the pixels begin: one blank after the last number."""
    numbers: list[int] = []
    i = 2
    while len(numbers) < 3:
        if i >= len(data):
            raise MapFileError(f"{path}: truncated: the file ends within the PGM header")
        if data[i : i + 1] == b"#":
            end = data.find(b"\n", i)
            i = len(data) if end < 0 else end
        elif data[i : i + 1].isspace():
            i += 1
        else:
            end = i
            while end < len(data) and data[end : end + 1].isdigit() and end - i <= 12:
                end += 1
            if end == i or end - i > 12:
                raise MapFileError(
                    f"{path}: the PGM header has {data[i : i + 12]!r} where width, height or the largest gray value "
                    "is expected"
                )
            numbers.append(int(data[i:end]))
            i = end
    return numbers, i + 1


def _read_png(path: Path) -> GrayImage:
    from PIL import Image

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            with Image.open(path, formats=("PNG",)) as image:
                check_pixels(path, *image.size)
                image.load()
                if image.mode.startswith("I"):
                    deep = np.asarray(image)
                    return GrayImage(np.clip(deep, 0, 65535).astype(np.uint16), 65535)
                if image.mode == "P" or "transparency" in image.info:
                    image = image.convert("RGBA")
                elif image.mode == "1":
                    image = image.convert("L")
                if image.mode not in ("L", "LA", "RGB", "RGBA"):
                    raise MapFileError(f"{path}: a PNG of mode {image.mode}; allowed are gray, colour and palette")
                bands = np.asarray(image, np.uint8)
        except MapFileError:
            raise
        # Pillow raises nearly anything on a damaged file.
        except Exception as error:
            raise MapFileError(f"{path}: a damaged PNG: {type(error).__name__}: {error}") from error
    if bands.ndim == 2:
        return GrayImage(bands.astype(np.uint16), 255)
    transparent = bands[..., -1] < 128 if bands.shape[2] in (2, 4) else None
    colours = bands[..., : 1 if bands.shape[2] == 2 else 3]
    return GrayImage(colours.sum(axis=2, dtype=np.uint16), 255 * colours.shape[2], transparent)
