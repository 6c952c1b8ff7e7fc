"""The robots that ship with Covey: functions that return a `RobotModel`, with the sources of the numbers."""

from covey.mapping.records import ElevationMapping, Mapping
from covey.registry import Registry
from covey.robots.chassis import Caster, Control, FlyingChassis, Wheel, WheeledChassis, skid_width_factor, track_wheels
from covey.robots.model import Kinematics, RobotModel
from covey.sensors.bumper import Bumper
from covey.sensors.catalogue import look_down, maes_360, sick_lms500, turtlebot3_lds, waffle_pi_camera
from covey.sensors.lidar import Lidar
from covey.sensors.neighbours import Neighbours
from covey.sensors.odometry import GmappingNoise, Odometry
from covey.sensors.proximity import Proximity
from covey.sensors.wedge import Wedge

robots: Registry = Registry("robot")


WHEELS = Odometry(rate_hz=10.0, noise=GmappingNoise(m_per_m=0.01, rad_per_m=0.02, m_per_rad=0.01, rad_per_rad=0.02))
"""Odometry of all wheeled robots here: 10 Hz, the default of a Pioneer; noise of gmapping's motion model (srr, srt,
str, stt) as in the DAT160 challenge of 2021."""


def _pair(half_track_m: float, radius_m: float, width_m: float, mass_kg: float) -> tuple[Wheel, Wheel]:
    """Return two wheels left and right of the middle."""
    left = Wheel(x_m=0.0, y_m=half_track_m, radius_m=radius_m, width_m=width_m, mass_kg=mass_kg)
    return left, left.model_copy(update={"y_m": -half_track_m})


@robots.register("pioneer3dx")
def pioneer3dx() -> RobotModel:
    """Return the Pioneer 3-DX as Yan et al. 2017 simulate it.

    Speeds 1.2 m/s and 300 degrees/s: the paper. Footprint of nine points (0.508 x 0.356 m) and accelerations
    2.5 m/s2, 3.2 rad/s2: the planner files of its testbed. Track 357 mm = 2 / 0.0056 mm: DiffConvFactor in AriaCoda's
    p3dx.p. The wheels are taken to reach no more than the top speed, so it slows down to turn. LMS500 at the centre,
    odometry at 10 Hz, map of 0.2 m with rays up to 25 m: the testbed's launch files. Chassis: 9 kg and wheels of
    195 mm: its data sheet; box and caster: the p3dx_description of R. Berkvens; 4 N m a side, which no source has,
    reaches the accelerations with the load it may carry.

    References:
        Z. Yan, L. Fabresse, J. Laval, N. Bouraqadi: Building a ROS-based testbed for realistic multi-robot simulation:
        taking the exploration as an example. Robotics 6(3), 21, 2017.
    """
    return RobotModel(
        name="pioneer3dx",
        kinematics="differential",
        footprint_m=(
            (0.254, -0.0508),
            (0.1778, -0.0508),
            (0.1778, -0.1778),
            (-0.1905, -0.1778),
            (-0.254, 0.0),
            (-0.1905, 0.1778),
            (0.1778, 0.1778),
            (0.1778, 0.0508),
            (0.254, 0.0508),
        ),
        max_speed_m_s=1.2,
        max_turn_rad_s=5.24,
        max_wheel_speed_m_s=1.2,
        wheel_semi_axis_m=0.1785,
        acceleration_m_s2=2.5,
        turn_acceleration_rad_s2=3.2,
        sensors=(sick_lms500(), WHEELS, Neighbours(range_m=26)),
        mapping=Mapping(resolution_m=0.2, max_range_m=25),
        chassis=WheeledChassis(
            box_m=(0.35, 0.25, 0.14),
            box_at_m=(-0.045, 0.0, 0.145),
            mass_kg=8.0,
            wheels=_pair(half_track_m=0.1785, radius_m=0.0975, width_m=0.05, mass_kg=0.5),
            casters=(Caster(x_m=-0.2145, radius_m=0.0375),),
            max_torque_n_m=4.0,
        ),
    )


@robots.register("turtlebot3_burger")
def turtlebot3_burger() -> RobotModel:
    """Return the TurtleBot3 Burger.

    Speeds 0.22 m/s and 2.84 rad/s: turtlebot3_teleop. Wheel separation 0.160 m, acceleration 1.0 m/s2:
    turtlebot3_simulations. Wheel speed: what 2.84 rad/s on the spot asks for, 2.84 x 0.080 m/s. Turn acceleration
    3.2 rad/s2 and footprint 0.146 x 0.210 m: the planner files of ROBOTIS' turtlebot3 repository; map
    of 0.05 m as its SLAM files have it. Chassis: its turtlebot3_description; torque 1 N m, about what the motors hold.
    """
    return RobotModel(
        name="turtlebot3_burger",
        kinematics="differential",
        footprint_m=((-0.105, -0.105), (0.041, -0.105), (0.041, 0.105), (-0.105, 0.105)),
        footprint_excess_m=0.02,
        max_speed_m_s=0.22,
        max_turn_rad_s=2.84,
        max_wheel_speed_m_s=0.2272,
        wheel_semi_axis_m=0.080,
        acceleration_m_s2=1.0,
        turn_acceleration_rad_s2=3.2,
        sensors=(turtlebot3_lds(rate_hz=5).model_copy(update={"mount_x_m": -0.032}), WHEELS),
        mapping=Mapping(resolution_m=0.05),
        chassis=WheeledChassis(
            box_m=(0.14, 0.14, 0.143),
            box_at_m=(-0.032, 0.0, 0.08),
            mass_kg=0.826,
            wheels=_pair(half_track_m=0.08, radius_m=0.033, width_m=0.018, mass_kg=0.0285),
            casters=(Caster(x_m=-0.081, radius_m=0.005),),
            max_torque_n_m=1.0,
        ),
    )


