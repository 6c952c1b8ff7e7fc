"""Stand still."""

from covey.onboard.controller import controller
from covey.onboard.handle import Robot


@controller("still")
def still(robot: Robot) -> None:
    """Do nothing: the robot is an obstacle, a relay, or a fixed sensor."""
    robot.stop()
