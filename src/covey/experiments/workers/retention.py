"""The files kept of a run of a design: its measurements, the data for its pictures, and its metrics."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from covey.errors import RunFolderError
from covey.experiments.design.quantities import QUANTITIES
from covey.experiments.design.records import Measurement
from covey.results.folder import DETAILS, READINGS, write_json
from covey.results.recorder import STEP_COLUMNS
from covey.results.run import Run
from covey.results.table import Table, read_columns

THIN_S = 1.0
"""Simulated time between two rows of a thinned recording [s]."""

_IN_PICTURES = ("step", "robot", *STEP_COLUMNS, "x_m", "y_m", "heading_rad")
_BYTES = {"kbytes_received_per_s": "bytes_received", "kbytes_sent_per_s": "bytes_sent"}
ABOARD = {
    "cpu_percent": "cpu_percent",
    "ram_percent": "ram_percent",
    "kbytes_received_per_s": "kbytes_received",
    "kbytes_sent_per_s": "kbytes_sent",
}
"""Columns of the samples of the robots' processes, or of their emulated computers."""
HOST = {"host_cpu_percent": "cpu_percent", "host_rss_mib": "rss_mib"}


def keep_of(run: Run, measurements: Iterable[Measurement], keep: str) -> None:
    """Write the measurements of a finished run into its folder, and remove the recordings that are not kept.

    The metrics of the run are already in ``metrics.json``.

    Args:
        run: a finished run.
        measurements: each becomes a table named after its time: ``every_5_s.parquet``, ``when_collision.parquet``.
        keep: ``measurements``: these and ``team.parquet``, one row per second; ``pictures``: also the poses, one row
            per second, the events, and the maps; ``everything``: the whole recording.

    Raises:
        RunFolderError: the disk is full or cannot be written.
    """
    measured = {measurement.file: measurement for measurement in measurements}
    try:
        for measurement in measured.values():
            write_measurement(run, measurement)
        if keep != "everything":
            _drop(run, keep, measured)
    except OSError as error:
        raise RunFolderError(f"cannot write {str(run.folder)!r}: {error.strerror or error}") from error


def _drop(run: Run, keep: str, measured: Iterable[str]) -> None:
    """Thin the recording of a run, and remove files that neither ``keep`` nor its measurements need."""
    rows = sampled(run, THIN_S)
    rows = rows if not len(run.times) or len(run.times) - 1 in rows else np.append(rows, len(run.times) - 1)
    _thin(run, "team", rows, None)
    if keep == "pictures":
        robots = len(run.names)
        _thin(run, "measurements", (rows[:, None] * robots + np.arange(robots)).ravel(), _IN_PICTURES)
        dropped = [run.folder / name for name in ("traffic.parquet", "messages.parquet", READINGS, *DETAILS)]
    else:
        stays = {"manifest.json", "metrics.json", "team.parquet", *measured}
        dropped = [path for path in run.folder.iterdir() if path.name not in stays and path.is_file()]
    for path in dropped:
        path.unlink(missing_ok=True)
    write_json(run.folder / "manifest.json", run.manifest | {"kept": keep})


def sampled(run: Run, period_s: float) -> np.ndarray:
    """Return the first rows of the team's table at or after each multiple of a period, int64 (k,)."""
    number = np.floor(run.times / period_s + 1e-9)
    return np.flatnonzero(np.diff(number, prepend=0.0) > 0)


def write_measurement(run: Run, measurement: Measurement) -> None:
    """Write the table of a measurement into the folder of a run."""
    if measurement.when:
        columns = _at_events(run, measurement)
    else:
        rows = np.arange(len(run.times)) if measurement.every else sampled(run, measurement.every_s or THIN_S)
        columns = _at_rows(run, measurement, rows)
    table = Table(run.folder / measurement.file, pa.schema([(name, array.type) for name, array in columns.items()]))
    table.write(columns)
    table.finish()


def _at_rows(run: Run, measurement: Measurement, rows: np.ndarray) -> dict[str, pa.Array]:
    """Return the columns at some steps: one row per robot, or one for the team if no quantity is of a robot."""
    quantities = [QUANTITIES[name] for name in measurement.record]
    by_robot = any(quantity.scope == "robot" for quantity in quantities)
    n = len(run.names) if by_robot else 1
    columns: dict[str, pa.Array] = {
        "step": pa.array(np.repeat(run.steps[rows], n)),
        "time_s": pa.array(np.repeat(run.times[rows], n)),
    }
    if by_robot:
        columns["robot"] = pa.array(list(run.names) * len(rows), pa.string())
    for quantity in quantities:
        for name in quantity.columns:
            of_team = quantity.scope == "team"
            values = np.repeat(_of_team(run, name)[rows], n) if of_team else _of_robots(run, name, rows).ravel()
            columns[name] = pa.array(values, from_pandas=True)
    return columns


