"""What robots believe that cameras have searched, alone and together."""

import math

import numpy as np
import pytest

import covey
from covey.robots.catalogue import disc
from covey.sensors import TagCamera
from covey.testing.boundary import check_boundary
from covey.world.world import World


def team(poses, controller, **group):
    robot = disc().model_copy(update={"sensors": (*disc().sensors, TagCamera())})
    return [covey.Group("r", robot, poses, controller, **group)]


def run_of(world, poses, controller, until_s, radio=math.inf, known_map=True):
    sim = covey.Simulation(world, team(poses, controller, known_map=known_map), seed=1, radio=radio)
    sim.run(until_s=until_s)
    return sim, [sim.robot(name).searched for name in sim.names]


def count(faces):
    return int(np.bitwise_count(faces).sum())


async def turn(robot):
    await robot.drive(0.0, 0.5, for_s=math.tau / 0.5)


async def wander(robot):
    while True:
        await robot.forward(1.5)
        await robot.turn(1.0)


async def turn_and_tell(robot):
    await robot.drive(0.0, 0.5, for_s=math.tau / 0.5)
    while True:
        robot.share_searched()
        await robot.sleep(0.5)


def test_a_turn_in_a_known_room_searches_all_of_it():
    sim, [searched] = run_of(World.empty(3, 3, 0.1), [(0, 0, 0)], turn, 14)
    assert searched.share == 1.0
    assert not searched.left.any()
    assert count(searched.faces) == pytest.approx(120, abs=2)
    assert searched.cells.sum() == pytest.approx(900, abs=10)
    assert searched.would_see((0, 0, 0)) == 0
    assert sim.scoring.search.faces.share_union == 1.0


def test_the_belief_is_close_to_the_truth_in_an_unknown_office():
    world = World.office(seed=2)
    groups = team([(*world.grid.to_world(np.argwhere(world.clearance == world.clearance.max())[0]), 0.0)], wander)
    sim = covey.Simulation(world, groups, seed=1)
    sim.run(until_s=25)
    searched, faces = sim.robot("r0").searched, sim.scoring.search.faces
    scale = sim.robot("r0").map.grid.resolution / world.grid.resolution
    believed = scale * count(searched.faces) / len(faces.faces)
    assert faces.share_union > 0.03
    assert believed == pytest.approx(faces.share_union, rel=0.15)
    assert searched.would_see(sim.robot("r0").pose) + count(searched.left) > 0


def test_what_would_be_seen_is_what_is_then_seen():
    _, [searched] = run_of(World.empty(6, 6, 0.1), [(0, 0, 0)], turn, 0.5)
    there = (1.0, 1.0, 2.0)
    expected, before = searched.would_see(there), count(searched.left)
    assert expected > 0
    searched.add_sample(covey.Pose(*there), 0.0, 1.0)
    assert before - count(searched.left) == pytest.approx(expected, rel=0.2)  # near faces count, too


def test_a_robot_that_turns_too_fast_searches_nothing():
    async def whirl(robot):
        await robot.drive(0.0, 3.0, for_s=3)

    _, [searched] = run_of(World.empty(3, 3, 0.1), [(0, 0, 0)], whirl, 2)
    assert searched.views == 1


@pytest.mark.parametrize("loss", [0.0, 0.6])
def test_told_robots_know_the_same_also_over_a_lossy_radio(loss):
    world, poses = World.empty(12, 3, 0.1), [(-4.5, 0, 0), (4.5, 0, 0)]
    _, alone = run_of(world, poses, turn, 16)
    radio = covey.Radio(range_m=50, loss=loss)
    _, told = run_of(world, poses, turn_and_tell, 40, radio)
    assert told[0].views == told[1].views >= sum(one.views for one in alone) - 2
    np.testing.assert_array_equal(told[0].faces, told[1].faces)
    assert count(told[0].faces) > 1.5 * count(alone[0].faces)


def test_views_travel_over_a_robot_between():
    world, poses = World.empty(12, 3, 0.1), [(-5, 0, 0), (0, 0, 0), (5, 0, 0)]
    _, told = run_of(world, poses, turn_and_tell, 20, covey.Radio(range_m=6))
    assert told[0].views == told[1].views == told[2].views
    np.testing.assert_array_equal(told[0].faces, told[2].faces)


def test_what_is_known_is_not_sent_again():
    sim, told = run_of(World.empty(12, 3, 0.1), [(-4.5, 0, 0), (4.5, 0, 0)], turn_and_tell, 40, covey.Radio(range_m=50))
    messages = 2 * 2 * (40 - math.tau / 0.5)
    header_and_counts = 100
    assert sim.communication.network.sent_bytes.sum() < messages * header_and_counts + 2 * 12 * told[0].views


def test_without_a_camera_there_is_nothing_to_share():
    sim = covey.Simulation(World.empty(3, 3, 0.1), 1, turn)
    sim.step()
    robot = sim.robot("robot0")
    assert robot.searched is None
    with pytest.raises(covey.InvalidValueError, match="give its robot a tag_camera"):
        robot.share_searched()


def test_a_controller_declares_that_it_uses_it():
    @covey.controller(sees=("tag_camera", "map"))
    def curious(robot):
        robot.share_searched()

    sim = covey.Simulation(World.empty(3, 3, 0.1), team([(0, 0, 0)], curious))
    with pytest.raises(Exception, match=r"declare it: .*searched"):
        sim.step()
        raise sim.deciding.failures[0].error


def test_a_robot_with_a_camera_reaches_no_target_and_no_other_robot():
    groups = team([(-2, 0, 0), (2, 0, 3)], turn_and_tell)
    sim = covey.Simulation(World.empty(8, 4, 0.1), groups, targets=[{"draw": "victim", "count": 6}])
    for _ in range(30):
        sim.step()
    assert any(len(sim.robot(name).tag_camera) for name in sim.names)
    check_boundary(sim)


def test_a_controller_of_a_group_gets_readings_without_the_truth():
    seen = []

    @covey.controller(scope="group", sees=("pose", "tag_camera"))
    def watch(group):
        seen.append(group.tag_camera)
        return np.zeros((2, 3))

    groups = team([(-2, 0, 0), (2, 0, 3)], watch)
    sim = covey.Simulation(World.empty(8, 4, 0.1), groups, targets=[{"draw": "victim", "count": 6}])
    for _ in range(3):
        sim.step()
    check_boundary(sim)
    assert seen[-1].truth is None
    assert seen[-1].identities.shape[0] == 2
