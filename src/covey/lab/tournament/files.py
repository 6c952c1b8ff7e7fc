"""Laws in files. Only the process of a law runs its code: the referee reads the file and never executes it."""

import ast
import inspect
import math
import time
from collections.abc import Coroutine, Generator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from covey.errors import ControllerError, InvalidValueError
from covey.onboard.controller import Program
from covey.plain_files import check_plain
from covey.registry import load_file


def files_in(folder: Path) -> list[Path]:
    """Return the law files of a folder, by name; those that begin with ``_`` or ``.`` are left out.

    Raises:
        InvalidValueError: there is no such folder, or no law in it.
    """
    if not folder.is_dir():
        raise InvalidValueError(f"{folder} is no folder; give one with a file for each law, such as pursuers/anna.py")
    found = sorted(path for path in folder.glob("*.py") if path.name[0] not in "_.")
    if not found:
        raise InvalidValueError(f"{folder} holds no law; write a file for each, such as {folder / 'anna.py'}")
    return found


def program_of_file(path: Path, scope: str, sees: tuple[str, ...] = (), most_s: float = math.inf) -> Program:
    """Return the program of a law file.

    Args:
        path: the file; its law is the function ``law`` or the class ``Law``, or the only public one.
        scope: ``group``: the law commands a team; ``robot``: it runs in each robot.
        sees: what a law of a team may read, whatever the file declares.
        most_s: wall time that its steps may take together [s].

    Raises:
        InvalidValueError: the file is not Python, or has no law.
    """
    law = law_in(path)
    if scope == "group":
        return Program(TeamLaw(path, law.name, sees, Allowance(most_s)))
    factory = robot_law_sequence if isinstance(law, ast.AsyncFunctionDef) else RobotLaw
    return Program(factory, {"path": str(path), "name": law.name, "most_s": most_s})


def law_in(path: Path) -> ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef:
    """Return the law of a file, as it is written.

    Raises:
        InvalidValueError: the file cannot be read, is not Python, or has no law.
    """
    try:
        check_plain(path)
        body = ast.parse(path.read_bytes(), path.name).body
    except (OSError, ValueError, RecursionError, MemoryError) as error:
        raise InvalidValueError(f"{path} cannot be read: {error}") from None
    except SyntaxError as error:
        raise InvalidValueError(f"{path}, line {error.lineno}: {error.msg}") from None
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    public = [item for item in body if isinstance(item, kinds) and not item.name.startswith("_")]
    named = [item for item in public if item.name in ("law", "Law")] or public
    if len(named) != 1:
        names = ", ".join(item.name for item in named) or "nothing"
        raise InvalidValueError(f"{path} defines {names}; write one function: def law(team), or a class Law with step")
    return named[0]


class Allowance:
    """The wall time that the steps of a law may take together; a block of ``with`` is a step, or a part of one.

    Raises `ControllerError` at the end of the block in which it is used up. A single step has a limit of its own.

    Attributes:
        code: of the law, for the place of the error.
    """

    def __init__(self, most_s: float):
        self.code: Any = None
        self._most_s, self._used_s, self._begun = most_s, 0.0, 0.0

    def __enter__(self) -> None:
        self._begun = time.monotonic()

    def __exit__(self, kind: Any, *_: object) -> None:
        self._used_s += time.monotonic() - self._begun
        if kind is None and self._used_s > self._most_s:
            error = ControllerError(
                f"the law took more than {self._most_s:g} s for its steps together, all that it has for a game"
            )
            raise error if self.code is None else error.about(self.code)


@dataclass(frozen=True)
class TeamLaw:
    """A law of a team in a file, for `Program`."""

    path: Path
    name: str
    covey_sees: tuple[str, ...]
    allowance: Allowance
    covey_scope: str = "group"
    _call: list[Any] = field(default_factory=list, repr=False)

    @property
    def __name__(self) -> str:
        return self.path.stem

    @property
    def __wrapped__(self) -> Any:
        """The function itself once it is loaded, so that errors about its answers name its lines."""
        if not self._call:
            raise AttributeError("it is not loaded yet")
        return self._call[0]

    def __call__(self, team: Any) -> Any:
        if not self._call:
            self._call.append(_loaded(self.path, self.name))
            self.allowance.code = getattr(self._call[0], "__code__", None)
        with self.allowance:
            return self._call[0](team)


class RobotLaw:
    """A law of one robot in a file, for `Program`."""

    def __init__(self, *, path: str, name: str, most_s: float):
        self._path, self._name, self._call, self._allowance = path, name, None, Allowance(most_s)

    def step(self, robot: Any) -> Any:
        """Let the law act; it is loaded at its first step."""
        if self._call is None:
            self._call = _loaded(Path(self._path), self._name)
            self._allowance.code = getattr(self._call, "__code__", None)
        with self._allowance:
            return self._call(robot)


async def robot_law_sequence(robot: Any, *, path: str, name: str, most_s: float) -> None:
    """Run a law of one robot that awaits motions."""
    await Sequence(getattr(load_file(Path(path)), name)(robot), Allowance(most_s))


class Sequence:
    """Awaits a coroutine; what it computes between two waits is taken from an allowance."""

    def __init__(self, coroutine: Coroutine[Any, Any, None], allowance: Allowance):
        self._coroutine, self._allowance = coroutine, allowance
        allowance.code = getattr(coroutine, "cr_code", None)

    def __await__(self) -> Generator[Any, Any, None]:
        go_on: Any = self._coroutine.send
        given: Any = None
        while True:
            with self._allowance:
                try:
                    waits: Any = go_on(given)
                except StopIteration:
                    return
            try:
                go_on, given = self._coroutine.send, (yield waits)
            except GeneratorExit:
                self._coroutine.close()
                raise
            except BaseException as error:
                go_on, given = self._coroutine.throw, error


def _loaded(path: Path, name: str) -> Any:
    law: Any = getattr(load_file(path), name)
    if not inspect.isclass(law):
        return law
    player: Any = law()
    return player.step
