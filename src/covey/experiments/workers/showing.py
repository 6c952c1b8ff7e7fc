"""`Showing`: lets somebody watch a run of a design while a worker computes it.

Who wants to see it puts a file beside the run's work folder; the process that computes the run answers with another
one, which holds the address of a page. Nothing is loaded, and no port opened, before somebody asks.
"""

import json
import logging
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import covey
from covey.runtime.simulation import Simulation

if TYPE_CHECKING:
    from covey.viewer.joined import Joined

_log = logging.getLogger(__name__)
_LOOK_S = 0.5


def request_of(work: Path) -> Path:
    """Return the file that asks the process which writes a work folder to show its run.

    It holds JSON: ``host``, the address to listen on.
    """
    return work.with_name(f".view-{work.name[1:]}")


def answer_of(work: Path) -> Path:
    """Return the file with its answer, which only its owner can read: JSON with ``url``, or ``error``."""
    return work.with_name(f".shown-{work.name[1:]}")


class Showing:
    """Call it before each step of a run. It changes nothing in the run, and a fault of it never ends the run.

    Args:
        work: the work folder of the run.
    """

    def __init__(self, work: Path):
        self._request, self._answer = request_of(work), answer_of(work)
        self._joined: Joined | None = None
        self._next = time.monotonic() + _LOOK_S
        self._silent = False

    def __enter__(self) -> "Showing":
        return self

    def __exit__(self, *_: object) -> None:
        if self._joined is not None:
            self._joined.end()
        for path in (self._request, self._answer):
            with suppress(OSError):
                path.unlink()

    def __call__(self, sim: Simulation) -> None:
        if self._joined is not None:
            self._answer_viewers(self._joined, sim)
        elif not self._silent and time.monotonic() >= self._next:
            self._next = time.monotonic() + _LOOK_S
            if self._request.exists():
                self._show(sim)

    def _answer_viewers(self, joined: "Joined", sim: Simulation) -> None:
        try:
            joined.before_step(sim)
        except Exception:
            _log.exception("the page of this run has a fault; the run goes on")
            self._joined, self._silent = None, True
            joined.end()

    def _show(self, sim: Simulation) -> None:
        try:
            self._joined = covey.viewer.Joined(sim, json.loads(self._request.read_text())["host"])
            answer = {"url": self._joined.url}
        except Exception as error:
            _log.exception("this run cannot be shown; it goes on")
            self._silent, answer = True, {"error": f"{type(error).__name__}: {error}"}
        with suppress(OSError):
            unfinished = self._answer.with_name(f".{self._answer.name}")
            with open(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
                json.dump(answer, file)
            os.replace(unfinished, self._answer)