def _at_events(run: Run, measurement: Measurement) -> dict[str, pa.Array]:
    """Return the columns at the events of a kind, one row per event."""
    events = read_columns(run.folder / "events.parquet")
    events = events.filter(pc.equal(events["kind"], measurement.when))  # pyright: ignore
    columns: dict[str, pa.Array] = {name: events[name].combine_chunks() for name in ("step", "time_s")}
    rows = np.clip(np.searchsorted(run.steps, columns["step"].to_numpy()), 0, max(0, len(run.steps) - 1))
    index = {name: i for i, name in enumerate(run.names)}
    robots = np.array([index.get(name, -1) for name in events["robot"].to_pylist()], dtype=np.int64)
    for quantity in measurement.record:
        for name in QUANTITIES[quantity].columns:
            if name in events.schema.names:
                columns[name] = events[name].combine_chunks()
                continue
            if QUANTITIES[quantity].scope == "team":
                values = _of_team(run, name)[rows]
            else:
                values = _of_robots(run, name, rows)[np.arange(len(rows)), robots] if len(rows) else np.empty(0)
                values = np.where(robots < 0, np.nan, values)
            columns[name] = pa.array(values, from_pandas=True)
    return columns


def _of_team(run: Run, name: str) -> np.ndarray:
    """Return a column of the team at every step, float64 (steps,); NaN if the run does not have it."""
    if name == "explored_area_m2":
        area = run.metrics["explorable_area_m2"]
        return run.series("explored_share_union") * (np.nan if area is None else area)
    if name in HOST:
        at, values = run.column("host", "time_s"), run.column("host", HOST[name])
        return values[np.clip(np.searchsorted(at, run.times), 0, len(at) - 1)]
    known = run.team_columns
    return run.series(name) if name in known else np.full(len(run.times), np.nan)


def _of_robots(run: Run, name: str, rows: np.ndarray) -> np.ndarray:
    """Return a column of the robots at some steps, float64 (rows, robots); NaN if the run does not have it."""
    for told in ("process_host", "computers"):
        if name in ABOARD and run.has(told):
            names = run.columns_of(told)
            if ABOARD[name] in names:
                return _told(run, told, ABOARD[name], rows)
    if name in _BYTES:
        return _per_second(run, _BYTES[name], rows) / 1000
    known = run.columns_of("measurements")
    return run.series(name)[rows] if name in known else np.full((len(rows), len(run.names)), np.nan)


def _told(run: Run, table: str, column: str, rows: np.ndarray) -> np.ndarray:
    """Return the last value of each robot in a table of samples, float64 (rows, robots); NaN before the first."""
    samples = read_columns(run.folder / f"{table}.parquet", ["time_s", "robot", column])
    at, values = samples["time_s"].to_numpy(), samples[column].to_numpy().astype(np.float64)
    robots, found = np.array(samples["robot"].to_pylist(), dtype=object), np.full((len(rows), len(run.names)), np.nan)
    for i, robot in enumerate(run.names):
        mine = robots == robot
        last = np.searchsorted(at[mine], run.times[rows] + 1e-9, side="right")
        found[:, i] = np.append(np.nan, values[mine])[last]
    return found


def _per_second(run: Run, counter: str, rows: np.ndarray) -> np.ndarray:
    """Return the growth of a counter of radio traffic from each row to the next, per second, (rows, robots)."""
    totals = np.zeros((len(rows), len(run.names)))
    times = run.times[rows]
    if run.has("traffic") and len(rows):
        traffic = read_columns(run.folder / "traffic.parquet", ["time_s", "robot", "kind", counter])
        index = {name: i for i, name in enumerate(run.names)}
        robot = np.array([index[name] for name in traffic["robot"].to_pylist()], dtype=np.int64)
        at, count = traffic["time_s"].to_numpy(), traffic[counter].to_numpy().astype(np.float64)
        kinds = np.array(traffic["kind"].to_pylist(), dtype=object)
        for key in sorted({*zip(robot.tolist(), kinds.tolist(), strict=True)}):
            mine = (robot == key[0]) & (kinds == key[1])
            known = np.append(0.0, count[mine])
            totals[:, key[0]] += known[np.searchsorted(at[mine], times + 1e-9, side="right")]
    spans = np.diff(times, prepend=0.0)[:, None]
    return np.diff(totals, axis=0, prepend=0.0) / spans


def _thin(run: Run, name: str, rows: np.ndarray, columns: Any) -> None:
    """Keep only some rows and columns (None: all) of a table."""
    path = run.folder / f"{name}.parquet"
    whole = read_columns(path, columns)
    part = whole.take(pa.array(rows))
    table = Table(path, whole.schema)
    table.write({column: part[column].combine_chunks() for column in whole.schema.names})
    table.finish()
