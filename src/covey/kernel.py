"""The one way to compile code: `@kernel`, with a cache that can never serve a stale callee.

Numba caches file by file and does not notice when a kernel that is called from *another* file changed. Here each
file of kernels has a cache folder of its own, named by the hash of its source, of the sources of the kernel files it
imports, of the versions, and of the processor.
"""

import hashlib
import os
import re
import sys
import tempfile
import warnings
from collections.abc import Callable
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import llvmlite
import numba
import numpy
import platformdirs
from numba.core import config as _numba_config
from numba.core import types
from numba.core.caching import FunctionCache

config: Any = _numba_config

# Threads only where a caller asks for them, and never TBB: with some system libraries each region leaks.
config.THREADING_LAYER = "omp"

if numba.__version__.startswith("0.68."):  # they reach into numba; other versions take twice as long to compile
    from covey.compiling import hasten, load_overload
    from covey.linking import link_late

    hasten()
    link_late()
else:
    load_overload = FunctionCache.load_overload


def kernel(function: Callable[..., Any] | None = None, *, inline: bool = False) -> Any:
    """Compile ``function`` with numba: single-threaded, no fast-math, cached on disk.

    The plain Python original stays reachable as ``.py_func``. ``@kernel(inline=True)`` copies the code to where it is
    called: for the parts of one long loop, whose arrays would otherwise be passed, word by word, at every call.
    """
    if function is None:
        return partial(kernel, inline=inline)
    compiled = _njit(function, inline, cache=True)
    compiled._cache.load_overload = partial(load_overload, compiled._cache)

    @cache
    def part() -> Any:
        return _njit(function, inline, no_cpython_wrapper=True)

    # To other kernels it is code without an entry from Python, compiled once for all literal numbers, and cached
    # with them.
    compiled.get_call_template = lambda args, kws: part().get_call_template(
        tuple(types.unliteral(a) for a in args), {key: types.unliteral(a) for key, a in kws.items()}
    )
    compiled.get_overload = lambda signature: part().get_overload(signature)
    return compiled


def _njit(function: Callable[..., Any], inline: bool, **options: Any) -> Any:
    saved, config.CACHE_DIR = config.CACHE_DIR, str(_cache_folder(function.__module__))
    try:
        options |= {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
        return numba.njit(forceinline=inline, **options)(function)
    finally:
        config.CACHE_DIR = saved


def is_compiled(*functions: Any) -> bool:
    """Return True when each of these kernels can be loaded from the cache instead of being compiled."""
    return all(Path(f._cache.cache_path, f"{f._cache._impl.filename_base}.nbi").is_file() for f in functions)


@cache
def cache_root() -> Path:
    """Return the folder of all compiled kernels; a temporary one, with a warning, when it cannot be written."""
    root = Path(os.environ.get("COVEY_CACHE_DIR") or platformdirs.user_cache_path("covey"))
    try:
        root.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=root).close()
    except OSError as error:
        fallback = Path(tempfile.mkdtemp(prefix="covey-cache-"))
        warnings.warn(
            f"cannot write the cache folder {root} ({error.strerror}); compiling into {fallback} for this process "
            "only. Set COVEY_CACHE_DIR to a writable folder to keep it.",
            RuntimeWarning,
            stacklevel=2,
        )
        return fallback
    return root


@cache
def _cache_folder(module: str) -> Path:
    digest = hashlib.blake2b(digest_size=10)
    for part in (sys.version, numba.__version__, llvmlite.__version__, numpy.__version__, *_cpu()):
        digest.update(part.encode())
    for source in sorted(_sources(module)):
        digest.update(source.encode())
    return cache_root() / "kernels" / digest.hexdigest()


@cache
def _cpu() -> tuple[str, str]:
    from llvmlite import binding

    return binding.get_host_cpu_name(), binding.get_host_cpu_features().flatten()


@cache
def _sources(module: str) -> frozenset[str]:
    """Return the source of a kernel module and of all Covey modules with kernels that it imports, at any depth."""
    found: dict[str, str] = {}
    queue = [module]
    while queue:
        name = queue.pop()
        spec = _spec(name) if name not in found else None
        if spec is None or not spec.origin or not spec.origin.endswith(".py"):
            continue
        text = Path(spec.origin).read_text(encoding="utf-8")
        if name != module and "@kernel" not in text:
            continue
        found[name] = text
        for package, names in re.findall(r"^\s*from (covey[\w.]*) import (\([^)]*\)|[^\n]*)", text, re.MULTILINE):
            queue += [package, *(f"{package}.{n}" for n in re.findall(r"\w+", names) if _is_module(package, n))]
    return frozenset(found.values())


def _spec(module: str) -> Any:
    """Return where a module is, also the script that is being run."""
    if module == "__main__":
        return getattr(sys.modules[module], "__spec__", None) or _Script(getattr(sys.modules[module], "__file__", None))
    try:
        return find_spec(module)
    except (ImportError, ValueError):  # a module made by hand
        return None


class _Script:
    """Stands for the spec of a script; ``origin`` is its file."""

    submodule_search_locations = None

    def __init__(self, origin: str | None):
        self.origin = origin


@cache
def _is_module(package: str, name: str) -> bool:
    parent = _spec(package)
    locations = (parent.submodule_search_locations or ()) if parent else ()
    return any((Path(folder) / f"{name}.py").is_file() for folder in locations)
