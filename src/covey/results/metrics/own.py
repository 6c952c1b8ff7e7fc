"""Metrics of users' files: named ``./metric.py:name``, or registered by what a program has imported."""

import ast
import inspect
import sys
from pathlib import Path
from typing import Any

from covey.errors import InvalidValueError
from covey.named import find, refuse_code
from covey.plain_files import beside
from covey.registry import Unread
from covey.results.metrics.registry import metrics, time_to_goal


def column_of(name: str) -> str:
    """Return the column of a metric in tables.

    Examples:
        >>> column_of("./mine.py:turns_rad"), column_of("coverage_t90_s")
        ('turns_rad', 'coverage_t90_s')
    """
    return name.rpartition(":")[2] if ".py:" in name else name


def named(name: str, context: dict[str, Any]) -> str:
    """Return how other processes find a metric: its name, or ``./file.py:name`` if a program or a file has it.

    A metric of a file is registered under its name in the file.

    Args:
        name: a registered name, or ``./file.py:name``.
        context: see `covey.named.find`.

    Raises:
        CoveyError: there is no such metric, or other processes cannot load it.
    """
    if ".py:" in name:
        load_metric(name, context)
        return name
    find(name, metrics, context)
    return _reference(name, Path(context.get("folder", "."))) if metrics.is_registered_here(name) else name


def _reference(name: str, folder: Path) -> str:
    """Return where the processes of runs find a metric that this program has registered."""
    metric: Any = metrics.get(name)
    module = sys.modules.get(metric.__module__)
    path = Path(str(getattr(module, "__file__", None) or "")).absolute()
    if metric.__module__.split(".")[0] == "covey":
        return name
    if metric.__module__ == "__main__" or getattr(module, name, None) is not metric or not path.is_file():
        hint = f"write the function {name} into a file of its own, and ./file.py:{name} here"
        raise InvalidValueError(f"metric {name!r} is not found by the processes that execute the runs; {hint}")
    folder = folder.absolute()
    return f"./{path.relative_to(folder).as_posix()}:{name}" if path.is_relative_to(folder) else f"{path}:{name}"


def load_metric(reference: str, context: dict[str, Any]) -> None:
    """Register the metric ``./file.py:name`` under its name; if code is not to be run, what can be read of it.

    Raises:
        CoveyError: there is no such file or name, it is no function, or another metric has this name.
    """
    name, folder = column_of(reference), Path(context.get("folder", "."))
    path = beside(folder, reference.rpartition(":")[0]).resolve()
    refuse_code(reference, context)
    there = metrics.get(name) if metrics.is_registered_here(name) else None
    if there is not None and not isinstance(there, _AsRead) and _file_of(there) == path:
        return
    metric = find(reference, metrics, context)
    if isinstance(metric, Unread):
        metric = _AsRead(reference, path, name)
    elif not callable(metric):
        raise InvalidValueError(f"{reference!r} is {type(metric).__name__}; a metric is a function of a run")
    metrics.register(name)(metric)


def _file_of(metric: Any) -> Path | None:
    code = getattr(inspect.unwrap(metric), "__code__", None)
    return None if code is None else Path(code.co_filename).resolve()


class _AsRead(Unread):
    """What a file says of a metric, read without running it: its words, its type, whether it is a time to a goal."""

    def __init__(self, reference: str, path: Path, name: str):
        super().__init__(reference)
        self.__module__, self.__annotations__ = "", {}
        try:
            body = ast.parse(path.read_bytes()).body
        except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
            return
        for node in body:
            if isinstance(node, ast.FunctionDef) and node.name == name:
                self.__doc__ = ast.get_docstring(node)
                if node.returns is not None:
                    self.__annotations__["return"] = ast.unparse(node.returns)
                if any(ast.unparse(one).split(".")[-1] == "time_to_goal" for one in node.decorator_list):
                    time_to_goal(self)
