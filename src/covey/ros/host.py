"""`BridgeHost`: controllers in the simulation's process, with an exchange with ROS 2 before they decide."""

from typing import Protocol

from covey.runtime.host import NONE, Answers, GroupAnswers, Team
from covey.runtime.local.host import LocalHost


class ExchangeStep(Protocol):
    """What happens with what the robots have just sensed, before they decide."""

    host: "BridgeHost"
    repeatable: bool

    def exchange(self) -> None:
        """Tell ROS what the robots have sensed, and take its commands."""
        ...


class BridgeHost(LocalHost):
    """Controllers in the simulation's process. Before they decide, a bridge has its exchange."""

    def __init__(self, bridge: ExchangeStep, team: Team):
        super().__init__(team)
        self.repeatable = bridge.repeatable
        self._bridge, bridge.host = bridge, self

    def begin(self, step: int, time_s: float) -> tuple[Answers, GroupAnswers]:
        """Exchange with ROS what belongs to this step."""
        self._bridge.exchange()
        return NONE
