"""Robots estimate their poses alone as they do in a group: one piece of software for a simulation and for a node."""

import math

import numpy as np
import pytest

from covey.geometry.se2 import Pose, compose
from covey.mapping.known_map import KnownMap
from covey.mapping.localization import DeadReckoning
from covey.mapping.localizer import Equipment, Scan, Sensed
from covey.mapping.occupancy.belief import Beliefs
from covey.mapping.particle_localizer import Particles
from covey.mapping.records import Mapping
from covey.mapping.slam.log import Laser
from covey.mapping.slam_localizer import Slam
from covey.onboard.estimator import Estimator
from covey.world.world import World

ANGLES = np.linspace(-math.pi, math.pi, 90, endpoint=False)
LASER = Laser(ANGLES, 8.0, (0.0, 0.0, 0.0))
NAMES = ["a", "b", "c"]
STARTS = np.array([(-2.0, -1.0, 0.3), (0.0, 0.5, 1.6), (2.0, 1.0, -2.0)])
WALLS = np.array([-4.0, 4.0]), np.array([-3.0, 3.0])  # of a room: x, y [m]
GYRO = (1e-4, 1e-5, 0.0, 0.0)


def ranges_at(pose):
    """Return the distance to the walls of the room along each ray, by hand."""
    x, y, heading = pose
    with np.errstate(divide="ignore"):
        away = [
            np.where((d := of(ANGLES + heading)) > 0, (high - at) / d, (low - at) / d)
            for of, at, (low, high) in ((np.cos, x, WALLS[0]), (np.sin, y, WALLS[1]))
        ]
    return np.where(np.isfinite(least := np.minimum(*map(np.abs, away))), least, np.inf)


def drive(steps, slip_rad):
    """Yield the true poses of three robots after each step, and what wheels and gyro measure: they turn on circles."""
    pose = STARTS.copy()
    for step in range(1, steps + 1):
        motion = np.tile([0.03, 0.0, 0.05], (3, 1))
        pose = compose(pose, motion)
        yield 0.1 * step, pose, motion + np.array([0.0, 0.0, slip_rad]), np.full(3, 0.5)


def room():
    world = World.empty(8.0, 6.0)
    cells = np.where(world.grid.cells == 0, 0, 100).astype(np.int8)
    return world.grid.with_cells(cells)


def estimated(record, rows, *, gyro=None, slip_rad=0.0, steps=60):
    """Return the estimates of some robots, by step, (steps, m, 3), and their maps."""
    names = [NAMES[k] for k in rows]
    plan = room()
    equipment = Equipment(LASER, (1, np.array([0.02, 0.02, 0.02, 0.02, 0.0, 0.0])), lambda _: plan)
    estimator = Estimator(record.build(names, 7, equipment), LASER, gyro, 0.2, len(rows))
    beliefs = Beliefs(names, (8.0, 6.0), (-4.0, -3.0), Mapping(resolution_m=0.1))
    for k in range(len(rows)):
        estimator.keep_scans(k, beliefs, k)
    pose, out = STARTS[rows], []
    for step, (time_s, true, wheels, turns) in enumerate(drive(steps, slip_rad), 1):
        motions, variances = estimator.motions([(time_s, wheels[rows])], [(time_s, turns[rows])])
        scan = Scan(np.array([ranges_at(at) for at in true[rows]]), LASER, np.zeros((len(rows), 3)))
        sensed = Sensed(step, true[rows] if step == 1 else STARTS[rows], motions, scan, time_s, variances)
        pose, _, revision = estimator.update(pose, sensed, time_s)
        for k, past in estimator.pasts.items():
            past.follow(int(revision[k]), lambda poses: poses)
            if past.takes(True, time_s):
                beliefs.update(np.array([k]), pose[k : k + 1], scan.ranges[k : k + 1], ANGLES, np.zeros(3), 8.0, step)
                past.add(pose[k], scan.ranges[k], time_s, time_s)
        out.append(pose.copy())
    return np.array(out), beliefs


@pytest.mark.parametrize("record", [DeadReckoning(), Slam(), Particles(), KnownMap()], ids=lambda record: record.kind)
def test_a_robot_alone_estimates_what_it_estimates_in_a_group(record):
    together, maps = estimated(record, [0, 1, 2], gyro=GYRO)
    for k in range(3):
        alone, own = estimated(record, [k], gyro=GYRO)
        np.testing.assert_array_equal(alone[:, 0], together[:, k])
        np.testing.assert_array_equal(own[0].occupancy(), maps[k].occupancy())


def test_a_gyro_says_how_far_robots_turn_whose_wheels_slip():
    slips = math.radians(1.0)
    (*_, true) = (pose for _, pose, _, _ in drive(60, slips))
    without = estimated(DeadReckoning(), [0, 1, 2], slip_rad=slips)[0][-1]
    with_gyro = estimated(DeadReckoning(), [0, 1, 2], gyro=GYRO, slip_rad=slips)[0][-1]
    assert np.abs(without[:, 2] - true[:, 2]).min() > 59 * slips - 1e-9  # the first step does not count
    for found, wanted in zip(with_gyro, true, strict=True):
        off = Pose(*wanted).inverse() @ Pose(*found)
        assert math.hypot(off.x, off.y) < 0.05
        assert abs(off.heading) < 0.06
