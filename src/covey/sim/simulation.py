"""`Simulation`: a world, a team, and the step that moves both on."""

import time
import traceback
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

from covey.errors import ControllerError, InvalidValueError
from covey.results.frame import Event, Frame
from covey.results.recorder import Recorder
from covey.results.run import Run
from covey.robots.group import Group
from covey.sim.clock import Clock
from covey.sim.deciding import Deciding
from covey.sim.estimating import Estimating
from covey.sim.planar import PlanarPhysics
from covey.sim.scoring import Scoring
from covey.sim.sensing import Sensing
from covey.sim.sharing import Sharing
from covey.sim.stop import Stop
from covey.sim.teams import as_groups, start_state
from covey.world.world import World

PHASES = ("inputs", "sense", "localize", "map", "communicate", "decide", "act", "score", "observe")
OnError = Literal["stop_robot", "end_run"]


class Simulation:
    """A team of robots in a world, one control step at a time.

    Args:
        world: the place.
        robots: how many generic robots, or groups of them.
        controller: what decides on each robot, when ``robots`` is a number.
        seed: the root of every random draw.
        step_s: control period [s].
        substep_s: physics substep [s].
        stop: when the run ends.
        radio_range_m: who hears whom [m]; infinite by default.
        share_maps_every_s: robots within radio range take each other's evidence this often [s]; None: never.
        on_controller_error: a controller that fails stops its robot, or ends the run.
        step_budget_s: wall time [s] a controller may take for one step.
        observers: called with each `Frame`; they only look.
        name: of the run.
        folder: where the run is recorded; None keeps it in a temporary folder.
        scenario: the text of the scenario, for the manifest.

    Examples:
        >>> import covey
        >>> sim = covey.Simulation(covey.World.empty(6, 6), robots=2, seed=1)
        >>> sim.step()
        >>> sim.time
        0.1
    """

    def __init__(
        self,
        world: World,
        robots: int | Sequence[Group] = 1,
        controller: Any = None,
        *,
        seed: int = 0,
        step_s: float = 0.1,
        substep_s: float = 0.01,
        stop: Stop | None = None,
        radio_range_m: float = np.inf,
        share_maps_every_s: float | None = None,
        on_controller_error: OnError = "stop_robot",
        step_budget_s: float = 10.0,
        observers: Iterable[Callable[[Frame], Any]] = (),
        name: str = "run",
        folder: Path | str | None = None,
        manifest: dict[str, Any] | None = None,
    ):
        self.world, self.seed, self.name = world, seed, name
        self.groups = as_groups(robots, controller, world, seed)
        self.names = [n for group in self.groups for n in group.names]
        if len(set(self.names)) < len(self.names):
            raise InvalidValueError(f"robot names clash: {sorted(self.names)}; give the groups different names")
        self.clock = Clock(substep_s, step_s)
        self.stop = stop or Stop()
        self.model, self.state = start_state(self.groups, world, self.clock)
        self.physics = PlanarPhysics(world, self.model, substep_s)
        self.commands = np.zeros((len(self.names), 3))
        self.sensing = Sensing(world, self.groups, self.model, self.state, self.clock, seed)
        self.estimating = Estimating(self.groups, self.state, self.sensing, self.clock, world, seed)
        self.sharing = Sharing(self.estimating.beliefs, radio_range_m, share_maps_every_s, self.clock)
        self.deciding = Deciding(self.groups, self.sensing, self.estimating, seed, step_budget_s)
        self.scoring = Scoring(world, self.groups, self.model, self.state, self.sensing, self.clock)
        self.observers = list(observers)
        self.on_controller_error: OnError = on_controller_error
        self.status: str | None = None
        self.phase_s = dict.fromkeys(PHASES, 0.0)
        self.collisions_robot = np.zeros(len(self.names), np.int64)
        self.collisions_wall = np.zeros(len(self.names), np.int64)
        self._trace = np.repeat(self.state.pose[None], self.clock.substeps_per_step, axis=0)
        self._events: list[Event] = []
        self._recorder = Recorder(folder, self, manifest or {})
        self._lap = time.perf_counter()

    # -- what one asks ----------------------------------------------------------------------------------------------

    @property
    def time(self) -> float:
        """Simulated time [s]."""
        return self.clock.time_s

    @property
    def done(self) -> bool:
        """True when the run has ended; `status` says why: goal, timeout, exhausted, error."""
        return self.status is not None

    # -- what one does ----------------------------------------------------------------------------------------------

    def step(self) -> None:
        """Move on by one control step."""
        self._inputs()
        self._sense()
        self._localize()
        self._map()
        self._communicate()
        self._decide()
        self._act()
        self._score()
        self._observe()
