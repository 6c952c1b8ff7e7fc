"""`ProgressBar`: an observer that shows how far a run has come."""

import math
import time
from typing import IO, Self

from covey.cli.bar import TextBar
from covey.results.metrics.headlines import measured
from covey.results.snapshot import Snapshot
from covey.runtime.stop import Stop

_REFRESH_S, _LINE_S = 0.1, 10.0
_LEAST = 1e-3  # progress from which an end can be predicted


class ProgressBar(TextBar):
    """Shows share of the goal, simulated time, real-time factor and time left: a bar in a terminal, lines elsewhere.

    Args:
        stop: when the run ends.
        stream: output; default standard error.
    """

    def __init__(self, stop: Stop, stream: IO[str] | None = None):
        super().__init__(stream)
        self.stop = stop
        self._covering = stop.explored is None and stop.covered is not None
        self._goal = stop.covered if self._covering else stop.explored
        self._first, self._first_time_s = time.perf_counter(), 0.0
        self._next, self._next_done = 0.0, 0.1
        self._first_done = 0.0

    def __enter__(self) -> Self:
        super().__enter__()
        self.show("getting ready (the first run compiles its kernels; later runs load them)", 0.0)
        return self

    def observe(self, snapshot: Snapshot) -> None:
        """Take in one snapshot."""
        now = time.perf_counter()
        if self._next == 0.0:  # the first step may have compiled kernels: measure the speed from its end
            self._first, self._first_time_s, self._first_done = now, snapshot.time_s, self.done(snapshot)
        done = self.done(snapshot)
        if now < self._next and (self.in_terminal or done < self._next_done):
            return
        self._next = now + (_REFRESH_S if self.in_terminal else _LINE_S)
        self._next_done = done + 0.1
        self.show(self.line(snapshot, now), done)

    __call__ = observe

    def done(self, snapshot: Snapshot) -> float:
        """Return the progress towards the goal, or else towards the timeout (0 to 1)."""
        done = self.share(snapshot) / self._goal if self._goal else snapshot.time_s / self.stop.timeout_s
        return min(1.0, done) if done > 0 else 0.0

    def share(self, snapshot: Snapshot) -> float:
        """Return the explored or covered share that counts for the goal."""
        if self._covering:
            return snapshot.mission["covered_share"]
        return self.stop.share(snapshot)

    def line(self, snapshot: Snapshot, now: float) -> str:
        """Return the line for a snapshot, at the time ``now`` of the performance counter."""
        wall, simulated = now - self._first, snapshot.time_s - self._first_time_s
        share, done = self.share(snapshot), self.done(snapshot)
        parts = [f"{share:6.1%} {'covered' if self._covering else 'explored'}"] if share == share else []
        if self._goal is None:
            parts = measured(snapshot.mission) or parts
        parts.append(f"{snapshot.time_s:7.1f} s simulated")
        if wall > 0 and simulated > 0:
            factor = simulated / wall
            to_timeout = (self.stop.timeout_s - snapshot.time_s) / factor
            parts.append(f"{factor:6.1f} x real time")
            gained = done - self._first_done  # by those who explore; the first step sees what is around the starts
            if self._goal and gained < _LEAST:  # nobody drives, or not yet: no end is in sight but the last
                parts.append(f"at most {clock(max(0.0, to_timeout))} to go")
            else:
                to_goal = wall * (1 - done) / gained if self._goal else to_timeout
                parts.append(f"about {clock(max(0.0, min(to_goal, to_timeout)))} to go")
        return "  ".join(parts)


def clock(seconds: float) -> str:
    """Return a duration as text.

    Examples:
        >>> clock(7.2), clock(83.0), clock(7500.0), clock(60.000000001)  # differences of times are rounded
        ('8 s', '1 min 23 s', '2 h 5 min', '1 min 0 s')
    """
    whole = math.ceil(seconds - 1e-6)
    if whole < 60:
        return f"{whole} s"
    return f"{whole // 60} min {whole % 60} s" if whole < 3600 else f"{whole // 3600} h {whole % 3600 // 60} min"
