"""Cases one by one in a child process, each within limits: no traceback, 10 s of processor time, 2 GB."""

import argparse
import importlib
import multiprocessing
import os
import resource
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

LIMIT_S, LIMIT_MB = 10.0, 2000.0
_BLOCKED_S = 150.0  # of wall time in which nothing of a case uses the processor: on a busy machine all takes longer
_IDLE_S = 0.5  # of processor time that also a process takes which only looks around
_SHOWN = 20  # failures that differ
_STEP_MB = 1000.0  # a child that kept this much is replaced, so that the next cases are measured from below


@dataclass
class Outcome:
    """What became of some cases.

    Attributes:
        counts: how many ended in which way, by the word that the case returned.
        failures: what was wrong, by the number of the case.
        slowest_s, largest_mb: of all cases, processor time and peak memory of the child.
    """

    counts: Counter[str] = field(default_factory=Counter)
    failures: dict[int, str] = field(default_factory=dict)
    slowest_s: float = 0.0
    largest_mb: float = 0.0

    def __str__(self) -> str:
        words = ", ".join(f"{n} {word}" for word, n in sorted(self.counts.items()))
        lines = [f"{self.counts.total()} cases: {words}; slowest {self.slowest_s:.2f} s, most {self.largest_mb:.0f} MB"]
        alike: dict[str, list[int]] = {}
        for number, text in self.failures.items():
            alike.setdefault(text[-600:].strip(), []).append(number)
        for text, numbers in list(alike.items())[:_SHOWN]:
            lines += [f"-- {len(numbers)} like case {numbers[0]}:", text]
        return "\n".join(lines + ["…"] * (len(alike) > _SHOWN))


def run_cases(module: str, numbers: Iterable[int]) -> Outcome:
    """Run ``module.case(number)``, which returns a word, for each number; a case that breaks a limit is a failure.

    The child is kept from case to case, and replaced when it hangs, dies or has grown. Ctrl-C ends the cases early.
    """
    outcome = Outcome()
    with suppress(KeyboardInterrupt):
        _run_all(module, list(numbers)[::-1], outcome)
    return outcome


def _run_all(module: str, left: list[int], outcome: Outcome) -> None:
    context = multiprocessing.get_context("spawn")
    while left:
        ours, theirs = context.Pipe()
        with tempfile.TemporaryDirectory(prefix="covey-attack-", ignore_cleanup_errors=True) as folder:
            child = context.Process(target=_child, args=(module, theirs, folder), daemon=True)
            child.start()
            theirs.close()
            try:
                _feed(ours, child, folder, left, outcome)
            finally:
                child.kill()
                child.join()
                _said(folder).unlink(missing_ok=True)


def _feed(pipe: Any, child: Any, folder: str, left: list[int], outcome: Outcome) -> None:
    """Give cases to a child until none is left or it has to be replaced."""
    pipe.recv()  # it has loaded what it needs
    before_mb = None
    while left:
        number = left.pop()
        pipe.send(number)
        begin_s, waits = _cpu_s(child.pid), Waiting(child.pid, _BLOCKED_S)
        while not pipe.poll(0.2) and child.is_alive():
            if _cpu_s(child.pid) - begin_s > LIMIT_S or waits.for_ever():
                where = _where(child, folder)
                outcome.counts["hung"] += 1
                outcome.failures[number] = f"hangs{where}"
                return
        try:
            word, failure, seconds, peak_mb, now_mb = pipe.recv()
        except (EOFError, ConnectionResetError):
            child.join()
            outcome.counts["died"] += 1
            outcome.failures[number] = f"the process ended with {child.exitcode}"
            return
        outcome.counts[word] += 1
        outcome.slowest_s = max(outcome.slowest_s, seconds)
        outcome.largest_mb = max(outcome.largest_mb, peak_mb)
        before_mb = now_mb if before_mb is None else before_mb
        if failure or peak_mb > LIMIT_MB:
            outcome.failures[number] = failure or f"takes {peak_mb:.0f} MB"
        if now_mb > before_mb + _STEP_MB:
            return


def _where(child: Any, folder: str) -> str:
    """Let the child say where it is, and return that."""
    os.kill(child.pid, 10)  # SIGUSR1
    time.sleep(0.5)
    said = _said(folder)
    lines = said.read_text().splitlines() if said.exists() else []
    return " at " + " < ".join(line.strip().rpartition("/")[2] for line in lines[1:12])


def _said(folder: str) -> Path:
    """Return the file in which a child says where it is: beside its folder, whose content is that of the cases."""
    return Path(folder + ".txt")


class Waiting:
    """Tells whether a process and its children have used no processor time for so long that they wait for ever."""

    def __init__(self, pid: int, most_s: float):
        self.pid, self.most_s = pid, most_s
        self._used_s, self._since = 0.0, time.monotonic()

    def for_ever(self) -> bool:
        """Return whether nothing has happened for the time."""
        used_s = 0.0
        with suppress(psutil.Error):
            top = psutil.Process(self.pid)
            for one in (top, *top.children(recursive=True)):
                with suppress(psutil.Error):
                    used_s += sum(one.cpu_times()[:4])
        if abs(used_s - self._used_s) > _IDLE_S:
            self._used_s, self._since = used_s, time.monotonic()
        return time.monotonic() - self._since > self.most_s


def _cpu_s(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _child(module: str, pipe: Any, folder: str) -> None:
    import faulthandler

    with _said(folder).open("w") as stream:
        faulthandler.register(signal.SIGUSR1, stream, all_threads=False)
        os.chdir(folder)
        resource.setrlimit(resource.RLIMIT_DATA, (int(4e9), int(4e9)))  # the machine is spared what is beyond the limit
        case, warm = (getattr(importlib.import_module(module), name, None) for name in ("case", "warm"))
        if warm:
            warm()  # what is compiled once is not counted
        pipe.send("ready")
        while True:
            try:
                number = pipe.recv()
            except EOFError:
                return
            pipe.send(_one(case, number))


def _one(case: Any, number: int) -> tuple[str, str, float, float, float]:
    begin, word, failure = time.process_time(), "failed", ""
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    try:
        word = case(number)
    except BaseException:
        failure = traceback.format_exc(limit=-5)
    seconds = time.process_time() - begin
    peak, now = _memory_mb()
    if seconds > LIMIT_S and not failure:
        word, failure = "slow", f"takes {seconds:.1f} s"
    return word, failure, seconds, peak, now


def _memory_mb() -> tuple[float, float]:
    """Return the peak since it was last cleared, and what is taken now."""
    lines = Path("/proc/self/status").read_text().splitlines()
    found = {line.split(":")[0]: float(line.split()[1]) / 1000 for line in lines if line.startswith(("VmHWM", "VmRSS"))}
    return found["VmHWM"], found["VmRSS"]


def main(module: str, cases: int) -> int:
    """Run an attack from the command line, and print what became of its cases."""
    parser = argparse.ArgumentParser(description=importlib.import_module(module).__doc__)
    parser.add_argument("cases", type=int, nargs="?", default=cases, help="how many")
    parser.add_argument("--first", type=int, default=0, help="number of the first; a case is its number, every time")
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    outcome = run_cases(module, range(given.first, given.first + given.cases))
    print(outcome)
    return 1 if outcome.failures else 0


if __name__ == "__main__":
    sys.exit("run one of the others, such as  python -m attacks.scenarios 100")
