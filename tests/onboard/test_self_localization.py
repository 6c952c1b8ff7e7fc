"""A robot that localizes itself notices when its scans contradict its odometry."""

import numpy as np
from tests.onboard.test_estimator import LASER, ranges_at

from covey.geometry.se2 import Pose
from covey.mapping.slam_localizer import Slam
from covey.onboard.self_localization import OwnLocalization, SelfLocalization
from covey.onboard.step import ScanInput, SenseInput

STEP = Pose(0.03, 0.0, 0.02)


def contradicted(share):
    """Drive in a room, in which the wheels turn through for a share of each step; return what contradicts them."""
    noise, pose = (1, np.array([0.02, 0.02, 0.02, 0.02, 0.0, 0.0])), Pose(-1.0, -1.5, 0.0)
    own = OwnLocalization(Slam(), LASER, noise, None, {}, None, np.empty((0, 2)), np.array(pose))
    localization = SelfLocalization(own, "scout", 7, None, 0, 0.3)
    wheels, found = np.array([STEP.x / (1.0 - share), STEP.y, STEP.heading]), []
    for step in range(1, 151):
        time_s = 0.1 * step
        sensed = SenseInput(step, time_s, [(time_s, wheels)], scan=ScanInput(time_s, ranges_at(pose)))
        found += localization.update(sensed).contradicted
        pose = pose @ STEP
    return found


def test_wheels_that_slip_are_noticed_once():
    (one,) = contradicted(0.3)
    assert 0.2 < one.share < 0.4
    assert one.way_m > 0


def test_wheels_that_hold_are_not_contradicted():
    assert contradicted(0.0) == []
