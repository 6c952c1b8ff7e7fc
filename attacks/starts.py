"""Twenty runs that start at the same time, into folders that nobody named, and into one: nothing may be lost.

    python -m attacks.starts [NUMBER]

Prints how many runs of each kind are whole, and fails when that is not all of the first kind and one of the second.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOM = "world: {empty_m: [6, 6]}\nrobots: [{count: 2, controller: wander}]\nstop: {timeout_s: 2}\n"


def attack(folder: Path, number: int, *options: str) -> list[int]:
    """Start runs at once and return their exit codes."""
    (folder / "room.yaml").write_text(ROOM)
    command = [sys.executable, "-P", "-m", "covey", "run", "room.yaml", "--no-pictures", "-q", *options, "--seed"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    started = [subprocess.Popen([*command, str(seed)], cwd=folder, **quiet) for seed in range(number)]
    return [process.wait() for process in started]


def whole(folder: Path) -> list[int]:
    """Return the seeds of the finished runs."""
    manifests = [json.loads(path.read_text()) for path in folder.rglob("manifest.json")]
    return sorted(found["seed"] for found in manifests if found["status"] == "finished")


def main() -> None:
    """Do both."""
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
        codes, same = attack(Path(one), number), attack(Path(other), number, "--out", "same")
        lost = number - len(whole(Path(one)))
        print(f"{number} starts: {lost} lost, exit codes {sorted(set(codes))}")
        print(
            f"{number} into one folder: {same.count(3)} ran, {same.count(2)} refused, whole: {len(whole(Path(other)))}"
        )
        sys.exit(lost > 0 or len(whole(Path(other))) != 1 or set(same) - {2, 3} != set())


if __name__ == "__main__":
    main()