@robots.register("turtlebot3_waffle")
def turtlebot3_waffle() -> RobotModel:
    """Return the TurtleBot3 Waffle Pi, without its camera.

    Speeds 0.26 m/s and 1.82 rad/s: turtlebot3_teleop. Wheel separation 0.287 m, acceleration 1.0 m/s2:
    turtlebot3_simulations. Wheel speed: what 1.82 rad/s on the spot asks for, 1.82 x 0.1435 m/s. Turn acceleration
    3.2 rad/s2 and footprint 0.282 x 0.290 m: the planner files of ROBOTIS' turtlebot3 repository; map
    of 0.05 m as its SLAM files have it. Chassis: its turtlebot3_description; torque 1 N m, about what the motors hold.
    """
    return RobotModel(
        name="turtlebot3_waffle",
        kinematics="differential",
        footprint_m=((-0.205, -0.145), (0.077, -0.145), (0.077, 0.145), (-0.205, 0.145)),
        footprint_excess_m=0.03,
        max_speed_m_s=0.26,
        max_turn_rad_s=1.82,
        max_wheel_speed_m_s=0.26117,
        wheel_semi_axis_m=0.1435,
        acceleration_m_s2=1.0,
        turn_acceleration_rad_s2=3.2,
        sensors=(turtlebot3_lds(rate_hz=10).model_copy(update={"mount_x_m": -0.064}), WHEELS),
        mapping=Mapping(resolution_m=0.05),
        chassis=WheeledChassis(
            box_m=(0.266, 0.266, 0.094),
            box_at_m=(-0.064, 0.0, 0.057),
            mass_kg=1.373,
            wheels=_pair(half_track_m=0.1435, radius_m=0.033, width_m=0.018, mass_kg=0.0285),
            casters=(Caster(x_m=-0.177, y_m=0.064, radius_m=0.005), Caster(x_m=-0.177, y_m=-0.064, radius_m=0.005)),
            max_torque_n_m=1.0,
        ),
    )


@robots.register("turtlebot3_waffle_pi")
def turtlebot3_waffle_pi() -> RobotModel:
    """Return the TurtleBot3 Waffle Pi with its camera, which reads the markers of targets.

    Its lidar turns five times a second, as the copy of the model in the DAT160 challenge has it; ROBOTIS' e-manual says
    5 Hz or above of the device (LDS-02).
    """
    waffle = turtlebot3_waffle()
    lidar, *others = waffle.sensors
    sensors = (lidar.model_copy(update={"rate_hz": 5.0}), *others, waffle_pi_camera())
    return waffle.model_copy(update={"name": "turtlebot3_waffle_pi", "sensors": sensors})


@robots.register("maes")
def maes() -> RobotModel:
    """Return the robot of MAES 2.0, in its units (1 tile = 1 m).

    A disc of radius 0.297, mass 1, drag 20 /s, angular drag 30 /s. Each wheel, at 0.26435 beside the centre, pushes
    with 30 when both get the same factor and with 10 when they differ by more than 0.01. So straight on it ends at
    2 x 30 / 20 = 3 m/s, and otherwise at v = 10 (l + r) / 20 and turn rate 10 (r - l) 0.26435 / (30 m r2 / 2)
    = 1.998 (r - l): 3.996 rad/s on the spot. That is a differential drive with wheel speeds l, r up to 1 m/s and a
    wheel semi-axis of 1 / (2 x 1.998) m. Its law v <- (v + dt F/m) / (1 + 20 dt) is a lag of 1/20 s, of 1/30 s for
    turning. It sees walls all around and other robots up to 20 m, and maps in cells of half a tile.

    References:
        M. Z. Andreasen, P. I. Holler, M. K. Jensen, M. Albano: MAES: a ROS 2-compatible simulation tool for exploration
        and coverage algorithms. Artificial Life and Robotics 28, 2023.
    """
    return RobotModel(
        name="maes",
        kinematics="differential",
        radius_m=0.297,
        max_speed_m_s=3.0,
        max_turn_rad_s=3.996,
        max_wheel_speed_m_s=3.0,
        max_wheel_speed_turning_m_s=1.0,
        wheel_semi_axis_m=0.25025,
        speed_lag_s=1 / 20,
        turn_lag_s=1 / 30,
        sensors=(maes_360(), Neighbours(range_m=20)),
        mapping=Mapping(resolution_m=0.5),
    )


