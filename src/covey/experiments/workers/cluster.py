"""Execution on other machines by Dask: a running scheduler, or a cluster file."""

import asyncio
import importlib
import inspect
import logging
import math
import os
import shlex
import shutil
import signal
import socket
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil

from covey.errors import CoveyError, InvalidValueError, MachineError, did_you_mean
from covey.experiments.workers.cluster_file import (
    JOBQUEUES,
    ClusterFile,
    is_address,
    read_cluster_file,
    refuse_commands,
)
from covey.experiments.workers.cluster_workers import Workers
from covey.experiments.workers.folder import sweep
from covey.experiments.workers.jobs import Jobs
from covey.experiments.workers.queues import listed

_ANSWER_S = 10
_SUBMIT_S = 120
_CANCEL_S = 10
_NULL = asyncio.subprocess.DEVNULL


@contextmanager
def open_cluster(target: str, logs: Path | None = None, *, trusted_only: bool = False) -> Iterator[Workers]:
    """Yield an executor that executes runs on the workers of a cluster.

    At the end, also after Ctrl-C, its jobs are cancelled and its keys are removed.

    Args:
        target: address of a Dask scheduler, for example ``tcp://node1:8786``, or path of a cluster file.
        logs: folder for the logs of jobs, which the workers see, too; default: as the queueing system does.
        trusted_only: refuse a cluster file with options that run commands.

    Raises:
        CoveyError: no scheduler answers at the address, the file is invalid, or the queueing system refuses jobs.
    """
    distributed = _package("distributed")
    for name in ("client", "scheduler"):  # `run` reports a lost scheduler, and runs that are given up
        logging.getLogger(f"distributed.{name}").setLevel(logging.CRITICAL)
    if is_address(target):
        try:
            client = distributed.Client(target, timeout=_ANSWER_S)
        except (OSError, ValueError) as error:
            raise MachineError(f"--cluster {target}: no Dask scheduler answers there: {error}") from None
        with client:
            yield Workers(client, f"start one: dask worker {target} --nthreads 1")
        return
    file = read_cluster_file(target)
    if trusted_only:
        refuse_commands(target, file)
    with ExitStack() as stack:
        security = stack.enter_context(_keys(file))
        cluster = _started(target, file, security, logs)
        stack.callback(cluster.close)
        jobs = None if file.ssh is not None else _jobs(target, file, cluster)
        client = stack.enter_context(distributed.Client(cluster))
        try:
            yield Workers(client, "the hosts of the cluster file have lost theirs: run the same command again", jobs)
        except KeyboardInterrupt:
            if jobs is not None and jobs.there:
                print(f"cancelling {listed(list(jobs.there))}", file=sys.stderr, flush=True)
            raise
        finally:
            with _undisturbed():
                stack.close()


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Ignore Ctrl-C and other requests to end within the block, which must take a short time."""
    here = threading.current_thread() is threading.main_thread()  # signals can be set only there
    numbers = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if here and hasattr(signal, name)]
    before = {number: signal.signal(number, signal.SIG_IGN) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _jobs(path: str, file: ClusterFile, cluster: Any) -> Jobs:
    """Return the jobs of a study, of which none has been submitted yet.

    Raises:
        CoveyError: the commands of the queueing system are not on this machine.
    """
    command = shlex.split(cluster.job_cls.submit_command)[0]
    if shutil.which(command) is None:
        raise CoveyError(
            f"{path}: there is no {command} on this machine; start covey where jobs are submitted, or give "
            "--cluster the address of a Dask scheduler"
        )
    one = cluster._dummy_job
    if walltime := unsaid_walltime(file):
        print(f"{path}: {walltime}", file=sys.stderr, flush=True)

    def forget(worker: str) -> None:
        cluster.sync(_forgotten, cluster, worker)

    def submit(number: int) -> None:
        _submit(path, command, cluster, number)
        for worker, job in list(cluster.workers.items()):
            if job.job_id and job.job_id not in jobs.there:
                jobs.add(job.job_id, str(worker))

    runs_each = one.worker_processes * one.worker_process_threads
    jobs = Jobs(
        file.system[0],
        file.jobs,
        runs_each,
        file.failures,
        submit,
        forget,
        one.log_directory and Path(one.log_directory),
    )
    return jobs


def _submit(path: str, command: str, cluster: Any, number: int) -> None:
    """Submit so many more jobs, and wait until the queueing system has accepted them.

    Raises:
        MachineError: the system refuses, or does not answer.
    """

    async def submitted() -> None:
        cluster.worker_spec = {name: spec for name, spec in cluster.worker_spec.items() if name in cluster.workers}
        for _ in range(number):
            cluster.worker_spec.update(cluster.new_worker_spec())
            cluster._i += 1  # no name twice
        await cluster._correct_state()

    try:
        cluster.sync(submitted)
    except TimeoutError:
        raise MachineError(f"{path}: {command} has not answered for {_SUBMIT_S} s") from None
    except (RuntimeError, ValueError, OSError) as error:
        raise MachineError(
            f"{path}: {command} refused the job: {_said(error)}; --dry-run shows the job script, to submit it by hand"
        ) from None
    finally:
        for worker in [name for name, job in list(cluster.workers.items()) if not job.job_id]:
            cluster.sync(_forgotten, cluster, worker)


async def _forgotten(cluster: Any, worker: str) -> None:
    """Take a job that has ended, or that was refused, out of the lists of the library."""
    cluster.worker_spec.pop(worker, None)
    if (job := cluster.workers.pop(worker, None)) is not None:
        job.status = _package("distributed").Status.closed


def _said(error: Exception) -> str:
    """Return what a command that failed has written, without what the library says of it."""
    text = str(error)
    return " ".join((text.partition("stderr:")[2] or text).split())


def job_script(target: str, logs: Path | None = None) -> str:
    """Return the script of one job as it would be submitted, or for SSH the hosts.

    Args:
        target: path of a cluster file.
        logs: folder for the logs of jobs; it is not made.

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
        job = getattr(_package("dask_jobqueue"), JOBQUEUES[name]).job_cls
        with tempfile.TemporaryDirectory() as made:  # the library makes the folder of the logs
            options = _of_queue(name, options, _made_for_the_run(), logs and Path(made))
            mine = {key: value for key, value in options.items() if key not in _OF_THE_SCHEDULER}
            script = job("tls://<address of the scheduler>", name="worker", **mine).job_script()
        return script.replace(made, str(logs))
    except (TypeError, ValueError, ImportError, OSError, RuntimeError) as error:
        raise InvalidValueError(f"{target}: {name}: {error}") from error


