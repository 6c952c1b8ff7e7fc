"""Sensors: turn the truth into readings with noise, rate and dropout, batched over all robots with equal sensors."""

from covey.sensors.bumper import Bumper
from covey.sensors.catalogue import look_down, maes_360, sick_lms500, turtlebot3_lds
from covey.sensors.depth_camera import DepthCamera
from covey.sensors.imu import Imu
from covey.sensors.lidar import Lidar
from covey.sensors.lidar3d import Lidar3D
from covey.sensors.neighbours import Neighbours
from covey.sensors.odometry import Odometry
from covey.sensors.own import OwnSensor, Values, sensor
from covey.sensors.proximity import Proximity
from covey.sensors.sensor import Readings, SensorRecord, sensor_keys, sensors
from covey.sensors.simple import beacon, compass, relative_pose, sector_camera
from covey.sensors.tag_camera import TagCamera
from covey.sensors.truth import Truth
from covey.sensors.wedge import Wedge

__all__ = [
    "Bumper",
    "DepthCamera",
    "Imu",
    "Lidar",
    "Lidar3D",
    "Neighbours",
    "Odometry",
    "OwnSensor",
    "Proximity",
    "Readings",
    "SensorRecord",
    "TagCamera",
    "Truth",
    "Values",
    "Wedge",
    "beacon",
    "compass",
    "look_down",
    "maes_360",
    "relative_pose",
    "sector_camera",
    "sensor",
    "sensor_keys",
    "sensors",
    "sick_lms500",
    "turtlebot3_lds",
]
