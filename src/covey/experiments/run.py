"""`run_design`: executes the runs of a design that have no result yet, with any executor."""

import os
import queue
import re
import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from covey.errors import CoveyError, DiskError, InvalidValueError, MachineError
from covey.experiments.design.plan import PlannedRun, environment, plan
from covey.experiments.design.records import Design
from covey.experiments.workers.folder import (
    FAILURES,
    RUNS,
    Row,
    entry,
    is_damaged,
    new_row,
    placed,
    prepare,
    publish,
    read_plan,
    read_row,
    read_rows,
    rows_of,
    set_aside,
    sweep,
    unwritable,
    work_folder,
)
from covey.experiments.workers.remeasure import measured
from covey.experiments.workers.row import ROW
from covey.experiments.workers.supervisor import Supervisor, keep, this_supervisor
from covey.experiments.workers.versions import differences, in_words
from covey.lazy import pl
from covey.results.run import Run
from covey.scenario.folders import folder_name

_TABLE_S, _TABLE_SHARE = 3.0, 0.05


@dataclass
class Progress:
    """The progress of a design.

    Attributes:
        total: number of runs of this shard.
        before: number of them that had ended before this call.
        statuses: number of ended runs by status.
        row: the run that has just ended; None at the start.
        remarks: problems found in the folder, and the actions taken.
    """

    total: int
    before: int
    statuses: Counter[str] = field(default_factory=Counter)
    row: Row | None = None
    remarks: list[str] = field(default_factory=list)

    @property
    def done(self) -> int:
        """Number of runs that have ended, with or without a result."""
        return self.statuses.total()

    @property
    def failed(self) -> int:
        """Number of runs without a result."""
        return sum(self.statuses[status] for status in FAILURES)


class Results:
    """The results of a design so far, from its folder.

    Args:
        folder: the folder of the design.
        rows: its rows, if they are known already.

    Raises:
        RunFolderError: there is no design in the folder.

    Attributes:
        rows: rows of the runs that have ended, in the order of the table.
        metrics: metrics that the design names.
        planned: number of runs that the design asks for.
        damaged: ids of runs with a folder but no complete row.
    """

    def __init__(self, folder: Path | str, rows: Sequence[Row] | None = None):
        self.folder = Path(folder)
        plan = read_plan(self.folder)
        self.metrics: tuple[str, ...] = tuple(plan["metrics"])
        self.planned = len(plan["runs"])
        self.rows = rows_of(self.folder, plan["runs"]) if rows is None else list(rows)
        ended = {row["run_id"] for row in self.rows}
        ids = dict.fromkeys(one["run_id"] for one in plan["runs"] if one["run_id"] not in ended)
        self.damaged = [run_id for run_id in ids if is_damaged(self.folder / RUNS / run_id)]

    @cached_property
    def table(self) -> "pl.DataFrame":
        """One row per run; see `covey.experiments.analysis.table.build_table`."""
        from covey.experiments.analysis.table import build_table

        return build_table(self.rows)

    @property
    def failures(self) -> list[Row]:
        """Runs without a result, each with its ``reason`` and the command that runs it alone, ``reproduce``."""
        return [row for row in self.rows if row["status"] in FAILURES]

    @property
    def runs(self) -> list[Run]:
        """The runs that have a result, in the order of the table."""
        return [Run(self.folder / RUNS / row["run_id"]) for row in self.rows if row["status"] not in FAILURES]


def design_folder(design: Design, root: Path | str = "runs") -> Path:
    """Return the default folder for the results of a design."""
    return Path(root) / folder_name(design.design)


