"""What the node of a robot makes of the messages of its lidar, however this is mounted, and of clouds and depth images."""

import math
from collections import defaultdict, deque
from types import SimpleNamespace as Of

import numpy as np
import pytest

from covey.errors import InvalidValueError
from covey.geometry.mounting import on_beams
from covey.ros import messages as m
from covey.ros.node_senses import Senses, depths_of, points_of
from covey.ros.types import Types
from covey.sensors.depth_camera import DepthCamera
from covey.sensors.lidar import Lidar
from covey.sensors.lidar3d import Lidar3D

TYPES = Types("jazzy")
RANGES = np.arange(1.0, 9.0)


class Wire:
    """The topics of a node: bytes that a test puts in come out."""

    def __init__(self):
        self.participant, self.waiting = Of(types=TYPES), defaultdict(deque)

    def reader(self, topic, kind, _profile):
        def take():
            come, self.waiting[topic] = [*self.waiting[topic]], deque()
            return come

        return Of(topic=f"rt/{topic}", kind=kind, take=take)

    def say(self, topic, kind, **fields):
        self.waiting[topic].append(TYPES.encode(kind, fields))


def heard(quaternion, *, above="base_link", lidar="laser"):
    """Return what a node hears of a lidar of 8 beams that is mounted at (0.1, 0.2) with this rotation."""
    record = Lidar(rays=8, fov_deg=360.0, range_m=10.0)
    wire = Wire()
    setup = Of(sensors=(), scans=record.name, gyro=None, grounds=(), spawn=Of(spec=Of(model=Of(sensors=(record,)))))
    senses = Senses(wire, setup, prefixed=False)
    wire.say("odom", m.OdometryMessage.TYPE, header={"frame_id": "odom"}, child_frame_id="base_link")
    turn = dict(zip("xyzw", quaternion, strict=True))
    one = {"header": {"frame_id": above}, "child_frame_id": lidar}
    one |= {"transform": {"translation": {"x": 0.1, "y": 0.2, "z": 0.3}, "rotation": turn}}
    wire.say("tf_static", m.Transforms.TYPE, transforms=[one])
    step = math.radians(10.0)
    fan = {"angle_min": -0.2, "angle_increment": step, "angle_max": -0.2 + 7 * step, "range_max": 10.0}
    wire.say("scan", "sensor_msgs/msg/LaserScan", header={"frame_id": "laser"}, ranges=RANGES.astype(np.float32), **fan)
    senses.poll(1)
    return senses


def points(quaternion):
    fan = heard(quaternion).fan()
    x, y, heading = fan.mount
    return np.column_stack(
        (x + fan.ranges * np.cos(fan.angles + heading), y + fan.ranges * np.sin(fan.angles + heading))
    )


def turned(quaternion, points):
    """Rotate points (n, 3) by a quaternion: q p q*, by the product of Hamilton."""
    x, y, z, w = quaternion
    axis = np.array([x, y, z])
    across = 2.0 * np.cross(axis, points)
    return points + w * across + np.cross(axis, across)


@pytest.mark.parametrize(
    "quaternion",
    [
        (0.0, 0.0, math.sin(0.5), math.cos(0.5)),  # upright, with a heading
        (1.0, 0.0, 0.0, 0.0),  # roll by pi
        (0.0, 1.0, 0.0, 0.0),  # pitch by pi
        (math.cos(0.7), math.sin(0.7), 0.0, 0.0),  # roll by pi and a heading
    ],
)
def test_the_beams_are_where_the_frame_of_the_lidar_says(quaternion):
    angles = -0.2 + math.radians(10.0) * np.arange(8)
    flat = np.column_stack((RANGES * np.cos(angles), RANGES * np.sin(angles), np.zeros(8)))
    expected = turned(quaternion, flat)[:, :2] + [0.1, 0.2]
    found = points(quaternion)
    order = np.argsort(np.hypot(*(found - [0.1, 0.2]).T))  # the nearest beam is the first
    np.testing.assert_allclose(found[order], expected, atol=1e-6)
    assert (np.diff(heard(quaternion).fan().angles) > 0.0).all()


def test_a_tilted_lidar_is_refused_in_words():
    senses = heard((math.sin(0.4), 0.0, 0.0, math.cos(0.4)))
    with pytest.raises(InvalidValueError, match="'laser' is tilted by 46 degrees"):
        senses.unknown()
    with pytest.raises(InvalidValueError, match="upright or upside down"):
        senses.fan()


