"""A search in pictures: targets found and missed, false alarms, searched walls, meetings, and finds over time."""

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.lines import Line2D

from covey.geometry.faces import SIDES
from covey.geometry.grid import Grid
from covey.geometry.raycast import cast_many, skip_field
from covey.geometry.se2 import compose
from covey.results.figures import layout, style
from covey.results.maps import UNKNOWN, WALL

if TYPE_CHECKING:
    from covey.results.run import Run

SEARCHED_COLOR, LEFT_COLOR, FALSE_COLOR = "#00A878", "#E0218A", "#B00020"
_MARKERS = {"victim": "P", "small_fire": "^", "big_fire": "*"}
_OTHER_MARKER = "s"
_SIZES = {"*": 9.0, "^": 6.5, "P": 6.5, "s": 5.5}
_NUMBERED = 20  # with more targets, their identities are not written
_CONE_RAYS = 16


class Target(NamedTuple):
    """A target of a run.

    Attributes:
        kind, identity: of the target.
        place: x, y [m].
        found_s: when its report was accepted, or, in a mission without reports, when a camera first read it [s]; NaN:
            it was not found.
        finder: name of the robot that found it; empty: nobody.
    """

    kind: str
    identity: int
    place: tuple[float, float]
    found_s: float
    finder: str


class SearchMark(NamedTuple):
    """A false alarm or a meeting: time [s], name of the robot, place x, y [m]."""

    time_s: float
    robot: str
    place: tuple[float, float]


def targets_of(run: "Run") -> list[Target]:
    """Return the targets of a run, and who found them when; none if it has no targets."""
    declared = run.manifest.get("targets", ())
    if not declared:
        return []
    found: dict[int, tuple[float, str]] = {}
    if run.mission["kind"] == "rescue":
        rows = [] if run.reports is None else run.reports.rows(named=True)
        seen = [(row["identity"], row["time_s"], row["robot"]) for row in rows if row["answer"] == "accepted"]
    else:
        seen = [(int(row["other"]), row["time_s"], row["robot"]) for row in _sightings(run, are_true=True)]
    for identity, time_s, robot in seen:
        found.setdefault(int(identity), (float(time_s), str(robot)))
    nothing = math.nan, ""
    return [
        Target(t["kind"], t["identity"], tuple(t["position_m"][:2]), *found.get(t["identity"], nothing))
        for t in declared
    ]


def false_alarms(run: "Run") -> list[SearchMark]:
    """Return where cameras first read markers that are not there."""
    return [_mark(row) for row in _sightings(run, are_true=False)]


def false_reports(run: "Run") -> list[SearchMark]:
    """Return the reports of places where the target is not, at the reported places."""
    if run.reports is None:
        return []
    wrong = run.reports.filter(run.reports["answer"].is_in(["too far", "unknown identity"])).rows(named=True)
    return [_mark(row) for row in wrong]


def meetings(run: "Run") -> list[SearchMark]:
    """Return where the last robot of each meeting stood when it came."""
    return [_mark(row) for row in run.events_of("mission") if "meeting" in row["data"]]


def _sightings(run: "Run", *, are_true: bool) -> list[dict[str, Any]]:
    return [row for row in run.events_of("sighted") if row["data"].get("is_true") is are_true]


def _mark(row: dict[str, Any]) -> SearchMark:
    return SearchMark(row["time_s"], row["robot"], (row["x_m"], row["y_m"]))


def face_segments(grid: Grid, faces: np.ndarray) -> np.ndarray:
    """Return the ends of faces of walls in the world frame, float64 (f, 2, 2) [m].

    Args:
        grid: the cells.
        faces: int (f, 3 or more): row, column and side, see `covey.geometry.faces`.
    """
    step = SIDES[faces[:, 2]] / 2
    middle, along = faces[:, :2] + step, step[:, ::-1]
    return grid.to_world(np.stack((middle - along, middle + along), axis=1))


