"""The rows of the finished runs of a design: one table, which is only ever appended to.

::

    rows/<host>-<time>-<pid>.jsonl    what one process has appended

A line is a JSON object, and is written at once. There are two kinds:

::

    {"about": KEY, "scenario": …, "folder": …, "timeout_s": …, "keep": …, "names": […], …}
    {"status": "reached", "of": KEY, "seed": …, "ended_s": …, "metrics": {…}, "nested": "{…}", "host": {…}, "run_id": …}

The first holds what the runs of a vector have in common, before the first row that needs it. ``names`` are all metrics
of such a run, ``nested`` those that are lists or mappings. In the row, metrics without a value are left out, and the
nested ones are one text.
A failed run also has ``reason`` and ``traceback``. A row ends with its ``run_id``, so a line that was cut is seen.

Each process has a file of its own, so nothing depends on locks of a network file system, and the rows of folders that
were not shared are together when the files are. Of two rows of the same run a result counts more than a failure, and
the later one more than the earlier.
"""

import errno
import hashlib
import json
import os
import re
import shlex
import socket
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import Field, ValidationError

from covey.errors import RunFolderError
from covey.experiments.workers.row import FAILURES, RUNS, Row
from covey.lazy import pa, pl
from covey.results.checked import Shape
from covey.results.manifest import versions

ROWS = "rows"

_FORMAT = 1
_BLOCK_BYTES = 1 << 20
_START = b'{"status":'
_END = re.compile(rb'"run_id":"[0-9a-f]{1,64}"\}$')
_NEEDED = ("status", "of", "run_id", "seed", "ended_s")
_TEXTS = ("status", "of", "run_id", "reason", "traceback", "nested")
METRIC, HOST = "metrics.", "host."


class HeadShape(Shape):
    """The first line of a file."""

    format: int


class LineShape(Shape):
    """A row in the file."""

    run_id: str
    of: str
    status: str
    seed: Annotated[int, Field(ge=0, lt=2**63)]
    ended_s: float
    metrics: dict[str, float | int | bool | str | None]
    host: dict[str, float | int | bool | str | None]
    nested: str = "{}"
    reason: str = ""
    traceback: str = ""


class AboutShape(Shape):
    """What rows have in common."""

    about: str
    scenario: str
    folder: str
    timeout_s: float
    keep: str
    measurements: list[dict[str, Any]]
    names: list[str]
    nested: list[str]
    versions: dict[str, str | None]


class Rows:
    """Rows of finished runs, column by column.

    Args:
        folder: folder of the design.

    Attributes:
        damaged: number of lines by file that are not what was written; their rows are left out.
    """

    def __init__(self, folder: Path):
        self.folder = folder
        self.damaged: dict[Path, int] = {}
        self._about: dict[str, Mapping[str, Any]] = {}
        self._frame: pl.DataFrame | None = None
        self._new: list[dict[str, Any]] = []
        self._places: dict[str, int] | None = None

    def add(self, line: dict[str, Any], about: Mapping[str, Any]) -> None:
        """Add a row as `RowWriter.append` wrote it; it replaces another one of the same run."""
        self._about[about["about"]] = about
        self._new.append(line)
        self._places = None

    def add_row(self, row: Row) -> None:
        """Add a row that is in no file of the table."""
        about = _about(row, "", ())
        self.add(_line(row, about["about"]), about)

    @property
    def frame(self) -> "pl.DataFrame":
        """The rows as they are in the file, one for each run; the names of metrics begin with ``metrics.``."""
        if self._new or self._frame is None:
            frames = [] if self._frame is None else [self._frame]
            self._frame, self._new = _newest(joined([*frames, _framed(self._new)])), []
        return self._frame

    @property
    def places(self) -> dict[str, int]:
        """The place of each run in `frame`, by its id."""
        if self._places is None:
            self._places = {run_id: place for place, run_id in enumerate(self.frame["run_id"].to_list())}
        return self._places

    def ordered(self, run_ids: Sequence[str]) -> "pl.DataFrame":
        """Return the rows of some runs in this order; `frame` is in it, too, so that they are not there twice."""
        places = [self.places[run_id] for run_id in run_ids]
        if len(set(places)) < len(places):
            return self.frame[places]
        rest = np.ones(len(self.frame), bool)
        rest[places] = False
        self._frame, self._places = self.frame[[*places, *np.flatnonzero(rest).tolist()]], None
        return self._frame[: len(places)]

    def statuses(self) -> dict[str, str]:
        """Return how each run ended, by its id."""
        return dict(zip(self.frame["run_id"].to_list(), self.frame["status"].to_list(), strict=True))

    def abouts(self) -> "dict[str, Mapping[str, Any]]":
        """Return what is common to rows, by the id of each run."""
        return {
            i: self._about[of] for i, of in zip(self.frame["run_id"].to_list(), self.frame["of"].to_list(), strict=True)
        }

    def about(self, key: str) -> Mapping[str, Any]:
        """Return what rows have in common, by their column ``of``; see `AboutShape`."""
        return self._about[key]

    def __getitem__(self, run_id: str) -> Row:
        """Return the row of a run that has ended, without its place in a plan."""
        return self._row(self.frame.row(self.places[run_id], named=True))

    def _row(self, line: Mapping[str, Any]) -> Row:
        about = self._about[line["of"]]
        metrics = {name[len(METRIC) :]: v for name, v in line.items() if name.startswith(METRIC) and v is not None}
        metrics |= _nested(line["nested"])
        row = {
            "run_id": line["run_id"],
            "seed": line["seed"],
            "timeout_s": about["timeout_s"],
            "status": line["status"],
            "metrics": dict.fromkeys(about["names"]) | metrics,
            "host": {name[len(HOST) :]: v for name, v in line.items() if name.startswith(HOST) and v is not None},
            "reproduce": reproduce(self.folder / RUNS / line["run_id"]),
            "scenario": about["scenario"] + _seed_line(line["seed"]),
            "folder": about["folder"],
        }
        return row | {key: line[key] for key in ("reason", "traceback") if line[key]}


