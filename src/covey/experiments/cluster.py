"""Other machines, by Dask: a scheduler that is running, or a file that says what to ask of a cluster.

::

    slurm: {cores: 8, memory: 16GB, walltime: "04:00:00", queue: short}    # or pbs, sge, lsf, htcondor
    jobs: 10

    ssh: {hosts: [localhost, node1, node2]}

What stands under the name of the system are the options of its class in ``dask_jobqueue``, or of
``dask.distributed.SSHCluster``. All machines see the folder of the design under the same path.
"""

import importlib
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError

from covey.errors import CoveyError, InvalidValueError, ScenarioError
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
_PROTOCOLS = ("tcp://", "tls://", "ws://", "wss://", "ucx://")


class ClusterFile(Record):
    """What to ask of a cluster: one queueing system with its options and a number of jobs, or SSH hosts."""

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
        """The options of every system that is named."""
        return {name: getattr(self, name) for name in (*_JOBQUEUES, "ssh") if getattr(self, name) is not None}

    @property
    def system(self) -> tuple[str, dict[str, Any]]:
        """The name of the system, and its options."""
        return next(iter(self.systems.items()))


@contextmanager
def open_cluster(target: str) -> Iterator[Executor]:
    """Yield an executor that has runs executed by the workers of a cluster.

    Args:
        target: address of a Dask scheduler such as ``tcp://node1:8786``, or path of a cluster file.

    Raises:
        CoveyError: nobody answers at the address, or the file is bad.
    """
    distributed = _package("distributed")
    if is_address(target):
        try:
            client = distributed.Client(target, timeout=_ANSWER_S)
        except (OSError, ValueError) as error:
            raise CoveyError(f"--cluster {target}: no Dask scheduler answers there: {error}") from None
        with client:
            yield client.get_executor()
        return
    file = read_cluster_file(target)
    with _started(target, file) as cluster, distributed.Client(cluster) as client:
        if file.ssh is None:
            cluster.scale(jobs=file.jobs)
        yield client.get_executor()


def job_script(target: str) -> str:
    """Return the script of one job as it would be submitted, or for SSH the hosts.

    Raises:
        CoveyError: the file is bad, or ``target`` is a scheduler, which starts no jobs.
    """
    if is_address(target):
        raise InvalidValueError(f"--dry-run: {target} is a running scheduler; no job is submitted for it")
    file = read_cluster_file(target)
    if file.ssh is not None:
        scheduler, *workers = file.ssh.get("hosts", ())
        return f"scheduler on {scheduler}, workers on {', '.join(workers)}, over SSH"
    with _started(target, file) as cluster:
        return cluster.job_script()


def is_address(target: str) -> bool:
    """Return whether this is the address of a scheduler, and not a file.

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
    if len(file.systems) != 1:
        given = " and ".join(file.systems) or "none"
        problems.append(document.problem(f"name one of {', '.join(_JOBQUEUES)} and ssh; given: {given}", ()))
    if problems:
        raise ScenarioError(problems)
    return file


def _started(path: str, file: ClusterFile) -> Any:
    """Return the cluster that a file asks for; nothing has been submitted to a queue yet."""
    name, options = file.system
    try:
        if name == "ssh":
            return _package("distributed").SSHCluster(**options)
        any_port = {"scheduler_options": {"dashboard_address": ":0"}}  # another study may have the usual one
        return getattr(_package("dask_jobqueue"), _JOBQUEUES[name])(**any_port | options)
    except (TypeError, ValueError, ImportError, OSError, RuntimeError) as error:
        raise InvalidValueError(f"{path}: {name}: {error}") from error


def _package(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise CoveyError(f"--cluster needs {error.name}; install it with: pip install 'covey[cluster]'") from None
