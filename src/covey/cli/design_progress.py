"""`DesignProgress`: shows how many runs of a design have ended, how, and how long the rest will take."""

import sys
import time
from types import TracebackType
from typing import IO

from rich.console import Console
from rich.progress import BarColumn, TextColumn
from rich.progress import Progress as Bar

from covey.cli.progress import clock
from covey.experiments.run import Progress

_LINE_S = 10.0


class DesignProgress:
    """A bar in a terminal; elsewhere a line every 10 s, and one for each run that failed.

    Args:
        stream: where to write; default standard error.
    """

    def __init__(self, stream: IO[str] | None = None):
        self.stream = stream or sys.stderr
        self._bar = Bar(
            BarColumn(24),
            TextColumn("{task.description}", markup=False),
            console=Console(file=self.stream, highlight=False, markup=False),
            auto_refresh=False,
        )
        self._task = self._bar.add_task("", total=1.0)
        self._first = time.monotonic()
        self._next = 0.0

    def __enter__(self) -> "DesignProgress":
        if self.stream.isatty():
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.stream.isatty():
            self._bar.stop()

    def observe(self, progress: Progress) -> None:
        """Take in that a run has ended, or that the first is about to begin."""
        now = time.monotonic()
        if progress.row is None:
            self._first = now
        elif progress.row.get("reason"):
            self._say(f"run {progress.row['run_id']} {progress.row['status']}: {progress.row['reason']}")
        if self.stream.isatty():
            done = progress.done / max(1, progress.total)
            self._bar.update(self._task, completed=done, description=self.line(progress, now), refresh=True)
        elif now >= self._next or progress.done == progress.total:
            self._next = now + _LINE_S
            self._say(self.line(progress, now))

    def line(self, progress: Progress, now: float) -> str:
        """Return the line for this state, at the time ``now`` of the monotonic clock."""
        parts = [f"{progress.done}/{progress.total} runs"]
        if progress.row is None and progress.before:
            parts.append(f"{progress.before} of them before")
        if timeouts := progress.statuses["timeout"]:
            parts.append(f"{timeouts} timed out")
        if progress.failed:
            parts.append(f"{progress.failed} failed")
        ended, left = progress.done - progress.before, progress.total - progress.done
        if ended and left:
            parts.append(f"about {clock((now - self._first) / ended * left)} to go")
        return ", ".join(parts)

    def _say(self, text: str) -> None:
        if self.stream.isatty():
            self._bar.console.print(text)
        else:
            self.stream.write(text + "\n")
            self.stream.flush()
