"""The folder of a design: its plan, the folders of its runs, and how a run is published in it.

::

    design.yaml      the design
    plan.json        the runs that it asks for
    runs/<run_id>/   one run: its tables, and row.json
    results.parquet  the tidy table
    report/          what `covey.experiments.report.report` makes of it
    logs/            the logs of the jobs of a cluster

A run is recorded beside its place, in ``runs/.<run_id>.<host>.<pid>``, and renamed when its row is written. So a folder
``runs/<run_id>`` always holds one complete run, even if processes are killed or execute the same run.
"""

import itertools
import json
import os
import shlex
import shutil
import socket
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import psutil
from pydantic import Field

from covey.errors import DiskError, RunFolderError
from covey.experiments.design.load import parse_design
from covey.experiments.design.plan import PlannedRun
from covey.experiments.design.records import Design
from covey.experiments.workers.row import ROW, Row, read_row
from covey.results import folder as run_folder
from covey.results.checked import Shape, read_json
from covey.results.folder import write_json, write_whole
from covey.results.lock import FolderLock
from covey.scenario.from_file import read_file

PLAN, DESIGN, RESULTS, RUNS, REPORT = "plan.json", "design.yaml", "results.parquet", "runs", "report"
LOGS = "logs"
_OURS = (PLAN, DESIGN, RESULTS, RUNS, REPORT, LOGS)

FAILURES = ("failed", "hung", "out_of_memory", "died")
"""Statuses of a run without a result: an exception, an exceeded limit, or a lost process."""


_DAMAGED = "damaged"
_WAIT_S = 10.0


class EntryShape(Shape):
    """A run in ``plan.json``."""

    run_id: Annotated[str, Field(pattern=r"^[0-9a-f]{1,64}$")]  # used as the name of a folder
    vector: int
    iteration: int
    seed: int
    parameters: dict[str, Any]


class PlanShape(Shape):
    """``plan.json``."""

    design: str
    metrics: list[str]
    folder: str = ""
    runs: list[EntryShape]


def new_row(planned: PlannedRun, folder: Path) -> Row:
    """Return the initial row of a run, with the status ``failed``.

    It holds run_id, vector, iteration, seed, ``timeout_s`` [s], ``parameters`` (by dotted path), ``status`` (how the
    run ended: ``reached``, ``timeout``, ``exhausted``, ``stopped``, or one of `FAILURES`), ``metrics`` (by name, empty
    for a failed run), ``host`` (the machine and the resources used), the ``scenario`` and the ``folder`` of its
    relative paths, and ``reproduce``: the command that repeats it alone. A failure adds ``reason`` and ``traceback``.
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
    """Return the temporary name of a folder or file while a process of this host (default: this one) writes it."""
    return folder.with_name(f".{folder.name}.{socket.gethostname()}.{os.getpid() if pid is None else pid}")


def publish(row: Row, work: Path, folder: Path) -> Row:
    """Write the row into the work folder and rename that to ``folder``; return the row that is there afterwards.

    If another process has published the same run before, its row stays and this work folder is removed. A folder
    without a complete row is set aside.

    Raises:
        OSError: the disk is full or cannot be written.
    """
    work.mkdir(parents=True, exist_ok=True)
    write_json(work / ROW, row)
    for path in work.iterdir():
        _sync(path)
    _sync(work)
    if (there := _renamed(work, folder)) is not None:
        shutil.rmtree(work, ignore_errors=True)
        return there
    return row


def _renamed(work: Path, folder: Path) -> Row | None:
    """Rename a folder to a new name; if another process was first, return its row."""
    try:
        os.rename(work, folder)
    except OSError:
        if not folder.exists():
            raise
        if (there := read_row(folder)) is not None:
            return there
        set_aside(folder)
        os.rename(work, folder)
    return None


def _sync(path: Path) -> None:
    """Flush a file or folder to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def is_damaged(folder: Path) -> bool:
    """Return whether the folder of a run exists without a complete row of that run."""
    return folder.exists() and read_row(folder) is None  # in this order, because another process may be publishing it


def set_aside(folder: Path) -> Path | None:
    """Rename the damaged folder of a run, so that the run can be repeated; return its new name, None if it is gone."""
    for number in itertools.count(1):
        aside = folder.with_name(f"{folder.name}.{_DAMAGED}-{number}")
        if not os.path.lexists(aside):
            try:
                os.rename(folder, aside)
            except FileNotFoundError:  # another process has done it
                return None
            return aside
    raise AssertionError


def sweep(folder: Path) -> None:
    """Remove unfinished files of killed processes of this host from a folder."""
    for unfinished in folder.glob(f".*.{socket.gethostname()}.*"):
        pid = unfinished.name.rpartition(".")[2]
        if not pid.isdigit() or psutil.pid_exists(int(pid)):
            continue
        if unfinished.is_dir():
            shutil.rmtree(unfinished, ignore_errors=True)
        else:
            unfinished.unlink(missing_ok=True)


def put(path: Path, data: bytes) -> None:
    """Write a file atomically; any number of processes may write the same file at a time.

    Raises:
        OSError: the disk is full or cannot be written; the previous file remains.
    """
    write_whole(path, data, work_folder(path))


