"""`slurm`: a Slurm of one machine in a folder of its own, on loopback and free ports."""

import ctypes
import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

NEEDED = ("munged", "slurmctld", "slurmd", "sbatch", "squeue")
_PATH = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/sbin"])
_START_S = 120.0
_PR_SET_PDEATHSIG = 1  # of linux/prctl.h

_CONF = """\
ClusterName=covey
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
SlurmctldPort={ports[0]}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool.%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
SchedulerParameters=batch_sched_delay=0,sched_min_interval=0
SlurmdParameters=config_overrides
JobRequeue=1
ReturnToService=2
KillWait=2
MpiDefault=none
NodeName=n[1-{nodes}] NodeHostname={host} NodeAddr=127.0.0.1 Port=[{ports[1]}-{ports[2]}] CPUs=2 RealMemory=8000
PartitionName=short Nodes=ALL Default=YES MaxTime=04:00:00 State=UP
PartitionName=tiny Nodes=ALL MaxTime=00:01:00 State=UP
"""


def missing() -> list[str]:
    """Return the programs of Slurm that are not on this machine."""
    return [name for name in NEEDED if shutil.which(name, path=_PATH) is None]


@contextmanager
def slurm(folder: Path, nodes: int = 1) -> Iterator[dict[str, str]]:
    """Start a Slurm, and yield the environment in which its commands find it; stop it and its jobs at the end.

    It has ``nodes`` nodes n1, n2, … with two processors and 8000 MB each, and the partitions ``short``, whose jobs may
    take four hours, and ``tiny``, whose jobs may take a minute.
    """
    user, host = pwd.getpwuid(os.getuid()).pw_name, socket.gethostname().partition(".")[0]
    ports = _free_ports(nodes)
    (folder / "state").mkdir(parents=True)
    conf, key = folder / "slurm.conf", folder / "munge.key"
    conf.write_text(
        _CONF.format(folder=folder, user=user, host=host, ports=(ports[0], ports[1], ports[-1]), nodes=nodes)
    )
    key.touch(mode=0o600)
    key.write_bytes(secrets.token_bytes(128))
    environment = os.environ | {"SLURM_CONF": str(conf)}
    tools = environment | {"PATH": _PATH}
    munged = ["munged", "--foreground", "--force", f"--key-file={key}", f"--socket={folder}/munge.socket"]
    munged += [f"--{name}-file={folder}/munge.{name}" for name in ("pid", "log", "seed")]
    daemons = [["slurmctld", "-D"], *(["slurmd", "-D", "-N", f"n{i + 1}"] for i in range(nodes))]
    with ExitStack() as stack:
        stack.enter_context(_daemon(munged, tools, folder))
        _until(lambda: (folder / "munge.socket").exists(), "munged", folder)
        for command in daemons:
            stack.enter_context(_daemon(command, tools, folder))
        _until(
            lambda: asked(tools, "sinfo", "-h", "-N", "-p", "short", "-o", "%T").split() == ["idle"] * nodes,
            "Slurm",
            folder,
        )
        stack.callback(_end_jobs, tools)
        yield environment


def asked(environment: dict[str, str], *command: str) -> str:
    """Return what a command of Slurm prints; empty if it fails."""
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    return done.stdout if done.returncode == 0 else ""


def _end_with_the_tests() -> None:
    """Let the system end this process when the one that started it ends, even if that is killed."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


@contextmanager
def _daemon(command: list[str], environment: dict[str, str], folder: Path) -> Iterator[None]:
    with (folder / "daemons.log").open("ab") as log:
        process = subprocess.Popen(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            preexec_fn=_end_with_the_tests,
        )
    try:
        yield
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _end_jobs(environment: dict[str, str]) -> None:
    """Cancel all jobs, and wait until none is left."""
    asked(environment, "scancel", "--signal=KILL", "--full", "--me")
    asked(environment, "scancel", "--me")
    until = time.monotonic() + 30
    while asked(environment, "squeue", "-h", "-t", "all", "-o", "%T").split() and time.monotonic() < until:
        if not set(asked(environment, "squeue", "-h", "-o", "%T").split()):
            return
        time.sleep(0.2)


def _until(ready, what: str, folder: Path) -> None:
    until = time.monotonic() + _START_S
    while not ready():
        if time.monotonic() > until:
            logs = "\n".join(
                f"{path.name}:\n{path.read_text(errors='replace')[-2000:]}" for path in folder.glob("*.log")
            )
            raise RuntimeError(f"{what} has not started within {_START_S:g} s\n{logs}")
        time.sleep(0.1)


def _free_ports(nodes: int) -> list[int]:
    """Return a free port for the controller, and as many in a row for the nodes."""
    for _ in range(100):
        with ExitStack() as stack:
            first = stack.enter_context(socket.socket())
            first.bind(("127.0.0.1", 0))
            port = first.getsockname()[1]
            row = range(port + 1, port + 1 + nodes)
            try:
                for one in row:
                    stack.enter_context(socket.socket()).bind(("127.0.0.1", one))
            except (OSError, OverflowError):
                continue
            return [port, *row]
    raise RuntimeError("there are no free ports in a row")
