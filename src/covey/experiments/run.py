"""`run_design`: executes the runs of a design that have no result yet, with any executor."""

import queue
import re
import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from covey.errors import CoveyError, DiskError, InvalidValueError, MachineError
from covey.experiments.design.plan import PlannedRun, plan, software
from covey.experiments.design.records import Design
from covey.experiments.workers.cluster_workers import Workers
from covey.experiments.workers.folder import (
    NO_FOLDER,
    entry,
    folders_of,
    is_damaged,
    prepare,
    read_plan,
    set_aside,
    sweep,
    taken_over,
    unwritable,
)
from covey.experiments.workers.refusals import RefusedError
from covey.experiments.workers.remeasure import is_known_measured, measured
from covey.experiments.workers.row import FAILURES, RUNS, Row, read_row
from covey.experiments.workers.rows import Rows, RowWriter, read_rows
from covey.experiments.workers.supervisor import Supervisor, keep, this_supervisor
from covey.experiments.workers.versions import differences, in_words
from covey.lazy import pl
from covey.processors import processors
from covey.results.lock import writer_of
from covey.results.run import Run
from covey.scenario.folders import folder_name

_TABLE_S, _TABLE_SHARE = 3.0, 0.05
_POLL_S = 0.5
_TRIES, _IN_A_ROW = 3, 10
"""Number of attempts at a run that machines refuse, and of refusals one after the other that end a study."""
_REST = "finished runs are kept, and the same command does the rest"


