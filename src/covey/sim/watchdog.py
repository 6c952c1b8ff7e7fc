"""The watchdog: a controller that never comes back is interrupted after its budget of wall time."""

import ctypes
import threading
import time

from numba.core import event

from covey.errors import ControllerError


class StepBudgetError(ControllerError):
    """The controller used up its wall-time budget for one step; the run is no longer repeatable."""


class Watchdog:
    """Raises `StepBudgetError` inside the watched thread when one call lasts longer than ``budget_s`` of wall time.

    It can stop any Python code, also a loop that never yields; a call into compiled code is stopped when it returns.
    The time that numba takes to compile a kernel on its first call does not count.

    Attributes:
        started: when the call began that is watched, by `time.monotonic` [s]; None when there is none.
    """

    def __init__(self, budget_s: float):
        self.budget_s = budget_s
        self.started: float | None = None
        self._thread_id = 0
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._thread: threading.Thread | None = None
        self._listener = _Restarter(self)
        event.register("numba:compile", self._listener)

    def __enter__(self) -> "Watchdog":
        if self._thread is None:
            self._thread = threading.Thread(target=self._watch, name="covey-watchdog", daemon=True)
            self._thread.start()
        self._thread_id = threading.get_ident()
        self.started = time.monotonic()
        return self

    def __exit__(self, *_exc: object) -> None:
        with self._lock:
            self.started = None
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self._thread_id), None)  # one that came too late

    @property
    def is_compiling(self) -> bool:
        """Whether numba compiles a kernel now."""
        return self._listener._depth > 0

    def close(self) -> None:
        """End the watching thread."""
        if not self._wake.is_set():
            self._wake.set()
            event.unregister("numba:compile", self._listener)

    def _watch(self) -> None:
        while not self._wake.wait(min(0.25, self.budget_s / 4)):
            with self._lock:
                if self.started is not None and time.monotonic() - self.started > self.budget_s:
                    self.started = time.monotonic()  # a controller that catches it is interrupted again
                    ctypes.pythonapi.PyThreadState_SetAsyncExc(
                        ctypes.c_ulong(self._thread_id), ctypes.py_object(StepBudgetError)
                    )


class _Restarter(event.Listener):
    """Gives the watched call its whole budget again after each compilation, and endless time during one."""

    def __init__(self, watchdog: Watchdog):
        self.watchdog = watchdog
        self._depth = 0

    def on_start(self, event: event.Event) -> None:
        self._depth += 1
        if self.watchdog.started is not None:
            self.watchdog.started = float("inf")

    def on_end(self, event: event.Event) -> None:
        self._depth -= 1
        if self._depth == 0 and self.watchdog.started is not None:
            self.watchdog.started = time.monotonic()
