"""The folder of a design: its plan, the folders of its runs, and how a run is published in it.

::

    design.yaml      the design
    plan.json        the runs that it asks for
    rows/            a row for each run that has ended; see `covey.experiments.workers.rows`
    runs/<run_id>/   what the design keeps of one run: its tables, and row.json
    results.parquet  the tidy table
    report/          what `covey.experiments.report.report` makes of it
    logs/            the logs of the jobs of a cluster

A run is recorded beside its place, in ``runs/.<run_id>.<host>.<pid>``, and renamed when its row is written. So a folder
``runs/<run_id>`` always holds one complete run, even if processes are killed or execute the same run. Its row.json
makes it complete without the rest of the design; `taken_over` reads it if the row is nowhere else.
"""

import itertools
import json
import os
import shutil
import socket
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import psutil
from pydantic import Field

from covey.errors import DiskError, RunFolderError
from covey.experiments.design.load import parse_design
from covey.experiments.design.plan import PlannedRun
from covey.experiments.design.records import Design
from covey.experiments.workers.row import ROW, RUNS, Row, read_row
from covey.experiments.workers.rows import ROWS, Rows, RowWriter, reproduce
from covey.results import folder as run_folder
from covey.results.checked import Shape, damaged, read_json
from covey.results.folder import write_json, write_whole
from covey.results.lock import FolderLock
from covey.scenario.from_file import read_file

PLAN, DESIGN, RESULTS, REPORT, LOGS = "plan.json", "design.yaml", "results.parquet", "report", "logs"
_OURS = (PLAN, DESIGN, RESULTS, ROWS, RUNS, REPORT, LOGS)
NO_FOLDER = "rows"
"""What a design keeps if its runs have no folders; see `Design`."""

_PLAN_FORMAT = 2
_DAMAGED = "damaged"
_WAIT_S = 10.0


_RunId = Annotated[str, Field(pattern=r"^[0-9a-f]{1,64}$")]  # used as the name of a folder


class VectorShape(Shape):
    """A vector in ``plan.json``: its parameters, and the id of each iteration."""

    parameters: dict[str, Any]
    runs: list[_RunId]


class AnyPlanShape(Shape):
    """``plan.json`` of any format."""

    format: int


class PlanShape(Shape):
    """``plan.json``."""

    design: str
    metrics: list[str]
    folder: str = ""
    seeds: list[int]
    vectors: list[VectorShape]


class EntryShape(Shape):
    """A run in a ``plan.json`` of format 1."""

    run_id: _RunId
    vector: int
    iteration: int
    seed: int
    parameters: dict[str, Any]


class OldPlanShape(Shape):
    """``plan.json`` of format 1."""

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
        "reproduce": reproduce(folder),
        "scenario": planned.scenario,
        "folder": planned.folder,
    }


def work_folder(folder: Path, pid: int | None = None) -> Path:
    """Return the temporary name of a folder or file while a process of this host (default: this one) writes it."""
    return folder.with_name(f".{folder.name}.{socket.gethostname()}.{os.getpid() if pid is None else pid}")


def publish(row: Row, keep: str, work: Path, folder: Path) -> Row:
    """Write the row into the work folder and rename that to ``folder``; return the row that is there afterwards.

    If another process has published the same run before, its row stays and this work folder is removed. A folder
    without a complete row is set aside. If nothing is to be kept but the row, the work folder is removed.

    Raises:
        OSError: the disk is full or cannot be written.
    """
    if keep == NO_FOLDER:
        shutil.rmtree(work, ignore_errors=True)
        return row
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
    content = {"format": _PLAN_FORMAT, "design": design.design, "metrics": list(design.columns)}
    content |= {"folder": str(design.folder.resolve()), "seeds": [], "vectors": []}
    for one in planned:
        if one.iteration == 0:
            content["vectors"].append({"parameters": one.values, "runs": []})
        if one.vector == 0:
            content["seeds"].append(one.seed)
        content["vectors"][-1]["runs"].append(one.run_id)
    plan = json.dumps(content, indent=1).encode()
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
    path = folder / PLAN
    try:
        if read_json(path, AnyPlanShape)["format"] == 1:
            return read_json(path, OldPlanShape, 1)
        plan = read_json(path, PlanShape, _PLAN_FORMAT)
    except (FileNotFoundError, NotADirectoryError):
        raise RunFolderError(f"{str(folder)!r} is not the folder of a design: it has no {PLAN}") from None
    if any(len(vector["runs"]) != len(plan["seeds"]) for vector in plan["vectors"]):
        raise damaged(path, "a vector has another number of runs than there are seeds")
    runs = [
        {
            "run_id": run_id,
            "vector": number,
            "iteration": iteration,
            "seed": plan["seeds"][iteration],
            "parameters": vector["parameters"],
        }
        for number, vector in enumerate(plan["vectors"])
        for iteration, run_id in enumerate(vector["runs"])
    ]
    return {"design": plan["design"], "metrics": plan["metrics"], "folder": plan.get("folder", ""), "runs": runs}


def folders_of(folder: Path) -> set[str]:
    """Return the names of all folders of runs in the folder of a design."""
    with suppress(FileNotFoundError), os.scandir(folder / RUNS) as found:
        return {one.name for one in found}
    return set()


def taken_over(folder: Path, ids: Iterable[str], rows: Rows, writer: RowWriter | None) -> int:
    """Add the rows of finished runs that only their own folders hold; return their number.

    A run has such a folder if its process or its runner was killed at that moment, or if a former version of Covey
    computed it.

    Args:
        folder: folder of the design.
        ids: runs that may be meant.
        rows: the rows so far.
        writer: writes them into the table; None: they are only read.

    Raises:
        OSError: the disk is full or cannot be written.
    """
    there, known = folders_of(folder), rows.places
    found = [run_id for run_id in ids if run_id not in known and run_id in there]
    taken = [row for run_id in found if (row := read_row(folder / RUNS / run_id)) is not None]
    for row in taken:
        if writer is None:
            rows.add_row(row)
        else:
            writer.append(row, "", (), rows)
    return len(taken)


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
