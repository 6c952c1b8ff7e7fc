"""`TextBar`: a bar with a line of text in a terminal, and lines elsewhere; `StageBar` for work in stages."""

import sys
import time
from types import TracebackType
from typing import IO, Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

_REFRESH_S, _LINE_S = 0.1, 10.0
_PATIENCE_S = 1.0  # what takes less needs no bar


class TextBar:
    """A bar that is redrawn at each update.

    Args:
        stream: output; default standard error.
    """

    def __init__(self, stream: IO[str] | None = None):
        self.stream = stream or sys.stderr
        self.in_terminal = self.stream.isatty()
        self._bar = Progress(
            BarColumn(24),
            TextColumn("{task.description}", markup=False),
            console=Console(file=self.stream, highlight=False, markup=False),
            auto_refresh=False,
        )
        self._task = self._bar.add_task("", total=1.0)

    def __enter__(self) -> Self:
        if self.in_terminal:
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.in_terminal:
            self._bar.stop()

    def show(self, text: str, done: float) -> None:
        """Show the progress (0 to 1) and a line of text."""
        if self.in_terminal:
            self._bar.update(self._task, completed=done, description=text, refresh=True)
        else:
            self.say(text)

    def say(self, text: str) -> None:
        """Write a line that stays."""
        if self.in_terminal:
            self._bar.console.print(text)
        else:
            self.stream.write(text + "\n")
            self.stream.flush()


class StageBar(TextBar):
    """How far each stage of some work is: after a second a bar in a terminal; elsewhere a line every 10 s."""

    def __init__(self, stream: IO[str] | None = None):
        super().__init__(stream)
        self._next = time.monotonic() + (_PATIENCE_S if self.in_terminal else _LINE_S)

    def __enter__(self) -> Self:
        return self

    def observe(self, what: str, done: int, total: int) -> None:
        """Update the display.

        Args:
            what: the stage.
            done, total: how many of its parts are done, of how many; total 0: it has no parts.
        """
        now = time.monotonic()
        if now < self._next and not (self._bar.live.is_started and total == 0):
            return
        self._next = now + (_REFRESH_S if self.in_terminal else _LINE_S)
        if self.in_terminal:
            self._bar.start()
        self.show(f"{what}: {done:,} of {total:,}" if total else what, done / max(1, total))
