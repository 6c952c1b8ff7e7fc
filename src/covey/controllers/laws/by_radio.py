"""Consensus of robots that know only themselves and what they hear."""

import math

from covey.onboard.controller import controller
from covey.onboard.handle import Robot
from covey.robots.parameters import Gain

KIND = "consensus"
"""Kind of the messages."""


@controller("consensus_by_radio", sees=("pose", "radio", "shared_frame"))
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
