"""What a machine refuses to a run: memory, threads, disk. Then the run is not to blame, and there is no row.

A run that asks for more than its design allows (``limits.memory_mib``) is to blame itself.
"""

import re
import sys
import threading
from pathlib import Path

import psutil

from covey.errors import MachineError

_MEMORY = re.compile(
    r"MemoryError|Unable to allocate|Cannot allocate memory|too large for the memory of this machine|bad_alloc|"
    r"LLVM ERROR: .*[Mm]emory|failed to map segment|out of memory|memory allocation of \d+ bytes failed|"
    r"<jemalloc>: .*(?:Error|[Ff]ail|OOM)|mimalloc: \w+: unable to",  # what allocates for the tables
)
_THREADS = re.compile(
    r"can't start new thread|pthread_create failed|thread creation failed|Resource temporarily unavailable"
)
_DISK = re.compile(r"No space left on device|Disk quota exceeded|Too many open files in system")
_ASKED = re.compile(r"Unable to allocate ([\d.]+) (bytes|KiB|MiB|GiB|TiB|PiB|EiB)")
_UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
_ADDRESSES_MIB = 4096
"""Addresses that a process takes beside its resident memory: libraries, compiled code, stacks of threads [MiB]."""
_KILLS = Path("/proc/vmstat")
_OWN_THREADS = 64
"""A run with more threads has started them itself."""


class RefusedError(MachineError):
    """A machine refused what a run needs; another one, or the same one later, may do the run."""


def refused(said: str, memory_mib: float, rss_mib: float, threads: int | None = None) -> str:
    """Return what the machine refused, by what an error says; empty if the run is to blame.

    Args:
        said: name and text of an exception, or the output of a process that has died.
        memory_mib: memory that the design allows a run [MiB].
        rss_mib: memory that the process of the run held [MiB].
        threads: number of threads of the process of the run; default: of this process.

    Examples:
        >>> refused("OSError: [Errno 28] No space left on device", 4096, 300)
        'it has no space left on its disk'
        >>> refused("ValueError: no way out", 4096, 300)
        ''
    """
    if _DISK.search(said):
        return "it has no space left on its disk"
    if _THREADS.search(said):
        count = threading.active_count() if threads is None else threads
        if count > _OWN_THREADS:
            return ""
        return _short_of_addresses(memory_mib, rss_mib) or "it starts no more threads or processes (see ulimit -u)"
    if not _MEMORY.search(said):
        return ""
    asked_mib = max((_mib(*found) for found in _ASKED.findall(said)), default=0.0)
    if rss_mib + asked_mib > memory_mib:
        return ""
    return _short_of_memory(memory_mib, rss_mib)


def _mib(number: str, unit: str) -> float:
    return float(number) * 1024.0 ** (_UNITS.index(unit) - 2)


def _short_of_memory(memory_mib: float, rss_mib: float) -> str:
    """Return why this machine cannot give a run the memory that its design allows; empty if it can."""
    if why := _short_of_addresses(memory_mib, rss_mib):
        return why
    free_mib = psutil.virtual_memory().available / 2**20
    if free_mib + rss_mib < memory_mib:
        return f"{free_mib:.0f} MiB of its memory are free, and the run held {rss_mib:.0f} MiB"
    return ""


def _short_of_addresses(memory_mib: float, rss_mib: float) -> str:
    addresses_mib = address_limit_mib()
    if addresses_mib is None or addresses_mib >= memory_mib + _ADDRESSES_MIB:
        return ""
    return (
        f"it gives a process at most {addresses_mib:.0f} MiB of addresses (ulimit -v; SGE sets it by h_vmem), and the "
        f"run held {rss_mib:.0f} MiB of memory; ask for more memory per slot"
    )


def out_of_memory(memory_mib: float, rss_mib: float) -> str:
    """Return what the machine refused, if it has ended a run because memory ran out, of itself or of a job."""
    return (
        f"its memory, or that of the job, ran out, and it ended the run, which held {rss_mib:.0f} MiB and may hold "
        f"{memory_mib:g} MiB (limits.memory_mib); ask for more memory, or do fewer runs at a time"
    )


def kills_for_memory() -> int:
    """Return how many processes this machine has ended because memory ran out, also of a control group; 0: unknown."""
    try:
        found = re.search(r"^oom_kill (\d+)$", _KILLS.read_text(), re.MULTILINE)
    except OSError:
        return 0
    return int(found[1]) if found else 0


def address_limit_mib() -> float | None:
    """Return the limit of the addresses of a process (``ulimit -v``) [MiB]; None if there is none."""
    if sys.platform == "win32":
        return None
    import resource

    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return None if limit == resource.RLIM_INFINITY else limit / 2**20
