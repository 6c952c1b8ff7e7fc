"""How long the simulator waits for its controllers: as long as they take, or until the step is over."""

import time


class LockStep:
    """Every step waits for every controller; the run repeats."""

    repeatable = True

    def begin(self) -> None:
        """Begin a step."""

    def end(self) -> None:
        """End it."""

    def maps_until(self) -> float | None:
        """Return until when (`time.monotonic`) the answers to scans are waited for; None: as long as they take."""
        return None

    def commands_until(self) -> float | None:
        """Return the same of commands."""
        return None


class RealTime:
    """A step lasts ``step_s`` of wall time, what the simulator itself needs for it included.

    Who has not answered by then is left behind, and the answer counts when it comes.
    """

    repeatable = False

    def __init__(self, step_s: float):
        self._step_s = step_s
        self._begun = self._ended = -1.0
        self._own_s = 0.0  # what the simulator needs between two steps

    def begin(self) -> None:
        """Wait until the step may begin."""
        now = time.monotonic()
        if self._begun >= 0:
            self._own_s = min(now - self._ended, 0.5 * self._step_s)
            if now < self._begun + self._step_s:
                time.sleep(self._begun + self._step_s - now)
        self._begun = time.monotonic()

    def end(self) -> None:
        """End it."""
        self._ended = time.monotonic()

    def maps_until(self) -> float:
        """Return now: what has not come yet is taken later."""
        return time.monotonic()

    def commands_until(self) -> float:
        """Return the end of the step, less what the simulator itself needs."""
        return self._begun + self._step_s - self._own_s
