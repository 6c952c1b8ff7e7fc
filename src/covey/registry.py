"""Names in files: one tiny registry for each kind of thing that a scenario can name."""

import ast
import hashlib
import importlib.util
import os
import site
import sys
import sysconfig
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import Any, Generic, TypeVar
from weakref import WeakSet

from covey.errors import InvalidValueError, UnknownNameError

T = TypeVar("T")
_PREFIX = "covey_user_"  # of the names of modules that are files of a user's


class Registry(Generic[T]):
    """Maps names to objects of one kind; packages add theirs under the entry-point group ``covey.<kind>``.

    Args:
        kind: what its objects are.
        shelf: the module that registers those of Covey itself, loaded when a name is first asked for.

    Examples:
        >>> shapes = Registry("shape")
        >>> @shapes.register("square")
        ... def square(side): ...
        >>> shapes.get("square") is square
        True
    """

    def __init__(self, kind: str, shelf: str = ""):
        self.kind, self._shelf = kind, shelf
        self._items: dict[str, T] = {}
        self._of_users: set[str] = set()
        _registries.add(self)
        self.renamed: dict[str, str] = {}
        """What older files call by a name that is no longer listed, and its name now."""

    def register(self, name: str) -> Callable[[Any], Any]:
        """Return a decorator that stores its argument under ``name``."""

        def decorate(item: Any) -> Any:
            if self._items.get(name, item) is not item:
                raise InvalidValueError(f"{self.kind} {name!r} is registered already; choose another name")
            self._items[name] = item
            if _is_called_by_user():
                self._of_users.add(name)
            return item

        return decorate

    def forget_users(self) -> None:
        """Forget what files of a user's have registered."""
        for name in self._of_users:
            del self._items[name]
        self._of_users.clear()

    def get(self, name: str) -> T:
        """Return the object named ``name``; raise `UnknownNameError` with the nearest name otherwise."""
        self._load_shelf()
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
        self._load_shelf()
        return sorted({*self._items, *(entry.name for entry in _installed(self.kind))})

    def _load_shelf(self) -> None:
        if self._shelf:
            importlib.import_module(self._shelf)


_registries: WeakSet[Registry[Any]] = WeakSet()


@cache
def _installed(kind: str) -> tuple[EntryPoint, ...]:
    """Return what installed packages offer of a kind."""
    return tuple(entry_points(group=f"covey.{kind}"))


@dataclass
class Looking:
    """What a command that only looks has met and not loaded.

    Attributes:
        unread: each ``./mine.py:Name``, and the folder that its path starts from.
        stand_ins: those of them of which nothing is known without running them: robots, parts of the radio.
        checks: whether the files and the names in them are looked for, too.
    """

    unread: dict[str, Path] = field(default_factory=dict)
    stand_ins: list[str] = field(default_factory=list)
    checks: bool = False


_looking: ContextVar[Looking | None] = ContextVar("looking", default=None)


@contextmanager
def looking(*, checks: bool = False) -> Iterator[Looking]:
    """Within the block no code of any file runs: what names some is read, and an `Unread` stands for the object."""
    found = Looking(checks=checks)
    token = _looking.set(found)
    try:
        yield found
    finally:
        _looking.reset(token)


def is_looking() -> bool:
    """Return whether this is within a block of `looking`."""
    return _looking.get() is not None


class Unread:
    """Stands for the object of a file that has not been loaded.

    Attributes:
        file: where it stands, if that is to be checked without running it; else None.
    """

    def __init__(self, reference: str, file: Path | None = None):
        self.reference, self.file = reference, file
        self.__name__ = self.__qualname__ = reference

    def __call__(self, *_args: Any, **_kws: Any) -> Any:
        """Refuse to be used.

        Raises:
            InvalidValueError: always.
        """
        raise InvalidValueError(
            f"{self.reference!r} is code in a file, which this command does not run; add --trust (docs/trust.md)"
        )


def stand_in(reference: str) -> None:
    """Note that something stands for what a file would give, of which nothing is known without running it."""
    found = _looking.get()
    if found is not None and reference not in found.stand_ins:
        found.stand_ins.append(reference)


def load_from_file(reference: str, folder: Path) -> Any:
    """Return the object that ``./mine.py:Name`` names, the path being relative to ``folder``; see also `looking`.

    Raises:
        InvalidValueError: the file does not exist, fails while it is loaded, or has no such name.
    """
    if (found := _looking.get()) is not None:
        if found.checks:
            check_names(reference, folder)
        found.unread[reference] = folder
        return Unread(reference, (folder / reference.rpartition(":")[0]).resolve() if found.checks else None)
    file_name, _, attribute = reference.rpartition(":")
    path = (folder / file_name).resolve()
    if not file_name or not path.is_file():
        raise InvalidValueError(f"{reference!r}: no file {path.name!r} in {path.parent}; write ./file.py:Name")
    try:
        module = load_file(path)
    except Exception as error:
        raise InvalidValueError(f"{reference!r} cannot be loaded: {_told(error, path)}") from error
    try:
        return getattr(module, attribute)
    except AttributeError:
        names = [n for n in vars(module) if not n.startswith("_")]
        raise UnknownNameError(f"name in {path.name}", attribute, names) from None


