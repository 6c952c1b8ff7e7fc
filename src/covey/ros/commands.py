"""`Commands`: what ROS 2 tells one robot to do."""

import logging
from typing import Any

from covey.geometry.se2 import Pose
from covey.onboard.handle import Robot
from covey.onboard.motions import STILL
from covey.ros import messages as m
from covey.ros.messages import Stamp
from covey.ros.robot_node import RobotNode
from covey.ros.types import MessageError

LOG = logging.getLogger("covey")


class Commands:
    """The commands of ROS to one robot, by topics.

    ==============  =============================  =====================================================================
    topic           type                           effect
    ==============  =============================  =====================================================================
    ``cmd_vel``     Twist, or TwistStamped         it drives so until the next command, or until they have been silent
    ``goal_pose``   geometry_msgs/PoseStamped      its navigator drives it there; the next cmd_vel ends that
    ``path``        nav_msgs/Path                  it follows the poses
    ``leave_tag``   std_msgs/String                it leaves a tag where it stands
    ``report``      visualization_msgs/Marker      it reports target ``id`` at the position of ``pose`` to the referee
    ``ready``       rosgraph_msgs/Clock            in lockstep: all of its commands up to this time have been sent
    ==============  =============================  =====================================================================

    Args:
        node: the node of the robot.
        stamped: cmd_vel is a TwistStamped.
        timeout_s: it stops when cmd_vel has been silent for this time [s].

    Attributes:
        answered: the newest time for which it has an answer; None: none.
        bad: number of messages that could not be used.
    """

    def __init__(self, node: RobotNode, stamped: bool, timeout_s: float):
        self._node, self._timeout_s, self._types = node, timeout_s, node.types
        self._twist_kind = f"geometry_msgs/msg/Twist{'Stamped' * stamped}"
        self._stamped = stamped
        self._twist = node.reader("cmd_vel", self._twist_kind)
        kinds = {
            "goal_pose": "geometry_msgs/msg/PoseStamped",
            "path": "nav_msgs/msg/Path",
            "leave_tag": "std_msgs/msg/String",
            "report": "visualization_msgs/msg/Marker",
        }
        self._others = [(name, kind, node.reader(name, kind)) for name, kind in kinds.items()]
        self._ready = node.reader("ready", "rosgraph_msgs/msg/Clock")
        self.bad = 0
        self.begin()

    def begin(self) -> None:
        """Forget what was commanded: a new run begins."""
        self.answered: Stamp | None = None
        self._since_s: float | None = None  # the time of the last cmd_vel, while it drives

    def take(self, robot: Robot, time_s: float, odom: Pose) -> None:
        """Do what has been commanded since the last call.

        Args:
            robot: its handle.
            time_s: simulated time [s].
            odom: pose of the frame odom in the frame map.
        """
        newest = None
        for data in self._twist.take():
            message = self._decoded("cmd_vel", self._twist_kind, data)
            twist = None if message is None else m.twist_of(message)
            if message is not None and twist is None:
                self._refuse("cmd_vel", "a number is not finite")
            if message is not None and self._stamped:
                self._answer(message.header.stamp)
            newest = twist or newest
        if newest is not None:
            robot.drive(newest[0], newest[2], vy=newest[1])
            self._since_s = time_s
        elif self._since_s is not None and time_s > self._since_s + self._timeout_s + 1e-9:
            if robot.status == "driving":
                robot.stop()
            self._since_s = None
        for name, kind, reader in self._others:
            for data in reader.take():
                message = self._decoded(name, kind, data)
                if message is not None:
                    getattr(self, f"_{name}")(robot, message, odom)
        for data in self._ready.take():
            message = self._decoded("ready", "rosgraph_msgs/msg/Clock", data)
            if message is not None:
                self._answer(message.clock)

    def has_answered(self, stamp: Stamp) -> bool:
        """Return whether there is an answer for a time."""
        return self.answered is not None and self.answered >= stamp

    def _answer(self, stamp: Any) -> None:
        at = stamp.sec, stamp.nanosec
        self.answered = at if self.answered is None else max(self.answered, at)

    def _decoded(self, name: str, kind: str, data: bytes) -> Any:
        try:
            return self._types.decode(kind, data)
        except MessageError as error:
            self._refuse(name, str(error))
            return None

    def _refuse(self, topic: str, why: str) -> None:
        """Leave out a message; said once."""
        if not self.bad:
            LOG.warning("%s: a message on %s is left out: %s", self._node.robot, topic, why)
        self.bad += 1

    def _goal_pose(self, robot: Robot, message: Any, odom: Pose) -> None:
        goal = self.in_map(message, odom)
        if goal is not None:
            robot.goto(goal)
            self._since_s = None

    def _path(self, robot: Robot, message: Any, odom: Pose) -> None:
        poses = [self.in_map(at, odom, message.header.frame_id) for at in message.poses]
        if poses and None not in poses:
            robot.follow([pose[:2] for pose in poses if pose is not None])
            self._since_s = None

    def _leave_tag(self, robot: Robot, message: Any, _odom: Pose) -> None:
        robot.leave_tag(message.data)

    def _report(self, robot: Robot, message: Any, _odom: Pose) -> None:
        at = message.pose.position
        if m.planar_pose(message.pose) is None or at.z != at.z:
            self._refuse("report", "a number is not finite")
        else:
            robot.report(message.id, (at.x, at.y, at.z))

    def in_map(self, stamped: Any, odom: Pose, frame: str = "") -> Pose | None:
        """Return the pose of a decoded PoseStamped in the frame map; None if it cannot be used.

        Args:
            stamped: the message.
            odom: pose of the frame odom in the frame map.
            frame: the frame, if the message itself names none.
        """
        frame, pose = stamped.header.frame_id or frame or m.MAP, m.planar_pose(stamped.pose)
        if pose is None:
            self._refuse("a pose", "a number is not finite")
        elif frame == self._node.frame(m.ODOM):
            return odom @ pose
        elif frame in (m.MAP, self._node.frame(m.MAP)):
            return pose
        else:
            self._refuse("a pose", f"its frame is {frame!r}; give it in map or odom")
        return None


def stands_still(robot: Robot) -> bool:
    """Return whether a robot has been told nothing that it still does."""
    return robot.status in ("idle", "done") and robot.twist == STILL
