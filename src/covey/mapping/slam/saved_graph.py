"""A map as a file that another drive can go on with: its key frames with their scans, and how they are related."""

import io
import json
from pathlib import Path
from typing import Any

import numpy as np

from covey.archives import DAMAGED
from covey.errors import InvalidValueError
from covey.mapping.slam.graph_slam import Edge, GraphSettings, GraphSlam
from covey.mapping.slam.log import MOST, Laser, Log, read_arrays
from covey.mapping.slam.trust import MOST_NOISE
from covey.records import as_record

FORMAT = 1
"""Version of the files that are written; others are refused."""
_OF_LOG = ("ranges", "odometry", "times", "stream", "rows", "stream_times", "fans", "mounts", "begins")
_MAY_LACK = ("stream_times", "fans", "mounts")
_TRUTHS = ("is_loop", "piece_joined")
_OF_GRAPH = ("poses", "ends", "motion", "information", "is_loop", "piece_begins", "piece_joined", "noise")


def graph_as_bytes(log: Log, slam: GraphSlam) -> bytes:
    """Return the file of a graph, ``graph.npz``.

    Args:
        log: the scans that were added to it.
        slam: the graph, settled.
    """
    kept = log[np.array(slam.key_rows)]
    stream, stamps = kept.stream[kept.rows], kept.stamps[kept.rows]  # what was between key frames is in their relations
    arrays: dict[str, Any] = {name: getattr(kept, name) for name in _OF_LOG}
    arrays |= {"stream": stream, "rows": np.arange(len(kept)), "stream_times": stamps, "begins": np.array(kept.begins)}
    arrays = {name: array for name, array in arrays.items() if array is not None}
    arrays |= {"angles": kept.laser.angles, "range_max": kept.laser.range_max, "mount": np.array(kept.laser.mount)}
    arrays |= {
        "poses": slam.poses,
        "ends": slam.ends,
        "motion": np.array([edge.motion for edge in slam.edges]).reshape(-1, 3),
        "information": np.array([edge.information for edge in slam.edges]).reshape(-1, 3, 3),
        "is_loop": np.array([edge.is_loop for edge in slam.edges], bool),
        "piece_begins": np.array(slam.pieces.begins),
        "piece_joined": np.array(slam.pieces.joined),
        "noise": slam.noise,
    }
    text = json.dumps({"name": log.name, "settings": slam.settings.model_dump(mode="json")}, sort_keys=True)
    buffer = io.BytesIO()
    np.savez_compressed(buffer, format=FORMAT, text=np.frombuffer(text.encode(), np.uint8), **arrays)
    return buffer.getvalue()


def load_graph(
    path: Path | str,
    changes: dict[str, Any] | None = None,
    laser: Laser | None = None,
    noise: tuple[int, np.ndarray] | None = None,
) -> tuple[Log, GraphSlam]:
    """Read a graph; return the log of its key frames, and the graph, to which the scans of another drive can be added.

    Args:
        path: the file ``graph.npz`` of a folder that ``covey slam`` has written, or that folder.
        changes: settings that replace those with which it was made.
        laser: the lidar of the next drive; None: that of the graph.
        noise: of the odometry of the next drive, see `GraphSlam`.

    Raises:
        InvalidValueError: there is no such file, it is damaged or no graph, or another version has written it.
    """
    path = graph_file(path)
    held = read_arrays(path, "graph")
    needed = {*_OF_LOG, *_OF_GRAPH, "angles", "range_max", "mount", "text", "format"} - set(_MAY_LACK)
    if missing := sorted(needed - set(held)):
        raise InvalidValueError(
            f"{path} is no graph of covey slam: it has no {', '.join(missing[:3])}; take the file graph.npz "
            "of a folder that covey slam has written"
        )
    if bad := [k for k, one in sorted(held.items()) if one.dtype.kind not in ("b" if k in _TRUTHS else "iuf")]:
        raise InvalidValueError(f"{path}: {bad[0]} is not an array of numbers; make the graph anew")
    if (version := held["format"].tolist()) != FORMAT:
        raise InvalidValueError(f"{path} has format {version}; this Covey reads format {FORMAT}: make the graph anew")
    try:
        text = json.loads(held["text"].tobytes())
        settings = as_record(GraphSettings, {**text["settings"], **(changes or {})}, "--set")
        log = _log(text["name"], held)
        slam = GraphSlam(laser or log.laser, settings, noise=noise)
        graph = _graph_of(path, held, len(log))
        slam.noise = float(graph["noise"])
        edges = zip(*(graph[name].tolist() for name in ("ends", "motion", "information", "is_loop")), strict=True)
        scans = [(_returns(log, row), log.scan(row)[0], log.mount(row)) for row in range(len(log))]
        slam.resume(
            scans,
            graph["poses"],
            [Edge(a, b, np.array(motion), np.array(weight), loop) for (a, b), motion, weight, loop in edges],
            graph["piece_begins"].tolist(),
            graph["piece_joined"].tolist(),
        )
    except InvalidValueError:
        raise
    except DAMAGED as error:
        raise InvalidValueError(f"{path} cannot be read as a graph: {error}") from error
    return log, slam


