"""Read gray images from PGM and PNG files; they are checked before memory is allocated."""

import re
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from covey.errors import MapFileError
from covey.lazy import Image

MAX_PIXELS = 80_000_000
"""Largest number of pixels of an image (8900 x 8900: 447 m at 0.05 m)."""


_PIECE = 8_000_000  # bytes of text that are parsed at a time
_BLANK, _COMMENT = re.compile(rb"\s"), re.compile(rb"#[^\r\n]*")
_NO_DIGIT, _NO_NUMBER = re.compile(rb"[^0-9\s-]"), re.compile(rb"[^0-9+.eEnaNAifIFtyTY\s-]")


@dataclass(frozen=True)
class GrayImage:
    """An image as in its file: row 0 is the top.

    Attributes:
        values: uint16 (rows, columns), 0 is black and ``white`` is white.
        white: largest possible value.
        alpha: uint8 (rows, columns), 0 is transparent and 255 is not, or None if the image has no transparency.
        coloured: whether any pixel is not gray.
    """

    values: np.ndarray
    white: int
    alpha: np.ndarray | None = None
    coloured: bool = False

    def averaged(self) -> "GrayImage":
        """Return the image as map_server reads it: the mean of red, green, blue and alpha of each pixel."""
        if self.alpha is None:
            return self
        deep = self.values.astype(np.uint32) * (3 * 255) // self.white + self.alpha
        return GrayImage(deep.astype(np.uint16), 4 * 255, None, self.coloured)

    def on_white(self) -> "GrayImage":
        """Return the image as a picture shows it on white paper."""
        if self.alpha is None:
            return self
        part = self.alpha / 255.0
        gray = self.values * (255.0 / self.white) * part + 255.0 * (1.0 - part)
        return GrayImage(np.rint(gray).astype(np.uint16), 255, None, self.coloured)


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


_RELATIVE = "paths are relative to the file that names them, after -s to the current folder"


def read_bytes(path: Path, limit: int = 8 * MAX_PIXELS) -> bytes:
    """Return the content of a file of at most ``limit`` bytes; raise `MapFileError` otherwise."""
    try:
        if not path.is_file():
            raise MapFileError(f"{path}: there is no such file; {_RELATIVE}")
        size = path.stat().st_size
        if size > limit:
            raise MapFileError(f"{path}: has {size} bytes; at most {limit} are allowed")
        return path.read_bytes()
    except (OSError, ValueError) as error:
        raise MapFileError(f"{path}: cannot be read: {error}") from error


def is_file(path: Path) -> bool:
    """Return whether a file exists; False for an invalid file name."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def check_pixels(path: Path, width: int, height: int) -> None:
    """Raise `MapFileError` if an image is empty or has more than `MAX_PIXELS` pixels."""
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
        text = data[start:] if b"#" not in data[start:] else _COMMENT.sub(b"", data[start:])
        values, found = read_numbers(path, text, count, np.uint16, (0, white))
        if found < count:
            raise MapFileError(f"{path}: truncated: {found} pixels, but {width} x {height} need {count}")
    if values.max() > white:
        raise MapFileError(f"{path}: has a pixel of {values.max()}, but its header allows at most {white}")
    return GrayImage(values.reshape(height, width), white)


def read_numbers(
    path: Path, text: bytes, count: int, kind: Any, limits: tuple[float, float] | None = None
) -> tuple[np.ndarray, int]:
    """Return the first numbers of a text, and their count; the text is parsed in pieces, to save memory.

    Args:
        path: path for errors.
        text: numbers separated by blanks.
        count: number of wanted numbers.
        kind: type of the result; whole numbers must also be whole in the text.
        limits: smallest and largest allowed number.

    Raises:
        MapFileError: a word is not a number, or outside the limits.
    """
    numbers, found, at = np.empty(min(count, len(text) // 2 + 1), kind), 0, 0
    wrong = _NO_DIGIT if np.issubdtype(kind, np.integer) else _NO_NUMBER
    while at < len(text):
        blank = _BLANK.search(text, min(at + _PIECE, len(text)))
        piece = text[at : blank.end() if blank else len(text)]
        at += len(piece)
        if not piece.strip():
            continue
        bad = wrong.search(piece)
        if bad:
            word = piece[: bad.end() + 20].split()[-1][:30] if piece[: bad.end()].strip() else piece[:30]
            what = "is not a whole number" if wrong is _NO_DIGIT else "is no number"
            raise MapFileError(f"{path}: a pixel or altitude {what}: {word!r}")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                values = np.fromstring(piece, np.float64, sep=" ")
        except (ValueError, DeprecationWarning) as error:
            raise MapFileError(f"{path}: an altitude is no number: {str(error)[:300]}") from error
        if found < len(numbers):
            wanted = values[: len(numbers) - found]
            if limits is not None and not (limits[0] <= wanted.min() and wanted.max() <= limits[1]):
                raise MapFileError(f"{path}: has a pixel outside {limits[0]} to {limits[1]}, which its header allows")
            numbers[found : found + len(wanted)] = wanted
        found += len(values)
    return numbers, found


def _pgm_header(path: Path, data: bytes) -> tuple[list[int], int]:
    """Return width, height and white, and the offset of the pixels: one blank after the last number."""
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
    alpha = bands[..., -1] if bands.shape[2] in (2, 4) else None
    colours = bands[..., : 1 if bands.shape[2] == 2 else 3]
    coloured = any(not np.array_equal(colours[..., 0], colours[..., k]) for k in range(1, colours.shape[2]))
    return GrayImage(colours.sum(axis=2, dtype=np.uint16), 255 * colours.shape[2], alpha, coloured)
