"""Messages between ROS programs that go over the simulated radio of their robots: of any type, and of our own nodes."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from covey.comms.blackboard import GONE, Blackboard
from covey.comms.mailbox import Mailbox, Outgoing
from covey.errors import CoveyError, InvalidValueError
from covey.onboard.handle import Robot
from covey.plain import PlainError, decode
from covey.ros.qos import COMMAND
from covey.ros.robot_node import RobotNode
from covey.ros.team_letters import KIND, LETTERS, RADIO, ReceivedMessage, TeamLetter, encoded, letter_bytes, read_letter

TEXT = "text", "std_msgs/msg/String"
"""The topic that every robot has."""


class RadioTopics:
    """Topics of one robot that go over its radio.

    What is sent to ``radio/NAME`` is broadcast; robots that hear it, by the links, get it on ``heard/NAME`` with the
    bytes unchanged, in the next step at the earliest.

    Args:
        node: the node of the robot.
        topics: names and types.
    """

    def __init__(self, node: RobotNode, topics: tuple[tuple[str, str], ...]):
        self._node, kinds = node, dict((TEXT, *topics))
        self._said = {name: node.reader(f"radio/{name}", kind, COMMAND) for name, kind in kinds.items()}
        self._heard = {name: node.topic(f"heard/{name}", kind, COMMAND) for name, kind in kinds.items()}

    def hear(self, robot: Robot) -> None:
        """Pass on what the robot has heard."""
        for name, send in self._heard.items():
            for message in robot.messages(f"ros/{name}"):
                send(message.payload)

    def say(self, robot: Robot) -> None:
        """Broadcast what was sent since the last call."""
        for name, reader in self._said.items():
            for data in reader.take():
                self.broadcast(robot, name, data)

    def broadcast(self, robot: Robot, name: str, data: bytes) -> bool:
        """Broadcast the bytes of a message; return False, and count it, if no radio could send it."""
        try:
            robot.send(data, kind=f"ros/{name}")
        except InvalidValueError:  # it is too large
            self._node.refused += 1
            return False
        return True


class TeamRadio:
    """The radio of one robot for a controller that is a node, see `covey.ros.node_team.NodeTeam`.

    What the node writes on ``radio/covey`` goes into the mailbox of the robot as if its controller had written it, with
    the same size, receiver and kind; what the robot hears goes to ``heard/covey``, a letter a step.

    Args:
        node: the node of the robot.
        mixed: robots whose controllers run in the simulation read the messages, too.

    Attributes:
        used: whether the node of a controller has written.
    """

    def __init__(self, node: RobotNode, mixed: bool):
        self._node, self._mixed, self.used = node, mixed, False
        self._said = node.reader(f"radio/{RADIO}", KIND, LETTERS)
        self._heard = node.node.writer(f"heard/{RADIO}", KIND, LETTERS)
        self._readers, self._told = frozenset[int](), dict[str, Any]()

    def hear(self, mailbox: Mailbox, entries: Mapping[str, Any], now_ns: int) -> None:
        """Pass on what the robot has heard until a time [ns], and what is new on the blackboard."""
        messages, readers = mailbox.pop(None), self._heard.readers
        if not (messages or entries or self._told):  # as in most steps
            return
        if readers != self._readers:  # a newcomer knows nothing
            self._readers, self._told = readers, {}
        if not readers:
            return
        told, self._told = self._told, dict(entries)
        news: dict[str, bytes | None] = dict.fromkeys(told.keys() - entries.keys())
        heard: list[ReceivedMessage] = []
        for key, value in entries.items():
            if told.get(key, self) is not value and (data := self._encoded(value)) is not None:
                news[key] = data
        for message in messages:
            if (data := self._encoded(message.payload)) is not None:
                heard.append(ReceivedMessage.of(message, data))
        if not heard and not news:
            return
        letter = letter_bytes(self._node.types, TeamLetter(self._node.robot, now_ns, heard, news))
        self._node.sent.append((self._heard, letter))
        self._node.write(self._heard, letter)
        self._heard.settle(letter)

    def say(self, mailbox: Mailbox, blackboard: Blackboard) -> list[str]:
        """Send what the node has written since the last call; return why letters and messages were left out."""
        wrong: list[str] = []
        for data in self._said.take():
            try:
                letter = read_letter(self._node.types, data, heard=False)
                self.used = True
                for message in letter.messages:
                    mailbox.post(self._plain(message) if self._mixed else message)
                for key, value in letter.entries.items():
                    blackboard.pending.append((key, GONE if value is None else _decoded(value)))
            except CoveyError as error:
                wrong.append(str(error))
        return wrong

    def _encoded(self, value: Any) -> bytes | None:
        """Return a value of a controller of the simulation, or of a node; None if only the simulation can read it."""
        try:
            return encoded(value)
        except InvalidValueError:
            self._node.refused += 1
            return None

    def _plain(self, message: Outgoing) -> Outgoing:
        """Return a message as a controller of the simulation reads it, if it can be read here."""
        return replace(message, payload=_decoded(message.payload))


def _decoded(value: Any) -> Any:
    """Return the value in `Encoded`; what cannot be read here stays as it is."""
    try:
        return decode(value)
    except PlainError:
        return value
