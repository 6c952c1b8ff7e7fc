"""The folder that SLAM over a log writes: map, trajectory, graph, scores and a page; and the one of a pose graph."""

import io
import math
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from jinja2 import Environment, PackageLoader, StrictUndefined

from covey.errors import RunFolderError
from covey.experiments.analysis.report_tables import Sheet, text
from covey.experiments.logs.scores import Scored, from_start, headlines, loops_as_csv
from covey.experiments.logs.stretches import LENGTH_M, doubted
from covey.experiments.report.figures import Figure
from covey.experiments.report.report import FigureWriter
from covey.geometry.grid import Grid
from covey.lazy import Image
from covey.mapping.slam.following import Followed
from covey.mapping.slam.g2o import write_g2o
from covey.mapping.slam.graph_slam import GraphSettings
from covey.mapping.slam.log import Log
from covey.mapping.slam.particle_settings import ParticleSettings
from covey.mapping.slam.pose_graph import PoseGraph
from covey.mapping.slam.saved_graph import graph_as_bytes
from covey.results.figures import slam as figures
from covey.results.folder import unwritable, write_json, write_whole
from covey.results.manifest import versions

SCORES = "scores.json"
_FREE, _OCCUPIED, _UNKNOWN = 254, 0, 205  # grey values of ROS maps


def check_place(folder: Path, *, overwrite: bool) -> None:
    """Check that SLAM may write into a folder.

    Raises:
        RunFolderError: it is a file, holds other files, or holds a result and ``overwrite`` is not set.
    """
    if not folder.exists():
        return
    if not folder.is_dir():
        raise RunFolderError(f"{str(folder)!r} is a file; choose a folder")
    if not any(folder.iterdir()):
        return
    if not (folder / SCORES).is_file():
        raise RunFolderError(f"{str(folder)!r} holds other files; choose another folder")
    if not overwrite:
        raise RunFolderError(f"{str(folder)!r} already holds a result; choose another folder, or add --force")


def write_log_folder(
    folder: Path,
    log: Log,
    found: Followed,
    grid: Grid,
    scored: Scored,
    settings: GraphSettings | ParticleSettings,
    progress: Callable[[str, float], None],
) -> None:
    """Write what SLAM found along a log.

    Raises:
        RunFolderError: the folder cannot be written.
    """
    slam, odometry = found.slam, from_start(log)
    loops = None if slam is None else slam.loops
    accepted, refused = ((), ()) if loops is None else (loops.accepted, loops.refused)
    doubtful = [(one["first_scan"], one["last_scan"]) for one in doubted(scored.plain["stretches"])]
    drawn = [
        Figure(
            "map",
            "The map, from the key frames" + (", and the way where it is doubtful." if doubtful else "."),
            partial(figures.map_of_scans, grid, [found.poses[a : b + 1] for a, b in doubtful]),
        ),
        Figure(
            "trajectory",
            "The estimated way over that of the odometry, and the walls of the map.",
            partial(figures.trajectory_over_odometry, found.poses, odometry, grid),
        ),
    ]
    if slam:
        caption = "Key frames that show one place: loops accepted, and pairs that were compared and refused."
        draw = partial(figures.loops, slam.poses, np.array(accepted), np.array(refused))
        drawn.append(Figure("loops", caption, draw))
    if scored.along:
        drawn.append(Figure("errors", "Errors along the log, by scan.", partial(figures.errors_along, scored.along)))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _write_map(folder, grid)
        write_whole(folder / "trajectory.tum", tum(log.times, found.poses).encode())
        write_whole(folder / "trajectory.csv", csv_of(log, found, odometry).encode())
        if slam is not None and slam.edges:
            write_g2o(folder / "graph.g2o", slam.graph())
            write_whole(folder / "loops.csv", loops_as_csv(slam).encode())
            write_whole(folder / "graph.npz", graph_as_bytes(log, slam))
        write_json(folder / SCORES, scored.plain)
        gallery, shown = FigureWriter(folder / "figures"), []
        for k, one in enumerate(drawn):
            progress(f"drawing {one.name}", k / len(drawn))
            shown += gallery.add([one])
        table = [(name, text(value), meaning) for name, (value, meaning) in headlines(scored.plain).items()]
        sheets = [
            Sheet("Outcome", ("score", "value", ""), tuple(table), (False, True, False)),
            _stretches(scored.plain["stretches"]),
            _files(
                ("map.yaml, map.png", "the map, as ROS reads it"),
                ("trajectory.tum", "poses: stamp, x, y, z, quaternion; the rows of the log where stamps are lost"),
                ("trajectory.csv", "poses and odometry by scan, and which scans are key frames"),
                *([] if slam is None else [("graph.g2o", "key frames and their relations, with the poses of the end")]),
                *([] if slam is None else [("graph.npz", "the same with their scans, for covey slam LOG --continue")]),
                *([] if slam is None else [("loops.csv", "loops with their residuals, and those taken back")]),
                (SCORES, "all scores"),
            ),
            _settings(settings),
            _environment(),
        ]
        beams = f"{len(log.laser.angles)} beams up to {log.laser.range_max:g} m"
        said = f"{len(log)} scans of {beams}, along {scored.plain['path_m']:.0f} m."
        _write_page(folder, f"SLAM: {log.name}", [said], scored.remarks, sheets, shown)
    except OSError as error:
        raise unwritable(f"into {str(folder)!r}", error) from error


