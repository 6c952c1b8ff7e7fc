"""`covey slam`: SLAM over a recorded log, or the optimum of a pose graph."""

import math
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from rich.console import Console

from covey.cli.bar import TextBar
from covey.cli.exit_codes import INTERRUPTED, NOT_REACHED, REACHED
from covey.cli.progress import clock
from covey.cli.tables import print_metrics
from covey.errors import InvalidValueError
from covey.experiments.logs.folder import check_place, write_graph_folder, write_log_folder
from covey.experiments.logs.scores import headlines, scores_of
from covey.experiments.logs.stretches import in_words, placed, stretches_of
from covey.mapping.map_of_scans import explained_by, map_of
from covey.mapping.slam.following import Followed, follow, follow_with_particles
from covey.mapping.slam.g2o import read_g2o
from covey.mapping.slam.graph_slam import GraphSettings, GraphSlam
from covey.mapping.slam.log import Log
from covey.mapping.slam.particle_settings import ParticleSettings
from covey.mapping.slam.plausible import check_log
from covey.mapping.slam.pose_graph import optimise
from covey.mapping.slam.reading import read_log
from covey.mapping.slam.saved_graph import load_graph
from covey.mapping.slam.scores import Relations, load_relations, load_stamped_relations
from covey.mapping.slam.seen_through import passes_of
from covey.mapping.slam.sessions import together
from covey.records import as_record
from covey.scenario.folders import fresh_folder

Method = Literal["graph", "matching", "particles"]
Settings = GraphSettings | ParticleSettings
_REFRESH_S, _LINE_S = 0.1, 10.0


def is_graph(path: Path) -> bool:
    """Return whether a file is a pose graph, by its name."""
    return path.name.lower().endswith((".g2o", ".g2o.gz"))


def slam_command(
    paths: Sequence[Path],
    relations: Path | None,
    out: Path | None,
    method: Method,
    changes: Mapping[str, Any],
    seed: int | None,
    resolution_m: float,
    force: bool,
    quiet: bool,
    unchecked: bool = False,
    continued: Path | None = None,
) -> int:
    """Run SLAM over logs, write the folder, and print the main scores; return 3 if the map is in pieces.

    Several logs, and a graph that is continued with them, are sessions of one map.
    """
    if not 0.005 <= resolution_m <= 10.0:
        raise InvalidValueError(f"--resolution is {resolution_m:g}; a cell has a side of 0.005 to 10 m")
    if seed is not None and method != "particles":
        raise InvalidValueError("--seed is for --method particles; the other methods draw no random numbers")
    settings = settings_of(changes, method)
    several = len(paths) > 1 or continued is not None
    if several and method == "particles":
        raise InvalidValueError("--method particles follows one log; --method graph joins several")
    if several and relations is not None:
        raise InvalidValueError("--relations are those of one log; leave them out, or give one log without --continue")
    if out is not None:
        check_place(out, overwrite=force)
    logs, graph = [read_log(path) for path in paths], None
    for one in () if unchecked else logs:
        check_log(one)
    if continued is not None:
        before, graph = load_graph(continued, plain_settings(changes, method))
        settings, logs = graph.settings, [before, *logs]
    log = together(logs)
    known = None if relations is None else relations_from(relations, log)
    with nullcontext() if quiet else SlamProgress(len(log)) as bar:
        try:
            found = _followed(log, settings, seed or 0, None if bar is None else bar.observe, graph)
        except KeyboardInterrupt:
            print("interrupted; nothing was written", file=sys.stderr)
            return INTERRUPTED
        scored = scores_of(log, found, known)
        scored.plain["method"] = method
        if method == "particles":
            scored.plain["seed"] = seed or 0
        say = (lambda _text, _done: None) if bar is None else bar.show
        say("drawing the map", 0.0)
        rows = found.key_rows
        grid = map_of(log[rows], found.poses[rows], resolution_m, _range_m(settings, log))
        explained = explained_by(log, found.poses, grid, _range_m(settings, log))
        share = explained.share()
        scored.plain["explained"] = None if math.isnan(share) else share
        passes = passes_of(log, found.poses, placed(rows, scored.plain), _range_m(settings, log))
        scored.plain["stretches"] = stretches_of(log, found.poses, explained, passes, scored.plain)
        scored.remarks.extend(in_words(scored.plain["stretches"]))
        with nullcontext(out) if out is not None else fresh_folder(f"slam-{log.name}") as folder:
            write_log_folder(folder, log, found, grid, scored, settings, say)
    if not quiet:
        print_metrics(headlines(scored.plain))
        for remark in scored.remarks:
            print(remark)
    _print_folder(folder, quiet)
    return REACHED if all(piece["joined"] for piece in scored.plain.get("pieces", ())) else NOT_REACHED


