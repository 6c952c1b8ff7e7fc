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
from covey.lazy import pa, pl, pq
from covey.plain_files import check_plain

_STEP, _EVENT = {"step": "number"}, dict.fromkeys(("x_m", "y_m", "time_s"), "number")
TABLES: dict[str, dict[str, str]] = {
    "measurements": {**_STEP, "robot": "text", **dict.fromkeys(("x_m", "y_m", "heading_rad"), "number")},
    "team": {**_STEP, **dict.fromkeys(("time_s", "covered_share", "min_separation_m"), "number")},
    "events": {**_STEP, **_EVENT, **dict.fromkeys(("kind", "robot", "other", "text", "data"), "text")},
    "host": {**_STEP, "time_s": "number", "wall_time_s": "number"},
}
"""The columns that each table has at least, and what is in them."""
_LARGE_BYTES, _PLAUSIBLE = 1_000_000_000, 1000
"""A table of more than the first in memory takes at most so many times the bytes of its file."""
_PAIR = Field(min_length=2, max_length=2)  # JSON knows no tuples


class Shape(BaseModel):
    """The required keys of a file; it may have others."""

    model_config = ConfigDict(strict=True, extra="allow")


class RunGoal(Shape):
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
    goal: RunGoal
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
        check_plain(path)
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


def check_table(path: Path) -> None:
    """Check that a table is one of its name, before its rows are read.

    Raises:
        RunFolderError: its rows would take far more memory than its file can hold.
        ValueError: it lacks columns; other errors if it is damaged (see `reading`).
    """
    with pq.ParquetFile(path) as file:
        schema, rows = file.schema_arrow, file.metadata.num_rows
    size = rows * sum(
        8 if pa.types.is_primitive(field.type) else 16 for field in schema
    )  # a text is a view of 16 bytes
    if size > _LARGE_BYTES and size > _PLAUSIBLE * path.stat().st_size:
        raise RunFolderError(
            f"{str(path)!r} claims {rows} rows, {size / 1e9:.1f} GB, in a file of {path.stat().st_size / 1e6:.1f} MB: "
            "Covey did not write it; choose another folder"
        )
    for name, content in TABLES.get(path.stem, {}).items():
        if name not in schema.names:
            raise ValueError(f"it has no column {name}: is it another table?")
        kind = schema.field(name).type
        kind = kind.value_type if pa.types.is_dictionary(kind) else kind
        is_text = pa.types.is_string(kind) or pa.types.is_large_string(kind)
        if is_text != (content == "text") or not (is_text or pa.types.is_integer(kind) or pa.types.is_floating(kind)):
            raise ValueError(f"its column {name} holds {kind}")


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
