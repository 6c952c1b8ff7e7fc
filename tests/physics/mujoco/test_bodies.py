"""Every robot of the catalogue drives; torque control, and bodies from files."""

import math

import numpy as np
import pytest
from pydantic import ValidationError

import covey
from covey.errors import InvalidValueError
from covey.onboard.group import Group
from covey.physics.mujoco.physics import TerrainPhysics
from covey.robots.catalogue import robots, skid_steer
from covey.robots.chassis import FileChassis, FlyingChassis, WheeledChassis, skid_width_factor
from covey.robots.model import RobotModel, chassis_of
from covey.robots.team import TeamModel, TeamState
from covey.world.ground import Ground
from covey.world.world import World

pytest.importorskip("mujoco", reason="MuJoCo, of the extra covey[terrain], is not installed")

GROUNDED = [n for n in robots.names() if not isinstance(robots.get(n)().chassis, FlyingChassis)]

MJCF = """
<mujoco><worldbody><body name="rover" pos="0 0 0.3"><freejoint/>
  <geom type="box" size="0.2 0.15 0.04" mass="5"/>
  <geom type="sphere" size="0.05" pos="-0.18 0 -0.05" mass="0.1" friction="0.01"/>
  <body pos="0.1 0.2 0"><joint name="l" axis="0 1 0"/><geom type="ellipsoid" size="0.1 0.02 0.1" mass="0.5"/></body>
  <body pos="0.1 -0.2 0"><joint name="r" axis="0 -1 0"/><geom type="ellipsoid" size="0.1 0.02 0.1" mass="0.5"/></body>
</body></worldbody><actuator><motor joint="l"/></actuator></mujoco>
"""

WHEEL = (
    '<link name="{0}_wheel"><inertial><mass value="0.5"/><inertia ixx="0.002" ixy="0" ixz="0" iyy="0.003" iyz="0" '
    'izz="0.002"/></inertial><collision><geometry><sphere radius="0.1"/></geometry></collision></link>'
    '<joint name="{0}" type="continuous"><parent link="base"/><child link="{0}_wheel"/>'
    '<origin xyz="{1} {2} 0"/><axis xyz="0 1 0"/></joint>'
)
URDF = (
    '<robot name="rover"><link name="base"><inertial><mass value="6"/><inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" '
    'iyz="0" izz="0.1"/></inertial><collision><geometry><box size="0.4 0.3 0.08"/></geometry></collision></link>'
    + "".join(WHEEL.format(f"{s}{k}", x, y) for s, y in (("l", 0.2), ("r", -0.2)) for k, x in ((0, 0.12), (1, -0.12)))
    + "</robot>"
)


def drive(world, model, commands, steps, pose=(0, 0, 0)):
    """Hold a command for some steps of 0.1 s; return physics and state."""
    physics, state = TerrainPhysics(world, TeamModel.of([model])), TeamState.at([pose])
    for _ in range(steps):
        physics.step(state, np.array([commands], float), 10)
    return physics, state


def from_file(path, text, **changes):
    path.write_text(text)
    figures = {"kind": "file", "file": str(path), "left": ("l",), "right": ("r",), "wheel_radius_m": 0.1}
    chassis = FileChassis(**{**figures, "half_track_m": 0.2, "max_torque_n_m": 5.0, **changes})
    return skid_steer().model_copy(update={"chassis": chassis})


@pytest.mark.parametrize("name", GROUNDED)
def test_every_robot_stands_still_drives_and_turns_as_told(name):
    model = robots.get(name)()
    physics, state = drive(World.empty(30, 30), model, (0, 0, 0), 5)
    assert np.abs(state.pose).max() < 1e-3
    assert np.abs(state.altitude_roll_pitch).max() < 0.01
    speed = 0.5 * model.max_speed_m_s
    for _ in range(20):
        physics.step(state, np.array([[speed, 0, 0]]), 10)
    assert state.twist[0] == pytest.approx((speed, 0, 0), abs=0.03 * speed)
    turn = 0.3 * model.max_turn_rad_s
    for _ in range(20):
        physics.step(state, np.array([[0, 0, turn]]), 10)
    before = state.pose[0, 2]
    for _ in range(5):
        physics.step(state, np.array([[0, 0, turn]]), 10)
    assert math.remainder(state.pose[0, 2] - before, 2 * math.pi) == pytest.approx(0.5 * turn, rel=0.1)
    for _ in range(20):
        physics.step(state, np.zeros((1, 3)), 10)
    assert np.abs(state.twist).max() < 1e-3


@pytest.mark.parametrize("name", ["skid_steer", "tracked"])
def test_every_tracked_or_skid_steer_robot_climbs_a_hill(name):
    x = np.arange(40) - 19.5
    world = Ground.of(np.tile(0.3 * x, (40, 1))).world()
    _, state = drive(world, robots.get(name)(), (0.5, 0, 0), 50)
    assert state.altitude_roll_pitch[0, 0] > 0.3 * 2.0
    assert state.altitude_roll_pitch[0, 2] == pytest.approx(-math.atan(0.3), abs=0.03)