def run_design(
    design: Design,
    folder: Path | str | None = None,
    *,
    jobs: int | None = None,
    executor: Executor | None = None,
    shard: tuple[int, int] | None = None,
    retry_failed: bool = False,
    observer: Callable[[Progress], Any] = lambda progress: None,
) -> Results:
    """Execute all runs of a design that its folder does not hold yet.

    Args:
        design: the design.
        folder: folder for the results; default: ``runs/<name of the design>``. Remote workers must see it, too.
        jobs: number of runs at a time on this machine; default: one for each processor.
        executor: executes the runs elsewhere: any `concurrent.futures.Executor`, for example
            ``dask.distributed.Client(...).get_executor()``.
        shard: ``(i, n)``: only part i (from 1) of n equal parts.
        retry_failed: repeat the runs without a result.
        observer: called at the start and after each run.

    Raises:
        CoveyError: the design is invalid, the folder cannot be written, or a worker has other software.
        KeyboardInterrupt: runs in progress are lost; the same call resumes.
    """
    if jobs is not None and jobs < 1:
        raise InvalidValueError(f"jobs is {jobs}; it must be 1 or more")
    planned = plan(design)
    folder = (design_folder(design) if folder is None else Path(folder)).resolve()
    replaced = replaces(folder, design, lambda: planned)
    lock = prepare(folder, design, planned)
    try:
        session = _Session(folder, planned, shard or (1, 1), retry_failed, observer)
        session.progress.remarks += [f"warning: {replaced}"] if replaced else []
        observer(session.progress)
        if session.todo:
            try:
                with nullcontext(executor) if executor else _threads(processors() if jobs is None else jobs) as engine:
                    session.run(engine, design)
            finally:
                sweep(folder / RUNS)
        return Results(folder, session.finish())
    finally:
        lock.release()


def replaces(folder: Path, design: Design, planned: Callable[[], Sequence[PlannedRun]]) -> str:
    """Return a warning if a folder holds a design of the same name that shares no run with this one; else nothing.

    With another seed or number of iterations it is the same design.
    """
    keys = differences(folder, design)
    if {*keys} <= {"seed", "iterations"}:
        return ""
    there = {one["run_id"] for one in read_plan(folder)["runs"]}
    if not there.isdisjoint(one.run_id for one in planned()):
        return ""
    return (
        f"{in_words(folder, design, keys)}, and has no run in common with it. All runs are kept, but a folder shows "
        f"one design. To keep both, choose --out FOLDER, or another name after `design:`"
    )


def parse_shard(text: str) -> tuple[int, int]:
    """Return the two numbers of ``i/n``.

    Raises:
        InvalidValueError: the text has another form.

    Examples:
        >>> parse_shard("2/8")
        (2, 8)
    """
    match = re.fullmatch(r"(\d+)/(\d+)", text)
    i, n = (int(match[1]), int(match[2])) if match else (0, 0)
    if not 1 <= i <= n:
        raise InvalidValueError(
            f"--shard {text}: write i/n with 1 <= i <= n, for example 2/8 for the second of eight parts"
        )
    return i, n


