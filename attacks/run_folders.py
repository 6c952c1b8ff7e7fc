"""Run folders of strangers: links to files of others, tables of other runs, changed, huge, packed endlessly.

A case returns what a command, or the page of a recorded run, said of one. No file outside the folder may change.
"""

import io
import json
import os
import shutil
import sys
import zipfile
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import yaml
from attacks.bounded import main
from attacks.commands import SCENARIO, run
from attacks.scenarios import changed_data, said
from attacks.strange import NUMBERS, WORDS

_OTHER = {
    "world": {"empty_m": [9, 7]},
    "robots": [{"name": "b", "count": 3, "controller": "nearest_frontier"}],
    "stop": {"timeout_s": 2},
    "record": {"scans_every_s": 0.5, "maps_every_s": 0.5},
}
_TABLES = ("measurements.parquet", "team.parquet", "events.parquet", "host.parquet")
_FILES = (*_TABLES, "maps.npz", "manifest.json", "metrics.json")
_LINKED = (
    *_FILES,
    *(f"{name}.part" for name in _FILES),
    "figures",
    "grounds",
    "steps",
    "lock",
    ".lock",
    "run.lock",
    "row.json",
)
_SECRET = "what nobody but its owner may write"
_HUGE_ROWS, _GROUP_ROWS = 20_000_000, 1_000_000
_FORMS = ("html", "map", "log", "mcap", "ros2", "rrd")


def case(number: int) -> str:
    """Return which exit code came of a command over a folder that was changed, or how the page shows it."""
    random, folder = Random(number), Path(f"case{number}")
    shutil.copytree("template", folder, symlinks=True)
    try:
        with chdir(folder):
            Path("secret").mkdir()
            Path("secret/mine.txt").write_text(_SECRET)
            changes = [_changed(random) for _ in range(random.choice((1, 1, 2)))]
            try:
                word = _shown(random) if random.random() < 0.25 else f"exit {run(_typed(random), changes)}"
                kept = {path.name: path.read_text() for path in Path("secret").iterdir()}
                assert kept == {"mine.txt": _SECRET}, f"files of others are {kept}"
            except BaseException as error:
                error.add_note(f"after {changes}")
                raise
            return word
    finally:
        shutil.rmtree(folder)


def warm() -> None:
    """Make two runs of different worlds, and tables and arrays that are huge when they are unpacked."""
    from covey import cli
    from covey.cli.exit_codes import NOT_REACHED, REACHED

    Path("template").mkdir()
    with chdir("template"), redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        Path("s.yaml").write_text(yaml.safe_dump(SCENARIO | {"record": {"scans_every_s": 0.5}}))
        Path("other.yaml").write_text(yaml.safe_dump(_OTHER))
        for typed in ("run s.yaml --out run --no-pictures", "run other.yaml --out other --no-pictures"):
            assert cli.main(typed.split()) in (REACHED, NOT_REACHED), typed
    Path("huge").mkdir()
    with zipfile.ZipFile("huge/maps.npz", "w", zipfile.ZIP_DEFLATED) as packed:
        header = str({"descr": "<f8", "fortran_order": False, "shape": (50_000, 50_000)}).ljust(117).encode() + b"\n"
        packed.writestr("truth.npy", b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(10**6))


