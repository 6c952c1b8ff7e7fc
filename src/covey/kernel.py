"""`@kernel`, the only way to compile code, with a cache that never serves a stale callee.

Numba caches file by file and does not notice changes of a kernel or a number in *another* file. Here compiled code is
stored under the hash of the function and of everything compiled with it: the kernels that it calls and the numbers that
it uses, at any depth, in any file. The folder depends on the versions and the processor.
"""

import atexit
import errno
import gc
import hashlib
import os
import shutil
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache, cached_property, partial
from pathlib import Path
from pickle import UnpicklingError
from types import CodeType, FunctionType, ModuleType
from typing import Any, ClassVar

import llvmlite
import numba
import numpy
import platformdirs
from llvmlite import ir
from numba.core import cgutils, event, types
from numba.core import config as _numba_config
from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile
from numba.extending import intrinsic

from covey.errors import InvalidValueError

if sys.platform == "win32":  # processes that need the same kernel at the same time compile it each
    fcntl = None
else:
    import fcntl

config: Any = _numba_config

if config.DISABLE_JIT:
    raise InvalidValueError(
        f"NUMBA_DISABLE_JIT={config.DISABLE_JIT} lets numba compile nothing, and Covey runs only compiled; unset it"
    )
if any(part[0] not in "+-" for part in (config.CPU_FEATURES or "").split(",") if part):  # LLVM would end the process
    raise InvalidValueError(
        f"NUMBA_CPU_FEATURES={config.CPU_FEATURES!r:.80}: write + or - before each, as in -avx512f,+fma; or unset it"
    )

# Threads only if a caller asks for them, and never TBB, which leaks memory with some system libraries.
config.THREADING_LAYER = "omp"

WAITING = "covey:waiting"
"""Event of numba: this process waits for a kernel that another process compiles."""

HASTENED = numba.__version__.startswith("0.68.")
"""Whether `covey.compiler` has patched numba, so that kernels compile in half the time."""

if HASTENED:
    from covey.compiler import hasten, link_late, load_overload

    hasten()
    link_late()
else:
    load_overload = FunctionCache.load_overload


def kernel(function: Callable[..., Any] | None = None, *, inline: bool = False) -> Any:
    """Compile ``function`` with numba: single-threaded, no fast-math, cached on disk.

    The Python original is available as ``.py_func``. ``@kernel(inline=True)`` copies the code into the caller: for
    parts of a long loop that would otherwise pass their arrays at every call.
    """
    if function is None:
        return partial(kernel, inline=inline)
    compiled = _njit(function, inline)
    saved: Any = _Cache(function)
    saved.load_overload, saved.save_overload = partial(_load, compiled), partial(_save, saved)
    saved.alone = ExitStack()
    compiled._cache, compiled.compile = saved, partial(_compile, saved.alone, compiled.compile)

    @cache
    def part() -> Any:
        return _njit(function, inline, no_cpython_wrapper=True)

    # Other kernels use it as code without an entry from Python, compiled once for all literal numbers, and cached
    # with them.
    compiled.get_call_template = lambda args, kws: part().get_call_template(
        tuple(types.unliteral(a) for a in args), {key: types.unliteral(a) for key, a in kws.items()}
    )
    compiled.get_overload = lambda signature: part().get_overload(signature)
    return compiled


