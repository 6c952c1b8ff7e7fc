"""A robot that cannot see what is ahead stands, whatever drives it, tells nothing, and goes on when it sees again."""

import numpy as np
import pytest

import covey
from covey.controllers import controllers
from covey.runtime.stop import Stop

WORLD = covey.World.empty(12, 8)
LOST = {"kind": "sensor", "sensor": "lidar", "robot": "robot0", "at_s": 2.0}


def driven(controller, faults, timeout_s=8.0, **options):
    """Return the run of two robots; the first loses its lidar after 2 s."""
    group = covey.Group(
        "robot",
        covey.robots.turtlebot3_waffle(),
        [(-3, -1, 0), (-3, 1, 0)],
        controllers.get(controller) if isinstance(controller, str) else controller,
    )
    return covey.Simulation(WORLD, [group], faults=faults, stop=Stop(timeout_s=timeout_s), **options).run()


def ways(run, begin_s, end_s):
    """Return how far each robot moved between two times [m]."""
    part = run.poses[(run.pose_times > begin_s) & (run.pose_times <= end_s), :, :2]
    return np.hypot(*np.ptp(part, axis=0).T)


async def there_and_back(robot):
    y = robot.pose.y
    while True:
        await robot.goto((3.0, y))
        await robot.goto((-3.0, y))


async def straight_on(robot):
    await robot.forward(5.0)


@covey.law(sees=("position",))
def ahead(team):
    return np.column_stack((np.full(team.count, 0.2), np.zeros(team.count)))


@pytest.mark.parametrize("controller", [there_and_back, straight_on, ahead, "lvd", "boustrophedon", "nearest_frontier"])
def test_a_robot_without_its_lidar_stands_and_the_other_does_not(controller):
    run = driven(controller, [LOST])
    blind, other = ways(run, 3.0, 8.0)
    assert blind < 0.02
    assert other > 0.3


def test_it_goes_on_when_it_sees_again():
    run = driven(there_and_back, [LOST | {"for_s": 14.0}], 18.5)
    assert ways(run, 3.0, 15.9)[0] < 0.02, "longer than a robot that does not move is patient"
    assert ways(run, 16.5, 18.5)[0] > 0.2
    assert "stuck" not in run.events["kind"].to_list()


def test_a_blind_robot_tells_nothing_so_that_its_mates_forget_it():
    run = driven("minpos", [LOST], 6.0, radio=covey.Radio(range_m=50), share_maps=covey.ShareMaps(every_s=1))
    sent = [
        run.traffic_until(round(at_s * 10), ["messages_sent"])["robot0", "state"]["messages_sent"]
        for at_s in (3.0, 6.0)
    ]
    assert sent[0] == sent[1] > 0


def test_what_makes_a_robot_blind():
    waffle = covey.robots.turtlebot3_waffle()
    assert not waffle.is_blind(())
    assert waffle.is_blind(("lidar",))
    assert not waffle.is_blind(("odometry",))
    walls_only = waffle.model_copy(update={"mapping": None})
    assert walls_only.is_blind(("lidar",))
    assert not waffle.model_copy(update={"sensors": ()}).is_blind(("odometry",))
