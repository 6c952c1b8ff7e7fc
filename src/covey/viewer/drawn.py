"""What add-ons have drawn, as the page draws it: in a frame of a run that lasts, or as a message of a recorded one."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from covey.results.marks import Mark, css, palette
from covey.results.run import Run
from covey.viewer.wire import pack

Drawn = Mapping[str, Callable[[], Sequence[Mark]]]
"""What gives the marks that are to be seen now, by add-on."""


def packed(marks: Sequence[Mark]) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return marks as plain data and arrays.

    ``looks``: kind, colour, width, fill, and the palette of a field; ``texts``. ``mark`` int32 (m, 3): look, text, and
    number of parts of each; ``shape`` int32 (p, 2): rows and columns of each part; ``number`` float32: all parts, one
    after the other. The values of a field are places in its palette, 0 to 255; NaN is not drawn.
    """
    looks, texts = dict[tuple[Any, ...], int](), dict[str, int]()
    rows, parts = list[tuple[int, int, int]](), list[np.ndarray]()
    for mark in marks:
        is_field = mark.kind == "field"
        colors = ("", palette(mark.color)) if is_field else (css(mark.color), "")
        look = mark.kind, colors[0], float(mark.width), float(mark.fill), colors[1]
        rows.append(
            (looks.setdefault(look, len(looks)), texts.setdefault(mark.text, len(texts)), len(mark.parts)),
        )
        parts += [np.atleast_2d(part) for part in ((levels(mark.parts[0]), mark.parts[1]) if is_field else mark.parts)]
    arrays = {
        "mark": np.array(rows, np.int32).reshape(-1, 3),
        "shape": np.array([part.shape for part in parts], np.int32).reshape(-1, 2),
        "number": np.concatenate([np.zeros(0, np.float32), *(part.ravel().astype(np.float32) for part in parts)]),
    }
    return {"looks": list(looks), "texts": list(texts)}, arrays


def levels(values: np.ndarray) -> np.ndarray:
    """Return values as whole numbers from 0, the least, to 255; NaN stays, and infinity is the least or the most."""
    finite = values[np.isfinite(values)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)
    with np.errstate(invalid="ignore", over="ignore"):
        scaled = (values - low) / (high - low) if high > low else np.where(np.isnan(values), np.nan, 0.0)
    return np.floor(np.clip(scaled, 0.0, 1.0) * 255.999)


def drawn_in(run: Run) -> list[str]:
    """Return the names of the add-ons that drew something in a recorded run."""
    return list(dict.fromkeys(mark.by for marks in run.marks for mark in marks))


def message_of(run: Run, name: str) -> bytes:
    """Return the message ``marks`` with what one add-on drew: as `packed`, each mark once.

    In addition there is ``shown`` int32 (k,), the marks that are to be seen one step after the other, and ``count``
    int32 (t + 1,), how many they are at the start and after each step.
    """
    rows, marks = dict[int, int](), list[Mark]()
    shown, count = list[int](), list[int]()
    for now in run.marks:
        own = [mark for mark in now if mark.by == name]
        for mark in own:
            if id(mark) not in rows:
                rows[id(mark)] = len(marks)
                marks.append(mark)
        shown += [rows[id(mark)] for mark in own]
        count.append(len(own))
    plain, arrays = packed(marks)
    arrays |= {"shown": np.array(shown, np.int32), "count": np.array(count, np.int32)}
    return pack({"type": "marks", "name": f"addon:{name}", **plain}, arrays)
