"""Peak memory of the maze with 30 Pioneers above that of `covey run hello`, both with a warm cache, without pictures.

Each is a process of its own; the figure is its largest resident set. Run: python benchmarks/memory.py
"""

import os
import sys
import tempfile
from pathlib import Path

LINE = "robots.scout.start={line: {from: [-38, 38], step: [0, -2.4], heading_deg: 0}}"
CASES = {
    "hello": ["hello"],
    "maze, 30 robots": ["maze", "-s", "robots.scout.count=30", "-s", LINE],
}


def peak_mib(arguments: list[str]) -> float:
    """Return the peak resident set [MiB] of ``covey run`` in a new process."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["-m", "covey", "run", *arguments, "--no-pictures", "--quiet", "--out", str(Path(folder) / "run")]
        child = os.posix_spawn(sys.executable, [sys.executable, *command], os.environ)
        _, status, usage = os.wait4(child, 0)
    assert os.waitstatus_to_exitcode(status) in (0, 3)
    return usage.ru_maxrss / 1024


def main() -> None:
    """Print the figures."""
    peaks = {}
    for name, arguments in CASES.items():
        peak_mib([*arguments, "-s", "stop.timeout_s=20"])  # fills the cache
        peaks[name] = peak_mib(arguments)
        print(f"{name:20} {peaks[name]:6.0f} MiB")
    hello, maze = peaks.values()
    print(f"above hello: {maze - hello:.0f} MiB")


if __name__ == "__main__":
    main()
