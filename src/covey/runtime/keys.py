"""Single keys of a terminal, without Enter."""

import importlib
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from covey.errors import InvalidValueError


@contextmanager
def key_by_key() -> Iterator[None]:
    """Let the terminal pass on each key at once; does nothing on Windows, and where standard input is no terminal."""
    if os.name == "nt" or not sys.stdin.isatty():
        yield
        return
    termios: Any = importlib.import_module("termios")
    terminal, before = sys.stdin.fileno(), termios.tcgetattr(sys.stdin.fileno())
    importlib.import_module("tty").setcbreak(terminal, termios.TCSADRAIN)  # Ctrl-C interrupts; what was typed stays
    try:
        yield
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)


def wait_for_key() -> None:
    """Wait for a key of the terminal, or for a line where standard input is no terminal.

    Raises:
        InvalidValueError: standard input has ended.
    """
    if not sys.stdin.isatty():
        if not sys.stdin.readline():
            raise InvalidValueError("speed 0 waits for a key at each step, and standard input has ended")
        return
    print("a key for the next step", end="\r", file=sys.stderr, flush=True)
    if os.name == "nt":
        keyboard: Any = importlib.import_module("msvcrt")
        if keyboard.getwch() == "\x03":
            raise KeyboardInterrupt
        return
    with key_by_key():
        if not os.read(sys.stdin.fileno(), 1):
            raise InvalidValueError("speed 0 waits for a key at each step, and standard input has ended")
