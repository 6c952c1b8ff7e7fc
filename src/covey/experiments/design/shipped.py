"""The designs that ship with Covey, and the test for a design; light, because `covey run` imports it first."""

import difflib
import os
import re
from importlib import resources
from pathlib import Path

from covey.scenario.shipped import library
from covey.scenario.yaml12 import MAX_BYTES

_IS_DESIGN = re.compile(rb"^design[ \t]*:", re.MULTILINE)


def is_design(source: str | os.PathLike[str]) -> bool:
    """Return whether a path or a name is a design, not a scenario; also true for a name close to a design's."""
    name, known = str(source), designs()
    if name in known or name in library():
        return name in known
    try:
        if not Path(source).is_file():
            raise FileNotFoundError(source)
        with Path(source).open("rb") as stream:
            return bool(_IS_DESIGN.search(stream.read(MAX_BYTES)))
    except (OSError, ValueError):
        near = difflib.get_close_matches(name, [*known, *library()], n=1)
        return bool(near) and near[0] in known


def designs() -> dict[str, Path]:
    """Return the designs that ship with Covey: their files by name, sorted."""
    folder = Path(str(resources.files("covey.experiments") / "designs"))
    return {path.stem: path for path in sorted(folder.glob("*.yaml"))}