def _returns(log: Log, row: int) -> np.ndarray:
    """Return the ranges of a scan, inf where nothing returned: the lidar of the next drive may reach farther."""
    ranges = log.scan(row)[1]
    return np.where(log.laser.returns(ranges), ranges, np.inf)


def graph_file(path: Path | str) -> Path:
    """Return the file of a graph: the path, or ``graph.npz`` in that folder."""
    path = Path(path)
    return path / "graph.npz" if path.is_dir() else path


def _graph_of(path: Path, held: dict[str, np.ndarray], n: int) -> dict[str, np.ndarray]:
    """Return the arrays of a graph of n key frames; raise `InvalidValueError` if kernels could not work with them."""
    pieces, edges = held["piece_begins"].shape[:1], held["ends"].shape[:1]
    shapes = {"poses": (n, 3), "ends": (*edges, 2), "motion": (*edges, 3), "information": (*edges, 3, 3)}
    shapes |= {"is_loop": edges, "piece_begins": pieces, "piece_joined": pieces, "noise": ()}
    kinds = {"ends": "i", "piece_begins": "i"} | dict.fromkeys(_TRUTHS, "b")
    graph = {name: held[name] for name in shapes}
    for name, array in graph.items():
        if array.shape != shapes[name] or array.dtype.kind != kinds.get(name, "f"):
            given = f"{array.dtype} of shape {array.shape}"
            raise InvalidValueError(f"{path}: {name} is {given}, which fits no graph of {n} key frames")
    begins, ends = graph["piece_begins"], graph["ends"]
    sound = {
        "poses": (np.abs(graph["poses"]) < MOST).all(),
        "ends": ((ends >= 0) & (ends < n)).all() and (ends[:, 0] != ends[:, 1]).all(),
        "motion": (np.abs(graph["motion"]) < MOST).all(),
        "information": np.isfinite(graph["information"]).all(),
        "piece_begins": len(begins) > 0 and begins[0] == 0 and (np.diff([*begins, n]) > 0).all(),
        "noise": 0.0 < graph["noise"] <= MOST_NOISE,
    }
    if wrong := [name for name, is_sound in sound.items() if not is_sound]:
        raise InvalidValueError(f"{path}: {wrong[0]} holds what no graph of {n} key frames has; make the graph anew")
    return graph


def _log(name: str, held: dict[str, np.ndarray]) -> Log:
    x, y, heading = held["mount"].tolist()
    arrays = {key: held.get(key) for key in _OF_LOG} | {"rows": np.asarray(held["rows"], np.int64)}
    arrays |= {"begins": tuple(np.asarray(held["begins"], np.int64).tolist())}
    return Log(name, Laser(held["angles"], float(held["range_max"]), (x, y, heading)), **arrays)  # type: ignore[arg-type]