def test_by_equal_torques_it_drives_straight_at_first_as_newton_says():
    model = skid_steer(control="torque")
    physics, state = drive(World.empty(60, 60), model, (0.4, 0.4, 0), 1)
    inertia = 10.0 + 4 * 0.5 * 1.0 + 0.5 * 10.0  # robot, its wheels turning (half their mass), and the rotors
    first = state.twist[0, 0]
    assert first == pytest.approx(0.8 / 0.1 / inertia * 0.1, rel=0.1)
    for _ in range(150):
        physics.step(state, np.array([[10.0, 10.0, 0]]), 10)
    top = 1.0 + 2.0 * 0.135 * skid_width_factor((0.12, -0.12), 0.135)  # the rim of a wheel, also while turning
    assert state.twist[0, 0] == pytest.approx(top, rel=0.02)
    assert abs(state.pose[0, 1]) < 0.05
    assert state.drive[0, 0] == state.twist[0, 0]


@pytest.mark.parametrize("name", ["skid_steer", "tracked", "pioneer3dx", "turtlebot3_burger"])
@pytest.mark.parametrize("rotors", [None, 0.0, 0.5, 1.0])
def test_by_equal_torques_it_accelerates_as_its_masses_and_rotors_say(name, rotors):
    """Newton: 2 T / r over the mass, the wheels' inertia and the rotors', as masses at the rims."""
    model = robots.get(name)()
    chassis = model.chassis
    r, mass = chassis.wheels[0].radius_m, chassis.mass_kg + sum(w.mass_kg for w in chassis.wheels)
    shares = {"flat": 0.5, "round": 0.4}  # a cylinder, an ellipsoid
    wheels = sum(shares[w.tyre] * w.mass_kg for w in chassis.wheels)
    inertia = None if rotors is None else 0.5 * rotors * mass * r * r  # one side's
    changes = {"control": "torque", "rotor_inertia_kg_m2": inertia}
    model = model.model_copy(update={"chassis": chassis.model_copy(update=changes)})
    physics, state = drive(World.empty(30, 30), model, (0, 0, 0), 5)
    before, torque = state.twist[0, 0], 0.15 * mass * r
    for _ in range(5):
        physics.step(state, np.array([[torque, torque, 0]]), 10)
    expected = 2 * torque / r / (mass + wheels + (0.5 if rotors is None else rotors) * mass)
    assert (state.twist[0, 0] - before) / 0.5 == pytest.approx(expected, rel=0.04)
    state.halted[:] = True
    for _ in range(10):
        physics.step(state, np.zeros((1, 3)), 10)
    assert np.abs(state.twist).max() < 1e-3  # whatever the rotors are, it brakes


def test_rotors_do_not_count_where_a_regulator_holds_the_speed():
    figures = skid_steer().chassis.model_dump()
    with pytest.raises(InvalidValueError, match="control: torque"):
        WheeledChassis(**{**figures, "rotor_inertia_kg_m2": 0.01})


class Pushes:
    def step(self, robot):
        robot.torque(0.2, 0.3)


def test_a_controller_gives_torques():
    group = Group("robot", skid_steer(control="torque"), np.zeros((1, 3)))
    sim = covey.Simulation(Ground.of(np.zeros((30, 30))).world(), [group], Pushes, physics="terrain")
    for _ in range(20):
        sim.step()
    sim.close()
    assert sim.state.distance_m[0] == pytest.approx(0.5 * 5 / 17 * 2.0**2, rel=0.1)
    motors = sim.physics._data.ctrl
    assert sorted(motors.tolist()) == pytest.approx([0.1, 0.1, 0.15, 0.15])


def test_by_opposite_torques_it_turns_if_they_overcome_the_friction():
    model = skid_steer(control="torque")
    _, weak = drive(World.empty(60, 60), model, (-1, 1, 0), 20)
    _, strong = drive(World.empty(60, 60), model, (-8, 8, 0), 20)
    assert abs(weak.pose[0, 2]) < 0.01  # the moment of friction is 0.8 x 98 N x 0.18 m, that of the wheels 2.7 N m
    assert np.abs(strong.twist[0, 2]) > 0.5


def test_halted_under_torque_control_it_brakes_on_a_slope():
    x = np.arange(40) - 19.5
    physics, state = drive(Ground.of(np.tile(0.3 * x, (40, 1))).world(), skid_steer(control="torque"), (0, 0, 0), 20)
    assert state.twist[0, 0] < -0.5  # nothing holds its wheels
    state.halted[0] = True
    for _ in range(30):
        physics.step(state, np.zeros((1, 3)), 10)
    assert abs(state.twist[0, 0]) < 0.01


