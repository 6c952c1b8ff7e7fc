"""The tidy table of a design: one row per run, sorted, with the same bytes on every machine."""

from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from io import BytesIO
from pathlib import Path
from typing import Any

import polars as pl

from covey.experiments.workers.folder import PLAN, RESULTS, put, read_plan, taken_over
from covey.experiments.workers.row import Row
from covey.experiments.workers.rows import HOST, METRIC, Rows, read_rows, series, text_of
from covey.results.metrics import metrics
from covey.results.metrics.headlines import is_own

HOST_METRICS = (
    *("wall_time_s", "real_time_factor", "cpu_percent", "peak_rss_mib"),
    *("scan_cpu_ms_p50", "scan_cpu_ms_p99"),
    *("controller_cpu_percent", "controller_ram_percent", "controller_rss_mib"),
    *("controller_kbytes_received", "controller_kbytes_sent"),
    *("missed_deadlines", "late_commands", "dropped_readings"),
)
"""Metrics that measure the machine, not the run."""

_AT_ONCE = 8  # columns that are hashed together
_HOST = ("name", "cpu", "load", "wall_s", "cpu_s")


def build_table(rows: Rows, entries: Iterable[Row]) -> pl.DataFrame:
    """Return the table of the runs of a plan that have ended.

    Columns: ``run_id``, ``vector``, ``iteration``, ``seed``, one per parameter (its dotted path), ``status``,
    ``timeout_s``, every metric with a single value (null if missing), and data of the machine as ``host_...``. All but
    the last are the same for the same runs on every machine. Lists and mappings are written as YAML in one line.

    Args:
        rows: rows of runs that have ended; those of other plans do not matter.
        entries: the runs of the plan, each as by `covey.experiments.workers.folder.entry`.
    """
    places = rows.places
    ordered = sorted((e for e in entries if e["run_id"] in places), key=lambda e: (e["vector"], e["iteration"]))
    there = rows.ordered([one["run_id"] for one in ordered])
    columns = [series(name, [one[name] for one in ordered]) for name in ("run_id", "vector", "iteration", "seed")]
    vectors = {id(one["parameters"]): one["parameters"] for one in ordered}  # runs of a vector share theirs
    for name in parameters_of(ordered):
        values = {key: _flat(parameters.get(name)) for key, parameters in vectors.items()}
        columns.append(series(name, [values[id(one["parameters"])] for one in ordered]))
    abouts = [rows.about(key) for key in there["of"].unique(maintain_order=True)]
    timeouts = {one["about"]: one["timeout_s"] for one in abouts}
    columns += [there["status"], series("timeout_s", [timeouts[key] for key in there["of"]])]
    known = metrics.names()
    apart = {"status", *filter(_is_by_robot, known), *(name for one in abouts for name in one["nested"])}
    host = {name: _column(there, f"{HOST}{name}", name) for name in _HOST}
    shipped = [name for name in known if not is_own(name)]  # of a user's, only what the runs have
    for name in dict.fromkeys([*shipped, *(name for one in abouts for name in one["names"])]):
        values = _column(there, f"{METRIC}{name}", name)
        if name in HOST_METRICS:
            host[name] = _filled(values, _column(there, f"{HOST}{name}", name))
        elif name not in apart:
            columns.append(_of_its_kind(values) if name in known else values)
    columns += [values.alias(f"host_{name}") for name, values in host.items()]
    empty = {one.name for one in columns if one.dtype == pl.Float64 and one.null_count() == len(one) > 0}
    found = pl.DataFrame([one for one in columns if one.name not in empty])
    return found.select(
        pl.lit(None, pl.Float64).alias(one.name) if one.name in empty else pl.col(one.name) for one in columns
    )  # a literal takes no memory


def deterministic(table: pl.DataFrame) -> pl.DataFrame:
    """Return the columns that do not depend on the machine."""
    return table.select(name for name in table.columns if not name.startswith("host_"))


def outcomes(table: pl.DataFrame) -> pl.Series:
    """Return a number for each run that is the same for runs with equal status and metrics, apart from the machine's.

    Few columns are hashed together: hashing all of a row takes as much memory as the table.
    """
    done = deterministic(table)
    metrics = done.columns[done.columns.index("timeout_s") + 1 :]
    found = done.select(outcome=pl.col("status").hash())
    for i in range(0, len(metrics), _AT_ONCE):
        found = (
            done.select(*metrics[i : i + _AT_ONCE], found["outcome"]).to_struct("outcome").hash().to_frame("outcome")
        )
    return found["outcome"]


def read_results(folder: Path | str) -> pl.DataFrame:
    """Return the table of a design from its folder: the runs that have ended so far, or a kept results.parquet.

    Raises:
        RunFolderError: the folder holds no design.
    """
    folder = Path(folder)
    if not (folder / PLAN).is_file() and (folder / RESULTS).is_file():
        return pl.read_parquet(folder / RESULTS)
    entries, rows = read_plan(folder)["runs"], read_rows(folder)
    taken_over(folder, [one["run_id"] for one in entries], rows, None)
    return build_table(rows, entries)


def write_table(folder: Path, table: pl.DataFrame) -> None:
    """Write the table into the folder of a design; at any moment the file is either the old or the new table.

    Raises:
        OSError: the disk is full or cannot be written; the old table remains.
    """
    buffer = BytesIO()
    table.write_parquet(buffer, statistics=False)
    put(folder / RESULTS, buffer.getvalue())


def parameters_of(entries: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the dotted paths of the parameters in the order of the design."""
    return _names(one["parameters"] for one in entries)


def _names(mappings: Iterable[Mapping[str, Any]]) -> list[str]:
    seen: dict[int, Mapping[str, Any]] = {id(mapping): mapping for mapping in mappings}  # runs of a vector share theirs
    return list(dict.fromkeys(name for mapping in seen.values() for name in mapping))


@cache
def _is_by_robot(metric: str) -> bool:
    """Return whether a metric has one value for each robot instead of one for the run."""
    return "dict" in str(metrics.get(metric).__annotations__.get("return", ""))


def _flat(value: Any) -> Any:
    return text_of(value) if isinstance(value, (dict, list, tuple)) else value


def _column(frame: pl.DataFrame, column: str, name: str) -> pl.Series:
    """Return a column under another name; without values it has numbers."""
    values = frame[column].alias(name) if column in frame.columns else _nulls(len(frame)).alias(name)
    return values.cast(pl.Float64) if values.null_count() == len(values) else values


@lru_cache(1)
def _nulls(length: int) -> pl.Series:
    return pl.Series("", [None], pl.Float64).new_from_index(0, length)


def _filled(values: pl.Series, others: pl.Series) -> pl.Series:
    """Return numbers, and where there are none the others."""
    if not values.null_count() or others.null_count() == len(others):
        return values
    return values.cast(pl.Float64).fill_null(others.cast(pl.Float64))


def _of_its_kind(values: pl.Series) -> pl.Series:
    """Return numbers with the type that their metric returns, whatever the other runs in the file have."""
    if not values.dtype.is_numeric() or values.null_count() == len(values):
        return values
    returned = str(metrics.get(values.name).__annotations__.get("return", ""))
    is_whole = "int" in returned and "float" not in returned and bool((values == values.round()).all())
    return values.cast(pl.Int64 if is_whole else pl.Float64)
