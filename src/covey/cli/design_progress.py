"""`DesignProgress`: shows how many runs of a design have ended, how they ended, and the time left."""

import time
from typing import IO

from covey.cli.bar import TextBar
from covey.cli.progress import clock
from covey.errors import printable
from covey.experiments.analysis.questions import has_goal
from covey.experiments.run import Progress
from covey.runtime.stop import Stop

_LINE_S = 10.0


class DesignProgress(TextBar):
    """A bar in a terminal; elsewhere a line every 10 s, for the first run that ends, and for each failed run.

    Args:
        stream: output; default standard error.
        stop: the end of the runs; those without a goal have ended, not timed out.
    """

    def __init__(self, stream: IO[str] | None = None, stop: Stop = Stop(explored=0.99)):
        super().__init__(stream)
        self._stop = stop.model_dump()
        self._first = time.monotonic()
        self._next = 0.0

    def observe(self, progress: Progress) -> None:
        """Update the display: a run has ended, or the first is about to begin."""
        now = time.monotonic()
        if progress.news:
            self._tell(progress, now)
            return
        if progress.row is None:
            self._first = now
            for remark in progress.remarks:
                self.say(remark)
        elif progress.row.get("reason"):
            self.say(f"run {progress.row['run_id']} {progress.row['status']}: {progress.row['reason']}")
        is_first = progress.row is not None and progress.done == progress.before + 1  # the next may take hours
        if self.in_terminal or is_first or now >= self._next or progress.done == progress.total:
            self._next = now + _LINE_S
            self.show(self.line(progress, now), progress.done / max(1, progress.total))

    def _tell(self, progress: Progress, now: float) -> None:
        """Write news of the workers, and how many runs have ended."""
        for news in progress.news:
            self.say(printable(news))
        self.show(self.line(progress, now), progress.done / max(1, progress.total))

    def line(self, progress: Progress, now: float) -> str:
        """Return the line for this state, at the time ``now`` of the monotonic clock.

        With news of the workers it says nothing of the time to go, which then depends on them.
        """
        parts = [f"{progress.done}/{progress.total} runs"]
        if progress.row is None and progress.before:
            parts.append(f"{progress.before} of them earlier")
        if (timeouts := progress.statuses["timeout"]) and has_goal(self._stop, +progress.statuses):
            parts.append(f"{timeouts} timed out")
        if progress.failed:
            parts.append(f"{progress.failed} failed")
        ended, left = progress.done - progress.before, progress.total - progress.done
        if ended and left and not progress.news:
            parts.append(f"about {clock((now - self._first) / ended * left)} to go")
        return ", ".join(parts)
