"""Read and check files that Covey wrote and that may have been damaged since."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from covey.archives import DAMAGED, TooLarge, unpacked
from covey.errors import CoveyError, RunFolderError
from covey.lazy import pa, pl

_PAIR = Field(min_length=2, max_length=2)  # JSON knows no tuples


class Shape(BaseModel):
    """The required keys of a file; it may have others."""

    model_config = ConfigDict(strict=True, extra="allow")


class Goal(Shape):
    """The goal that ends a run."""

    explored_share: float | None = None
    covered_share: float | None = None
    timeout_s: float | None = None


class MissionFacts(Shape):
    """The mission of a run."""

    kind: str
    waypoints_m: list[Annotated[list[float], _PAIR]] = []
    edges: list[Annotated[list[int], _PAIR]] = []


class ManifestShape(Shape):
    """``manifest.json``."""

    status: Literal["running", "incomplete", "finished"]
    robots: list[str]
    goal_status: str | None
    name: str = ""
    reason: str = ""
    scenario: str = ""
    platform: str = ""
    goal: Goal
    mission: MissionFacts = MissionFacts(kind="exploration")
    versions: dict[str, str | None] = {}
    cpu: dict[str, Any] = {}
    radius_m: list[float] = []


def read_json(path: Path, shape: type[Shape], version: int | None = None) -> dict[str, Any]:
    """Return the content of a JSON file.

    Args:
        path: path of the file.
        shape: its required keys.
        version: its format, which the key ``format`` holds; None if it has none.

    Raises:
        FileNotFoundError: the file does not exist.
        RunFolderError: it is damaged, lacks keys, or is of another format.
    """
    try:
        content = json.loads(path.read_bytes())
        given = content.get("format") if isinstance(content, dict) else None
        if version is not None and isinstance(given, int) and given != version:
            raise RunFolderError(f"{str(path)!r} has format {given}; this version of Covey reads format {version}")
        if version is not None and given is None:
            raise ValueError("Covey did not write it")
        shape.model_validate(content)
    except (FileNotFoundError, NotADirectoryError):
        raise
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise damaged(path, f"{place}: {first['msg']}" if place else first["msg"]) from None
    except (OSError, ValueError, RecursionError) as error:
        raise damaged(path, error) from None
    return content


def read_arrays(path: Path) -> dict[str, np.ndarray]:
    """Return the arrays of an ``.npz`` file.

    Raises:
        RunFolderError: they take more than `covey.archives.MAX_BYTES`; nothing has been unpacked.
        ValueError: it is not an ``.npz`` file; other errors if it is damaged (see `reading`).
    """
    try:
        return unpacked(path)
    except TooLarge as error:
        raise RunFolderError(
            f"{str(path)!r} {error}: choose another run, or run it again and record less (record: scans_every_s, "
            "maps_every_s)"
        ) from None


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn errors that a damaged file causes in the block into a `RunFolderError` that names it."""
    try:
        yield
    except CoveyError:
        raise
    except (*DAMAGED, pa.ArrowException, pl.exceptions.PolarsError) as error:
        raise damaged(path, error) from error


def damaged(path: Path, why: Exception | str) -> RunFolderError:
    """Return an error that says which file is damaged, and what to do."""
    said = " ".join(str(why).split())[:200] or type(why).__name__
    return RunFolderError(
        f"{str(path)!r} is damaged, or Covey did not write it ({said}); choose another folder, or remove the damaged "
        "file and run again"
    )
