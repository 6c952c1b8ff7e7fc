"""`Recorder`: the observer that writes the run folder."""

import errno
import json
import os
import time
import weakref
from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import psutil
import pyarrow as pa

from covey.bound import Bound
from covey.comms.samples import RadioSample
from covey.errors import ControllerError, DiskError, InvalidValueError, RunFolderError
from covey.kernel import kernel
from covey.results import computers
from covey.results.archive import Archive
from covey.results.checkpoint import write_checkpoint
from covey.results.folder import ATTITUDE_COLUMNS, CHECKPOINT, POSE_COLUMNS, claim, part, write_json, write_whole
from covey.results.landscape import Landscape
from covey.results.maps import Maps
from covey.results.radio_tables import RadioTables
from covey.results.recording import Recording, as_recording
from covey.results.reserve import RESERVE
from covey.results.run import Run, Scratch
from covey.results.snapshot import RunEvent, Snapshot
from covey.results.table import Table

STEP_COLUMNS = ("explored_share", "known_share", "distance_m", "energy_j", "collisions_robot", "collisions_wall")
TEAM_COLUMNS = ("explored_share_union", "known_share_union", "covered_share", "min_separation_m")
COVERED, SEPARATION = 2 + TEAM_COLUMNS.index("covered_share"), 2 + TEAM_COLUMNS.index("min_separation_m")
DRIVEN, COUNTED = ("distance_m", "energy_j"), ("collisions_robot", "collisions_wall")
_INTEGERS = frozenset({"step", *COUNTED})
_ROWS, _STEPS = 65536, 16  # rows of a row group, 10 MiB of columns in memory; but at least so many steps
_EVENTS = 4096
_CHECKPOINT_S = 30.0  # wall time between two checkpoints: a killed process loses no more
_HOST_S = 5.0  # one row of host.parquet per 5 s of wall time (Yan et al. 2017)


