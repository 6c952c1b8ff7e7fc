"""What the process of a robot takes of its machine, as psutil and the wire see it, and how its memory is limited."""

import os
import resource
import time
from pathlib import Path
from typing import NamedTuple

import psutil

from covey.robots.computer import Computer
from covey.runtime.transport.transport import Transport

EVERY_S = 5.0
"""How often a process tells [s of wall time] (Yan et al. 2017, section 3.2)."""
_MIB = 2**20
CGROUPS = Path("/sys/fs/cgroup")


class Use(NamedTuple):
    """What a process has taken of its machine since it told last.

    Attributes:
        wall_s: how long that is [s].
        cpu_percent: user and system processor time [%]; 100 is one processor.
        ram_percent: memory of its software over that of its robot's computer; without one, of the process over that of
            the machine [%].
        rss_mib: resident memory [MiB]; ``software_mib``: what of it is more than the bare process takes.
        kbytes_received, kbytes_sent: over its wire [KB/s].
    """

    wall_s: float
    cpu_percent: float
    ram_percent: float
    rss_mib: float
    software_mib: float
    kbytes_received: float
    kbytes_sent: float


class OwnUse:
    """Watches the process that it is in.

    Args:
        wire: to the simulator.
        computer: of the robot; None for none.
    """

    def __init__(self, wire: Transport, computer: Computer | None):
        self._wire, self._computer, self._process = wire, computer, psutil.Process()
        self._bare_mib = self._process.memory_info().rss / _MIB
        self._last = self._now()

    def look(self, least_s: float = EVERY_S) -> Use | None:
        """Return what was taken since it was told last; None when that is less than so long [s] ago."""
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
        """Whether its software takes more memory than its robot's computer has."""
        if self._computer is None:
            return False
        return self._process.memory_info().rss / _MIB - self._bare_mib > self._computer.ram_mib

    def bound(self, memory_mib: float) -> None:
        """Let the process take only so much more memory [MiB]; what asks for more gets a `MemoryError`."""
        held = getattr(self._process.memory_info(), "data", None)
        if held is None:  # no Linux
            return
        most_mib = max(memory_mib, 2 * self._computer.ram_mib if self._computer else 0.0)
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        most = held + int(most_mib * _MIB)
        resource.setrlimit(resource.RLIMIT_DATA, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))

    def limit(self) -> str:
        """Limit the memory of the process to that of its robot's computer.

        Returns:
            By what: the path of a cgroup, where a memory controller of version 2 may be written; else ``psutil``: the
            simulator is told what the process takes, and slows it down or ends it; empty without a computer.
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
    """Put a process into a cgroup of its own beside the one it is in, with a limit of its memory [bytes].

    Args:
        root: where cgroups of version 2 are mounted.
        pid: the process.
        name: ``memory.high``: more is taken from it again (it swaps), or ``memory.max``: it is killed.
        most: the limit.

    Returns:
        The cgroup; None where that cannot be done, and then nothing has changed.
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
