"""Loading a `Scenario` from a file, or by the name of one that ships with Covey."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from covey.errors import Problem, ScenarioError
from covey.scenario.from_file import read_file
from covey.scenario.messages import read
from covey.scenario.overrides import override
from covey.scenario.records import Scenario
from covey.scenario.shipped import find_scenario, library
from covey.scenario.yaml12 import Document, parse_yaml

if TYPE_CHECKING:
    from covey.runtime.simulation import Simulation


def load_scenario(
    source: str | os.PathLike[str], overrides: Mapping[str, Any] | None = None, *, trusted_only: bool = False
) -> Scenario:
    """Load a scenario.

    Args:
        source: path of a ``.yaml`` file, or the name of a scenario of the library.
        overrides: values by dotted path that replace those of the file, for example ``{"robots.scout.count": 20}``;
            files that they name are looked for in the current folder, then beside the scenario.
        trusted_only: refuse a scenario that names code in a file, unless it ships with Covey.

    Raises:
        ScenarioError: all problems of the file, with line and column, or all problems of the overrides.
    """
    path = find_scenario(source)
    content, file = read_file(path, source)
    trusted_only = trusted_only and path not in library().values()
    scenario = parse_scenario(content, file=file, folder=path.parent, name=path.stem, trusted_only=trusted_only)
    return override(scenario, overrides, trusted_only=trusted_only, here=Path.cwd()) if overrides else scenario


def parse_scenario(
    content: bytes | str,
    *,
    file: str = "",
    folder: str | os.PathLike[str] = ".",
    name: str = "",
    trusted_only: bool = False,
) -> Scenario:
    """Return the scenario that the text of a file describes.

    Args:
        content: the text.
        file: name of the file in error messages.
        folder: base of the relative paths in it.
        name: name of the scenario if the text gives none.
        trusted_only: refuse a scenario that names code in a file.

    Raises:
        ScenarioError: all problems of the text, with line and column.
    """
    return scenario_of(parse_yaml(content, file), folder=folder, name=name, trusted_only=trusted_only)


def scenario_of(
    document: Document, *, folder: str | os.PathLike[str] = ".", name: str = "", trusted_only: bool = False
) -> Scenario:
    """Return the scenario that a document describes; see `parse_scenario`.

    Raises:
        ScenarioError: all problems of the document, with line and column.
    """
    if not isinstance(document.data, dict):
        kind = "empty" if document.data is None else f"a {type(document.data).__name__}"
        message = f"a scenario is a mapping with the keys world and robots; this is {kind}"
        raise ScenarioError([Problem(message, document.file, 1, 1)])
    data = {"name": name[:100], **document.data} if name else document.data
    scenario, problems = read(Scenario, data, document, {"folder": folder, "trusted_only": trusted_only})
    if scenario is None or document.problems or problems:
        raise ScenarioError(sorted([*document.problems, *problems], key=lambda p: (p.line, p.column)))
    return scenario


def load(source: str | os.PathLike[str], overrides: Mapping[str, Any] | None = None) -> "Simulation":
    """Load a scenario, by the path of its file or by its name in the library, ready for its first step.

    Args:
        source: path of a ``.yaml`` file, or a name such as ``maze``.
        overrides: values by dotted path that replace those of the file, for example ``{"robots.scout.count": 12}``.

    Raises:
        CoveyError: the scenario or a file that it names is invalid, or the robots do not fit.
    """
    from covey.scenario.build import build

    return build(load_scenario(source, overrides))
