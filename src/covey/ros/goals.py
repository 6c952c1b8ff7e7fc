"""`NavigationActions`: goals and paths from ROS 2, as topics and as actions, for the robot's own navigator."""

import math
from collections.abc import Callable
from typing import Any

from covey.geometry.se2 import Pose
from covey.onboard.handle import Robot
from covey.onboard.motions import Motion
from covey.ros import messages as m
from covey.ros.actions import ActionGoal, ActionServer, Status
from covey.ros.messages import Stamp
from covey.ros.robot_node import RobotNode

InMap = Callable[[Any, str], Pose | None]
"""Returns the pose of a decoded PoseStamped in the frame map; the second argument is its frame if it names none."""
Place = tuple[float, float]
"""Where a motion ends: x, y [m] in the frame map."""
_TO, _ALONG = "nav2_msgs/action/NavigateToPose", "nav2_msgs/action/FollowPath"
_FAILED = 1  # any error code but 0


class NavigationActions:
    """The actions ``navigate_to_pose`` and ``follow_path`` of one robot, and the topics ``goal_pose`` and ``path``.

    A new goal, a new path, or a cmd_vel ends the one before it, whose action is then aborted.
    """

    def __init__(self, node: RobotNode):
        self._node = node
        self._to = ActionServer(node.node, "navigate_to_pose", _TO)
        self._along = ActionServer(node.node, "follow_path", _ALONG)
        self._topics = [
            (kind, node.reader(name, kind), go)
            for name, kind, go in (
                ("goal_pose", "geometry_msgs/msg/PoseStamped", self._goto),
                ("path", "nav_msgs/msg/Path", self._follow),
            )
        ]
        self._doing: tuple[ActionServer, ActionGoal, Motion, Place] | None = None
        self._told_s = -math.inf

    def begin(self) -> None:
        """Abort what is under way: a new run begins."""
        if self._doing is not None:
            self._end(Status.ABORTED, "the run ended")
        self._told_s = -math.inf

    def start_goals(self, robot: Robot, stamp: Stamp, in_map: InMap, decoded: Callable[..., Any]) -> None:
        """Begin what was asked for.

        Args:
            robot: its handle.
            stamp: the present time.
            in_map: see `InMap`.
            decoded: decodes a message, given topic, type and bytes; None if it is none.
        """
        now_ns = stamp[0] * 1_000_000_000 + stamp[1]
        for kind, reader, go in self._topics:
            for data in reader.take():
                message = decoded("a goal", kind, data)
                if message is not None:
                    go(robot, message, in_map)
        for server, go, asked in ((self._to, self._goto, "pose"), (self._along, self._follow, "path")):
            for goal in server.new_goals(now_ns):
                begun = go(robot, getattr(goal.goal, asked), in_map)
                if begun is None:
                    goal.reject()
                    continue
                if self._doing is not None:
                    self._end(Status.ABORTED, "another goal replaced it")
                goal.accept()
                self._doing, self._told_s = (server, goal, *begun), -math.inf

    def look_after(self, robot: Robot, stamp: Stamp, at: Pose) -> None:
        """End what is done or cancelled, and tell how the rest goes; ``at``: the estimated pose."""
        if self._doing is None:
            return
        now_ns = stamp[0] * 1_000_000_000 + stamp[1]
        server, goal, motion, end = self._doing
        if goal.status == Status.CANCELING:
            if motion.outcome is None:
                robot.stop()
            self._end(Status.CANCELED)
        elif motion.outcome is not None:
            reached = motion.outcome.state == "reached"
            why = motion.outcome.reason or motion.outcome.state
            self._end(Status.SUCCEEDED if reached else Status.ABORTED, "" if reached else why)
        elif (now_s := now_ns * 1e-9) >= self._told_s + 1.0 - 1e-9:
            self._told_s = now_s
            left = at.distance_to(end)
            goal.feedback(self._feedback(server, goal, now_ns, at, left, stamp))

    def _feedback(
        self, server: ActionServer, goal: ActionGoal, now_ns: int, at: Pose, left: float, stamp: Stamp
    ) -> m.Fields:
        if server is self._along:
            known: m.Fields = {"distance_to_goal": left}
        else:
            passed = divmod(now_ns - goal.accepted_ns, 1_000_000_000)
            pose = {"header": m.header(stamp, self._node.map_frame), "pose": m.pose(at)}
            known = {"current_pose": pose, "navigation_time": m.time(passed), "distance_remaining": left}
        return self._of(f"{server.kind}_Feedback", known)

    def _end(self, status: Status, why: str = "") -> None:
        assert self._doing is not None
        server, goal, *_ = self._doing
        self._doing = None
        result = {"error_code": _FAILED if why else 0, "error_msg": why}
        goal.end(status, self._of(f"{server.kind}_Result", result))

    def _of(self, kind: str, values: m.Fields) -> m.Fields:
        """Return the values that a type has in this distribution."""
        names = {name for name, _ in self._node.types.fields(kind)}
        return {name: value for name, value in values.items() if name in names}

    def _goto(self, robot: Robot, message: Any, in_map: InMap) -> tuple[Motion, Place] | None:
        goal = in_map(message, "")
        return None if goal is None else (robot.goto(goal), goal[:2])

    def _follow(self, robot: Robot, message: Any, in_map: InMap) -> tuple[Motion, Place] | None:
        poses = [in_map(one, message.header.frame_id) for one in message.poses]
        points = [pose[:2] for pose in poses if pose is not None]
        return (robot.follow(points), points[-1]) if points and len(points) == len(poses) else None