class Recorder:
    """Records a run into its folder, in constant memory.

    Tables grow as ``*.part`` files and get their final names in `close`. Until then the manifest says ``running``, so
    the folder of a killed run is recognised as incomplete. Every 30 s of wall time a checkpoint is written, from which
    `Run` completes the tables of a killed run. If the disk is full, it raises one `RunFolderError`, removes
    the unfinished tables, and sets the manifest to ``incomplete``.

    Args:
        recording: what to record and where; a path stands for its folder, None for a temporary folder that lives as
            long as the `Run`.
        names: robots in the order of the arrays.
        pose_every: period of poses, estimates, twists and commands in steps (null in between); shares, distances,
            energy and collisions are recorded at every step.
        mission: columns that the mission adds to ``team.parquet``.
        robot_columns: columns that it adds to ``measurements.parquet``.
        attitude: whether altitude, roll and pitch are recorded with the poses.

    Raises:
        RunFolderError: the folder holds a finished run or other files, or cannot be written.
        InvalidValueError: the mission adds a column that exists already.
    """

    def __init__(
        self,
        recording: Recording | Path | str | None,
        names: Sequence[str],
        *,
        pose_every: int = 1,
        mission: Sequence[str] = (),
        robot_columns: Sequence[str] = (),
        attitude: bool = False,
    ):
        if pose_every < 1:
            raise InvalidValueError(f"pose_every is {pose_every}; it must be a number of steps, 1 or more")
        self.names, self.pose_every = tuple(names), pose_every
        self._team_columns, self._step_columns = (*TEAM_COLUMNS, *mission), (*STEP_COLUMNS, *robot_columns)
        self._attitude = attitude
        self._pose_columns = POSE_COLUMNS + (ATTITUDE_COLUMNS if attitude else ())
        columns = ("step", "time_s", "robot", *self._team_columns, *self._step_columns, *self._pose_columns)
        if twice := [name for name in columns if columns.count(name) > 1]:  # a snapshot has one value of each name
            raise InvalidValueError(f"there is a column {twice[0]!r} already; rename that of the mission")
        self.recording = as_recording(recording)
        self._take_folder()
        self._tables: dict[str, Table] = {}
        self._archives: dict[str, Archive] = {}
        self._is_open = False
        self._leave: weakref.finalize | None = None
        self._keep: Bound | None = None

    def _take_folder(self) -> None:
        folder = self.recording.folder
        self._scratch = Scratch() if folder is None else None
        self.folder = Path(folder).absolute() if folder is not None else self._scratch.path  # pyright: ignore
        self._lock = claim(self.folder, self.recording.overwrite)

    def open(self, manifest: dict[str, Any], constant: Mapping[str, Any] = MappingProxyType({})) -> None:
        """Start the folder with the manifest of `covey.results.manifest.build_manifest`.

        Args:
            manifest: the manifest.
            constant: values of columns that are the same in every snapshot.
        """
        n = len(self.names)
        self._steps_in_block, self._used = max(_STEPS, _ROWS // n), 0
        # Column by column, as they are written.
        size = (self._steps_in_block, n)
        self._poses = np.empty((len(self._pose_columns), *size))
        self._driven, self._counts = np.empty((2, *size)), np.empty((2, *size), np.int64)
        blocks = dict(zip((*DRIVEN, *COUNTED), (*self._driven, *self._counts), strict=True))
        measured = {name: np.empty(size) for name in self._step_columns if name not in (*blocks, *constant)}
        self._of_robots = list(measured.items())
        lasting = {
            name: pa.array(np.broadcast_to(np.asarray(value, np.float64), size).reshape(-1), from_pandas=True)
            for name, value in constant.items()
            if name in self._step_columns
        }
        columns = {name: block.reshape(-1) for name, block in (blocks | measured).items()} | lasting
        self._columns = {name: columns[name] for name in self._step_columns}
        self._robot = pa.array(np.tile(np.arange(n, dtype=np.int32), self._steps_in_block))
        self._team = np.empty((self._steps_in_block, 2 + len(self._team_columns)))
        for name, value in constant.items():
            if name in self._team_columns:
                self._team[:, 2 + self._team_columns.index(name)] = value
        team = enumerate(self._team_columns, start=2)
        self._of_team = [(k, name) for k, name in team if name not in ("min_separation_m", *constant)]
        self.manifest = manifest | {"status": "running", "goal_status": None}
        self._events: list[RunEvent] = []
        self._host_rows: list[tuple[float, ...]] = []
        self._started = self._host_wall = self._checkpoint_wall = time.perf_counter()
        self._host_cpu = time.process_time()
        self._time_s, self._step = 0.0, 0
        self._start_files()

    def _start_files(self) -> None:
        self._radio = RadioTables(self.folder, self.names)
        name = pa.dictionary(pa.int32(), pa.string())
        step = [("step", pa.int64())]
        with self._disk():
            RESERVE.join()
            self._leave = weakref.finalize(self, RESERVE.leave)  # even if nobody closes it
            write_json(self.folder / "manifest.json", self.manifest, lasts=self._scratch is None)
            self._open("measurements", [*step, ("robot", name), *_fields((*self._step_columns, *self._pose_columns))])
            self._open("team", [*step, *_fields(("time_s", *self._team_columns))])
            text = [(c, pa.string()) for c in ("kind", "robot", "other")]
            texts = [(name, pa.string()) for name in ("text", "data")]
            self._open("events", [*step, *_fields(("time_s",)), *text, *_fields(("x_m", "y_m")), *texts])
            self._open("host", [*step, *_fields(("time_s", "wall_time_s", "cpu_percent", "rss_mib"))])
        self._is_open = True

    def observe(self, snapshot: Snapshot) -> None:
        """Record one snapshot; steps must be consecutive.

        Raises:
            RunFolderError: the disk is full or cannot be written; the folder is marked incomplete.
        """
        i, values = self._used, snapshot.mission
        team = (
            snapshot.pose,
            snapshot.estimate,
            snapshot.twist,
            snapshot.command,
            snapshot.altitude_roll_pitch,
            snapshot.distance_m,
            snapshot.energy_j,
            snapshot.collisions_robot,
            snapshot.collisions_wall,
        )
        if self._keep is None:
            self._keep = Bound(keep, (*team, self._poses, self._driven, self._counts), (0, True))
        self._keep.put(*team)
        self._keep(*self.row(snapshot.step))
        for name, block in self._of_robots:
            block[i] = values.get(name, np.nan)
        team = self._team
        team[i, 0], team[i, 1], team[i, SEPARATION] = snapshot.step, snapshot.time_s, snapshot.min_separation_m
        for k, name in self._of_team:
            team[i, k] = values.get(name, np.nan)
        self.observe_events(snapshot.events)
        if snapshot.radio is not None:
            self.observe_radio(snapshot.step, snapshot.radio)
        self.turn(snapshot.step, snapshot.time_s)

    @property
    def blocks(self) -> tuple[np.ndarray, ...]:
        """What `keep` writes into, and the rows of the team."""
        return self._poses, self._driven, self._counts, self._team

    def row(self, step: int) -> tuple[int, bool]:
        """Return the row of a step in `blocks`, and whether the poses of this step are recorded."""
        return self._used, step % self.pose_every == 0

    def turn(self, step: int, time_s: float) -> None:
        """End the row of a step at a time [s], which has been written.

        Raises:
            RunFolderError: the disk is full or cannot be written; the folder is marked incomplete.
        """
        self._used += 1
        self._step, self._time_s = step, time_s
        if self._used == self._steps_in_block or len(self._events) >= _EVENTS:
            with self._disk():
                self._flush()
        if (wall := time.perf_counter()) - self._host_wall >= _HOST_S:
            self._sample_host()
        if wall - self._checkpoint_wall >= _CHECKPOINT_S:
            self._checkpoint_wall = wall
            with self._disk():
                self._checkpoint()

    def observe_events(self, events: Sequence[RunEvent]) -> None:
        """Record events."""
        self._events += events

    def observe_radio(self, step: int, sample: RadioSample) -> None:
        """Record a sample of links and messages.

        Raises:
            RunFolderError: the disk is full or cannot be written; the folder is marked incomplete.
        """
        if not self._radio.tables:
            RESERVE.give_back(4)
        with self._disk():
            self._radio.add(step, sample)

    def observe_computers(self, step: int, samples: Sequence[computers.ComputerSample]) -> None:
        """Record the activity of the robots' computers until a step.

        Raises:
            RunFolderError: the disk is full or cannot be written; the folder is marked incomplete.
        """
        if samples:
            with self._disk():
                if "computers" not in self._tables:
                    RESERVE.give_back(1)
                    self._tables["computers"] = Table(self.folder / "computers.parquet", computers.schema())
                self._tables["computers"].write(computers.columns(step, self.names, samples))

    def add(self, name: str, schema: pa.Schema, columns: dict[str, Any]) -> None:
        """Append rows to an additional table, which is created with its first rows.

        Raises:
            RunFolderError: the disk is full or cannot be written; the folder is marked incomplete.
        """
        if not self._is_open:
            return
        with self._disk():
            if name not in self._tables:
                RESERVE.give_back(1)
                self._tables[name] = Table(self.folder / f"{name}.parquet", schema)
            self._tables[name].write(columns)

    def add_arrays(self, name: str, arrays: dict[str, np.ndarray]) -> None:
        """Append rows of arrays to ``NAME.npz``, which is created with its first rows; see `Archive`.

        Raises:
            RunFolderError: the disk is full or cannot be written; the folder is marked incomplete.
        """
        with self._disk():
            if name not in self._archives:
                RESERVE.give_back(1)
                self._archives[name] = Archive(self.folder / f"{name}.npz")
            self._archives[name].add(arrays)

    def close(self, status: str, maps: Maps | None = None, landscape: Landscape | None = None) -> Run:
        """Finish the folder and return it.

        Args:
            status: how the run ended: ``reached``, ``timeout``, ``exhausted``, ``stopped`` or ``failed``.
            maps: the explored area and the maps at the end.
            landscape: the ground, its changes, and the beliefs about it at the end.

        Raises:
            RunFolderError: the disk is full or cannot be written; the folder is marked incomplete.
        """
        from covey.results.metrics import compute

        if not self._is_open:
            raise RunFolderError(f"the run in {str(self.folder)!r} is not being recorded")
        RESERVE.give_back(RESERVE.count)
        self._sample_host()
        with self._disk():
            self._flush()
            self._tables["host"].write(self._host)
            for file in (*self._tables.values(), *self._archives.values()):
                file.finish()
            self._tables, self._archives = {}, {}
            self._radio.finish()
            if maps is not None:
                write_whole(self.folder / "maps.npz", maps.to_bytes())
            if landscape is not None:
                write_whole(self.folder / "ground.npz", landscape.to_bytes())
            self.manifest["goal_status"] = status
            write_json(self.folder / "manifest.json", self.manifest, lasts=self._scratch is None)
            run = Run(self.folder, incomplete=True)
            if maps is not None:
                run.maps = maps  # as they would be read
            write_json(self.folder / "metrics.json", compute(run), lasts=self._scratch is None)
            self.manifest["status"] = "finished"
            write_json(self.folder / "manifest.json", self.manifest, lasts=self._scratch is None)
            (self.folder / CHECKPOINT).unlink(missing_ok=True)
        self._is_open = False
        self._leave_reserve()
        self._lock.release()
        return Run(self.folder, scratch=self._scratch)

    def abandon(self, reason: str) -> None:
        """Give up the run: remove unfinished files and mark the folder incomplete, with the reason."""
        self._is_open = False
        self._leave_reserve()
        for file in (*self._tables.values(), *self._archives.values()):
            file.abandon()
        self._tables, self._archives = {}, {}
        self._radio.abandon()
        self.manifest |= {"status": "incomplete", "reason": reason}
        try:
            (self.folder / CHECKPOINT).unlink(missing_ok=True)
            write_json(self.folder / "manifest.json", self.manifest, lasts=self._scratch is None)
        except OSError:  # no room even for this; "running" in the manifest also reads as incomplete
            part(self.folder / "manifest.json").unlink(missing_ok=True)
        self._lock.release()

    def _leave_reserve(self) -> None:
        if self._leave is not None:
            self._leave()

    def _open(self, name: str, fields: list[tuple[str, pa.DataType]]) -> None:
        self._tables[name] = Table(self.folder / f"{name}.parquet", pa.schema(fields))

    def _flush(self) -> None:
        for name, columns in self._waiting().items():
            self._tables[name].write(columns)
        self._used, self._events = 0, []

    def _checkpoint(self) -> None:
        """Write what makes whole tables of all rows up to now, without a change of their blocks.

        If others have taken all files that this process may open, the last checkpoint stays.
        """
        waiting = self._waiting() | ({"host": self._host} if self._host_rows else {})
        ends = {name: table.end(waiting.get(name)) for name, table in self._tables.items()}
        RESERVE.give_back(1)
        try:
            write_checkpoint(self.folder, ends | self._radio.ends())
            RESERVE.fill()
        except OSError as error:
            if error.errno not in (errno.EMFILE, errno.ENFILE):
                raise

    @property
    def _host(self) -> dict[str, Any]:
        """The columns of the table ``host``."""
        columns = map(list, zip(*self._host_rows, strict=True))
        return dict(zip(self._tables["host"].schema.names, columns, strict=True))

    def _waiting(self) -> dict[str, dict[str, Any]]:
        """Return the columns of the rows that no block has yet, by table; none of a table without such rows."""
        steps, n = self._used, len(self.names)
        waiting: dict[str, dict[str, Any]] = {}
        if steps:
            names = ("step", "time_s", *self._team_columns)
            team: dict[str, Any] = dict(zip(names, self._team[:steps].T, strict=True))
            team["step"] = team["step"].astype(np.int64)
            robots: dict[str, Any] = {name: column[: steps * n] for name, column in self._columns.items()}
            poses = zip(self._pose_columns, self._poses, strict=True)
            robots |= {name: block[:steps].reshape(-1) for name, block in poses}
            names = pa.array(self.names, pa.string())
            robots["robot"] = pa.DictionaryArray.from_arrays(self._robot[: steps * n], names)
            robots["step"] = np.repeat(team["step"], n)
            waiting |= {"measurements": robots, "team": team}
        if self._events:
            events = {c: [getattr(e, c.removesuffix("_m")) for e in self._events] for c in _EVENT_COLUMNS}
            waiting["events"] = events | {"data": [json.dumps(e.data) if e.data else "" for e in self._events]}
        return waiting

    def _sample_host(self) -> None:
        wall, cpu = time.perf_counter(), time.process_time()
        percent = 100.0 * (cpu - self._host_cpu) / max(wall - self._host_wall, 1e-9)
        self._host_rows.append((self._step, self._time_s, wall - self._started, percent, resident_mib()))
        self._host_wall, self._host_cpu = wall, cpu

    @contextmanager
    def _disk(self):
        try:
            yield
        except OSError as error:
            why = os.strerror(error.errno) if error.errno else str(error)
            closed = self._lock.is_closed
            self.abandon(f"cannot write: {why}")
            if closed:
                raise ControllerError(
                    f"the files of the run folder {str(self.folder)!r} were closed during the run; the folder is "
                    "marked incomplete. A controller must close only what it has opened: os.closerange closes more"
                ) from error
            raise DiskError(
                f"cannot write the run folder {str(self.folder)!r}: {why}; the folder is marked incomplete. "
                "Make room, or choose another folder, and run again"
            ) from error


class Blank(Recorder):
    """Takes what a run records, and writes nothing: for a run that will be discarded, such as an episode."""

    def _take_folder(self) -> None:
        self.folder = Path(os.devnull)

    def _start_files(self) -> None: ...

    def turn(self, step: int, time_s: float) -> None:
        """End the row of a step, which is forgotten with its block."""
        self._used = (self._used + 1) % self._steps_in_block

    def observe_events(self, events: Sequence[RunEvent]) -> None:
        """Forget them."""

    def observe_radio(self, step: int, sample: RadioSample) -> None:
        """Forget it."""

    def observe_computers(self, step: int, samples: Sequence[computers.ComputerSample]) -> None:
        """Forget them."""

    def add(self, name: str, schema: pa.Schema, columns: dict[str, Any]) -> None:
        """Forget them."""

    def add_arrays(self, name: str, arrays: dict[str, np.ndarray]) -> None:
        """Forget them."""

    def close(self, status: str, maps: Maps | None = None, landscape: Landscape | None = None) -> Run:
        """Raise `RunFolderError`, as there is nothing to return."""
        raise RunFolderError("this run is not recorded, so it has no result: discard it, or build it with written=True")

    def abandon(self, reason: str) -> None:
        """Do nothing."""


def resident_mib() -> float:
    """Return the resident memory of this process [MiB]; NaN if the system does not provide it."""
    try:
        return psutil.Process().memory_info().rss / 2**20
    except (OSError, psutil.Error):  # a controller has closed the system's files
        return float("nan")


@kernel
def keep(
    pose,
    estimate,
    twist,
    command,
    attitude,
    distance,
    energy,
    collisions_robot,
    collisions_wall,
    poses,
    driven,
    counts,
    i,
    is_placed,
):
    """Write one step of a team into row i of its columns.

    Args:
        pose, estimate, twist, command, attitude: float64 (n, 3).
        distance, energy: float64 (n,). collisions_robot, collisions_wall: int64 (n,).
        poses: float64 (12 or 15, steps, n), see `POSE_COLUMNS` and `ATTITUDE_COLUMNS`.
        driven: float64 (2, steps, n), see `DRIVEN`. counts: int64 (2, steps, n), see `COUNTED`.
        is_placed: whether poses, estimates, twists and commands are recorded; else they are NaN.
    """
    for j in range(poses.shape[2]):
        driven[0, i, j], driven[1, i, j] = distance[j], energy[j]
        counts[0, i, j], counts[1, i, j] = collisions_robot[j], collisions_wall[j]
    if not is_placed:
        poses[:, i] = np.nan
        return
    for j in range(poses.shape[2]):
        for k in range(3):
            poses[k, i, j], poses[3 + k, i, j] = pose[j, k], estimate[j, k]
            poses[6 + k, i, j], poses[9 + k, i, j] = twist[j, k], command[j, k]
            if poses.shape[0] > 12:
                poses[12 + k, i, j] = attitude[j, k]


_EVENT_COLUMNS = ("step", "time_s", "kind", "robot", "other", "x_m", "y_m", "text")


def _fields(names: Sequence[str]) -> list[tuple[str, pa.DataType]]:
    return [(name, pa.int64() if name in _INTEGERS else pa.float64()) for name in names]
