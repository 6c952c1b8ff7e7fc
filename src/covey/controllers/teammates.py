"""Team mates: what the others have reported about themselves by radio, and when."""

from dataclasses import dataclass
from typing import Any

from covey.geometry import Pose
from covey.onboard.handle import Robot

KIND = "state"
"""Kind of the messages in which robots report about themselves."""


@dataclass(frozen=True)
class Mate:
    """What a robot has reported about itself.

    Attributes:
        time_s: time of the report [s].
        pose: the robot's own estimate of its pose.
        goal: its goal [m]; None if it had none.
        facts: other data of its strategy.
    """

    time_s: float
    pose: Pose
    goal: tuple[float, float] | None
    facts: dict[str, Any]


class Teammates:
    """Reports the robot's pose, goal and facts to the others, and remembers their reports.

    A robot that has been silent for ``forget_s`` is forgotten: one that vanished or is out of reach blocks nobody. A
    blind one tells nothing, so that the others soon do what it would have done. A
    robot whose frame this robot does not know is ignored; otherwise its pose and goal are transformed into this robot's
    frame, and its facts are left as they are.

    Args:
        every_s: time between two messages [s]; a new goal is sent at once.
        forget_s: time for which a report holds [s].
    """

    def __init__(self, every_s: float = 1.0, forget_s: float = 10.0):
        self.every_s, self.forget_s = every_s, forget_s
        self.mates: dict[str, Mate] = {}
        self._told: Any = None
        self._next_s = 0.0

    def step(self, robot: Robot, goal: tuple[float, float] | None = None, **facts: Any) -> None:
        """Process new messages, and report to the others when it is time; call it at every step."""
        now = robot.time
        for message in robot.messages(KIND):
            pose, told_goal, told_facts = message.payload
            T_own_sender = robot.frame_of(message.sender)
            if T_own_sender is None:
                continue
            if T_own_sender != (0.0, 0.0, 0.0):
                pose, told_goal = T_own_sender @ pose, told_goal and T_own_sender @ told_goal
            self.mates[message.sender] = Mate(message.sent_s, pose, told_goal, told_facts)
        if not robot.blind and (now >= self._next_s - 1e-9 or (goal, facts) != self._told):
            robot.send((robot.pose, goal, facts), kind=KIND)
            self._told, self._next_s = (goal, facts), now + self.every_s

    def others(self, robot: Robot) -> dict[str, Mate]:
        """Return the recently heard team mates, sorted by name."""
        now = robot.time
        return {n: m for n, m in sorted(self.mates.items()) if now - m.time_s <= self.forget_s}
