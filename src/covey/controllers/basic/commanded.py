"""Do what somebody else commands."""

from covey.onboard.controller import controller
from covey.onboard.handle import Robot


@controller("commanded", missions=())
def commanded(robot: Robot) -> None:
    """Decide nothing: the robot goes on with what its handle was told last, such as by ROS 2 in `covey ros run`."""
