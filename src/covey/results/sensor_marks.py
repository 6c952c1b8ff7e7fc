"""What sensors measured, drawn where their robots are: marks that are made from readings when somebody looks."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from covey.draws import Draws
from covey.results.marks import Mark

if TYPE_CHECKING:
    from covey.results.details import RecordedReadings

COLORS = ("#009E73", "#CC79A7", "#D55E00", "#0072B2", "#E69F00")
"""Of the sensors of a run, one after the other (Okabe, Ito: Color Universal Design)."""
_AROUND = 1.5  # radius of a ring by that of the body
_FAINT = 0.15
_ARC_RAD = 0.15  # largest angle between two points of an arc


def layer(sensor: str) -> str:
    """Return the name under which a sensor is drawn."""
    return f"sensor:{sensor}"


def marks_of_values(
    draws: Draws, values: np.ndarray, poses: np.ndarray, radius: np.ndarray, color: str, by: str
) -> list[Mark]:
    """Return the marks of one sample of a sensor; what is not finite is not drawn.

    Args:
        draws: how it is drawn.
        values: (m,) or (m, k), those of m robots.
        poses: x, y [m], heading [rad] of the robots in the world frame, (m, 3).
        radius: of their bodies [m], (m,).
        color: of the marks.
        by: name under which they are drawn.
    """
    values = np.asarray(values, float).reshape(len(poses), -1)
    return _WAYS[draws.word](draws, values, poses, radius, color, by)


def _ring(_: Draws, values: np.ndarray, poses: np.ndarray, radius: np.ndarray, color: str, by: str) -> list[Mark]:
    angle = np.linspace(0.0, 2.0 * np.pi, 25)[:-1]
    circles = poses[:, None, :2] + _AROUND * radius[:, None, None] * np.column_stack((np.cos(angle), np.sin(angle)))
    lit = (np.nan_to_num(values) != 0.0).any(axis=1)
    return [
        Mark("polygons", tuple(circles[~lit]), color, 0.5, by=by),
        Mark("polygons", tuple(circles[lit]), color, 2.0, 0.4, by=by),
    ]


def _number(_: Draws, values: np.ndarray, poses: np.ndarray, radius: np.ndarray, color: str, by: str) -> list[Mark]:
    texts = [", ".join(f"{value:.3g}" for value in row[:8]) + ", …" * (len(row) > 8) for row in values.tolist()]
    places = poses[:, :2] + np.column_stack((np.zeros(len(poses)), 2.2 * radius))
    return [Mark("text", (place,), color, 6.0, text=text, by=by) for place, text in zip(places, texts, strict=True)]


def _heading(_: Draws, values: np.ndarray, poses: np.ndarray, radius: np.ndarray, color: str, by: str) -> list[Mark]:
    ways = 4.0 * radius[:, None] * np.column_stack((np.cos(values[:, 0]), np.sin(values[:, 0])))
    return [Mark("arrows", (poses[:, :2], ways), color, 1.2, by=by)]


def _ray(_: Draws, values: np.ndarray, poses: np.ndarray, radius: np.ndarray, color: str, by: str) -> list[Mark]:
    ends = poses[:, :2] + _polar(values[:, 0], poses[:, 2] + values[:, 1])
    return _reached(poses, ends, color, by)


def _place(_: Draws, values: np.ndarray, poses: np.ndarray, radius: np.ndarray, color: str, by: str) -> list[Mark]:
    (x, y), (c, s) = values[:, :2].T, (np.cos(poses[:, 2]), np.sin(poses[:, 2]))
    ends = poses[:, :2] + np.column_stack((c * x - s * y, s * x + c * y))
    marks = _reached(poses, ends, color, by)
    if values.shape[1] > 2:
        ways = _polar(3.0 * radius, poses[:, 2] + values[:, 2])
        marks.append(Mark("arrows", (ends, ways), color, 1.2, by=by))
    return marks


def _reached(poses: np.ndarray, ends: np.ndarray, color: str, by: str) -> list[Mark]:
    """Return a line to each place that was measured, and a point there."""
    known = np.isfinite(ends).all(axis=1)
    lines = np.stack((poses[known, :2], ends[known]), axis=1)
    return [Mark("lines", tuple(lines), color, 0.8, by=by), Mark("points", (ends[known],), color, 5.0, by=by)]


def _sectors(
    draws: Draws, values: np.ndarray, poses: np.ndarray, radius: np.ndarray, color: str, by: str
) -> list[Mark]:
    count = values.shape[1]
    width = draws.width_rad / count
    robots, sectors = np.nonzero(np.isfinite(values))
    angle = width * np.linspace(0.0, 1.0, max(2, int(np.ceil(width / _ARC_RAD)) + 1))
    angles = (poses[robots, 2] + draws.begin_rad + width * sectors)[:, None] + angle
    far = draws.inner_m + values[robots, sectors]
    ends = poses[robots, None, :2] + _polar(far[:, None], angles)
    parts = np.concatenate((poses[robots, None, :2], ends), axis=1)
    marks = [Mark("polygons", tuple(parts), color, 0.8, 2.0 * _FAINT, by=by)]
    if draws.width_rad < 2.0 * np.pi and np.isfinite(draws.range_m):
        span = np.linspace(0.0, draws.width_rad, int(np.ceil(draws.width_rad / _ARC_RAD)) + 1)
        edge = _polar(np.array(draws.range_m), (poses[:, 2] + draws.begin_rad)[:, None] + span)
        fields = poses[:, None, :2] + np.concatenate((np.zeros((len(poses), 1, 2)), edge), axis=1)
        marks.append(Mark("polygons", tuple(fields), color, 0.5, by=by))
    return marks


def _polar(length: np.ndarray, angle: np.ndarray) -> np.ndarray:
    return np.stack((length * np.cos(angle), length * np.sin(angle)), axis=-1)


_WAYS: dict[str, Callable[..., list[Mark]]] = {
    "ring": _ring,
    "number": _number,
    "heading": _heading,
    "ray": _ray,
    "place": _place,
    "sectors": _sectors,
}


class SensorMarks:
    """The marks of all sensors of a recorded run that are drawn.

    Args:
        readings: all readings by sensor.
        robots: names of the robots in the order of the team.
        radius: of their bodies [m], (n,).

    Attributes:
        names: names of the sensors that are drawn.
    """

    def __init__(self, readings: "Mapping[str, RecordedReadings]", robots: tuple[str, ...], radius: np.ndarray):
        self._readings = {name: one for name, one in readings.items() if one.draws is not None and len(one.times)}
        self._rows = {name: [robots.index(robot) for robot in one.robots] for name, one in self._readings.items()}
        self._radius, self.names = radius, tuple(self._readings)

    def at(self, name: str, time_s: float, poses: np.ndarray) -> tuple[Mark, ...]:
        """Return the marks of the newest sample that was taken until a time; none before the first.

        Args:
            name: of the sensor.
            time_s: the time [s].
            poses: of all robots then, (n, 3).
        """
        one, rows = self._readings[name], self._rows[name]
        k = int(np.searchsorted(one.times, time_s + 1e-9, side="right")) - 1
        if k < 0 or one.draws is None:
            return ()
        color = COLORS[self.names.index(name) % len(COLORS)]
        values = one.arrays[one.draws.of][k]
        return tuple(marks_of_values(one.draws, values, poses[rows], self._radius[rows], color, layer(name)))