def draw_search(axes: Axes, run: "Run", avoid: Any = ()) -> None:
    """Draw the walls that were and were not searched, targets, false alarms and meetings.

    The numbers of targets hide no other target, and none of the points ``avoid``, shape (k, 2) [m].
    """
    for _, color, ends in _walls(run):
        axes.add_collection(LineCollection(list(ends), colors=color, linewidths=1.1, zorder=2, capstyle="butt"))
    for _, width, marks in _wrong(run):
        x, y = zip(*(mark.place for mark in marks), strict=True)
        axes.plot(x, y, "x", ms=4.0, mec=FALSE_COLOR, mew=width, zorder=5.5, ls="")
    for mark in meetings(run):
        axes.plot(*mark.place, "o", ms=12, mfc="none", mec=style.INK, mew=1.0, zorder=6)
    _draw_targets(axes, targets_of(run), avoid, None if run.maps is None else run.maps.truth)


def search_entries(run: "Run") -> list[Any]:
    """Return the legend entries of what `draw_search` draws."""
    entries = [Line2D([], [], color=color, lw=1.4, label=label) for label, color, _ in _walls(run)]
    for label, width, _ in _wrong(run):
        entries.append(Line2D([], [], ls="", marker="x", ms=4.0, mec=FALSE_COLOR, mew=width, label=label))
    if meetings(run):
        entries.append(Line2D([], [], ls="", marker="o", ms=7, mfc="none", mec=style.INK, mew=1.0, label="meeting"))
    return entries + _target_entries(targets_of(run))


def _walls(run: "Run") -> list[tuple[str, str, np.ndarray]]:
    """Return label, colour and faces (f, 2, 2) [m] of the walls that were not searched, and of those that were."""
    if run.maps is None or run.maps.faces is None:
        return []
    ends, searched = face_segments(run.maps.truth, run.maps.faces), run.maps.faces[:, 3] >= 0
    found = [("not searched", LEFT_COLOR, ends[~searched]), ("searched", SEARCHED_COLOR, ends[searched])]
    return [part for part in found if len(part[2])]


def _wrong(run: "Run") -> list[tuple[str, float, list[SearchMark]]]:
    """Return label, width of the lines and places of false alarms and false reports."""
    found = [("false alarm", 0.7, false_alarms(run)), ("false report", 1.6, false_reports(run))]
    return [part for part in found if part[2]]


def _draw_targets(axes: Axes, targets: list[Target], avoid: Any, cells: Grid | None) -> None:
    for target in targets:
        marker, is_found = _MARKERS.get(target.kind, _OTHER_MARKER), not math.isnan(target.found_s)
        fill, edge = (SEARCHED_COLOR, "white") if is_found else ("white", LEFT_COLOR)
        width = 0.6 if is_found else 1.1
        axes.plot(*target.place, marker, ms=_SIZES[marker], mfc=fill, mec=edge, mew=width, zorder=6.5, ls="")
    if 0 < len(targets) <= _NUMBERED:
        colors = [LEFT_COLOR if math.isnan(target.found_s) else style.INK for target in targets]
        places = np.array([target.place for target in targets])
        layout.name_points(axes, places, [str(target.identity) for target in targets], colors, avoid, cells)


def _target_entries(targets: list[Target]) -> list[Any]:
    entries = []
    for kind in dict.fromkeys(target.kind for target in targets):
        marker = _MARKERS.get(kind, _OTHER_MARKER)
        part = [target for target in targets if target.kind == kind]
        found = sum(not math.isnan(target.found_s) for target in part)
        label = f"{kind.replace('_', ' ')} {found}/{len(part)}"
        size, fill = _SIZES[marker] * 0.8, SEARCHED_COLOR if found else "white"
        edge = "white" if found else LEFT_COLOR
        entries.append(Line2D([], [], ls="", marker=marker, ms=size, mfc=fill, mec=edge, mew=0.6, label=label))
    return entries


