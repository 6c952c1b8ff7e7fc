"""The folder of a design: its plan, the folders of its runs, and how one run comes into it as a whole.

::

    design.yaml      the design
    plan.json        the runs that it asks for
    runs/<run_id>/   one run: its tables, and row.json
    results.parquet  the tidy table
    report/          what `covey.experiments.report` makes of it

A run is recorded beside its place, in ``runs/.<run_id>.<host>.<pid>``, and renamed into it when its row is written.
Whatever is killed, and however often a run is executed, a folder ``runs/<run_id>`` holds one whole run.
"""

import json
import os
import shlex
import shutil
import socket
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import psutil

from covey.errors import RunFolderError
from covey.experiments.plan import PlannedRun
from covey.experiments.records import Design
from covey.experiments.row import ROW, Row, read_row
from covey.results.folder import write_json, write_whole

PLAN, DESIGN, RESULTS, RUNS, REPORT = "plan.json", "design.yaml", "results.parquet", "runs", "report"
_OURS = (PLAN, DESIGN, RESULTS, RUNS, REPORT)

FAILURES = ("failed", "hung", "out_of_memory", "died")
"""How a run ends that has no result: it raised, was beyond a limit, or its process vanished."""


def new_row(planned: PlannedRun, folder: Path) -> Row:
    """Return the row of a run that has not ended yet; as it stands, that of a run that ``failed``.

    It holds run_id, vector, iteration, seed, ``timeout_s`` [s], ``parameters`` (by dotted path), ``status`` (how the
    run ended: ``reached``, ``timeout``, ``exhausted``, ``stopped``, or one of `FAILURES`), ``metrics`` (by name, empty
    for a run that failed), ``host`` (what it took of which machine), the ``scenario`` and the ``folder`` that its
    paths start from, and ``reproduce``: the command that runs it alone. A failure adds ``reason`` and ``traceback``.
    """
    return {
        "format": 1,
        "run_id": planned.run_id,
        "vector": planned.vector,
        "iteration": planned.iteration,
        "seed": planned.seed,
        "timeout_s": planned.timeout_s,
        "parameters": planned.values,
        "status": "failed",
        "metrics": {},
        "host": {},
        "reproduce": f"covey run {shlex.quote(str(folder))}",
        "scenario": planned.scenario,
        "folder": planned.folder,
    }


def work_folder(folder: Path, pid: int | None = None) -> Path:
    """Return under which name a process of this host (default, this one) makes what will be ``folder``, or a file."""
    return folder.with_name(f".{folder.name}.{socket.gethostname()}.{os.getpid() if pid is None else pid}")


def publish(row: Row, work: Path, folder: Path) -> Row:
    """Write the row into the work folder and rename that to ``folder``; return the row that stands there then.

    When another process was first with the same run, its row stands and this one's folder is removed.

    Raises:
        OSError: the disk is full or cannot be written.
    """
    work.mkdir(parents=True, exist_ok=True)
    write_json(work / ROW, row)
    try:
        os.rename(work, folder)
    except OSError:
        there = read_row(folder)
        if there is None:
            raise
        shutil.rmtree(work, ignore_errors=True)
        return there
    return row


def sweep(folder: Path) -> None:
    """Remove what killed processes of this host left unfinished in a folder."""
    for unfinished in folder.glob(f".*.{socket.gethostname()}.*"):
        pid = unfinished.name.rpartition(".")[2]
        if not pid.isdigit() or psutil.pid_exists(int(pid)):
            continue
        if unfinished.is_dir():
            shutil.rmtree(unfinished, ignore_errors=True)
        else:
            unfinished.unlink(missing_ok=True)


def put(path: Path, data: bytes) -> None:
    """Write a file as a whole, as any number of processes may do with the same one at a time.

    Raises:
        OSError: the disk is full or cannot be written; what was there before stands.
    """
    write_whole(path, data, work_folder(path))


def prepare(folder: Path, design: Design, planned: Sequence[PlannedRun]) -> None:
    """Write the design and its plan into its folder.

    Raises:
        RunFolderError: it holds other files, or cannot be written.
    """
    try:
        if folder.is_dir() and any(path.name not in _OURS and path.name[0] != "." for path in folder.iterdir()):
            raise RunFolderError(f"{str(folder)!r} holds other files; choose a folder for the design with --out")
        (folder / RUNS).mkdir(parents=True, exist_ok=True)
        content = {"format": 1, "design": design.design, "metrics": list(design.metrics)}
        put(folder / PLAN, json.dumps(content | {"runs": list(map(entry, planned))}, indent=1).encode())
        put(folder / DESIGN, design.to_yaml().encode())
    except OSError as error:
        raise unwritable(folder, error) from error


def entry(planned: PlannedRun) -> Row:
    """Return what the plan says about a run: its id, and its place in the table."""
    return {
        "run_id": planned.run_id,
        "vector": planned.vector,
        "iteration": planned.iteration,
        "seed": planned.seed,
        "parameters": planned.values,
    }


def read_plan(folder: Path) -> dict[str, Any]:
    """Return the plan of the design in ``folder``: its name as ``design``, ``metrics``, and the `entry` of each of its
    ``runs``.

    Raises:
        RunFolderError: there is no design in it.
    """
    path = folder / PLAN
    if not path.is_file():
        raise RunFolderError(f"{str(folder)!r} is not the folder of a design: it has no {PLAN}")
    return json.loads(path.read_text(encoding="utf-8"))


def read_rows(folder: Path, ids: Iterable[str]) -> dict[str, Row]:
    """Return the rows of those runs that have ended, by run id."""
    rows = {run_id: read_row(folder / RUNS / run_id) for run_id in ids}
    return {run_id: row for run_id, row in rows.items() if row is not None}


def rows_of(folder: Path, entries: Sequence[Row]) -> list[Row]:
    """Return the rows of the table, of all runs of a plan that have ended."""
    return placed(read_rows(folder, [one["run_id"] for one in entries]), entries)


def placed(rows: Mapping[str, Row], entries: Iterable[Row]) -> list[Row]:
    """Return the rows of the table: each at the place that the plan gives it now, whatever it was when it ran."""
    return [rows[one["run_id"]] | one for one in entries if one["run_id"] in rows]


def unwritable(folder: Path, error: OSError) -> RunFolderError:
    """Return the error that says why the folder of a design cannot be written, and what to do."""
    why = os.strerror(error.errno) if error.errno else str(error)
    return RunFolderError(
        f"cannot write {str(folder)!r}: {why}; every finished run is whole. Make room, and run the same command again"
    )
