"""A simulation beside ROS 2: robots with a lidar of 360 rays, driven by a program that hears all of them.

The program is a process of its own: it takes every scan, odometry, transform and clock, and answers each clock with a
command to each robot. Printed are the CPU time of a step without the bridge, with it, and if Covey also localizes and
maps for the robots; how many times real time that is on one core; how many steps were late in real time, in the two
seconds in which the programs meet and after them; and, because a machine of two cores is soon busy with something else,
what other programs and the host of a virtual machine took meanwhile, and how many steps of a loop are late that only
counts, for as long as a step takes. Run: python benchmarks/ros_team.py [robots] [rate_hz] [seconds]
"""

import os
import sys
import time

import numpy as np
import psutil

import covey
from covey.onboard.group import Group
from covey.robots.catalogue import disc
from covey.ros.bridge import Bridge
from covey.ros.dds import Participant
from covey.ros.pace import Pacer
from covey.ros.qos import COMMAND, TF
from covey.ros.settings import BridgeSettings
from covey.sensors.lidar import Lidar

MEET_S = 2.0
"""How long the programs have to find each other."""


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


def run(robots: int, rate_hz: float, seconds: float, bridge: Bridge | None) -> tuple[float, int]:
    """Run, and return the CPU time of a step [s], and the number of late steps, both after the programs have met."""
    sim, at = team(robots, rate_hz, bridge), []

    def before(sim: covey.Simulation) -> None:
        if bridge is not None:
            bridge.before_step(sim)
        at.append((time.process_time(), 0 if bridge is None else bridge.pacer.late))

    sim.run(before_step=before, until_s=seconds)
    begin, end = at[round(MEET_S * rate_hz)], at[-1]
    return (end[0] - begin[0]) / (len(at) - 1 - round(MEET_S * rate_hz)), end[1] - begin[1]


def count(step_s: float, rate_hz: float, seconds: float) -> Pacer:
    """Count for as long as a step takes on the CPU, as often as there are steps, and return who held it."""

    def loop(rounds: int) -> float:
        begin = time.thread_time()
        for _ in range(rounds):
            pass
        return time.thread_time() - begin

    rounds = round(step_s / min(loop(100_000) for _ in range(50)) * 100_000)
    pacer = Pacer(1.0)
    for _ in range(round(seconds * rate_hz)):
        pacer.wait(1.0 / rate_hz, lambda: None)
        loop(rounds)
    return pacer


class Others:
    """What takes the cores beside some processes.

    Args:
        processes: which are not the others.
    """

    def __init__(self, *processes: psutil.Process):
        self._processes, self._begin = processes, time.perf_counter()
        self._before = self._used()

    def _used(self) -> np.ndarray:
        every = psutil.cpu_times()
        ours = sum(sum(process.cpu_times()[:2]) for process in self._processes)
        busy = sum(every) - every.idle - getattr(every, "iowait", 0.0) - getattr(every, "guest", 0.0)
        stolen = getattr(every, "steal", 0.0)
        return np.array([busy - stolen - ours, stolen])

    def __str__(self) -> str:
        programs, host = 100 * (self._used() - self._before) / (time.perf_counter() - self._begin)
        return f"other programs took {programs:.0f} % of a core, the host of the machine {host:.0f} %"


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
    alone, _ = run(robots, rate_hz, few_s, None)
    driver = psutil.Popen([sys.executable, __file__, "drive", str(domain), str(robots)])
    try:
        with Participant(domain) as ros:
            maps_s, _ = run(robots, rate_hz, few_s, Bridge(ros, BridgeSettings("max")))
        with Participant(domain) as ros:
            bridge = Bridge(ros, BridgeSettings(1.0, localization=False))
            others = Others(psutil.Process(), driver)
            step_s, late = run(robots, rate_hz, seconds + MEET_S, bridge)
            beside = str(others)
    finally:
        driver.kill()
        driver.wait()
    print(
        f"{robots} robots at {rate_hz:g} Hz, CPU of a step: {1e3 * alone:.1f} ms, with ROS 2 {1e3 * step_s:.1f} ms, "
        f"with ROS 2 and maps {1e3 * maps_s:.1f} ms"
    )
    print(f"with ROS 2 {1.0 / (rate_hz * step_s):.1f} times real time on one core")
    start = bridge.pacer.late - late
    print(
        f"in real time, {late} steps were late in {seconds:g} s, and {start} in the {MEET_S:g} s before; {bridge.pacer}"
    )
    print(f"{beside}; a loop that only counts, without any other program of ours:", flush=True)
    others = Others(psutil.Process())
    print(f"{count(step_s, rate_hz, seconds)}; {others}")
    return None


if __name__ == "__main__":
    main()
