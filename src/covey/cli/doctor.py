"""What `covey doctor` reports."""

import os
import platform
import shutil
import sys
import warnings
from importlib import metadata

_PACKAGES = ("numpy", "numba", "llvmlite", "scipy", "pydantic", "pyarrow", "polars", "matplotlib", "cyclopts")


SLOW = "takes twice as long as with numba 0.68, the only version that Covey can speed up"


def findings() -> list[tuple[str, str, bool]]:
    """Return (subject, finding, whether it is good) for everything that a run depends on."""
    found = [
        ("Covey", _version("covey") or "not installed as a package", True),
        ("Python", f"{platform.python_version()} ({sys.executable})", (3, 11) <= sys.version_info[:2] <= (3, 13)),
    ]
    found += [(package, _version(package) or "missing", bool(_version(package))) for package in _PACKAGES]
    found += [_processor(), _compiler(), _cache(), _threads(), _runs()]
    ffmpeg = shutil.which("ffmpeg")
    found.append(("ffmpeg", ffmpeg or "not found: animations are written as GIF, not as MP4", True))
    return found


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


def _processor() -> tuple[str, str, bool]:
    from llvmlite import binding

    from covey.processors import processors

    usable = processors()
    return "processor", f"{binding.get_host_cpu_name()}, {platform.machine()}, {usable} cores usable", True


def _cache() -> tuple[str, str, bool]:
    from covey.kernel import cache_root

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        root = cache_root()
    if caught:
        return "kernel cache", str(caught[0].message), False
    size = sum(path.stat().st_size for path in root.rglob("*") if path.is_file())
    return "kernel cache", f"{root} (writable, {size / 1e6:.1f} MB)", True


def _compiler() -> tuple[str, str, bool]:
    from covey.kernel import HASTENED

    return "kernel compilation", "fast" if HASTENED else SLOW, HASTENED


def _threads() -> tuple[str, str, bool]:
    from covey.kernel import config

    layer = config.THREADING_LAYER
    return "numba threading layer", f"{layer}, at most {config.NUMBA_NUM_THREADS} threads", layer == "omp"


def _runs() -> tuple[str, str, bool]:
    well = os.access(".", os.W_OK)
    return "this folder", "writable: runs go into ./runs" if well else "not writable: use covey run --out DIR", well
