"""Later measurements of a finished run, from the kept part of its recording."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from pydantic import ValidationError

from covey.experiments.design.plan import PlannedRun
from covey.experiments.design.quantities import QUANTITIES
from covey.experiments.design.records import Measurement
from covey.experiments.workers.retention import ABOARD, HOST, THIN_S, write_measurement
from covey.results.run import Run

_KEPT = ("rows", "measurements", "pictures", "everything")
_COMPUTED = {"explored_area_m2": "explored_share_union"}


def is_known_measured(about: Mapping[str, Any], planned: PlannedRun) -> bool:
    """Return whether what a row tells of its run (`covey.experiments.workers.rows.AboutShape`) shows that it is.

    If it does not, `measured` finds out.
    """
    there: dict[str, set[str]] = {}
    try:
        for one in map(Measurement.model_validate, about["measurements"]):
            there.setdefault(one.file, set()).update(one.record)
    except ValidationError:  # of another version of Covey
        return False
    wanted = map(Measurement.model_validate, planned.measurements)
    enough = about["keep"] in _KEPT and _KEPT.index(about["keep"]) >= _KEPT.index(planned.keep)
    return enough and all(set(one.record) <= there.get(one.file, set()) for one in wanted)


def measured(folder: Path, planned: PlannedRun) -> bool:
    """Add the measurements that a finished run can still provide, and return whether it then holds all of them.

    Raises:
        OSError: the disk is full or cannot be written.
    """
    run = Run(folder)
    kept = run.manifest.get("kept", "everything")
    if _KEPT.index(kept) < _KEPT.index(planned.keep):
        return False
    wanted = [Measurement.model_validate(m) for m in planned.measurements]
    missing = [one for one in wanted if not _is_there(run, one)]
    if not all(kept == "everything" or _can_tell(run, one) for one in missing):
        return False
    for one in missing:
        write_measurement(run, one)
    return True


def _is_there(run: Run, measurement: Measurement) -> bool:
    """Return whether a measurement has been written with all its quantities."""
    path = run.folder / measurement.file
    if not path.is_file():
        return False
    return set(_columns(measurement)) <= set(pq.read_schema(path).names)


def _can_tell(run: Run, measurement: Measurement) -> bool:
    """Return whether a recording thinned to one row per second suffices for a measurement."""
    period_s = measurement.every_s
    if measurement.when or measurement.every or not period_s or period_s % THIN_S:
        return False
    of_team, of_robots = (_schema(run, name) for name in ("team", "measurements"))
    told = ("computers", "process_host")
    for name in _columns(measurement):
        by_host = name in HOST and run.has("host")
        aboard = name in ABOARD and any(run.has(table) and ABOARD[name] in _schema(run, table) for table in told)
        if not (_COMPUTED.get(name, name) in of_team or name in of_robots or by_host or aboard):
            return False
    return True


def _columns(measurement: Measurement) -> list[str]:
    return [column for name in measurement.record for column in QUANTITIES[name].columns]


def _schema(run: Run, table: str) -> list[str]:
    return run.columns_of(table) if run.has(table) else []
