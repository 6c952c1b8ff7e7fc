"""`Supervisor`: executes runs one after the other in another process, and stops those that exceed their limits."""

import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import psutil

from covey.errors import CoveyError, MachineError
from covey.experiments.design.plan import PlannedRun
from covey.experiments.design.records import RunLimits
from covey.experiments.workers.execute import host
from covey.experiments.workers.folder import Row, new_row, publish, read_row, sweep, unwritable, work_folder
from covey.experiments.workers.refusals import RefusedError, kills_for_memory, out_of_memory, refused
from covey.experiments.workers.versions import difference
from covey.experiments.workers.worker import CLOSED, IDLE_S
from covey.registry import import_path

if sys.platform == "win32":
    resource = None
else:
    import resource

_POLL_S = 0.5
_KILLED = 9  # SIGKILL, which Windows has not
_LOG_BYTES = 20_000
_STARTS = 3
"""Number of attempts to start a process."""
_ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "POLARS_MAX_THREADS", "NUMBA_NUM_THREADS"), "1"
)
_compiling = threading.Lock()
_mine = threading.local()


class Abandoned(CoveyError):
    """The supervisor was closed during a run."""


def keep(planned: PlannedRun, folder: Path, limits: RunLimits, software: dict[str, Any]) -> Row:
    """Execute one run with the supervisor of this thread, and return its row; executors call this.

    Raises:
        DiskError: this machine cannot write the folder.
        CoveyError: as `Supervisor.run`.
    """
    try:
        return this_supervisor().run(planned, folder, limits, software)
    except OSError as error:
        raise unwritable(folder.parent.parent, error, f"{host()['name']}: ") from None


def this_supervisor() -> "Supervisor":
    """Return the supervisor of the calling thread."""
    if not hasattr(_mine, "supervisor"):
        _mine.supervisor = Supervisor()
    return _mine.supervisor