def finds(run: "Run") -> style.Picture | None:
    """Return a time line of the finds of each robot, false reports and meetings; None without targets."""
    targets, n = targets_of(run), len(run.names)
    if not targets or n > style.LABELLED or not len(run.times):
        return None
    height = 0.2 * n + 0.12
    picture = style.Picture(style.COLUMN_IN, 0.36 + height + 0.28)
    width = style.COLUMN_IN - 0.72 - 0.12
    axes = layout.place_axes(picture, 0.72, 0.36, width, height)
    axes.set(xlim=(0.0, layout.with_room(float(run.times[-1]))), ylim=(n - 0.4, -0.8))
    axes.set_yticks(range(n), run.names)
    axes.set_xlabel("time [s]", fontsize=style.FONT, labelpad=1.5, color=style.INK)
    axes.spines[["top", "right"]].set_visible(False)
    for i in range(n):
        axes.axhline(i, color=style.robot_color(i, n), lw=1.2, zorder=1)
    found = sorted((target for target in targets if target.finder), key=lambda target: target.found_s)
    points = np.array([(target.found_s, run.names.index(target.finder)) for target in found]).reshape(-1, 2)
    points[:, 1] -= _lifted(points, 0.085 * axes.get_xlim()[1] / width)
    for target, (time_s, row) in zip(found, points, strict=True):
        marker = _MARKERS.get(target.kind, _OTHER_MARKER)
        look = {"ms": _SIZES[marker], "mfc": SEARCHED_COLOR, "mec": "white", "mew": 0.6}
        axes.plot(time_s, row, marker, **look, zorder=4)
    layout.name_points(axes, points, [str(target.identity) for target in found], [style.INK] * len(found))
    for mark in false_reports(run):
        axes.plot(mark.time_s, run.names.index(mark.robot), "x", ms=4.5, mec=FALSE_COLOR, mew=1.6, zorder=5)
    for mark in meetings(run):
        axes.axvline(mark.time_s, color=style.INK, lw=0.8, ls=(0, (4, 2)), zorder=2)
    entries: list[Any] = []
    for kind in dict.fromkeys(target.kind for target in targets if target.finder):
        marker = _MARKERS.get(kind, _OTHER_MARKER)
        size, label = _SIZES[marker] * 0.8, kind.replace("_", " ")
        entries.append(Line2D([], [], ls="", marker=marker, ms=size, mfc=SEARCHED_COLOR, mec="white", label=label))
    wrong = Line2D([], [], ls="", marker="x", ms=4.0, mec=FALSE_COLOR, mew=1.6, label="false report")
    meeting = Line2D([], [], color=style.INK, lw=0.8, ls=(0, (4, 2)), label="meeting")
    layout.legend(axes, entries + [wrong] * bool(false_reports(run)) + [meeting] * bool(meetings(run)))
    return picture


def _lifted(points: np.ndarray, width: float) -> np.ndarray:
    """Return how far symbols stand above their rows, so that each shows, shape (n,).

    Args:
        points: time and row of each symbol (n, 2), times ascending.
        width: of a symbol, in the unit of time.
    """
    lifted = np.zeros(len(points))
    latest: dict[float, int] = {}
    for k, (time, row) in enumerate(points):
        before = latest.get(row)
        if before is not None and time - points[before, 0] < width and not lifted[before]:
            lifted[k] = 0.35
        latest[row] = k
    return lifted


class Cones:
    """What the cameras of a run see, for films.

    Args:
        run: its manifest names the cameras.
    """

    def __init__(self, run: "Run"):
        self._cameras = run.manifest.get("cameras", ()) if run.maps is not None else ()

    def __bool__(self) -> bool:
        return bool(self._cameras)

    def at(self, poses: np.ndarray, truth: Grid) -> list[tuple[int, np.ndarray]]:
        """Return the outline of each camera's view among the walls: the robot, and points (k, 2) [m].

        Args:
            poses: true poses (n, 3).
            truth: the world then.
        """
        solid = (truth.cells == WALL) | (truth.cells == UNKNOWN)
        skip = skip_field(solid)
        outlines = []
        for camera in self._cameras:
            half = math.radians(camera["fov_deg"]) / 2
            angles = np.linspace(-half, half, _CONE_RAYS)
            for robot in camera["robots"]:
                x, y, heading = compose(poses[robot], np.array(camera["mount"]))
                directions, many = heading + angles, np.ones(_CONE_RAYS)
                away = cast_many(skip, truth.frame, x * many, y * many, directions, camera["range_m"])
                ends = np.column_stack((x + away * np.cos(directions), y + away * np.sin(directions)))
                outlines.append((robot, np.vstack(((x, y), ends, (x, y)))))
        return outlines
