"""Execution on other machines by Dask: a running scheduler, or a cluster file.

::

    slurm: {cores: 8, memory: 16GB, walltime: "04:00:00", queue: short, interface: eth0}    # or pbs, sge, lsf, htcondor
    jobs: 10

    ssh: {hosts: [node0, node1, node2]}

    sge: {cores: 8, memory: 16GB, parallel_environment: smp, interface: eth0}

The name of the system holds the options of its class in ``dask_jobqueue``, or of ``dask.distributed.SSHCluster``;
``parallel_environment`` is Covey's own. All machines must see the folder of the design under the same path.
"""

import asyncio
import importlib
import logging
import math
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import psutil
from pydantic import Field, ValidationError

from covey.errors import CoveyError, InvalidValueError, MachineError, ScenarioError
from covey.records import Record
from covey.scenario.messages import problems_of
from covey.scenario.yaml12 import parse_yaml

_JOBQUEUES = {
    "pbs": "PBSCluster",
    "slurm": "SLURMCluster",
    "sge": "SGECluster",
    "lsf": "LSFCluster",
    "htcondor": "HTCondorCluster",
}
_ANSWER_S = 10
_SUBMIT_S = 120
_FIRST_WORKER_S = 30
_PROTOCOLS = ("tcp://", "tls://", "ws://", "wss://", "ucx://")


class ClusterFile(Record):
    """A cluster: one queueing system with its options and a number of jobs, or SSH hosts."""

    format: Literal[1] = Field(default=1, description="Version of this file format.")
    pbs: dict[str, Any] | None = Field(default=None, description="Options of dask_jobqueue.PBSCluster.")
    slurm: dict[str, Any] | None = Field(default=None, description="Options of dask_jobqueue.SLURMCluster.")
    sge: dict[str, Any] | None = Field(default=None, description="Options of dask_jobqueue.SGECluster.")
    lsf: dict[str, Any] | None = Field(default=None, description="Options of dask_jobqueue.LSFCluster.")
    htcondor: dict[str, Any] | None = Field(default=None, description="Options of dask_jobqueue.HTCondorCluster.")
    ssh: dict[str, Any] | None = Field(
        default=None, description="Options of dask.distributed.SSHCluster: hosts, of which the first is the scheduler."
    )
    jobs: int = Field(default=1, ge=1, description="Jobs to submit to a queueing system.")

    @property
    def systems(self) -> dict[str, dict[str, Any]]:
        """The options of every system in the file."""
        return {name: getattr(self, name) for name in (*_JOBQUEUES, "ssh") if getattr(self, name) is not None}

    @property
    def system(self) -> tuple[str, dict[str, Any]]:
        """The name of the system, and its options."""
        return next(iter(self.systems.items()))


@contextmanager
def open_cluster(target: str, *, trusted_only: bool = False) -> Iterator[Executor]:
    """Yield an executor that executes runs on the workers of a cluster.

    Args:
        target: address of a Dask scheduler, for example ``tcp://node1:8786``, or path of a cluster file.
        trusted_only: refuse a cluster file with options that run commands.

    Raises:
        CoveyError: no scheduler answers at the address, the file is invalid, or the queueing system refuses jobs.
    """
    distributed = _package("distributed")
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)  # `run` reports a lost scheduler
    if is_address(target):
        try:
            client = distributed.Client(target, timeout=_ANSWER_S)
        except (OSError, ValueError) as error:
            raise MachineError(f"--cluster {target}: no Dask scheduler answers there: {error}") from None
        with client:
            yield client.get_executor()
        return
    file = read_cluster_file(target)
    if trusted_only:
        _refuse_commands(target, file)
    with _keys(file) as security, _started(target, file, security) as cluster, distributed.Client(cluster) as client:
        if file.ssh is None:
            _submit(target, cluster, file.jobs)
            _await_worker(client, file.jobs)
        yield client.get_executor()


