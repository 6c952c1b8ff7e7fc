"""How a motion ended."""

from dataclasses import dataclass
from typing import Literal

State = Literal["reached", "cancelled", "unreachable", "stuck"]


@dataclass(frozen=True)
class Outcome:
    """What ``await robot.goto(...)`` and the other motions return; true exactly when the motion reached its end."""

    state: State
    reason: str = ""

    def __bool__(self) -> bool:
        return self.state == "reached"


REACHED = Outcome("reached")
