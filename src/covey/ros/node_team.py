"""`NodeTeam`: how a controller that is a node of ROS 2 talks with its team."""

import logging
import sys
from typing import Any

from covey.clock import Clock
from covey.comms.blackboard import GONE
from covey.comms.mailbox import Outgoing
from covey.comms.message import Message
from covey.errors import CoveyError
from covey.geometry.se2 import Pose
from covey.mapping.elevation.apart import OwnElevation
from covey.mapping.occupancy.apart import OwnBelief
from covey.onboard.step import Requests, TeamUpdate
from covey.plain import PlainError, decode
from covey.ros.dds import Node
from covey.ros.node_maps import MAP_KINDS, NodeExchange
from covey.ros.node_setup import NodeSetup
from covey.ros.team_letters import KIND, LETTERS, RADIO, ReceivedMessage, TeamLetter, encoded, letter_bytes, read_letter
from covey.ros.types import MessageError

LOG = logging.getLogger("covey")
TEAM_TOPIC = "/covey/team"
"""Where nodes write to each other without a simulated radio."""


class NodeTeam:
    """The team as the node of one robot hears it, and talks to it.

    Args:
        node: of the controller, in the namespace of the robot.
        setup: the robot.
        direct: there is no simulated radio: the nodes of the team write to each other on `TEAM_TOPIC`.

    Attributes:
        bad: number of letters and messages that could not be read.
    """

    def __init__(self, node: Node, setup: NodeSetup, direct: bool):
        self._types, self._setup, self._direct = node.participant.types, setup, direct
        self._name, self._names = setup.spawn.spec.name, frozenset(setup.spawn.team)
        said, heard = (TEAM_TOPIC, TEAM_TOPIC) if direct else (f"radio/{RADIO}", f"heard/{RADIO}")
        self._said = node.writer(said, KIND, LETTERS)
        self._heard = node.reader(heard, KIND, LETTERS)
        self._module = sys.modules.get(setup.spawn.program.factory.__module__)
        self._exchange: NodeExchange | None = None
        self.bad, self._warned = 0, False
        self.begin()

    def begin(self) -> None:
        """Forget the team: time begins anew."""
        self._number, self._at_ns = 0, -1
        self._wishes: set[str] = set()
        self._maps: list[Outgoing] = []
        self._exchange = None
        self._frames: dict[str, Pose] | None = None
        self._heard.take()

    def share(self, belief: OwnBelief | OwnElevation | None, clock: Clock) -> None:
        """Exchange a map with the others from now on, if the robot does."""
        sharing = self._setup.sharing
        self._exchange = None if sharing is None or belief is None else NodeExchange(belief, sharing, clock)

    def hear(self, clock: Clock) -> TeamUpdate | None:
        """Take what has come, and exchange maps; return what the controller is to hear."""
        messages: list[Message] = []
        entries: dict[str, Any] = {}
        for letter in self._letters(clock.time_s):
            messages += filter(None, map(self._message, letter.messages))
            for key, value in letter.entries.items():
                entries[key] = GONE if value is None else self._value(value)
        if self._exchange is not None:
            self._maps = self._exchange.run(self._wishes)
            self._wishes = set()
        frames = self._news_of_frames() if self._setup.spawn.own_frames else None
        if not messages and not entries and frames is None:
            return None
        return TeamUpdate(tuple(messages), tuple(entries.items()), frames)

    def _news_of_frames(self) -> dict[str, Pose] | None:
        """Return the frames of others that it has found, and its own; None: nothing is new."""
        known = None if self._exchange is None else self._exchange.frames
        found = {self._name: Pose(0.0, 0.0, 0.0)} if known is None else dict(known)
        if found == self._frames:
            return None
        self._frames = found
        return found

    def write(self, asked: Requests | None, now_ns: int) -> None:
        """Send what the robot and its controller want to say.

        Raises:
            InvalidValueError: a message cannot be sent to other nodes.
        """
        asked = asked or Requests()
        self._wishes.update(asked.maps)
        messages = [*self._maps, *asked.messages]
        entries = {key: None if value is GONE else encoded(value) for key, value in asked.entries}
        self._maps = []
        if not messages and not entries:
            return
        data = letter_bytes(self._types, TeamLetter(self._name, now_ns, messages, entries))
        self._said.write(data)
        self._said.settle(data)
        if not self._warned and not self._said.matched:
            self._warned = True
            hint = "no other node of its team is there yet"
            if not self._direct:
                hint = (
                    "nobody carries its messages to the team: covey ros run would. Nodes of robots without a simulated "
                    "radio need --direct, all of a team alike"
                )
            LOG.warning("%s: %s", self._name, hint)

    def _letters(self, time_s: float) -> list[TeamLetter]:
        """Return the letters with what was heard since the last call."""
        found: list[TeamLetter] = []
        for data in self._heard.take():
            try:
                letter = read_letter(self._types, data, heard=not self._direct)
            except MessageError as error:
                self._refuse(str(error))
                continue
            if not self._direct and letter.owner == self._name and letter.at_ns > self._at_ns:
                self._at_ns = letter.at_ns  # it may come twice
                found.append(letter)
            elif self._direct and letter.owner in self._names and letter.owner != self._name:
                own = [m for m in letter.messages if m.to in (None, self._name)]
                heard = [
                    ReceivedMessage(letter.owner, m.to, m.kind, m.payload, m.size_bytes, time_s, time_s, 1) for m in own
                ]
                found.append(TeamLetter(letter.owner, letter.at_ns, heard, letter.entries))
        return found

    def _message(self, heard: ReceivedMessage) -> Message | None:
        """Return a message for the controller; None if it is about maps, or cannot be read."""
        if heard.sender not in self._names:
            return None
        if self._exchange is not None:
            self._exchange.hears(heard.sender)
        try:
            if heard.kind in MAP_KINDS:
                if self._exchange is not None:
                    self._exchange.receive(heard)
                return None
            payload = decode(heard.payload, self._module)
        except CoveyError as error:
            self._refuse(f"{heard.kind or 'a message'} from {heard.sender}: {error}")
            return None
        self._number += 1
        return Message(
            heard.sender,
            heard.to,
            heard.kind,
            payload,
            heard.size_bytes,
            heard.sent_s,
            heard.received_s,
            heard.hops,
            self._number,
        )

    def _value(self, value: Any) -> Any:
        try:
            return decode(value, self._module)
        except PlainError as error:
            self._refuse(str(error))
            return None

    def _refuse(self, why: str) -> None:
        """Leave out what has come; the first is said."""
        if not self.bad:
            LOG.warning("%s: something from the team is left out: %s", self._name, why)
        self.bad += 1
