"""Names in files: one small registry for each kind of object that a scenario can name."""

import ast
import hashlib
import importlib.util
import os
import re
import site
import sys
import sysconfig
import traceback
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import EntryPoints, entry_points
from pathlib import Path
from types import ModuleType
from typing import Any, Generic, TypeVar
from weakref import WeakKeyDictionary, WeakSet

from covey.errors import InvalidValueError, UnknownNameError, cure_of, near_file
from covey.plain_files import beside

T = TypeVar("T")
Item = TypeVar("Item")
_PREFIX = "covey_user_"  # of the module names of users' files
_MOST_FILES = 100  # Python files of a folder that are searched for a name


class Registry(Generic[T]):
    """Maps names to objects of one kind; packages add theirs under the entry-point group ``covey.<kind>``.

    Args:
        kind: the kind of its objects.
        shelf: the module that registers Covey's own objects, loaded at the first look-up. If its package has ``ROOMS``,
            names of packages in it, an object is loaded alone if its module has its name.

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
        _registries.add(self)
        self.renamed: dict[str, str] = {}
        """Old names in older files, and their present names."""

    def register(self, name: str) -> Callable[[Item], Item]:
        """Return a decorator that stores its argument under ``name``."""

        def decorate(item: Item) -> Item:
            stored: Any = item
            if (there := self._items.get(name, stored)) is not stored and not isinstance(there, Unread):
                raise InvalidValueError(f"{self.kind} {name!r} is registered already; choose another name")
            self._items[name] = stored
            return item

        return decorate

    def is_registered_here(self, name: str) -> bool:
        """Return whether a name has been registered in this process, other than by an installed package."""
        return name in self._items and not any(entry.name == name for entry in self._of_packages())

    def forget(self, name: str) -> None:
        """Forget a registered object."""
        del self._items[name]

    def forget_modules(self, modules: Collection[str]) -> None:
        """Forget the objects that some modules define, and those that were not loaded."""
        for name, item in list(self._items.items()):
            if isinstance(item, Unread) or _module_of(item) in modules:
                del self._items[name]

    def get(self, name: str) -> T:
        """Return the object named ``name``; raise `UnknownNameError` with the nearest name otherwise."""
        if not self._load_alone(name):
            self._load_shelf()
        name = self.renamed.get(name, name)
        if name not in self._items:
            for entry in self._of_packages():
                if entry.name == name:
                    self._items[name] = entry.load()
        if name not in self._items:
            raise UnknownNameError(self.kind, name, self.names())
        return self._items[name]

    def name_of(self, item: Any) -> str | None:
        """Return the name under which ``item`` is registered, or None."""
        loaded = next((name for name, known in self._items.items() if known is item), None)
        if loaded or not _module_of(item).startswith("covey."):  # the shelf has only what Covey defines
            return loaded
        return next(iter(self.names_of(item)), None)

    def names_of(self, item: Any) -> list[str]:
        """Return all names under which ``item`` is registered."""
        self._load_shelf()
        return [name for name, known in self._items.items() if known is item]

    def items(self) -> dict[str, T]:
        """Return what has been registered, by name, in this order; not what installed packages have and nobody used."""
        self._load_shelf()
        return dict(self._items)

    def names(self) -> list[str]:
        """Return all known names, sorted, including those of installed packages, without loading them."""
        self._load_shelf()
        return sorted({*self._items, *(entry.name for entry in self._of_packages())})

    def _of_packages(self) -> EntryPoints:
        return _installed().select(group=f"covey.{self.kind}")

    def _load_alone(self, name: str) -> bool:
        """Load the module of a name, if the shelf has one; return whether the name is registered then."""
        package = self._shelf.rpartition(".")[0]
        rooms = vars(importlib.import_module(package)).get("ROOMS", ()) if package and name.isidentifier() else ()
        for module in (f"{package}.{room}.{name}" for room in rooms):
            if module in sys.modules or importlib.util.find_spec(module):
                importlib.import_module(module)
                return name in self._items
        return False

    def _load_shelf(self) -> None:
        if self._shelf:
            importlib.import_module(self._shelf)


_registries: WeakSet[Registry[Any]] = WeakSet()


def has_code_of_users() -> bool:
    """Return whether code of a user's, or of another installed package, has been loaded."""
    items = (item for registry in _registries for item in registry._items.values())
    return bool(_modules_of_users()) or any(not _module_of(item).startswith("covey.") for item in items)


