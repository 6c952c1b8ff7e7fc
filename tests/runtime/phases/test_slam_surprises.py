"""What SLAM makes of surprises in a run: doors that shut, and being carried elsewhere. Others: tests/mapping/slam."""

import numpy as np
import pytest

from covey.geometry.se2 import wrap_angle
from covey.scenario.load import load

ALONE = {
    "robots.scout.count": 1,
    "robots.scout.localization": "slam",
    "robots.scout.robot.sensors.odometry.noise": "gmapping",
    "faults": [],
}


def drive(events, seconds):
    """Return the run of one robot that explores the depot, and the error of its estimate at each step, (n, 3)."""
    run = load("depot_doors", ALONE | {"events": events, "stop.timeout_s": seconds}).run()
    error = (run.estimates - run.poses)[:, 0]
    error[:, 2] = wrap_angle(error[:, 2])
    return run, error


@pytest.mark.slow
def test_doors_that_open_and_shut_do_no_harm():
    doors = [
        {"at_s": 6, "door": "south_east", "to": "closed"},
        {"at_s": 8, "door": "north", "to": "open"},
        {"at_s": 25, "door": "south_east", "to": "open"},
        {"rate_per_min": 20, "door": "south_west", "to": "toggle", "max_count": 4},
    ]
    run, error = drive(doors, 45)
    assert len(run.events.filter(run.events["kind"] == "door_closed")) >= 2
    assert run.series("distance_m")[-1, 0] > 20.0
    assert np.hypot(*error[:, :2].T).max() < 0.3
    assert np.abs(error[:, 2]).max() < np.radians(5.0)
    assert run.metrics["collisions_wall"] == 0


@pytest.mark.slow
def test_a_robot_that_is_carried_goes_on_from_where_it_thinks_it_is():
    """It does not find itself again: the error stays as large as the way that it was carried, and it touches nothing."""
    run, error = drive([{"at_s": 20, "place": "scout0", "pose": [25.0, 15.0, 0.0]}], 35)
    way = run.poses[:, 0, :2]
    last = int(np.hypot(*np.diff(way, axis=0).T).argmax())  # the step before it is carried
    carried = way[last] - way[last + 1]
    assert np.hypot(*error[: last + 1, :2].T).max() < 0.2
    assert np.hypot(*carried) > 10.0
    after = error[last + 3 :, :2]
    assert np.hypot(*(after - carried).T).max() < 1.0  # scans there are matched with what its map has nearby
    assert run.metrics["collisions_wall"] == 0
