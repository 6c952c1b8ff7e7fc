"""`RadioTopics`: messages between ROS programs that go over the simulated radio of their robots."""

from covey.errors import InvalidValueError
from covey.onboard.handle import Robot
from covey.ros.qos import COMMAND
from covey.ros.robot_node import RobotNode

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