def prepare(folder: Path, design: Design, planned: Sequence[PlannedRun]) -> FolderLock:
    """Write the design and its plan into its folder, and return the lock that excludes other plans.

    Any number of processes may work on the same plan at a time.

    Raises:
        RunFolderError: the folder holds other files, another design, or a design that runs with another plan; or it
            cannot be written.
        DiskError: the disk is full or broken.
    """
    content = {"format": 1, "design": design.design, "metrics": list(design.metrics)}
    content["folder"] = str(design.folder.resolve())
    plan = json.dumps(content | {"runs": list(map(entry, planned))}, indent=1).encode()
    try:
        refuse_others(folder, design)
        (folder / RUNS).mkdir(parents=True, exist_ok=True)
        return _claimed(folder, design, plan)
    except OSError as error:
        raise run_folder.unwritable(f"the folder of the design, {str(folder)!r}", error) from error


def refuse_others(folder: Path, design: Design) -> None:
    """Raise `RunFolderError` if a folder cannot be used for this design; nothing is changed."""
    if folder.exists() and not folder.is_dir():
        raise RunFolderError(f"{str(folder)!r} is a file; choose a folder for the design with --out")
    if not folder.is_dir():
        return
    if any(path.name not in _OURS and path.name[0] != "." for path in folder.iterdir()):
        raise RunFolderError(f"{str(folder)!r} holds other files; choose a folder for the design with --out")
    if (folder / PLAN).exists() and (there := read_plan(folder)["design"]) != design.design:
        raise RunFolderError(
            f"{str(folder)!r} holds the design {there!r}; choose another folder for {design.design!r} with --out"
        )


def _claimed(folder: Path, design: Design, plan: bytes) -> FolderLock:
    """Return a shared lock on a folder with this plan; the plan is written if nobody works on another one."""
    until = time.monotonic() + _WAIT_S
    while True:
        lock, alone = _lock(folder)
        if lock is None:
            if time.monotonic() > until:
                raise alone or AssertionError
            time.sleep(0.02)
            continue
        if not alone:
            refuse_others(folder, design)
            if not _holds(folder, plan):
                put(folder / PLAN, plan)
                put(folder / DESIGN, design.to_yaml().encode())
        if lock.share() and _holds(folder, plan):
            return lock
        lock.release()
        if alone:
            refuse_others(folder, design)
            raise RunFolderError(
                f"{alone}. It runs another version of the design {design.design!r}, and a folder holds one version"
            )


def _lock(folder: Path) -> tuple[FolderLock | None, RunFolderError | None]:
    """Return a lock and its other holder (None: nobody); no lock while another process writes its plan."""
    try:
        return FolderLock(folder), None
    except RunFolderError as held:
        try:
            return FolderLock(folder, shared=True), held
        except RunFolderError:
            return None, held


def _holds(folder: Path, plan: bytes) -> bool:
    path = folder / PLAN
    return path.is_file() and path.read_bytes() == plan


def entry(planned: PlannedRun) -> Row:
    """Return the entry of a run in the plan: its id, and its place in the table."""
    return {
        "run_id": planned.run_id,
        "vector": planned.vector,
        "iteration": planned.iteration,
        "seed": planned.seed,
        "parameters": planned.values,
    }


def read_plan(folder: Path) -> dict[str, Any]:
    """Return the plan of the design in ``folder``: its name as ``design``, ``metrics``, the ``folder`` of the relative
    paths in the design, and the `entry` of each of its ``runs``.

    Raises:
        RunFolderError: there is no design in it, or its plan is damaged.
    """
    try:
        return read_json(folder / PLAN, PlanShape, 1)
    except (FileNotFoundError, NotADirectoryError):
        raise RunFolderError(f"{str(folder)!r} is not the folder of a design: it has no {PLAN}") from None


def read_rows(folder: Path, ids: Iterable[str]) -> dict[str, Row]:
    """Return the rows of the runs that have ended, by run id."""
    rows = {run_id: read_row(folder / RUNS / run_id) for run_id in ids}
    return {run_id: row for run_id, row in rows.items() if row is not None}


def rows_of(folder: Path, entries: Sequence[Row]) -> list[Row]:
    """Return the rows of the table: of all runs of a plan that have ended."""
    return placed(read_rows(folder, [one["run_id"] for one in entries]), entries)


def placed(rows: Mapping[str, Row], entries: Iterable[Row]) -> list[Row]:
    """Return the rows of the table, each at its place in the present plan, not in the plan with which it ran."""
    return [rows[one["run_id"]] | one for one in entries if one["run_id"] in rows]


def unwritable(folder: Path, error: OSError, where: str = "") -> DiskError:
    """Return the error that explains why the folder of a design cannot be written, and what to do.

    Args:
        folder: the folder.
        error: what the system said.
        where: beginning of the message, for example the name of the machine.
    """
    why = os.strerror(error.errno) if error.errno else str(error)
    return DiskError(
        f"{where}cannot write {str(folder)!r}: {why}; finished runs are complete. Fix this, for example by freeing "
        "disk space, and run the same command again"
    )


def load_kept_design(folder: Path | str, *, trusted_only: bool = False) -> Design:
    """Load the design in a folder of results; its relative paths start from the folder of its original file.

    Raises:
        RunFolderError: there is no design in the folder.
        ScenarioError: as `load_design`.
    """
    folder = Path(folder)
    path = folder / DESIGN
    content, file = read_file(path, path)
    started = read_plan(folder).get("folder") or folder
    return parse_design(content, file=file, folder=started, trusted_only=trusted_only)