def _submit(path: str, cluster: Any, jobs: int) -> None:
    """Submit jobs, and wait until the queueing system has accepted them.

    Raises:
        CoveyError: the system is not installed, refuses, or does not answer.
    """
    command = shlex.split(cluster.job_cls.submit_command)[0]
    if shutil.which(command) is None:
        raise CoveyError(
            f"{path}: there is no {command} on this machine; start covey where jobs are submitted, or give "
            "--cluster the address of a Dask scheduler"
        )

    async def submitted() -> None:
        cluster.scale(jobs=jobs)
        await cluster

    try:
        cluster.sync(submitted)
    except TimeoutError:
        raise MachineError(f"{path}: {command} has not answered for {_SUBMIT_S} s; no run has been started") from None
    except (RuntimeError, ValueError, OSError) as error:
        said = " ".join(str(error).split())
        raise MachineError(
            f"{path}: {command} refused the job: {said}; --dry-run shows the job script, to submit it by hand"
        ) from None


def _await_worker(client: Any, jobs: int) -> None:
    """Wait some time for the first worker; report if none has connected, because jobs may wait long in the queue."""
    try:
        client.wait_for_workers(1, timeout=_FIRST_WORKER_S)
    except TimeoutError:
        print(
            f"{jobs} job{'s' if jobs > 1 else ''} submitted; no worker has connected in {_FIRST_WORKER_S} s. Runs "
            "begin when the queue starts a job. See the queue for what it waits for, and its log if a job has died.",
            file=sys.stderr,
        )


def job_script(target: str) -> str:
    """Return the script of one job as it would be submitted, or for SSH the hosts.

    Raises:
        CoveyError: the file is invalid, or ``target`` is a running scheduler, for which no jobs are submitted.
    """
    if is_address(target):
        raise InvalidValueError(f"--dry-run: {target} is a running scheduler; no job is submitted for it")
    file = read_cluster_file(target)
    if file.ssh is not None:
        scheduler, *workers = file.ssh["hosts"]
        return f"scheduler on {scheduler}, workers on {', '.join(workers)}, over SSH"
    name, options = file.system
    try:  # only a job, without a scheduler
        options = _of_queue(name, options, _made_for_the_run())
        job = getattr(_package("dask_jobqueue"), _JOBQUEUES[name]).job_cls
        mine = {key: value for key, value in options.items() if key not in _OF_THE_SCHEDULER}
        return job("tls://<address of the scheduler>", name="worker", **mine).job_script()
    except (TypeError, ValueError, ImportError, OSError, RuntimeError) as error:
        raise InvalidValueError(f"{target}: {name}: {error}") from error


def is_address(target: str) -> bool:
    """Return whether this is the address of a scheduler, not a file.

    Examples:
        >>> is_address("tcp://127.0.0.1:8786"), is_address("slurm.yaml")
        (True, False)
    """
    return target.startswith(_PROTOCOLS)


def read_cluster_file(path: str) -> ClusterFile:
    """Read a cluster file.

    Raises:
        ScenarioError: all problems of the file, with line and column.
    """
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        hint = "write the address of a Dask scheduler, as tcp://HOST:PORT, or the path of a cluster file"
        raise InvalidValueError(f"--cluster {path}: {error.strerror}; {hint}") from None
    document = parse_yaml(content, path)
    try:
        file = ClusterFile.model_validate(document.data)
    except ValidationError as error:
        raise ScenarioError([*document.problems, *problems_of(error, document, ClusterFile)]) from None
    problems = list(document.problems)
    hosts = None if file.ssh is None else file.ssh.get("hosts")
    if file.ssh is not None and not _are_hosts(hosts):
        message = "ssh.hosts: write the names of at least two hosts, of which the first is the scheduler's; given: "
        problems.append(document.problem(f"{message}{hosts!r:.60}", ("ssh",)))
    if len(file.systems) != 1:
        given = " and ".join(file.systems) or "none"
        problems.append(document.problem(f"name one of {', '.join(_JOBQUEUES)} and ssh; given: {given}", ()))
    if problems:
        raise ScenarioError(problems)
    return file