def processors() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class _Session:
    """The rows so far, the runs to do, and the resulting table."""

    def __init__(
        self,
        folder: Path,
        planned: Sequence[PlannedRun],
        shard: tuple[int, int],
        retry_failed: bool,
        observer: Callable[[Progress], Any],
    ):
        self.folder, self.observer = folder, observer
        self.entries = list(map(entry, planned))
        part, parts = shard
        mine = list({p.run_id: p for p in planned}.values())[part - 1 :: parts]
        self.keeps_table = parts == 1
        sweep(folder)
        sweep(folder / RUNS)
        self.rows = read_rows(folder, [p.run_id for p in mine])
        if retry_failed:
            for run_id in [run_id for run_id, row in self.rows.items() if row["status"] in FAILURES]:
                shutil.rmtree(folder / RUNS / run_id)
                del self.rows[run_id]
        again = [p for p in mine if p.run_id in self.rows and not self._is_measured(p)]
        for one in again:
            shutil.rmtree(folder / RUNS / one.run_id)
            del self.rows[one.run_id]
        self.todo = [p for p in mine if p.run_id not in self.rows]
        self.progress = Progress(len(mine), len(self.rows), Counter(row["status"] for row in self.rows.values()))
        places = [folder / RUNS / one.run_id for one in self.todo]
        for place, aside in [(place, set_aside(place)) for place in places if is_damaged(place)]:
            if aside is not None:
                self.progress.remarks.append(
                    f"{place.name} is damaged: it was renamed to {aside.name}, and the run is repeated"
                )
        if again:
            self.progress.remarks.append(
                f"{len(again)} runs are repeated: their kept recordings do not hold the measurements that the design "
                "asks for now; with keep: everything they would"
            )
        self._next_table = 0.0

    def _is_measured(self, one: PlannedRun) -> bool:
        """Return whether a run holds the design's measurements; a failed run needs none."""
        if self.rows[one.run_id]["status"] in FAILURES:
            return True
        try:
            return measured(self.folder / RUNS / one.run_id, one)
        except OSError as error:
            raise unwritable(self.folder, error) from error

    def run(self, executor: Executor, design: Design) -> None:
        """Execute all runs that are left."""
        ended: queue.SimpleQueue[tuple[Future[Row], PlannedRun]] = queue.SimpleQueue()
        pending: list[Future[Row]] = []
        try:
            for one in self.todo:
                place = self.folder / RUNS / one.run_id
                future = executor.submit(keep, one, place, design.limits, environment())
                future.add_done_callback(lambda future, one=one: ended.put((future, one)))
                pending.append(future)
            for _ in pending:
                self._take(*_next(ended))
        except BaseException:
            for future in pending:
                future.cancel()
            raise

    def _take(self, future: Future[Row], one: PlannedRun) -> None:
        place = self.folder / RUNS / one.run_id
        try:
            row = future.result()
        except CoveyError:
            raise
        except OSError as error:
            raise unwritable(self.folder, error) from error
        except Exception as error:
            row = self._lost(one, place, error)
        if not place.is_dir():
            raise DiskError(
                f"{str(place)!r} was written by a worker but is not here: workers must share the folder, and "
                "nobody may remove it while they run"
            )
        self.rows[one.run_id] = row
        self.progress.statuses[row["status"]] += 1
        self.progress.row = row
        self.observer(self.progress)
        if self.keeps_table and time.monotonic() >= self._next_table:
            self._write_table()

    def _lost(self, one: PlannedRun, place: Path, error: Exception) -> Row:
        """Return the row of a run that the executor gave up because its worker vanished repeatedly."""
        if type(error).__name__ != "KilledWorker":
            why = (
                "the scheduler has stopped" if isinstance(error, CancelledError) else f"{type(error).__name__}: {error}"
            )
            raise MachineError(
                f"the workers stopped: {why}; finished runs are kept, and the same command does the rest"
            ) from error
        row = new_row(one, place) | {"status": "died", "reason": f"its worker vanished, repeatedly: {error}"}
        return read_row(place) or publish(row, work_folder(place), place)

    def finish(self) -> list[Row]:
        """Return all rows, including those of other shards, and write the table if they are complete.

        Raises:
            DiskError: finished runs have been removed.
        """
        gone = [run_id for run_id in self.rows if not (self.folder / RUNS / run_id / ROW).is_file()]
        if gone:
            raise DiskError(
                f"{len(gone)} of {len(self.rows)} runs that had ended are gone from {str(self.folder / RUNS)!r}: "
                "they were removed during the study; the same command repeats them"
            )
        others = {one["run_id"] for one in self.entries} - self.rows.keys()
        self.rows |= read_rows(self.folder, others)
        rows = placed(self.rows, self.entries)
        if len(rows) == len(self.entries):
            self._write_table()
        return rows

    def _write_table(self) -> None:
        from covey.experiments.analysis.table import build_table, write_table

        started = time.monotonic()
        try:
            write_table(self.folder, build_table(placed(self.rows, self.entries)))
        except OSError as error:
            raise unwritable(self.folder, error) from error
        spent = time.monotonic() - started
        self._next_table = time.monotonic() + max(_TABLE_S, spent / _TABLE_SHARE)


def _next(ended: "queue.SimpleQueue[tuple[Future[Row], PlannedRun]]") -> tuple[Future[Row], PlannedRun]:
    """Return the next run that ends; waiting can be interrupted by Ctrl-C."""
    while True:
        try:
            return ended.get(timeout=0.5)
        except queue.Empty:
            continue


@contextmanager
def _threads(jobs: int) -> Iterator[Executor]:
    """Yield an executor with threads of this process, each with a supervisor; on an error, end their runs."""
    supervisors: list[Supervisor] = []
    executor = ThreadPoolExecutor(jobs, "supervisor", initializer=lambda: supervisors.append(this_supervisor()))
    try:
        yield executor
    except BaseException:
        executor.shutdown(wait=False, cancel_futures=True)
        for supervisor in supervisors:
            supervisor.abandon()
        raise
    finally:
        executor.shutdown()
        for supervisor in supervisors:
            supervisor.close()
