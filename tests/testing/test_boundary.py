"""The truth is out of reach: what controllers are handed can neither show it nor change it."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import pytest

import covey
from covey.mapping.localization import Noise
from covey.robots.catalogue import disc, skid_steer
from covey.sensors import Odometry, Readings, SensorRecord, Wedge
from covey.testing import check_boundary
from covey.world.ground import Ground

START = [[-2.0, 0.0, 0.0], [0.0, 0.0, 0.0], [2.0, 0.0, 0.0]]
STILL = np.zeros((3, 3))


def with_(robot, **changes):
    return robot.model_copy(update=changes)


def steps(controller, *, robot=None, localization=None, world=None, count=3):
    options = {} if localization is None else {"localization": localization}
    robot = robot or disc()
    group = covey.Group("scout", robot, START, covey.Program(controller), **options)
    sim = covey.Simulation(world or covey.World.empty(8, 8), [group], seed=1)
    for _ in range(count):
        if not sim.done:  # it is if all controllers have failed
            sim.step()
    return sim


def test_a_group_that_declares_a_wedge_is_not_told_where_it_really_is():
    told = []

    @covey.controller(scope="group", sees=("pose", "wedge"))
    def look(group):
        told.append(group.wedge)
        return np.zeros((group.count, 3))

    robot = with_(skid_steer(), sensors=(Wedge(), Odometry()), mapping=None)
    ground = Ground.of(np.zeros((41, 41)), 0.5)
    sim = steps(
        look, robot=robot, world=covey.World.empty(16, 16).replace(ground=ground), localization=Noise(sigma_m=0.3)
    )
    check_boundary(sim)
    assert told[-1].truth is None
    assert not hasattr(told[-1], "pose")
    assert np.ptp(told[-1].window, axis=0).max() < 1e-9, "three robots on one lattice are told the same"
    sim.close()


@pytest.mark.parametrize("field", ["pose", "true_pose", "collided"])
def test_what_a_group_is_shown_cannot_be_written(field):
    @covey.controller(scope="group", sees=("full", field))
    def cheat(group):
        getattr(group, field)[:] = 3
        return STILL

    sim = steps(cheat)
    assert sim.deciding.failed == {0, 1, 2}, "writing is an error of the controller"
    np.testing.assert_array_equal(sim.state.pose, START)
    np.testing.assert_array_equal(sim.localization.pose, START)
    sim.close()


def test_a_group_that_makes_its_views_writable_changes_a_copy():
    @covey.controller(scope="group", sees=("full", "pose", "proximity"))
    def cheat(group):
        for array in (group.pose, group.true_pose, group.proximity.ranges):
            array.flags.writeable = True
            array[:] = 99
        return STILL

    sim = steps(cheat)
    assert not sim.deciding.failed
    np.testing.assert_array_equal(sim.state.pose, START)
    np.testing.assert_array_equal(sim.localization.pose, START)
    assert not (sim.sensing.banks[0].readings.ranges == 99).any()
    sim.close()


@dataclass(frozen=True, eq=False)
class Compasses(Readings):
    shared = ("axis",)
    heading: np.ndarray
    axis: np.ndarray

    def row(self, i):
        return float(self.heading[i])


class Compass(SensorRecord):
    kind: Literal["compass"] = "compass"
    name: str = "compass"

    def read(self, truth, members, keys, sample):
        return Compasses(truth.pose[members, 2], np.array([-10.0, 0.5, 2.0]))


def test_a_field_that_all_robots_share_is_not_cut_because_it_is_as_long_as_there_are_robots():
    seen = {}

    @covey.controller(scope="group", sees=("compass",))
    def look(group):
        seen[group.name] = group.compass.axis.tolist(), group.compass.heading.tolist()
        return np.zeros((group.count, 3))

    robot = with_(disc(), sensors=(Compass(),))
    starts = {"a": [[0.0, 0.0, 0.1], [1.0, 0.0, 0.2]], "b": [[2.0, 0.0, 0.3]]}
    groups = [covey.Group(name, robot, start, covey.Program(look)) for name, start in starts.items()]
    sim = covey.Simulation(covey.World.empty(8, 8), groups)
    sim.step()
    sim.close()
    assert seen == {"a": ([-10.0, 0.5, 2.0], [0.1, 0.2]), "b": ([-10.0, 0.5, 2.0], [0.3])}


def test_a_robot_with_a_sensor_of_its_own_kind_can_die():
    robot = with_(disc(), sensors=(Compass(),))
    group = covey.Group(
        "a", robot, [[0.0, 0.0, 0.1], [1.0, 0.0, 0.2]], covey.Program(lambda robot: robot.drive(0.1, 0.0))
    )
    fault = {"kind": "dies", "robot": "a0", "at_s": 0.5}
    sim = covey.Simulation(covey.World.empty(8, 8), [group], faults=[fault], stop=covey.Stop(timeout_s=1.0))
    sim.run()
    np.testing.assert_allclose(sim.state.distance_m, [0.05, 0.1])  # 0.1 m/s for 0.5 s, and for 1 s


def test_one_who_reads_a_message_changes_it_for_nobody_else():
    got = {}

    async def talk(robot):
        if robot.name == "scout0":
            robot.send({"goals": [1.0, 2.0], "map": np.zeros(3)})
        message = await robot.receive(timeout_s=1.0)
        if message:
            got[robot.name] = message.payload["goals"] + message.payload["map"].tolist()
            message.payload["goals"].append(99.0)
            message.payload["map"][:] = 99.0

    sim = steps(talk, count=8)
    check_boundary(sim)
    assert got == {"scout1": [1.0, 2.0, 0.0, 0.0, 0.0], "scout2": [1.0, 2.0, 0.0, 0.0, 0.0]}
    sim.close()


def test_a_leak_by_an_array_that_can_be_written_would_be_found():
    def look(robot):
        robot.readings["proximity"].ranges.sum()

    sim = steps(look)
    state = sim.robot(sim.names[1])._state
    state.shown = state.shown._replace(pose=sim.localization.pose[1])
    with pytest.raises(AssertionError, match=r"can be written.*changes the estimated poses"):
        check_boundary(sim)
    sim.close()


def look_around(robot):
    robot.drive(0.2)


@pytest.mark.parametrize("kind", ["walls", "ground"])
def test_the_maps_of_others_are_out_of_reach_by_any_name(kind):
    if kind == "ground":
        robot = with_(skid_steer(), sensors=(Wedge(), Odometry()))
        world = covey.World.empty(16, 16).replace(ground=Ground.of(np.zeros((41, 41)), 0.5))
        sim = steps(look_around, robot=robot, world=world)
    else:
        sim = steps(look_around, robot=covey.robots.turtlebot3_waffle())
    check_boundary(sim)
    seen = sim.robot("scout0").map.occupancy()
    assert not isinstance(seen.base, np.ndarray), "from it one would get to the maps of all robots"
    with pytest.raises(ValueError, match="WRITEABLE"):
        seen.flags.writeable = True
    before = int((seen >= 0).sum())
    for _ in range(20):
        sim.step()
    assert int((seen >= 0).sum()) > before > 0, "a view that goes on with the map"
    sim.close()


@pytest.mark.parametrize("leak", ["beliefs", "map", "array"])
def test_a_public_name_that_leads_to_the_map_of_another_robot_would_be_found(leak):
    sim = steps(look_around, robot=covey.robots.turtlebot3_waffle())
    check_boundary(sim)
    robot, all_maps = sim.robot("scout0"), sim.localization.teams[0].beliefs
    robot.map.leak = {"beliefs": all_maps, "map": sim.robot("scout1").map.grid, "array": all_maps.occupancy[0]}[leak]
    with pytest.raises(AssertionError, match="by a public name"):
        check_boundary(sim)
    sim.close()
