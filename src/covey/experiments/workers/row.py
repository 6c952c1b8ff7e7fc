"""The row of a finished run of a design."""

from pathlib import Path
from typing import Any

from covey.errors import RunFolderError
from covey.results.checked import Shape, read_json

ROW, RUNS = "row.json", "runs"

FAILURES = ("failed", "hung", "out_of_memory", "died")
"""Statuses of a run without a result: an exception, an exceeded limit, or a lost process."""

Row = dict[str, Any]
"""One run as a row; see `covey.experiments.workers.folder.new_row`."""


class RowShape(Shape):
    """``row.json``."""

    run_id: str
    vector: int
    iteration: int
    seed: int
    timeout_s: float
    parameters: dict[str, Any]
    status: str
    metrics: dict[str, float | int | bool | str | list[Any] | dict[str, Any] | None]
    host: dict[str, Any]
    reproduce: str
    scenario: str
    folder: str
    reason: str = ""
    traceback: str = ""


def read_row(folder: Path) -> Row | None:
    """Return the row of the finished run in ``folder``, or None if it holds no complete row of that run."""
    try:
        row = read_json(folder / ROW, RowShape, 1)
    except (RunFolderError, FileNotFoundError):
        return None
    return row if row["run_id"] == folder.name else None
