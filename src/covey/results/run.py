"""`Run`: a finished run, opened from its folder."""

import html
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import weakref
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from cachetools import LRUCache, cachedmethod

from covey.errors import InvalidValueError, RunFolderError, UnknownNameError
from covey.geometry.constant import constant
from covey.lazy import pa, pl, pq
from covey.notebook import in_notebook
from covey.results.checked import Shape, check_table, read_json, reading
from covey.results.checkpoint import recover
from covey.results.details import MapChanges, Plans, RecordedReadings, Scans
from covey.results.event_data import EVENT_KINDS
from covey.results.folder import ESTIMATES, FIGURES, POSES, read_manifest, run_folder, within
from covey.results.landscape import Landscape
from covey.results.lock import writer_of
from covey.results.maps import Maps
from covey.results.marks import Mark
from covey.results.marks import load as marks_of_file
from covey.results.sensor_marks import SensorMarks

if TYPE_CHECKING:
    from covey.results.figures.style import Picture


_KEPT = 2_000_000
"""Values of columns that a run keeps for the next one who asks."""
_FEW = 100_000
"""Values of a table that is read at once: opening it takes as long as reading so many."""
_LOCK = Lock()  # of what all runs keep of their columns


class Scratch:
    """A temporary folder that lives as long as this object."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="covey-run-"))
        weakref.finalize(self, _remove, self.path, os.getpid())


def _remove(folder: Path, process: int) -> None:
    """Remove a temporary folder; a forked child leaves it to its parent."""
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)


class Metrics(dict[str, Any]):
    """Metrics by name; for an unknown name it raises `UnknownNameError` with the nearest one."""

    def __missing__(self, name: str) -> Any:
        raise UnknownNameError("metric", name, self)


class Run:
    """One run: its tables, poses, maps and metrics, each read at first access.

    Args:
        folder: the run folder; ``runs/maze/latest`` is the newest run in ``runs/maze``.
        incomplete: also open a run that was killed or has not ended; data that it has not written are missing. Of a
            killed one all tables are whole up to 30 s of wall time before its end; its maps are missing.
        scratch: keeps a temporary run folder alive.

    Raises:
        RunFolderError: the folder is missing, holds no run, or holds an incomplete one.

    Attributes:
        folder: the run folder.
        manifest: scenario, seed, versions, goal, status; see ``docs/files.md``.
        names: robots in the order of the arrays.
    """

    def __init__(self, folder: Path | str, *, incomplete: bool = False, scratch: Scratch | None = None):
        self.folder = run_folder(Path(folder))
        self.manifest: dict[str, Any] = read_manifest(self.folder)
        self.names: tuple[str, ...] = tuple(self.manifest["robots"])
        self._scratch, self._checked = scratch, set[str]()
        self._columns: LRUCache[Any, np.ndarray] = LRUCache(_KEPT, len)
        self._tables: dict[str, pa.Table | None] = {}
        if self.manifest["status"] != "finished" and not incomplete:
            raise RunFolderError(f"{self._incomplete()}; covey.Run(…, incomplete=True) opens what it has written")
        if self.manifest["status"] == "running":
            recover(self.folder)

    @property
    def status(self) -> str | None:
        """How the run ended: ``reached``, ``timeout``, ``exhausted``, ``stopped`` or ``failed``."""
        return self.manifest["goal_status"]

    @property
    def goal(self) -> dict[str, Any]:
        """The goal of the run: ``explored_share``, ``covered_share``, ``of``, ``timeout_s``."""
        return self.manifest["goal"]

    @property
    def mission(self) -> dict[str, Any]:
        """The mission of the run: ``kind``, and for a patrol ``waypoints_m`` and ``edges``."""
        return self.manifest.get("mission", {"kind": "exploration"})

    @cached_property
    def measurements(self) -> "pl.DataFrame":
        """One row per (step, robot); poses are null at steps without recorded poses."""
        return self._table("measurements")

    @cached_property
    def team(self) -> "pl.DataFrame":
        """One row per step: data of the team as a whole."""
        return self._table("team")

    @cached_property
    def events(self) -> "pl.DataFrame":
        """One row per event: contacts, notes, failures, ordered by time."""
        table = self._table("events")
        with reading(self.folder / "events.parquet"):
            for name in table.filter(table["kind"] != "refused")["robot"].unique().to_list():
                if name and name not in self.names:
                    raise ValueError(f"it has an event of {name!r}, which is no robot of this run")
        return table

    def events_of(self, *kinds: str) -> list[dict[str, Any]]:
        """Return the events of some kinds, or all: a dict for each row of `events`, in which ``data`` is decoded.

        ``data`` is what the event says as plain data, see `covey.results.event_data`; ``{}`` for kinds without.

        Raises:
            UnknownNameError: there is no such kind of event.

        Examples:
            >>> [
            ...     event["data"]["answer"] for event in run.events_of("mission") if "reported" in event["data"]
            ... ]  # doctest: +SKIP
            ['accepted', 'too far']
        """
        for kind in set(kinds).difference(EVENT_KINDS):
            raise UnknownNameError("kind of event", kind, EVENT_KINDS)
        events = self.events.filter(self.events["kind"].is_in(kinds)) if kinds else self.events
        with reading(self.folder / "events.parquet"):
            rows = [row | {"data": json.loads(row["data"] or "{}")} for row in events.iter_rows(named=True)]
            if not all(isinstance(row["data"], dict) for row in rows):
                raise ValueError("the data of an event are no names with values")
        return rows

    @property
    def tags_left(self) -> "pl.DataFrame":
        """The events in which robots left tags: time, robot, place [m] and content."""
        return self.events.filter(self.events["kind"] == "tag_left")

    @cached_property
    def radio(self) -> "pl.DataFrame | None":
        """Links, connected groups and age of information, one row per sample; None if nothing was sent."""
        return self._table("radio") if self.has("radio") else None

    @cached_property
    def links(self) -> "pl.DataFrame | None":
        """Links between two robots that came up or went down, one row each; None if nothing was sent."""
        return self._table("links") if self.has("links") else None

    @cached_property
    def traffic(self) -> "pl.DataFrame | None":
        """Each robot's sent, received and lost messages by kind, where they changed; None if nothing was sent."""
        return self._table("traffic") if self.has("traffic") else None

    @cached_property
    def traffic_totals(self) -> dict[tuple[str, str], dict[str, float]]:
        """Final counts of sent, received and lost messages, by (robot, kind); empty if nothing was sent."""
        return self.traffic_until()

    def traffic_until(
        self, step: int | None = None, names: Sequence[str] | None = None
    ) -> dict[tuple[str, str], dict[str, float]]:
        """Return the counts of the last sample until a step (None: the end) by (robot, kind).

        Args:
            step: the step.
            names: the counters; None: all.
        """
        if not self.has("traffic"):
            return {}
        with reading(path := self._file("traffic.parquet")):
            table = pq.read_table(path, columns=None if names is None else ["step", "robot", "kind", *names])
            if step is not None:
                table = table.slice(0, int(np.searchsorted(table["step"].to_numpy(), step, "right")))
            keys = zip(table["robot"].to_pylist(), table["kind"].to_pylist(), strict=True)
            last = {key: row for row, key in enumerate(keys)}
            names = [name for name in table.schema.names if name not in ("step", "time_s", "robot", "kind")]
            columns = {name: table[name].to_numpy() for name in names}
        return {key: {name: columns[name][last[key]].item() for name in names} for key in sorted(last)}

    @cached_property
    def messages(self) -> "pl.DataFrame | None":
        """Single packets, if the scenario asked for them (``execution.log_messages``)."""
        return self._table("messages") if self.has("messages") else None

    @cached_property
    def computers(self) -> "pl.DataFrame | None":
        """Activity of the robots' computers, one row per robot and 5 s of simulated time; None if no robot has one."""
        return self._table("computers") if self.has("computers") else None

    @cached_property
    def reports(self) -> "pl.DataFrame | None":
        """The robots' reports and the referee's answers, one row each; None if there are none."""
        return self._table("reports") if self.has("reports") else None

    @cached_property
    def localization(self) -> "pl.DataFrame | None":
        """Covariances and revisions of the estimates, one row per robot and second; None if all knew their poses."""
        return self._table("localization") if self.has("localization") else None

    @cached_property
    def process_host(self) -> "pl.DataFrame":
        """Resources used by each controller's process, one row per 5 s of wall time; only with processes."""
        return self._table("process_host")

    @cached_property
    def process_traffic(self) -> "pl.DataFrame":
        """Traffic of each controller's process, by class; only with processes."""
        return self._table("process_traffic")

    def count(self, kind: str) -> int:
        """Return the number of events of a kind, without loading Polars."""
        with reading(path := self._file("events.parquet")), pq.ParquetFile(path) as file:
            return file.read(columns=["kind"], use_threads=False)["kind"].to_pylist().count(kind)

    def has(self, table: str) -> bool:
        """Return whether the run has a table of this name."""
        return (self.folder / f"{table}.parquet").is_file()

    @cached_property
    def host(self) -> "pl.DataFrame":
        """Processor and memory use of this process, one row per 5 s of wall time."""
        return self._table("host")

    @cached_property
    def steps(self) -> np.ndarray:
        """Recorded control steps, int64 (steps,); read-only."""
        return _fixed(self._growing("step").astype(np.int64))

    @cached_property
    def times(self) -> np.ndarray:
        """Simulated time [s] of each recorded step, shape (steps,); read-only."""
        return _fixed(self._growing("time_s"))

    def _growing(self, name: str) -> np.ndarray:
        """Return a column of the team that grows from row to row."""
        values = self.column("team", name)
        with reading(self.folder / "team.parquet"):
            if not (np.isfinite(values).all() and (np.diff(values) > 0).all()):
                raise ValueError(f"its column {name} does not grow from row to row")
        return values

    def series(self, name: str) -> np.ndarray:
        """Return one column of the measurements as float64 (steps, robots), or of the team as (steps,); NaN = null."""
        if name in self.team_columns:
            return self.column("team", name)
        with reading(self.folder / "measurements.parquet"):  # a measurement file of another run would have other rows
            return self.column("measurements", name).reshape(len(self.times), len(self.names))

    def blocks(self, *names: str) -> Iterator[tuple[np.ndarray, ...]]:
        """Yield columns of the measurements a few steps at a time, as float64 (k, robots) each; NaN = null.

        A long run has more of them than fit into the memory; this takes that of one row group.
        """
        n, whole = len(self.names), self._whole("measurements")
        if whole is not None and 0 < whole.num_rows == len(self.times) * n and whole.column(0).num_chunks == 1:
            yield tuple(self._read_column("measurements", name).copy().reshape(-1, n) for name in names)
            return
        with reading(path := self._file("measurements.parquet")), pq.ParquetFile(path) as file:
            _known("measurements", names, file.schema_arrow.names)
            if file.metadata.num_rows != len(self.times) * n:  # a measurement file of another run
                raise ValueError(f"{file.metadata.num_rows} rows, not {n} for each of {len(self.times)} steps")
            rest = [np.empty(0)] * len(names)
            for k in range(file.num_row_groups):
                group = file.read_row_group(k, columns=list(names), use_threads=False)
                read = [np.append(left, _floats(group[name])) for left, name in zip(rest, names, strict=True)]
                whole = len(read[0]) // n * n
                rest = [values[whole:] for values in read]
                if whole:
                    yield tuple(values[:whole].reshape(-1, n) for values in read)

    def last(self, name: str) -> np.ndarray:
        """Return the values of a column of the measurements in the last step, float64 (robots,); read-only."""
        return self.at(name, -1)

    @cachedmethod(lambda run: run._columns, key=lambda run, name, row: ("at", name, row), lock=lambda _: _LOCK)
    def at(self, name: str, row: int) -> np.ndarray:
        """Return the values of a column of the measurements in a recorded step, float64 (robots,); read-only.

        Args:
            name: the column.
            row: number of the step among `steps`; -1: the last.
        """
        n, found = len(self.names), np.empty(0)
        if self._whole("measurements") is not None:
            values = self._read_column("measurements", name)
            begin = len(values) - n if row == -1 else row * n
            return _fixed(values[begin : begin + n].copy())
        with reading(path := self._file("measurements.parquet")), pq.ParquetFile(path) as file:
            _known("measurements", [name], file.schema_arrow.names)
            begin = file.metadata.num_rows - n if row == -1 else row * n
            for k in range(file.num_row_groups):
                rows = file.metadata.row_group(k).num_rows
                if begin < rows and len(found) < n:
                    group = _floats(file.read_row_group(k, columns=[name], use_threads=False)[name])
                    found = np.append(found, group[max(0, begin) :][: n - len(found)])
                begin -= rows
        return _fixed(found)

    def pose_blocks(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield `poses` and `estimates` a few samples at a time, shape (k, robots, 3) each."""
        for columns in self.blocks(*POSES, *ESTIMATES):
            there = [column[np.isfinite(columns[0][:, 0])] for column in columns]
            yield np.stack(there[:3], axis=-1), np.stack(there[3:], axis=-1)

    def ways(self, robots: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
        """Return `poses` and `estimates` of some robots, shape (samples, len(robots), 3) each; they are not kept."""
        return self._read_poses(POSES, robots), self._read_poses(ESTIMATES, robots)

    @cached_property
    def poses(self) -> np.ndarray:
        """True x, y [m], heading [rad] in the world frame at `pose_times`, shape (samples, robots, 3); read-only."""
        return _fixed(self._read_poses(POSES))

    @cached_property
    def estimates(self) -> np.ndarray:
        """Each robot's own estimate of its pose at `pose_times`, shape (samples, robots, 3); read-only."""
        return _fixed(self._read_poses(ESTIMATES))

    @cached_property
    def pose_times(self) -> np.ndarray:
        """Simulated time [s] of each recorded pose, shape (samples,); read-only."""
        return _fixed(self.times[self.has_pose])

    @cached_property
    def maps(self) -> Maps | None:
        """Truth, explored cells and the robots' maps at the end; None if the run kept none."""
        path = self.folder / "maps.npz"
        if not path.is_file():
            return None
        with reading(path):
            return Maps.load(path, robots=len(self.names))

    @cached_property
    def plans(self) -> Plans | None:
        """The robots' paths to their goals at each step; None if no robot planned any, or they were not recorded."""
        with reading(path := self.folder / "plans.npz"):
            return Plans.load(path, self.names) if path.is_file() else None

    @cached_property
    def scans(self) -> dict[str, dict[str, Scans]] | None:
        """The scans of each robot's lidars, by robot and sensor; None if they were not recorded."""
        with reading(path := self.folder / "scans.npz"):
            return Scans.load(path, self.names) if path.is_file() else None

    @cached_property
    def readings(self) -> dict[str, RecordedReadings] | None:
        """All readings by sensor; None if they were not recorded."""
        with reading(path := self.folder / "readings.npz"):
            return RecordedReadings.load(path, self.names) if path.is_file() else None

    @cached_property
    def marks(self) -> list[tuple[Mark, ...]]:
        """What add-ons drew at the start and after each step, in the order of drawing; empty if there were none."""
        with reading(path := self.folder / "marks.npz"):
            return marks_of_file(path) if path.is_file() else []

    @cached_property
    def sensor_marks(self) -> SensorMarks:
        """What the recorded readings look like at a time, see `SensorMarks.at`."""
        return SensorMarks(self.readings or {}, self.names, self.radius)

    @cached_property
    def radius(self) -> np.ndarray:
        """Radius of the circle around the centre that holds the whole body of each robot [m], float64 (n,)."""
        return constant([(np.hypot(*discs[:, :2].T) + discs[:, 2]).max() for discs in self.discs])

    @cached_property
    def discs(self) -> tuple[np.ndarray, ...]:
        """The discs of which the body of each robot consists: x, y on the body, radius [m], float64 (k, 3) each."""
        bodies = self.manifest["bodies"]
        return tuple(constant(np.array(body["discs_m"], float)) for body in bodies for _ in body["start"])

    @cached_property
    def map_changes(self) -> MapChanges | None:
        """The robots' maps and the merged map as they grew; None if they were not recorded."""
        with reading(path := self.folder / "map_changes.npz"):
            return MapChanges.load(path, self.names, self.maps) if path.is_file() else None

    @cached_property
    def landscape(self) -> Landscape | None:
        """The ground, its changes, and the robots' beliefs about it at the end; None in a world without ground."""
        path = self.folder / "ground.npz"
        if not path.is_file():
            return None
        with reading(path):
            return Landscape.load(path)

    @cached_property
    def metrics(self) -> Metrics:
        """All metrics by name, as in ``metrics.json``; None if a goal was not reached."""
        return Metrics(read_json(self._file("metrics.json"), Shape))

    def plot(
        self, name: str = "overview", path: Path | str | None = None, *, style: Literal["ieee"] | None = None
    ) -> "Picture":
        """Return a picture of the run; the overview has the robots' paths in the world, and the progress over time.

        All are made for papers: as wide as a column or a page of IEEE, without a title, with fonts in the file and
        colours for colour-blind readers. Notebooks show the picture. In a script it is also written, its path is
        printed, and it is opened if there is a display.

        Args:
            name: of `covey.results.figures.PICTURES`, such as ``trajectories`` or ``union_map``.
            path: a file name that ends with .pdf, .svg or .png. Default: ``NAME.png``, in ``figures`` in the run
                folder, or in the current folder if the run has none; notebooks write nothing then.
            style: ``ieee`` writes vectors, ``NAME.pdf``, where no path is given; notebooks, too.

        Raises:
            UnknownNameError: there is no such picture or style.
            InvalidValueError: the run has no data for it, or the file name has another ending.
            RunFolderError: the picture cannot be written.

        Examples:
            >>> import covey
            >>> run = covey.load_scenario("hello").build().run(until_s=1)
            >>> run.plot("trajectories", getfixture("tmp_path") / "paths.pdf").get_size_inches().round(2)[0].item()
            picture: ...paths.pdf
            3.49
        """
        from covey.results.figures import PICTURES
        from covey.results.figures.style import STYLES

        if name not in PICTURES:
            raise UnknownNameError("picture", name, PICTURES)
        if style is not None and str(style) not in STYLES:
            raise UnknownNameError("style", str(style), STYLES)
        picture = PICTURES[name](self)
        if picture is None:
            raise InvalidValueError(f"picture {name!r}: this run has no data for it")
        if path is not None or style is not None or not in_notebook():
            here = Path() if self._scratch else within(self.folder, FIGURES)
            target = Path(path or here / f"{name}.{'pdf' if style else 'png'}")
            picture.save(target)
            print(f"picture: {target}")
            if path is None:
                _open(target)
        return picture

    def animate(self, path: Path | str = "animation.gif", caption: str = "") -> Path:
        """Write an animation of the run, and return its path.

        Args:
            path: a file name that ends with .gif, or with .mp4, which needs ffmpeg.
            caption: a text below the picture.

        Raises:
            InvalidValueError: the file name has another ending, or the caption is too long.
            RunFolderError: the run kept no maps or poses, or the file cannot be written.
            CoveyError: there is no ffmpeg, or it failed.
        """
        from covey.results.figures.animation import save_animation

        target = Path(path)
        if target.suffix.lower() not in (".gif", ".mp4"):
            raise InvalidValueError(f"animate({str(path)!r}): give a file that ends with .gif or .mp4")
        try:
            written = save_animation(self, target, caption=caption)
        except OSError as error:
            raise RunFolderError(f"cannot write {str(path)!r}: {error.strerror or error}") from error
        if written is None:
            raise RunFolderError(f"the run in {str(self.folder)!r} cannot be animated: it has no maps or poses")
        return written

    def view(self, height: int = 600) -> Any:
        """Show the run in a cell of a notebook, as `covey.view` does: a page to play, zoom and click.

        Outside of a notebook use ``covey view RUN``.

        Args:
            height: height of the page [pixel].
        """
        import covey  # which knows the viewer, far above this module

        return covey.view(self, height)

    def save(self, folder: Path | str) -> "Run":
        """Copy a run from its temporary folder to a new folder, and return the run opened there."""
        try:
            shutil.copytree(self.folder, folder)
        except OSError as error:
            raise RunFolderError(f"cannot copy the run to {str(folder)!r}: {error.strerror or error}") from error
        return Run(folder)

    def __repr__(self) -> str:
        time = f"{self.times[-1]:.1f} s" if len(self.times) else "0 s"
        return f"<Run {self.manifest['name'] or self.folder.name}: {len(self.names)} robots, {time}, {self.status}>"

    def _repr_html_(self) -> str:
        import base64

        from covey.results.figures import overview

        picture = base64.b64encode(overview(self)._repr_png_()).decode()
        rows = "".join(
            f"<tr><td>{html.escape(name)}</td><td>{html.escape(_text(value))}</td></tr>"
            for name, value in self.metrics.items()
            if not isinstance(value, dict)
        )
        title = html.escape(repr(self)[1:-1])
        image = f'<img style="max-width:100%" alt="{title}" src="data:image/png;base64,{picture}">'
        return f"<b>{title}</b><br>{image}<details><summary>metrics</summary><table>{rows}</table></details>"

    @cached_property
    def has_pose(self) -> np.ndarray:
        """Whether poses are recorded in each step, bool (steps,)."""
        return np.concatenate([np.empty(0, bool), *(np.isfinite(x[:, 0]) for (x,) in self.blocks(POSES[0]))])

    def _read_poses(self, names: Sequence[str], robots: Sequence[int] | slice = slice(None)) -> np.ndarray:
        """Return columns of some robots where poses are recorded, shape (samples, robots, columns)."""
        has = self.has_pose
        out = np.empty((int(has.sum()), len(np.arange(len(self.names))[robots]), len(names)))
        step = sample = 0
        for block in self.blocks(*names):
            rows = has[step : step + len(block[0])]
            until = sample + int(rows.sum())
            for k, values in enumerate(block):
                out[sample:until, :, k] = values[rows][:, robots]
            step, sample = step + len(rows), until
        return out

    def _file(self, name: str) -> Path:
        path = self.folder / name
        if not path.is_file():
            raise RunFolderError(f"{self._incomplete()}; it has no {name}")
        if path.suffix == ".parquet" and name not in self._checked:
            with reading(path):
                check_table(path)
            self._checked.add(name)
        return path

    def _incomplete(self) -> str:
        """Return that the run is incomplete, why, and what to do, in words."""
        said = f"the run in {str(self.folder)!r} is incomplete: "
        if writer := writer_of(self.folder):
            return f"{said}it is still being written by {writer}; wait, or end it there with Ctrl-C"
        program, *arguments = self.manifest.get("command") or ["covey", "run", "…"]
        program = Path(program).name.replace("__main__.py", "covey")
        why = self.manifest.get("reason", "it was killed, because nothing is writing it any more")
        return f"{said}{why}; repeat it: {shlex.join([program, *arguments])}"

    def _table(self, name: str) -> "pl.DataFrame":
        with reading(path := self._file(f"{name}.parquet")):
            return pl.read_parquet(path)

    @cached_property
    def team_columns(self) -> list[str]:
        """Names of the columns of ``team.parquet``."""
        return self.columns_of("team")

    def columns_of(self, table: str) -> list[str]:
        """Return the names of the columns of a table, such as ``measurements``."""
        with reading(path := self._file(f"{table}.parquet")):
            return pq.read_schema(path).names

    def column(self, table: str, name: str) -> np.ndarray:
        """Return one column of a table as float64 (rows,); null becomes NaN."""
        values = self._read_column(table, name)
        return values.copy() if len(values) <= _KEPT else values

    def _whole(self, table: str) -> "pa.Table | None":
        """Return a table that has so few values that it is read at once, and then kept; None: it has more."""
        if table not in self._tables:
            with reading(path := self._file(f"{table}.parquet")), pq.ParquetFile(path) as file:
                few = file.metadata.num_rows * file.metadata.num_columns <= _FEW
                self._tables[table] = file.read(use_threads=False) if few else None
        return self._tables[table]

    @cachedmethod(lambda run: run._columns, lock=lambda _: _LOCK)
    def _read_column(self, table: str, name: str) -> np.ndarray:
        if (whole := self._whole(table)) is not None:
            with reading(self.folder / f"{table}.parquet"):
                _known(table, [name], whole.column_names)
                return _floats(whole[name])
        with reading(path := self._file(f"{table}.parquet")), pq.ParquetFile(path) as file:
            _known(table, [name], file.schema_arrow.names)
            values, row = np.empty(file.metadata.num_rows), 0
            for k in range(file.num_row_groups):
                group = file.read_row_group(k, columns=[name], use_threads=False)
                values[row : row + len(group)] = _floats(group[name])
                row += len(group)
            return values


def _known(table: str, names: Sequence[str], columns: Sequence[str]) -> None:
    for name in names:
        if name not in columns:
            raise UnknownNameError(f"column of {table}", name, columns)


def _floats(column: Any) -> np.ndarray:
    return column.to_numpy().astype(np.float64)


def _fixed(values: np.ndarray) -> np.ndarray:
    """Make an array that every caller gets read-only."""
    values.flags.writeable = False
    return values


def _text(value: Any) -> str:
    return "–" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)


def _open(path: Path) -> None:
    """Open a file on the desktop, if there is one."""
    opener = shutil.which("open" if sys.platform == "darwin" else "xdg-open")
    if opener and (sys.platform == "darwin" or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        _VIEWERS.append(subprocess.Popen([opener, path], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))


_VIEWERS: list[subprocess.Popen[bytes]] = []
