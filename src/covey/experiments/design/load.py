"""Loading a `Design` from a file, or by the name of one that ships with Covey."""

import os
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from covey.errors import CoveyError, Problem, ScenarioError
from covey.experiments.design.plan import base_scenario, scenarios
from covey.experiments.design.records import Design
from covey.experiments.design.shipped import designs
from covey.experiments.design.vectors import is_known
from covey.scenario.from_file import read_file
from covey.scenario.messages import coercions, problems_of
from covey.scenario.shipped import find_file
from covey.scenario.yaml12 import Document, parse_yaml


def load_design(source: str | os.PathLike[str], *, trusted_only: bool = False) -> Design:
    """Load a design and check all of it: its scenario, and every parameter vector.

    Args:
        source: path of a ``.yaml`` file, or the name of a design that ships.
        trusted_only: refuse a design that names code in a file.

    Raises:
        ScenarioError: all problems of the file, with line and column.
    """
    path = find_design(source)
    content, file = read_file(path, source)
    return parse_design(content, file=file, folder=path.parent, trusted_only=trusted_only)


def parse_design(
    content: bytes | str, *, file: str = "", folder: str | os.PathLike[str] = ".", trusted_only: bool = False
) -> Design:
    """Return the design in the text of a file, checked as by `load_design`.

    Args:
        content: the text.
        file: name of the file in error messages.
        folder: base of the relative paths in it.
        trusted_only: refuse a design that names code in a file.

    Raises:
        ScenarioError: all problems of the text, with line and column.
    """
    document = parse_yaml(content, file)
    if not isinstance(document.data, dict):
        kind = "empty" if document.data is None else f"a {type(document.data).__name__}"
        message = f"a design is a mapping with the keys design, scenario and parameters; this is {kind}"
        raise ScenarioError([Problem(message, file, 1, 1)])
    context = {"folder": folder, "document": document, "trusted_only": trusted_only}
    problems = list(document.problems)
    design: Design | None = None
    try:
        design = Design.model_validate(document.data, context=context)
        problems += coercions(document.data, design, document)
        checked = design
    except ValidationError as error:
        problems += problems_of(error, document, Design)
        checked = _rest(document.data, error, context)
    if checked is not None:
        try:
            scenarios(checked) if is_known(checked) else base_scenario(checked)
        except CoveyError as error:
            problems += error.problems if isinstance(error, ScenarioError) else [Problem(str(error), file)]
    if design is None or problems:
        raise ScenarioError(sorted(problems, key=lambda p: (p.file != file, p.file, p.line, p.column)))
    return design


def find_design(source: str | os.PathLike[str]) -> Path:
    """Return the path of a design file, given the path or the name of one that ships.

    Raises:
        ScenarioError: there is no such file and no such name.
    """
    return find_file("design", source, designs())


def _rest(data: dict[str, Any], error: ValidationError, context: dict[str, Any]) -> Design | None:
    """Return the design without invalid keys, so that the others can be checked; None if it is invalid without them."""
    wrong = {details["loc"][0] for details in error.errors() if details["loc"]}
    document: Document = context["document"]
    try:
        rest = {"design": "?", **{key: value for key, value in document.data.items() if key not in wrong}}
        return Design.model_validate({key: rest[key] for key in rest if key != "report"}, context=context)
    except ValidationError:
        return None


def design_summaries() -> dict[str, str]:
    """Return the names of the shipped designs, each with its question, source and published outcome in one line."""
    found = {}
    for name, path in designs().items():
        text = path.read_bytes()
        question = text.decode("utf-8").partition("\n")[0].removeprefix("# ")
        data = parse_yaml(text, path.name).data
        source, published = (" ".join(data.get(key, "").split()).rstrip(".") for key in ("source", "published"))
        found[name] = f"{question} {source}. Outcome: {published}."
    return found
