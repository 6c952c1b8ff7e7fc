"""The ground moves below robots: nothing is buried and nothing is thrown."""

from typing import Any

import numpy as np
import pytest

from covey.errors import InvalidValueError
from covey.physics.mujoco.physics import TerrainPhysics
from covey.robots.catalogue import pioneer3dx, skid_steer
from covey.robots.team import TeamModel, TeamState
from covey.world.editing.ground_edits import bank, crater, mound, region, set_altitude, shift, trench
from covey.world.ground import Ground
from covey.world.state import WorldState

pytest.importorskip("mujoco", reason="MuJoCo, of the extra covey[terrain], is not installed")


class Field:
    """Robots standing on a ground that can be edited."""

    def __init__(self, altitude, poses, robot=skid_steer, **options):
        world = WorldState(Ground.of(altitude, **options).world())
        self.ground: Any = world.ground
        self.physics = TerrainPhysics(world, TeamModel.of([robot() for _ in poses]))
        self.state = TeamState.at(poses)
        self.fastest = np.zeros(len(poses))
        self.lowest = np.full(len(poses), np.inf)
        self.go(0.5)
        self.fastest[:] = 0.0

    def go(self, seconds, twist=(0.0, 0.0, 0.0)):
        """Drive on, and note the largest speed [m/s] and the least height of a chassis above the ground [m]."""
        for _ in range(round(seconds * 100)):
            self.physics.step(self.state, np.tile(twist, (len(self.state.pose), 1)), 1)
            for i, v in enumerate(self.physics._bodies.velocity):
                self.fastest[i] = max(self.fastest[i], np.linalg.norm(self.physics._data.qvel[v : v + 3]))
            centre = self.physics._data.geom_xpos[self._boxes]
            self.lowest = np.minimum(self.lowest, centre[:, 2] - self.ground.altitude_at(centre[:, :2]))

    @property
    def altitude(self):
        return self.state.altitude_roll_pitch[:, 0]

    @property
    def _boxes(self):
        bodies, engine = self.physics._bodies, self.physics._engine
        return [int(engine.body_geomadr[body]) for body in bodies.body]


def test_raised_by_a_metre_they_stand_a_metre_higher_where_they_stood():
    field = Field(np.zeros((30, 30)), [[0, 0, 0.4], [5, 5, 1.0]])
    before, way = field.altitude.copy(), field.state.distance_m.copy()
    field.ground.apply(shift(field.ground, region(field.ground, box_m=(-15, -15, 2, 15)), 1.0))
    field.go(1.0)
    assert field.altitude == pytest.approx(before + np.array([1.0, 0.0]), abs=1e-3)
    assert np.abs(field.state.pose - [[0, 0, 0.4], [5, 5, 1.0]]).max() < 1e-3
    assert (field.fastest < 0.05).all()
    assert (field.lowest > 0.09).all()
    assert (field.state.distance_m - way < 0.02).all()


def test_lowered_they_go_down_with_the_ground():
    field = Field(np.zeros((30, 30)), [[0, 0, 0]])
    field.ground.apply(shift(field.ground, region(field.ground, box_m=(-15, -15, 15, 15)), -3.0))
    field.go(0.5)
    assert field.altitude[0] == pytest.approx(-3.0, abs=2e-3)
    assert field.fastest[0] < 0.05


@pytest.mark.parametrize("robot", [skid_steer, pioneer3dx])
def test_a_crater_below_robots_takes_them_down_and_they_drive_on(robot):
    poses = [[0, 0, 0], [3, 0, 1.0], [5.5, 0, 2.0], [-8, 0, 0], [-20, 0, 0]]
    field = Field(np.zeros((60, 60)), poses, robot)
    field.ground.apply(crater(field.ground, (0, 0), 3.0, 10.0))
    field.go(2.0)
    field.go(1.0, (0.3, 0, 0))
    ground = field.ground.altitude_at(field.state.pose[:, :2])
    assert field.altitude == pytest.approx(ground, abs=0.2)
    assert field.altitude[0] < -2.8
    assert field.altitude[4] == pytest.approx(0.0, abs=2e-3)
    assert (field.fastest < 5.0).all()
    assert (field.lowest > 0.05).all()


