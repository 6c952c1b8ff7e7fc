"""Sensors by name: the kinds, and the catalogue of real ones."""

import math

from covey.sensors.bumper import Bumper
from covey.sensors.depth_camera import DepthCamera
from covey.sensors.imu import Imu
from covey.sensors.lidar import Lidar
from covey.sensors.lidar3d import Lidar3D
from covey.sensors.neighbours import Neighbours
from covey.sensors.odometry import Odometry
from covey.sensors.proximity import Proximity
from covey.sensors.sensor import sensors
from covey.sensors.tag_camera import TagCamera
from covey.sensors.wedge import Wedge

for _kind in (Lidar, Proximity, Bumper, Odometry, Imu, Neighbours, Wedge, Lidar3D, DepthCamera, TagCamera):
    sensors.register(_kind.model_fields["kind"].default)(_kind)


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