class Supervisor:
    """Owns one process at a time, and gives it one run after the other."""

    def __init__(self) -> None:
        self._child: _Child | None = None
        self._closed = False

    def run(self, planned: PlannedRun, folder: Path, limits: RunLimits, software: dict[str, Any]) -> Row:
        """Return the row of a run: its own, or one with the reason why it was stopped.

        Args:
            planned: the run.
            folder: its folder.
            limits: its limits.
            software: `covey.experiments.design.plan.software` of the machine that planned it.

        Raises:
            OSError: the disk is full or cannot be written.
            CoveyError: this machine has other sources or packages than the one that planned the run.
            MachineError: no process can be started here.
            RefusedError: this machine refuses memory, threads or disk that the run may have.
            Abandoned: the supervisor was closed.
        """
        row, pid = self._attempt(planned, folder, limits, software)
        if row["status"] == "died":  # another program may have killed the process; a second death is the run's own
            row, pid = self._attempt(planned, folder, limits, software)
        return row if pid is None else publish(row, planned.keep, work_folder(folder, pid), folder)

    def _attempt(
        self, planned: PlannedRun, folder: Path, limits: RunLimits, software: dict[str, Any]
    ) -> tuple[Row, int | None]:
        """Return the row of a run and, if the run wrote none itself, the id of its process."""
        if (row := read_row(folder)) is not None:
            return row, None
        child = self._ready(folder.parent, software)
        started, peak_mib = time.monotonic(), 0.0
        child.order({"planned": asdict(planned), "folder": str(folder), "limits": limits.model_dump()})
        beyond = None
        while beyond is None:
            try:
                answer = child.answers.get(timeout=_POLL_S)
            except queue.Empty:
                memory_mib = child.resident_mib()
                peak_mib = max(peak_mib, memory_mib)
                beyond = _beyond(limits, time.monotonic() - started, memory_mib)
                continue
            if answer is None:
                break
            if "refused" in answer:
                self.close()
                raise _refused(planned, answer["refused"])
            return self._taken(answer, limits), None
        if beyond:
            child.ask_where()
        status, reason = beyond or ("died", child.how_it_ended())
        ran_out, most_mib = child.ran_out_of_memory, max(peak_mib, child.peak_mib)
        wall_s, log = time.monotonic() - started, self._drop()
        if self._closed:
            raise Abandoned(f"run {planned.run_id} was abandoned")
        if status == "died":
            if why := refused(log, limits.memory_mib, peak_mib, threads=1):
                raise _refused(planned, why)
            if ran_out:
                beyond = _beyond(limits, 0.0, most_mib)
                if beyond is None:
                    raise _refused(planned, out_of_memory(limits.memory_mib, most_mib))
                (status, reason), peak_mib = beyond, most_mib
        row = new_row(planned, folder) | {"status": status, "reason": reason, "traceback": log}
        row["host"] = host() | {"wall_s": wall_s, "peak_rss_mib": peak_mib or None}
        return row, child.process.pid

    def _taken(self, answer: dict[str, Any], limits: RunLimits) -> Row:
        """Return the row of an answer."""
        if "row" not in answer:
            raise OSError(answer["errno"], answer["error"]) if answer["errno"] else CoveyError(answer["error"])
        assert self._child is not None
        self._child.used = time.monotonic()
        # memory that this run left must not count for the next one
        if answer.get("last") or self._child.resident_mib() > limits.memory_mib / 2:
            self.close()
        return answer["row"]

    def close(self) -> None:
        """End the process; a later run starts a new one."""
        child, self._child = self._child, None
        if child is not None:
            child.end()

    def abandon(self) -> None:
        """End the process during its run, which is lost; called from another thread."""
        self._closed = True
        if (child := self._child) is not None:
            child.kill()

    def _drop(self) -> str:
        """Kill the process, and return the end of its output."""
        child, self._child = self._child, None
        if child is None:
            return ""
        child.kill()
        log = child.log_tail()
        child.release()
        return log

    def _ready(self, runs: Path, software: dict[str, Any]) -> "_Child":
        if self._closed:
            raise Abandoned("no more runs")
        if self._child is not None and time.monotonic() - self._child.used > IDLE_S / 2:
            self.close()
        if self._child is None:
            sweep(runs)
            with _compiling:
                compile_if_cold()
            answer = self._start()
            if answer["ready"]["environment"] != software["environment"]:
                self._drop()
                raise MachineError(
                    f"{host()['name']} has {difference(answer['ready'], software)} than the machine that planned the "
                    "runs; install the same on both, and run the same command again"
                )
        assert self._child is not None
        self._child.forget_log()
        return self._child

    def _start(self) -> dict[str, Any]:
        """Start a process, and retry if it ends before it is ready; return its first message."""
        ends: list[str] = []
        while len(ends) < _STARTS:
            try:
                self._child = child = _Child()
            except OSError as error:
                ends.append(f"it could not be started: {error.strerror or error}")
                continue
            answer = child.answers.get()
            if answer is not None and not self._closed:
                return answer
            ended = "" if self._closed else child.how_it_ended()
            log = self._drop()
            if self._closed:
                raise Abandoned("no more runs")
            ends.append(f"{ended}\n{log}".strip())
        raise MachineError(
            f"no worker process can be started on {host()['name']}, tried {len(ends)} times; the last time, {ends[-1]}"
        )


def _refused(planned: PlannedRun, why: str) -> RefusedError:
    return RefusedError(f"{host()['name']} refused run {planned.run_id}: {why}")


