"""Whether a folder of results holds the design that a file describes, or another version of it."""

from contextlib import suppress
from pathlib import Path
from typing import Any

from covey.errors import CoveyError
from covey.experiments.design.records import Design
from covey.experiments.workers.folder import DESIGN
from covey.scenario.yaml12 import parse_yaml

_OF_NO_RUN = ("format", "description", "source", "published", "report", "limits")


def differences(folder: Path, design: Design) -> list[str]:
    """Return the keys in which a design and the one in a folder differ, so that their results do; none without one."""
    with suppress(CoveyError, OSError):
        there = _data((folder / DESIGN).read_bytes())
        here = _data(design.to_yaml())
        keys = [key for key in Design.model_fields if key not in _OF_NO_RUN]
        return [key for key in keys if here.get(key) != there.get(key)]
    return []


def difference(here: dict[str, Any], planned: dict[str, Any]) -> str:
    """Return what a worker has that differs from the machine that planned the runs.

    Args:
        here: `covey.experiments.design.plan.software` of the worker.
        planned: that of the machine that planned the runs.

    Examples:
        >>> difference({"packages": {"numpy": "2.0.1"}}, {"packages": {"numpy": "2.1.0"}})
        'other versions of packages (numpy 2.0.1 instead of 2.1.0)'
        >>> difference({"packages": {}}, {"packages": {}})
        'other sources of Covey, or other packages that extend it,'
    """
    mine, theirs = here["packages"], planned["packages"]
    names = [name for name in sorted({*mine, *theirs}) if mine.get(name) != theirs.get(name)]
    if not names:
        return "other sources of Covey, or other packages that extend it,"
    each = [f"{name} {mine.get(name) or 'missing'} instead of {theirs.get(name) or 'none'}" for name in names]
    return f"other versions of packages ({', '.join(each)})"


def in_words(folder: Path, design: Design, keys: list[str]) -> str:
    """Return the beginning of a sentence about a folder with another version; ``keys`` are those that differ."""
    named = " and ".join(filter(None, (", ".join(keys[:-1]), keys[-1])))
    return f"{str(folder)!r} holds a design {design.design!r} that differs from this file in {named}"


def _data(text: bytes | str) -> dict[str, Any]:
    data = parse_yaml(text).data
    return data if isinstance(data, dict) else {}
