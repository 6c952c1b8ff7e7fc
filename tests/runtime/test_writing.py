"""What controllers and observers write into what they are handed changes nothing for anybody else."""

import numpy as np
import pytest

import covey
from covey.comms.radio import Radio
from covey.comms.tags import Tags
from covey.missions import Patrolling
from covey.robots.catalogue import turtlebot3_burger
from covey.sensors import DepthCamera, Lidar, Lidar3D, Proximity
from covey.testing import check_boundary

WORLD = covey.World.empty(8, 8)


def unlocked(array):
    """Whether somebody who holds an array, and not its memory, can write it."""
    try:
        array.flags.writeable = True
        array[...] = array.copy()
    except ValueError:
        return False
    return True


@pytest.mark.parametrize(
    "angles",
    [Lidar().angles, Lidar3D().directions, DepthCamera().directions],
    ids=["lidar", "lidar3d", "depth camera"],
)
def test_the_directions_of_a_sensor_cannot_be_written(angles):
    assert not unlocked(angles)


def test_a_robot_that_turns_its_rays_leaves_those_of_other_robots_and_runs():
    def turn(robot):
        angles = robot.lidar.angles
        if robot.name == "scout0":
            angles.flags.writeable = True
            angles[:] = 0.0

    model = turtlebot3_burger()
    scouts = covey.Group("scout", model, [covey.Pose(-1, 0, 0), covey.Pose(1, 0, 0)], covey.Program(turn))
    sim = covey.Simulation(WORLD, [scouts], seed=1)
    for _ in range(5):
        sim.step()
    sim.close()
    assert sim.deciding.failed == {0}, "it is refused"
    angles = model.sensors[0].angles
    np.testing.assert_allclose(np.sort(np.mod(angles, 2 * np.pi)), np.radians(np.arange(360)), atol=1e-9)


def test_a_proximity_ring_cannot_be_turned():
    def look(robot):
        robot.note(f"{unlocked(robot.proximity.angles)}")

    robot = covey.robots.disc()
    assert any(isinstance(s, Proximity) for s in robot.sensors)
    sim = covey.Simulation(WORLD, [covey.Group("disc", robot, [covey.Pose(0, 0, 0)], covey.Program(look))], seed=1)
    for _ in range(5):
        sim.step()
    assert sim.deciding.host.handle(0).text == "False"
    sim.close()


def test_waypoints_cannot_be_moved():
    mission = Patrolling(waypoints_m=((1, 1), (-2, -2), (2, -1)), edges="all")
    sim = covey.Simulation(WORLD, 2, lambda robot: None, mission=mission, seed=1)
    sim.step()
    check_boundary(sim)
    waypoints = sim.deciding.host.handle(0).waypoints
    assert waypoints.points.tolist() == [[1, 1], [-2, -2], [2, -1]]
    arrays = (waypoints.points, waypoints.distance, waypoints.edges, *waypoints.neighbours)
    assert not any(map(unlocked, arrays))
    sim.close()


def test_one_who_reads_a_tag_changes_it_for_nobody():
    def read(robot):
        if robot.time == 0.0 and robot.name == "robot0":
            robot.leave_tag({"rooms": [1]})
        for tag in robot.tags:
            tag.content["rooms"].append(2)
            tag.content["by"] = robot.name
            robot.note(f"{len(robot.tags[0].content)} {robot.tags[0].content['rooms']}")

    sim = covey.Simulation(WORLD, 2, read, tags=Tags(range_m=5), seed=1)
    for _ in range(4):
        sim.step()
    assert [sim.deciding.host.handle(i).text for i in (0, 1)] == ["1 [1]", "1 [1]"]
    sim.close()


def test_a_robot_that_relays_a_message_cannot_change_it_by_changing_its_own_copy():
    def talk(robot):
        if robot.name == "robot0" and robot.time == 0.0:
            robot.send({"rooms": [1]})
        for message in robot.messages():
            robot.note(f"{message.payload['rooms']} over {message.hops}")
            message.payload["rooms"].append(robot.name)

    places = [covey.Pose(x, 0.0, 0.0) for x in (-6.0, -3.0, 0.0, 3.0)]
    group = covey.Group("robot", covey.robots.disc(), places, covey.Program(talk))
    radio = Radio(range_m=3.5, protocol="store_and_forward")
    sim = covey.Simulation(covey.World.empty(20, 4), [group], radio=radio, seed=1)
    for _ in range(20):
        sim.step()
    texts = [sim.deciding.host.handle(i).text for i in (1, 2, 3)]
    assert texts == ["[1] over 1", "[1] over 2", "[1] over 3"]
    sim.close()


def test_an_observer_that_writes_into_a_frame_is_refused():
    def wrap(frame):
        frame.pose[:, 2] %= 2 * np.pi

    sim = covey.Simulation(WORLD, 2, seed=1, observers=[wrap])
    with pytest.raises(ValueError, match="read-only"):
        sim.step()
    sim.close()