@contextmanager
def _keys(file: ClusterFile) -> Iterator[Any]:
    """Yield the security settings that restrict Dask to this scheduler and its workers; then delete the keys.

    The keys are in a private folder of this user that the workers can see.
    """
    shared = Path(str(file.system[1].get("shared_temp_directory") or Path.cwd())).expanduser()
    security = _package("distributed.security").Security
    made = security.temporary().get_tls_config_for_role("worker")
    with suppress(OSError):
        sweep(shared)  # the keys of killed processes
    of_this = f".{socket.gethostname()}.{os.getpid()}"
    with tempfile.TemporaryDirectory(prefix=".covey-keys-", suffix=of_this, dir=shared) as folder:
        paths = {name: Path(folder) / name for name in ("ca_file", "key", "cert")}
        for name, path in paths.items():
            path.touch(mode=0o600)
            path.write_text(made[name])
        pairs = {f"tls_{role}_{name}": str(paths[name]) for role in _ROLES for name in ("key", "cert")}
        yield security(require_encryption=True, tls_ca_file=str(paths["ca_file"]), **pairs)


def _started(path: str, file: ClusterFile, security: Any, logs: Path | None) -> Any:
    """Return the cluster of a file; nothing has been submitted to a queue yet."""
    name, options = file.system
    try:
        if name == "ssh":
            return _over_ssh(path, _of_ssh(options, security))
        options = _of_queue(name, options, security, logs)
        kind = getattr(_package("dask_jobqueue"), JOBQUEUES[name])
        return kind(**{"job_cls": _bounded(kind.job_cls)} | options)
    except (TypeError, ValueError, ImportError, OSError, RuntimeError) as error:
        raise InvalidValueError(f"{path}: {name}: {error}") from error


_ROLES = ("client", "scheduler", "worker")
_FILES_OF_KEYS = ("tls_ca_file", *(f"tls_{role}_{name}" for role in _ROLES for name in ("key", "cert")))
_NOWHERE = "127.0.0.1:0"
_QUIET = {"dashboard": False, "dashboard_address": _NOWHERE}
_OF_THE_SCHEDULER = ("scheduler_options", "shared_temp_directory", "silence_logs", "n_workers")


