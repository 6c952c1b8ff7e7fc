"""One run of a design, in the process that calls: what a worker does."""

import json
import traceback
from pathlib import Path
from typing import Any

from covey.experiments.plan import PlannedRun
from covey.results.folder import write_json

ROW = "row.json"
"""Name of the file in a run's folder that holds its row of the table; it is written last."""

Row = dict[str, Any]


def execute(planned: PlannedRun, folder: Path) -> Row:
    """Run it into ``folder`` and return its row, which is also written there as ``row.json``.

    A row holds run_id, vector, iteration, seed, ``parameters`` (by dotted path), ``status`` (how the run ended, or
    ``failed``), ``metrics`` (all of them by name, empty for a run that failed), and for a run that failed ``reason``
    and ``traceback``.
    """
    row: Row = {
        "format": 1,
        "run_id": planned.run_id,
        "vector": planned.vector,
        "iteration": planned.iteration,
        "seed": planned.seed,
        "parameters": planned.values,
        "status": "failed",
        "metrics": {},
    }
    try:
        run = planned.load().build(folder, overwrite=True).run()
        row |= {"status": run.status, "metrics": run.metrics}
    except Exception as error:
        row |= {"reason": f"{type(error).__name__}: {error}", "traceback": traceback.format_exc()}
    folder.mkdir(parents=True, exist_ok=True)
    write_json(folder / ROW, row)
    return row


def read_row(folder: Path) -> Row | None:
    """Return the row of a finished run, or None when there is none."""
    path = folder / ROW
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None
