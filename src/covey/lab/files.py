"""What `covey.play` returns as files, and back: NumPy, Matlab, CSV, and whole run folders."""

import json
import logging
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from covey.errors import InvalidValueError
from covey.geometry.constant import constant
from covey.geometry.grid import Grid
from covey.lab.kept import columns_of, values_of
from covey.lazy import pl
from covey.results.archive import npz_bytes
from covey.results.checked import read_arrays, reading
from covey.results.details import RecordedReadings, arrays_of_draws, draws_of
from covey.results.folder import unwritable, write_whole
from covey.results.marks import arrays_of as arrays_of_marks
from covey.results.marks import marks_of
from covey.results.run import Run

if TYPE_CHECKING:
    from covey.lab.out import Out

LOG = logging.getLogger("covey")
T = TypeVar("T")
_ENDINGS = {
    "save": (".npz", ".mat", ".csv", ""),
    "plot": (".png", ".svg", ".pdf"),
    "film": (".gif", ".mp4"),
}
_EVENTS = ("step", "time_s", "kind", "robot", "other", "x_m", "y_m", "text", "data")
_MOST_COLUMNS = 1000
_VECTOR = 3  # numbers of a reading that a table has columns for
_PLAIN = ("time", "poses", "commands", "twists", "workspace", "radius")


def save(out: "Out", path: Path) -> Path:
    """Write a run to a file or a folder, see `Out.save`."""
    check_ending("save", path)
    kind = path.suffix.lower()
    if not kind and out.run is None:
        raise InvalidValueError(f"save({str(path)!r}): only what play returned has a whole run; give a file")
    ways: dict[str, Callable[[], Any]] = {
        ".npz": lambda: write_whole(path, npz_bytes(arrays_of(out))),
        ".mat": lambda: _write_mat(path, arrays_of(out)),
        ".csv": lambda: write_whole(path, _table(out).write_csv().encode()),
        "": lambda: out.recorded.save(path),
    }
    written(path, ways[kind])
    return path


def check_ending(method: str, path: Path | str) -> None:
    """Check that a method of `Out` can write a file with this ending.

    Raises:
        InvalidValueError: it cannot.
    """
    if Path(path).suffix.lower() not in _ENDINGS[method]:
        *most, last = filter(None, _ENDINGS[method])
        or_a_folder = ", or a folder" if "" in _ENDINGS[method] else ""
        raise InvalidValueError(f"{method}({str(path)!r}): give a {', '.join(most)} or {last} file{or_a_folder}")


def written(path: Path | str, write: Callable[[], T]) -> T:
    """Return what a function returns that writes a file.

    Raises:
        RunFolderError: the file cannot be written.
    """
    try:
        return write()
    except OSError as error:
        raise unwritable(repr(str(path)), error) from error


def load(path: Path, kind_of_out: type["Out"]) -> "Out":
    """Open what `save` has written, see `Out.load`."""
    kind = path.suffix.lower()
    if path.is_dir():
        return kind_of_out(Run(path))
    if not path.is_file() or kind not in (".npz", ".mat", ".csv"):
        why = "there is no such file or folder" if not path.exists() else "give a .npz, .mat or .csv file, or a folder"
        raise InvalidValueError(f"load({str(path)!r}): {why}")
    try:
        arrays = {".npz": read_arrays, ".mat": _read_mat, ".csv": _read_csv}[kind](path)
        return _out_of(arrays, kind_of_out)
    except InvalidValueError:
        raise
    except Exception as error:  # whatever a damaged file makes its reader raise
        raise InvalidValueError(f"load({str(path)!r}): it holds no run of covey.play ({error})") from error


def arrays_of(out: "Out") -> dict[str, np.ndarray]:
    """Return everything of a run as arrays by name."""
    arrays: dict[str, Any] = {name: getattr(out, name) for name in _PLAIN}
    arrays |= {"names": np.array(out.names), "status": np.array([out.status or ""])}
    arrays["discs"] = np.array([(i, *disc) for i, discs in enumerate(out.discs) for disc in discs.tolist()])
    arrays |= {f"events_{name}": _array(out.events[name].to_list()) for name in _EVENTS}
    if out.cells is not None:
        grid = out.cells
        arrays |= {"cells": grid.cells, "cells_frame": np.array([*grid.origin, grid.resolution])}
    for sensor, found in out.readings.items():
        own = {"steps": found.steps, "times": found.times, "robots": np.array(found.robots), **found.arrays}
        own |= arrays_of_draws(found.draws)
        arrays |= {f"readings_{sensor}_{name}": values for name, values in own.items()}
    if out.marks:
        arrays |= {f"marks_{name}": values for name, values in arrays_of_marks(out.marks).items()}
    return arrays | arrays_of_data(out.data)