def default_of(system: str, option: str) -> Any:
    """Return the value of an option of a queueing system that the cluster file does not give."""
    import dask.config

    _package("dask_jobqueue")  # it adds its defaults
    return dask.config.get(f"jobqueue.{system}.{option}", None)


def unsaid_walltime(file: ClusterFile) -> str:
    """Return what to tell of the time that jobs ask for if the cluster file does not say it; empty if it does."""
    name, options = file.system
    directives = options.get("job_extra_directives") or ()
    said = "walltime" in options or any(str(one).split("=")[0].split()[0] in _TIMES for one in directives if str(one))
    walltime = None if said else default_of(name, "walltime")
    if not walltime:
        return ""
    return (
        f"no walltime is given, so each job asks for {walltime}, the default of dask-jobqueue; a run that takes longer "
        "is lost at its end"
    )


_TIMES = ("-t", "--time", "-W")


def _option_names(name: str) -> set[str]:
    """Return the names of the options of a queueing system: the parameters of its class, and of that of its jobs."""
    cluster = getattr(_package("dask_jobqueue"), JOBQUEUES[name])
    named = {inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY}
    return {
        parameter.name
        for kind in (*cluster.__mro__, *cluster.job_cls.__mro__)
        if kind.__module__.startswith("dask_jobqueue") and "__init__" in vars(kind)
        for parameter in inspect.signature(kind.__init__).parameters.values()
        if parameter.kind in named and parameter.name != "self"
    }


def _of_queue(name: str, options: dict[str, Any], security: Any, logs: Path | None) -> dict[str, Any]:
    """Return the options of a queueing system, restricted to one network and to keys of this run.

    Raises:
        ValueError: an option has a name that the system does not know; the options do not name the network by which
            the workers reach this machine, or it has none of that name.
    """
    found, known_options = _of_sge(options) if name == "sge" else dict(options), _option_names(name)
    for option in found:
        if option not in known_options:
            raise ValueError(f"{name} has no option {option!r}{did_you_mean(option, known_options)}")
    scheduler = _QUIET | (found.pop("scheduler_options", None) or {})
    interface = found.get("interface") or default_of(name, "interface")
    if not interface and not {"host", "interface"} & scheduler.keys():
        raise ValueError(
            "name the network by which the workers reach this machine, for example interface: eth0 (ip -brief "
            "address lists them; use lo if all workers run here)"
        )
    here = scheduler.get("interface", interface)
    if "host" not in scheduler and here not in (known := sorted(psutil.net_if_addrs())):
        raise ValueError(
            f"this machine has no network {here!r}{did_you_mean(here, known)}; if only the workers call it so, add "
            f"scheduler_options: {{interface: {known[0]}}}"
        )
    if logs is not None and not found.get("log_directory"):
        found["log_directory"] = default_of(name, "log-directory") or str(logs)
    mine = found.get("worker_extra_args") or default_of(name, "worker-extra-args") or []
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

        async def close(self) -> None:
            """Cancel the job."""
            self.status = _package("distributed").Status.closed
            if not self.job_id:
                return
            command = [*shlex.split(self.cancel_command), self.job_id]
            try:
                process = await asyncio.create_subprocess_exec(*command, stdin=_NULL, stdout=_NULL, stderr=_NULL)
            except OSError as error:
                print(f"job {self.job_id} is not cancelled: {command[0]}: {error.strerror}", file=sys.stderr)
                return
            try:
                async with asyncio.timeout(_CANCEL_S):
                    await process.wait()  # it fails if the job has ended
            except TimeoutError:
                process.kill()
                await process.wait()
                print(f"job {self.job_id} may still be there: {command[0]} does not answer", file=sys.stderr)

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
    here = threading.current_thread() is threading.main_thread()
    before = signal.getsignal(signal.SIGINT)
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise CoveyError(f"--cluster needs {error.name}; install it with: pip install 'covey[cluster]'") from None
    finally:
        if here and signal.getsignal(signal.SIGINT) is not before:  # dask_jobqueue lets Ctrl-C end with exit code 0
            signal.signal(signal.SIGINT, before)
