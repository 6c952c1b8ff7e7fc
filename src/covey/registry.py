"""Names in files: one tiny registry for each kind of thing that a scenario can name."""

import ast
import hashlib
import importlib.util
import sys
from collections.abc import Callable
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import Any, Generic, TypeVar

from covey.errors import InvalidValueError, UnknownNameError

T = TypeVar("T")


class Registry(Generic[T]):
    """Maps names to objects of one kind; packages add theirs under the entry-point group ``covey.<kind>``.

    Examples:
        >>> shapes = Registry("shape")
        >>> @shapes.register("square")
        ... def square(side): ...
        >>> shapes.get("square") is square
        True
    """

    def __init__(self, kind: str):
        self.kind = kind
        self._items: dict[str, T] = {}
        self.renamed: dict[str, str] = {}
        """What older files call by a name that is no longer listed, and its name now."""

    def register(self, name: str) -> Callable[[Any], Any]:
        """Return a decorator that stores its argument under ``name``."""

        def decorate(item: Any) -> Any:
            if self._items.get(name, item) is not item:
                raise InvalidValueError(f"{self.kind} {name!r} is registered already; choose another name")
            self._items[name] = item
            return item

        return decorate

    def get(self, name: str) -> T:
        """Return the object named ``name``; raise `UnknownNameError` with the nearest name otherwise."""
        name = self.renamed.get(name, name)
        if name not in self._items:
            for entry in _installed(self.kind):
                if entry.name == name:
                    self._items[name] = entry.load()
        if name not in self._items:
            raise UnknownNameError(self.kind, name, self.names())
        return self._items[name]

    def name_of(self, item: Any) -> str | None:
        """Return the name under which ``item`` is registered, or None."""
        return next((name for name, known in self._items.items() if known is item), None)

    def names(self) -> list[str]:
        """Return every known name, sorted, installed packages included, without loading them."""
        return sorted({*self._items, *(entry.name for entry in _installed(self.kind))})


@cache
def _installed(kind: str) -> tuple[EntryPoint, ...]:
    """Return what installed packages offer of a kind."""
    return tuple(entry_points(group=f"covey.{kind}"))


def load_from_file(reference: str, folder: Path) -> Any:
    """Return the object that ``./mine.py:Name`` names, the path being relative to ``folder``.

    Raises:
        InvalidValueError: the file does not exist, fails while it is loaded, or has no such name.
    """
    file_name, _, attribute = reference.rpartition(":")
    path = (folder / file_name).resolve()
    if not file_name or not path.is_file():
        raise InvalidValueError(f"{reference!r}: no file {path.name!r} in {path.parent}; write ./file.py:Name")
    try:
        module = load_file(path)
    except Exception as error:
        raise InvalidValueError(f"{reference!r} cannot be loaded: {type(error).__name__}: {error}") from error
    try:
        return getattr(module, attribute)
    except AttributeError:
        names = [n for n in vars(module) if not n.startswith("_")]
        raise UnknownNameError(f"name in {path.name}", attribute, names) from None


def load_file(path: Path) -> ModuleType:
    """Return the module of a file, loaded once in a process, under a name that says which file it is."""
    module_name = f"covey_user_{path.stem}_{hashlib.blake2b(str(path).encode(), digest_size=6).hexdigest()}"
    module = sys.modules.get(module_name)
    if module is None:
        spec = importlib.util.spec_from_file_location(module_name, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[module_name] = module
        try:
            spec.loader.exec_module(module)
        except BaseException:
            del sys.modules[module_name]
            raise
    return module


def code_of(path: Path) -> list[Path]:
    """Return a file of code, and those beside it that it imports, at any depth."""
    found, queue = [], [path]
    while queue:
        file = queue.pop()
        if file in found or not file.is_file():
            continue
        found.append(file)
        try:
            nodes = list(ast.walk(ast.parse(file.read_bytes())))
        except (SyntaxError, ValueError):  # whoever loads it says so
            continue
        names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
        for node in nodes:
            if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        places = [path.parent.joinpath(*name.split(".")) for name in names]
        queue += [file for place in places for file in (place.with_suffix(".py"), place / "__init__.py")]
    return found
