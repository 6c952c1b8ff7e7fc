"""The watchdog: interrupts a controller that does not return, or that takes too much memory."""

import _weakrefset
import ctypes
import gc
import inspect
import os
import signal
import sys
import threading
import time
import traceback
import weakref
from contextlib import suppress
from types import FrameType

import numba
import psutil
from numba.core import event

from covey.errors import ControllerError
from covey.kernel import WAITING
from covey.onboard.step import Failed
from covey.runtime.local.failures import text_of

MOST_BYTES = 2**30
"""Memory that a controller may take in one step [bytes]; checked when a step takes long."""
MOST_CALLS = 100_000
"""How deep a controller may call itself; checked when it has taken a quarter of `MOST_BYTES`."""
_COMPILING = "numba:compile", WAITING
_EVERY_S = 0.05
_LOADING_S = 60.0  # how long a call may load a library: half a library would stay, and break who uses it next
_IMPORTS = "<frozen importlib._bootstrap>"
_TIDYING_S = 1.0  # how long a finalizer of Python may keep an interruption waiting
_TIDY = (weakref.__file__, _weakrefset.__file__, os.path.dirname(numba.__file__))  # what is called when objects go
_AROUND = os.path.dirname(__file__)  # the code that calls controllers, and takes what comes of it
_TIMERS = {"SIGALRM": "ITIMER_REAL", "SIGVTALRM": "ITIMER_VIRTUAL", "SIGPROF": "ITIMER_PROF"}
_TELLING_S = 1.0  # how long the text of a failure may take, besides the budget
_TRIES = 3  # interruptions before a message that it cannot be interrupted


class StepBudgetError(ControllerError):
    """The controller used up its wall-time budget for one step; the run is no longer repeatable."""

    def __init__(self, message: str = "it exceeded its wall time for one step"):
        super().__init__(message)


class StepMemoryError(StepBudgetError):
    """The controller took more memory in one step than `MOST_BYTES`."""

    def __init__(self, message: str = f"it took more than {MOST_BYTES >> 20} MiB of memory in one step"):
        super().__init__(message)


class StepDepthError(StepBudgetError):
    """The controller called itself more than `MOST_CALLS` deep; to unwind that takes several times its memory."""

    def __init__(self, message: str = f"it called itself more than {MOST_CALLS} deep; a recursion needs an end"):
        super().__init__(message)


