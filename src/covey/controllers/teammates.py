"""Team mates: what the others said about themselves over the radio, and how long ago."""

from dataclasses import dataclass
from typing import Any

from covey.geometry import Pose
from covey.onboard.handle import Robot

KIND = "state"
"""Kind of the messages in which robots tell about themselves."""


@dataclass(frozen=True)
class Mate:
    """What a robot said about itself.

    Attributes:
        time_s: when it said so [s].
        pose: where it believed to be.
        goal: where it was going [m]; None for nowhere.
        facts: what else its strategy tells.
    """

    time_s: float
    pose: Pose
    goal: tuple[float, float] | None
    facts: dict[str, Any]


class Teammates:
    """Tells the others where the robot is and what it is up to, and remembers what they tell.

    Who has not been heard for ``forget_s`` is forgotten: a partner that vanished, or is out of reach, binds nobody. Nor
    does one whose frame the robot does not know; else pose and goal are turned into its own, and facts left as told.

    Args:
        every_s: time between two messages [s]; a new goal is told at once.
        forget_s: how long what a mate said holds [s].
    """

    def __init__(self, every_s: float = 1.0, forget_s: float = 10.0):
        self.every_s, self.forget_s = every_s, forget_s
        self.mates: dict[str, Mate] = {}
        self._told: Any = None
        self._next_s = 0.0

    def step(self, robot: Robot, goal: tuple[float, float] | None = None, **facts: Any) -> None:
        """Take in what arrived, and tell the others when it is time; to be called at every step."""
        for message in robot.messages(KIND):
            pose, told_goal, told_facts = message.payload
            T_own_sender = robot.frame_of(message.sender)
            if T_own_sender is None:
                continue
            if T_own_sender != (0.0, 0.0, 0.0):
                pose, told_goal = T_own_sender @ pose, told_goal and T_own_sender @ told_goal
            self.mates[message.sender] = Mate(message.sent_s, pose, told_goal, told_facts)
        if robot.time >= self._next_s - 1e-9 or (goal, facts) != self._told:
            robot.send((robot.pose, goal, facts), kind=KIND)
            self._told, self._next_s = (goal, facts), robot.time + self.every_s

    def others(self, robot: Robot) -> dict[str, Mate]:
        """Return what is known of the mates that were heard lately, by name, sorted."""
        return {n: m for n, m in sorted(self.mates.items()) if robot.time - m.time_s <= self.forget_s}
