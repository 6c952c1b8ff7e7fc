"""Signals that end a command as Ctrl-C does."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_NAMES = ("SIGTERM", "SIGHUP")


@contextmanager
def like_ctrl_c() -> Iterator[list[int]]:
    """Let SIGTERM and the loss of the terminal end the block as Ctrl-C does; yield the list of those that came.

    A signal that is ignored, as under ``nohup``, remains ignored.
    """
    came: list[int] = []
    here = threading.current_thread() is threading.main_thread()  # signals can be set only there
    numbers = [getattr(signal, name) for name in _NAMES if here and hasattr(signal, name)]
    before = {number: signal.getsignal(number) for number in numbers}

    def end(number: int, _frame: FrameType | None) -> None:
        came.append(number)
        raise KeyboardInterrupt

    for number in numbers:
        if before[number] == signal.SIG_DFL:
            signal.signal(number, end)
    try:
        yield came
    finally:
        for number in numbers:
            if signal.getsignal(number) is end:
                signal.signal(number, before[number])
