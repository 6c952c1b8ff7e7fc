"""The legend below the images of a film: small symbols with their names, in as many rows as they need."""

from collections.abc import Sequence
from typing import NamedTuple

from PIL import ImageDraw, ImageFont

_ROW, _SYMBOL, _GAP = 18, 18, 12
"""Height of a row, width of a symbol, and space after a name [pixel]."""


class LegendEntry(NamedTuple):
    """A symbol and its name.

    Attributes:
        name: what it stands for.
        shape: ``line``, ``view`` (of a camera), ``ring``, ``cross``, or the corners of a polygon around (0, 0) [pixel].
        color: of it, in the palette of the images.
        outline: of a polygon, in the same palette.
    """

    name: str
    shape: str | Sequence[tuple[float, float]]
    color: int
    outline: int | None = None


class FilmLegend:
    """Places entries side by side.

    Args:
        entries: what it explains.
        width: of the images [pixel].
        font: of the names.
        ink: colour of the names in the palette of the images.

    Attributes:
        height: of all rows [pixel]; 0 without entries.
    """

    def __init__(self, entries: Sequence[LegendEntry], width: int, font: ImageFont.FreeTypeFont, ink: int):
        self._font, self._ink = font, ink
        self._placed: list[tuple[LegendEntry, float, float]] = []
        x, row = 6.0, 0
        for entry in entries:
            wide = _SYMBOL + font.getlength(entry.name)
            if x > 6.0 and x + wide > width - 6:
                x, row = 6.0, row + 1
            self._placed.append((entry, x, row * _ROW + _ROW / 2))
            x += wide + _GAP
        self.height = (row + 1) * _ROW if entries else 0

    def draw(self, draw: ImageDraw.ImageDraw, top: int) -> None:
        """Draw it into an image, ``top`` pixels below its upper edge."""
        for entry, x, y in self._placed:
            _draw_symbol(draw, entry, x + 6, top + y)
            draw.text((x + _SYMBOL, top + y), entry.name, fill=self._ink, font=self._font, anchor="lm")


def _draw_symbol(draw: ImageDraw.ImageDraw, entry: LegendEntry, x: float, y: float) -> None:
    match entry.shape:
        case "line":
            draw.line((x - 6, y, x + 6, y), fill=entry.color, width=2)
        case "view":
            draw.line((x + 6, y - 5, x - 6, y, x + 6, y + 5), fill=entry.color, width=1)
        case "ring":
            draw.ellipse((x - 6, y - 6, x + 6, y + 6), outline=entry.color, width=2)
        case "cross":
            draw.line((x - 5, y - 5, x + 5, y + 5), fill=entry.color, width=2)
            draw.line((x - 5, y + 5, x + 5, y - 5), fill=entry.color, width=2)
        case corners:
            outline = [(x + dx, y + dy) for dx, dy in corners]  # pyright: ignore
            draw.polygon(outline, fill=entry.color, outline=entry.outline)