def graph_command(path: Path, out: Path | None, force: bool, quiet: bool) -> int:
    """Optimise a pose graph, write its folder, and print its cost before and after."""
    if out is not None:
        check_place(out, overwrite=force)
    graph = read_g2o(path)
    name = path.name.lower().removesuffix(".gz").removesuffix(".g2o")
    try:
        before = optimise(graph, start="given", iterations=0)
        began = time.perf_counter()
        after = optimise(graph)
        took = time.perf_counter() - began
    except InvalidValueError as error:
        raise InvalidValueError(f"{path}: {error} (poses are counted from 0, in the order of their ids)") from error
    if not math.isfinite(before.cost + after.cost):
        raise InvalidValueError(f"{path}: its numbers are too large; its cost is not finite")
    outcome = {
        "poses": (len(graph.poses), ""),
        "relations": (len(graph.first), ""),
        "cost_before": (float(before.cost), "squared errors, by information; of the file"),
        "cost_after": (float(after.cost), "the same, of the poses found"),
        "iterations": (after.iterations, "linear systems solved"),
        "converged": (bool(after.converged), "whether more steps would change nothing"),
        "seconds": (took, "on this machine"),
    }
    with nullcontext(out) if out is not None else fresh_folder(f"slam-{name}") as folder:
        write_graph_folder(folder, name, graph, replace(graph, poses=after.poses), outcome)
    if not quiet:
        print_metrics(outcome)
    _print_folder(folder, quiet)
    return 0


def relations_from(path: Path, log: Log) -> Relations:
    """Read relations: by stamps if the name ends with ``.relations``, else by rows of the log."""
    if path.name.lower().endswith(".relations"):
        return load_stamped_relations(path, log.stamps)
    return load_relations(path)


def _followed(
    log: Log, settings: Settings, seed: int, progress: Callable[[int], None] | None, graph: GraphSlam | None
) -> Followed:
    if isinstance(settings, ParticleSettings):
        return follow_with_particles(log, settings, seed, progress)
    return follow(log, settings, progress, graph)


def _range_m(settings: Settings, log: Log) -> float:
    """Return up to which distance returns go into the map [m]."""
    if isinstance(settings, ParticleSettings):
        return settings.usable_range_m or log.laser.range_max
    return settings.range_m


def settings_of(changes: Mapping[str, Any], method: Method) -> Settings:
    """Return the settings for what was typed after ``--set``; those of particles come before their ``preset``.

    Raises:
        InvalidValueError: there is no such setting, a value is not allowed, or it belongs to another method.
    """
    plain = plain_settings(changes, method)
    if method == "particles":
        preset = plain.pop("preset", None)
        chosen = {} if preset is None else ParticleSettings.preset(str(preset)).model_dump(exclude_unset=True)
        return as_record(ParticleSettings, {**chosen, **plain}, "--set")
    return as_record(GraphSettings, plain, "--set")


def plain_settings(changes: Mapping[str, Any], method: Method) -> dict[str, Any]:
    """Return what was typed after ``--set`` as a nested dictionary, with what the method itself sets.

    Raises:
        InvalidValueError: a value belongs to another method.
    """
    plain: dict[str, Any] = {}
    for path, value in changes.items():
        first, dot, below = path.partition(".")
        if not dot:
            plain[first] = value
        elif isinstance(plain.setdefault(first, {}), dict):
            plain[first][below] = value
    if method == "matching":
        if "loops" in plain:
            raise InvalidValueError("--method matching closes no loops; leave out --set loops…, or take --method graph")
        plain["loops"] = None
    return plain


class SlamProgress(TextBar):
    """Shows how many scans are done, how fast, and the time left: a bar in a terminal, lines elsewhere."""

    def __init__(self, scans: int):
        super().__init__()
        self._scans, self._began, self._next = scans, time.perf_counter(), 0.0
        self._first = 0

    def __enter__(self):
        super().__enter__()
        self.show("getting ready (the first run compiles its kernels; later runs load them)", 0.0)
        return self

    def observe(self, done: int) -> None:
        """Take in the number of scans done."""
        now = time.perf_counter()
        if self._first == 0 and done >= min(100, self._scans):  # kernels are compiled or loaded by then
            self._first, self._began = done, now
        if now < self._next and done < self._scans:
            return
        self._next = now + (_REFRESH_S if self.in_terminal else _LINE_S)
        line = f"{done}/{self._scans} scans"
        if self._first and done > self._first:
            rate = (done - self._first) / (now - self._began)
            line += f"  {rate:.0f} scans/s  about {clock((self._scans - done) / rate)} to go"
        self.show(line, done / self._scans)


def _print_folder(folder: Path, quiet: bool) -> None:
    say = Console(highlight=False, soft_wrap=True, markup=False).print
    say(f"{folder}" if quiet else f"\nfolder  {folder} (report.html shows it)")
