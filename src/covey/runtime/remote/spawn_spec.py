"""The specification that a process gets at the start: its robot or team, and its program."""

import pickle
import sys
import types
from dataclasses import dataclass
from multiprocessing import spawn
from pathlib import Path
from typing import Any

from covey.errors import InvalidValueError
from covey.onboard.alone import AloneSetup
from covey.onboard.controller import Program
from covey.onboard.group_view import GroupFacts
from covey.registry import load_file, loaded_files


@dataclass(frozen=True, eq=False, kw_only=True)
class RobotSpawn(AloneSetup):
    """The specification for the process of one robot.

    Attributes:
        step_budget_s: wall time [s] that its controller may take for one step.
        memory_mib: see `Processes`.
        limits_memory: whether the memory of the process is limited to that of the robot's computer.
    """

    step_budget_s: float
    memory_mib: float
    limits_memory: bool = False


@dataclass(frozen=True, eq=False)
class GroupSpawn:
    """The specification for the process of a controller of a group, or of the team."""

    name: str
    program: Program
    facts: tuple[GroupFacts, ...]
    step_budget_s: float
    memory_mib: float
    limits_memory: bool = False


def pickled(spawn: RobotSpawn | GroupSpawn) -> dict[str, Any]:
    """Return a specification as plain data that another process can unpack before it has loaded anything.

    Raises:
        InvalidValueError: the controller has no importable name, so another process cannot load it.
    """
    files = sorted(map(str, loaded_files()))
    try:
        data = pickle.dumps(spawn, 5)
    except Exception as error:
        raise InvalidValueError(
            f"controller {spawn.program.name!r} cannot go to a process of its own ({error}); define it at the top "
            "level of a module or file, or run with controllers in_process"
        ) from error
    return {"files": files, "main": _main() if b"__main__" in data else {}, "spawn": data}


def unpickled(data: dict[str, Any]) -> RobotSpawn | GroupSpawn:
    """Return the specification in data from `pickled`; loads the files and the script that it names.

    Raises:
        InvalidValueError: they cannot be loaded here.
    """
    unloaded: Exception | None = None
    for file in data["files"]:
        try:
            load_file(Path(file))
        except Exception as error:  # it matters only if the controller needs the file, which may belong to another run
            unloaded = error
    try:
        if data["main"]:
            with _importing():
                spawn.prepare(data["main"])
        return pickle.loads(data["spawn"])
    except Exception as error:
        error = unloaded or error
        raise InvalidValueError(
            f"the controller cannot be loaded in another process ({type(error).__name__}: {error}); define it in a "
            "module or file, not in a notebook or a shell"
        ) from error


class _importing:
    """Marks the time in which the process of a robot imports a script for its definitions."""

    now = False

    def __enter__(self) -> None:
        _importing.now = True

    def __exit__(self, *_exc: object) -> None:
        _importing.now = False


def refuse_within_import() -> None:
    """Raise `InvalidValueError` if a script that is imported only for its controllers starts a simulation."""
    if _importing.now:
        raise InvalidValueError(
            "the script simulates as soon as it is imported, and the process of a robot has to import it; put what it "
            "does below `if __name__ == '__main__':`"
        )


def _main() -> dict[str, Any]:
    """Return how another process can load the running script, as `multiprocessing.spawn` does."""
    main: types.ModuleType = sys.modules["__main__"]
    if main.__spec__ is not None:
        return {"init_main_from_name": main.__spec__.name}
    path = getattr(main, "__file__", None)
    return {"init_main_from_path": str(Path(path).absolute())} if path else {}