@dataclass
class Progress:
    """The progress of a design.

    Attributes:
        total: number of runs of this shard.
        before: number of them that had ended before this call.
        statuses: number of ended runs by status.
        row: the run that has ended last; None at the start.
        remarks: problems found in the folder, and the actions taken.
        news: what has just happened to workers and jobs of a cluster; empty in a call about a run.
    """

    total: int
    before: int
    statuses: Counter[str] = field(default_factory=Counter)
    row: Row | None = None
    remarks: list[str] = field(default_factory=list)
    news: list[str] = field(default_factory=list)

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

    If runs have rows only in their own folders, as those that a former version of Covey has computed, their rows are
    taken over into the table.

    Args:
        folder: the folder of the design.
        rows: its rows, if they are known already.

    Raises:
        RunFolderError: there is no design in the folder.

    Attributes:
        metrics: metrics that the design names.
        planned: number of runs that the design asks for.
        damaged: ids of runs with a folder but no complete row.
        damaged_lines: number of damaged lines in each file of the table; their rows are left out.
        taken_over: number of runs whose rows have just been taken over into the table.
    """

    def __init__(self, folder: Path | str, rows: Rows | None = None):
        self.folder = Path(folder)
        plan = read_plan(self.folder)
        self.metrics: tuple[str, ...] = tuple(plan["metrics"])
        self.planned = len(plan["runs"])
        self._rows = read_rows(self.folder) if rows is None else rows
        ids = [one["run_id"] for one in plan["runs"]]
        self.taken_over = self._take_over(ids) if rows is None else 0
        known, there = self._rows.places, folders_of(self.folder)
        self._entries = [one for one in plan["runs"] if one["run_id"] in known]
        missing = [run_id for run_id in dict.fromkeys(ids) if run_id not in known and run_id in there]
        self.damaged = [run_id for run_id in missing if is_damaged(self.folder / RUNS / run_id)]
        self.damaged_lines = dict(self._rows.damaged)

    def _take_over(self, ids: Sequence[str]) -> int:
        """Take over rows from the folders of runs, into the table if nobody else writes there and it can be written."""
        if not writer_of(self.folder):
            with suppress(OSError), RowWriter(self.folder) as writer:
                return taken_over(self.folder, ids, self._rows, writer)
        taken_over(self.folder, ids, self._rows, None)
        return 0

    @cached_property
    def table(self) -> "pl.DataFrame":
        """One row per run; see `covey.experiments.analysis.table.build_table`."""
        from covey.experiments.analysis.table import build_table

        return build_table(self._rows, self._entries)

    def __len__(self) -> int:
        """Return the number of runs that have ended."""
        return len(self._entries)

    @property
    def rows(self) -> Sequence[Row]:
        """Rows of the runs that have ended, in the order of the table; each is made when it is asked for."""
        return _PlacedRows(self._rows, self._entries)

    @property
    def versions(self) -> dict[str, str | None]:
        """Versions of the packages that computed the runs, of the first run that tells them."""
        abouts = self._rows.abouts()
        return next((v for one in self._entries if (v := abouts[one["run_id"]].get("versions"))), {})

    @property
    def failures(self) -> list[Row]:
        """Runs without a result, each with its ``reason`` and the command that runs it alone, ``reproduce``."""
        statuses, rows = self._rows.statuses(), self.rows
        return [rows[i] for i, one in enumerate(self._entries) if statuses[one["run_id"]] in FAILURES]

    @property
    def runs(self) -> list[Run]:
        """The runs that have a result and a folder, in the order of the table."""
        statuses, there = self._rows.statuses(), folders_of(self.folder)
        ids = [one["run_id"] for one in self._entries]
        return [Run(self.folder / RUNS / i) for i in ids if statuses[i] not in FAILURES and i in there]


class _PlacedRows(Sequence[Row]):
    """Rows, each at its place in the present plan, not in the plan with which it ran."""

    def __init__(self, rows: Rows, entries: Sequence[Row]):
        self._rows, self._entries = rows, entries

    def __len__(self) -> int:
        return len(self._entries)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        one = self._entries[index]
        return self._rows[one["run_id"]] | one


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
        jobs: number of runs at a time on this machine; default: one for each processor that this process, its
            container and its job in a queueing system may use (`covey.processors.processors`).
        executor: executes the runs elsewhere: any `concurrent.futures.Executor`, for example
            ``dask.distributed.Client(...).get_executor()``.
        shard: ``(i, n)``: only part i (from 1) of n equal parts.
        retry_failed: repeat the runs without a result.
        observer: called at the start, after each run, and with news of the workers of a cluster.

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
        with RowWriter(folder) as writer:
            session = _Session(folder, planned, writer, shard or (1, 1), retry_failed, observer)
            session.progress.remarks += [f"warning: {replaced}"] if replaced else []
            observer(session.progress)
            if session.todo:
                workers = nullcontext(executor) if executor else threads(processors() if jobs is None else jobs)
                try:
                    with workers as engine:
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


def in_words_taken_over(number: int) -> str:
    """Return a sentence about rows that only the folders of their runs held."""
    return f"the rows of {number} finished runs stood only in their own folders; they are in the table now"


def in_words_damaged(path: Path, lines: int) -> str:
    """Return a sentence about damaged lines in a file of the table."""
    what = "1 line is" if lines == 1 else f"{lines} lines are"
    return f"{what} damaged in {path} and left out; runs that are lost with them are repeated when the design is run"


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


class _Session:
    """The rows so far, the runs to do, and the resulting table."""

    def __init__(
        self,
        folder: Path,
        planned: Sequence[PlannedRun],
        writer: RowWriter,
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
        self.keep = planned[0].keep
        self.rows, self._writer = read_rows(folder), writer
        remarks = [in_words_damaged(path, lines) for path, lines in self.rows.damaged.items()]
        try:
            if taken := taken_over(folder, [p.run_id for p in mine], self.rows, self._writer):
                remarks.append(in_words_taken_over(taken))
            there = folders_of(folder)
            ended = self.rows.statuses()
            failed = [p for p in mine if ended.get(p.run_id) in FAILURES] if retry_failed else []
            results = [p for p in mine if ended.get(p.run_id, FAILURES[0]) not in FAILURES]
            again = self._not_measured(results, there)
            for one in (*failed, *again):
                shutil.rmtree(folder / RUNS / one.run_id, ignore_errors=True)
                there.discard(one.run_id)
                del ended[one.run_id]
        except OSError as error:
            raise unwritable(folder, error) from error
        self.ended = {p.run_id: ended[p.run_id] for p in mine if p.run_id in ended}
        self.todo = [p for p in mine if p.run_id not in ended]
        self.progress = Progress(len(mine), len(self.ended), Counter(self.ended.values()), remarks=remarks)
        for place in [folder / RUNS / one.run_id for one in self.todo if one.run_id in there]:
            if is_damaged(place) and (aside := set_aside(place)) is not None:
                remarks.append(f"{place.name} is damaged: it was renamed to {aside.name}, and the run is repeated")
        if again:
            remarks.append(
                f"{len(again)} runs are repeated: their kept recordings do not hold the measurements that the design "
                "asks for now, or are gone; with keep: everything they would"
            )
        self._next_table = 0.0

    def _not_measured(self, results: Sequence[PlannedRun], there: set[str]) -> list[PlannedRun]:
        """Return the runs whose folders do not hold what the design asks for, after adding what can be added.

        Raises:
            OSError: the disk is full or cannot be written.
        """
        abouts, known = self.rows.abouts(), dict[str, bool]()
        lacking: list[PlannedRun] = []
        added: list[tuple[Row, PlannedRun]] = []
        for one in results:
            about = abouts[one.run_id]
            key = about["about"]
            if key not in known:
                known[key] = is_known_measured(about, one)
            if one.keep == NO_FOLDER or (known[key] and one.run_id in there):
                continue
            place = self.folder / RUNS / one.run_id
            if one.run_id in there and measured(place, one):
                added.append((self.rows[one.run_id], one))
            else:
                lacking.append(one)
        for row, one in added:
            self._writer.append(row, one.keep, one.measurements, self.rows)
        return lacking

    def run(self, executor: Executor, design: Design) -> None:
        """Execute all runs that are left.

        Raises:
            MachineError: machines refused runs, each several times.
        """
        engine = _Engine(executor, self.folder / RUNS, design)
        refused, undone, in_a_row = Counter[str](), dict[str, str](), 0
        try:
            for one in self.todo:
                engine.submit(one)
            while engine.pending:
                one, future = self._next(engine)
                try:
                    self._take(one, _row_of(one, future, self.folder))
                    in_a_row = 0
                except RefusedError as error:
                    refused[one.run_id] += 1
                    in_a_row += 1
                    if in_a_row >= _IN_A_ROW:
                        raise MachineError(
                            f"{error}; {in_a_row} runs one after the other were refused; {_REST}"
                        ) from None
                    if refused[one.run_id] < _TRIES and not isinstance(error, _Vanished):
                        engine.submit(one)
                        self._say([f"{error}; it is tried again"])
                    else:
                        undone[one.run_id] = str(error)
                        self._say([f"{error}; it is left out"])
        except BaseException:
            engine.cancel()
            raise
        if undone:
            raise MachineError(
                f"{len(undone)} of {self.progress.total} runs have no result, because machines refused them: "
                f"{next(iter(undone.values()))}; {_REST}"
            )

    def _next(self, engine: "_Engine") -> "tuple[PlannedRun, Future[Row]]":
        """Return the next run that ends; waiting can be interrupted by Ctrl-C."""
        while True:
            if isinstance(engine.executor, Workers):
                self._say(engine.executor.attend(engine.pending, self.progress.done))
            if (found := engine.next_end(_POLL_S)) is not None:
                return found

    def _say(self, news: list[str]) -> None:
        """Tell the observer news of the workers."""
        if news:
            self.progress.news = news
            self.observer(self.progress)
            self.progress.news = []

    def _take(self, one: PlannedRun, row: Row) -> None:
        """Take in the row of a run that has ended."""
        place = self.folder / RUNS / one.run_id
        if one.keep != NO_FOLDER and not place.is_dir():
            where = row["host"].get("name", "a worker")
            raise DiskError(
                f"{str(place)!r} was written by {where} but is not here: workers must share the folder, and "
                "nobody may remove it while they run"
            )
        try:
            self._writer.append(row, one.keep, one.measurements, self.rows)
        except OSError as error:
            raise unwritable(self.folder, error) from error
        self.ended[one.run_id] = row["status"]
        self.progress.statuses[row["status"]] += 1
        self.progress.row = row
        self.observer(self.progress)
        if self.keeps_table and time.monotonic() >= self._next_table:
            self._write_table()

    def finish(self) -> Rows:
        """Return all rows, including those of other shards, and write the table if they are complete.

        Raises:
            DiskError: finished runs have been removed.
        """
        there = folders_of(self.folder)
        kept = [one["run_id"] for one in self.entries if self.ended.get(one["run_id"], FAILURES[0]) not in FAILURES]
        gone = [] if self.keep == NO_FOLDER else [run_id for run_id in kept if run_id not in there]
        if gone:
            raise DiskError(
                f"{len(gone)} of {len(self.ended)} runs that had ended are gone from {str(self.folder / RUNS)!r}: "
                "they were removed during the study; the same command repeats them"
            )
        if not self.keeps_table:
            self.rows = read_rows(self.folder)
            taken_over(self.folder, [one["run_id"] for one in self.entries], self.rows, None)
        known = self.rows.places
        if all(one["run_id"] in known for one in self.entries):
            self._write_table()
        return self.rows

    def _write_table(self) -> None:
        from covey.experiments.analysis.table import build_table, write_table

        started = time.monotonic()
        try:
            write_table(self.folder, build_table(self.rows, self.entries))
        except OSError as error:
            raise unwritable(self.folder, error) from error
        spent = time.monotonic() - started
        self._next_table = time.monotonic() + max(_TABLE_S, spent / _TABLE_SHARE)


class _Vanished(RefusedError):
    """The workers of a run vanished so often that the scheduler has given it up."""


class _Engine:
    """The runs that an executor has, and those that have ended.

    Attributes:
        executor: the executor.
    """

    def __init__(self, executor: Executor, runs: Path, design: Design):
        self.executor = executor
        self._ended: queue.SimpleQueue[tuple[PlannedRun, Future[Row]]] = queue.SimpleQueue()
        self._runs, self._limits, self._software = runs, design.limits, software()
        self._futures: list[Future[Row]] = []
        self._taken = 0

    @property
    def pending(self) -> int:
        """Number of runs that have not been taken."""
        return len(self._futures) - self._taken

    def submit(self, one: PlannedRun) -> None:
        """Let the executor do a run."""
        future = self.executor.submit(keep, one, self._runs / one.run_id, self._limits, self._software)
        future.add_done_callback(lambda future: self._ended.put((one, future)))
        self._futures.append(future)

    def next_end(self, wait_s: float) -> "tuple[PlannedRun, Future[Row]] | None":
        """Return the next run that ends, with its result; None if none ends in this time."""
        try:
            found = self._ended.get(timeout=wait_s)
        except queue.Empty:
            return None
        self._taken += 1
        return found

    def cancel(self) -> None:
        """Give up all runs."""
        for future in self._futures:
            future.cancel()


def _row_of(one: PlannedRun, future: "Future[Row]", folder: Path) -> Row:
    """Return the row of a run that has ended.

    Raises:
        RefusedError: the machine refused the run, or its workers vanished.
        MachineError: the cluster is gone.
        DiskError: the folder cannot be written.
    """
    try:
        return future.result()
    except CoveyError:
        raise
    except OSError as error:
        raise unwritable(folder, error) from error
    except CancelledError as error:
        raise MachineError(f"the workers stopped: the scheduler has stopped; {_REST}") from error
    except Exception as error:
        if type(error).__name__ != "KilledWorker":
            raise MachineError(f"the workers stopped: {type(error).__name__}: {error}; {_REST}") from error
        if (row := read_row(folder / RUNS / one.run_id)) is not None:
            return row
        times = getattr(error, "allowed_failures", 3) + 1
        raise _Vanished(
            f"run {one.run_id} was given up, because {times} workers vanished while they computed it: the walltime or "
            "the memory of their jobs may be too small"
        ) from None


@contextmanager
def threads(jobs: int) -> Iterator[Executor]:
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
