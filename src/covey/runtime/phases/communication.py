"""Talking: the messages of the last step are delivered, tags are left and read, the notice board turns."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from covey.comms.blackboard import Board
from covey.comms.mailbox import Mailbox
from covey.comms.network import Network
from covey.comms.radio import Radio
from covey.comms.samples import Sample
from covey.comms.tags import Tag, TagField, Tags
from covey.comms.traffic import Log
from covey.onboard.handle import Robot
from covey.robots.team import TeamState
from covey.world.world import World


class Talking:
    """What the robots of a team say to one another.

    Attributes:
        network: carries the messages.
        tags: what has been left in the environment.
        board: what stands on the notice board.
        sample: what there is to record about the radio in this step; None at most steps.
        events: tags that were left in this step: robot, x, y [m] and content.
    """

    def __init__(self, names: list[str], radios: Sequence[Radio], tags: Tags, seed: int, every_s: float, log: Log):
        self.mailboxes = [Mailbox(name, tuple(names)) for name in names]
        self.network = Network(self.mailboxes, radios, seed, log)
        self.sample: Sample | None = None
        self._every_s, self._next_s = every_s, 0.0
        self.tags, self.board = TagField(tags), Board()
        self.events: list[tuple[int, float, float, Any]] = []
        self._shows = False  # whether robots may still hold readings of tags

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
        self.sample = None
        if self.network.used and time_s >= self._next_s - 1e-9:
            self._next_s = time_s + self._every_s
            self.sample = self.network.look(world, state.pose, alive, time_s)
        self.board.turn()
        self._leave(state, robots, time_s)
        self.tags.expire(time_s)
        if self.tags.tags or self._shows:
            self._shows = bool(self.tags.tags)
            for i, robot in robots.items():
                robot._tags = self.tags.read(state.pose[i], time_s, world.skip, world.grid.frame)

    def _leave(self, state: TeamState, robots: dict[int, Robot], time_s: float) -> None:
        self.events.clear()
        for i, robot in robots.items():
            if not robot._left_tags:
                continue
            for content, lifetime_s in robot._left_tags:
                x, y = state.pose[i, :2].tolist()
                self.events.append((i, x, y, content))
                self.tags.leave(Tag(x, y, content, robot.name, time_s, time_s + lifetime_s))
            robot._left_tags.clear()
