"""A recorded run as MCAP, in the schemas of Foxglove, which it shows in its 3D panel without any setting.

Topics: ``/tf`` poses of the robots in the frame ``world``, and ``NAME/estimate``, where each robot takes itself to be;
``/robots`` their bodies; ``/links``; ``/world`` the truth, again after each change; ``/explored`` the explored cells;
``/maps/NAME`` the robots' maps at the end, or, if they were recorded, as they grew, with ``/maps``, the merged map;
``/plans`` the paths to their goals, and ``/scans/NAME`` what their lidars hit, if they were recorded; ``/log`` events;
``/team`` measurements of the team. Times are simulated.
"""

import base64
import heapq
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from covey import __version__
from covey.geometry.grid import Grid
from covey.results.details import Scans
from covey.results.run import Run
from covey.results.snapshot import WARNINGS
from covey.viewer.exports import library
from covey.viewer.recorded import has_estimates, links_of, robots_of, steps_of

MAPS = 60
"""Largest number of grids of explored cells, evenly spread over the run."""
_COLORS = ((0, 114, 178), (230, 159, 0), (0, 158, 115), (204, 121, 167), (213, 94, 0), (86, 180, 233), (140, 122, 0))
_Message = tuple[float, str, str, dict[str, Any]]


def write(run: Run, path: Path) -> None:
    """Write a run as MCAP.

    Raises:
        CoveyError: the library ``mcap`` is not installed.
    """
    writers = library("mcap.writer", "mcap")
    with path.open("wb") as stream:
        writer = writers.Writer(stream)
        writer.start(profile="", library=f"covey {__version__}")
        schemas = {
            name: writer.register_schema(name, "jsonschema", json.dumps(schema).encode())
            for name, schema in SCHEMAS.items()
        }
        channels: dict[str, int] = {}
        sources = (_bodies, _poses, _links, _truths, _explored, _log, _team, _robot_maps, _plans, _scans)
        messages = heapq.merge(*(source(run) for source in sources), key=lambda one: one[0])
        for time_s, topic, schema, message in messages:
            if topic not in channels:
                channels[topic] = writer.register_channel(topic, "json", schemas[schema])
            at = round(1e9 * time_s)
            text = json.dumps(message, separators=(",", ":")).encode()
            writer.add_message(channels[topic], at, text, at)
        writer.finish()


# Each source yields time [s], topic, schema and content of messages, in the order of their times.


def _log(run: Run) -> Iterator[_Message]:
    for time_s, kind, robot, other, text in run.events.select("time_s", "kind", "robot", "other", "text").iter_rows():
        content = _stamped(
            time_s,
            level=3 if kind in WARNINGS else 2,
            message=" ".join(part for part in (kind.replace("_", " "), other, text) if part),
            name=robot or "covey",
            file="",
            line=0,
        )
        yield time_s, "/log", "foxglove.Log", content


def _team(run: Run) -> Iterator[_Message]:
    names = [name for name in run.team.columns if name not in ("step", "time_s")]
    for time_s, *values in run.team.select("time_s", *names).iter_rows():
        known = {name: value for name, value in zip(names, values, strict=True) if value is not None}
        yield time_s, "/team", "covey.Team", _stamped(time_s, **known)


def _bodies(run: Run) -> Iterator[_Message]:
    n = len(run.names)
    for i, robot in enumerate(robots_of(run)):
        color = _color(i, n)
        front = max(x + radius for x, _, radius in robot["discs"])
        cylinders = [
            {
                "pose": _pose(x, y, 0.15),
                "size": _vector(2 * radius, 2 * radius, 0.3),
                "bottom_scale": 1.0,
                "top_scale": 1.0,
                "color": color,
            }
            for x, y, radius in robot["discs"]
        ]
        arrow = {
            "pose": _pose(0.0, 0.0, 0.35),
            "shaft_length": 0.6 * front,
            "shaft_diameter": 0.2 * front,
            "head_length": 0.6 * front,
            "head_diameter": 0.5 * front,
            "color": color,
        }
        label = {
            "pose": _pose(0.0, 0.0, 0.8),
            "billboard": True,
            "font_size": 12.0,
            "scale_invariant": True,
            "color": _rgba(0.1, 0.1, 0.1),
            "text": robot["name"],
        }
        entity = _entity(0.0, robot["name"], robot["name"], cylinders=cylinders, arrows=[arrow], texts=[label])
        yield 0.0, "/robots", "foxglove.SceneUpdate", {"deletions": [], "entities": [entity]}