def write_graph_folder(
    folder: Path, name: str, before: PoseGraph, after: PoseGraph, outcome: dict[str, tuple[Any, str]]
) -> None:
    """Write a pose graph that was optimised.

    Args:
        folder: the folder.
        name: what the page calls the graph.
        before, after: the graph with the poses of the file, and with those that were found.
        outcome: the scores with their meanings.

    Raises:
        RunFolderError: the folder cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_g2o(folder / "graph.g2o", after)
        write_json(folder / SCORES, {"graph": name, **{key: value for key, (value, _) in outcome.items()}})
        drawn = [
            Figure(name, caption, partial(figures.pose_graph, graph.poses, graph.first, graph.second))
            for name, caption, graph in (
                ("before", "As in the file.", before),
                ("after", "After optimisation.", after),
            )
        ]
        shown = [*FigureWriter(folder / "figures").add(drawn)]
        table = tuple((key, text(value), meaning) for key, (value, meaning) in outcome.items())
        sheets = [
            Sheet("Outcome", ("score", "value", ""), table, (False, True, False)),
            _files(("graph.g2o", "the graph with its new poses"), (SCORES, "the scores")),
            _environment(),
        ]
        said = f"{len(after.poses)} poses and {len(after.first)} relations."
        _write_page(folder, f"Pose graph: {name}", [said], [], sheets, shown)
    except OSError as error:
        raise unwritable(f"into {str(folder)!r}", error) from error


def tum(times: np.ndarray, poses: np.ndarray) -> str:
    """Return poses (n, 3) as lines ``stamp x y z qx qy qz qw``; where a stamp is lost, rows are the stamps of all.

    References:
        J. Sturm et al.: A benchmark for the evaluation of RGB-D SLAM systems. IROS 2012 (the format).

    Examples:
        >>> tum(np.array([1.5]), np.array([[1.0, 2.0, 0.0]]))
        '1.500000 1.000000 2.000000 0 0 0 0.000000000 1.000000000\\n'
    """
    stamps = times if np.isfinite(times).all() else np.arange(len(poses), dtype=float)
    return "".join(
        f"{stamp:.6f} {x:.6f} {y:.6f} 0 0 0 {math.sin(0.5 * turn):.9f} {math.cos(0.5 * turn):.9f}\n"
        for stamp, (x, y, turn) in zip(stamps, poses, strict=True)
    )


def csv_of(log: Log, found: Followed, odometry: np.ndarray) -> str:
    """Return the trajectory as CSV: scan, stamp, pose, odometry, and whether the scan is a key frame."""
    kept = np.zeros(len(log), int)
    kept[found.key_rows] = 1
    lines = ["scan,time_s,x_m,y_m,heading_rad,odometry_x_m,odometry_y_m,odometry_heading_rad,key_frame\n"]
    for k in range(len(log)):
        numbers = ",".join(f"{value:.9g}" for value in (*found.poses[k], *odometry[k]))
        stamp = f"{log.times[k]:.6f}" if math.isfinite(log.times[k]) else ""
        lines.append(f"{k},{stamp},{numbers},{kept[k]}\n")
    return "".join(lines)


def _write_map(folder: Path, grid: Grid) -> None:
    pixels = np.where(grid.cells < 0, _UNKNOWN, np.where(grid.cells < 50, _FREE, _OCCUPIED)).astype(np.uint8)
    buffer = io.BytesIO()
    Image.fromarray(pixels[::-1]).save(buffer, "PNG", optimize=True)
    write_whole(folder / "map.png", buffer.getvalue())
    header = {
        "image": "map.png",
        "mode": "trinary",
        "resolution": float(grid.resolution),
        "origin": [round(float(value), 9) for value in grid.origin],
        "negate": 0,
        "occupied_thresh": 0.65,
        "free_thresh": 0.196,
    }
    write_whole(folder / "map.yaml", yaml.safe_dump(header, sort_keys=False).encode())


def _write_page(
    folder: Path, title: str, introduction: list[str], remarks: list[str], sheets: list[Sheet], shown: list[Any]
) -> None:
    loader = Environment(loader=PackageLoader("covey.experiments"), autoescape=True, undefined=StrictUndefined)
    page = {"title": title, "introduction": introduction, "remarks": remarks, "sheets": sheets, "figures": shown}
    write_whole(folder / "report.html", loader.get_template("slam.html.j2").render(page).encode())


def _files(*rows: tuple[str, str]) -> Sheet:
    return Sheet("Files", ("file", "what"), rows, (False, False))


def _stretches(stretches: list[dict[str, Any]]) -> Sheet:
    rows = tuple(
        (f"{one['first_scan']} to {one['last_scan']}", text(one["explained"]), "; ".join(one["doubts"]) or "–")
        for one in stretches
    )
    title = f"Stretches of {LENGTH_M:g} m"
    return Sheet(title, ("scans", "share explained by the map", "doubts"), rows, (False, True, False))


def _settings(settings: GraphSettings | ParticleSettings) -> Sheet:
    rows = []
    for name, field in type(settings).model_fields.items():
        value = getattr(settings, name)
        if name != "loops" or value is None:
            rows.append((name, text(value), field.description or ""))
            continue
        rows += [
            (f"{name}.{below}", text(getattr(value, below)), each.description or "")
            for below, each in type(value).model_fields.items()
        ]
    return Sheet("Settings", ("setting", "value", ""), tuple(rows), (False, True, False))


def _environment() -> Sheet:
    rows = tuple((name, version or "–") for name, version in versions().items())
    return Sheet("Environment", ("what", "version"), rows, (False, False))
