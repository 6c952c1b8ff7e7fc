"""What commands listen on while they run: nothing but this machine's own loopback, unless a file asks for more."""

import ipaddress
import math
import os
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import psutil
from attacks.bounded import main

from covey.cli.exit_codes import BAD_INPUT

_TEAM = "{world: {empty_m: [6, 6]}, robots: [{name: a, controller: wander}], stop: {timeout_s: 2}"
FILES = {
    "s.yaml": _TEAM + "}",
    "processes.yaml": _TEAM + ", execution: {controllers: processes}}",
    "asked.yaml": _TEAM + ', execution: {controllers: processes, processes: {address: "0.0.0.0:0"}}}',
    "d.yaml": "design: d\nscenario: s.yaml\nparameters: {robots.a.count: [1, 2]}\n",
    "slurm.yaml": "slurm: {cores: 1, memory: 1GB, interface: lo}\n",
}
COMMANDS = (
    "run s.yaml -q",
    "run processes.yaml -q --no-pictures",
    "run d.yaml --out two --jobs 2",
    "run asked.yaml -q --no-pictures",
    "run d.yaml --cluster slurm.yaml --dry-run",
    "run d.yaml --out other --cluster slurm.yaml -q",
    "run d.yaml --dry-run",
    "check s.yaml",
    "check d.yaml",
    "show hello",
    "list",
    "results study",
    "report study",
    "compare study study",
    "plot run",
    "schema",
    "doctor",
)
"""A case is the place of a command in this list."""
ASKS = ("run asked.yaml -q --no-pictures",)
LISTEN = ("run processes.yaml -q --no-pictures", "run d.yaml --out other --cluster slurm.yaml -q")
_POLL_S, _HEARD_S, _LIMIT_S = 0.05, 5.0, 120.0


def case(number: int) -> str:
    """Return which kind of address a command listened on."""
    command = COMMANDS[number]
    heard = listened(command)
    strangers = {address for address in heard if not ipaddress.ip_address(address[0]).is_loopback}
    if command in ASKS:
        assert strangers, f"covey {command} was asked to listen for others, and the look missed it"
        return "asked"
    assert not strangers, f"covey {command} listens on {sorted(strangers)}"
    assert bool(heard) == (command in LISTEN), f"covey {command} listens on {sorted(heard)}"
    return "loopback" if heard else "nothing"


def warm() -> None:
    """Write the files, and a queueing system that takes jobs and starts none."""
    from covey.experiments.workers.supervisor import compile_if_cold

    compile_if_cold()
    for name, text in FILES.items():
        Path(name).write_text(text)
    for name, answer in (("sbatch", "echo Submitted batch job 7"), ("scancel", "exit 0")):
        Path("bin").mkdir(exist_ok=True)
        Path("bin", name).write_text(f"#!/bin/sh\n{answer}\n")
        Path("bin", name).chmod(0o755)
    for command in ("run s.yaml --out run -q", "run d.yaml --out study -q"):  # for those that look
        _started(command).wait(_LIMIT_S)


def listened(command: str) -> set[tuple[str, int]]:
    """Return the addresses that the processes of a command open until it ends, or for a while where it does not."""
    process, found, begin = _started(command), set(), time.monotonic()
    waits, heard_at = "--cluster" in command and "--dry-run" not in command, math.inf
    while process.poll() is None and time.monotonic() < min(begin + _LIMIT_S, heard_at + _HEARD_S):
        found |= _open(process.pid)
        if waits and found:
            heard_at = min(heard_at, time.monotonic())
        time.sleep(_POLL_S)
    if process.poll() is None:
        process.terminate()
        assert waits, f"covey {command} does not end"
    assert process.wait() != BAD_INPUT, f"covey {command} is refused"
    return found


def _started(command: str) -> subprocess.Popen:
    path = {"PATH": f"{Path('bin').absolute()}:{os.environ['PATH']}"}
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "stdin": subprocess.DEVNULL}
    return subprocess.Popen([sys.executable, "-P", "-m", "covey", *command.split()], env=os.environ | path, **quiet)


def _open(pid: int) -> set[tuple[str, int]]:
    """Return the addresses on which a process and its children wait for TCP, or take UDP from anybody."""
    waiting, found = (psutil.CONN_LISTEN, psutil.CONN_NONE), set()
    with suppress(psutil.NoSuchProcess):
        for process in (psutil.Process(pid), *psutil.Process(pid).children(recursive=True)):
            with suppress(psutil.NoSuchProcess):
                sockets = process.net_connections("inet")
                found |= {(*one.laddr,) for one in sockets if one.laddr and not one.raddr and one.status in waiting}
    return found


if __name__ == "__main__":
    sys.exit(main("attacks.ports", len(COMMANDS)))
