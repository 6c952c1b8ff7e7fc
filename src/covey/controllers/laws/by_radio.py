"""Consensus and coverage of robots that know only themselves and what they hear."""

import math

import numpy as np

from covey.controllers.laws.lloyd import lloyd_speeds, lloyd_velocity
from covey.geometry.voronoi import voronoi
from covey.onboard.controller import controller
from covey.onboard.handle import Robot
from covey.robots.parameters import Gain, Points

KIND, COVERAGE_KIND = "consensus", "coverage"
"""Kinds of the messages."""


@controller("consensus_by_radio", sees=("pose", "radio", "shared_frame"), missions=())
def consensus_by_radio(robot: Robot, *, gain: Gain = 1.0) -> None:
    """Tell the own position in each step, and move by k times the sum of the ways to those heard in this step.

    For holonomic robots. A message takes a step. With messages that are lost independently with probability p, held
    for a period T, the expected positions follow x(t + T) = x(t) - (1 - p) k T (D x(t) - A x(t - T)), with the degrees
    D and the adjacency A of the links: as if the gain were (1 - p) k. The delay is that of what others tell alone, so
    in continuous time it slows the meeting and never makes it unstable, unlike a delay of the own position, which
    `covey.controllers.laws.consensus` has with a delay of commands: that one must be below pi / (2 k lambda_max).

    Args:
        robot: a robot with a radio.
        gain: k [1/s].

    References:
        R. Olfati-Saber, R. M. Murray: Consensus problems in networks of agents with switching topology and time-delays.
        IEEE Transactions on Automatic Control 49(9):1520-1533, 2004.
        S. Kar, J. M. F. Moura: Sensor networks with random links: topology design for distributed consensus. IEEE
        Transactions on Signal Processing 56(7):3315-3326, 2008.
    """
    x, y, heading = robot.pose
    vx = vy = 0.0
    for message in robot.messages(KIND):
        vx, vy = vx + gain * (message.payload[0] - x), vy + gain * (message.payload[1] - y)
    robot.send((x, y), kind=KIND)
    c, s = math.cos(heading), math.sin(heading)
    robot.drive(c * vx + s * vy, vy=c * vy - s * vx)


@controller("lloyd_by_radio", sees=("pose", "radio", "shared_frame"), missions=())
class LloydByRadio:
    """Cover a convex workspace as `covey.controllers.laws.lloyd` does, by what the robots tell each other.

    A robot tells its position in each step. It drives to the centroid of its Voronoi cell among the others where it
    heard them last, and stands until it has heard one. In a strip that is much longer than wide, a centroid is a
    weighted mean of the robot's own place and those beside it, with weights that are never negative, and less than 1 in
    sum at the ends. So what is held for a period T, with k T <= 1, contracts in a weighted maximum norm, and as long as
    nobody believes to have passed another one, the asynchronous convergence theorem holds: lost and late messages slow
    the team down, but all come to the same centroids as without them. A delay of commands is another thing: it delays
    the own position too, and must be below pi / (2 k lambda_max), with lambda_max = 1 in a strip.

    Args:
        gain: k, speed per distance to the centroid [1/s].
        workspace_m: corners of the workspace [m].

    References:
        J. Cortés, S. Martínez, T. Karatas, F. Bullo: Coverage control for mobile sensing networks. IEEE Transactions
        on Robotics and Automation 20(2), 2004.
        D. P. Bertsekas, J. N. Tsitsiklis: Parallel and distributed computation. 1989, section 6.2 (asynchronous
        convergence).
    """

    def __init__(self, gain: Gain = 1.0, workspace_m: Points = ((-5.0, -5.0), (5.0, -5.0), (5.0, 5.0), (-5.0, 5.0))):
        self.gain, self.workspace_m = gain, np.array(workspace_m, float)
        self._heard: dict[str, tuple[float, float]] = {}

    def step(self, robot: Robot) -> None:
        """Tell the own place, and choose the twist of this step."""
        pose = np.array([robot.pose])
        self._heard |= {message.sender: message.payload for message in robot.messages(COVERAGE_KIND)}
        robot.send((robot.pose.x, robot.pose.y), kind=COVERAGE_KIND)
        if not self._heard:
            robot.stop()
            return
        others = [self._heard[name] for name in sorted(self._heard)]
        centroid = voronoi(np.concatenate((pose[:, :2], others)), self.workspace_m).centroid[:1]
        if robot.model.kinematics == "holonomic":
            (vx, vy), c, s = lloyd_velocity(pose[:, :2], centroid, self.gain)[0], np.cos(pose[0, 2]), np.sin(pose[0, 2])
            robot.drive(float(c * vx + s * vy), vy=float(c * vy - s * vx))
        else:
            (speed,), (turn,) = lloyd_speeds(pose, centroid, self.gain)
            robot.drive(float(speed), float(turn))
