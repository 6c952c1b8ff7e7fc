"""What `covey doctor` reports."""

import os
import platform
import shutil
import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import suppress
from importlib import metadata

from packaging.requirements import Requirement

_PACKAGES = ("numpy", "numba", "llvmlite", "scipy", "pydantic", "pyarrow", "polars", "matplotlib", "cyclopts")
_USES = {
    "cluster": "studies on Slurm, SGE, PBS, LSF or hosts with SSH",
    "terrain": "bodies on landscapes (physics: terrain)",
    "mcap": "covey export --format mcap, for Foxglove",
    "rerun": "covey export --format rrd, for Rerun",
    "bags": "covey slam and covey ros import of ROS bags",
    "lab": "drawings as floor plans (DXF, SVG), laws with barriers",
    "ros2": "covey ros run, node and play; exports as bags",
    "learning": "covey.env, for PettingZoo and Gymnasium",
    "onnx": "learned policies as controllers",
    "profile": "covey run --profile",
    "tune": "covey tune, by Optuna",
}
_PROGRAMS = {"ffmpeg": "animations are written as GIF, not as MP4"}
if sys.platform.startswith("linux"):
    _PROGRAMS["xdg-open"] = "pages and pictures are not opened by themselves"

SLOW = "takes twice as long as with numba 0.68, the only version that Covey can speed up"


def findings() -> list[tuple[str, str, bool]]:
    """Return (subject, finding, whether it is good) for everything that a run depends on."""
    found = [
        ("Covey", _version("covey") or "not installed as a package", True),
        ("Python", f"{platform.python_version()} ({sys.executable})", (3, 11) <= sys.version_info[:2] <= (3, 13)),
    ]
    found += [(package, _version(package) or "missing", bool(_version(package))) for package in _PACKAGES]
    found += [_processor(), _compiler(), _cache(), _threads(), _runs()]
    with suppress(metadata.PackageNotFoundError):  # a folder of sources has no extras
        found += _extras(metadata.requires("covey") or ())
    return [*found, *_programs()]


def _extras(requirements: Iterable[str]) -> Iterator[tuple[str, str, bool]]:
    """Yield what is there of each extra, and what for.

    Args:
        requirements: those of Covey, as in the metadata of a package.
    """
    needs = [Requirement(one) for one in requirements]
    for extra, use in _USES.items():
        names = [one.name for one in needs if one.marker and one.marker.evaluate({"extra": extra}) and not _plain(one)]
        missing = [name for name in names if not _version(name)]
        how = f"; needs {', '.join(missing)}: pip install 'covey[{extra}]'" if missing else ""
        yield f"extra {extra}", f"{'not installed' if missing else 'installed'}: {use}{how}", True


def _plain(requirement: Requirement) -> bool:
    """Return whether it is needed without any extra."""
    return requirement.marker is None or requirement.marker.evaluate({"extra": ""})


def _programs() -> Iterator[tuple[str, str, bool]]:
    for program, without in _PROGRAMS.items():
        yield program, shutil.which(program) or f"not found: {without}", True


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
