"""A tournament of 12 pursuers against 12 evaders, 144 games of at most 60 s: wall and CPU time.

The laws are those of `examples/tournament`, and each a second time under another name. The CPU time is that of all
processes together: the command, the workers, and the processes of the laws.

    python benchmarks/tournament.py [laws per side] [jobs]
"""

import ctypes
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

LAWS = Path(__file__).resolve().parent.parent / "examples" / "tournament"
BECOME_SUBREAPER = 36  # prctl(2): processes whose parent ended become children of this one, and their times count


def write_laws(folder: Path, side: str, count: int) -> Path:
    """Write laws of a side into a folder."""
    files = sorted((LAWS / side).glob("*.py"))
    (folder / side).mkdir()
    for k in range(count):
        law = files[k % len(files)]
        text = law.read_text() + f"\n# number {k}\n"  # another file, so its games are played
        (folder / side / f"{law.stem}_{k // len(files)}.py").write_text(text)
    return folder / side


def cpu_of_children() -> float:
    """Return the CPU time of all children that have ended [s]."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main(count: int = 12, jobs: int = 2) -> None:
    """Play, and print times and how the games ended."""
    ctypes.CDLL(None).prctl(BECOME_SUBREAPER, 1, 0, 0, 0)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sides = [str(write_laws(folder, side, count)) for side in ("pursuers", "evaders")]
        command = [sys.executable, "-m", "covey", "tournament", *sides, "--out", str(folder / "out")]
        began, used = time.monotonic(), cpu_of_children()
        subprocess.run([*command, "--jobs", str(jobs), "--quiet"], check=True, stdout=subprocess.DEVNULL)
        wall = time.monotonic() - began
        while True:
            try:
                os.waitpid(-1, 0)
            except ChildProcessError:
                break
        cpu = cpu_of_children() - used
        rows = [json.loads(path.read_text()) for path in (folder / "out" / "games").glob("*.json")]
        played, failed = sum(row["time_s"] for row in rows), sum(bool(row["failed"]) for row in rows)
    print(f"{len(rows)} games, {played:,.0f} s simulated, {failed} games with a failed law, {jobs} jobs")
    print(f"wall {wall:.1f} s, CPU {cpu:.1f} s, {cpu / len(rows):.2f} s a game, CPU / jobs {cpu / jobs:.1f} s")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
