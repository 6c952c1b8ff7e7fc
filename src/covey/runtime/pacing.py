"""The speed of a run: as fast as possible, a factor of real time, or one key press per step."""

import gc
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Literal

from covey.errors import InvalidValueError
from covey.runtime.keys import wait_for_key


class Pace:
    """Waits before each step.

    Args:
        speed: ``"max"``, simulated seconds per second, or 0: call ``wait`` before each step.
        wait: waits for the user; default: for a key of the terminal.
    """

    def __init__(self, speed: float | Literal["max"], wait: Callable[[], Any] | None = None):
        if speed != "max" and not (isinstance(speed, (int, float)) and speed is not True and 0 <= speed < float("inf")):
            raise InvalidValueError(
                f"speed is {speed!r}; give 'max', a factor such as 1 or 10, or 0 for a key per step"
            )
        self.speed, self._wait_for_user = speed, wait or wait_for_key
        self._start: tuple[float, float] | None = None

    def wait(self, time_s: float) -> None:
        """Wait until the step at a simulated time [s] may begin."""
        if self.speed == "max":
            return
        if self.speed == 0:
            self._wait_for_user()
            return
        now = time.perf_counter()
        if self._start is None:
            self._start = (now, time_s)
        due = self._start[0] + (time_s - self._start[1]) / float(self.speed)
        if due > now:
            time.sleep(due - now)


@contextmanager
def rare_collections() -> Iterator[None]:
    """Collect cyclic garbage less often: each collection is slow, because it visits all that robots remember.

    A step makes and drops the same number of objects, so memory use does not change; cyclic garbage is still found.
    """
    often = gc.get_threshold()
    if often[0]:
        gc.set_threshold(max(often[0], 100_000), *often[1:])
    try:
        yield
    finally:
        gc.set_threshold(*often)
