"""Sensors by name: the kinds, the catalogue of real ones, and `Sensor`, the field type for files."""

import math
from typing import Annotated, Any

from pydantic import Field, SerializeAsAny, WrapValidator

from covey.errors import InvalidValueError, UnknownNameError
from covey.registry import Registry
from covey.sensors.bumper import Bumper
from covey.sensors.depth_camera import DepthCamera
from covey.sensors.imu import Imu
from covey.sensors.lidar import Lidar
from covey.sensors.lidar3d import Lidar3D
from covey.sensors.neighbours import Neighbours
from covey.sensors.odometry import Odometry
from covey.sensors.proximity import Proximity
from covey.sensors.sensor import SensorRecord
from covey.sensors.tag_camera import TagCamera
from covey.sensors.wedge import Wedge

sensors: Registry[Any] = Registry("sensor")
"""Names for sensors in files: a kind (the record's class) or a preset (a function without arguments)."""

_KINDS = {
    "lidar": Lidar,
    "proximity": Proximity,
    "bumper": Bumper,
    "odometry": Odometry,
    "imu": Imu,
    "neighbours": Neighbours,
    "wedge": Wedge,
    "lidar3d": Lidar3D,
    "depth_camera": DepthCamera,
    "tag_camera": TagCamera,
}
for _name, _kind in _KINDS.items():
    sensors.register(_name)(_kind)


@sensors.register("sick_lms500")
def sick_lms500() -> Lidar:
    """SICK LMS500 as in Yan et al. (Robotics 2017, 6(3), 21): 180 rays over 190 degrees, 26 m, 25 Hz, sigma 0.01 m."""
    return Lidar(rays=180, fov_deg=190, range_m=26, min_range_m=0.05, rate_hz=25, sigma_m=0.01)


@sensors.register("turtlebot3_lds")
def turtlebot3_lds(rate_hz: float = 5.0) -> Lidar:
    """TurtleBot3 LDS: 360 rays, 0.12 to 3.5 m, sigma 0.01 m; 5 Hz; turtlebot3_simulations has 10 on the Waffle."""
    return Lidar(rays=360, fov_deg=360, range_m=3.5, min_range_m=0.12, rate_hz=rate_hz, sigma_m=0.01)


@sensors.register("maes_360")
def maes_360(range_m: float = 7.0) -> Lidar:
    """The range sensor of MAES: 360 degrees, one ray per half metre at full range, no noise, blind to robots."""
    rays = int(2.0 * math.pi * range_m * 2.0)
    return Lidar(rays=rays, fov_deg=360, range_m=range_m, rate_hz=10, sees_robots=False)


@sensors.register("waffle_pi_camera")
def waffle_pi_camera() -> TagCamera:
    """The camera of the TurtleBot3 Waffle Pi with a reader of markers: 62.2 degrees, place of turtlebot3_description.

    Range and errors are those of `TagCamera`; the marker reader of the DAT160 challenge publishes at 10 Hz.
    """
    return TagCamera(fov_deg=62.2, rate_hz=10, mount_x_m=0.073, mount_y_m=-0.011)


@sensors.register("look_down")
def look_down(range_m: float = 15.0) -> Wedge:
    """The sensor of an aerial scout: it sees everything within 45 degrees of straight down, at 2 Hz."""
    return Wedge(
        name="look_down",
        fov_deg=90,
        elevation_deg=45,
        declination_deg=45,
        mount_pitch_deg=90,
        range_m=range_m,
        height_m=0,
        mount_x_m=0,
        level=True,
        rate_hz=2,
    )


def _from_name(value: Any, handler: Any) -> Any:
    """Accept a name or a record with a ``kind`` that is a name of the registry, and records made in Python."""
    if isinstance(value, SensorRecord):
        return value
    given = {"kind": value} if isinstance(value, str) else value
    kind = given.get("kind") if isinstance(given, dict) else None
    if not isinstance(kind, str) or kind in _KINDS:
        return handler(given)
    try:
        factory = sensors.get(kind)
    except UnknownNameError as error:
        raise InvalidValueError(str(error)) from error
    if isinstance(factory, type):
        return factory.model_validate(given)
    preset = factory()
    rest = {key: v for key, v in given.items() if key != "kind"}
    merged = {**preset.model_dump(), **rest}
    return handler(merged) if merged["kind"] in _KINDS else type(preset).model_validate(merged)


Sensor = Annotated[
    SerializeAsAny[
        Annotated[
            Lidar | Proximity | Bumper | Odometry | Imu | Neighbours | Wedge | Lidar3D | DepthCamera | TagCamera,
            Field(discriminator="kind"),
        ]
    ],
    WrapValidator(_from_name),
]
"""Field type of a sensor in a file: ``sick_lms500``, ``{kind: sick_lms500, rate_hz: 50}``, ``{kind: lidar, ...}``."""