def _module_of(item: Any) -> str:
    """Return the name of the module that defines an object, or the function in it."""
    return getattr(getattr(item, "func", item), "__module__", None) or ""  # code of a string has none


def kinds_of(name: str) -> set[str]:
    """Return the kinds of objects of which one is called ``name``."""
    return {one.kind for one in list(_registries) if name in one.names()}  # a shelf may make further registries


def registry_of(kind: str) -> "Registry[Any]":
    """Return the registry of a kind of objects.

    Raises:
        UnknownNameError: there is none.
    """
    found = {registry.kind: registry for registry in _registries}
    if kind not in found:
        raise UnknownNameError("extension point", kind, found)
    return found[kind]


@cache
def _installed() -> Any:
    """Return the entry points of all installed packages, which are read once."""
    return entry_points()


@dataclass
class Looking:
    """The code that a command which only looks has found but not loaded.

    Attributes:
        unread: each ``./mine.py:Name``, and the base folder of its path.
        stand_ins: those of them about which nothing is known without running them: robots, parts of the radio.
        checks: whether to check that the files and the names in them exist.
    """

    unread: dict[str, Path] = field(default_factory=dict)
    stand_ins: list[str] = field(default_factory=list)
    checks: bool = False


_looking: ContextVar[Looking | None] = ContextVar("looking", default=None)


@contextmanager
def looking(*, checks: bool = False) -> Iterator[Looking]:
    """Run no code from files within the block: an `Unread` stands for each object that a file names.

    After it, registries have none of these objects.
    """
    found = Looking(checks=checks)
    token = _looking.set(found)
    try:
        yield found
    finally:
        _looking.reset(token)
        if _looking.get() is None:
            for registry in list(_registries):
                registry.forget_modules(())


def is_looking() -> bool:
    """Return whether the caller is within a block of `looking`."""
    return _looking.get() is not None


class Unread:
    """Stands for the object of a file that has not been loaded.

    Attributes:
        file: its file, if that is to be checked without running it; else None.
    """

    def __init__(self, reference: str, file: Path | None = None):
        self.reference, self.file = reference, file
        self.__name__ = self.__qualname__ = reference

    def __call__(self, *_args: Any, **_kws: Any) -> Any:
        """Raise an error: the object was not loaded.

        Raises:
            InvalidValueError: always.
        """
        raise InvalidValueError(
            f"{self.reference!r} is code in a file, which this command does not run; add --trust (docs/trust.md)"
        )


def stand_in(reference: str) -> None:
    """Record a placeholder for an object about which nothing is known without running its file."""
    found = _looking.get()
    if found is not None and reference not in found.stand_ins:
        found.stand_ins.append(reference)


def load_from_file(reference: str, folder: Path) -> Any:
    """Return the object named by ``./mine.py:Name``, a path relative to ``folder``; see also `looking`.

    Raises:
        InvalidValueError: the file does not exist, fails while it is loaded, or has no such name.
    """
    if (found := _looking.get()) is not None:
        if found.checks:
            check_names(reference, folder)
        found.unread[reference] = folder
        return Unread(reference, beside(folder, reference.rpartition(":")[0]).resolve() if found.checks else None)
    path, attribute = _place(reference, folder)
    try:
        module = load_file(path)
    except Exception as error:
        raise InvalidValueError(f"{reference!r} cannot be loaded: {told(error, path)}") from error
    try:
        return getattr(module, attribute)
    except AttributeError:
        names = [n for n in vars(module) if not n.startswith("_")]
        raise UnknownNameError(f"name in {path.name}", attribute, names) from None