def reproduce(folder: Path) -> str:
    """Return the command that repeats a run alone, by the path that its folder has, or would have."""
    return f"covey run {shlex.quote(str(folder))}"


def rows_of(folder: Path, rows: Iterable[Row]) -> Rows:
    """Return rows that are in no table."""
    found = Rows(folder)
    for row in rows:
        found.add_row(row)
    return found


def read_rows(folder: Path, *, values: bool = True) -> Rows:
    """Return all rows in the folder of a design, also of runs that its plan does not ask for.

    Args:
        folder: folder of a design.
        values: whether to keep metrics and data of the machine; without them 10^5 rows take some MB.
    """
    found = Rows(folder)
    blocks = (frame for path in _files(folder) for frame in _read(path, found))
    frames = [_copied(frame if values else _shaped(frame.select(_NEEDED))) for frame in blocks]
    found._frame = _newest(joined(frames))
    return found


def _copied(frame: "pl.DataFrame") -> "pl.DataFrame":
    """Return a copy in memory of polars, which it uses again, so that nothing of Arrow's is left in between."""
    return frame.select(pl.all().gather(pl.int_range(pl.len())))


class RowWriter:
    """Appends rows to a file of its own, which is made with the first row.

    Args:
        folder: folder of the design.
    """

    def __init__(self, folder: Path):
        self._folder = folder
        self._descriptor: int | None = None
        self._told: set[str] = set()

    def __enter__(self) -> "RowWriter":
        return self

    def __exit__(self, *_: object) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def append(self, row: Row, keep: str, measurements: Sequence[Mapping[str, Any]], to: Rows) -> None:
        """Append a row, all of it or nothing, and add it to ``to``, too.

        Args:
            row: the row; see `covey.experiments.workers.folder.new_row`.
            keep: what is kept of the run besides its row: as in `Design`, or empty if nobody knows.
            measurements: its measurements, each as plain data of a `Measurement`.
            to: the rows so far.

        Raises:
            OSError: the disk is full or cannot be written; the file is as before.
        """
        about = _about(row, keep, measurements)
        line = _line(row, about["about"])
        new = about["about"] not in self._told
        self._write("".join(map(_text, [about, line] if new else [line])).encode())
        self._told.add(about["about"])
        to.add(line, about)

    def _write(self, data: bytes) -> None:
        if self._descriptor is None:
            (self._folder / ROWS).mkdir(exist_ok=True)
            host = re.sub(r"[^\w.-]", "_", socket.gethostname())
            path = self._folder / ROWS / f"{host}-{time.time_ns():x}-{os.getpid()}.jsonl"
            self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o644)
            data = _text({"format": _FORMAT}).encode() + data
        before = os.fstat(self._descriptor).st_size
        try:
            if os.write(self._descriptor, data) < len(data):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fsync(self._descriptor)
        except OSError:
            with suppress(OSError):
                os.ftruncate(self._descriptor, before)
            raise


def _nested(text: str | None) -> dict[str, Any]:
    with suppress(ValueError, RecursionError):
        found = json.loads(text or "{}")
        return found if isinstance(found, dict) else {}
    return {}


