"""What SLAM makes of surprises in a run: doors that shut, and being carried elsewhere. Others: tests/mapping/slam."""

import numpy as np
import pytest
from scipy.stats import chi2

from covey.geometry.se2 import wrap_angle
from covey.mapping.slam.scores import nees
from covey.scenario.load import load

ALONE = {
    "robots.scout.count": 1,
    "robots.scout.localization": "slam",
    "robots.scout.robot.sensors.odometry.noise": "gmapping",
    "faults": [],
}


def drive(events, seconds):
    """Return the run of one robot that explores the depot, the error of its estimate at each step, (n, 3), and the sim."""
    sim = load("depot_doors", ALONE | {"events": events, "stop.timeout_s": seconds})
    run = sim.run()
    error = (run.estimates - run.poses)[:, 0]
    error[:, 2] = wrap_angle(error[:, 2])
    return run, error, sim


@pytest.mark.slow
def test_doors_that_open_and_shut_do_no_harm():
    doors = [
        {"at_s": 6, "door": "south_east", "to": "closed"},
        {"at_s": 8, "door": "north", "to": "open"},
        {"at_s": 25, "door": "south_east", "to": "open"},
        {"rate_per_min": 20, "door": "south_west", "to": "toggle", "max_count": 4},
    ]
    run, error, _ = drive(doors, 45)
    assert len(run.events.filter(run.events["kind"] == "door_closed")) >= 2
    assert run.series("distance_m")[-1, 0] > 20.0
    assert np.hypot(*error[:, :2].T).max() < 0.3
    assert np.abs(error[:, 2]).max() < np.radians(5.0)
    assert run.metrics["collisions_wall"] == 0


def test_a_robot_that_is_carried_to_where_it_never_was_knows_that_it_does_not_know():
    """It begins a map anew there, touches nothing, and its covariance holds the error."""
    run, error, sim = drive([{"at_s": 20, "place": "scout0", "pose": [25.0, 15.0, 0.0]}], 22)
    way = run.poses[:, 0, :2]
    last = int(np.hypot(*np.diff(way, axis=0).T).argmax())  # the step before it is carried
    assert np.hypot(*error[: last + 1, :2].T).max() < 0.2
    assert np.hypot(*(way[last] - way[last + 1])) > 10.0
    (slam,) = (one for _, localizer in sim.localization.localizers for one in localizer.robots)
    assert slam.pieces.joined == [True, False]
    assert nees(run.estimates[-1, 0], run.poses[-1, 0], sim.localization.covariance[0]) < chi2.ppf(0.999, 3)
    assert run.metrics["collisions_wall"] == 0
