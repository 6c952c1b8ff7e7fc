"""How long people wait for a command: `import covey`, `covey --help`, `covey list`, `covey check maze`.

Prints the median wall time of 7 new processes each, and that of a bare interpreter, over the limit that the
architecture sets for it. Run: python benchmarks/startup.py
"""

import statistics
import subprocess
import sys
import time

CASES = {
    "python -c pass": (["-c", "pass"], None),
    "import covey": (["-c", "import covey"], 0.2),
    "covey --help": (["-m", "covey", "--help"], 0.5),
    "covey run --help": (["-m", "covey", "run", "--help"], 0.5),
    "covey list scenarios": (["-m", "covey", "list", "scenarios"], None),
    "covey list": (["-m", "covey", "list"], None),
    "covey check hello": (["-m", "covey", "check", "hello"], None),
    "covey check maze": (["-m", "covey", "check", "maze"], None),
}


def seconds(arguments: list[str]) -> float:
    """Return the wall time of one new process [s]."""
    started = time.perf_counter()
    subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
    return time.perf_counter() - started


def main() -> int:
    """Print the table; return 1 when a limit is broken."""
    broken = False
    for name, (arguments, limit) in CASES.items():
        seconds(arguments)
        median = statistics.median(seconds(arguments) for _ in range(7))
        broken |= limit is not None and median > limit
        print(f"{name:22} {median * 1000:7.0f} ms" + (f"   limit {limit * 1000:.0f} ms" if limit else ""))
    return int(broken)


if __name__ == "__main__":
    sys.exit(main())
