"""`StreamCommands`: events that you type, or write into a pipe, during a run."""

import queue
import sys
import threading
from typing import IO, TYPE_CHECKING

from covey.errors import CoveyError, InvalidValueError, ScenarioError, printable
from covey.scenario.yaml12 import parse_yaml

if TYPE_CHECKING:
    from covey.runtime.simulation import Simulation


_LONGEST, _MOST_WAITING, _MOST_WRONG = 20_000, 1000, 100
"""The longest line, the largest number of lines that wait for a step, and of wrong ones in a row."""


class StreamCommands:
    """Reads events from a stream; each takes effect in the next step.

    A line is an event of a scenario without its time, such as ``crater: {centre_m: [3, 4]}``. A line with an error is
    reported, and the run continues; after 100 such lines in a row nothing more is read. Events are recorded as inputs,
    so the run can be repeated.

    Args:
        stream: source of the lines.
        errors: stream for error messages; default standard error.
    """

    def __init__(self, stream: IO[str], errors: IO[str] | None = None):
        self._errors = errors or sys.stderr
        self._lines: queue.Queue[str] = queue.Queue(_MOST_WAITING)
        self._wrong, self._is_over = 0, False
        self.reader = threading.Thread(target=self._read, args=(stream,), daemon=True)
        self.reader.start()

    def __call__(self, sim: "Simulation") -> None:
        """Apply the events typed since the last step."""
        for _ in range(0 if self._is_over else self._lines.qsize()):
            line = self._lines.get()
            try:
                sim.do(event_of(line))
                self._wrong = 0
            except CoveyError as error:
                self._say(f"not done: {error}")
                self._wrong += 1
            if self._wrong == _MOST_WRONG:
                self._is_over = True
                self._say(f"{_MOST_WRONG} lines in a row were not done: no more is read; the run goes on without")
                return

    def _read(self, stream: IO[str]) -> None:
        try:
            while not self._is_over and (line := stream.readline(_LONGEST)):
                if line.strip():
                    self._lines.put(line)
        except ValueError as error:  # what is typed may be no text
            self._say(f"not done: {error}; no more is read; the run goes on without")
        if stream is not sys.stdin:
            stream.close()

    def _say(self, text: str) -> None:
        print(printable(text), file=self._errors, flush=True)


def event_of(line: str) -> dict:
    """Return an event from a line of YAML; the braces around it may be left out.

    Raises:
        CoveyError: the line is not a mapping.

    Examples:
        >>> event_of("door: d3, to: open")
        {'door': 'd3', 'to': 'open'}
    """
    text = line.strip()
    document = parse_yaml(text if text.startswith("{") else f"{{{text}}}", "the line")
    if document.problems:
        raise ScenarioError(document.problems)
    if not isinstance(document.data, dict) or None in document.data.values():
        raise InvalidValueError(f"{text!r} is not an event; write for example  crater: {{centre_m: [3, 4]}}")
    return document.data
