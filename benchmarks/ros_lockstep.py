"""Robots of a scenario in lockstep, each with its controller as a node of ROS 2 in a process of its own.

The robots know where they are by odom, and map by themselves; with "localization" the simulator does both, too.
Printed: how many times real time that is by the wall clock, and by the CPU time of all processes together on one core,
without start and first steps; and the CPU time of a step in the simulation and in a node.
Run: python benchmarks/ros_lockstep.py [scenario] [simulated seconds] [robots] [localization]
"""

import os
import subprocess
import sys
import tempfile
import time

import psutil

import covey
from covey.ros.bridge import Bridge
from covey.ros.dds import Participant
from covey.ros.run import run_in_ros
from covey.ros.settings import BridgeSettings

FIRST = 20  # steps that are not measured: code is loaded in them


def main() -> None:
    """Run, and print the figures."""
    name, seconds, robots, *more = sys.argv[1:] + ["maze", "60", "6"][len(sys.argv) - 1 :]
    team = f"robots.scout.count={robots}"
    domain, scenario = 60 + os.getpid() % 40, covey.load_scenario(name, {"robots.scout.count": int(robots)})
    covey_ros = [sys.executable, "-m", "covey", "ros", "node", scenario.robots[0].controller.reference]
    graph = ["--scenario", name, "-s", team, "--domain", str(domain), "--patience", "300"]
    quiet = subprocess.DEVNULL
    nodes = [
        psutil.Popen([*covey_ros, "--name", robot, *graph], stdout=quiet, stderr=quiet)
        for robot in scenario.robots[0].names
    ]
    at: list[tuple[float, float, float, float]] = []

    def look(sim: covey.Simulation) -> None:
        if sim.clock.step in (FIRST, round(float(seconds) / sim.clock.step_s) - 1):
            theirs = [sum(node.cpu_times()[:2]) for node in nodes]
            at.append((sim.time, time.perf_counter(), time.process_time(), sum(theirs)))

    try:
        with Participant(domain) as ros, tempfile.TemporaryDirectory() as folder:
            bridge = Bridge(ros, BridgeSettings("lockstep", localization="localization" in more))
            run_in_ros(scenario, folder, bridge, overwrite=True, before_step=look, until_s=float(seconds))
    finally:
        for node in nodes:
            node.kill()
            node.wait()
    simulated, wall, here, there = (after - before for before, after in zip(*at, strict=True))
    steps = round(simulated / scenario.execution.step_s)
    print(f"{robots} robots of {name}, {simulated:.0f} s simulated in {wall:.1f} s: {simulated / wall:.1f} x real time")
    cpu_s = here + there
    print(f"CPU time of all {len(nodes) + 1} processes {cpu_s:.1f} s: {simulated / cpu_s:.1f} x on one core")
    print(f"CPU of a step: simulation {1e3 * here / steps:.2f} ms, a node {1e3 * there / steps / len(nodes):.2f} ms")


if __name__ == "__main__":
    main()
