"""`TextBar`: a bar with a line of text in a terminal, and lines elsewhere."""

import sys
from types import TracebackType
from typing import IO, Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn


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