@pytest.mark.parametrize(("text", "joints"), [(MJCF, (("l",), ("r",))), (URDF, (("l0", "l1"), ("r0", "r1")))])
def test_a_body_from_a_file_drives_as_told(tmp_path, text, joints):
    left, right = joints
    factor = 1.0 if len(left) == 1 else skid_width_factor((0.12, -0.12), 0.2)
    file = tmp_path / ("rover.xml" if text is MJCF else "rover.urdf")
    model = from_file(file, text, left=left, right=right, width_factor=factor)
    physics, state = drive(World.empty(30, 30), model, (0, 0, 0), 10)
    assert abs(state.altitude_roll_pitch[0, 0]) < 0.005
    for _ in range(40):
        physics.step(state, np.array([[0.4, 0, 0]]), 10)
    assert state.twist[0, 0] == pytest.approx(0.4, rel=0.02)
    assert state.pose[0, 0] > 1.4
    for _ in range(20):
        physics.step(state, np.array([[0, 0, 0.6]]), 10)
    assert state.twist[0, 2] == pytest.approx(0.6, rel=0.07)


def test_a_team_of_different_bodies_drives_together(tmp_path):
    models = [robots.get(n)() for n in ("pioneer3dx", "tracked", "aerial_scout", "turtlebot3_burger")]
    models.append(from_file(tmp_path / "rover.xml", MJCF))
    physics, state = (
        TerrainPhysics(World.empty(30, 30), TeamModel.of(models)),
        TeamState.at([[2.0 * i, 0, 0.1 * i] for i in range(5)]),
    )
    for _ in range(30):
        physics.step(state, np.tile([0.2, 0, 0.0], (5, 1)), 10)
    assert state.twist[:, 0] == pytest.approx(np.full(5, 0.2), rel=0.03)
    assert state.altitude_roll_pitch[:, 0] == pytest.approx([0, 0, 8, 0, 0], abs=0.005)


def test_files_that_do_not_fit_are_refused_by_name(tmp_path):
    for changes, message in (
        ({"file": "nowhere.xml"}, "no file 'nowhere.xml'"),
        ({"left": ("left",)}, r"no joint 'left'.*\['l', 'r'\]"),
    ):
        model = from_file(tmp_path / "rover.xml", MJCF, **changes)
        with pytest.raises(InvalidValueError, match=message):
            TerrainPhysics(World.empty(5, 5), TeamModel.of([model]))
    with pytest.raises(InvalidValueError, match=r"cannot read '.*broken\.xml'"):
        TerrainPhysics(World.empty(5, 5), TeamModel.of([from_file(tmp_path / "broken.xml", "<mujoco><body>")]))


def test_a_file_is_relative_to_the_scenario_that_names_it():
    figures = {"kind": "file", "file": "rover.xml", "left": ["l"], "right": ["r"], "wheel_radius_m": 0.1}
    figures |= {"half_track_m": 0.2, "max_torque_n_m": 5.0}
    model = RobotModel.model_validate({"radius_m": 0.3, "chassis": figures}, context={"folder": "there"})
    assert model.chassis.file == "there/rover.xml"


def test_a_chassis_that_cannot_be_is_refused():
    wheel = {"x_m": 0, "y_m": 0.1, "radius_m": 0.05, "width_m": 0.02, "mass_kg": 0.1}
    rest = {"box_m": (0.2, 0.1, 0.1), "box_at_m": (0, 0, 0.1), "mass_kg": 1.0, "max_torque_n_m": 1.0}
    with pytest.raises(ValidationError, match="all wheels are on one side"):
        WheeledChassis.model_validate({"wheels": [wheel, wheel], **rest})
    with pytest.raises(ValidationError, match="y_m is 0"):
        WheeledChassis.model_validate({"wheels": [wheel, {**wheel, "y_m": 0}], **rest})
    with pytest.raises(InvalidValueError, match="holonomic"):
        chassis_of(robots.get("disc")(kinematics="holonomic"))


def test_the_robot_of_the_paper_has_its_figures():
    chassis = skid_steer().chassis
    assert chassis.box_m == (0.3, 0.2, 0.05)
    assert {(w.x_m, w.radius_m, w.width_m) for w in chassis.wheels} == {(0.12, 0.1, 0.07), (-0.12, 0.1, 0.07)}
    assert len(robots.get("tracked")().chassis.wheels) == 20


def test_the_width_factor_is_where_the_moment_of_friction_vanishes():
    rng = np.random.default_rng(1)
    for _ in range(20):
        x, b = rng.uniform(-0.5, 0.5, 5), rng.uniform(0.1, 0.5)
        factor = skid_width_factor(x, b)
        slip = np.column_stack((np.full(5, b - factor * b), x))
        force = -slip / np.linalg.norm(slip, axis=1, keepdims=True)
        assert np.sum(x * force[:, 1] - -b * force[:, 0]) == pytest.approx(0.0, abs=1e-9)
        assert factor > 1.0
    assert skid_width_factor((0.12, -0.12), 0.135) == pytest.approx(1 + (0.12 / 0.135) ** 2)