def _poses(run: Run) -> Iterator[_Message]:
    differs = has_estimates(run) and not np.allclose(run.poses, run.estimates, atol=1e-4)
    believed = run.estimates if differs else run.poses
    for time_s, poses, estimates in zip(run.pose_times.tolist(), run.poses.tolist(), believed.tolist(), strict=True):
        frames = [_transform(time_s, name, *pose) for name, pose in zip(run.names, poses, strict=True)]
        if differs:
            frames += [_transform(time_s, f"{n}/estimate", *pose) for n, pose in zip(run.names, estimates, strict=True)]
        yield time_s, "/tf", "foxglove.FrameTransforms", {"transforms": frames}


def _links(run: Run) -> Iterator[_Message]:
    """Yield the links once per second, as lines between the robots."""
    changes = links_of(run)
    if not len(changes):
        return
    up: set[tuple[int, int]] = set()
    taken, steps = 0, steps_of(run)
    every = max(1, round(1.0 / np.median(np.diff(run.pose_times)))) if len(steps) > 1 else 1
    for k in range(0, len(steps), every):
        while taken < len(changes) and changes[taken, 0] <= steps[k]:
            _, i, j, came = changes[taken].tolist()
            (up.add if came else up.discard)((i, j))
            taken += 1
        ends = [run.poses[k, i].tolist() for pair in sorted(up) for i in pair]
        points = [_vector(x, y, 0.2) for x, y, _ in ends]
        lines = {
            "type": 2,  # LINE_LIST: each two points are a line
            "pose": _pose(0.0, 0.0, 0.0),
            "thickness": 2.0,
            "scale_invariant": True,
            "points": points,
            "color": _rgba(0.35, 0.7, 0.9, 0.8),
            "colors": [],
            "indices": [],
        }
        time_s = float(run.pose_times[k])
        entity = _entity(time_s, "world", "links", lines=[lines])
        yield time_s, "/links", "foxglove.SceneUpdate", {"deletions": [], "entities": [entity]}


def _truths(run: Run) -> Iterator[_Message]:
    if (maps := run.maps) is not None:
        time_of = dict(zip(run.steps.tolist(), run.times.tolist(), strict=True))
        for step in sorted({0, *maps.changed[:, 0].tolist()}):
            yield _grid(time_of.get(step, 0.0), "/world", maps.truth_at(step))


def _explored(run: Run) -> Iterator[_Message]:
    if (maps := run.maps) is not None and maps.explorable.any():
        for row in np.unique(np.linspace(0, len(run.times) - 1, MAPS).round().astype(int)).tolist():
            explored = (maps.first_explored >= 0) & (maps.first_explored <= run.steps[row])
            yield _grid(float(run.times[row]), "/explored", maps.truth.with_cells(explored.astype(np.uint8)))


def _robot_maps(run: Run) -> Iterator[_Message]:
    """Yield the maps at each recorded step, or else at the end."""
    if (changes := run.map_changes) is not None:
        for step in changes.steps.tolist():
            for name in changes.of:
                yield _grid(_time_s(run, step), "/maps" if name is None else f"/maps/{name}", changes.at(step, name))
        return
    for name, grid in zip(run.names, [] if run.maps is None else run.maps.robots, strict=False):
        if grid is not None:
            yield _grid(float(run.times[-1]), f"/maps/{name}", grid)