@robots.register("disc")
def disc(kinematics: Kinematics = "differential", radius_m: float = 0.15) -> RobotModel:
    """Return a plain disc, 1 m/s and 3 rad/s, without inertia: for control laws and swarms."""
    return RobotModel(
        name="disc",
        kinematics=kinematics,
        radius_m=radius_m,
        max_speed_m_s=1.0,
        max_turn_rad_s=3.0,
        sensors=(
            Lidar(rays=90, fov_deg=360, range_m=8, rate_hz=10),
            Proximity(sectors=12, range_m=0.5),
            WHEELS,
            Bumper(),
            Neighbours(),
        ),
        mapping=Mapping(),
    )


@robots.register("skid_steer")
def skid_steer(control: Control = "twist") -> RobotModel:
    """Return the four-wheeled robot of De Rango and Nahavandi 2007, for physics: terrain.

    Box 300 x 200 x 50 mm, wheels 200 x 70 mm beside it, axles 240 mm apart, the same torque on both wheels of a side,
    and the wedge sensor: the paper. It gives no masses, torques and speeds. Assumed are 6 kg and 1 kg for each wheel,
    10 N m a side, with which the wheels can slip, and 1 m/s and 2 rad/s. Friction 0.8: MORSE's wheels of a Pioneer.

    References:
        De Rango, Nahavandi: Simulating autonomous robot teams with Microsoft Robotics Studio. 2007.
    """
    wheels = tuple(
        Wheel(x_m=x, y_m=y, radius_m=0.1, width_m=0.07, mass_kg=1.0, tyre="flat")
        for x in (0.12, -0.12)
        for y in (0.135, -0.135)
    )
    chassis = WheeledChassis(
        box_m=(0.3, 0.2, 0.05),
        box_at_m=(0.0, 0.0, 0.1),
        mass_kg=6.0,
        wheels=wheels,
        control=control,
        max_torque_n_m=10.0,
        width_factor=skid_width_factor((0.12, -0.12), 0.135),
    )
    return RobotModel(
        name="skid_steer",
        kinematics="differential",
        footprint_m=((0.22, 0.17), (-0.22, 0.17), (-0.22, -0.17), (0.22, -0.17)),
        max_speed_m_s=1.0,
        max_turn_rad_s=2.0,
        wheel_semi_axis_m=0.135,
        acceleration_m_s2=2.0,
        turn_acceleration_rad_s2=6.0,
        sensors=(Wedge(), WHEELS, Neighbours()),
        mapping=ElevationMapping(),
        chassis=chassis,
    )


@robots.register("tracked")
def tracked(control: Control = "twist") -> RobotModel:
    """Return a tracked robot; each track is ten overlapping wheels, as in De Rango and Nahavandi 2007.

    The paper gives no sizes: box and wheels are those of `skid_steer` without the gap between the axles, so that a
    track is 0.56 m long; 8 kg and 3 kg for each track, 20 N m a side, 0.8 m/s and 1.5 rad/s.
    """
    wheels = track_wheels(10, length_m=0.36, half_track_m=0.135, radius_m=0.1, width_m=0.07, mass_kg=3.0)
    chassis = WheeledChassis(
        box_m=(0.4, 0.2, 0.08),
        box_at_m=(0.0, 0.0, 0.1),
        mass_kg=8.0,
        wheels=wheels,
        control=control,
        max_torque_n_m=20.0,
        width_factor=skid_width_factor([wheel.x_m for wheel in wheels[:10]], 0.135),
    )
    return RobotModel(
        name="tracked",
        kinematics="differential",
        footprint_m=((0.28, 0.17), (-0.28, 0.17), (-0.28, -0.17), (0.28, -0.17)),
        max_speed_m_s=0.8,
        max_turn_rad_s=1.5,
        wheel_semi_axis_m=0.135,
        acceleration_m_s2=2.0,
        turn_acceleration_rad_s2=6.0,
        sensors=(Wedge(), WHEELS, Neighbours()),
        mapping=ElevationMapping(),
        chassis=chassis,
    )


@robots.register("aerial_scout")
def aerial_scout(height_m: float = 8.0) -> RobotModel:
    """Return a robot that flies at a height above the ground, at up to 4 m/s in any direction, without contacts.

    Its numbers do not describe a particular aircraft: a disc of 0.25 m, 3 m/s2 and 2 rad/s.
    """
    return RobotModel(
        name="aerial_scout",
        kinematics="holonomic",
        radius_m=0.25,
        max_speed_m_s=4.0,
        max_turn_rad_s=2.0,
        acceleration_m_s2=3.0,
        sensors=(look_down(), WHEELS, Neighbours()),
        mapping=ElevationMapping(),
        chassis=FlyingChassis(kind="flying", height_m=height_m),
    )
