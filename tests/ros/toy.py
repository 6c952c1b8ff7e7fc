"""Toy robots that are a ROS 2 program of their own and have no code of Covey: discs in a hall of 12 m x 3 m.

Each has scan, odom, tf and tf_static, and takes cmd_vel. Its lidar is 0.1 m before its middle and looks 3 m far. Steps are
of 0.1 s: the next one comes when every robot has been commanded.
It ends when all have stood still for 2 s. Arguments: domain, tag, and x of each robot's start. It writes how far each drove, and how near it came to a wall.
"""

import json
import math
import sys
import time
from dataclasses import dataclass

from cyclonedds.pub import DataWriter
from cyclonedds.sub import DataReader
from cyclonedds.topic import Topic
from tests.ros.driver import taken
from tests.ros.peer import Peer, filled, qos
from tests.ros.peer_types import Clock, LaserScan, Odometry, TFMessage, Twist

HALF_X, HALF_Y, RANGE_M, RAYS, STEP_S = 6.0, 1.5, 3.0, 180, 0.1
LASER_M = 0.1


@dataclass
class Robot:
    x: float
    start: float
    y: float = 0.0
    heading: float = 0.0
    v: float = 0.0
    omega: float = 0.0
    way: float = 0.0
    nearest: float = HALF_Y

    def move(self):
        for _ in range(10):
            self.x += 0.1 * STEP_S * self.v * math.cos(self.heading)
            self.y += 0.1 * STEP_S * self.v * math.sin(self.heading)
            self.heading += 0.1 * STEP_S * self.omega
        self.way += STEP_S * abs(self.v)
        self.nearest = min(self.nearest, HALF_X - abs(self.x), HALF_Y - abs(self.y))

    def ranges(self):
        """Return the distances to the walls: those of a rectangle around the lidar, one after the other."""
        x, y = self.x + LASER_M * math.cos(self.heading), self.y + LASER_M * math.sin(self.heading)
        found = []
        for k in range(RAYS):
            c, s = math.cos(self.heading + k * math.tau / RAYS), math.sin(self.heading + k * math.tau / RAYS)
            to_x = ((HALF_X if c > 0 else -HALF_X) - x) / c if c else math.inf
            to_y = ((HALF_Y if s > 0 else -HALF_Y) - y) / s if s else math.inf
            away = min(to_x, to_y)
            found.append(away if away <= RANGE_M else math.inf)
        return found


class Topics:
    """The topics of one robot."""

    def __init__(self, peer, name):
        def writer(topic, kind, **how):
            return DataWriter(peer.participant, Topic(peer.participant, f"rt/{name}/{topic}", kind), qos=qos(**how))

        self.scan, self.odom, self.tf = writer("scan", LaserScan), writer("odom", Odometry), writer("tf", TFMessage)
        self.static = writer("tf_static", TFMessage, latched=True, depth=1)
        self.commands = DataReader(peer.participant, Topic(peer.participant, f"rt/{name}/cmd_vel", Twist), qos=qos())
        laser = {"translation": {"x": LASER_M, "z": 0.2}, "rotation": {"w": 1.0}}
        frames = [{"header": {"frame_id": "base_link"}, "child_frame_id": "laser", "transform": laser}]
        self.static.write(filled(TFMessage, {"transforms": frames}))

    def say(self, robot, stamp):
        turn = {"z": math.sin(robot.heading / 2), "w": math.cos(robot.heading / 2)}
        at = {"x": robot.x - robot.start, "y": robot.y}
        odom = {"stamp": stamp, "frame_id": "odom"}
        moving = {"header": odom, "child_frame_id": "base_link", "transform": {"translation": at, "rotation": turn}}
        self.tf.write(filled(TFMessage, {"transforms": [moving]}))
        pose = {"pose": {"pose": {"position": at, "orientation": turn}}}
        self.odom.write(filled(Odometry, {"header": odom, "child_frame_id": "base_link"} | pose))
        fan = {"angle_max": math.tau * (1 - 1 / RAYS), "angle_increment": math.tau / RAYS, "range_max": RANGE_M}
        scan = {"header": {"stamp": stamp, "frame_id": "laser"}, "scan_time": STEP_S, "ranges": robot.ranges()} | fan
        self.scan.write(filled(LaserScan, scan))

    def hear(self, robot):
        heard = taken(self.commands)
        if heard:
            robot.v, robot.omega = heard[-1].linear.x, heard[-1].angular.z
        return bool(heard)


def main():
    peer = Peer(int(sys.argv[1]), sys.argv[2])
    robots = [Robot(float(x), float(x)) for x in sys.argv[3:]]
    topics = [Topics(peer, f"toy{k}") for k in range(len(robots))]
    clock = DataWriter(peer.participant, Topic(peer.participant, "rt/clock", Clock), qos=qos(depth=1))
    step, still, heard, begun, end = 0, 0, set(), False, time.monotonic() + 200
    while still < 20 and time.monotonic() < end:
        stamp = {"sec": step // 10, "nanosec": step % 10 * 100_000_000}
        for robot, its in zip(robots, topics, strict=True):
            its.say(robot, stamp)
        clock.write(filled(Clock, {"clock": stamp}))
        patience = time.monotonic() + (5.0 if begun else 0.2)
        while len(heard) < len(robots) and time.monotonic() < patience:
            heard |= {k for k, (robot, its) in enumerate(zip(robots, topics, strict=True)) if its.hear(robot)}
            time.sleep(0.0005)
        begun = begun or len(heard) == len(robots)
        if begun:  # until all have been commanded, time stands still
            heard.clear()
            for robot in robots:
                robot.move()
            still = 0 if any(robot.v or robot.omega for robot in robots) else still + 1
        step += 1
    print(json.dumps([(robot.way, robot.nearest, step) for robot in robots]), flush=True)


if __name__ == "__main__":
    main()
