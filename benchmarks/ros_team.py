"""A simulation beside ROS 2: robots with a lidar of 360 rays, driven by a program that hears all of them.

The program is a process of its own: it takes every scan, odometry, transform and clock, and answers each clock with a
command to each robot. Printed are the CPU time of a step without the bridge, with it, and if Covey also localizes and
maps for the robots; how many times real time that is on one core; and how many steps were late in real time.
Run: python benchmarks/ros_team.py [robots] [rate_hz] [seconds]
"""

import os
import subprocess
import sys
import time

import numpy as np

import covey
from covey.onboard.group import Group
from covey.robots.catalogue import disc
from covey.ros.bridge import Bridge
from covey.ros.dds import Participant
from covey.ros.qos import COMMAND, TF
from covey.ros.settings import Settings
from covey.sensors.lidar import Lidar


def team(robots: int, rate_hz: float, bridge: Bridge | None) -> covey.Simulation:
    """Return a simulation of robots in a hall, 4 m apart; they map if the bridge sends their maps."""
    side = int(np.ceil(np.sqrt(robots)))
    places = 4.0 * (np.arange(side) - 0.5 * (side - 1))
    starts = [(x, y, 0.0) for x in places for y in places][:robots]
    lidar = Lidar(rays=360, range_m=8.0, rate_hz=rate_hz)
    changes = {"sensors": (lidar,)}
    if bridge is None or not bridge.settings.localization:  # as `covey ros run --no-localization`
        changes["mapping"] = None
    group = Group("robot", disc().model_copy(update=changes), starts, "commanded")
    hosting = {} if bridge is None else {"hosting": bridge.hosting}
    world = covey.World.empty(4.0 * side + 4.0, 4.0 * side + 4.0)
    return covey.Simulation(world, [group], execution={"step_s": 1.0 / rate_hz}, **hosting)


def run(robots: int, rate_hz: float, seconds: float, bridge: Bridge | None) -> float:
    """Run, and return the CPU time of a step [s], without the first ten and the last."""
    sim, at = team(robots, rate_hz, bridge), []

    def before(sim: covey.Simulation) -> None:
        if bridge is not None:
            bridge.before_step(sim)
        at.append(time.process_time())

    sim.run(before_step=before, until_s=seconds)
    return (at[-1] - at[10]) / len(at[10:-1])


def drive(domain: int, robots: int) -> None:
    """Hear everything, and send each robot a command for each clock."""
    with Participant(domain) as ros:
        node = ros.node("driver")
        kinds = {"scan": "sensor_msgs/msg/LaserScan", "odom": "nav_msgs/msg/Odometry", "tf": "tf2_msgs/msg/TFMessage"}
        names = [f"/robot{k}" for k in range(robots)]
        readers = [node.reader(f"{name}/{topic}", kind, TF) for name in names for topic, kind in kinds.items()]
        clock = node.reader("/clock", "rosgraph_msgs/msg/Clock", TF)
        commands = [node.writer(f"{name}/cmd_vel", "geometry_msgs/msg/Twist", COMMAND) for name in names]
        twist = ros.types.encode("geometry_msgs/msg/Twist", {"linear": {"x": 0.1}, "angular": {"z": 0.2}})
        while True:
            for reader in readers:
                reader.take()
            if clock.take():
                for command in commands:
                    command.write(twist)
            time.sleep(0.002)


def main() -> None:
    """Print the figures."""
    if len(sys.argv) > 1 and sys.argv[1] == "drive":
        return drive(int(sys.argv[2]), int(sys.argv[3]))
    robots, rate_hz, seconds = (float(given) for given in (sys.argv[1:] + ["100", "25", "60"][len(sys.argv) - 1 :]))
    domain, robots = 60 + os.getpid() % 40, int(robots)
    few_s = min(seconds, 10.0)
    alone = run(robots, rate_hz, few_s, None)
    driver = subprocess.Popen([sys.executable, __file__, "drive", str(domain), str(robots)])
    try:
        with Participant(domain) as ros:
            maps_s = run(robots, rate_hz, few_s, Bridge(ros, Settings("max")))
        with Participant(domain) as ros:
            bridge = Bridge(ros, Settings(1.0, localization=False))
            step_s = run(robots, rate_hz, seconds, bridge)
    finally:
        driver.kill()
        driver.wait()
    print(
        f"{robots} robots at {rate_hz:g} Hz, CPU of a step: {1e3 * alone:.1f} ms, with ROS 2 {1e3 * step_s:.1f} ms, "
        f"with ROS 2 and maps {1e3 * maps_s:.1f} ms"
    )
    print(f"with ROS 2 {1.0 / (rate_hz * step_s):.1f} times real time on one core; in real time, {bridge.pacer}")
    return None


if __name__ == "__main__":
    main()
