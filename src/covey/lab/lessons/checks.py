"""The checks of the lessons: what is still wrong, without the answer."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from covey.errors import InvalidValueError
from covey.geometry.voronoi import voronoi


def check(lesson: int, found: Any) -> bool:
    """Print what is still wrong with the work on a lesson, and return whether nothing is.

    Args:
        lesson: its number, 1 to 10.
        found: what the lesson's simulation returned.

    Raises:
        InvalidValueError: there is no such lesson.
    """
    wrong = wrong_with(lesson, found)
    for line in wrong:
        print(f"not yet: {line}")
    if not wrong:
        print(f"lesson {lesson}: done")
    return not wrong


def wrong_with(lesson: int, found: Any) -> list[str]:
    """Return what is still wrong with the work on a lesson; see `check`."""
    if lesson not in _CHECKS:
        raise InvalidValueError(f"there is no lesson {lesson!r}; there are 1 to {len(_CHECKS)}")
    return list(_CHECKS[lesson](found))


def _first_robot(out: Any) -> Iterator[str]:
    way = np.hypot(*np.diff(out.poses[:, 0, :2], axis=0).T)
    gap = np.hypot(*(out.poses[-1, 0, :2] - (8, 5)))
    if way.sum() < 0.5:
        yield "the robot hardly moves; what speed does the law answer?"
    elif gap > 0.3:
        yield f"at the end the robot is {gap:.1f} m from the goal; does it turn towards it?"
    elif way[-20:].sum() > 0.1:
        yield "the robot does not stop at the goal; what should the speed depend on?"


def _sensors(out: Any) -> Iterator[str]:
    way = np.hypot(*np.diff(out.poses[:, 0, :2], axis=0).T).sum()
    touched = out.events.filter(out.events["kind"] == "collision")
    if len(touched):
        yield f"it touches something at {touched['time_s'][0]:.1f} s; what does the lidar show just before?"
    if way < 6:
        yield f"it drives only {way:.1f} m; it should be 6 m or more"


def _unicycle(out: Any) -> Iterator[str]:
    offset = out.poses[-200:, :, :2] - (5, 5)
    error = np.abs(np.hypot(offset[..., 0], offset[..., 1]) - 2).max(axis=0)
    for i in np.flatnonzero(error > 0.1):
        yield f"in the last 20 s robot {i} is up to {error[i]:.1f} m off the circle of 2 m"
    angle = np.unwrap(np.arctan2(offset[..., 1], offset[..., 0]), axis=0)
    if not np.any(error > 0.1) and np.any(angle[-1] < angle[0]):
        yield "a robot goes around clockwise; to which side must the centre be?"


def _pursuit(out: Any) -> Iterator[str]:
    gap = np.hypot(*(out.poses[:, 0, :2] - out.poses[:, 1, :2]).T)
    if gap.min() >= 0.5:
        k = int(gap.argmin())
        nearest = f"nearest at {out.time[k]:.0f} s, {gap[k]:.1f} m away"
        yield f"the evader gets away; the pursuer was {nearest}. Does it look at it?"


def _cyclic(out: Any) -> Iterator[str]:
    position = out.poses[-300:, :, :2]
    radii = np.hypot(*np.moveaxis(position - position.mean(axis=1, keepdims=True), 2, 0))
    if np.ptp(radii[-1]) > 0.1:
        yield f"the robots are not on one circle: {radii[-1].min():.2f} to {radii[-1].max():.2f} m from their middle"
    elif abs(radii.mean() - 2) > 0.05:
        yield f"the circle has a radius of {radii.mean():.2f} m, not 2 m; with which k is v / (k π/6) equal to 2?"


def _coverage(out: Any) -> Iterator[str]:
    cells = voronoi(out.poses[-1, :, :2], out.workspace)
    gap = np.hypot(*(out.poses[-1, :, :2] - cells.centroid).T)
    if (gap > 0.1).any():
        away = f"the farthest is {gap.max():.1f} m away"
        yield f"{(gap > 0.1).sum()} robots are not at the centroid of their cell; {away}"
        if np.allclose(out.poses[0, :, :2], out.poses[-1, :, :2], atol=0.05):
            yield "the robots stay where they are; which goals do they get?"


def _consensus(out: Any) -> Iterator[str]:
    angles = np.arange(5) * 2 * np.pi / 5
    places = 1.5 * np.stack((np.cos(angles), np.sin(angles)), axis=1)
    position = out.poses[-1, :, :2] - out.poses[-1, :, :2].mean(axis=0)
    error = np.hypot(*(position - places).T)
    if np.hypot(*position.T).max() < 0.8:
        yield "the robots meet at one point; that is consensus of the positions. What do they have to agree on instead?"
    elif error.max() > 0.15:
        yield f"the worst place in the pentagon is {error.max():.1f} m off"


def _potential(out: Any) -> Iterator[str]:
    gap = np.hypot(*(out.poses[-1, 0, :2] - (9, 5)))
    touched = out.events.filter(out.events["kind"] == "collision")
    if len(touched):
        yield f"it touches a wall at {touched['time_s'][0]:.1f} s; does the force push it away, and hard enough?"
    if gap > 0.3:
        x, y = out.poses[-1, 0, :2]
        yield f"it ends at ({x:.1f}, {y:.1f}), {gap:.1f} m from the goal; where is the way out of the pocket?"


def _exploration(run: Any) -> Iterator[str]:
    share = run.metrics["explored_share"]
    if share < 0.95:
        yield f"it explored {share:.0%}; does it go on while there are frontiers?"


def _tournament(outs: Any) -> Iterator[str]:
    names = ("runs_straight", "runs_away", "runs_in_circles")
    gaps = [np.hypot(*(out.poses[:, 0, :2] - out.poses[:, 1, :2]).T).min() for out in outs]
    missed = [f"{name} ({gap:.1f} m)" for name, gap in zip(names, gaps, strict=True) if gap >= 0.3]
    if len(missed) > 1:
        yield f"{3 - len(missed)} of 3 are caught; the nearest that it came to the others: {', '.join(missed)}"


_CHECKS: dict[int, Callable[[Any], Iterator[str]]] = {
    1: _first_robot,
    2: _sensors,
    3: _unicycle,
    4: _pursuit,
    5: _cyclic,
    6: _coverage,
    7: _consensus,
    8: _potential,
    9: _exploration,
    10: _tournament,
}
