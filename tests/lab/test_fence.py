"""A fenced process changes no file and ends no other process."""

import signal
import subprocess
import sys

import pytest

CODE = """
import os, sys
from pathlib import Path
from covey.lab.tournament.fence import fence
version, other = fence(), int(sys.argv[1])
print(version)
acts = {
    "write": lambda: Path("mine.txt").write_text("changed"),
    "append": lambda: Path("mine.txt").open("a"),
    "shorten": lambda: os.truncate("mine.txt", 0),
    "remove": lambda: os.remove("mine.txt"),
    "move": lambda: os.rename("mine.txt", "other.txt"),
    "make": lambda: os.mkdir("new"),
    "kill": lambda: os.kill(other, 9),
    "read": lambda: Path("mine.txt").read_text(),
    "null": lambda: Path(os.devnull).write_text("x"),
}
for name, act in acts.items():
    try:
        act()
    except PermissionError:
        continue
    print(name)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Landlock is a part of Linux")
def test_a_fenced_process_changes_no_file_and_ends_no_other_process(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    other = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    done = subprocess.run(
        [sys.executable, "-c", CODE, str(other.pid)], capture_output=True, text=True, cwd=tmp_path, check=True
    )
    other.communicate(b"\n")
    version, *done = done.stdout.split()
    if int(version) < 6:
        pytest.skip(f"this system has version {version} of Landlock")
    assert done == ["read", "null"]
    assert other.returncode == 0 != -signal.SIGKILL
    assert (tmp_path / "mine.txt").read_text() == "mine"
