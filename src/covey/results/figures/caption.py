"""A caption below the images of a film."""

from collections.abc import Iterable, Iterator

import numpy as np
from matplotlib import font_manager
from PIL import Image, ImageDraw, ImageFont

from covey.errors import InvalidValueError, printable
from covey.results.figures import style

_MARGIN, _SHARE = 6, 42
"""Space around the text [pixel], and the width of an image over the size of its letters."""
_LONGEST = 500
"""Largest number of letters."""


def captioned(images: Iterable[Image.Image], caption: str) -> Iterator[Image.Image]:
    """Yield images with a text below, in as many lines as it needs; without a text the images as they are.

    Args:
        images: of one size, with colours or with a palette each.
        caption: the text; a line break begins a new line.

    Raises:
        InvalidValueError: it is too long.
    """
    if len(caption) > _LONGEST:
        raise InvalidValueError(f"the caption has {len(caption)} letters; give at most {_LONGEST}")
    text = printable(caption, keep="\n").strip()
    for image in images:
        yield _with_text(image, text) if text else image


def _with_text(image: Image.Image, text: str) -> Image.Image:
    size = max(11, image.width // _SHARE)
    font = ImageFont.truetype(font_manager.findfont("DejaVu Sans"), size)
    lines = [line for part in text.split("\n") for line in _lines(part, image.width - 2 * _MARGIN, font)]
    step = round(1.35 * size)
    ink, paper = (_color(image, color) for color in (style.INK, style.FREE_COLOR))
    whole = Image.new(image.mode, (image.width, image.height + step * len(lines) + 2 * _MARGIN), paper)
    if image.mode == "P":
        whole.putpalette(image.getpalette() or [])
    whole.paste(image)
    draw = ImageDraw.Draw(whole)
    draw.fontmode = "1" if image.mode == "P" else "L"  # shades of grey may be missing in a palette
    for k, line in enumerate(lines):
        draw.text((_MARGIN, image.height + _MARGIN + k * step), line, fill=ink, font=font)
    return whole


def _lines(text: str, most: float, font: ImageFont.FreeTypeFont) -> list[str]:
    """Return a text in lines of at most ``most`` [pixel]; a word that is longer is cut."""
    lines = [""]
    for word in text.split():
        joined = f"{lines[-1]} {word}".strip()
        if font.getlength(joined) <= most:
            lines[-1] = joined
            continue
        while font.getlength(word) > most:
            cut = next(k for k in range(len(word) - 1, 0, -1) if font.getlength(word[:k]) <= most)
            lines.append(word[:cut])
            word = word[cut:]
        lines.append(word)
    return lines[1:] if len(lines) > 1 and not lines[0] else lines


def _color(image: Image.Image, color: str) -> int | tuple[int, ...]:
    """Return a colour as an image takes it: of a palette the nearest one."""
    wanted = style.rgb(color)
    if image.mode != "P":
        return tuple(wanted.tolist())
    palette = np.array(image.getpalette() or [], float).reshape(-1, 3)
    return int(np.argmin(((palette - wanted) ** 2).sum(axis=1)))