def test_no_edit_buries_or_throws_a_robot():
    rng = np.random.default_rng(3)
    hills = 2.0 * np.sin(np.arange(60) / 7.0)[:, None] * np.cos(np.arange(60) / 6.0)
    poses = [[x, y, h] for x, y, h in rng.uniform((-15, -15, -3), (15, 15, 3), (6, 3))]
    field = Field(hills, poses)
    for _ in range(10):
        at, to = field.state.pose[rng.integers(6), :2] + rng.uniform(-0.8, 0.8, 2), rng.uniform(-14, 14, 2)
        edit = rng.integers(5)
        ground = field.ground
        if edit == 0:
            ground.apply(crater(ground, tuple(at), rng.uniform(0.5, 2.0), rng.uniform(2, 6)))
        elif edit == 1:
            ground.apply(mound(ground, tuple(at), rng.uniform(0.5, 2.0), rng.uniform(2, 6)))
        elif edit == 2:
            ground.apply(trench(ground, tuple(at), tuple(to), 3.0, 1.0))
        elif edit == 3:
            ground.apply(bank(ground, tuple(at), tuple(to), 3.0, 1.0))
        else:
            ground.apply(set_altitude(ground, region(ground, point_m=tuple(at)), float(ground.altitude_at(at)) + 0.8))
        field.go(0.7)
    assert (field.lowest > 0.0).all()
    assert (field.fastest < 5.0).all()
    assert np.isfinite(field.state.pose).all()


def test_a_wall_of_earth_below_a_robot_lifts_it():
    field = Field(np.zeros((40, 40)), [[0.4, 0.2, 0.0]])
    field.ground.apply(bank(field.ground, (0, -10), (0, 10), 2.0, 2.0))
    field.go(2.0)
    assert field.fastest[0] < 5.0
    assert field.lowest[0] > 0.05


def test_a_robot_in_the_air_is_lifted_only_as_far_as_it_must():
    field = Field(np.zeros((30, 30)), [[0, 0, 0]])
    field.physics._data.qpos[2] += 2.0
    field.ground.apply(shift(field.ground, region(field.ground, box_m=(-15, -15, 15, 15)), 1.0))
    field.go(0.01)
    assert field.altitude[0] == pytest.approx(2.0, abs=0.02)
    field.ground.apply(shift(field.ground, region(field.ground, box_m=(-15, -15, 15, 15)), 2.0))
    field.go(0.01)
    assert field.altitude[0] == pytest.approx(3.0, abs=0.02)


def test_an_edit_out_of_range_is_refused_and_nothing_moves():
    field = Field(np.zeros((30, 30)), [[0, 0, 0]], range_m=(-2.0, 1.0))
    with pytest.raises(InvalidValueError, match=r"from -2\.9.* from -2 to 1 m"):
        field.ground.apply(crater(field.ground, (0, 0), 3.0, 5.0))
    field.go(0.2)
    assert field.altitude[0] == pytest.approx(0.0, abs=2e-3)
    field.ground.apply(crater(field.ground, (0, 0), 2.0, 5.0))
    field.go(0.5)
    assert field.altitude[0] == pytest.approx(field.ground.altitude_at(field.state.pose[0, :2]), abs=0.05)
    assert field.altitude[0] < -1.8


def test_the_engine_has_the_altitudes_of_the_ground():
    import mujoco

    field = Field(np.random.default_rng(1).uniform(-1, 1, (30, 40)), [[0, 0, 0]], spacing_m=0.5)
    field.ground.apply(crater(field.ground, (2.0, 1.0), 1.5, 3.0))
    field.go(0.01)
    geom, down = np.zeros(1, np.int32), np.array([0.0, 0.0, -1.0])
    for x, y in np.random.default_rng(2).uniform((-9, -7), (9, 7), (50, 2)):
        start = np.array([x, y, 20.0])
        far = mujoco.mj_ray(field.physics._engine, field.physics._data, start, down, None, 1, -1, geom, None)
        if field.physics._engine.geom(int(geom[0])).name == "ground":
            assert 20.0 - far == pytest.approx(field.ground.altitude_at((x, y)), abs=1e-4)
