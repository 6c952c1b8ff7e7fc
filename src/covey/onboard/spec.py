"""`RobotSpec`: one robot and its program, which together define its software."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from covey.comms.blackboard import Blackboard
from covey.comms.mailbox import Mailbox
from covey.geometry import Pose
from covey.mapping.occupancy.belief import Belief
from covey.onboard.controller import Program
from covey.onboard.driving import DriveLimits, Driving
from covey.onboard.navigator import Navigator
from covey.onboard.onboard import Onboard
from covey.onboard.searched import Searched
from covey.onboard.state import OnboardState
from covey.planning.waypoints import Waypoints
from covey.random import generator
from covey.robots.model import RobotModel


@dataclass(frozen=True, eq=False)
class RobotSpec:
    """One robot and its program.

    Attributes:
        index: its team index.
        home: its first estimate.
        period_s: period of its controller [s].
        seed: seed of the run.
        sensors: names of the sensors that its program reads.
        waypoints: the graph to patrol, if there is one.
    """

    name: str
    index: int
    model: RobotModel
    home: Pose
    period_s: float
    program: Program
    seed: int
    sensors: tuple[str, ...] = ()
    waypoints: Waypoints | None = None

    def software(
        self, mailbox: Mailbox, blackboard: Blackboard, belief: Any, frames: Mapping[str, Pose] | None
    ) -> Onboard:
        """Return the software of the robot at the start of the run.

        Args:
            mailbox, blackboard: for its communication.
            belief: its map; None if it keeps none.
            frames: poses of the frames of others that it has found, by name; None if all robots share one frame.
        """
        model, rng = self.model, generator(self.seed, f"controller/{self.name}")
        driving = Driving(planner=model.planner)
        navigator = Navigator(DriveLimits.of(model, self.period_s), model.body_discs, driving, self.index, mailbox.team)
        state = OnboardState(self.name, model, self.home, navigator, rng, mailbox, blackboard, self.sensors, frames)
        state.map, state.waypoints = belief, self.waypoints
        sees = self.program.sees
        camera = state.camera if sees is None or "searched" in sees else None
        if camera is not None and isinstance(belief, Belief):
            state.searched = Searched(self.name, camera[1], belief, mailbox, state.frame_of)
        return Onboard(state, self.program)
