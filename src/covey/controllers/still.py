"""Stand still."""

from covey.robots.controller import controller
from covey.robots.handle import Robot


@controller("still")
def still(robot: Robot) -> None:
    """Do nothing: the robot is an obstacle, a relay, or a sensor on a post."""
    robot.stop()
