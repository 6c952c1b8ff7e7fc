"""Commands on a disk that is full, or fills up: words, exit code 1, and what was there before is whole.

Each case mounts a small disk in memory, which needs root; without it there are no cases.
"""

import io
import os
import shutil
import subprocess
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from random import Random

import yaml
from attacks.bounded import main
from attacks.commands import SCENARIO, run

_COMMANDS = (
    "run s.yaml --out disk/new --no-pictures",
    "run s.yaml --out disk/new -q",
    "run s.yaml --out disk/run --force -q",
    "run two.yaml --out disk/new --jobs 1",
    "run two.yaml --out disk/new --jobs 2 -q",
    "run two.yaml --out disk/study --jobs 1",
    "plot disk/run overview",
    "plot run overview trajectories --out disk/new --format svg",
    "plot run animation --out disk/new",
    "report disk/study",
    "report study --out disk/new",
    "replay-robot disk/run a0",
    "replay-robot run a0 --out disk/steps.jsonl.gz",
    "lessons disk/new",
    "export run --out disk/new.html",
    "export run --format map --out disk/new.yaml",
    "export run --format log --out disk/new.npz",
    "export run --format mcap --out disk/new.mcap",
    "slam run.npz --out disk/new -q",
    "results disk/study --format csv",
)


def possible() -> bool:
    """Return whether this process may mount a disk."""
    if os.geteuid() != 0 or not shutil.which("mount"):
        return False
    Path("try").mkdir(exist_ok=True)
    mounted = subprocess.run(["mount", "-t", "tmpfs", "none", "try"], capture_output=True).returncode == 0
    if mounted:
        subprocess.run(["umount", "-l", "try"], check=True)
    Path("try").rmdir()
    return mounted


def case(number: int) -> str:
    """Return the exit code of a command whose files are on a disk with little room, or none."""
    from covey.cli.exit_codes import FAILED, NOT_REACHED, REACHED

    random, folder = Random(number), Path(f"case{number}")
    shutil.copytree("template", folder)
    command = random.choice(_COMMANDS)
    room = random.choice((0, 1, 2, 3, 5, 10, 20, 50, 100))  # pages of 4096 bytes
    disk = folder / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "none", disk], check=True)
    try:
        for name in ("run", "study"):
            shutil.copytree(Path("template", name), disk / name)
        free = os.statvfs(disk).f_bavail
        with (disk / "filler").open("wb") as filler:
            filler.write(bytes(4096 * max(0, free - room)))
        before = _files(disk)
        with chdir(folder):
            note = f"{room} pages are free"
            code = run(command.split(), note)
            left = os.statvfs("disk").f_bavail
        assert code in (REACHED, NOT_REACHED, FAILED), f"{command}, {note}: exit code {code}"
        if code == FAILED:
            assert left < room + 2, f"{command}, {note}: fails with {left} pages left"
        if "--force" not in command and "study" not in command:
            after = _files(disk)
            assert {name: after.get(name) for name in before} == before, f"{command}, {note}: other files changed"
        return f"exit {code}"
    finally:
        subprocess.run(["umount", "-l", disk], check=True)
        shutil.rmtree(folder)


def warm() -> None:
    """Make what the commands read."""
    from covey import cli
    from covey.cli.exit_codes import NOT_REACHED, REACHED

    Path("template").mkdir()
    design = {"design": "two", "scenario": SCENARIO, "parameters": {"robots.a.count": [1, 2]}, "iterations": 1}
    with chdir("template"), redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        Path("s.yaml").write_text(yaml.safe_dump(SCENARIO | {"record": {"scans_every_s": 0.1}}))
        Path("two.yaml").write_text(yaml.safe_dump(design))
        commands = (
            "run s.yaml --out run --no-pictures",
            "run two.yaml --out study --jobs 1",
            "export run --format log --out run.npz",
        )
        for typed in commands:
            assert cli.main(typed.split()) in (REACHED, NOT_REACHED), typed


def _files(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file() and path.name != "filler"}


if __name__ == "__main__":
    sys.exit(main("attacks.full_disks", 200) if possible() else "attacks.full_disks mounts disks: it needs root")