def _text(line: Mapping[str, Any]) -> str:
    return json.dumps(line, separators=(",", ":"), ensure_ascii=False, allow_nan=False) + "\n"


def _about(row: Row, keep: str, measurements: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    told = {
        "scenario": row["scenario"].removesuffix(_seed_line(row["seed"])),
        "folder": row["folder"],
        "timeout_s": row["timeout_s"],
        "keep": keep,
        "measurements": [dict(one) for one in measurements],
        "versions": versions() if keep else {},
        "names": list(row["metrics"]),
        "nested": [name for name, value in row["metrics"].items() if isinstance(value, (dict, list))],
    }
    key = hashlib.blake2b(json.dumps(told).encode(), digest_size=8).hexdigest()
    return {"about": key, **told}


def _line(row: Row, key: str) -> dict[str, Any]:
    values = {name: value for name, value in row["metrics"].items() if value is not None}
    nested = {name: value for name, value in values.items() if isinstance(value, (dict, list))}
    more = {"nested": json.dumps(nested, ensure_ascii=False, allow_nan=False)} if nested else {}
    more |= {name: row[name] for name in ("reason", "traceback") if row.get(name)}
    return {
        "status": row["status"],
        "of": key,
        "seed": row["seed"],
        "ended_s": time.time(),
        "metrics": {name: value for name, value in values.items() if name not in nested},
        "host": {name: value for name, value in row["host"].items() if value is not None},
        **more,
        "run_id": row["run_id"],
    }


def _seed_line(seed: int) -> str:
    return f"seed: {seed}\n"


# -- reading -----------------------------------------------------------------------------------------------------------


def _files(folder: Path) -> list[Path]:
    return sorted((folder / ROWS).glob("*.jsonl"))


def _read(path: Path, into: Rows) -> "Iterator[pl.DataFrame]":
    """Yield the rows of a file block by block; lines that are damaged are counted.

    Raises:
        RunFolderError: the file has another format.
    """
    wrong = 0
    for lines in _blocks(path):
        rows = [line for line in lines if line.startswith(_START) and _END.search(line, max(0, len(line) - 80))]
        others = [line for line in lines if not line.startswith(_START)]
        wrong += len(lines) - len(rows) - len(others)
        for line in others:
            if (about := _checked(line, AboutShape)) is not None:
                into._about[about["about"]] = about
            elif (head := _checked(line, HeadShape)) is None:
                wrong += 1
            elif head["format"] != _FORMAT:
                raise RunFolderError(
                    f"{str(path)!r} has format {head['format']}; this version of Covey reads format {_FORMAT}"
                )
        frame, left_out = _block(rows)
        known = frame["of"].is_in(list(into._about))
        wrong += left_out + len(frame) - int(known.sum())
        yield frame.filter(known)
    if wrong:
        into.damaged[path] = wrong


def _blocks(path: Path) -> Iterator[list[bytes]]:
    """Yield the lines of a file, some MiB at a time; the rest after the last line was cut, or is being written."""
    rest = b""
    with path.open("rb") as file:
        while block := file.read(_BLOCK_BYTES):
            lines = (rest + block).split(b"\n")
            rest = lines.pop()
            yield [line for line in lines if line]


def _block(lines: Sequence[bytes]) -> "tuple[pl.DataFrame, int]":
    """Return the rows of some lines, and the number of lines that hold none."""
    if not lines:
        return _framed([]), 0
    try:
        found = _parsed(lines)
    except (pa.ArrowException, ValueError):
        found = None
    if found is not None:
        return found, 0
    rows = [row for line in lines if (row := _checked(line, LineShape)) is not None]
    return _framed(rows), len(lines) - len(rows)


def _parsed(lines: Sequence[bytes]) -> "pl.DataFrame | None":
    """Return the rows of lines that are alike, at about 100 MB/s; None if they have to be looked at one by one."""
    from pyarrow import json as arrow_json

    data = b"\n".join(lines)
    options = arrow_json.ReadOptions(block_size=len(data) + 1, use_threads=False)
    table = arrow_json.read_json(pa.BufferReader(data), options, memory_pool=pa.system_memory_pool())
    if table.num_rows != len(lines):
        return None
    kinds = {field.name: field.type for field in table.schema}
    if not all(pa.types.is_struct(kinds.get(name, pa.null())) for name in ("metrics", "host")):
        return None
    flat = table.flatten()
    for field in flat.schema:
        told = field.name.startswith((METRIC, HOST))
        if field.name in _TEXTS and not (pa.types.is_string(field.type) or pa.types.is_null(field.type)):
            return None
        if field.name == "seed" and not pa.types.is_int64(field.type):
            return None
        plain = pa.types.is_string, pa.types.is_int64, pa.types.is_float64, pa.types.is_boolean, pa.types.is_null
        if told and not any(is_plain(field.type) for is_plain in plain):
            return None
    frame = pl.from_arrow(flat)
    assert isinstance(frame, pl.DataFrame)
    if not set(_NEEDED) <= set(frame.columns) or not frame["ended_s"].dtype.is_numeric():
        return None
    if any(frame[name].null_count() for name in _NEEDED):
        return None
    return _shaped(frame)


def _checked(line: bytes, shape: type[Shape]) -> dict[str, Any] | None:
    try:
        content = json.loads(line)
        shape.model_validate(content)
    except (ValidationError, ValueError, RecursionError):
        return None
    return content


def _framed(rows: Sequence[Mapping[str, Any]]) -> "pl.DataFrame":
    """Return rows as they are in the file as a frame."""
    columns = {name: [row.get(name) for row in rows] for name in (*_TEXTS, "seed", "ended_s")}
    for part, prefix in (("metrics", METRIC), ("host", HOST)):
        for name in dict.fromkeys(name for row in rows for name in row[part]):
            columns[f"{prefix}{name}"] = [row[part].get(name) for row in rows]
    return _shaped(pl.DataFrame([series(name, values) for name, values in columns.items()]))


def _shaped(frame: "pl.DataFrame") -> "pl.DataFrame":
    """Return a frame with the columns that every row has, each of its type."""
    kinds = dict.fromkeys(_TEXTS, pl.String) | {"seed": pl.Int64, "ended_s": pl.Float64}
    have = [pl.col(name).cast(kind) for name, kind in kinds.items() if name in frame.columns]
    lack = [pl.lit(None, kind).alias(name) for name, kind in kinds.items() if name not in frame.columns]
    rest = [name for name in frame.columns if name.startswith((METRIC, HOST))]
    return frame.select(*have, *lack, *rest)


def joined(frames: "Sequence[pl.DataFrame]") -> "pl.DataFrame":
    """Return frames below each other; a column has the type that `series` gives to all its values."""
    frames = [frame for frame in frames if len(frame)] or [_framed([])]
    kinds: dict[str, set[Any]] = {}
    for frame in frames:
        for column in frame:
            kinds.setdefault(column.name, set()).update([column.dtype] if column.null_count() < len(column) else [])
    types = {name: _common(of) for name, of in kinds.items()}
    cast = [pl.DataFrame([_cast(column, types[column.name]) for column in frame]) for frame in frames]
    return pl.concat(cast, how="diagonal")


def _common(kinds: "set[Any]") -> Any:
    if len(kinds) == 1:
        return next(iter(kinds))
    return pl.Float64 if kinds <= {pl.Int64, pl.Float64} else pl.String


def _cast(values: "pl.Series", kind: Any) -> "pl.Series":
    if values.dtype == kind or kind != pl.String or values.null_count() == len(values):
        return values.cast(kind)
    return pl.Series(values.name, [None if v is None else text_of(v) for v in values.to_list()], pl.String)


def _newest(frame: "pl.DataFrame") -> "pl.DataFrame":
    """Return one row for each run."""
    if frame["run_id"].n_unique() == len(frame):
        return frame
    order = frame.with_columns(pl.col("status").is_in(FAILURES).not_().alias("_is_result"))
    return (
        order.sort("_is_result", "ended_s", maintain_order=True)
        .unique("run_id", keep="last", maintain_order=True)
        .drop("_is_result")
    )


def text_of(value: Any) -> str:
    """Return a value as YAML in one line."""
    import yaml

    if isinstance(value, str):
        return value
    text = yaml.safe_dump(value, default_flow_style=True, sort_keys=False, width=10**6, allow_unicode=True)
    return text.removesuffix("...\n").strip()


def series(name: str, values: Sequence[Any]) -> "pl.Series":
    """Return a column of whole numbers, numbers, booleans, or else texts; a column without values has numbers."""
    kinds = {type(value) for value in values if value is not None}
    if kinds and kinds <= {bool}:
        return pl.Series(name, values, pl.Boolean)
    if kinds == {int} and all(value is None or abs(value) < 2**63 for value in values):
        return pl.Series(name, values, pl.Int64)
    if kinds <= {int, float}:
        return pl.Series(name, [None if value is None else float(value) for value in values], pl.Float64)
    return pl.Series(name, [None if value is None else text_of(value) for value in values], pl.String)
