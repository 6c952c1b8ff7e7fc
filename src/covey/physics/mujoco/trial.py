"""Read the body of a file in a separate process first: an endless read or a crash of the engine ends there.

A few lines of MJCF can ask for millions of parts or for huge meshes, and the engine cannot be interrupted.
"""

import os
import subprocess
import sys
from functools import lru_cache
from pathlib import Path
from typing import Any

from covey.errors import InvalidValueError

LIMIT_S, LIMIT_BYTES, MAX_PARTS = 5, 2_000_000_000, 1000
"""Limits for reading a file: processor time [s], memory [bytes], and number of joints or geoms of its body."""

_WAIT_S = 120  # limit of wall time [s], for a busy machine


def try_out(path: Path) -> None:
    """Raise `InvalidValueError` if the engine cannot read a file within the limits."""
    stat = path.stat()
    why = _tried(str(path.resolve()), stat.st_mtime_ns, stat.st_size)
    if why:
        raise InvalidValueError(f"chassis: MuJoCo cannot read {str(path)!r}: {why}")


def read(path: Path) -> tuple[Any, Any]:
    """Return the specification of a file without free joints, and its compiled model.

    Raises:
        ValueError: the engine cannot read it, or it has too many parts.
    """
    from covey.physics.mujoco.engine import mujoco

    mj = mujoco()
    try:
        spec = mj.MjSpec.from_file(str(path))
        for joint in [j for j in spec.joints if j.type == mj.mjtJoint.mjJNT_FREE]:
            spec.delete(joint)
        model = spec.compile()
    except (RuntimeError, mj.FatalError, TypeError) as error:
        raise ValueError(str(error)) from error
    if max(model.njnt, model.ngeom) > MAX_PARTS:
        raise ValueError(f"it has {model.njnt} joints and {model.ngeom} geoms; a body has at most {MAX_PARTS}")
    return spec, model


@lru_cache(maxsize=256)
def _tried(path: str, changed_ns: int, size: int) -> str:
    """Return the problem with a file; empty if there is none."""
    command = [sys.executable, "-P", "-m", __name__, path]
    try:
        done = subprocess.run(command, capture_output=True, timeout=_WAIT_S, stdin=subprocess.DEVNULL, check=False)
    except subprocess.TimeoutExpired:
        return f"reading it took longer than {_WAIT_S} s"
    if done.returncode == 0:
        return ""
    if done.returncode == 2:
        return done.stderr.decode("utf-8", "replace").strip()[-500:]
    return f"it takes more than {LIMIT_S} s or {LIMIT_BYTES / 1e9:g} GB, or crashes the engine; simplify it"


def _main(path: str) -> int:
    if sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_CPU, (LIMIT_S, LIMIT_S + 1))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_DATA, (LIMIT_BYTES, LIMIT_BYTES))
    try:
        read(Path(path))
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    code = _main(sys.argv[1])
    sys.stderr.flush()
    os._exit(code)
