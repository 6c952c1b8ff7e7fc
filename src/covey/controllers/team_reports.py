"""What the robots of a team report about themselves, on the blackboard or by radio."""

import math
from typing import Any

from covey.controllers.teammates import Mate, Teammates
from covey.errors import UnknownNameError
from covey.geometry import Pose
from covey.onboard.handle import Robot

OVER = ("blackboard", "radio")
_DRIVES_ON_S = 0.5


class BlackboardMates:
    """Like `Teammates`, but on the blackboard, which every robot can read without a radio.

    Each robot keeps one entry under its name: the time, its pose, its goal, and other facts of its strategy.

    Args:
        every_s: time between two reports [s]; changes are posted at once.
        forget_s: time for which a report holds [s].
    """

    def __init__(self, every_s: float = 0.2, forget_s: float = 10.0):
        self.every_s, self.forget_s = every_s, forget_s
        self.mates: dict[str, Mate] = {}
        self._told: Any = None
        self._next_s = self._read_s = 0.0

    def step(self, robot: Robot, goal: tuple[float, float] | None = None, **facts: Any) -> None:
        """Read the others' entries, and renew the robot's own when it is time; call it at every step."""
        if robot.time >= self._read_s - 1e-9:
            self._read_s = robot.time + self.every_s
            for name in robot.team:
                entry = robot.blackboard.get(name) if name != robot.name else None
                if isinstance(entry, dict) and "pose" in entry:
                    told = dict(entry)
                    time_s, pose, heads_for = told.pop("time_s"), Pose(*told.pop("pose")), told.pop("goal")
                    self.mates[name] = Mate(time_s, pose, heads_for, told)
        if robot.time >= self._next_s - 1e-9 or (goal, facts) != self._told:
            v, _, omega = robot.twist
            own = {"time_s": robot.time, "pose": tuple(robot.pose), "velocity": (v, omega), "goal": goal}
            robot.blackboard[robot.name] = own | facts
            self._told, self._next_s = (goal, facts), robot.time + self.every_s

    def others(self, robot: Robot) -> dict[str, Mate]:
        """Return the team mates whose reports are not too old, sorted by name."""
        return {n: m for n, m in sorted(self.mates.items()) if robot.time - m.time_s <= self.forget_s}


class RadioMates(Teammates):
    """`Teammates` that also estimates the others' velocities from their last two positions."""

    def step(self, robot: Robot, goal: tuple[float, float] | None = None, **facts: Any) -> None:
        """Process new messages, and report to the others when it is time; call it at every step."""
        before = dict(self.mates)
        super().step(robot, goal, **facts)
        for name, mate in self.mates.items():
            last = before.get(name)
            if last is not None and mate is not last:
                way_m = math.dist(mate.pose[:2], last.pose[:2])
                speed = way_m / max(mate.time_s - last.time_s, 0.1)
                told = mate.facts | {"velocity": (speed, 0.0)}
                self.mates[name] = Mate(mate.time_s, mate.pose, mate.goal, told)


def where_now(mate: Mate, time_s: float) -> tuple[float, float]:
    """Return the extrapolated position of a mate [m], over at most half a second."""
    x, y, heading = mate.pose
    way_m = mate.facts.get("velocity", (0.0, 0.0))[0] * min(time_s - mate.time_s, _DRIVES_ON_S)
    return x + way_m * math.cos(heading), y + way_m * math.sin(heading)


def mates_over(what: str) -> BlackboardMates | RadioMates:
    """Return the class that sends and remembers reports: over the ``blackboard`` or the ``radio``.

    Raises:
        UnknownNameError: ``what`` is neither.
    """
    if what not in OVER:
        raise UnknownNameError("way to report", what, OVER)
    return BlackboardMates() if what == "blackboard" else RadioMates(every_s=0.5)