def _plans(run: Run) -> Iterator[_Message]:
    """Yield the points ahead of each robot as a line, with a ball at the goal, whenever they change."""
    if (plans := run.plans) is None:
        return
    n = len(run.names)
    for step, robot, begin, end in zip(plans.steps, plans.robots, plans.begins, plans.begins[1:], strict=False):
        points = [_vector(x, y, 0.1) for x, y in plans.points[begin:end].tolist()]
        facts = {"pose": _pose(0.0, 0.0, 0.0), "thickness": 3.0, "scale_invariant": True}
        line = {"type": 0, **facts, "points": points, "color": _color(robot, n), "colors": [], "indices": []}
        goals = [{"pose": _pose(p["x"], p["y"], 0.1), "size": _vector(0.4, 0.4, 0.4)} for p in points[-1:]]
        spheres = [goal | {"color": _color(robot, n)} for goal in goals]
        time_s, name = _time_s(run, step), run.names[robot]
        entity = _entity(time_s, "world", name, lines=[line] if points else [], spheres=spheres)
        yield time_s, "/plans", "foxglove.SceneUpdate", {"deletions": [], "entities": [entity]}


def _scans(run: Run) -> Iterator[_Message]:
    """Yield the points that each lidar hit."""
    lidars = [(name, scans) for name, sensors in (run.scans or {}).items() for scans in sensors.values()]
    yield from heapq.merge(*(_clouds(*lidar) for lidar in lidars), key=lambda one: one[0])


def _clouds(name: str, scans: Scans) -> Iterator[_Message]:
    for step, time_s in zip(scans.steps.tolist(), scans.times.tolist(), strict=True):
        points = scans.points(step).astype("<f4")
        content = _stamped(
            time_s,
            frame_id="world",
            pose=_pose(0.0, 0.0, 0.1),
            point_stride=8,
            fields=[{"name": axis, "offset": 4 * k, "type": 7} for k, axis in enumerate("xy")],  # FLOAT32
            data=base64.b64encode(points.tobytes()).decode(),
        )
        yield time_s, f"/scans/{name}", "foxglove.PointCloud", content


def _time_s(run: Run, step: int) -> float:
    """Return the time at the end of a recorded step [s]."""
    return float(run.times[min(np.searchsorted(run.steps, step), len(run.times) - 1)]) if step else 0.0


def _grid(time_s: float, topic: str, grid: Grid) -> _Message:
    columns = grid.shape[1]
    x, y, yaw = grid.origin
    content = _stamped(
        time_s,
        frame_id="world",
        pose=_pose(x, y, 0.0, yaw),
        column_count=columns,
        cell_size={"x": grid.resolution, "y": grid.resolution},
        row_stride=columns,
        cell_stride=1,
        fields=[{"name": "value", "offset": 0, "type": 2 if grid.cells.dtype == np.int8 else 1}],  # INT8, UINT8
        data=base64.b64encode(np.ascontiguousarray(grid.cells).tobytes()).decode(),
    )
    return time_s, topic, "foxglove.Grid", content


