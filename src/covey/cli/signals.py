"""Signals that end a command as Ctrl-C does."""

import _thread
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_NAMES = ("SIGTERM", "SIGHUP")
_AGAIN_S = 0.1


@contextmanager
def like_ctrl_c() -> Iterator[list[int]]:
    """Let SIGTERM and the loss of the terminal end the block as Ctrl-C does; yield the list of those that came.

    A signal that is ignored, as under ``nohup``, remains ignored. One that comes while Python runs a finalizer or a
    callback from which no exception gets out, and Ctrl-C there, comes again a moment later.
    """
    came: list[int] = []
    here = threading.current_thread() is threading.main_thread()  # signals can be set only there
    numbers = [getattr(signal, name) for name in _NAMES if here and hasattr(signal, name)]
    before = {number: signal.getsignal(number) for number in numbers}

    def end(number: int, _frame: FrameType | None) -> None:
        came.append(number)
        raise KeyboardInterrupt

    hook = sys.unraisablehook

    def lost(what: "sys.UnraisableHookArgs") -> None:
        if what.exc_type is not KeyboardInterrupt:
            return hook(what)
        again = threading.Timer(_AGAIN_S, _send, (came[-1] if came else signal.SIGINT,))
        again.daemon = True
        again.start()

    for number in numbers:
        if before[number] == signal.SIG_DFL:
            signal.signal(number, end)
    sys.unraisablehook = lost
    try:
        yield came
    finally:
        if sys.unraisablehook is lost:
            sys.unraisablehook = hook
        for number in numbers:
            if signal.getsignal(number) is end:
                signal.signal(number, before[number])


def _send(number: int) -> None:
    """Send a signal to the main thread; one that waits for a lock wakes up."""
    if sys.platform != "win32":
        signal.pthread_kill(threading.main_thread().ident or 0, number)
    else:
        _thread.interrupt_main(signal.Signals(number))
