"""`Mark`: something that an add-on has drawn in the world, and the file with all of them, ``marks.npz``."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from covey.errors import InvalidValueError
from covey.results.checked import read_arrays

INK = "#1A1A1A"
MOST_NUMBERS = 1_000_000
"""Largest number of coordinates, or of values, of a mark."""
MOST_LETTERS = 200
"""Largest length of a text."""
MOST_POINTS = 100.0
"""Largest width of a line, diameter of a point, and height of letters [points]."""

Kind = Literal["points", "lines", "polygons", "arrows", "field", "text"]
KINDS: tuple[str, ...] = get_args(Kind)


@dataclass(frozen=True, eq=False)
class Mark:
    """One thing that is drawn in the world. Places that are not finite are not drawn.

    Attributes:
        kind: points, lines, polygons, arrows, field or text.
        parts: arrays of x, y [m]. Points: one (k, 2). Lines and polygons: one (k, 2) each. Arrows: beginnings and ways,
            both (k, 2). A field: its values (rows, columns), row 0 at the bottom, and left, right, bottom, top [m].
            Text: its place (2,).
        color: a colour of matplotlib; of a field the name of a colour map.
        width: of lines, or diameter of points, or height of letters [points].
        fill: opacity of the inside of polygons, and of fields, from 0 to 1.
        text: the text.
        by: name of the add-on.
    """

    kind: Kind
    parts: tuple[np.ndarray, ...]
    color: str = INK
    width: float = 1.0
    fill: float = 0.0
    text: str = ""
    by: str = ""

    def same_as(self, other: "Mark") -> bool:
        """Return whether both look the same."""
        names = [field.name for field in fields(self) if field.name != "parts"]
        return (
            all(getattr(self, name) == getattr(other, name) for name in names)
            and len(self.parts) == len(other.parts)
            and all(map(np.array_equal, self.parts, other.parts))
        )

    def checked(self) -> "Mark":
        """Return the mark.

        Raises:
            InvalidValueError: it has another shape or no colour, or is too large.
        """
        if self.kind == "field":
            _color_map(self.color)
        else:
            css(self.color)
        if not 0.0 <= self.width <= MOST_POINTS:
            raise InvalidValueError(f"{self.kind}: {self.width!r:.60} is no width; give 0 to {MOST_POINTS:g} points")
        if not 0.0 <= self.fill <= 1.0:
            raise InvalidValueError(f"{self.kind}: fill is {self.fill!r:.60}; give an opacity from 0 to 1")
        if len(self.text) > MOST_LETTERS:
            raise InvalidValueError(f"text: {len(self.text)} letters; at most {MOST_LETTERS} are drawn")
        if (size := sum(part.size for part in self.parts)) > MOST_NUMBERS:
            raise InvalidValueError(f"{self.kind}: {size} numbers; at most {MOST_NUMBERS} are drawn, so draw fewer")
        shapes = [part.shape for part in self.parts]
        if self.kind == "field":
            fits = len(shapes) == 2 and len(shapes[0]) == 2 and min(shapes[0]) > 0 and shapes[1] == (4,)
        elif self.kind == "text":
            fits = shapes == [(2,)]
        else:
            fits = all(len(shape) == 2 and shape[1] == 2 for shape in shapes)
            fits = fits and (self.kind != "points" or len(shapes) == 1)
            fits = fits and (self.kind != "arrows" or (len(shapes) == 2 and shapes[0] == shapes[1]))
        if not fits:
            raise InvalidValueError(f"{self.kind}: arrays of the shapes {shapes!s:.60} are no {self.kind}")
        return self


@cache
def css(color: str) -> str:
    """Return a colour of matplotlib as ``#rrggbbaa``.

    Raises:
        InvalidValueError: it is none.
    """
    from matplotlib.colors import is_color_like, to_hex

    if not is_color_like(color):
        raise InvalidValueError(f"{color!r:.60} is no colour; write a name such as 'red', or '#D55E00'")
    return to_hex(color, keep_alpha=True)


@cache
def palette(name: str) -> str:
    """Return the 256 colours of a colour map, each as ``rrggbb``, in one text."""
    from matplotlib import colormaps

    colors = colormaps[_color_map(name)](np.linspace(0.0, 1.0, 256))[:, :3]
    return (255.0 * colors).round().astype(np.uint8).tobytes().hex()


@cache
def _color_map(name: str) -> str:
    from matplotlib import colormaps

    if name not in colormaps:
        raise InvalidValueError(f"{name!r:.60} is no colour map of matplotlib; write 'viridis', or 'Blues'")
    return name


def arrays_of(marks: Sequence[Sequence[Mark]]) -> dict[str, np.ndarray]:
    """Return what was drawn at each time as arrays, which `marks_of` reads; a mark that stays is there once.

    ``words`` (w,): texts. ``mark`` int32 (m, 5): the number of the kind, and those of the words colour, text and
    add-on, and the number of parts. ``look`` float64 (m, 2): width and fill. ``shape`` int32 (p, 2) of the parts; a
    part of k numbers in a row has k, -1. ``number`` float64: all parts, one after the other. ``count`` int32 (t,): how
    many marks there are at each time, and ``shown`` int32: which.
    """
    words, rows = dict[str, int](), dict[int, int]()
    table: list[tuple[int, ...]] = []
    looks, parts, shown = list[tuple[float, float]](), list[np.ndarray](), list[int]()
    for mark in (mark for now in marks for mark in now):
        if id(mark) not in rows:
            rows[id(mark)] = len(rows)
            names = [words.setdefault(word, len(words)) for word in (mark.color, mark.text, mark.by)]
            table.append((KINDS.index(mark.kind), *names, len(mark.parts)))
            looks.append((mark.width, mark.fill))
            parts += mark.parts
        shown.append(rows[id(mark)])
    return {
        "words": np.array(list(words), np.str_),
        "mark": np.array(table, np.int32).reshape(-1, 5),
        "look": np.array(looks, float).reshape(-1, 2),
        "shape": np.array([part.shape if part.ndim == 2 else (len(part), -1) for part in parts], np.int32).reshape(
            -1, 2
        ),
        "number": np.concatenate([np.zeros(0), *(part.ravel() for part in parts)]),
        "count": np.array([len(now) for now in marks], np.int32),
        "shown": np.array(shown, np.int32),
    }


def marks_of(arrays: dict[str, np.ndarray]) -> list[tuple[Mark, ...]]:
    """Return what was drawn at each time, from the arrays of `arrays_of`.

    Raises:
        ValueError: they do not belong together, or a mark cannot be drawn; KeyError, TypeError: others are missing.
    """
    table, look, shape = (arrays[name] for name in ("mark", "look", "shape"))
    count, shown, words = arrays["count"], arrays["shown"], [str(word) for word in arrays["words"]]
    whole = all(arrays[name].dtype.kind == "i" for name in ("mark", "shape", "count", "shown"))
    shaped = table.shape == (len(look), 5) and look.shape == (len(look), 2) and shape.shape == (len(shape), 2)
    if not whole or not shaped or count.ndim != 1 or shown.ndim != 1 or arrays["number"].dtype.kind != "f":
        raise ValueError("its arrays do not belong together")
    parts = list(_parts(shape, arrays["number"]))
    ends = np.cumsum(table[:, 4], dtype=np.int64)
    within = (table >= 0).all() and (table[:, 0] < len(KINDS)).all() and (table[:, 1:4] < len(words)).all()
    fits = len(parts) == (ends[-1] if len(ends) else 0) and (count >= 0).all() and count.sum() == len(shown)
    if not within or not fits or not ((shown >= 0) & (shown < len(table))).all():
        raise ValueError("its arrays do not belong together")
    marks: list[Mark] = []
    for (kind, color, text, by, size), (width, fill), end in zip(
        table.tolist(), look.tolist(), ends.tolist(), strict=True
    ):
        own: Any = {"width": width, "fill": fill, "text": words[text], "by": words[by]}
        mark = Mark(KINDS[kind], tuple(parts[end - size : end]), words[color], **own)  # type: ignore[arg-type]
        try:
            marks.append(mark.checked())
        except InvalidValueError as error:
            raise ValueError(str(error)) from None
    of_times = np.split(shown, np.cumsum(count)[:-1]) if len(count) else []
    return [tuple(marks[row] for row in rows.tolist()) for rows in of_times]


def _parts(shape: np.ndarray, numbers: np.ndarray) -> Iterator[np.ndarray]:
    """Yield the parts that follow one another in a row of numbers."""
    sizes = np.where(shape[:, 1] < 0, shape[:, 0], shape.prod(axis=1, dtype=np.int64))
    if (shape[:, 0] < 0).any() or (shape[:, 1] < -1).any() or numbers.ndim != 1 or sizes.sum() != len(numbers):
        raise ValueError("its arrays do not belong together")
    for (rows, columns), part in zip(shape.tolist(), np.split(numbers, np.cumsum(sizes)[:-1]), strict=False):
        yield part if columns < 0 else part.reshape(rows, columns)


def load(path: Path) -> list[tuple[Mark, ...]]:
    """Read ``marks.npz``."""
    return marks_of(read_arrays(path))
