"""How long the simulator waits for its controllers: without limit, or until the end of the step."""

import time


class LockStep:
    """Every step waits for every controller; the run is repeatable."""

    repeatable = True

    def begin(self) -> None:
        """Begin a step."""

    def end(self) -> None:
        """End a step."""

    def maps_until(self) -> float | None:
        """Return the deadline (`time.monotonic`) for answers to scans; None: no deadline."""
        return None

    def commands_until(self) -> float | None:
        """Return the deadline for commands."""
        return None


class RealTime:
    """A step lasts ``step_s`` of wall time, including the simulator's own work.

    The simulator does not wait longer; a late answer counts when it arrives.
    """

    repeatable = False

    def __init__(self, step_s: float):
        self._step_s = step_s
        self._begun = self._ended = -1.0
        self._own_s = 0.0  # the simulator's own time between two steps

    def begin(self) -> None:
        """Wait until the step may begin."""
        now = time.monotonic()
        if self._begun >= 0:
            self._own_s = min(now - self._ended, 0.5 * self._step_s)
            if now < self._begun + self._step_s:
                time.sleep(self._begun + self._step_s - now)
        self._begun = time.monotonic()

    def end(self) -> None:
        """End a step."""
        self._ended = time.monotonic()

    def maps_until(self) -> float:
        """Return the present time: late answers are processed later."""
        return time.monotonic()

    def commands_until(self) -> float:
        """Return the end of the step minus the simulator's own time."""
        return self._begun + self._step_s - self._own_s
