"""`Gate`: play, pause, step and speed of a run that somebody watches."""

import threading
import time
from typing import Literal


class WallClock:
    """The clock on the wall."""

    def now(self) -> float:
        """Return the time [s], from any origin."""
        return time.perf_counter()

    def wait(self, changed: threading.Condition, at_most_s: float | None) -> None:
        """Wait until somebody notifies ``changed``, at most so long; None: without an end."""
        changed.wait(at_most_s)


class Gate:
    """Holds a simulation before each step until it may go on.

    After a pause the run goes on at its speed: time that has been lost is never caught up. A paused run waits without
    using the processor.

    Args:
        factor: simulated seconds per second; None: as fast as possible.
        playing: whether it begins at once.
        clock: what says the time, and waits.
    """

    def __init__(self, factor: float | None = None, playing: bool = True, clock: WallClock | None = None):
        self._clock = clock or WallClock()
        self._changed = threading.Condition()
        self._factor, self._playing, self._steps, self._ended = factor, playing, 0, False
        self._due: float | None = None

    @property
    def state(self) -> dict[str, object]:
        """Whether it plays, how fast, and how many steps are still to be taken, for the page."""
        with self._changed:
            return {"playing": self._playing, "factor": self._factor, "steps": self._steps}

    @property
    def stands(self) -> bool:
        """Whether it waits for somebody to go on."""
        with self._changed:
            return not self._playing and not self._steps

    def play(self) -> None:
        """Go on."""
        self._set(playing=True, steps=0)

    def pause(self) -> None:
        """Stand still before the next step."""
        self._set(playing=False, steps=0)

    def step(self, count: int = 1) -> None:
        """Take some steps, after those that are still to be taken, then stand still."""
        with self._changed:
            self._set(playing=False, steps=self._steps + count)

    def speed(self, factor: float | None) -> None:
        """Change the speed: simulated seconds per second; None: as fast as possible."""
        with self._changed:
            self._factor, self._due = factor, None
            self._changed.notify_all()

    def end(self) -> None:
        """Let the run end before its next step."""
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def wake(self) -> None:
        """Let a waiting simulation look for commands."""
        with self._changed:
            self._changed.notify_all()

    def wait(self, step_s: float, work: threading.Event) -> Literal["step", "work", "end"]:
        """Wait until the next step may begin, there is work for the simulation's thread, or the run is to end.

        Args:
            step_s: simulated time of one step [s].
            work: set by whoever has work; `wake` must follow.
        """
        if self._playing and self._factor is None and not (self._steps or self._ended or work.is_set()):
            return "step"  # what changes meanwhile holds from the next step on
        with self._changed:
            while not self._ended:
                if work.is_set():
                    return "work"
                now = self._clock.now()
                if self._steps:
                    self._steps -= 1
                    self._due = None
                    return "step"
                if not self._playing:
                    self._due = None
                    self._clock.wait(self._changed, None)
                    continue
                if self._factor is None:
                    return "step"
                if self._due is None or now - self._due > 0.25:  # it cannot keep up: it goes on from here
                    self._due = now
                if now >= self._due:
                    self._due += step_s / self._factor
                    return "step"
                self._clock.wait(self._changed, self._due - now)
            return "end"

    def _set(self, *, playing: bool, steps: int) -> None:
        with self._changed:
            self._playing, self._steps, self._due = playing, steps, None
            self._changed.notify_all()
