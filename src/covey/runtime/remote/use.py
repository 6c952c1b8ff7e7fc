"""Resources that the process of a robot uses, measured by psutil and its transport, and the limit of its memory."""

import os
import sys
import time
from pathlib import Path
from typing import NamedTuple

import psutil

from covey.robots.computer import Computer
from covey.runtime.transport.transport import Transport

EVERY_S = 5.0
"""Period of the reports of a process [s of wall time] (Yan et al. 2017, section 3.2)."""
_MIB = 2**20
CGROUPS = Path("/sys/fs/cgroup")


class Use(NamedTuple):
    """Resources that a process has used since its last report.

    Attributes:
        wall_s: time since then [s].
        cpu_percent: user and system processor time [%]; 100 is one processor.
        ram_percent: memory of its software over that of its robot's computer [%]; without a computer, memory of the
            process over that of the machine.
        rss_mib: resident memory [MiB]; ``software_mib``: its part above that of the bare process.
        kbytes_received, kbytes_sent: data from and to the simulator [KB/s].
    """

    wall_s: float
    cpu_percent: float
    ram_percent: float
    rss_mib: float
    software_mib: float
    kbytes_received: float
    kbytes_sent: float


class OwnUse:
    """Measures its own process.

    Args:
        wire: the connection to the simulator.
        computer: the robot's computer; None for none.
    """

    def __init__(self, wire: Transport, computer: Computer | None):
        self._wire, self._computer, self._process = wire, computer, psutil.Process()
        self._bare_mib = self._process.memory_info().rss / _MIB
        self._last = self._now()

    def sample(self, least_s: float = EVERY_S) -> Use | None:
        """Return the resources used since the last report; None if that is less than ``least_s`` ago."""
        if time.monotonic() - self._last[0] < least_s:
            return None
        now = self._now()
        wall, cpu, received, sent = (b - a for a, b in zip(self._last, now, strict=True))
        self._last = now
        rss = self._process.memory_info().rss / _MIB
        software = max(rss - self._bare_mib, 0.0)
        percent = 100.0 * software / self._computer.ram_mib if self._computer else self._process.memory_percent()
        wall = max(wall, 1e-9)
        return Use(wall, 100.0 * cpu / wall, percent, rss, software, received / wall / 1e3, sent / wall / 1e3)

    @property
    def is_over(self) -> bool:
        """Whether its software uses more memory than its robot's computer has."""
        if self._computer is None:
            return False
        return self._process.memory_info().rss / _MIB - self._bare_mib > self._computer.ram_mib

    def bound(self, memory_mib: float) -> None:
        """Limit the additional memory of the process [MiB]; a request for more gets a `MemoryError`."""
        if sys.platform != "linux":
            return
        import resource

        held = self._process.memory_info().data
        most_mib = max(memory_mib, 2 * self._computer.ram_mib if self._computer else 0.0)
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        most = held + int(most_mib * _MIB)
        resource.setrlimit(resource.RLIMIT_DATA, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))

    def limit(self) -> str:
        """Limit the memory of the process to that of its robot's computer.

        Returns:
            How it is limited: the path of a cgroup, if a memory controller of version 2 is writable; else ``psutil``:
            the process reports its memory, and the simulator slows it down or ends it; empty without a computer.
        """
        if self._computer is None:
            return ""
        most = int((self._bare_mib + self._computer.ram_mib) * _MIB)
        name = {"slow": "memory.high", "kill": "memory.max"}[self._computer.when_ram_full]
        group = limited_by_cgroup(CGROUPS, os.getpid(), name, most)
        return "psutil" if group is None else str(group)

    def _now(self) -> tuple[float, float, float, float]:
        cpu = self._process.cpu_times()
        return (
            time.monotonic(),
            cpu.user + cpu.system,
            float(self._wire.received.sum()),
            float(self._wire.sent.sum()),
        )


def limited_by_cgroup(root: Path, pid: int, name: str, most: int) -> Path | None:
    """Move a process into its own cgroup beside the present one, with a memory limit [bytes].

    Args:
        root: mount point of cgroups version 2.
        pid: the process.
        name: ``memory.high``: above the limit it swaps; ``memory.max``: it is killed.
        most: the limit [bytes].

    Returns:
        The cgroup; None if this is not possible, and then nothing has changed.
    """
    try:
        lines = (Path("/proc") / str(pid) / "cgroup").read_text().splitlines()
        own = next(line.partition("::")[2] for line in lines if line.startswith("0::"))
        above = root / own.strip("/") / ".." if own.strip("/") else root
        if "memory" not in (above / "cgroup.subtree_control").read_text().split():
            return None
        group = above.resolve() / f"covey-{pid}"
        group.mkdir()
    except (OSError, StopIteration):
        return None
    try:
        (group / name).write_text(str(most))
        (group / "cgroup.procs").write_text(str(pid))
    except OSError:
        group.rmdir()
        return None
    return group