def own_code(name: str, folder: Path) -> str:
    """Return how files write ``mine:Name``, or a ``Name`` that Python files of a folder define; empty if none does."""
    defined = re.compile(rf"^(async def|def|class) {re.escape(name)}\b".encode(), re.MULTILINE)
    with suppress(OSError, ValueError):
        module, _, attribute = name.partition(":")
        if attribute and (folder / f"{module}.py").is_file():
            return f"./{module}.py:{attribute}"
        for path in sorted(folder.glob("*.py"))[:_MOST_FILES]:
            if path.is_file() and defined.search(path.read_bytes()):
                return f"./{path.name}:{name}"
    return ""


def _place(reference: str, folder: Path) -> tuple[Path, str]:
    """Return the file of a reference, which exists, and the name in it."""
    file_name, _, attribute = reference.rpartition(":")
    path = beside(folder, file_name).resolve()
    if not file_name or not path.is_file():
        hint = near_file(path) or "; write ./file.py:Name"
        raise InvalidValueError(f"{reference!r}: no file {path.name!r} in {path.parent}{hint}")
    return path, attribute


def check_names(reference: str, folder: Path) -> None:
    """Check, without running code, that ``./mine.py:Name`` exists, as far as the file shows it.

    Raises:
        InvalidValueError: there is no such file, it is not Python, or it has no such name.
    """
    path, attribute = _place(reference, folder)
    try:
        names = names_bound(ast.parse(path.read_bytes(), path.name).body)
    except (SyntaxError, ValueError, RecursionError, MemoryError, OSError) as error:
        raise InvalidValueError(f"{reference!r} cannot be read: {told(error, path)}") from None
    if attribute not in names and "*" not in names:
        raise UnknownNameError(f"name in {path.name}", attribute, [n for n in names if not n.startswith("_")])


def told(error: BaseException, path: Path) -> str:
    """Return the text of an error of a file that was being loaded, with its line if known."""
    if isinstance(error, SyntaxError):
        return f"{type(error).__name__}: {path.name}:{error.lineno}: {error.msg}"
    lines = [line for frame, line in traceback.walk_tb(error.__traceback__) if frame.f_code.co_filename == str(path)]
    return f"{type(error).__name__}: {f'{path.name}:{lines[-1]}: ' if lines else ''}{error}{cure_of(error)}"


def names_bound(statements: Iterable[ast.stmt]) -> set[str]:
    """Return the names that statements bind, with ``*`` if they cannot be determined."""
    found: set[str] = set()
    for node in statements:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            found |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            found |= {name.id for name in ast.walk(node) if isinstance(name, ast.Name)}
        elif not isinstance(node, (ast.Expr, ast.Pass)):  # if, try, with and so on: look inside
            inner = [one for one in ast.walk(node) if isinstance(one, ast.stmt) and one is not node]
            found |= names_bound(inner) | {"*"}
    return found


class Enough(BaseException):
    """Ends the loading of a file at a call that would do what the file is for, such as to play its law.

    The module holds what is above the call, and as ``CALLED`` what the call was given.
    """

    def __init__(self, given: Any):
        self.given = given
        super().__init__("what is above this call has been loaded")


CALLED = "__covey_called__"
_loading: ContextVar[Path | None] = ContextVar("loading", default=None)


def is_loading() -> bool:
    """Return whether a file is being loaded: its code runs only to define things."""
    return _loading.get() is not None


@contextmanager
def loading(path: Path) -> Iterator[None]:
    """Let code within the block run as that of a file that is being loaded."""
    before = _loading.set(path)
    try:
        yield
    finally:
        _loading.reset(before)


