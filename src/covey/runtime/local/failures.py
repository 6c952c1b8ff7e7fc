"""Texts about controllers that failed."""

import sysconfig
import traceback
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from covey.errors import ControllerError, cure_of, printable

_LIBRARIES = (str(Path(__file__).parents[2]), sysconfig.get_path("stdlib"))
_MOST = 300  # characters of an error's message
_SHOWN, _LOOKED_AT = 5, 1000  # last frames of a traceback, which may have millions
_LONGEST = 2000  # characters of one entry of a traceback
_NAMED = 5  # robots


@dataclass(frozen=True)
class Failure:
    """A controller that failed: the robots that stop, the exception, and whether wall time decided it."""

    robots: tuple[int, ...]
    error: BaseException
    text: str
    by_wall_time: bool


def text_of(error: BaseException) -> str:
    """Return the text for an error, the same in every process: one line, and the end of the traceback.

    The line holds the error and its file, line and function, in the controller's own code if possible.
    """
    below = _last(error.__traceback__.tb_next if error.__traceback__ is not None else None)
    said = "".join(traceback.format_exception_only(type(error), error)).strip().partition("\n")[0]
    said = said.removeprefix(f"{type(error).__module__}.")[:_MOST]
    said += cure_of(error, said)
    entries = traceback.format_exception(type(error), error, below, limit=-_SHOWN)[-_SHOWN - 1 :]
    trace = "".join(entry if len(entry) <= _LONGEST else entry[:_LONGEST] + "…\n" for entry in entries)
    where = place([error.place]) if isinstance(error, ControllerError) and error.place else _place(below)
    return printable(f"{where}{said}\n{trace}")


def line_of_user(error: BaseException) -> str:
    """Return the line for an error in a user's file, as in `text_of`; empty if no frame is in one."""
    frames = traceback.walk_tb(error.__traceback__)
    return text_of(error).partition("\n")[0] if any(not _is_library(f.f_code.co_filename) for f, _ in frames) else ""


def stopped(failures: Iterable[tuple[str, float, str]]) -> list[str]:
    """Return one line per error that stopped robots, with the time, or that of the first.

    Args:
        failures: robot, time [s] and text of each failure; see `text_of`.

    Examples:
        >>> stopped([("a", 0.1, "mine.py:3 in go: ValueError: no"), ("b", 0.2, "mine.py:3 in go: ValueError: no")])
        ['a and b: stopped from 0.1 s on: mine.py:3 in go: ValueError: no']
    """
    found: dict[str, list[tuple[str, float]]] = {}
    for robot, time_s, text in failures:
        found.setdefault(text.partition("\n")[0], []).append((robot, time_s))
    return [
        f"{_listed([r for r, _ in rows])}: stopped {_when([t for _, t in rows])}: {line}"
        for line, rows in found.items()
    ]


def failed_at_the_end(name: str, text: str) -> str:
    """Return the text for an error in a ``finally`` block of the controller of a robot or a group."""
    return f"the controller of {name} failed while it was being closed: {text.splitlines()[0]}"


def _when(times_s: list[float]) -> str:
    return f"at {times_s[0]:.4g} s" if len(set(times_s)) == 1 else f"from {min(times_s):.4g} s on"


def _listed(names: list[str]) -> str:
    if len(names) > _NAMED:
        names = [*names[: _NAMED - 1], f"{len(names) - _NAMED + 1} others"]
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def _last(trace: TracebackType | None) -> TracebackType | None:
    """Return the last frames of a traceback."""
    found: deque[TracebackType] = deque(maxlen=_LOOKED_AT)
    while trace is not None:
        found.append(trace)
        trace = trace.tb_next
    return found[0] if found else None


def _place(trace: TracebackType | None) -> str:
    """Return file, line and function of the last frame outside libraries, or else of the last frame."""
    walked = ((frame.f_code, line) for frame, line in traceback.walk_tb(trace))
    return place([(code.co_filename, line, code.co_name) for code, line in walked])


def place(frames: Sequence[tuple[str, object, str]]) -> str:
    """Return file, line and function of the last frame outside libraries, as the beginning of a line."""
    own = [frame for frame in frames if not _is_library(frame[0])]
    if not frames:
        return ""
    file, line, name = (own or frames)[-1]
    file = "cell" if "ipykernel_" in file else file  # of a notebook, which has no file
    return f"{file}:{line} in {name}: "


def _is_library(file: str) -> bool:
    return file.startswith((*_LIBRARIES, "<")) or "site-packages" in file
