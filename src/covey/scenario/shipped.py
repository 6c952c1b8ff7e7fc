"""The scenarios that ship with Covey, and the search for a scenario file."""

import os
from collections.abc import Mapping
from importlib import resources
from pathlib import Path

from covey.errors import Problem, ScenarioError, did_you_mean, near_file


def find_scenario(source: str | os.PathLike[str]) -> Path:
    """Return the path of a scenario file, given its path or the name of a shipped scenario.

    Raises:
        ScenarioError: there is no such file and no such name.
    """
    return find_file("scenario", source, library())


def find_file(kind: str, source: str | os.PathLike[str], known: Mapping[str, Path]) -> Path:
    """Return the path of a file, given its path or the name of a ``known`` one.

    Raises:
        ScenarioError: there is no such file and no such name of this kind.
    """
    path = Path(source)
    if str(source) in known:
        return known[str(source)]
    try:
        found = path.exists()
    except (OSError, ValueError):
        found = False
    if found:
        return path
    if path.suffix in (".yaml", ".yml") or len(path.parts) > 1:
        raise ScenarioError([Problem(f"there is no such file{near_file(path)}", str(source))])
    beside, hint = path.with_name(f"{path.name}.yaml"), did_you_mean(str(source), known)
    if not hint.startswith(",") or str(beside) in os.listdir():
        hint = near_file(beside) or hint
    kept = Path("runs", source)
    if kind == "design" and (kept / "design.yaml").is_file():
        hint = f", did you mean the results in {str(kept)!r}?"
    raise ScenarioError([Problem(f"unknown {kind} {str(source)!r}{hint} (or give the path of a .yaml file)")])


def library() -> dict[str, Path]:
    """Return the scenarios that ship with Covey: their files by name, sorted."""
    folder = Path(str(resources.files("covey.scenario") / "library"))
    return {path.stem: path for path in sorted(folder.glob("*.yaml"))}