def load_file(path: Path) -> ModuleType:
    """Return the module of a file, loaded once per process, with a name that identifies the file.

    A file that calls `covey.play` is loaded up to this call, see `Enough`.

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
        _LOADED_AS[module] = _text_of(path)
        _look_beside(path)
        sys.modules[module_name] = module
        try:
            with loading(path):
                spec.loader.exec_module(module)
        except Enough as enough:
            vars(module)[CALLED] = enough.given
        except BaseException as error:
            del sys.modules[module_name]
            if isinstance(error, SystemExit):  # it would end this program, as if all were well
                hint = "it ends the program while it is loaded; put that below if __name__ == '__main__':"
                raise InvalidValueError(f"{told(error, path)}: {hint}") from error
            raise
    return module


class _Beside:
    """Finds what a user's file imports from its own folder; what is installed comes first.

    It changes no import path, so a folder gives nothing to other code.
    """

    @staticmethod
    def find_spec(name: str, path: Any = None, _target: Any = None) -> Any:
        """Return the module of a file beside the one that imports it; None: this is none."""
        if path is not None or "." in name:  # part of a package, which says itself where it is
            return None
        frame, folders = sys._getframe(1), {file.parent for file in loaded_files()}
        while folders and frame is not None:
            folder = Path(str(frame.f_globals.get("__file__") or "")).parent
            if folder in folders:
                for file in (folder / name / "__init__.py", folder / f"{name}.py"):
                    if file.is_file():
                        return importlib.util.spec_from_file_location(name, file)
            frame = frame.f_back
        return None


def _look_beside(path: Path) -> None:
    """Let a file import from its folder, and not what another file has imported by the same name from its own."""
    if _Beside not in sys.meta_path:
        sys.meta_path.append(_Beside)
    for file in code_of(path)[1:]:
        name = (file.parent if file.name == "__init__.py" else file).stem
        module = sys.modules.get(name)
        if module is not None and module.__file__ != str(file) and name in _modules_of_users():
            for one in [one for one in sys.modules if one.partition(".")[0] == name]:
                del sys.modules[one]


def import_path() -> str:
    """Return PYTHONPATH for another process of Covey, so that it uses the same import path as this one.

    Such a process starts with ``python -P``, which excludes the current folder.
    """
    return os.pathsep.join(dict.fromkeys(path or os.getcwd() for path in sys.path))


def forget_changed_files() -> None:
    """Forget all files, see `forget_files`, if one of them, or what it imports from its folder, has changed on disk."""
    if any(text != _text_of(Path(str(module.__file__))) for module, text in list(_LOADED_AS.items())):
        forget_files()


_LOADED_AS: WeakKeyDictionary[ModuleType, bytes] = WeakKeyDictionary()  # what the files held when they were loaded


def _text_of(path: Path) -> bytes:
    """Return what a code file and the files that it imports from its folder hold."""
    return b"\0".join(file.read_bytes() for file in code_of(path))


def forget_files() -> None:
    """Forget the modules of files, the modules that they imported from their folders, and everything these registered.

    The next `load_file` reloads them, so that their globals hold nothing from an earlier run. Installed packages stay.
    """
    names = _modules_of_users()
    if not names:
        return
    for registry in _registries:
        registry.forget_modules(names)
    for name in names:
        sys.modules.pop(name, None)


def loaded_files() -> list[Path]:
    """Return the files whose modules are loaded (`load_file`), in the order of loading.

    The modules are copied in one step, because other threads may import at the same time.
    """
    return [Path(str(m.__file__)) for name, m in sys.modules.copy().items() if name.startswith(_PREFIX)]


def _modules_of_users() -> list[str]:
    """Return the names of the modules of files, and of modules in their folders that are not installed."""
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


def code_of(path: Path) -> list[Path]:
    """Return a code file and the files in its folder that it imports, at any depth."""
    found, queue = [], [path]
    while queue:
        file = queue.pop()
        if file in found or not file.is_file():
            continue
        found.append(file)
        try:
            nodes = list(ast.walk(ast.parse(file.read_bytes())))
        except (SyntaxError, ValueError):  # loading it will report this
            continue
        names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
        for node in nodes:
            if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        places = [path.parent.joinpath(*name.split(".")) for name in names]
        queue += [file for place in places for file in (place.with_suffix(".py"), place / "__init__.py")]
    return found
