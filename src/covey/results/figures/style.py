"""Common parts of all pictures: colours, sizes, and reproducible bytes.

Only matplotlib's objects are used, not pyplot, so nothing global changes, and runs can be drawn in threads.
Colours: M. Okabe, K. Ito: Color universal design, 2008.
"""

import io
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.text import Text

from covey.errors import InvalidValueError, RunFolderError, printable
from covey.results.folder import write_whole

ROBOTS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7A5230", "#5D3A9B")
INK, FAINT, GRID = "#1A1A1A", "#6B6B6B", "#D9D9D9"
WALL_COLOR, FREE_COLOR, UNKNOWN_COLOR, OPEN_COLOR = "#3A3A3A", "#FFFFFF", "#D3D7DC", "#EEF1F4"
LINK_COLOR = "#F0C000"
COLUMN_IN, PAGE_IN = 3.486, 7.139
"""Width of one column and of the page of IEEE's papers, 252 and 516 pt of 1/72.27 inch, rounded down [inch]."""
DPI = 300
KINDS = ("png", "svg", "pdf")
"""Formats of still pictures."""
STYLES = ("ieee",)
"""What pictures are made for."""
FONT, SMALL = 8.0, 7.0
LABELLED = 12
"""Largest number of robots that are named in a picture."""

_SAVED: Any = {"svg.hashsalt": "covey", "pdf.fonttype": 42}
"""Settings while a picture is saved: ids that repeat, and fonts that journals take (they refuse type 3)."""
_svg_lock = threading.Lock()


class Picture(Figure):
    """A matplotlib figure that notebooks show; its bytes depend only on its content.

    Attributes:
        note: what its points, bars and bands mean, and the number of runs: text for its caption, not drawn.
    """

    def __init__(self, width_in: float, height_in: float):
        self.note = ""
        super().__init__(figsize=(width_in, height_in), dpi=DPI, facecolor="white")
        FigureCanvasAgg(self)

    def to_bytes(self, kind: str) -> bytes:
        """Return the picture as ``png``, ``svg`` or ``pdf``."""
        for text in self._texts():
            text.set_parse_math(False)
            text.set_text(printable(text.get_text(), keep="\n"))
        buffer = io.BytesIO()
        metadata = {"png": {"Software": None}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}[kind]
        with _svg_lock:  # there is no other way to set the salt of SVG ids
            before: Any = {name: mpl.rcParams[name] for name in _SAVED}
            mpl.rcParams.update(_SAVED)
            try:
                self.savefig(buffer, format=kind, metadata=metadata)
            finally:
                mpl.rcParams.update(before)
        return buffer.getvalue()

    def save(self, path: Path | str) -> None:
        """Write the picture; where its path ends with .pdf or .svg it is vectors, with fonts that journals take.

        Args:
            path: a file name that ends with .png, .svg or .pdf.

        Raises:
            InvalidValueError: the file name has another ending.
            RunFolderError: the file cannot be written.
        """
        target, kind = Path(path), Path(path).suffix.removeprefix(".").lower()
        if kind not in KINDS:
            raise InvalidValueError(f"path {str(path)!r}: end it with .{', .'.join(KINDS)}")
        try:
            target.parent.mkdir(exist_ok=True)
            write_whole(target, self.to_bytes(kind))
        except OSError as error:
            raise RunFolderError(f"cannot write {str(target)!r}: {error.strerror or error}") from error

    def _texts(self) -> Iterator[Text]:
        """Yield all texts of the figure, including the ticks of its axes: names are text, never mathematics."""
        for axes in self.axes:
            yield from (*axes.get_xticklabels(), *axes.get_yticklabels())
        yield from self.findobj(Text)  # pyright: ignore

    def _repr_png_(self) -> bytes:
        return self.to_bytes("png")


DASHES = (
    *("-", (0, (5, 1.5)), (0, (1.5, 1.2)), (0, (5, 1.5, 1.5, 1.5))),
    *((0, (10, 3)), (0, (5, 1.5, 1.5, 1.5, 1.5, 1.5)), (0, (1.5, 4)), (0, (10, 2, 3, 2))),
)
"""Dashes of eight lines, as many as one figure has: they are told apart without colours, too."""


def robot_color(index: int, count: int) -> str:
    """Return the colour of a robot; with more than eight robots, colours run through cividis."""
    if count <= len(ROBOTS):
        return ROBOTS[index]
    return to_hex(mpl.colormaps["cividis"](0.9 * index / (count - 1)))


def rgb(color: str) -> np.ndarray:
    """Return a colour as uint8 (3,).

    Examples:
        >>> rgb("#FF8000").tolist()
        [255, 128, 0]
    """
    return np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)], np.uint8)
