"""A map as a file that another drive can go on with: its key frames with their scans, and how they are related."""

import io
import json
from pathlib import Path
from typing import Any

import numpy as np

from covey.archives import DAMAGED, TooLarge, unpacked
from covey.errors import InvalidValueError, near_file
from covey.mapping.slam.graph_slam import Edge, GraphSettings, GraphSlam
from covey.mapping.slam.log import Laser, Log
from covey.records import as_record

FORMAT = 1
"""Version of the files that are written; others are refused."""
_OF_LOG = ("ranges", "odometry", "times", "stream", "rows", "stream_times", "fans", "mounts", "begins")
_MAY_LACK = ("stream_times", "fans", "mounts")
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


def load_graph(path: Path | str, changes: dict[str, Any] | None = None) -> tuple[Log, GraphSlam]:
    """Read a graph; return the log of its key frames, and the graph, to which the scans of another drive can be added.

    Args:
        path: the file ``graph.npz`` of a folder that ``covey slam`` has written, or that folder.
        changes: settings that replace those with which it was made.

    Raises:
        InvalidValueError: there is no such file, it is damaged or no graph, or another version has written it.
    """
    path = Path(path)
    path = path / "graph.npz" if path.is_dir() else path
    try:
        held = unpacked(path)
    except FileNotFoundError as error:
        raise InvalidValueError(f"there is no file {str(path)!r}{near_file(path)}") from error
    except TooLarge as error:
        raise InvalidValueError(f"{path} {error}") from error
    except DAMAGED as error:
        raise InvalidValueError(f"{path} cannot be read as a graph: {error}") from error
    needed = {*_OF_LOG, *_OF_GRAPH, "angles", "range_max", "mount", "text", "format"} - set(_MAY_LACK)
    if missing := sorted(needed - set(held)):
        raise InvalidValueError(
            f"{path} is no graph of covey slam: it has no {', '.join(missing[:3])}; take the file graph.npz "
            "of a folder that covey slam has written"
        )
    if (version := held["format"].tolist()) != FORMAT:
        raise InvalidValueError(f"{path} has format {version}; this Covey reads format {FORMAT}: make the graph anew")
    try:
        text = json.loads(held["text"].tobytes())
        settings = as_record(GraphSettings, {**text["settings"], **(changes or {})}, "--set")
        log = _log(text["name"], held)
        slam = GraphSlam(log.laser, settings)
        slam.noise = float(held["noise"])
        edges = zip(held["ends"].tolist(), held["motion"], held["information"], held["is_loop"].tolist(), strict=True)
        scans = [(log.scan(row)[1], log.scan(row)[0], log.mount(row)) for row in range(len(log))]
        slam.resume(
            scans,
            held["poses"],
            [Edge(first, second, motion, information, loop) for (first, second), motion, information, loop in edges],
            held["piece_begins"].tolist(),
            held["piece_joined"].tolist(),
        )
    except InvalidValueError:
        raise
    except DAMAGED as error:
        raise InvalidValueError(f"{path} cannot be read as a graph: {error}") from error
    return log, slam


def _log(name: str, held: dict[str, np.ndarray]) -> Log:
    x, y, heading = held["mount"].tolist()
    arrays = {key: held.get(key) for key in _OF_LOG} | {"begins": tuple(held["begins"].tolist())}
    return Log(name, Laser(held["angles"], float(held["range_max"]), (x, y, heading)), **arrays)  # type: ignore[arg-type]
