"""Cluster files: which queueing system, or which hosts, execute the runs of a design.

::

    slurm: {cores: 8, memory: 16GB, walltime: "04:00:00", queue: short, interface: eth0}    # or pbs, sge, lsf, htcondor
    jobs: 10

    ssh: {hosts: [node0, node1, node2]}

    sge: {cores: 8, memory: 16GB, parallel_environment: smp, interface: eth0}

The name of the system holds the options of its class in ``dask_jobqueue``, or of ``dask.distributed.SSHCluster``;
``parallel_environment`` is Covey's own. All machines must see the folder of the design under the same path.
"""

from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError

from covey.errors import InvalidValueError, ScenarioError
from covey.plain_files import check_plain
from covey.records import Record
from covey.scenario.messages import problems_of
from covey.scenario.yaml12 import parse_yaml

JOBQUEUES = {
    "pbs": "PBSCluster",
    "slurm": "SLURMCluster",
    "sge": "SGECluster",
    "lsf": "LSFCluster",
    "htcondor": "HTCondorCluster",
}
"""The class of each queueing system in ``dask_jobqueue``."""
_PROTOCOLS = ("tcp://", "tls://", "ws://", "wss://", "ucx://")
_HARMLESS = (
    *("cores", "memory", "processes", "disk", "walltime", "queue", "account", "project", "interface", "death_timeout"),
    *("parallel_environment", "resource_spec", "job_cpu", "job_mem", "shared_temp_directory", "hosts"),
)


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
    jobs: int = Field(default=1, ge=1, description="Jobs of a queueing system that work at a time.")
    failures: int = Field(
        default=3,
        ge=1,
        description="How often in a row each job may end without that a run has ended; then the study ends.",
    )

    @property
    def systems(self) -> dict[str, dict[str, Any]]:
        """The options of every system in the file."""
        return {name: getattr(self, name) for name in (*JOBQUEUES, "ssh") if getattr(self, name) is not None}

    @property
    def system(self) -> tuple[str, dict[str, Any]]:
        """The name of the system, and its options."""
        return next(iter(self.systems.items()))


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
        check_plain(path)
        content = Path(path).read_bytes()
    except OSError as error:
        hint = "write the address of a Dask scheduler, as tcp://HOST:PORT, or the path of a cluster file"
        raise InvalidValueError(f"--cluster {path}: {error.strerror or error}; {hint}") from None
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
        problems.append(document.problem(f"name one of {', '.join(JOBQUEUES)} and ssh; given: {given}", ()))
    if problems:
        raise ScenarioError(problems)
    return file


def _are_hosts(hosts: Any) -> bool:
    names = hosts if isinstance(hosts, list) else []
    return len(names) > 1 and all(isinstance(name, str) and name.strip() for name in names)


def refuse_commands(path: str, file: ClusterFile) -> None:
    """Raise `InvalidValueError` if options of a cluster file may run commands or load code."""
    name, options = file.system
    wrong = [key for key in options if key not in _HARMLESS]
    if wrong:
        raise InvalidValueError(
            f"{path}: {name}.{wrong[0]} may run commands, which --trusted-only refuses; it allows only: "
            f"{', '.join(_HARMLESS)}"
        )
