"""What sensors and add-ons draw, for the page: in a frame of a run that lasts, or as a message of a recorded one."""

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from covey.plain import pack
from covey.results.marks import Mark, css, palette
from covey.results.run import Run
from covey.results.sensor_marks import COLORS, layer, marks_of_values

if TYPE_CHECKING:
    from covey.runtime.simulation import Simulation

Drawn = Mapping[str, Callable[[], Sequence[Mark]]]
"""What gives the marks that are to be seen now, by layer: ``addon:NAME``, ``sensor:NAME``."""


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
    """Return the layers with what add-ons drew and sensors measured in a recorded run."""
    addons = dict.fromkeys(mark.by for marks in run.marks for mark in marks)
    return [*(f"addon:{name}" for name in addons), *map(layer, run.sensor_marks.names)]


def message_of(run: Run, name: str) -> bytes:
    """Return the message ``marks`` with what is drawn in one layer: as `packed`, each mark once.

    In addition there is ``shown`` int32 (k,), the marks that are to be seen one step after the other, and ``count``
    int32 (t + 1,), how many they are at the start and after each step.
    """
    rows, marks = dict[int, int](), list[Mark]()
    shown, count = list[int](), list[int]()
    for own in _at_all_steps(run, name):
        for mark in own:
            if id(mark) not in rows:
                rows[id(mark)] = len(marks)
                marks.append(mark)
        shown += [rows[id(mark)] for mark in own]
        count.append(len(own))
    plain, arrays = packed(marks)
    arrays |= {"shown": np.array(shown, np.int32), "count": np.array(count, np.int32)}
    return pack({"type": "marks", "name": name, **plain}, arrays)


def _at_all_steps(run: Run, name: str) -> Iterator[Sequence[Mark]]:
    """Yield what is drawn in a layer at the start and after each step."""
    kind, _, own = name.partition(":")
    if kind == "addon":
        yield from ([mark for mark in now if mark.by == own] for now in run.marks)
        return
    steps = run.steps[np.searchsorted(run.times, run.pose_times)]
    starts = np.concatenate([body["start"] for body in run.manifest["bodies"]])
    for row in np.searchsorted(steps, np.arange(steps[-1] + 1 if len(steps) else 1), side="right") - 1:
        time_s, poses = (0.0, starts) if row < 0 else (float(run.pose_times[row]), run.poses[row])
        yield run.sensor_marks.at(own, time_s, poses)


def of_sensors(sim: "Simulation") -> Drawn:
    """Return what gives the marks of the sensors of a simulation, of their newest readings, where the robots are."""
    banks = [bank for bank in sim.sensing.banks if bank.record.drawn() is not None]
    found = dict[str, list[tuple[Any, str]]]()
    for bank in banks:
        own = found.setdefault(layer(bank.record.name), [])
        own.append((bank, COLORS[(len(found) - 1) % len(COLORS)]))
    radius = np.concatenate([np.full(len(group.names), group.robot.outer_radius_m) for group in sim.groups])

    def seen(name: str) -> list[Mark]:
        marks = list[Mark]()
        for bank, color in found[name]:
            if (readings := bank.readings) is not None:
                draws, rows = bank.record.drawn(readings), bank.members
                values = readings.arrays()[draws.of]
                marks += marks_of_values(draws, values, sim.state.pose[rows], radius[rows], color, name)
        return marks

    return {name: functools.partial(seen, name) for name in found}
