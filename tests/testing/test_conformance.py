"""The conformance checks run over everything that is registered, and find what is wrong."""

from dataclasses import dataclass

import numpy as np
import pytest

from covey.sensors import sensors
from covey.sensors.lidar import Lidar, LidarReadings
from covey.testing import check_boundary, check_controller, check_sensor, check_world
from covey.world.records.generated import (
    GeneratedBuilding,
    GeneratedCave,
    GeneratedMaze,
    GeneratedOffice,
    GeneratedRooms,
    GeneratedRubble,
)
from covey.world.records.landscapes import FlatGround, GeneratedBoulders, GeneratedHills, GeneratedRidges
from covey.world.records.walls import EmptyWorld, TerrainWorld, WorkspaceWorld

WORLDS = [
    EmptyWorld(empty_m=(5, 4)),
    WorkspaceWorld(workspace_m=[(0, 0), (6, 0), (6, 5), (0, 5)], obstacles_m=[[(2, 2), (3, 2), (3, 3)]]),
    WorkspaceWorld(workspace_m=[(0, 0), (6, 0), (6, 5), (0, 5)], border="open"),
    GeneratedMaze(generate="maze", size_m=(12, 10)),
    GeneratedOffice(generate="office"),
    GeneratedCave(generate="cave", material="random"),
    GeneratedBuilding(generate="building", material="brick"),
    GeneratedRooms(generate="rooms"),
    GeneratedRubble(generate="rubble", material="random"),
    GeneratedHills(generate="hills", size_m=(60, 40)),
    GeneratedHills(generate="hills", walls=EmptyWorld(empty_m=(8, 6))),
    GeneratedRidges(generate="ridges", size_m=(60, 40)),
    GeneratedBoulders(generate="boulders", size_m=(60, 40)),
    FlatGround(generate="flat"),
    *(TerrainWorld(terrain=name, resolution_m=0.4, wall_m=0.8) for name in ("loop", "cross", "zigzag", "maze")),
]


@pytest.mark.parametrize("name", sensors.names())
def test_every_sensor_conforms(name):
    item = sensors.get(name)
    check_sensor(item())


@pytest.mark.parametrize("record", WORLDS, ids=lambda r: repr(r)[:50])
def test_every_kind_of_world_conforms(record):
    check_world(record)


class MapExchange(Lidar):
    def read(self, truth, members, keys, sample):
        readings = super().read(truth, members, keys, sample)

        class Leaky(LidarReadings):
            def row(self, i):
                reading = super().row(i)
                return type(reading)(self.ranges[i], reading.angles, reading.range_m, reading.mount)

        return Leaky(**vars(readings))


class Global(Lidar):
    def read(self, truth, members, keys, sample):
        readings = super().read(truth, members, keys, sample)
        return LidarReadings(**{**vars(readings), "ranges": readings.ranges + np.random.default_rng().normal()})


@pytest.mark.parametrize(
    ("sensor", "words"), [(MapExchange(), "shares memory"), (Global(), "differs between two reads")]
)
def test_a_sensor_that_does_not_conform_is_found(sensor, words):
    with pytest.raises(AssertionError, match=words):
        check_sensor(sensor)


@dataclass(frozen=True)
class ChangingWorld:
    def build(self, folder, seed):
        width = 4 + int(np.random.default_rng().integers(1, 1000)) / 10
        return EmptyWorld(empty_m=(width, 4)).build(folder, seed)


def test_a_world_that_does_not_conform_is_found():
    with pytest.raises(AssertionError, match="different worlds"):
        check_world(ChangingWorld())


def restless(robot):
    robot.drive(float(np.random.default_rng().normal()))


def test_a_controller_that_is_not_repeatable_is_found():
    with pytest.raises(AssertionError, match="does not repeat itself"):
        check_controller(restless, seconds=1.0)


def test_a_controller_that_cannot_be_pickled_is_found():
    with pytest.raises(AssertionError, match="does not pickle"):
        check_controller(lambda robot: None)


def test_the_boundary_is_checked_on_a_running_simulation():
    import covey

    sim = covey.load("hello")
    for _ in range(5):
        sim.step()
    check_boundary(sim)
    sim.close()
