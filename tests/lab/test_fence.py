"""A fenced process changes no file and ends no other process; one apart sees no other and no network."""

import os
import signal
import socket
import subprocess
import sys

import pytest

from covey.lab.tournament.apart import can_step_apart

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


APART = """
import os, socket, subprocess, sys
from covey.lab.tournament import apart
{before}
child = os.fork()
if child:
    print("exit code", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    os._exit(0)
assert apart.step_apart()
print("processes", *sorted(name for name in os.listdir("/proc") if name.isdecimal()))
acts = {{
    "kill": lambda: os.kill(int(sys.argv[1]), 9),
    "connect": lambda: socket.socket().connect(("127.0.0.1", int(sys.argv[2]))),
    "write": lambda: open("new.txt", "w"),
    "null": lambda: open(os.devnull, "w").write("x"),
    "read": lambda: open("mine.txt").read(),
}}
for name, act in acts.items():
    try:
        act()
    except OSError:
        continue
    print(name)
sys.stdout.flush()
subprocess.Popen(["sleep", "600"], start_new_session=True, stdout=int(sys.argv[3]), pass_fds=[int(sys.argv[3])])
{end}
"""


@pytest.mark.parametrize(
    ("before", "may", "end", "code"),
    [
        ("", ["write", "null", "read"], "os._exit(7)", 7),
        ("apart.landlock = lambda: 0", ["null", "read"], "os.kill(os.getpid(), 9)", 109),  # files become read-only
        (
            "import ctypes; os.setgid(65534); os.setuid(65534); ctypes.CDLL(None).prctl(4, 1, 0, 0, 0)",  # nobody
            ["null", "read"],
            "os.kill(1, 9); os._exit(150)",  # it cannot end the first process, nor say that it was ended
            99,
        ),
    ],
)
@pytest.mark.skipif(not can_step_apart(), reason="this system lets no process have namespaces of its own")
def test_a_process_apart_sees_no_others_and_leaves_none(tmp_path, before, may, end, code):
    if "setuid" in before and os.geteuid():
        pytest.skip("needs root")
    (tmp_path / "mine.txt").write_text("mine")
    for folder in (tmp_path, *tmp_path.parents[:2]):
        folder.chmod(0o755)
    other = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    ours, theirs = os.pipe()
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        done = subprocess.run(
            [sys.executable, "-c", APART.format(before=before, end=end), *map(str, (other.pid, port, theirs))],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            pass_fds=[theirs],
        )
    os.close(theirs)
    with os.fdopen(ours) as left:
        assert left.read() == ""  # what it has started has ended, too
    other.communicate(b"\n")
    assert other.returncode == 0
    assert done.stdout.split("\n") == ["processes 1 2", *may, f"exit code {code}", ""], done.stderr
