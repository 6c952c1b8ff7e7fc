"""`Commands`: events that you type, or write into a pipe, during a run."""

import queue
import sys
import threading
from typing import IO, TYPE_CHECKING

from covey.errors import CoveyError, InvalidValueError, ScenarioError, printable
from covey.scenario.yaml12 import parse_yaml

if TYPE_CHECKING:
    from covey.runtime.simulation import Simulation


class Commands:
    """Reads events from a stream; each takes effect in the next step.

    A line is an event of a scenario without its time, such as ``crater: {centre_m: [3, 4]}``. A line with an error is
    reported, and the run continues. Events are recorded as inputs, so the run can be repeated.

    Args:
        stream: source of the lines.
        errors: stream for error messages; default standard error.
    """

    def __init__(self, stream: IO[str], errors: IO[str] | None = None):
        self._errors = errors or sys.stderr
        self._lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        self.reader = threading.Thread(target=self._read, args=(stream,), daemon=True)
        self.reader.start()

    def __call__(self, sim: "Simulation") -> None:
        """Apply the events typed since the last step."""
        while not self._lines.empty():
            line = self._lines.get()
            try:
                sim.do(event_of(line))
            except CoveyError as error:
                print(printable(f"not done: {error}"), file=self._errors, flush=True)

    def _read(self, stream: IO[str]) -> None:
        for line in stream:
            if line.strip():
                self._lines.put(line)


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
