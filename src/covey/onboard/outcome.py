"""The outcome of a motion."""

from dataclasses import dataclass
from typing import Literal

State = Literal["reached", "cancelled", "unreachable", "stuck"]


@dataclass(frozen=True)
class Outcome:
    """The result of ``await robot.goto(...)`` and the other motions; true if and only if the motion reached its end."""

    state: State
    reason: str = ""

    def __bool__(self) -> bool:
        return self.state == "reached"


REACHED = Outcome("reached")
