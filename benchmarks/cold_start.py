"""Time of `covey run maze` until its first step is done: with an empty cache of kernels, and with a warm one.

Start of Python, imports, checks, compilation, set-up and the step itself count. The first progress line tells that the
step is done; then the run is ended. A run of 20 s of simulated time shows whether kernels are compiled later on.
Wall time, and CPU time of all processes of the run. Run: python benchmarks/cold_start.py
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def run(cache: str, until: str) -> tuple[float, float]:
    """Return the wall time and CPU time [s] of a new process until a text shows in its progress lines."""
    with tempfile.TemporaryDirectory() as folder:
        arguments = [sys.executable, "-m", "covey", "run", "maze", "--no-pictures", "--out", str(Path(folder) / "run")]
        begin = time.perf_counter()
        child = subprocess.Popen(
            arguments, env=os.environ | {"COVEY_CACHE_DIR": cache}, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL
        )
        assert child.stderr is not None
        for line in child.stderr:
            if until in line.decode():
                break
        wall = time.perf_counter() - begin
        child.kill()
        _, _, usage = os.wait4(child.pid, 0)
        child.returncode = 0
        return wall, usage.ru_utime + usage.ru_stime


def main() -> None:
    """Print the figures."""
    with tempfile.TemporaryDirectory() as cache:
        for name in ("empty cache", "warm cache", "warm cache"):
            wall, cpu = run(cache, "simulated")
            print(f"{name:12} {wall:6.1f} s of wall time, {cpu:6.1f} s of CPU time")


if __name__ == "__main__":
    main()
