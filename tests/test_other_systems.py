"""Covey where there is no POSIX: what Windows and macOS lack is taken away, and commands run without it.

This is no test on these systems. It finds what is used without looking whether it is there; pyright, which `make check`
asks for each system, finds the rest. Processes that a command starts lack nothing.
"""

import subprocess
import sys

import pytest

from covey import Run, load_scenario
from covey.cli.exit_codes import NOT_REACHED

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
world: {empty_m: [6, 6]}
robots: [{name: scout, robot: disc, controller: wander, count: 2, localization: odometry}]
execution: {controllers: HOW}
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

sys.exit(main(sys.argv[1:]))
"""


@pytest.fixture(params=LACKS)
def covey(request, tmp_path, monkeypatch):
    """Return a function that runs a command of Covey where much is missing."""
    code = START.format(system=request.param, lacks=LACKS[request.param], modules=MODULES[request.param])
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        return subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, timeout=280)

    return run


@pytest.mark.parametrize("how", ["in_process", "processes"])
def test_a_run(covey, how, tmp_path):
    (tmp_path / "room.yaml").write_text(SCENARIO.replace("HOW", how), encoding="utf-8")
    done = covey("run", "room.yaml", "--out", "here")
    assert done.returncode == NOT_REACHED, done.stderr
    assert "Traceback" not in done.stderr
    usual = load_scenario(tmp_path / "room.yaml").build(tmp_path / "usual").run()
    assert Run(tmp_path / "here").measurements.equals(usual.measurements)


def test_a_study(covey, tmp_path):
    (tmp_path / "some.yaml").write_text(DESIGN, encoding="utf-8")
    done = covey("run", "some.yaml", "--jobs", "2", "--out", "study")
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
