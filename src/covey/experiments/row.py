"""What a finished run of a design leaves of itself: its row."""

import json
from pathlib import Path
from typing import Any

ROW = "row.json"

Row = dict[str, Any]
"""One run as a row; see `covey.experiments.folder.new_row`."""


def read_row(folder: Path) -> Row | None:
    """Return the row of a finished run, or None when there is none."""
    path = folder / ROW
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None
