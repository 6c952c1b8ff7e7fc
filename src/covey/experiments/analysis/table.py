"""The tidy table of a design: one row per run, sorted, with the same bytes on every machine."""

from collections.abc import Iterable, Sequence
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

import polars as pl
import yaml

from covey.experiments.workers.folder import PLAN, RESULTS, Row, put, read_plan, rows_of
from covey.results.metrics import metrics

HOST_METRICS = (
    *("wall_time_s", "real_time_factor", "cpu_percent", "peak_rss_mib"),
    *("scan_cpu_ms_p50", "scan_cpu_ms_p99"),
    *("controller_cpu_percent", "controller_ram_percent", "controller_rss_mib"),
    *("controller_kbytes_received", "controller_kbytes_sent"),
    *("missed_deadlines", "late_commands", "dropped_readings"),
)
"""Metrics that measure the machine, not the run."""

_HOST = ("name", "cpu", "load", "wall_s", "cpu_s")


def build_table(rows: Iterable[Row]) -> pl.DataFrame:
    """Return the table of these rows.

    Columns: ``run_id``, ``vector``, ``iteration``, ``seed``, one per parameter (its dotted path), ``status``,
    ``timeout_s``, every metric with a single value (null if missing), and data of the machine as ``host_...``. All but
    the last are the same for the same runs on every machine. Lists and mappings are written as YAML in one line.
    """
    ordered = sorted(rows, key=lambda row: (row["vector"], row["iteration"]))
    columns: dict[str, list[Any]] = {
        name: [row[name] for row in ordered] for name in ("run_id", "vector", "iteration", "seed")
    }
    for name in _names(row["parameters"] for row in ordered):
        columns[name] = [_flat(row["parameters"].get(name)) for row in ordered]
    columns |= {name: [row[name] for row in ordered] for name in ("status", "timeout_s")}
    known = metrics.names()
    by_robot = {"status", *filter(_is_by_robot, known)}
    of_metrics = _names([dict.fromkeys(known), *(row["metrics"] for row in ordered)])
    host = {name: [row["host"].get(name) for row in ordered] for name in _HOST}
    for name in of_metrics:
        values = [row["metrics"].get(name) for row in ordered]
        if name in HOST_METRICS:
            host[name] = [row["host"].get(name) if v is None else v for row, v in zip(ordered, values, strict=True)]
        elif name not in by_robot and not any(isinstance(value, (dict, list)) for value in values):
            columns[name] = values
    columns |= {f"host_{name}": values for name, values in host.items()}
    return pl.DataFrame([_series(name, values) for name, values in columns.items()])


def deterministic(table: pl.DataFrame) -> pl.DataFrame:
    """Return the columns that do not depend on the machine."""
    return table.select(name for name in table.columns if not name.startswith("host_"))


def read_results(folder: Path | str) -> pl.DataFrame:
    """Return the table of a design from its folder: the runs that have ended so far, or a kept results.parquet.

    Raises:
        RunFolderError: the folder holds no design.
    """
    folder = Path(folder)
    if not (folder / PLAN).is_file() and (folder / RESULTS).is_file():
        return pl.read_parquet(folder / RESULTS)
    return build_table(rows_of(folder, read_plan(folder)["runs"]))


def write_table(folder: Path, table: pl.DataFrame) -> None:
    """Write the table into the folder of a design; at any moment the file is either the old or the new table.

    Raises:
        OSError: the disk is full or cannot be written; the old table remains.
    """
    buffer = BytesIO()
    table.write_parquet(buffer, statistics=False)
    put(folder / RESULTS, buffer.getvalue())


def parameters_of(rows: Sequence[Row]) -> list[str]:
    """Return the dotted paths of the parameters in the order of the design."""
    return _names(row["parameters"] for row in rows)


def _names(mappings: Iterable[dict[str, Any]]) -> list[str]:
    return list(dict.fromkeys(name for mapping in mappings for name in mapping))


def text_of(value: Any) -> str:
    """Return a value as YAML in one line."""
    if isinstance(value, str):
        return value
    text = yaml.safe_dump(value, default_flow_style=True, sort_keys=False, width=10**6, allow_unicode=True)
    return text.removesuffix("...\n").strip()


@cache
def _is_by_robot(metric: str) -> bool:
    """Return whether a metric has one value for each robot instead of one for the run."""
    return "dict" in str(metrics.get(metric).__annotations__.get("return", ""))


def _flat(value: Any) -> Any:
    return text_of(value) if isinstance(value, (dict, list, tuple)) else value


def _series(name: str, values: list[Any]) -> pl.Series:
    """Return a column of whole numbers, numbers, booleans, or else texts; a column without values has numbers."""
    kinds = {type(value) for value in values if value is not None}
    if kinds and kinds <= {bool}:
        return pl.Series(name, values, pl.Boolean)
    if kinds == {int} and all(value is None or abs(value) < 2**63 for value in values):
        return pl.Series(name, values, pl.Int64)
    if kinds <= {int, float}:
        return pl.Series(name, [None if value is None else float(value) for value in values], pl.Float64)
    return pl.Series(name, [None if value is None else text_of(value) for value in values], pl.String)
