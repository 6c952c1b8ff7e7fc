"""Errors that say what was given, what is allowed, and what to do next."""

import builtins
import difflib
import errno
import importlib.util
import sys
import traceback
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, ModuleType
from typing import Self

_SHOWN = 20  # problems
_CURES = {
    "truth value of an array with more than one element": "to choose for each robot write np.where(condition, a, b)",
    "truth value of an empty array": "whether it holds anything is len(…) > 0, whether any of it is true (…).any()",
    "no running event loop": "to wait for simulated time write await robot.sleep(seconds)",
    "is read-only": "what a law is given cannot be written: change a copy, x = x.copy()",
    "arrays can be converted to Python scalars": "functions of math take one number; use those of numpy, as np.sin",
    "too many values to unpack (expected 2)": "the two columns of an array (n, 2) are: x, y = array.T",
    "operands could not be broadcast together": "one number for each robot times a place for each is: a[:, None] * b",
    "maximum recursion depth exceeded": "a function calls itself without an end",
}
"""What to write instead, by what Python and NumPy say of common mistakes."""
_MOST_NAMES = 20
_IMPORTS = {"np": "import numpy as np", "plt": "import matplotlib.pyplot as plt", "covey": "import covey"}
_LIBRARIES = ("numpy", "scipy", "covey", "matplotlib", "networkx", "shapely", "polars")


class CoveyError(Exception):
    """Base class of every error that Covey raises on purpose; its text can be shown on a terminal."""

    def __str__(self) -> str:
        return printable(super().__str__())


class InvalidValueError(CoveyError, ValueError):
    """A value given to a function or record is not allowed."""


class MissionError(InvalidValueError):
    """A mission is impossible in this world or for this team.

    Attributes:
        path: the keys below the mission that lead to the parameter that is to blame; may be empty.
    """

    def __init__(self, message: str, *path: str):
        self.path = path
        super().__init__(message)


class MapFileError(CoveyError):
    """A map file is missing, damaged or invalid."""


class PlacementError(CoveyError):
    """A robot cannot stand at its start pose."""


class UnknownNameError(CoveyError, KeyError):
    """A name that no registry knows."""

    def __init__(self, kind: str, name: str, known: Iterable[str], meant: str = ""):
        self.kind, self.name, self.known = kind, name, sorted(set(known))
        hint = f", did you mean {meant!r}?" if meant else did_you_mean(name, self.known)
        super().__init__(f"unknown {kind} {name!r}{hint}")

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
    """Return the tail of an error message: the nearest valid name, or up to 40 of them.

    Examples:
        >>> did_you_mean("mase", ["maze", "loop"])
        ", did you mean 'maze'?"
        >>> did_you_mean("x", ["maze", "loop"])
        '; known: loop, maze'
    """
    known = sorted(set(known))
    if near := nearest(name, known):
        return f", did you mean {near!r}?"
    more = f" and {len(known) - 40} more" if len(known) > 40 else ""
    return f"; known: {', '.join(known[:40])}{more}" if known else ""


def nearest(name: str, known: Iterable[str], likeness: float = 0.6) -> str:
    """Return the valid name that one begins, is like, or has the letters of; empty if there is none.

    Examples:
        >>> nearest("mase", ["maze", "loop"]), nearest("dwar", ["draw", "count"]), nearest("x", ["maze"])
        ('maze', 'draw', '')
        >>> nearest("near", ["nearest_frontier", "nees"])
        'nearest_frontier'
    """
    known = sorted(known)
    longer = [one for one in sorted(known, key=len) if len(name) > 3 and one.startswith(name)]
    same_letters = [one for one in known if sorted(one) == sorted(name)]
    return next(iter([*longer, *difflib.get_close_matches(name, known, 1, likeness), *same_letters]), "")


def cure_of(error: BaseException, said: str | None = None) -> str:
    """Return the tail of a message about an error that Python raised: what to write instead; empty if not known.

    ``said`` is what the error says, if that was asked for already: the text of a user's error may have no end.

    Examples:
        >>> try:
        ...     import numpi
        ... except ModuleNotFoundError as error:
        ...     cure_of(error)
        ", did you mean 'numpy'?"
    """
    said = str(error) if said is None else said
    if cure := next((cure for text, cure in _CURES.items() if text in said), ""):
        return f"; {cure}"
    if isinstance(error, UnboundLocalError):
        return "; give it a value in this function first; what a law keeps from step to step belongs into team.memory"
    name = getattr(error, "name", None)
    if not isinstance(name, str) or isinstance(error, CoveyError) or "Did you mean" in said:
        return ""
    if isinstance(error, NameError):
        if needed := _import_of(name):
            return f"; write above: {needed}"
        return _near(name, _names_at(error)) or f"; write above: {name} = …"
    if isinstance(error, ModuleNotFoundError):
        known = {one for one in (*_LIBRARIES, *sys.stdlib_module_names) if not one.startswith("_")}
        likely = difflib.get_close_matches(name, sorted(known), n=3, cutoff=0.7)
        near = next((f", did you mean {one!r}?" for one in likely if _is_there(one)), "")
        return near or f"; correct the name, or install it: pip install {name}"
    if type(error) is AttributeError and type(error.obj) is ModuleType:
        return _near(name, vars(error.obj))
    if type(error) is AttributeError and type(error.obj).__module__ in ("builtins", "numpy"):
        return _near(name, dir(type(error.obj)))
    words = "object has no attribute" in said  # Python's; ours say more
    if type(error) is AttributeError and type(error.obj).__module__.startswith("covey.") and words:
        own = [one for one in dir(error.obj) if not one.startswith("_")]
        return _near(name, own) or f"; it has {', '.join(own[:_MOST_NAMES])}"
    return ""


def _is_there(module: str) -> bool:
    """Return whether a module of the standard library, or a package, is on this machine."""
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        return False


def _near(name: str, known: Iterable[str]) -> str:
    names = sorted(one for one in known if isinstance(one, str) and not one.startswith("_"))
    near = difflib.get_close_matches(name, names, n=1)
    return f", did you mean {near[0]!r}?" if near else ""


def _import_of(name: str) -> str:
    return _IMPORTS.get(name) or (f"import {name}" if name in (*_LIBRARIES, *sys.stdlib_module_names) else "")


def _names_at(error: BaseException) -> set[str]:
    """Return all names that the line knew that raised an error."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)][-1:]
    return {name for frame in frames for name in (*frame.f_locals, *frame.f_globals)} | set(vars(builtins))
