"""Errors that say what was given, what is allowed, and what to do next."""

import difflib
import errno
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from types import CodeType
from typing import Self

_SHOWN = 20  # problems


class CoveyError(Exception):
    """Base class of every error that Covey raises on purpose; its text can be shown on a terminal."""

    def __str__(self) -> str:
        return printable(super().__str__())


class InvalidValueError(CoveyError, ValueError):
    """A value given to a function or record is not allowed."""


class MapFileError(CoveyError):
    """A map file is missing, damaged or invalid."""


class PlacementError(CoveyError):
    """A robot cannot stand at its start pose."""


class UnknownNameError(CoveyError, KeyError):
    """A name that no registry knows."""

    def __init__(self, kind: str, name: str, known: Iterable[str]):
        self.kind, self.name, self.known = kind, name, sorted(known)
        super().__init__(f"unknown {kind} {name!r}{did_you_mean(name, self.known)}")

    def __str__(self) -> str:  # KeyError would show the repr
        return printable(str(self.args[0]))


class UnknownAttributeError(CoveyError, AttributeError):
    """An attribute that a robot does not have. The nearest name is searched only when the error is shown."""

    def __init__(self, name: str, known: Iterable[str], otherwise: str):
        self.given, self.known, self.otherwise = name, known, otherwise
        super().__init__(f"a robot has no {name!r}", name=name)

    def __str__(self) -> str:
        hint = did_you_mean(self.given, [k for k in self.known if not k.startswith("_")])
        return f"{super().__str__()}{hint if hint.startswith(',') else f'; {self.otherwise}'}"


class ControllerError(CoveyError):
    """A controller raised an exception, returned an invalid value, or did not return.

    Attributes:
        place: file, line and name of the function that it is about, if the traceback does not lead there.
    """

    place: tuple[str, int, str] | None = None

    def about(self, code: CodeType, line: int | None = None) -> Self:
        """Return the error, with the place of a function, or of a line in it."""
        self.place = code.co_filename, line or code.co_firstlineno, code.co_name
        return self


class RunFolderError(CoveyError):
    """A run folder is missing, incomplete, or already holds a finished run."""


class MachineError(CoveyError):
    """The disk, a worker or a cluster failed; the input is not to blame."""


OF_THE_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.ENFILE, errno.EMFILE, errno.ENOMEM)
"""System error numbers that another file or folder would not avoid."""


class DiskError(RunFolderError, MachineError):
    """A folder could not be written completely: the disk is full or broken, or files in it were removed."""


@dataclass(frozen=True)
class Problem:
    """One problem in a file, with its place (1-based line and column)."""

    message: str
    file: str = ""
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}:{self.column}: " if self.line else f"{self.file}: " if self.file else ""
        return where + self.message


class ScenarioError(CoveyError):
    """All problems of a scenario, in ``problems``; the text lists the first twenty and counts the rest."""

    def __init__(self, problems: Iterable[Problem]):
        self.problems = list(problems)
        shown, rest = self.problems[:_SHOWN], len(self.problems) - _SHOWN
        super().__init__("\n".join([*map(str, shown), *([f"… and {rest} more"] if rest > 0 else [])]))


def printable(text: str, keep: str = "\n\t") -> str:
    """Return a text that is safe for a terminal: control characters are spelled out.

    Args:
        text: anything.
        keep: characters to leave unchanged.

    Examples:
        >>> printable("red: \x1b[31m")
        'red: \\\\x1b[31m'
    """
    return "".join(c if c.isprintable() or c in keep else c.encode("unicode_escape").decode() for c in text)


def near_file(path: Path) -> str:
    """Return the tail of an error message for a missing file: the nearest name in its folder; empty if none is near."""
    try:
        names = [file.name for file in path.parent.iterdir() if file.is_file()]
    except (OSError, ValueError):
        return ""
    near = difflib.get_close_matches(path.name, names, n=1)
    return f", did you mean {str(path.with_name(near[0]))!r}?" if near else ""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return the tail of an error message: the nearest valid name, or all of them.

    Examples:
        >>> did_you_mean("mase", ["maze", "loop"])
        ", did you mean 'maze'?"
        >>> did_you_mean("x", ["maze", "loop"])
        '; known: loop, maze'
    """
    known = sorted(known)
    near = difflib.get_close_matches(name, known, n=1)
    if near:
        return f", did you mean {near[0]!r}?"
    return f"; known: {', '.join(known)}" if known else ""