def check_names(reference: str, folder: Path) -> None:
    """Check, without running anything, that ``./mine.py:Name`` is there, as far as that can be read.

    Raises:
        InvalidValueError: there is no such file, it is not Python, or it has no such name.
    """
    file_name, _, attribute = reference.rpartition(":")
    path = (folder / file_name).resolve()
    if not file_name or not path.is_file():
        raise InvalidValueError(f"{reference!r}: no file {path.name!r} in {path.parent}; write ./file.py:Name")
    try:
        names = names_bound(ast.parse(path.read_bytes(), path.name).body)
    except (SyntaxError, ValueError, RecursionError, MemoryError, OSError) as error:
        raise InvalidValueError(f"{reference!r} cannot be read: {_told(error, path)}") from None
    if attribute not in names and "*" not in names:
        raise UnknownNameError(f"name in {path.name}", attribute, [n for n in names if not n.startswith("_")])


def _told(error: Exception, path: Path) -> str:
    """Return what an error says, with the line of the file where there is one."""
    if isinstance(error, SyntaxError):
        return f"{type(error).__name__}: {path.name}:{error.lineno}: {error.msg}"
    lines = [line for frame, line in traceback.walk_tb(error.__traceback__) if frame.f_code.co_filename == str(path)]
    return f"{type(error).__name__}: {f'{path.name}:{lines[-1]}: ' if lines else ''}{error}"


def names_bound(statements: Iterable[ast.stmt]) -> set[str]:
    """Return the names that statements bind; ``*`` among them where that cannot be told."""
    found: set[str] = set()
    for node in statements:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            found |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            found |= {name.id for name in ast.walk(node) if isinstance(name, ast.Name)}
        elif not isinstance(node, (ast.Expr, ast.Pass)):  # if, try, with and so on: what is in them
            inner = [one for one in ast.walk(node) if isinstance(one, ast.stmt) and one is not node]
            found |= names_bound(inner) | {"*"}
    return found


def load_file(path: Path) -> ModuleType:
    """Return the module of a file, loaded once in a process, under a name that says which file it is.

    Raises:
        InvalidValueError: within `looking`.
    """
    if is_looking():
        raise InvalidValueError(f"{path} is code, which this command does not run")
    module_name = f"{_PREFIX}{path.stem}_{hashlib.blake2b(str(path).encode(), digest_size=6).hexdigest()}"
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


def import_path() -> str:
    """Return PYTHONPATH for another process of ours: it imports from where this one does, and from nowhere else.

    Such a process starts with ``python -P``, which keeps the current folder out.
    """
    return os.pathsep.join(dict.fromkeys(path or os.getcwd() for path in sys.path))


def forget_files() -> None:
    """Forget the modules of files, what they have imported from beside them, and what all of these have registered.

    The next `load_file` loads them anew, so that nothing of a run is left in their globals for the next one. Installed
    packages stay.
    """
    names = _modules_of_users()
    if not names:
        return
    for registry in _registries:
        registry.forget_users()
    for name in names:
        sys.modules.pop(name, None)


def loaded_files() -> list[Path]:
    """Return the files whose modules are loaded (`load_file`), in the order of loading.

    The modules are copied in one step: other threads may import meanwhile.
    """
    return [Path(str(m.__file__)) for name, m in sys.modules.copy().items() if name.startswith(_PREFIX)]


def _modules_of_users() -> list[str]:
    """Return the names of the modules of files, and of those that lie beside them and are not installed."""
    folders = tuple(str(file.parent) + os.sep for file in loaded_files())
    if not folders:
        return []
    return [name for name, module in sys.modules.copy().items() if _is_beside(name, module, folders)]


def _is_beside(name: str, module: ModuleType, folders: tuple[str, ...]) -> bool:
    if name.startswith(_PREFIX):
        return True
    file = str(getattr(module, "__file__", None) or "")
    return (
        file.startswith(folders)
        and file.endswith(".py")
        and not file.startswith(_installed_in())
        and name.partition(".")[0] not in ("covey", "__main__")
    )


@cache
def _installed_in() -> tuple[str, ...]:
    """Return the folders of the standard library and of installed packages."""
    paths = [*sysconfig.get_paths().values(), *site.getsitepackages(), site.getusersitepackages()]
    return tuple(path + os.sep for path in paths)


def _is_called_by_user() -> bool:
    """Return whether a file of a user's is what runs now, and not a package that is being imported."""
    frame, users = sys._getframe(2), set(_modules_of_users())
    while frame is not None and users:
        if frame.f_globals.get("__name__") in users:
            return True
        if frame.f_code.co_name == "<module>":
            return False
        frame = frame.f_back
    return False


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