def test_a_scan_with_other_beams_is_put_on_the_nearest():
    """A whole turn of 8 beams, of one that has 7 or 9: each direction has the range of the beam nearest to it."""
    onto = -math.pi + math.tau / 8 * np.arange(8)
    for n in (7, 9, 360):
        angles = -math.pi + math.tau / n * np.arange(n)
        away = np.abs(np.angle(np.exp(1j * (onto[:, None] - angles))))
        found = on_beams(onto, angles, np.arange(n, dtype=float)).astype(int)
        np.testing.assert_allclose(away[np.arange(8), found], away.min(axis=1), atol=1e-9)


def test_beams_outside_a_fan_hold_nothing():
    angles = np.radians(np.arange(-45.0, 46.0, 10.0))
    found = on_beams(np.radians([-90.0, -44.0, 0.0, 46.0, 90.0]), angles, np.arange(10.0))
    np.testing.assert_array_equal(np.isnan(found), [True, False, False, False, True])


def cloud_of(**changes):
    """Return what a node makes of a cloud of two points, one of which has hit nothing, with some fields changed."""
    ahead = np.array([[[2.0, 1.0, -0.5], [np.nan, np.nan, np.nan]]])
    said = m.point_cloud((0, 1), "lidar3d", ahead) | changes
    return points_of(TYPES.decode("sensor_msgs/msg/PointCloud2", TYPES.encode("sensor_msgs/msg/PointCloud2", said)))


def test_points_of_a_cloud_are_read_and_strange_clouds_are_not():
    np.testing.assert_array_equal(cloud_of(), [(2.0, 1.0, -0.5)])
    x, y, z = ({"name": name, "offset": 4 * k, "datatype": 7, "count": 1} for k, name in enumerate("xyz"))
    np.testing.assert_array_equal(cloud_of(fields=[z | {"offset": 0}, y, x | {"offset": 8}]), [(-0.5, 1.0, 2.0)])
    for strange in ({"fields": [x, y]}, {"point_step": 8}, {"width": 3}, {"fields": [x, y, z | {"offset": 10}]}):
        assert cloud_of(**strange) is None


def test_a_cloud_of_a_robot_on_a_slope_is_seen_from_a_level_one():
    record = Lidar3D(height_m=0.5)
    wire = Wire()
    setup = Of(sensors=(), scans=None, gyro=None, grounds=("lidar3d",), spawn=Of(spec=Of(model=Of(sensors=(record,)))))
    senses = Senses(wire, setup, prefixed=False)
    wire.say("odom", m.OdometryMessage.TYPE, header={"frame_id": "odom"}, child_frame_id="base_footprint")
    half, up = math.radians(5.0), {"translation": {"z": 0.5}, "rotation": {"w": 1.0}}
    tilted = {"translation": {"z": 3.0}, "rotation": {"y": math.sin(half), "w": math.cos(half)}}  # down by 10 degrees
    for topic, above, below, place in (
        ("tf", "base_footprint", "base_link", tilted),
        ("tf_static", "base_link", "lidar3d", up),
    ):
        one = {"header": {"frame_id": above}, "child_frame_id": below, "transform": place}
        wire.say(topic, m.Transforms.TYPE, transforms=[one])
    wire.say(
        "lidar3d", "sensor_msgs/msg/PointCloud2", **m.point_cloud((0, 1), "lidar3d", np.array([[[4.0, 0.0, 0.0]]]))
    )
    senses.poll(1)
    ((_, cloud),) = senses.grounds[0].new_readings()
    c, s = math.cos(2 * half), math.sin(2 * half)
    np.testing.assert_allclose(cloud.eyes, [(0.5 * s, 0.0, 3.0 + 0.5 * c)], atol=1e-9)
    np.testing.assert_allclose(cloud.points[0], [(4.0 * c + 0.5 * s, 0.0, 3.0 + 0.5 * c - 4.0 * s)], atol=1e-6)
    np.testing.assert_allclose(cloud.ranges, [[4.0]], atol=1e-6)


def test_a_depth_image_has_the_points_of_its_camera():
    camera = DepthCamera(width=3, height=2, fov_deg=90.0)
    depth = np.array([[1.0, 2.0, np.nan], [3.0, 4.0, 5.0]])
    kind = "sensor_msgs/msg/Image"
    image = TYPES.decode(kind, TYPES.encode(kind, m.depth_image((0, 1), "depth_optical", depth)))
    points = depths_of(camera, image)
    assert points is not None
    np.testing.assert_allclose(points[:, 2], depth[np.isfinite(depth)], atol=1e-6)
    assert points[0, 0] < 0 < points[-1, 0]  # from the left to the right
    assert points[0, 1] < 0 < points[-1, 1]  # from above to below
    assert depths_of(DepthCamera(width=2, height=3), image) is None
