"""The scenario of a recorded run, to repeat it alone."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from covey.experiments.workers.row import ROW, RUNS, Row, RowShape
from covey.experiments.workers.rows import ROWS, read_rows
from covey.results.checked import read_json
from covey.scenario.load import load_scenario
from covey.scenario.load import scenario_of as parsed
from covey.scenario.overrides import override
from covey.scenario.records import Scenario
from covey.scenario.yaml12 import Document, parse_yaml


def _row_of(path: Path) -> Row | None:
    """Return the row of a run of a design by the path of its folder; None if it is none."""
    try:
        return read_json(path / ROW, RowShape, 1)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        pass
    design = path.parent.parent
    if path.parent.name != RUNS or not (design / ROWS).is_dir():
        return None
    rows = read_rows(design)
    return rows[path.name] if path.name in rows.places else None


def scenario_of(source: str, changes: Mapping[str, Any] | None = None, *, trusted_only: bool = False) -> Scenario:
    """Return a scenario as by `load_scenario`, or the scenario of a run of a design, from its run folder.

    A run that has no folder is named by the path that its folder would have.

    Raises:
        ScenarioError: all problems of the scenario or of the changes.
        RunFolderError: the row of the run is damaged.
    """
    row = _row_of(Path(source))
    if row is None:
        return load_scenario(source, changes, trusted_only=trusted_only)
    document = Document(parse_yaml(row["scenario"]).data, source)  # without the places in its text, which is in no file
    scenario = parsed(document, folder=row["folder"], trusted_only=trusted_only)
    return override(scenario, changes, trusted_only=trusted_only, here=Path.cwd()) if changes else scenario
