"""`Out`: what `covey.play` returns, the recorded run as arrays."""

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from covey.errors import InvalidValueError, UnknownNameError
from covey.geometry.constant import constant
from covey.geometry.grid import Grid
from covey.lab.addon import Addons, stacked
from covey.lab.settings import DrawingSettings
from covey.lazy import pl
from covey.results.details import RecordedReadings
from covey.results.marks import Mark
from covey.results.run import Run
from covey.results.sensor_marks import SensorMarks
from covey.world.world import World

if TYPE_CHECKING:
    import polars

_FAST = 20.0  # a turn rate that nobody means [rad/s]
_FASTER = 15.0  # times the top speed: a speed that nobody means, such as one in cm/s


class Out:
    """What happened in each step of a run. There are t steps and n robots.

    Attributes:
        run: the recorded run, with its tables, metrics and pictures; None if this is from a file.
        names: the robots' names.
        draw: what `plot` and `film` show.
    """

    def __init__(
        self,
        run: Run | None,
        draw: DrawingSettings = DrawingSettings(),
        *,
        names: tuple[str, ...] = (),
        addons: Addons | None = None,
    ):
        self.run, self.draw = run, draw
        if addons is not None:
            vars(self)["data"] = {name: stacked(values) for name, values in addons.data.items()}
            vars(self)["marks"] = addons.marks
        self.names = run.names if run is not None else names

    @property
    def recorded(self) -> Run:
        """The recorded run.

        Raises:
            InvalidValueError: this is from a file, which does not hold it.
        """
        if self.run is None:
            raise InvalidValueError("this comes from a file, which holds arrays only; save the run to a folder")
        return self.run

    @cached_property
    def workspace(self) -> np.ndarray:
        """Vertices of the polygon, float64 (m, 2) [m]; of a world without one the rectangle around its free cells."""
        if "workspace_m" in (world := self.recorded.manifest["world"]):
            return constant(np.array(world["workspace_m"], float))
        return np.zeros((0, 2)) if self.cells is None else World(self.cells).workspace_m

    @cached_property
    def cells(self) -> Grid | None:
        """The cells of the world: free, walls and obstacles, open; see `covey.World.grid`."""
        return None if self.recorded.maps is None else self.recorded.maps.truth

    @cached_property
    def radius(self) -> np.ndarray:
        """Radius of the circle around the centre that holds the whole body of each robot [m], float64 (n,)."""
        return self.recorded.radius

    @cached_property
    def discs(self) -> tuple[np.ndarray, ...]:
        """The discs of which the body of each robot consists: x, y on the body, radius [m], float64 (k, 3) each."""
        return self.recorded.discs

    @cached_property
    def time(self) -> np.ndarray:
        """Simulated time at the start and after each step [s], float64 (t + 1,)."""
        return constant(np.concatenate(([0.0], self.recorded.times)))

    @cached_property
    def poses(self) -> np.ndarray:
        """True x, y [m], heading [rad] in the world frame at `time`, float64 (t + 1, n, 3); row 0: the starts."""
        starts = np.concatenate([body["start"] for body in self.recorded.manifest["bodies"]])
        return constant(np.concatenate((starts[None], self.recorded.poses)))

    @cached_property
    def commands(self) -> np.ndarray:
        """Commanded vx, vy [m/s], turn rate [rad/s] in the body frame, shape (t, n, 3); row k holds from time[k] on."""
        return self._of_steps("command_")

    @cached_property
    def twists(self) -> np.ndarray:
        """True vx, vy [m/s], turn rate [rad/s] in the body frame at the end of each step, float64 (t, n, 3)."""
        return self._of_steps("")

    @cached_property
    def readings(self) -> dict[str, RecordedReadings]:
        """All readings by sensor: ``out.readings["proximity"].ranges``, float64 (samples, robots, sectors)."""
        return self.recorded.readings or {}

    @cached_property
    def data(self) -> dict[str, Any]:
        """What the steps of add-ons returned at `time`, by add-on: an array (t + 1, …), or a list."""
        from covey.lab.files import read_addons

        return {} if self.run is None else read_addons(self.run.folder)

    @cached_property
    def marks(self) -> list[tuple[Mark, ...]]:
        """What add-ons drew at `time`: for each time the marks in the order of drawing."""
        return [] if self.run is None else self.run.marks

    def marks_at(self, k: int) -> list[Mark]:
        """Return what is drawn at ``time[k]``: by the sensors that ``out.draw`` shows, and by add-ons."""
        wanted, sensors = self.draw.sensors, self._sensor_marks
        names = sensors.names if wanted is True else () if wanted is False else wanted
        for name in names:
            if name not in sensors.names:
                raise UnknownNameError("sensor that is drawn", name, sensors.names)
        marks = [mark for name in names for mark in sensors.at(name, float(self.time[k]), self.poses[k])]
        return marks + list(self.marks[min(k, len(self.marks) - 1)] if self.marks else ())

    @cached_property
    def _sensor_marks(self) -> SensorMarks:
        return SensorMarks(self.readings, self.names, self.radius)

    @cached_property
    def events(self) -> "polars.DataFrame":
        """One row per event, by time: collisions, robots that left the workspace, notes."""
        return self.recorded.events

    @cached_property
    def status(self) -> str | None:
        """How it ended: ``timeout`` at stop_s, ``reached`` by the end condition, ``stopped``, or ``failed``."""
        return self.recorded.status

    @property
    def title(self) -> str:
        """The name of the law, for pictures."""
        return "" if self.run is None else self.run.manifest["name"]

    @property
    def message(self) -> str:
        """What the end condition returned, if it was a text; else empty."""
        texts = self.events.filter(pl.col("kind") == "goal")["text"].to_list()
        return texts[-1] if texts else ""

    @property
    def frame(self) -> "polars.DataFrame":
        """One row per time and robot: pose, command, twist; the commands of the last row are null."""
        t, n = len(self.time), len(self.names)
        columns: dict[str, Any] = {"time_s": np.repeat(self.time, n), "robot": list(self.names) * t}
        for k, name in enumerate(("x_m", "y_m", "heading_rad")):
            columns[name] = self.poses[..., k].ravel()
        missing = np.full((1, n), np.nan)
        for k, name in enumerate(("vx_m_s", "vy_m_s", "turn_rad_s")):
            columns[f"command_{name}"] = np.concatenate((self.commands[..., k], missing)).ravel()
        return pl.DataFrame(columns, nan_to_null=True)

    def remarks(self, top_m_s: float = np.inf) -> list[str]:
        """Return what its user should know: contacts, robots that left, how it ended, commands in a wrong unit.

        Args:
            top_m_s: the largest speed of the robots [m/s].
        """
        said: list[str] = []
        for kind, what in (("collision", "contact"), ("left_world", "time a robot left the workspace")):
            if len(rows := self.events.filter(pl.col("kind") == kind)):
                first, count = rows.row(0, named=True), len(rows)
                other = f" with {first['other']}" if first["other"] else ""
                many = f"{count} {what}{'s' if kind == 'collision' else ''}" if count > 1 else f"1 {what}"
                many = many.replace("time a robot", "times a robot") if count > 1 else many
                said.append(f"{many}, first {first['robot']}{other} at {first['time_s']:g} s; see out.events")
        fastest = float(np.abs(self.commands[..., 2]).max(initial=0.0))
        if fastest > _FAST:
            said.append(
                f"the law asked for turns of up to {fastest:.4g} rad/s; if these are degrees, write np.radians(…)"
            )
        fastest = float(np.abs(self.commands[..., :2]).max(initial=0.0))
        if fastest > _FASTER * top_m_s:
            said.append(
                f"the law asked for speeds of up to {fastest:.4g} m/s, but the robots reach {top_m_s:g} m/s; give "
                "speeds in m/s, or set max_speed_m_s"
            )
        if self.message:
            said.append(f"ended at {self.time[-1]:g} s: {self.message}")
        return said

    # -- files -----------------------------------------------------------------------------------------------------

    def save(self, path: Path | str) -> Path:
        """Write the run to a ``.npz``, ``.mat`` or ``.csv`` file, and return its path; `load` opens it.

        The first two hold the arrays by name: time, poses, commands, twists, workspace, names, and every array of every
        sensor as ``readings_SENSOR_ARRAY``. What add-ons gave is ``data_NAME``, or ``data_NAME.FIELD`` for each field
        of a record, which comes back as a record; what they drew are the arrays ``marks_…``. A ``.csv`` file holds one
        row per time and robot: `frame`, the newest reading of each sensor that gives up to three numbers, and the
        numbers of add-ons. Any other path is that of a folder that gets the whole run.

        Raises:
            InvalidValueError: the file name has another ending.
            RunFolderError: it cannot be written.
        """
        from covey.lab.files import save

        return save(self, Path(path))

    @staticmethod
    def load(path: Path | str) -> "Out":
        """Return what `save` has written: the whole run of a folder, or the arrays of a file by name.

        Raises:
            InvalidValueError: the file has another ending, or is damaged.
            RunFolderError: the folder holds no run.
        """
        from covey.lab.files import load

        return load(Path(path), Out)

    # -- pictures --------------------------------------------------------------------------------------------------

    def plot(self, path: Path | str | None = None) -> Any:
        """Return a picture of the ways of all robots; notebooks show it.

        Args:
            path: a .png, .svg or .pdf file to write; None: none.

        Raises:
            InvalidValueError: the file name has another ending.
            RunFolderError: the file cannot be written.
        """
        from covey.lab.files import check_ending, written
        from covey.lab.picture import picture_of

        if path is not None:
            check_ending("plot", path)
        picture = picture_of(self)
        if path is not None:
            written(path, lambda: Path(path).write_bytes(picture.to_bytes(Path(path).suffix[1:].lower())))
        return picture

    def film(self, path: Path | str = "film.gif", seconds: float = 8.0, caption: str = "") -> Path:
        """Write a film of the run, and return its path.

        Args:
            path: a .gif file, or an .mp4 file, which needs ffmpeg.
            seconds: how long it lasts [s].
            caption: a text below the picture.

        Raises:
            InvalidValueError: the file name has another ending, it lasts no time, or the caption is too long.
            CoveyError: there is no ffmpeg, or it failed.
            RunFolderError: the file cannot be written.
        """
        from covey.lab.files import check_ending, written
        from covey.lab.picture import film

        check_ending("film", path)
        if not 0 < seconds <= 3600:
            raise InvalidValueError(f"film(seconds={seconds!r:.30}): give more than 0 and at most 3600 s")
        return written(path, lambda: film(self, Path(path), seconds, caption))

    def replay(self, height: int = 600) -> Any:
        """Show the run in a cell of a notebook: a page to play, zoom and click; elsewhere use ``covey view``."""
        return self.recorded.view(height)

    def __repr__(self) -> str:
        robots = f"{len(self.names)} robot{'s' * (len(self.names) > 1)}"
        said = "; ".join(self.remarks())
        return f"<Out {robots}, {self.time[-1]:g} s: {self.status}{f'; {said}' if said else ''}>"

    def _repr_png_(self) -> bytes:
        return self.plot().to_bytes("png")

    def _of_steps(self, which: str) -> Any:
        columns = [self.recorded.series(f"{which}{name}") for name in ("vx_m_s", "vy_m_s", "omega_rad_s")]
        return constant(np.stack(columns, axis=-1))
