"""`RobotNode`: the node of one robot in the graph of ROS 2: its names, its frames, and what it has sent."""

import re
from collections.abc import Callable, Container
from typing import Any

from covey.errors import CoveyError
from covey.ros.dds import Node, Participant, Reader, Writer
from covey.ros.messages import MAP
from covey.ros.qos import COMMAND, QosProfile

Send = Callable[[bytes], None]


class RobotNode:
    """The node of one robot.

    Args:
        participant: of the process.
        robot: name of the robot; its namespace is the same, with ``_`` for what a namespace cannot hold.
        prefixed: the names of its frames begin with its name.
        own_map: it does not know the starts of all, and has a map frame of its own.
        lockstep: each message is kept for a reader that comes within the step. Otherwise those that nobody hears are
            not sent.
        planar: it does not roll and pitch.

    Attributes:
        namespace: such as ``scout0``.
        map_frame: the frame in which it says where it is: ``map``, also if it is prefixed, or its own.
        sent: in lockstep, the messages of this step, with their writers.
        refused: number of messages that no reader took in time.
    """

    def __init__(
        self, participant: Participant, robot: str, prefixed: bool, own_map: bool, lockstep: bool, planar: bool
    ):
        self.robot, self.namespace, self.prefixed = robot, namespace_of(robot), prefixed
        self.types = participant.types
        self.map_frame = self.frame(MAP) if own_map else MAP
        self.node: Node = participant.node("covey", f"/{self.namespace}")
        self.sent: list[tuple[Writer, bytes]] = []
        self.refused, self.lockstep, self.planar = 0, lockstep, planar

    def frame(self, name: str) -> str:
        """Return the full name of one of its frames."""
        return f"{self.namespace}/{name}" if self.prefixed else name

    def topic(self, name: str, kind: str, profile: QosProfile) -> Send:
        """Return a function that sends the bytes of a message on a topic."""
        return self.sender(self.node.writer(name, kind, profile))

    def sender(self, writer: Writer) -> Send:
        """Return a function that sends the bytes of a message with a writer, if somebody hears it."""

        def send(data: bytes) -> None:
            if self.lockstep:  # who joins while it waits gets it, too
                self.sent.append((writer, data))
            if writer.readers:
                self.write(writer, data)

        return send

    def messages(self, name: str, kind: str, profile: QosProfile) -> Callable[[dict[str, Any]], None]:
        """Return a function that sends a message, given by its fields, on a topic."""
        writer, encode = self.node.writer(name, kind, profile), self.types.encode
        send = self.sender(writer)

        def send_values(values: dict[str, Any]) -> None:
            if self.lockstep or writer.readers:
                send(encode(kind, values))

        return send_values

    def reader(self, name: str, kind: str, profile: QosProfile = COMMAND) -> Reader:
        """Return a reader of a topic."""
        return self.node.reader(name, kind, profile)

    def send_again(self, to: Container[Writer] | None = None) -> None:
        """Send the messages of this step again; ``to``: only those of some writers, whose readers have just come."""
        for writer, data in self.sent:
            if to is None or writer in to:
                self.write(writer, data)

    def write(self, writer: Writer, data: bytes) -> None:
        """Send a message; one that a stuck reader does not take is lost, and counted."""
        try:
            writer.write(data)
        except CoveyError:
            self.refused += 1


def namespace_of(robot: str) -> str:
    """Return the namespace of a robot.

    Examples:
        >>> namespace_of("scout0"), namespace_of("tb3-1"), namespace_of("7")
        ('scout0', 'tb3_1', 'robot_7')
    """
    name = re.sub(r"\W", "_", robot, flags=re.ASCII)
    return f"robot_{name}" if name[:1].isdigit() or not name else name
