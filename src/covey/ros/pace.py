"""`Pacer`: when the next step of a simulation in a graph of ROS 2 may begin, and how many began late."""

import time
from collections.abc import Callable

_LOOK_S = 0.005  # how often a waiting simulation looks for requests [s]
_LOST_S = 0.25
_TICK_S = 0.01
"""Time between two ticks of a clock that runs while a simulation waits [s]: of simulated time, and of the wall."""


class Pacer:
    """Holds a simulation before each step.

    A step is late when it was due before the one before it had ended. Up to a quarter of a second is caught up; more is
    lost time. Time runs from the end of a run's first step on, which loads code and sees all of its surroundings anew.

    Args:
        factor: simulated seconds per second; None: as fast as possible.

    Attributes:
        factor: see above.
        playing: whether the time runs.
        steps: number of steps to take while it does not.
        taken, late: number of steps that it let go, and of those that were late.
        worst_s: the largest delay [s].
    """

    def __init__(self, factor: float | None):
        self._factor, self.playing, self.steps = factor, True, 0
        self.taken, self.late, self.worst_s = 0, 0, 0.0
        self._due: float | None = None
        self._first = True

    def begin(self) -> None:
        """A run begins."""
        self._due, self._first = None, True

    @property
    def factor(self) -> float | None:
        """Simulated seconds per second; None: as fast as possible."""
        return self._factor

    @factor.setter
    def factor(self, factor: float | None) -> None:
        self._factor, self._due = factor, None

    def pause(self) -> None:
        """Stop before the next step."""
        self.playing, self.steps, self._due = False, 0, None

    def play(self) -> None:
        """Go on."""
        self.playing, self.steps, self._due = True, 0, None

    def step(self, count: int = 1) -> None:
        """Take some steps, then stop."""
        self.playing, self.steps, self._due = False, self.steps + count, None

    def wait(
        self, step_s: float, look: Callable[[], object], tick: Callable[[float], object] = lambda left_s: None
    ) -> None:
        """Wait until the next step may begin.

        Args:
            step_s: length of a step [s].
            look: called again and again while it waits, at least once.
            tick: called as often, at least every 10 ms of simulated time and of the wall, while the time runs, with the
                simulated time until the step [s].
        """
        look()
        now = time.perf_counter()
        if self._due is not None and now > self._due and self.playing:
            self.late += 1
            self.worst_s = max(self.worst_s, now - self._due)
        while not self._may_begin(now):
            time.sleep(self._nap(now))
            look()
            now = time.perf_counter()
            if self._due is not None and self._factor is not None and now < self._due:
                tick(self._factor * (self._due - now))
        self.taken += 1
        first, self._first = self._first, False
        if self.steps:
            self.steps -= 1
        elif self._factor is not None and not first:
            before = now if self._due is None or now - self._due > _LOST_S else self._due
            self._due = before + step_s / self._factor

    def _nap(self, now: float) -> float:
        """Return how long to sleep [s]: at most until the next tick, or the next look."""
        if self._due is None or self._factor is None:
            return _LOOK_S
        left = max(0.0, self._due - now)
        every = _TICK_S / max(1.0, self._factor)
        return min(left, _LOOK_S, left % every or every)

    def _may_begin(self, now: float) -> bool:
        if self.steps or not self.playing:
            return self.steps > 0
        return self._factor is None or self._due is None or now >= self._due

    def __str__(self) -> str:
        if self._factor is None:
            return f"{self.taken} steps"
        worst = f", the worst by {1e3 * self.worst_s:.0f} ms" if self.late else ""
        return f"{self.late} of {self.taken} steps were late{worst}"
