"""The number of processors that this process may use: of the machine, of its container, and of its job."""

import math
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

_OF_JOBS = (
    ("SLURM_CPUS_PER_TASK", "SLURM_CPUS_ON_NODE"),
    ("NSLOTS",),  # SGE
    ("PBS_NUM_PPN", "NCPUS"),
    ("LSB_DJOB_NUMPROC",),
)
"""Variables in which queueing systems tell the processors of a job; the first of each that is set counts."""


def processors() -> int:
    """Return the number of processors that this process may use.

    It is the least of: the processors on which the system lets it run, the quota of its control group, and what a
    queueing system has given its job.
    """
    here = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
    return max(1, min([here, *of_job(os.environ), *of_cgroup(Path("/proc/self/cgroup"), Path("/sys/fs/cgroup"))]))


def of_job(environment: Mapping[str, str]) -> list[int]:
    """Return the numbers of processors that queueing systems name in the environment of a job.

    Examples:
        >>> of_job({"SLURM_CPUS_PER_TASK": "2", "SLURM_CPUS_ON_NODE": "8"}), of_job({"NSLOTS": "4"}), of_job({})
        ([2], [4], [])
    """
    told = [next(filter(None, map(environment.get, names)), "") for names in _OF_JOBS]
    return [int(text) for text in told if text.isdigit() and int(text) > 0]


def of_cgroup(memberships: Path, root: Path) -> list[int]:
    """Return the quotas of a control group and of those above it, in whole processors, rounded up.

    Args:
        memberships: the file ``/proc/self/cgroup``.
        root: where control groups are mounted.
    """
    found: list[int] = []
    with suppress(OSError):
        for line in memberships.read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            if not controllers:
                found += _quotas(root, path, _quota_of_version_2)
            elif "cpu" in controllers.split(","):
                for mounted in (root / controllers, root / "cpu"):
                    found += _quotas(mounted, path, _quota_of_version_1)
    return found


def _quotas(mounted: Path, path: str, quota: Callable[[Path], float]) -> Iterator[int]:
    folder = mounted / path.lstrip("/")
    for group in (folder, *folder.parents):
        with suppress(OSError, ValueError, ZeroDivisionError):
            if (share := quota(group)) > 0:
                yield math.ceil(share)
        if group == mounted:
            return


def _quota_of_version_2(group: Path) -> float:
    quota, period = (group / "cpu.max").read_text().split()
    return int(quota) / int(period)  # "max" is no number


def _quota_of_version_1(group: Path) -> float:
    return int((group / "cpu.cfs_quota_us").read_text()) / int((group / "cpu.cfs_period_us").read_text())
