"""`RosCommands`: what ROS 2 tells one robot to do."""

import logging
import math
from collections.abc import Callable
from typing import Any

from covey.comms.blackboard import Blackboard
from covey.comms.mailbox import Mailbox
from covey.geometry.se2 import Pose
from covey.onboard.handle import Robot
from covey.onboard.motions import ReportAnswer, finite_twist
from covey.ros import messages as m
from covey.ros.goals import NavigationActions
from covey.ros.messages import Stamp
from covey.ros.qos import COMMAND, STATE
from covey.ros.robot_node import RobotNode
from covey.ros.services import Request, Service
from covey.ros.settings import STAMPED_SINCE, BridgeSettings
from covey.ros.team_radio import TEXT, RadioTopics, TeamRadio
from covey.ros.types import MessageError

LOG = logging.getLogger("covey")
_CLOCK, _STRING = "rosgraph_msgs/msg/Clock", "std_msgs/msg/String"
_MARKER = "visualization_msgs/msg/Marker"


class RosCommands:
    """The commands of ROS to one robot.

    ===============  ============================  =====================================================================
    topic            type                          effect
    ===============  ============================  =====================================================================
    ``cmd_vel``      Twist, or TwistStamped        it drives so until the next command, or until they have been silent
    ``goal_pose``    geometry_msgs/PoseStamped     its navigator drives it there, see `NavigationActions`
    ``path``         nav_msgs/Path                 it follows the poses
    ``leave_tag``    std_msgs/String               it leaves a tag where it stands
    ``report``       visualization_msgs/Marker     it reports target ``id`` at the position of ``pose`` to the referee,
                                                   whose answer comes on ``report_answer``
    ``radio/NAME``   of the topic                  it broadcasts it, see `RadioTopics`
    ``radio/covey``  std_msgs/UInt8MultiArray      it sends what its controller, a node, has written, see `TeamRadio`
    ``ready``        rosgraph_msgs/Clock           in lockstep: all of its commands up to this time have been sent
    ===============  ============================  =====================================================================

    The services ``maes_broadcast``, ``maes_deposit_tag`` and ``set_marker_position`` do the same as ``radio/text``,
    ``leave_tag`` and ``report``.

    Args:
        node: the node of the robot.
        settings: of the bridge.
        mixed: not all robots are driven by ROS.

    Attributes:
        team: its radio for a controller that is a node.
        answered: the newest time for which it has an answer; None: none.
        bad: number of messages that could not be used.
        often, seldom: readers of ``cmd_vel`` and, in lockstep, ``ready``; and of what does not come in each step.
    """

    def __init__(self, node: RobotNode, settings: BridgeSettings, mixed: bool):
        self._node, self._timeout_s, self._types = node, settings.timeout_s, node.types
        distro = node.types.distro
        self._stamped = distro in STAMPED_SINCE if settings.stamped is None else settings.stamped
        self._twist_kind = f"geometry_msgs/msg/Twist{'Stamped' * self._stamped}"
        # senders of both kinds are heard; where the run waits for each answer, none may be lost
        self._twist = node.reader("cmd_vel", self._twist_kind, COMMAND if node.lockstep else COMMAND.best_effort())
        self._ready = node.reader("ready", _CLOCK)
        self._tags, self._reports = node.reader("leave_tag", _STRING), node.reader("report", _MARKER)
        self._answer_report = node.messages("report_answer", _STRING, STATE)
        self._broadcasts = Service(node.node, "maes_broadcast", "maes_msgs/srv/BroadcastToAll")
        self._deposits = Service(node.node, "maes_deposit_tag", "maes_msgs/srv/DepositTag")
        self.markers = MarkerService(node, "set_marker_position")
        self.radio, self.team = RadioTopics(node, settings.radio), TeamRadio(node, mixed)
        self._goals = NavigationActions(node) if settings.localization and settings.navigation else None
        self.bad = 0
        self.often = (self._twist, self._ready) if node.lockstep else (self._twist,)
        self.seldom = [reader for reader in node.node.readers if reader not in self.often]
        self._forget()

    def begin(self) -> None:
        """Forget what was commanded and answered, also what has come meanwhile: a new run begins."""
        for reader in (self._twist, self._ready):
            reader.take()
        self._forget()

    def _forget(self) -> None:
        self.answered: Stamp | None = None
        self._since_s: float | None = None  # the time of the last cmd_vel, while it drives
        self._waiting: list[tuple[int, ReportAnswer, Callable[[str], None]]] = []
        if self._goals is not None:
            self._goals.begin()

    def apply(
        self,
        robot: Robot,
        letters: tuple[Mailbox, Blackboard],
        time_s: float,
        stamp: Stamp,
        at: Pose,
        odom: Pose,
        news: bool,
    ) -> None:
        """Do what has been commanded since the last call.

        Args:
            robot: its handle.
            letters: its mailbox, and the blackboard of the team.
            time_s, stamp: simulated time.
            at: its estimated pose.
            odom: pose of the frame odom in the frame map.
            news: there may be something in `seldom`.
        """
        if self._goals is not None:
            if news:
                self._goals.start_goals(robot, stamp, lambda one, frame: self._in_map(one, odom, frame), self._decoded)
            self._goals.look_after(robot, stamp, at)
        self.take_answers(robot, time_s, stamp, letters if news else None)

    def take_answers(
        self, robot: Robot, time_s: float, stamp: Stamp, letters: tuple[Mailbox, Blackboard] | None = None
    ) -> None:
        """Take ``cmd_vel`` and ``ready``, and between them, with letters, the others: what a ``ready`` completes."""
        self._drive(robot, time_s, stamp)
        if letters is not None:
            self._take_others(robot, letters)
        for data in self._ready.take() if letters is not None or self._node.lockstep else ():
            if (message := self._decoded("ready", _CLOCK, data)) is not None:
                self._answer(message.clock, stamp)

    def _take_others(self, robot: Robot, letters: tuple[Mailbox, Blackboard]) -> None:
        """Take tags, reports and what goes over the radio."""
        for data in self._tags.take():
            if (message := self._decoded("leave_tag", _STRING, data)) is not None:
                robot.leave_tag(message.data)
        for data in self._reports.take():
            if (message := self._decoded("report", _MARKER, data)) is not None:
                self.report(robot, message.id, message.pose.position, self._say_answer(message.id))
        self.radio.say(robot)
        for why in self.team.say(*letters):
            self._refuse("radio/covey", why)
        self._serve(robot)

    def tell_answers(self) -> None:
        """Tell the answers of the referee that have come."""
        for identity, report, tell in [one for one in self._waiting if one[1].outcome is not None]:
            tell(str(report.outcome))
            self._waiting = [one for one in self._waiting if one[1] is not report]
            LOG.debug("%s: report of %d: %s", self._node.robot, identity, report.outcome)

    def has_answered(self, stamp: Stamp) -> bool:
        """Return whether there is an answer for a time."""
        return self.answered is not None and self.answered >= stamp

    def report(self, robot: Robot, identity: int, at: Any, tell: Callable[[str], None]) -> None:
        """Report a target; ``tell`` gets the answer when it comes."""
        if all(map(math.isfinite, (at.x, at.y, at.z))):
            self._waiting.append((identity, robot.report(identity, (at.x, at.y, at.z)), tell))
        else:
            self._refuse("report", "a number is not finite")
            tell("not a number")

    def _drive(self, robot: Robot, time_s: float, stamp: Stamp) -> None:
        """Take the newest cmd_vel; stop after a silence."""
        newest = None
        for data in self._twist.take():
            twist = None if self._stamped else m.twist_in(data)
            if twist is None:
                message = self._decoded("cmd_vel", self._twist_kind, data)
                if message is None:
                    continue
                if self._stamped:
                    self._answer(message.header.stamp, stamp)
                twist = m.twist_of(message)
            if (twist := finite_twist(twist)) is None:
                self._refuse("cmd_vel", "a number is not finite, or too large")
            newest = twist or newest
        if newest is not None:
            robot.drive(newest[0], newest[2], vy=newest[1])
            self._since_s = time_s
        elif self._since_s is not None and time_s > self._since_s + self._timeout_s + 1e-9:
            if robot.status == "driving":
                robot.stop()
            self._since_s = None

    def _serve(self, robot: Robot) -> None:
        """Answer the services of MAES and of the rescue course."""
        for request, asked in self._broadcasts.asked():
            said = self._types.encode(_STRING, {"data": asked.msg})
            self._broadcasts.answer(request, {"result": self.radio.broadcast(robot, TEXT[0], said)})
        for request, asked in self._deposits.asked():
            robot.leave_tag(asked.msg)
            self._deposits.answer(request, {"result": True})
        self.markers.serve(self, robot)

    def _say_answer(self, identity: int) -> Callable[[str], None]:
        return lambda answer: self._answer_report({"data": f"{identity} {answer}"})

    def _answer(self, stamp: Any, now: Stamp) -> None:
        """Take in an answer; one of the future, such as of the run before a reset, is one for now and no more."""
        at = min((stamp.sec, stamp.nanosec), now)
        self.answered = at if self.answered is None else max(self.answered, at)

    def _decoded(self, name: str, kind: str, data: bytes) -> Any:
        try:
            return self._types.decode(kind, data)
        except MessageError as error:
            self._refuse(name, str(error))
            return None

    def _refuse(self, topic: str, why: str) -> None:
        """Leave out a message; the first is said."""
        if not self.bad:
            LOG.warning("%s: a message on %s is left out: %s", self._node.robot, topic, why)
        self.bad += 1

    def _in_map(self, stamped: Any, odom: Pose, frame: str) -> Pose | None:
        """Return the pose of a decoded PoseStamped in the frame map; None if it cannot be used."""
        frame, pose = stamped.header.frame_id or frame or m.MAP, m.planar_pose(stamped.pose)
        if pose is None:
            self._refuse("a goal", "a number is not finite")
        elif frame == self._node.frame(m.ODOM):
            return odom @ pose
        elif frame in (m.MAP, self._node.frame(m.MAP)):
            return pose
        else:
            self._refuse("a goal", f"its frame is {frame!r}; give it in map or odom")
        return None


class MarkerService:
    """The service ``set_marker_position`` of the rescue course: a report to the referee, and its answer."""

    def __init__(self, node: RobotNode, name: str):
        self._service = Service(node.node, name, "scoring_interfaces/srv/SetMarkerPosition")

    def serve(self, commands: RosCommands, robot: Robot) -> None:
        """Let a robot report what was asked for; the reply follows with the answer of the referee."""
        for request, asked in self._service.asked():
            commands.report(robot, asked.marker_id, asked.marker_position, self._teller(request))

    def _teller(self, request: Request) -> Callable[[str], None]:
        return lambda answer: self._service.answer(request, {"accepted": answer == "accepted"})