def _njit(function: Callable[..., Any], inline: bool, **options: Any) -> Any:
    options |= {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
    return numba.njit(forceinline=inline, **options)(function)


class _Cache(FunctionCache):
    """Where the code of a kernel is kept; found when it is needed: programs declare hundreds and call few."""

    def __init__(self, function: FunctionType):
        self._name, self._py_func, self._enabled = repr(function), function, True

    @cached_property
    def _impl(self) -> Any:
        return _Code(self._py_func)

    @cached_property
    def _cache_path(self) -> str:
        return self._impl.locator.get_cache_path()


class _Place:
    """The folder of the compiled kernels of one file, as numba asks for it."""

    def __init__(self, function: FunctionType, file: str):
        self._line = function.__code__.co_firstlineno
        own = function.__module__.startswith("covey.")  # in whichever folder the package lies
        place = os.path.dirname(os.path.abspath(file))
        digest = hashlib.blake2b(place.encode(errors="surrogateescape"), digest_size=16).hexdigest()
        folder = function.__module__ if own else f"{os.path.basename(place)}_{digest}"
        self._cache_path = str(_cache_folder() / folder)

    @classmethod
    def from_function(cls, function: FunctionType, file: str) -> "_Place":
        return cls(function, file)

    def get_cache_path(self) -> str:
        return self._cache_path

    def ensure_cache_path(self) -> None:
        os.makedirs(self._cache_path, exist_ok=True)

    def get_disambiguator(self) -> str:
        return str(self._line)


class _Code(CompileResultCacheImpl):
    _locator_classes: ClassVar[list[Any]] = [_Place]


def _bare(_context, array):
    """Return a view without reference counting, because atomic counting would cost more than a robot's step.

    The caller must keep the array alive as long as the view.
    """

    def codegen(context, builder, signature, args):
        view = context.make_array(signature.args[0])(context, builder, args[0])
        view.meminfo = cgutils.get_null_value(view.meminfo.type)
        view.parent = cgutils.get_null_value(view.parent.type)
        return view._getvalue()

    return array(array), codegen


bare: Any = intrinsic(_bare)


def _fetch(_context, array, row, column):
    """Ask for the memory of an element of a matrix that will soon be changed, without waiting for it."""

    def codegen(context, builder, signature, args):
        matrix = context.make_array(signature.args[0])(context, builder, args[0])
        at = cgutils.get_item_pointer(context, builder, signature.args[0], matrix, args[1:], wraparound=False)
        at, flag = builder.bitcast(at, cgutils.voidptr_t), cgutils.int32_t
        ask = builder.module.declare_intrinsic(
            "llvm.prefetch", [at.type], ir.FunctionType(ir.VoidType(), [at.type, flag, flag, flag])
        )
        builder.call(ask, [at, flag(1), flag(3), flag(1)])
        return context.get_dummy_value()

    return types.void(array, types.intp, types.intp), codegen


fetch: Any = intrinsic(_fetch)


def is_compiled(*functions: Any) -> bool:
    """Return True if all these kernels can be loaded from the cache instead of being compiled."""
    try:
        return all(_cache_file(function)._load_index() for function in functions)
    except (OSError, EOFError, UnpicklingError):  # damaged
        return False


def _load(compiled: Any, signature: Any, context: Any) -> Any:
    """Return compiled code, or None: then this process alone compiles it, and others wait for what it saves."""
    compiled._cache._cache_file = _cache_file(compiled)  # where it is saved as well
    found = _read(compiled._cache, signature, context)
    if found is None:
        with suppress(OSError):
            compiled._cache.alone.enter_context(_alone(f"{compiled._cache._cache_file._index_path}.lock"))
            found = _read(compiled._cache, signature, context)
    return found


def _read(kept: Any, signature: Any, context: Any) -> Any:
    try:
        return load_overload(kept, signature, context)
    except Exception:  # damaged, for example by a full disk: compile again
        with suppress(OSError):
            kept._cache_file.flush()
        return None


def _compile(alone: ExitStack, compile_: Callable[[Any], Any], signature: Any) -> Any:
    """Compile without looking for garbage: numba makes objects by the million, and a quarter of its time would go."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        with alone:
            return compile_(signature)
    finally:
        if was_enabled:
            gc.enable()


@contextmanager
def _alone(path: str, patience_s: float = 60.0) -> Iterator[None]:
    """Hold the lock of a kernel; after a minute go on without it. The system releases it however a process ends."""
    if fcntl is None:
        yield
        return
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        end = time.monotonic() + patience_s
        with event.trigger_event(WAITING):
            while time.monotonic() < end:
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    time.sleep(0.02)
        try:
            yield
        finally:
            with suppress(OSError):
                os.unlink(path)


def _save(kept: Any, signature: Any, compiled: Any) -> None:
    """Save compiled code; if the disk refuses, warn once and continue."""
    try:
        FunctionCache.save_overload(kept, signature, compiled)
    except OSError as error:
        _warn_of_disk(error.strerror or str(error))


@cache
def _warn_of_disk(why: str) -> None:
    warnings.warn(
        f"cannot keep compiled kernels in {cache_root()} ({why}); the run goes on, and the next one compiles them "
        "again. Make room there, or set COVEY_CACHE_DIR to a folder on another disk.",
        RuntimeWarning,
        stacklevel=2,
    )


def _cache_file(compiled: Any) -> Any:
    """Return the cache file of a kernel, named after everything compiled with it."""
    kept, parts = compiled._cache, hashlib.blake2b(digest_size=10)
    for part in _parts(compiled.py_func):
        parts.update(part)
    digest = parts.hexdigest()
    return IndexDataCacheFile(kept.cache_path, f"{kept._impl.filename_base}.{digest}", source_stamp=digest)


@cache
def cache_root() -> Path:
    """Return the folder of all compiled kernels. It must belong to the user alone, because its code is run.

    If that is not possible, warn and return a temporary folder, which is deleted with this process.
    """
    root = Path(os.environ.get("COVEY_CACHE_DIR") or platformdirs.user_cache_path("covey"))
    try:
        root.mkdir(parents=True, exist_ok=True, mode=0o700)
        _refuse_shared(root)
        tempfile.TemporaryFile(dir=root).close()
    except OSError as error:
        fallback = Path(tempfile.mkdtemp(prefix="covey-cache-"))
        atexit.register(_remove, fallback, os.getpid())
        os.environ["COVEY_CACHE_DIR"] = str(fallback)  # child processes reuse it
        warnings.warn(
            f"cannot use the cache folder {root} ({error.strerror}); compiling into {fallback} for this process "
            "only. Set COVEY_CACHE_DIR to a folder of yours alone to keep it.",
            RuntimeWarning,
            stacklevel=2,
        )
        return fallback
    return root


def _refuse_shared(root: Path) -> None:
    """Raise `PermissionError` if others own a folder or may write into it; remove read access for others."""
    if sys.platform == "win32":
        return
    for folder in (root, root / "kernels"):
        if not folder.exists():
            continue
        found = folder.stat()
        if found.st_uid != os.geteuid():
            raise PermissionError(errno.EPERM, f"user {found.st_uid} owns {folder}, and could have put code there")
        if found.st_mode & 0o022:
            raise PermissionError(errno.EPERM, f"others may write into {folder}: empty it, then chmod 700")
    if root.stat().st_mode & 0o777 != 0o700:
        root.chmod(0o700)


def _remove(folder: Path, pid: int) -> None:
    if os.getpid() == pid:  # not in a forked process
        shutil.rmtree(folder, ignore_errors=True)


@cache
def _cache_folder() -> Path:
    from llvmlite import binding

    versions = sys.version, numba.__version__, llvmlite.__version__, numpy.__version__
    name, features = config.CPU_NAME, config.CPU_FEATURES  # of NUMBA_CPU_NAME, as in containers
    processor = (
        name or binding.get_host_cpu_name(),
        binding.get_host_cpu_features().flatten() if features is None else features,
    )
    return cache_root() / "kernels" / hashlib.blake2b(repr((versions, processor)).encode(), digest_size=10).hexdigest()


def _parts(function: FunctionType) -> Iterator[bytes]:
    """Yield everything that determines the code of a function: its code, the code it calls, and the values it uses."""
    seen: set[int] = set()
    queue = [function]
    while queue:
        called = queue.pop()
        if id(called) in seen:
            continue
        seen.add(id(called))
        cells = [cell.cell_contents for cell in called.__closure__ or ()]
        names: dict[str, None] = {}
        for code in _codes(called.__code__):
            constants = [value for value in code.co_consts if not isinstance(value, CodeType)]
            yield code.co_code + repr(constants).encode()
            names |= dict.fromkeys(code.co_names)
        for name in names:
            yield name.encode()
        for value in [*cells, *_used(called.__globals__, names), *(called.__defaults__ or ())]:
            original = getattr(value, "py_func", value)
            if isinstance(original, FunctionType):
                queue.append(original)
            else:
                yield value.tobytes() if isinstance(value, numpy.ndarray) else _text(value)


def _codes(code: CodeType) -> Iterator[CodeType]:
    """Yield the code of a function and of the functions inside it."""
    yield code
    for value in code.co_consts:
        if isinstance(value, CodeType):
            yield from _codes(value)


def _used(scope: dict[str, Any], names: dict[str, None]) -> Iterator[Any]:
    """Yield the global values of names; for a module, its values with one of the names."""
    for name in names:
        value = scope.get(name)
        if not isinstance(value, ModuleType):
            yield value
        elif value.__name__.partition(".")[0] not in _KNOWN:
            yield from _used(vars(value), names)


_KNOWN = {*sys.stdlib_module_names, "numpy", "numba"}
"""Modules whose contents are identified by their versions."""


def _text(value: Any) -> bytes:
    """Return a text that identifies a value, if compiled code may contain it."""
    if isinstance(value, (int, float, complex, str, bytes, tuple, numpy.generic)) or value is None:
        return repr(value).encode()
    return repr(getattr(value, "_fields", getattr(value, "__qualname__", type(value)))).encode()