def _huge_table(source: Path, target: Path) -> None:
    """Write a small file with the first row of a table, many times."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pq.read_table(source).slice(0, 1)
    if not len(table):
        table = pa.table({name: pa.nulls(1, table.schema.field(name).type) for name in table.column_names})
    columns = [name for name in table.column_names if not pa.types.is_nested(table.schema.field(name).type)][:12]
    group = table.select(columns).take(pa.array(np.zeros(_GROUP_ROWS, np.int64)))
    with pq.ParquetWriter(target, group.schema, compression="zstd") as writer:
        for _ in range(_HUGE_ROWS // _GROUP_ROWS):
            writer.write_table(group, row_group_size=len(group))


def _typed(random: Random) -> list[str]:
    """Return a command that reads the folder ``run``, or writes into it."""
    forms = ["--format", random.choice(_FORMS)]
    pictures = [] if random.random() < 0.4 else ["overview", "explored_share"]
    return random.choice(
        (
            ["run", "s.yaml", "--out", "run", "--force", "-q", "--no-pictures"],
            ["run", "s.yaml", "--out", "run", "--no-pictures"],
            ["run", "run", "--out", "new", "-q", "--no-pictures"],
            ["export", "run", *forms],
            ["export", "run", *forms, "--robot", "a0"] if forms[1] == "log" else ["export", "run"],
            ["plot", "run", *pictures],
            ["plot", "run", *pictures, "--format", "svg"],
            ["compare", "run", "other"],
            ["results", "run"],
            ["report", "run"],
            ["replay-robot", "run", "a0"],
            ["check", "run"],
        )
    )


def _shown(random: Random) -> str:
    """Let a viewer watch all of a recorded run."""
    from covey.errors import CoveyError
    from covey.results.run import Run
    from covey.viewer.details import DETAILS
    from covey.viewer.hub import PageClient
    from covey.viewer.messages import Watch
    from covey.viewer.recorded import Recorded

    try:
        one = Run(Path("run"), incomplete=True)
        shown = Recorded(one, Run(Path("other")) if random.random() < 0.3 else None)
        viewer = PageClient(edits=False)
        shown.hub.join(viewer)
        layers = ("truth", "first_explored", "last_explored", "first_covered", "last_covered", "other_explored")
        shown.handle(viewer, Watch(type="watch", layers=layers, details=tuple(DETAILS)))
    except CoveyError as error:
        said(error)
        return "refused by the page"
    except OSError as error:
        if not error.filename:
            raise
        return "refused by the page"
    assert viewer.texts, "the viewer gets nothing"
    return "shown"


def _changed(random: Random) -> str:
    """Change something in the folder ``run``; return what was done."""
    how = random.choice((_linked, _linked, _swapped, _foreign, _foreign, _rows, _rows, _columns, _arrays, _huge, _json))
    return f"{how.__name__.strip('_')} {how(random)}"


def _linked(random: Random) -> str:
    """Put a link in the place of a file: to a file of somebody, to nothing, to a device, or to itself."""
    path = Path("run", random.choice(_LINKED))
    to = random.choice(
        ("../secret/mine.txt", "../secret/mine.txt", "../secret/new", "../secret", "/dev/zero", path.name)
    )
    if path.exists() and not path.is_symlink():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    path.unlink(missing_ok=True)
    path.symlink_to(to)
    return f"{path.name} -> {to}"


def _swapped(random: Random) -> str:
    one, other = (Path("run", name) for name in random.sample(_TABLES, 2))
    contents = [path.read_bytes() if path.is_file() else b"" for path in (one, other)]
    for path, content in zip((one, other), reversed(contents), strict=True):
        _write(path, content)
    return f"{one.name} {other.name}"


def _foreign(random: Random) -> str:
    """Take files of another run."""
    names = random.sample(_FILES, random.choice((1, 1, 2, 5)))
    for name in names:
        _write(Path("run", name), Path("other", name).read_bytes())
    return " ".join(names)


def _rows(random: Random) -> str:
    """Drop, repeat or mix rows of a table."""
    import pyarrow as pa

    name = random.choice(_TABLES)
    table = _table(name)
    rows = list(range(len(table)))
    how = random.randrange(5)
    if how == 0:
        rows = []
    elif how == 1:
        rows = rows[: random.randrange(len(rows) + 1)]
    elif how == 2:
        random.shuffle(rows)
    elif how == 3:
        rows = [row for row in rows for _ in range(3)]
    elif rows:
        rows = random.choices(rows, k=len(rows))
    _save(name, table.take(pa.array(rows, pa.int64())))
    return f"{name} way {how}"


def _columns(random: Random) -> str:
    """Lose, rename or retype a column, or put strange values into it."""
    import pyarrow as pa

    name = random.choice(_TABLES)
    table = _table(name)
    at = random.randrange(table.num_columns)
    column, how = table.column_names[at], random.randrange(5)
    if how == 0:
        table = table.remove_column(at)
    elif how == 1:
        table = table.rename_columns([*table.column_names[:at], "other", *table.column_names[at + 1 :]])
    elif how == 2:
        strange: Any = random.choice(
            (random.choice(WORDS).encode(errors="ignore").decode(), b"\xff", [1.0], True, None)
        )
        table = table.set_column(at, column, pa.array([strange] * len(table)))
    else:
        values = table.column(at).to_pylist()
        kind = table.schema.field(at).type
        for row in random.choices(range(len(values)), k=min(3, len(values))):
            values[row] = random.choice(NUMBERS if not pa.types.is_string(kind) else WORDS)
        try:
            table = table.set_column(at, column, pa.array(values, kind))
        except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError, UnicodeError):
            table = table.set_column(at, column, pa.array([float("nan")] * len(table)))
    _save(name, table)
    return f"{name} {column} way {how}"


def _arrays(random: Random) -> str:
    """Change one of the arrays of the maps."""
    path = Path("run/maps.npz")
    try:
        with np.load(path) as file:
            arrays = {name: file[name] for name in file.files}
    except (OSError, ValueError, zipfile.BadZipFile, EOFError):
        return "nothing"
    name = random.choice(sorted(arrays))
    one, how = arrays[name], random.randrange(6)
    if how == 0:
        del arrays[name]
    elif how == 1:
        arrays[name] = random.choice((one[None], one.ravel(), one.ravel()[:1], one.ravel()[:0], one.T))
    elif how == 2:
        arrays[name] = (
            one.astype(random.choice(("i4", "?", "f2", "U7", "c8"))) if one.dtype.kind in "iuf" else one[..., :1]
        )
    elif how == 3:
        other = random.choice(sorted(arrays))
        arrays[name], arrays[other] = arrays[other], one
    elif one.size and one.dtype.kind == "f":
        one.flat[random.randrange(one.size)] = random.choice(NUMBERS)
    else:
        arrays[name] = np.tile(one, 2) if one.ndim else one[None]
    path.unlink()
    np.savez_compressed(path, **arrays)
    return f"{name} way {how}"


def _huge(random: Random) -> str:
    name = random.choice((*_TABLES, "maps.npz"))
    Path("run", name).unlink(missing_ok=True)
    if not Path("../huge", name).exists():
        _huge_table(Path("../template/run", name), Path("../huge", name))
    os.link(Path("../huge", name), Path("run", name))
    return name


def _json(random: Random) -> str:
    path = Path("run", random.choice(("manifest.json", "metrics.json")))
    if not path.is_file():
        return "nothing"
    try:
        content = json.loads(path.read_text())
    except ValueError:
        return "nothing"
    changed_data(content, random)
    _write(path, json.dumps(content).encode("utf-8", "surrogatepass"))
    return path.name


def _table(name: str) -> Any:
    """Return a table of the folder; that of the other run where it is lost."""
    import pyarrow.parquet as pq

    try:
        path = Path("run", name)
        if path.is_file() and path.stat().st_nlink == 1:
            return pq.read_table(path)
    except Exception:  # it was changed before
        pass
    return pq.read_table(Path("other", name))


def _save(name: str, table: Any) -> None:
    import pyarrow.parquet as pq

    Path("run", name).unlink(missing_ok=True)
    pq.write_table(table, Path("run", name))


def _write(path: Path, content: bytes) -> None:
    path.unlink(missing_ok=True)
    path.write_bytes(content)


if __name__ == "__main__":
    sys.exit(main("attacks.run_folders", 300))