class Watchdog:
    """Raises `StepBudgetError` inside the watched thread if one call lasts longer than ``budget_s`` of wall time.

    It can stop any Python code, even a loop that never yields. In the main thread it also stops calls that wait for the
    system: a sleep, a lock, a file. A call into compiled code stops when it returns. The time that numba takes to
    compile a kernel on its first call does not count, nor does that of loading a library, up to a minute, nor that in
    which the thread waits for a processor that others use, where the system tells it (Linux).
    ``with watchdog:`` watches one call. To watch many calls, set ``started`` before each, and call `rest` after the
    last, in ``finally``. A late interruption can still arrive there, once: pass it to `failed`. None is sent while the
    thread is in the code of this folder, or in a finalizer, where it would end the run or be lost.

    Attributes:
        started: start of the watched call, by `time.monotonic` [s]; None if there is none.
        overdue: the ``started`` of the last interrupted call.
    """

    def __init__(self, budget_s: float):
        self.budget_s = budget_s
        self.started: float | None = None
        self.overdue: float | None = None
        self._again: float | None = None
        self._tries = 0
        self._call: float | None = None
        self._bytes = 0
        self._waited_at_look_s = self._waited_before_s = 0.0
        self._loads_since: float | None = None
        self._process = psutil.Process()
        self._thread_id = self._native_id = 0
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._thread: threading.Thread | None = None
        self._wakes_sleepers = False
        self._interrupted = False
        self._listener = _Restarter(self)
        for kind in _COMPILING:
            event.register(kind, self._listener)

    def __enter__(self) -> "Watchdog":
        self.ready()
        self.started = time.monotonic()
        return self

    def __exit__(self, *_exc: object) -> None:
        self.rest()

    def ready(self) -> None:
        """Prepare to watch calls of this thread."""
        native_id = threading.get_native_id()
        if native_id != self._native_id:
            self._native_id = native_id
            self._waited_at_look_s = self._waited_s()
        if self._thread is None:
            self._thread = threading.Thread(target=self._watch, name="covey-watchdog", daemon=True)
            self._thread.start()
            main = threading.current_thread() is threading.main_thread()
            if main and sys.platform != "win32":
                self._wakes_sleepers = _only_wakes(signal.SIGURG)  # ends calls that wait for the system
                for alarm, timer in _TIMERS.items():  # an alarm that a controller sets would end the program
                    if not any(signal.getitimer(getattr(signal, timer))):
                        _only_wakes(getattr(signal, alarm))
        self._thread_id = threading.get_ident()

    def rest(self) -> None:
        """Stop watching; interrupt nothing any more, not even a call that is overdue."""
        while True:
            try:
                with self._lock:
                    self.started = None
                    if self._interrupted:  # too late: withdraw it
                        self._interrupted = False
                        _withdraw_interruption(self._thread_id)
                return
            except StepBudgetError:
                continue

    @property
    def is_excused(self) -> bool:
        """Whether numba is compiling a kernel, or a call that is late loads a library or waits for a processor."""
        if self._listener._depth > 0:
            return True
        started = self.started
        if started is None or started != self._call:
            return False
        return self._loads_since is not None or self._over_s(started) <= 0.0 < self._late_s(started)

    def close(self) -> None:
        """End the watching thread."""
        if not self._wake.is_set():
            self._wake.set()
            for kind in _COMPILING:
                event.unregister(kind, self._listener)

    def _watch(self) -> None:
        while not self._wake.wait(min(_EVERY_S, self.budget_s / 4)):
            with suppress(MemoryError):  # the controller has it all, and will get the same error
                self._look()

    def _look(self) -> None:
        before_s, self._waited_at_look_s = self._waited_at_look_s, self._waited_s()
        started = self.started
        if started is None:
            return
        held = self._resident()
        if started != self._call:  # it has begun since the last look, which may be long ago on a busy machine
            self._call, self._bytes, self._loads_since = started, held, None
            self._waited_before_s = before_s
        with self._lock:
            over_s = self._over_s(started)
            # The thread stands where it gave Python's lock away, and gets an error there before it goes on.
            frame = sys._current_frames().get(self._thread_id)
            if self.started != started or (frame is not None and _is_around(frame)):
                return
            if over_s > 0.0 and self._loads(frame):
                return
            if over_s > 0.0 and not (over_s < _TIDYING_S and _tidies_up(frame)):
                self._interrupt(StepBudgetError)
            elif held - self._bytes > MOST_BYTES:
                self._interrupt(StepMemoryError)
            elif held - self._bytes > MOST_BYTES // 4 and _is_deep(frame):
                self._interrupt(StepDepthError)

    def _late_s(self, started: float) -> float:
        return time.monotonic() - started - self.budget_s

    def _over_s(self, started: float) -> float:
        """Return how long a call has lasted beyond its budget, but for the time in which it waited for a processor."""
        late_s = self._late_s(started)
        return late_s if late_s <= 0.0 else late_s - max(self._waited_s() - self._waited_before_s, 0.0)

    def _waited_s(self) -> float:
        """Return how long the watched thread has waited for a processor [s]; 0 where the system does not tell."""
        try:
            with open(f"/proc/self/task/{self._native_id}/schedstat", "rb") as file:
                return 1e-9 * int(file.read().split()[1])
        except (OSError, ValueError, IndexError):
            return 0.0

    def _loads(self, frame: FrameType | None) -> bool:
        """Give the call its full budget again if it loads a library; return whether it does."""
        while frame is not None and not _is_around(frame) and frame.f_code.co_filename != _IMPORTS:
            frame = frame.f_back
        now = time.monotonic()
        self._loads_since = None if frame is None or _is_around(frame) else self._loads_since or now
        if self._loads_since is None or now - self._loads_since > _LOADING_S:
            return False
        self.started = self._call = now
        self._waited_before_s = self._waited_s()
        return True

    def _resident(self) -> int:
        """Return the memory of this process [bytes]; 0 if a controller has closed the system's files."""
        try:
            return self._process.memory_info().rss
        except (OSError, psutil.Error):
            return 0

    def _interrupt(self, why: type[StepBudgetError]) -> None:
        self._tries = self._tries + 1 if self.started == self._again else 1
        if self._tries == 1:
            self.overdue = self.started
        self.started = self._again = self._call = time.monotonic()  # interrupt again a controller that catches it
        self._bytes, self._waited_before_s = self._resident(), self._waited_s()  # to unwind takes memory, too
        self._interrupted = True
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self._thread_id), ctypes.py_object(why))
        if sys.platform != "win32" and self._wakes_sleepers:
            signal.pthread_kill(self._thread_id, signal.SIGURG)
        if self._tries == _TRIES:
            frame = sys._current_frames().get(self._thread_id)
            where = f"{frame.f_code.co_filename}:{frame.f_lineno}" if frame else "somewhere"
            print(
                f"covey: a controller is in {where} and cannot be interrupted there; end the run with Ctrl-C, or run "
                "controllers in processes of their own, which can be stopped: execution: {controllers: processes}",
                file=sys.stderr,
                flush=True,
            )


