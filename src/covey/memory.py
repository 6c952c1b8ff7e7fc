"""How much memory the machine leaves this process, and arrays that take only what of them is touched."""

import math
import mmap
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from covey.errors import InvalidValueError

if sys.platform == "win32":  # it has no limits of processes
    resource = None
else:
    import resource

_GROUPS, _OWN = Path("/sys/fs/cgroup"), Path("/proc/self/cgroup")
_LIMITED = {"RLIMIT_AS": ("ulimit -v", "vms"), "RLIMIT_DATA": ("ulimit -d", "data")}


def check_room(needed: float, what_takes: str, advice: str) -> None:
    """Raise `InvalidValueError` if less than ``needed`` bytes are left for this process."""
    left, what_limits = room()
    if needed > left:
        raise InvalidValueError(
            f"{what_takes} {needed / 1e9:.3g} GB, more than the {max(left, 0) / 1e9:.3g} GB that {what_limits}; "
            f"{advice}"
        )


def room() -> tuple[float, str]:
    """Return the bytes that this process can still take, and what limits them, in words."""
    memory = psutil.virtual_memory()
    limits = [(float(memory.available), f"are left of the {memory.total / 1e9:.3g} GB of this machine")]
    used = psutil.Process().memory_info()
    for name, (command, kind) in _LIMITED.items():
        if resource is None or not hasattr(resource, name) or not hasattr(used, kind):
            continue
        if (soft := resource.getrlimit(getattr(resource, name))[0]) != resource.RLIM_INFINITY:
            said = f"`{command}` leaves this process of {soft / 1e9:.3g} GB"
            limits.append((float(soft - getattr(used, kind)), said))
    limits += list(left_in_groups(_OWN, _GROUPS))
    return min(limits)


def left_in_groups(own: Path, root: Path) -> Iterator[tuple[float, str]]:
    """Yield what each control group of a process leaves it [bytes], and that in words.

    Args:
        own: a file such as ``/proc/self/cgroup``, with the groups of the process.
        root: the folder where groups are mounted; those of version 1 have the controllers' folders in it.
    """
    try:
        lines = own.read_text().splitlines()
    except OSError:
        return
    for line in lines:
        _, controllers, name = line.split(":", 2)
        if controllers and "memory" not in controllers.split(","):
            continue
        top = root / "memory" if controllers else root
        limit, usage = (
            ("memory.limit_in_bytes", "memory.usage_in_bytes") if controllers else ("memory.max", "memory.current")
        )
        folder = top / name.strip("/")
        if not folder.is_dir():  # a container shows its own group as the root
            folder = top
        while folder == top or top in folder.parents:
            try:
                most, now = (folder / limit).read_text().strip(), float((folder / usage).read_text())
                if most != "max" and float(most) < psutil.virtual_memory().total:
                    cache = _inactive(folder / "memory.stat")
                    yield float(most) - now + cache, f"the control group {name} leaves of {float(most) / 1e9:.3g} GB"
            except (OSError, ValueError):
                pass
            folder = folder.parent


def _inactive(stat: Path) -> float:
    """Return the bytes of files in memory that a group gives up first; 0 if it does not say."""
    try:
        found = dict(line.split() for line in stat.read_text().splitlines())
        return float(found.get("total_inactive_file", found.get("inactive_file", 0)))
    except (OSError, ValueError):
        return 0.0


def small_pages(shape: tuple[int, ...], kind: Any) -> np.ndarray:
    """Return zeros of a kind of integers, of which only touched pages of 4 kB take memory.

    Those of `numpy.zeros` have 2 MB on Linux. A robot sees and covers few parts of the array of a large world: what
    10 000 robots have covered then takes 0.1 GB in the place of 5 GB. A process that is forked gets a copy, as of every
    other array.
    """
    private = {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS} if sys.platform != "win32" else {}
    memory = mmap.mmap(-1, max(1, np.dtype(kind).itemsize * math.prod(shape)), **private)
    if sys.platform == "linux":
        with suppress(OSError):  # a system without large pages
            memory.madvise(mmap.MADV_NOHUGEPAGE)
    return np.ndarray(shape, kind, memory)