def _are_hosts(hosts: Any) -> bool:
    names = hosts if isinstance(hosts, list) else []
    return len(names) > 1 and all(isinstance(name, str) and name.strip() for name in names)


@contextmanager
def _keys(file: ClusterFile) -> Iterator[Any]:
    """Yield the security settings that restrict Dask to this scheduler and its workers; then delete the keys.

    The keys are in a private folder of this user that the workers can see.
    """
    shared = Path(str(file.system[1].get("shared_temp_directory") or Path.cwd())).expanduser()
    security = _package("distributed.security").Security
    made = security.temporary().get_tls_config_for_role("worker")
    with tempfile.TemporaryDirectory(prefix=".covey-keys-", dir=shared) as folder:
        paths = {name: Path(folder) / name for name in ("ca_file", "key", "cert")}
        for name, path in paths.items():
            path.touch(mode=0o600)
            path.write_text(made[name])
        pairs = {f"tls_{role}_{name}": str(paths[name]) for role in _ROLES for name in ("key", "cert")}
        yield security(require_encryption=True, tls_ca_file=str(paths["ca_file"]), **pairs)


def _started(path: str, file: ClusterFile, security: Any) -> Any:
    """Return the cluster of a file; nothing has been submitted to a queue yet."""
    name, options = file.system
    try:
        if name == "ssh":
            return _over_ssh(path, _of_ssh(options, security))
        options = _of_queue(name, options, security)
        kind = getattr(_package("dask_jobqueue"), _JOBQUEUES[name])
        return kind(**{"job_cls": _bounded(kind.job_cls)} | options)
    except (TypeError, ValueError, ImportError, OSError, RuntimeError) as error:
        raise InvalidValueError(f"{path}: {name}: {error}") from error


_ROLES = ("client", "scheduler", "worker")
_FILES_OF_KEYS = ("tls_ca_file", *(f"tls_{role}_{name}" for role in _ROLES for name in ("key", "cert")))
_NOWHERE = "127.0.0.1:0"
_QUIET = {"dashboard": False, "dashboard_address": _NOWHERE}
_OF_THE_SCHEDULER = ("scheduler_options", "shared_temp_directory", "silence_logs", "n_workers")
_HARMLESS = (
    *("cores", "memory", "processes", "disk", "walltime", "queue", "account", "project", "interface", "death_timeout"),
    *("parallel_environment", "resource_spec", "job_cpu", "job_mem", "shared_temp_directory", "hosts"),
)


def _of_queue(name: str, options: dict[str, Any], security: Any) -> dict[str, Any]:
    """Return the options of a queueing system, restricted to one network and to keys of this run.

    Raises:
        ValueError: the options do not name the network by which the workers reach this machine.
    """
    import dask.config

    found = _of_sge(options) if name == "sge" else dict(options)
    scheduler = _QUIET | (found.pop("scheduler_options", None) or {})
    interface = found.get("interface") or dask.config.get(f"jobqueue.{name}.interface", None)
    if not interface and not {"host", "interface"} & scheduler.keys():
        raise ValueError(
            "name the network by which the workers reach this machine, for example interface: eth0 (ip -brief "
            "address lists them; use lo if all workers run here)"
        )
    mine = found.get("worker_extra_args") or dask.config.get(f"jobqueue.{name}.worker-extra-args", None) or []
    found["worker_extra_args"] = ["--no-dashboard", "--dashboard-address", _NOWHERE, *mine]
    return found | {"scheduler_options": scheduler, "security": security, "protocol": "tls://"}


def _made_for_the_run() -> Any:
    """Return placeholders for the keys in a script that is only shown."""
    keys = {f"tls_{name}": f"<{name} made for the run>" for name in ("ca_file", "worker_key", "worker_cert")}
    return _package("distributed.security").Security(require_encryption=True, **keys)


