"""`Out`: what `covey.play` returns, the recorded run as arrays."""

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from covey.geometry.constant import constant
from covey.results.run import Run

if TYPE_CHECKING:
    import polars as pl


class Out:
    """What happened in each step of a run. There are t steps and n robots.

    Attributes:
        run: the recorded run, with its tables, metrics and pictures.
        names: the robots' names.
        workspace: vertices of its polygon, float64 (m, 2) [m].
    """

    def __init__(self, run: Run):
        self.run, self.names = run, run.names
        self.workspace = constant(np.array(run.manifest["world"]["workspace_m"], float))

    @cached_property
    def time(self) -> np.ndarray:
        """Simulated time at the start and after each step [s], float64 (t + 1,)."""
        return constant(np.concatenate(([0.0], self.run.times)))

    @cached_property
    def poses(self) -> np.ndarray:
        """True x, y [m], heading [rad] in the world frame at `time`, float64 (t + 1, n, 3); row 0: the starts."""
        starts = np.concatenate([body["start"] for body in self.run.manifest["bodies"]])
        return constant(np.concatenate((starts[None], self.run.poses)))

    @cached_property
    def commands(self) -> np.ndarray:
        """Commanded vx, vy [m/s], turn rate [rad/s] in the body frame, shape (t, n, 3); row k holds from time[k] on."""
        return self._of_steps("command_")

    @cached_property
    def twists(self) -> np.ndarray:
        """True vx, vy [m/s], turn rate [rad/s] in the body frame at the end of each step, float64 (t, n, 3)."""
        return self._of_steps("")

    @property
    def events(self) -> "pl.DataFrame":
        """One row per event, by time: collisions, robots that left the workspace, notes."""
        return self.run.events

    @property
    def status(self) -> str | None:
        """How it ended: ``timeout`` at stop_s, ``reached`` by the end condition, ``stopped``, or ``failed``."""
        return self.run.status

    def __repr__(self) -> str:
        return f"<Out {len(self.names)} robots, {self.time[-1]:g} s: {self.status}>"

    def _of_steps(self, which: str) -> Any:
        columns = [self.run.series(f"{which}{name}") for name in ("vx_m_s", "vy_m_s", "omega_rad_s")]
        return constant(np.stack(columns, axis=-1))
