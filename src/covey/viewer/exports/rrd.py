"""A recorded run as .rrd, for Rerun.

Entities: ``world/robots/NAME`` poses and bodies, ``world/paths/NAME`` whole paths, ``world/truth``, ``world/explored``
and ``world/maps/NAME`` grids, ``world/links``, ``team/NAME`` measurements, ``log`` events. The time line is ``time``,
simulated seconds.
"""

from pathlib import Path
from typing import Any

import numpy as np

from covey.geometry.grid import Grid
from covey.results.run import Run
from covey.viewer.exports import library
from covey.viewer.recorded import links_of, robots_of, steps_of

MAPS = 60
"""Largest number of grids of explored cells, evenly spread over the run."""


def write(run: Run, path: Path) -> None:
    """Write a run as .rrd.

    Raises:
        CoveyError: the library ``rerun`` is not installed.
    """
    rr = library("rerun", "rerun")
    stream = rr.RecordingStream("covey", recording_id=run.folder.name)
    stream.set_log_time_enabled(False)  # only simulated time counts
    stream.set_log_tick_enabled(False)
    stream.save(path)
    _robots(rr, stream, run)
    _links(rr, stream, run)
    _maps(rr, stream, run)
    for name in run.team.columns:
        if name not in ("step", "time_s"):
            values = run.series(name)
            known = np.isfinite(values)
            columns = rr.Scalars.columns(scalars=values[known])
            stream.send_columns(f"team/{name}", [rr.TimeColumn("time", duration=run.times[known])], columns)
    for time_s, kind, robot, other, text in run.events.select("time_s", "kind", "robot", "other", "text").iter_rows():
        stream.set_time("time", duration=time_s)
        stream.log("log", rr.TextLog(" ".join(part for part in (robot, kind.replace("_", " "), other, text) if part)))
    stream.flush()
    stream.disconnect()


def _robots(rr: Any, stream: Any, run: Run) -> None:
    for i, (name, robot) in enumerate(zip(run.names, robots_of(run), strict=True)):
        x, y, heading = run.poses[:, i].T
        places = np.stack((x, y, np.zeros_like(x)), axis=1)
        turns = np.stack((np.zeros_like(x), np.zeros_like(x), np.sin(heading / 2), np.cos(heading / 2)), axis=1)
        columns = rr.Transform3D.columns(translation=places, quaternion=turns)
        stream.send_columns(f"world/robots/{name}", [rr.TimeColumn("time", duration=run.pose_times)], columns)
        color = _COLORS[i % len(_COLORS)]
        discs = np.array(robot["discs"])
        centres = np.column_stack((discs[:, :2], np.zeros(len(discs))))
        stream.log(f"world/robots/{name}/body", rr.Points3D(centres, radii=discs[:, 2], colors=color), static=True)
        front = 2.0 * float((discs[:, 0] + discs[:, 2]).max())
        arrow = rr.Arrows3D(vectors=[[front, 0.0, 0.0]], colors=color, labels=[name])
        stream.log(f"world/robots/{name}/heading", arrow, static=True)
        stream.log(f"world/paths/{name}", rr.LineStrips3D([places], colors=color), static=True)


def _links(rr: Any, stream: Any, run: Run) -> None:
    """Write the links once per second, as lines between the robots."""
    changes, steps = links_of(run), steps_of(run)
    if not len(changes):
        return
    up: set[tuple[int, int]] = set()
    taken = 0
    every = max(1, round(1.0 / np.median(np.diff(run.pose_times)))) if len(steps) > 1 else 1
    for k in range(0, len(steps), every):
        while taken < len(changes) and changes[taken, 0] <= steps[k]:
            _, i, j, came = changes[taken].tolist()
            (up.add if came else up.discard)((i, j))
            taken += 1
        stream.set_time("time", duration=float(run.pose_times[k]))
        lines = [[[*run.poses[k, i, :2], 0.1] for i in pair] for pair in sorted(up)]
        stream.log("world/links", rr.LineStrips3D(lines, colors=(86, 180, 233)))


def _maps(rr: Any, stream: Any, run: Run) -> None:
    maps = run.maps
    if maps is None:
        return
    time_of = dict(zip(run.steps.tolist(), run.times.tolist(), strict=True))
    for step in sorted({0, *maps.changed[:, 0].tolist()}):
        stream.set_time("time", duration=time_of.get(step, 0.0))
        truth = maps.truth_at(step)
        stream.log("world/truth", _grid(rr, truth, np.take(_TRUTH, truth.cells, axis=0)))
    for row in np.unique(np.linspace(0, len(run.times) - 1, MAPS).round().astype(int)).tolist():
        stream.set_time("time", duration=float(run.times[row]))
        explored = (maps.first_explored >= 0) & (maps.first_explored <= run.steps[row])
        stream.log("world/explored", _grid(rr, maps.truth, np.take(_SEEN, explored.astype(int), axis=0), 0.02))
    for name, grid in zip(run.names, maps.robots, strict=False):
        if grid is not None:
            colors = np.take(_BELIEF, np.searchsorted((0, 1), grid.cells, side="right"), axis=0)
            stream.log(f"world/maps/{name}", _grid(rr, grid, colors, 0.04))


def _grid(rr: Any, grid: Grid, colors: np.ndarray, height_m: float = 0.0) -> Any:
    """Return a grid of colours, uint8 (rows, columns, 4)."""
    rows, columns = grid.shape
    x, y, yaw = grid.origin
    return rr.GridMap(
        data=np.ascontiguousarray(colors[::-1]).tobytes(),  # its first row is the northernmost
        format=rr.components.ImageFormat(width=columns, height=rows, color_model="RGBA", channel_datatype="U8"),
        cell_size=grid.resolution,
        translation=[x, y, height_m],
        rotation_axis_angle=rr.components.RotationAxisAngle([0, 0, 1], yaw),
    )


_COLORS = ((0, 114, 178), (230, 159, 0), (0, 158, 115), (204, 121, 167), (213, 94, 0), (86, 180, 233), (140, 122, 0))
_TRUTH = np.array([(198, 204, 211, 255), (43, 52, 64, 255), (138, 148, 159, 255), (0, 0, 0, 0)], np.uint8)
_SEEN = np.array([(0, 0, 0, 0), (255, 255, 255, 200)], np.uint8)
_BELIEF = np.array([(0, 0, 0, 0), (255, 255, 255, 255), (43, 52, 64, 255)], np.uint8)  # unknown, free, occupied
