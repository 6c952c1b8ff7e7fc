"""The manifest of a run: everything needed to repeat it."""

import hashlib
import platform
import sys
from collections.abc import Sequence
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from covey.results.folder import FORMAT
from covey.results.recording import Recording

_PACKAGES = (
    *("covey", "numpy", "numba", "llvmlite", "scipy", "pydantic", "pyarrow", "polars", "matplotlib", "pillow"),
    *("shapely", "networkx", "PyYAML"),
)


def build_manifest(
    robots: Sequence[str],
    seed: int,
    recording: Recording = Recording(),
    goal: dict[str, Any] | None = None,
    mission: dict[str, Any] | None = None,
    command: Sequence[str] | None = None,
) -> dict[str, Any]:
    """Return the manifest of a run that is about to start.

    Args:
        robots: names in the order of the arrays.
        seed: root of every random stream.
        recording: name, scenario and inputs; the manifest holds the SHA-256 of the inputs.
        goal: the end of the run: ``explored_share`` (default 0.99), ``of`` (default ``union``), ``timeout_s``.
        mission: its ``kind`` (default ``exploration``) and its constant facts.
        command: command line, default that of this process.

    Raises:
        OSError: an input file cannot be read.
    """
    from llvmlite import binding

    return {
        "format": FORMAT,
        "status": "running",
        "goal_status": None,
        "name": recording.name,
        "seed": seed,
        "robots": list(robots),
        "goal": {"explored_share": 0.99, "of": "union", "timeout_s": None} | (goal or {}),
        "mission": {"kind": "exploration"} | (mission or {}),
        "scenario": recording.scenario_yaml,
        "inputs": [{"path": str(p), "sha256": sha256(p)} for p in recording.inputs],
        "command": list(sys.argv if command is None else command),
        "versions": versions(),
        "cpu": {"machine": platform.machine(), "name": binding.get_host_cpu_name(), "features": _features()},
        "platform": platform.platform(),
    }


@cache
def _features() -> list[str]:
    """Return the features of the processor, sorted."""
    from llvmlite import binding

    return sorted(k for k, on in binding.get_host_cpu_features().items() if on)


def versions() -> dict[str, str | None]:
    """Return the versions of Python and of every package that can affect a result."""
    return {"python": platform.python_version()} | {package: _version(package) for package in _PACKAGES}


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file as hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@cache
def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
