"""`NodeRequests`: what a controller that is a node of ROS 2 asks for besides its motion, and the answers to it."""

import json
import logging
import math
from collections import defaultdict, deque
from collections.abc import Sequence
from typing import Any

from covey.comms.tags import TagReading
from covey.onboard.step import Requests
from covey.ros.dds import Node
from covey.ros.qos import COMMAND, STATE
from covey.ros.types import MessageError

LOG = logging.getLogger("covey")
_STRING, _MARKER = "std_msgs/msg/String", "visualization_msgs/msg/Marker"
_MARKERS = "visualization_msgs/msg/MarkerArray"


class NodeRequests:
    """Tags and reports of a controller.

    Args:
        node: of the controller, in the namespace of the robot.
        name: of the robot.
    """

    def __init__(self, node: Node, name: str):
        self._types, self._name = node.participant.types, name
        self._leave = node.writer("leave_tag", _STRING, COMMAND)
        self._report = node.writer("report", _MARKER, COMMAND)
        self._answers = node.reader("report_answer", _STRING, STATE)
        self._tags = node.reader("tags", _MARKERS, STATE)
        self.begin()

    def begin(self) -> None:
        """Forget what was asked for: time begins anew."""
        self._asked: dict[int, deque[int]] = defaultdict(deque)  # numbers of the reports of a target
        self._near: list[TagReading] = []
        self._warned = False

    def ask(self, asked: Requests) -> None:
        """Ask for what a controller wants."""
        for content, _ in asked.tags:
            text = content if isinstance(content, str) else json.dumps(content, default=str)
            self._leave.write(self._types.encode(_STRING, {"data": text}))
        for number, identity, x, y, height in asked.reports:
            self._asked[identity].append(number)
            at = {"position": {"x": x, "y": y, "z": 0.0 if math.isnan(height) else height}}
            values = {"header": {"frame_id": "map"}, "id": identity, "pose": at}
            self._report.write(self._types.encode(_MARKER, values))
        if asked.digs and not self._warned:
            self._warned = True
            LOG.warning("%s: digging has no topic; it is left out", self._name)

    def answers(self) -> list[tuple[int, str]]:
        """Return number and answer of each report that was answered since the last call."""
        found: list[tuple[int, str]] = []
        for data in self._answers.take():
            message = self._decoded(_STRING, data)
            identity, _, answer = ("" if message is None else message.data).partition(" ")
            waiting = self._asked.get(int(identity) if identity.lstrip("-").isdecimal() else -1)
            if waiting:
                found.append((waiting.popleft(), answer))
        return found

    def tags(self) -> Sequence[TagReading]:
        """Return the tags in reach, nearest first."""
        for data in self._tags.take()[-1:]:
            message = self._decoded(_MARKERS, data)
            seen = [] if message is None else [one for one in message.markers if one.action == 0]
            places = [(one, one.pose.position.x, one.pose.position.y) for one in seen]
            self._near = [
                TagReading(math.hypot(x, y), math.atan2(y, x), one.text, one.ns, math.nan) for one, x, y in places
            ]
        return self._near

    def _decoded(self, kind: str, data: bytes) -> Any:
        try:
            return self._types.decode(kind, data)
        except MessageError:
            return None