def _over_ssh(path: str, options: dict[str, Any]) -> Any:
    """Return the cluster of SSH hosts, with its workers.

    Raises:
        MachineError: a host refuses the login, or Dask does not start there.
    """
    try:
        return _package("distributed").SSHCluster(**options)
    except (TypeError, ValueError, CoveyError):
        raise
    except Exception as error:  # asyncssh raises many types
        said = " ".join(str(error).split())
        raise MachineError(
            f"{path}: ssh: {said}; every host must accept your SSH login without a prompt, have this Python "
            f"({options.get('remote_python') or sys.executable}) with Covey, and see this folder under the same path"
        ) from error


def _of_ssh(options: dict[str, Any], security: Any) -> dict[str, Any]:
    """Return the options of SSH hosts with the paths of the keys of this run.

    The scheduler listens on the network of its name.

    Raises:
        ValueError: the first host is this one, under a name that the others cannot reach.
    """
    local = ("localhost", "127.0.0.1", "::1")
    found = {key: value for key, value in options.items() if key != "shared_temp_directory"}
    first, *others = found["hosts"]
    scheduler = _QUIET | {"host": first} | (found.get("scheduler_options") or {})
    if first in local and not set(others) <= set(local) and scheduler["host"] == first:
        raise ValueError(f"hosts: the others do not reach {first!r}; use the name by which they reach this machine")
    keys = {"security": {"require_encryption": True} | {name: getattr(security, name) for name in _FILES_OF_KEYS}}
    worker = {"dashboard_address": _NOWHERE} | (found.get("worker_options") or {}) | keys
    scheduler |= keys | {"protocol": "tls://"}
    return found | {"scheduler_options": scheduler, "worker_options": worker, "security": security}


def _refuse_commands(path: str, file: ClusterFile) -> None:
    """Raise `InvalidValueError` if options of a cluster file may run commands or load code."""
    name, options = file.system
    wrong = [key for key in options if key not in _HARMLESS]
    if wrong:
        raise InvalidValueError(
            f"{path}: {name}.{wrong[0]} may run commands, which --trusted-only refuses; it allows only: "
            f"{', '.join(_HARMLESS)}"
        )


def _bounded(job: type) -> type:
    """Return a job class that fails if the queueing system does not answer, and reports the failure.

    A command that does not answer is killed, and its end awaited, as asyncio leaves half open what is cancelled.
    """

    class Bounded(job):
        async def start(self) -> None:
            before = set(psutil.Process().children())
            submission = asyncio.ensure_future(super().start())
            try:
                if not (await asyncio.wait({submission}, timeout=_SUBMIT_S))[0]:
                    for silent in set(psutil.Process().children()) - before:
                        silent.kill()
                    await asyncio.gather(submission, return_exceptions=True)
                    raise TimeoutError
                await submission
            except BaseException:
                self.status = _package("distributed").Status.failed
                raise

    return Bounded


def _of_sge(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options of an SGE job with what ``dask_jobqueue`` leaves out: slots, and memory for each.

    Raises:
        ValueError: several cores are given, but no parallel environment.
    """
    from dask.utils import parse_bytes

    found = dict(options)
    environment, cores = found.pop("parallel_environment", None), found.get("cores") or 1
    directives: list[Any] = list(found.get("job_extra_directives") or ())
    asks = any(str(line).split()[:1] == ["-pe"] for line in directives)
    if environment and not asks:
        directives.append(f"-pe {environment} {cores}")
    elif cores > 1 and not asks:
        raise ValueError(
            f"{cores} cores need a parallel environment, else SGE gives the job one slot; add parallel_environment: "
            "NAME, one of those that qconf -spl lists (often smp)"
        )
    if "memory" in found and "resource_spec" not in found:
        found["resource_spec"] = f"h_vmem={math.ceil(parse_bytes(found['memory']) / cores / 2**20)}M"
    return found | ({"job_extra_directives": directives} if directives else {})


def _package(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise CoveyError(f"--cluster needs {error.name}; install it with: pip install 'covey[cluster]'") from None