class _Child:
    """One process and its answers.

    Attributes:
        peak_mib: the most memory that it has held, once it has ended by itself [MiB]; 0 if this process held more.
    """

    def __init__(self) -> None:
        self._log = tempfile.TemporaryFile("a+b")  # noqa: SIM115
        # The system begins the peak of a process at that of the one that starts it.
        self._inherited = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss if resource else 0
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-m", "covey.experiments.workers.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            env={"PYDANTIC_DISABLE_PLUGINS": "__all__"} | os.environ | _ONE_THREAD | {"PYTHONPATH": import_path()},
            text=True,
            encoding="utf-8",
            start_new_session=True,  # Ctrl-C in the terminal must reach only the runner
        )
        self.used, self.peak_mib, self._killed_before = time.monotonic(), 0.0, kills_for_memory()
        self.answers: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()
        threading.Thread(target=self._listen, daemon=True).start()

    def order(self, order: dict[str, Any]) -> None:
        with suppress(BrokenPipeError):  # it has died, as its answer will show
            self._stdin.write(json.dumps(order) + "\n")
            self._stdin.flush()

    def resident_mib(self) -> float:
        """Return the resident memory of the process and its children [MiB]; 0 if it is gone."""
        total = 0
        with suppress(psutil.Error):
            process = psutil.Process(self.process.pid)
            for one in (process, *process.children(recursive=True)):
                with suppress(psutil.Error):
                    total += one.memory_info().rss
        return total / 2**20

    def ask_where(self) -> None:
        """Let the process write its present line to its log."""
        if sys.platform != "win32":
            self.process.send_signal(signal.SIGUSR1)
            time.sleep(0.2)

    def how_it_ended(self) -> str:
        code = self._code(1.0)
        if code is None:
            return "its process gave an unreadable answer and was stopped"
        if code == CLOSED:
            return "its process could not answer: the run closed file descriptors that are not its own"
        if code >= 0:
            return f"its process ended with exit code {code}"
        try:
            name = signal.Signals(-code).name
        except ValueError:
            name = str(-code)
        hint = ", as the system does when memory runs out" if name == "SIGKILL" else ""
        return f"its process was ended by {name}{hint}"

    @property
    def ran_out_of_memory(self) -> bool:
        """Whether the system ended it because memory ran out: of the machine, or of its control group."""
        code = self.process.returncode
        return code is not None and code == -_KILLED and kills_for_memory() > self._killed_before

    def _code(self, timeout_s: float) -> int | None:
        """Wait for its end, note its peak of memory, and return its exit code; None if it is still there."""
        if sys.platform == "win32":
            with suppress(subprocess.TimeoutExpired):
                return self.process.wait(timeout_s)
            return None
        until = time.monotonic() + timeout_s
        while self.process.returncode is None:
            with suppress(ChildProcessError):
                ended, status, used = os.wait4(self.process.pid, os.WNOHANG)
                if ended:
                    if used.ru_maxrss > self._inherited:
                        self.peak_mib = used.ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)
                    self.process.returncode = os.waitstatus_to_exitcode(status)
            if self.process.returncode is None:
                if time.monotonic() > until:
                    return None
                time.sleep(0.01)
        return self.process.returncode

    def log_tail(self) -> str:
        """Return the end of the standard output and error of the process."""
        size = self._log.seek(0, os.SEEK_END)
        self._log.seek(max(0, size - _LOG_BYTES))
        return self._log.read().decode(errors="replace")

    def forget_log(self) -> None:
        self._log.truncate(0)

    def end(self) -> None:
        """Let the process end by itself."""
        with suppress(BrokenPipeError):
            self._stdin.close()
        try:
            self.process.wait(5.0)
        except subprocess.TimeoutExpired:
            self.kill()
        self.release()

    def release(self) -> None:
        """Close the pipes of the ended process."""
        with suppress(BrokenPipeError):
            self._stdin.close()
        self._log.close()

    def kill(self) -> None:
        """End the process and its children."""
        if sys.platform != "win32":
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, signal.SIGKILL)
        else:
            self.process.kill()
        self.process.wait()

    @property
    def _stdin(self):
        assert self.process.stdin is not None
        return self.process.stdin

    def _listen(self) -> None:
        assert self.process.stdout is not None
        with suppress(ValueError), self.process.stdout as stream:  # not an answer: give the process up
            for line in stream:
                self.answers.put(json.loads(line))
        self.answers.put(None)


def _beyond(limits: RunLimits, wall_s: float, memory_mib: float) -> tuple[str, str] | None:
    """Return status and reason of a run that exceeds its limits."""
    if wall_s > limits.wall_s:
        return "hung", f"still running after {limits.wall_s:g} s of wall time, its limit (limits.wall_s)"
    if memory_mib > limits.memory_mib:
        may = f"{limits.memory_mib:g} MiB that it may (limits.memory_mib)"
        return "out_of_memory", f"held {memory_mib:.0f} MiB of memory, more than the {may}"
    return None


def compile_if_cold() -> None:
    """Compile the kernels of a usual run, if necessary, before starting processes that need them."""
    from covey.scenario.warmup import compile_all, is_cold

    if is_cold():
        compile_all()
