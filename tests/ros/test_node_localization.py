"""What a node says when its robot's scans contradict its odometry."""

from types import SimpleNamespace

import numpy as np
from tests.onboard.test_estimator import LASER, ranges_at

from covey.clock import Clock
from covey.geometry.se2 import Pose
from covey.mapping.slam_localizer import Slam
from covey.ros.node_localization import NodeLocalizer
from covey.ros.node_setup import OwnLocalization

STEP = Pose(0.03, 0.0, 0.02)


def told(caplog, share):
    """Drive in a room, in which the wheels turn through for a share of each step; return what the node says."""
    noise = 1, np.array([0.02, 0.02, 0.02, 0.02, 0.0, 0.0])
    own = OwnLocalization(Slam(), noise, None, None, None)
    setup = SimpleNamespace(localization=own, spawn=SimpleNamespace(spec=SimpleNamespace(name="scout", seed=7)))
    clock = Clock(0.01, 0.1)
    localizer = NodeLocalizer(setup, LASER, None, clock)
    pose, wheels = Pose(-1.0, -1.5, 0.0), Pose(0.0, 0.0, 0.0)
    for _ in range(150):
        clock.advance(10)
        ranges = ranges_at(pose)
        localizer.update(pose, (clock.time_s, wheels), [], (clock.time_s, ranges, Pose(0.0, 0.0, 0.0)))
        pose, wheels = pose @ STEP, wheels @ Pose(STEP.x / (1.0 - share), STEP.y, STEP.heading)
    return [record.getMessage() for record in caplog.records]


def test_wheels_that_slip_are_told_once(caplog):
    (said,) = told(caplog, 0.3)
    assert said.startswith("scout: it drove ")
    assert " less far than its odometry says, on " in said


def test_wheels_that_hold_are_not_told(caplog):
    assert told(caplog, 0.0) == []
