"""What the processes of laws share: the fork server imports this, and its forks find the compiled code loaded."""

import numpy as np

from covey.geometry.voronoi import voronoi
from covey.lab.tournament import match  # noqa: F401  the code of the processes
from covey.lab.tournament.apart import can_step_apart
from covey.onboard.group_view import GroupFacts, GroupView
from covey.robots.model import RobotModel

_SQUARE = np.array([(0.0, 0.0), (4.0, 0.0), (4.0, 4.0), (0.0, 4.0)])
_POSES = np.array([(1.0, 1.0, 0.0), (3.0, 1.0, 0.0), (2.0, 3.0, 0.0)])


def _warm() -> None:
    team = GroupView(GroupFacts("warm", ("a", "b", "c"), RobotModel(radius_m=0.1), 0.1, _SQUARE, 0))
    team.at(0.0, {"pose": _POSES})
    team.bearing_to(team.after(1))
    team.bearing_to((1.0, 2.0))
    voronoi(_POSES[:, :2], _SQUARE)
    can_step_apart()


_warm()