def arrays_of_data(data: dict[str, Any]) -> dict[str, np.ndarray]:
    """Return what add-ons gave as arrays, which `data_of` reads: ``data_NAME``, or ``data_NAME.FIELD`` of records.

    What files do not hold is left out, and said.
    """
    arrays, layout = dict[str, np.ndarray](), dict[str, Any]()
    for name, values in data.items():
        own = dict[str, np.ndarray]()
        try:
            layout[name] = columns_of(f"data_{name}", values, own)
        except InvalidValueError as error:
            LOG.warning(
                "the data of add-on %r are not saved: %s; return numbers, arrays, or records of them", name, error
            )
        else:
            arrays |= own
    return arrays | {"data_layout": np.array([json.dumps(layout)])} if layout else {}


def data_of(arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    """Return what add-ons gave, from the arrays of `arrays_of_data`.

    Raises:
        ValueError, LookupError, TypeError: they are damaged.
    """
    layout = json.loads(str(arrays["data_layout"][0])) if "data_layout" in arrays else {}
    return {str(name): values_of(kept, arrays) for name, kept in layout.items()}


def write_addons(out: "Out", folder: Path) -> None:
    """Write what add-ons drew and gave to the folder of the run: ``marks.npz`` and ``addons.npz``, if there are any."""
    if any(out.marks):
        write_whole(folder / "marks.npz", npz_bytes(arrays_of_marks(out.marks)))
    if arrays := arrays_of_data(out.data):
        write_whole(folder / "addons.npz", npz_bytes(arrays))


def read_addons(folder: Path) -> dict[str, Any]:
    """Return what add-ons gave, from the folder of a run.

    Raises:
        RunFolderError: the file is damaged.
    """
    with reading(path := folder / "addons.npz"):
        return data_of(read_arrays(path)) if path.is_file() else {}


def _out_of(arrays: dict[str, np.ndarray], kind_of_out: type["Out"]) -> "Out":
    """Return a run whose arrays are those of a file."""
    out = kind_of_out(None, names=tuple(map(str, arrays["names"])))
    own = vars(out)
    _check_shapes(arrays, len(out.names))
    own |= {name: constant(np.asarray(arrays[name], float)) for name in _PLAIN if name in arrays}
    if "discs" in arrays:
        discs = np.asarray(arrays["discs"], float).reshape(-1, 4)
        own["discs"] = tuple(constant(discs[discs[:, 0] == i, 1:]) for i in range(len(out.names)))
        if not all(map(len, own["discs"])) or not np.isfinite(discs).all():
            raise ValueError("discs lack a robot, or are not finite")
    own["status"] = str(arrays["status"][0]) or None if "status" in arrays else None
    events = {name: arrays[f"events_{name}"] for name in _EVENTS if f"events_{name}" in arrays}
    if events:  # files of earlier versions have no data
        events.setdefault("data", np.full(len(events["step"]), ""))
    own["events"] = pl.DataFrame({name: values.tolist() for name, values in events.items()}, schema=_schema())
    own["cells"] = None
    if "cells" in arrays:
        x, y, yaw, cell = map(float, arrays["cells_frame"])
        own["cells"] = Grid(np.ascontiguousarray(arrays["cells"], np.uint8), cell, (x, y, yaw))
    own["data"] = data_of(arrays)
    marks = {name.removeprefix("marks_"): values for name, values in arrays.items() if name.startswith("marks_")}
    own["marks"] = marks_of(marks) if marks else []
    own["readings"] = {}
    for key in arrays:
        if key.startswith("readings_") and key.endswith("_robots"):
            head = key.removesuffix("robots")
            mine = {name.removeprefix(head): values.copy() for name, values in arrays.items() if name.startswith(head)}
            robots, steps, times = tuple(map(str, mine.pop("robots"))), mine.pop("steps"), mine.pop("times")
            how = {name: mine.pop(name) for name in ("draws", "sectors") if name in mine}
            draws = draws_of(how, mine, len(steps), len(robots))
            own["readings"][head[9:-1]] = RecordedReadings(robots, steps, times, mine, draws)
    return out


def _check_shapes(arrays: dict[str, np.ndarray], n: int) -> None:
    """Check that the arrays of a file belong together."""
    t = len(arrays["time"])
    wanted: dict[str, tuple[int, ...]] = {
        "time": (t,), "poses": (t, n, 3), "commands": (t - 1, n, 3), "twists": (t - 1, n, 3), "radius": (n,)
    }  # fmt: skip
    wanted["workspace"] = (len(arrays["workspace"]), 2)
    for name, shape in wanted.items():
        if name in arrays or name in ("poses", "commands"):
            if arrays[name].shape != shape or not t:
                raise ValueError(f"{name} has the shape {arrays[name].shape} where {shape} belongs")
            if name != "commands" and not np.isfinite(arrays[name]).all():
                raise ValueError(f"{name} has a number that is not finite")


def _schema() -> Any:
    kinds = {"step": pl.Int64, **dict.fromkeys(("kind", "robot", "other", "text", "data"), pl.String)}
    return {name: kinds.get(name, pl.Float64) for name in _EVENTS}


def _array(values: list[Any]) -> np.ndarray:
    return np.array([np.nan if value is None else value for value in values]) if values else np.zeros(0)


def _write_mat(path: Path, arrays: dict[str, np.ndarray]) -> None:
    """Write a Matlab file; texts become cells, and ``layout`` says what Matlab does not keep: shapes and kinds."""
    from scipy import io

    shown = {name: v.astype(object) if v.dtype.kind == "U" else v for name, v in arrays.items()}
    names = dict[str, str]()
    for name in shown:
        short, k = _matlab(name), 1
        while short in {*names.values(), "layout"}:
            short, k = f"{_matlab(name)[:58]}_{k}", k + 1
        names[name] = short
    layout = {name: [list(values.shape), values.dtype.kind, names[name]] for name, values in arrays.items()}
    with path.open("wb") as file:
        io.savemat(
            file, {names[name]: v for name, v in shown.items()} | {"layout": json.dumps(layout)}, oned_as="column"
        )


def _read_mat(path: Path) -> dict[str, np.ndarray]:
    from scipy import io

    found = io.loadmat(str(path))
    arrays: dict[str, np.ndarray] = {}
    for name, (shape, kind, *short) in json.loads(str(found["layout"][0])).items():
        values = found[short[0] if short else _matlab(name)]
        if kind == "U":
            values = np.array(["".join(map(str, np.ravel(text))) for text in values.ravel()], str)
        arrays[name] = values.reshape(shape).astype({"b": bool}.get(kind, values.dtype))
    return arrays


def _matlab(name: str) -> str:
    """Return a name that Matlab allows."""
    return "".join(c if c.isascii() and c.isalnum() else "_" for c in name)[:63]


_OF_ROBOT, _NAMES = "[robot]", "[robots]"
"""Ends of names of columns: what belongs to the robot of the row; the indices of the robots that it is true for."""


def _table(out: "Out") -> Any:
    """Return `Out.frame` with what sensors measured and add-ons gave, as far as it is a few numbers.

    ``reading_SENSOR`` or ``reading_SENSOR_ARRAY`` is the newest reading of the robot. ``data_NAME[0][1]`` of an add-on
    is the same in all rows of a time; ``data_NAME[robot][0]`` is the row of the robot in an array (n, …), and
    ``data_NAME[robots]`` the robots for which that row of a truth array (n, n) is true, such as ``1 4``.
    """
    frame, left, n = out.frame, list[str](), len(out.names)
    for name, found in out.readings.items():
        columns = {key: values for key, values in found.arrays.items() if _is_column(values, found)}
        for key, values in columns.items():
            label = f"reading_{name}" if [*columns] == ["values"] else f"reading_{name}_{key}"
            for at in np.ndindex(values.shape[2:]):
                newest = _newest(found, values[(slice(None), slice(None), *at)], out)
                frame = frame.with_columns(pl.Series(f"{label}{_at(at)}", newest, nan_to_null=True))
        if more := [key for key in found.arrays if key not in columns]:
            left.append(f"the {', '.join(more)} of {name}")
    for name, values in out.data.items():
        if not isinstance(values, np.ndarray) or values.dtype.kind not in "biuf" or values[0].size > _MOST_COLUMNS:
            left.append(f"the data of {name}")
        elif values.shape[1:] == (n, n) and values.dtype == bool:
            rows = [" ".join(map(str, np.flatnonzero(row))) for row in values.reshape(-1, n)]
            frame = frame.with_columns(pl.Series(f"data_{name}{_NAMES}", rows))
        elif values.ndim > 2 and values.shape[1] == n:
            own = values.reshape(-1, *values.shape[2:])
            for at in np.ndindex(own.shape[1:]):
                frame = frame.with_columns(pl.Series(f"data_{name}{_OF_ROBOT}{_at(at)}", own[(slice(None), *at)]))
        else:
            for at in np.ndindex(values.shape[1:]):
                column = np.repeat(values[(slice(None), *at)], n)
                frame = frame.with_columns(pl.Series(f"data_{name}{_at(at)}", column))
    if left:
        LOG.warning("a .csv file has no columns for %s; save an .npz or .mat file", ", ".join(left))
    return frame


def _at(index: tuple[int, ...]) -> str:
    return "".join(f"[{k}]" for k in index)


def _is_column(values: np.ndarray, found: RecordedReadings) -> bool:
    """Return whether an array of a sensor is a number, or up to three, for each sample and robot."""
    return values.dtype.kind in "biuf" and (
        values.shape[:2] == (len(found.times), len(found.robots)) and values.ndim < 4 and values[:1, :1].size <= _VECTOR
    )


def _newest(found: RecordedReadings, values: np.ndarray, out: "Out") -> np.ndarray:
    """Return the newest readings (k, m) of all robots at all times, float64 (t * n,); NaN where there is none."""
    newest = np.searchsorted(found.times, out.time + 1e-9, side="right") - 1
    rows = np.full((len(out.time), len(out.names)), np.nan)
    carriers = np.array([out.names.index(name) for name in found.robots], int)
    rows[np.ix_(newest >= 0, carriers)] = values[newest[newest >= 0]]
    return rows.ravel()


def _data_of_table(frame: Any, n: int) -> dict[str, np.ndarray]:
    """Return the arrays of add-ons by name, from the columns of `_table`."""
    found = dict[tuple[str, str], dict[tuple[int, ...], Any]]()
    for column in frame.columns:
        if match := re.fullmatch(r"data_(\w+?)(\[robots?\])?((?:\[\d{1,9}\])*)", column):
            at = tuple(map(int, re.findall(r"\d+", match[3])))
            found.setdefault((match[1], match[2] or ""), {})[at] = frame[column]
    arrays = dict[str, np.ndarray]()
    for (name, kind), parts in found.items():
        if kind == _NAMES:
            arrays[name] = _truths(parts[()], n)
            continue
        shape = tuple(1 + np.max([*parts], axis=0).astype(int)) if any(parts) else ()
        if len(parts) != np.prod(shape, dtype=int) or len({len(at) for at in parts}) > 1:
            raise ValueError(f"columns of data_{name} are missing")
        own = np.stack([parts[at].to_numpy() for at in np.ndindex(shape)], axis=-1).reshape(-1, *shape)
        arrays[name] = own.reshape(-1, n, *shape) if kind == _OF_ROBOT else own[::n]
    return arrays


def _truths(column: Any, n: int) -> np.ndarray:
    """Return a truth array of all times, bool (t, n, n), from texts of indices."""
    rows = np.zeros((len(column), n), bool)
    for k, text in enumerate(column.cast(pl.String).to_list()):
        rows[k, [int(word) for word in (text or "").split()]] = True
    return rows.reshape(-1, n, n)


def _read_csv(path: Path) -> dict[str, np.ndarray]:
    frame = pl.read_csv(path)
    names = frame["robot"].unique(maintain_order=True).to_list()
    n = len(names)
    columns = {
        name: frame[name].cast(pl.Float64).fill_null(np.nan).to_numpy().reshape(-1, n)
        for name in frame.columns[2:]
        if not name.startswith(("data_", "reading_"))
    }
    values = np.stack(list(columns.values()), axis=-1)
    return {
        "names": np.array(names),
        "time": frame["time_s"].to_numpy()[::n].copy(),
        "poses": values[..., :3].copy(),
        "commands": values[:-1, :, 3:].copy(),
        "workspace": np.zeros((0, 2)),
        **arrays_of_data(_data_of_table(frame, n)),
    }
