"""Covey where there is no POSIX: what Windows and macOS lack is taken away, and commands run without it.

This is no test on these systems. It finds what is used without looking whether it is there; pyright, which `make check`
asks for each system, finds the rest. Processes that a command starts lack nothing. The files lie as people have them
there: in a folder with a space, with drives in paths and ends of lines of Windows; the console knows few letters.
"""

import os
import re
import shutil
import subprocess
import sys

import pytest

from covey import Run, World, load_scenario
from covey.cli.exit_codes import NOT_REACHED, REACHED

LACKS = {
    "win32": {
        "os": "fork forkpty killpg setsid setpgid getpgid getuid geteuid getgid getegid uname getloadavg sysconf wait3 wait4"
        " pread pwrite nice sched_getaffinity sched_setaffinity mkfifo chroot fchown chown lchown statvfs register_at_fork"
        " O_NOFOLLOW O_PATH memfd_create getpriority setpriority posix_spawn sendfile",
        "signal": "SIGUSR1 SIGUSR2 SIGALRM SIGHUP SIGQUIT SIGPIPE SIGURG SIGVTALRM SIGPROF pthread_kill pthread_sigmask"
        " setitimer getitimer alarm siginterrupt sigwait pause",
        "socket": "AF_UNIX SO_BINDTODEVICE MSG_DONTWAIT SO_REUSEPORT",
        "mmap": "MAP_PRIVATE MAP_ANONYMOUS MADV_NOHUGEPAGE",
        "faulthandler": "register unregister",
    },
    "darwin": {
        "os": "sched_getaffinity sched_setaffinity O_PATH memfd_create",
        "signal": "SIGRTMIN SIGRTMAX",
        "socket": "SO_BINDTODEVICE",
        "mmap": "MADV_NOHUGEPAGE",
    },
}
MODULES = {"win32": ("fcntl", "resource", "termios", "pwd", "grp", "pty", "tty", "readline"), "darwin": ()}
SCENARIO = """\
world: {file: C:/maps/σ.yaml}
robots:
  - {name: scout, robot: disc, controller: wander, count: 2, localization: odometry}
  - {name: own, robot: disc, controller: C:/code/mine.py:mine}
stop: {timeout_s: 2}
"""
DESIGN = """\
design: some
scenario: {world: {empty_m: [6, 6]}, robots: [{name: scout, robot: disc, controller: wander}]}
parameters: {robots.scout.count: [1, 2]}
stop: {timeout_s: 1}
"""

START = """
import asyncio, faulthandler, fcntl, mmap, multiprocessing.connection, os, pwd, shutil, signal, socket, subprocess, sys, tempfile, types
import matplotlib.pyplot, numba, numpy, platformdirs, polars, psutil, pyarrow.parquet, rich.console, rich.table, websockets.sync.server
system, lacks, modules = {system!r}, {lacks!r}, {modules!r}
for module, names in lacks.items():
    for name in names.split():
        if hasattr(sys.modules[module], name):
            delattr(sys.modules[module], name)
sys.modules.update(dict.fromkeys(modules))  # whoever imports one gets an ImportError
sys.platform = system
shutil._winapi = types.SimpleNamespace(NeedCurrentDirectoryForExePath=lambda _: True)  # what Python 3.12 has on Windows

from covey.cli import main

print("codes", *[main(command.split()) for command in sys.argv[1:]])
"""
COMMANDS = (
    "check room.yaml",
    "run room.yaml -s execution.controllers=in_process --out σ",
    "run room.yaml -s execution.controllers=processes --no-pictures --out processes",
    "run some.yaml --jobs 2 --out study",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with a scenario and a design, and the scenario's run as it usually is."""
    place = tmp_path_factory.mktemp("other_systems") / "a folder é"
    for name in ("C:/maps", "C:/code"):  # here a folder, there a drive
        (place / name).mkdir(parents=True)
    World.empty(6, 6).save(place / "C:/maps/σ.yaml")
    (place / "C:/code/mine.py").write_text("def mine(robot):\n    robot.drive(0.1)\n")
    (place / "room.yaml").write_text(SCENARIO, encoding="utf-8", newline="\r\n")
    (place / "some.yaml").write_text(DESIGN, encoding="utf-8", newline="\r\n")
    for name in ("C:/maps/σ.yaml", "C:/code/mine.py"):
        (place / name).write_bytes((place / name).read_bytes().replace(b"\n", b"\r\n"))
    load_scenario(place / "room.yaml").build(place / "usual").run()
    return place


@pytest.mark.slow
@pytest.mark.timeout(900)  # three commands, one after the other
@pytest.mark.parametrize(("system", "console"), [("win32", "cp1252"), ("darwin", "utf-8")])
def test_runs_and_a_study_where_much_is_missing(folder, system, console, tmp_path):
    """One process takes one command after the other, as each loads the whole of Covey."""
    code = START.format(system=system, lacks=LACKS[system], modules=MODULES[system])
    here = tmp_path / folder.name
    shutil.copytree(folder, here, ignore=shutil.ignore_patterns("usual"))
    program = [sys.executable, "-c", code, *COMMANDS]
    environment = os.environ | {"PYTHONIOENCODING": f"{console}:strict", "PYTHONUTF8": "0"}
    done = subprocess.run(program, capture_output=True, encoding=console, env=environment, cwd=here, timeout=840)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout.splitlines()[-1] == f"codes {REACHED} {NOT_REACHED} {NOT_REACHED} {REACHED}", done.stderr
    letter = "σ".encode(console, "replace").decode(console)
    assert re.search(rf"run folder +{re.escape(str(here))}.{re.escape(letter)} ", done.stdout), (
        "with what a console can show"
    )
    for how in ("σ", "processes"):
        assert Run(here / how).measurements.equals(Run(folder / "usual").measurements)
    assert (here / "σ" / "figures" / "overview.png").is_file()
