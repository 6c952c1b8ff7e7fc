"""Communication: deliver the messages of the last step, leave and read tags, update the blackboard."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from covey.comms.blackboard import Blackboard
from covey.comms.mailbox import Mailbox
from covey.comms.network import Network
from covey.comms.radio import Radio
from covey.comms.samples import RadioSample
from covey.comms.tags import Tag, TagField, TagReading, Tags
from covey.robots.team import TeamState
from covey.runtime.execution import Execution
from covey.world.state import AnyWorld


class Communication:
    """The communication of a team.

    Attributes:
        network: carries the messages.
        tags: the tags in the environment.
        blackboard: the blackboard.
        sample: radio data to record in this step; None in most steps.
        tags_in_reach: tags in reach of each robot that reads tags, by team index.
        events: tags left in this step: robot, x, y [m] and content.
    """

    def __init__(self, names: list[str], radios: Sequence[Radio], tags: Tags, seed: int, execution: Execution):
        team = tuple(names)
        self.mailboxes = [Mailbox(name, team) for name in names]
        self.network = Network(self.mailboxes, radios, seed, execution.log_messages)
        self.sample: RadioSample | None = None
        self._every_s, self._next_s = execution.links_every_s, 0.0
        self.tags, self.blackboard = TagField(tags), Blackboard()
        self.events: list[tuple[int, float, float, Any]] = []
        self.tags_in_reach: dict[int, list[TagReading]] = {}

    def is_idle(self, left: list[tuple[int, Any, float]], time_s: float) -> bool:
        """Return whether there is nothing to deliver, to record, to leave or to read; advance to a time [s] then.

        Args:
            left: new tags, see `exchange`.
            time_s: the present time [s].
        """
        if left or self.events or self.tags.tags or self.blackboard.pending or not self.network.is_idle(time_s):
            return False
        if self._is_due(time_s):
            return False
        self.sample, self.tags_in_reach = None, {}
        return True

    def _is_due(self, time_s: float) -> bool:
        """Return whether radio data are to be recorded."""
        return self.network.used and time_s >= self._next_s - 1e-9

    def exchange(
        self,
        world: AnyWorld,
        state: TeamState,
        left: list[tuple[int, Any, float]],
        readers: Iterable[int],
        alive: np.ndarray,
        time_s: float,
    ) -> None:
        """Deliver the messages and tags of the last step.

        Args:
            world: its walls hide tags, and weaken the radio.
            state: the true poses.
            left: new tags: robot, content, and lifetime [s]; the list is emptied.
            readers: team indices of the robots that read tags.
            alive: robots whose radio works, bool (n,).
            time_s: the present time [s].
        """
        self.network.deliver(world, state.pose, alive, time_s)
        self.sample = None
        if self._is_due(time_s):
            self._next_s = time_s + self._every_s
            self.sample = self.network.sample(world, state.pose, alive, time_s)
        if self.blackboard.pending:
            self.blackboard.turn()
        if left or self.events:
            self._leave(state, left, time_s)
        self.tags_in_reach = {}
        if self.tags.tags:
            self.tags.expire(time_s)
            skip, frame = world.skip, world.grid.frame
            self.tags_in_reach = {i: self.tags.read(state.pose[i], time_s, skip, frame) for i in readers}

    def _leave(self, state: TeamState, left: list[tuple[int, Any, float]], time_s: float) -> None:
        self.events.clear()
        for i, content, lifetime_s in left:
            x, y = state.pose[i, :2].tolist()
            self.events.append((i, x, y, content))
            self.tags.leave(Tag(x, y, content, self.mailboxes[i].owner, time_s, time_s + lifetime_s))
        left.clear()
