"""Execution of one run of a design in the calling process, as in a worker."""

import hashlib
import os
import shutil
import socket
import sys
import time
import traceback
from functools import cache
from pathlib import Path

import psutil

from covey.errors import CoveyError, RunFolderError
from covey.experiments.design.plan import PlannedRun
from covey.experiments.design.records import Measurement, RunLimits
from covey.experiments.workers.folder import NO_FOLDER, Row, new_row, publish, work_folder
from covey.experiments.workers.refusals import RefusedError, refused
from covey.experiments.workers.retention import keep_of
from covey.experiments.workers.showing import Showing
from covey.registry import forget_files
from covey.results.metrics.own import load_metric
from covey.results.run import Run
from covey.runtime.local.failures import stopped


def execute(planned: PlannedRun, folder: Path, limits: RunLimits | None = None) -> Row:
    """Execute a run into ``folder``; return its row (`covey.experiments.workers.folder.new_row`).

    If its folder is kept, ``row.json`` in it holds the row, too. Code files that its scenario names are reloaded.

    Raises:
        OSError: the disk is full or cannot be written. The run is not to blame, and nothing of it is kept.
        RefusedError: the machine refused memory, threads or disk within the limits; neither.
    """
    memory_mib = (limits or RunLimits()).memory_mib
    work, row = work_folder(folder), new_row(planned, folder)
    forget_files()
    wall, cpu, load = time.perf_counter(), time.process_time(), _load()
    try:
        for reference in planned.metrics:
            load_metric(reference, {})
        with Showing(work) as showing:
            run = planned.load().build(work, overwrite=True).run(before_step=showing)
        why = _why_failed(run) if run.status == "failed" else {}
        _blame_the_machine("\n".join(_failures(run)), memory_mib, work)
        if planned.keep != NO_FOLDER:
            keep_of(run, [Measurement.model_validate(m) for m in planned.measurements], planned.keep)
        row |= {"status": run.status, "metrics": run.metrics} | why
    except RunFolderError as error:
        shutil.rmtree(work, ignore_errors=True)
        raise error.__cause__ if isinstance(error.__cause__, OSError) else error from None
    except RefusedError:
        raise
    except Exception as error:
        _blame_the_machine(f"{type(error).__name__}: {error}", memory_mib, work)
        said = str(error) if isinstance(error, CoveyError) else f"{type(error).__name__}: {error}"
        row |= {"reason": said, "traceback": traceback.format_exc()}
    row["host"] = host() | {
        "wall_s": time.perf_counter() - wall,
        "cpu_s": time.process_time() - cpu,
        "load": load,
    }
    return publish(row, planned.keep, work, folder)


def _blame_the_machine(said: str, memory_mib: float, work: Path) -> None:
    """Raise `RefusedError` if what an error says is the machine's fault, and remove what the run has written."""
    rss_mib = psutil.Process().memory_info().rss / 2**20
    if why := refused(said, memory_mib, rss_mib):
        shutil.rmtree(work, ignore_errors=True)
        raise RefusedError(why)


def _failures(run: Run) -> list[str]:
    """Return the first line of each error that stopped a controller."""
    if not run.count("controller_failed"):
        return []  # without loading Polars
    texts = run.events.filter(run.events["kind"] == "controller_failed")["text"]
    return [str(text).partition("\n")[0] for text in texts]


def _why_failed(run: Run) -> Row:
    """Return the controller's exception that ended a run, with its place, its robots and the time."""
    events = run.events.filter(run.events["kind"] == "controller_failed")
    last = stopped(events.select("robot", "time_s", "text").rows())[-1]
    return {"reason": last, "traceback": str(events["text"][-1])}


@cache
def _features() -> str:
    """Return the hash of the processor's name and features; the last digits of a result may depend on them."""
    from llvmlite import binding

    text = binding.get_host_cpu_name() + binding.get_host_cpu_features().flatten()
    return hashlib.blake2b(text.encode(), digest_size=4).hexdigest()


def host() -> Row:
    """Return the name of this machine and the hash of its processor's features."""
    return {"name": socket.gethostname(), "cpu": _features()}


def _load() -> float | None:
    """Return the load average of the last minute; None if the system does not provide it."""
    return os.getloadavg()[0] if sys.platform != "win32" else None