class _WithdrawnError(BaseException):
    """Takes the place of an interruption that is withdrawn."""


def _withdraw_interruption(thread: int) -> None:
    """Withdraw an interruption that may have been raised already.

    Another one takes its place and is raised here: if there were none, Python 3.11 would look for it at each call from
    then on, and for ever while it traces or profiles.
    """
    if thread != threading.get_ident():
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), None)
        return
    with suppress(_WithdrawnError):
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(_WithdrawnError))
        while True:
            pass


def _is_around(frame: FrameType) -> bool:
    """Return whether a frame is of the code around controllers."""
    return os.path.dirname(frame.f_code.co_filename) == _AROUND


def _is_deep(frame: FrameType | None) -> bool:
    calls = 0
    while frame is not None and calls <= MOST_CALLS:
        frame, calls = frame.f_back, calls + 1
    return frame is not None


def _tidies_up(frame: FrameType | None) -> bool:
    """Return whether Python calls a finalizer just now: an error in there is lost, and so is what it tidies up.

    A callback of the garbage collector counts as one.
    """
    callbacks = {getattr(callback, "__code__", None) for callback in gc.callbacks}
    while frame is not None and not (
        (code := frame.f_code).co_name == "__del__" or code.co_filename.startswith(_TIDY) or code in callbacks
    ):
        frame = frame.f_back
    return frame is not None


def _only_wakes(number: int) -> bool:
    """Let a signal only wake sleeping calls, unless the program uses it; return whether it only wakes."""
    if signal.getsignal(number) is signal.SIG_DFL:
        signal.signal(number, _look_up)
    return signal.getsignal(number) is _look_up


def failed(error: BaseException, watchdog: Watchdog) -> Failed:
    """Return how a controller failed; only the type of the error if its own code cannot give its text."""
    watchdog.rest()  # a late interruption ends the first try to rest
    try:
        with watchdog:
            watchdog.started = time.monotonic() + _TELLING_S
            if type(error) is StepBudgetError:  # Python made it, without arguments
                error.args = (f"{error}, {watchdog.budget_s:g} s (step_budget_s){_advice(error)}",)
            text = text_of(error)
    except KeyboardInterrupt:
        raise
    except BaseException as another:
        watchdog.rest()
        text = f"{type(error).__name__}, whose text cannot be shown: {type(another).__name__}"
    return Failed(text, isinstance(error, StepBudgetError), error)


def _advice(error: BaseException) -> str:
    """Return what a loop needs, in an async controller or in another one."""
    codes = (frame.f_code for frame, _ in traceback.walk_tb(error.__traceback__))
    is_async = any(code.co_flags & inspect.CO_COROUTINE for code in codes)
    return "; a loop needs an await" if is_async else "; does a loop in it never end?"


def _look_up(*_: object) -> None:
    """Do nothing: a signal is enough for Python to raise a pending interruption."""


class _Restarter(event.Listener):
    """Gives the watched call its full budget again after each compilation, and unlimited time during one.

    A wait for a kernel that another process compiles counts as one.
    """

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
