"""Talking: the messages of the last step are delivered, tags are left and read, the notice board turns."""

from collections.abc import Sequence

import numpy as np

from covey.comms.board import Board
from covey.comms.mailbox import Mailbox
from covey.comms.network import Network
from covey.comms.radio import Radio
from covey.comms.tags import Tag, TagField, Tags
from covey.robots.handle import Robot
from covey.robots.team import TeamState
from covey.world.world import World


class Talking:
    """What the robots of a team say to one another.

    Attributes:
        network: carries the messages.
        tags: what has been left in the environment.
        board: what stands on the notice board.
    """

    def __init__(self, names: list[str], radios: Sequence[Radio], tags: Tags, seed: int):
        self.mailboxes = [Mailbox(name, tuple(names)) for name in names]
        self.network = Network(self.mailboxes, radios, seed)
        self.tags, self.board = TagField(tags), Board()

    def exchange(
        self, world: World, state: TeamState, robots: dict[int, Robot], alive: np.ndarray, time_s: float
    ) -> None:
        """Deliver what was sent and left in the last step.

        Args:
            world: its walls hide tags, and weaken the radio.
            state: the true poses.
            robots: the handles of the robots that have one, by team index.
            alive: whose radio works, bool (n,).
            time_s: the time now [s].
        """
        self.network.deliver(world, state.pose, alive, time_s)
        self.board.turn()
        self._leave(state, robots, time_s)
        self.tags.expire(time_s)
        for i, robot in robots.items():
            if self.tags.tags or robot._tags:
                robot._tags = self.tags.read(state.pose[i], time_s, world.skip, world.grid.frame)

    def _leave(self, state: TeamState, robots: dict[int, Robot], time_s: float) -> None:
        for i, robot in robots.items():
            for content, lifetime_s in robot._left_tags:
                x, y = state.pose[i, :2].tolist()
                self.tags.leave(Tag(x, y, content, robot.name, time_s, time_s + lifetime_s))
            robot._left_tags.clear()