def _stamped(time_s: float, **content: Any) -> dict[str, Any]:
    nanoseconds = round(1e9 * time_s)
    return {"timestamp": {"sec": nanoseconds // 10**9, "nsec": nanoseconds % 10**9}, **content}


def _transform(time_s: float, name: str, x: float, y: float, heading: float) -> dict[str, Any]:
    pose = _pose(x, y, 0.0, heading)
    frames = {"parent_frame_id": "world", "child_frame_id": name}
    return _stamped(time_s, **frames, translation=pose["position"], rotation=pose["orientation"])


def _entity(time_s: float, frame: str, name: str, **parts: list[dict[str, Any]]) -> dict[str, Any]:
    facts = {"frame_id": frame, "id": name, "lifetime": {"sec": 0, "nsec": 0}, "frame_locked": True, "metadata": []}
    return _stamped(time_s, **facts, **{kind: parts.get(kind, []) for kind in _PRIMITIVES})


def _pose(x: float, y: float, z: float, heading: float = 0.0) -> dict[str, Any]:
    turn = {"x": 0.0, "y": 0.0, "z": round(math.sin(heading / 2), 6), "w": round(math.cos(heading / 2), 6)}
    return {"position": _vector(x, y, z), "orientation": turn}


def _vector(x: float, y: float, z: float) -> dict[str, float]:
    return {"x": round(x, 4), "y": round(y, 4), "z": round(z, 4)}


def _color(i: int, n: int) -> dict[str, float]:
    r, g, b = _COLORS[i % len(_COLORS)]
    return _rgba(r / 255, g / 255, b / 255)


def _rgba(r: float, g: float, b: float, a: float = 1.0) -> dict[str, float]:
    return {"r": round(r, 3), "g": round(g, 3), "b": round(b, 3), "a": a}


# Schemas as JSON: Foxglove knows them by their names. https://docs.foxglove.dev/docs/sdk/schemas


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def _list(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


_NUMBER, _INTEGER, _TEXT, _TRUTH = ({"type": kind} for kind in ("number", "integer", "string", "boolean"))
_TIME = {**_object(sec=_INTEGER, nsec=_INTEGER), "title": "time"}
_DURATION = {**_TIME, "title": "duration"}
_XY, _XYZ = _object(x=_NUMBER, y=_NUMBER), _object(x=_NUMBER, y=_NUMBER, z=_NUMBER)
_TURN = _object(x=_NUMBER, y=_NUMBER, z=_NUMBER, w=_NUMBER)
_POSE = _object(position=_XYZ, orientation=_TURN)
_RGBA = _object(r=_NUMBER, g=_NUMBER, b=_NUMBER, a=_NUMBER)
_PRIMITIVES = {
    "arrows": _object(
        pose=_POSE,
        shaft_length=_NUMBER,
        shaft_diameter=_NUMBER,
        head_length=_NUMBER,
        head_diameter=_NUMBER,
        color=_RGBA,
    ),
    "cubes": _object(pose=_POSE, size=_XYZ, color=_RGBA),
    "spheres": _object(pose=_POSE, size=_XYZ, color=_RGBA),
    "cylinders": _object(pose=_POSE, size=_XYZ, bottom_scale=_NUMBER, top_scale=_NUMBER, color=_RGBA),
    "lines": _object(
        type=_INTEGER,
        pose=_POSE,
        thickness=_NUMBER,
        scale_invariant=_TRUTH,
        points=_list(_XYZ),
        color=_RGBA,
        colors=_list(_RGBA),
        indices=_list(_INTEGER),
    ),
    "triangles": _object(pose=_POSE, points=_list(_XYZ), color=_RGBA, colors=_list(_RGBA), indices=_list(_INTEGER)),
    "texts": _object(pose=_POSE, billboard=_TRUTH, font_size=_NUMBER, scale_invariant=_TRUTH, color=_RGBA, text=_TEXT),
    "models": _object(pose=_POSE, scale=_XYZ, color=_RGBA, override_color=_TRUTH, url=_TEXT, media_type=_TEXT),
}


def _packed(**layout: Any) -> dict[str, Any]:
    """Return the schema of something whose values are packed in bytes."""
    return _object(
        timestamp=_TIME,
        frame_id=_TEXT,
        pose=_POSE,
        **layout,
        fields=_list(_object(name=_TEXT, offset=_INTEGER, type=_INTEGER)),
        data={"type": "string", "contentEncoding": "base64"},
    )


SCHEMAS: dict[str, dict[str, Any]] = {
    "foxglove.FrameTransforms": _object(
        transforms=_list(
            _object(timestamp=_TIME, parent_frame_id=_TEXT, child_frame_id=_TEXT, translation=_XYZ, rotation=_TURN)
        )
    ),
    "foxglove.SceneUpdate": _object(
        deletions=_list(_object(timestamp=_TIME, type=_INTEGER, id=_TEXT)),
        entities=_list(
            _object(
                timestamp=_TIME,
                frame_id=_TEXT,
                id=_TEXT,
                lifetime=_DURATION,
                frame_locked=_TRUTH,
                metadata=_list(_object(key=_TEXT, value=_TEXT)),
                **{kind: _list(schema) for kind, schema in _PRIMITIVES.items()},
            )
        ),
    ),
    "foxglove.Grid": _packed(column_count=_INTEGER, cell_size=_XY, row_stride=_INTEGER, cell_stride=_INTEGER),
    "foxglove.PointCloud": _packed(point_stride=_INTEGER),
    "foxglove.Log": _object(timestamp=_TIME, level=_INTEGER, message=_TEXT, name=_TEXT, file=_TEXT, line=_INTEGER),
    "covey.Team": _object(timestamp=_TIME),
}
for _name, _schema in SCHEMAS.items():
    _schema["title"] = _name
