"""From a file to a `Design`."""

import re
from pathlib import Path

import yaml

from covey.experiments.records import Design


def load_design(source: str) -> Design:
    """Load a design from a file."""
    path = Path(source)
    return Design.model_validate(yaml.safe_load(path.read_text()), context={"folder": path.parent})


def is_design(source: str) -> bool:
    """Return whether a path is a design, and not a scenario."""
    path = Path(source)
    return path.is_file() and bool(re.search(r"^design[ \t]*:", path.read_text(), re.MULTILINE))
