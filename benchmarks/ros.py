"""What ROS 2 costs: robots that publish scans, odometry and transforms, and a process that subscribes to all of it.

The publisher has no simulation. Its share of a core is its CPU time (with the threads of Cyclone DDS) over the time
that the messages stand for, so other programs matter little. Also printed: how long a process that joins late waits for
a latched map of 3000 x 3000 cells. Run: python benchmarks/ros.py [robots] [rate_hz] [seconds]
"""

import json
import os
import select
import statistics
import subprocess
import sys
import time
from typing import Any

import numpy as np

SCAN, ODOMETRY, TRANSFORMS = "sensor_msgs/msg/LaserScan", "nav_msgs/msg/Odometry", "tf2_msgs/msg/TFMessage"
CLOCK, TWIST, GRID = "rosgraph_msgs/msg/Clock", "geometry_msgs/msg/Twist", "nav_msgs/msg/OccupancyGrid"


def publish(domain: int, robots: int, rate_hz: float, seconds: float) -> None:
    """Publish scans, odometry, transforms and a clock, in real time, and print the CPU time of a step."""
    from covey.ros import messages, qos
    from covey.ros.dds import Participant

    with Participant(domain) as ros:
        angles, team = np.linspace(-np.pi, np.pi, 360, endpoint=False), []
        for k in range(robots):
            node = ros.node("base", f"/robot_{k}")
            scan = messages.ScanMessage(ros.types, "base_scan", angles, (0.1, 10.0), 1 / rate_hz)
            odometry = messages.OdometryMessage(ros.types, "odom", "base_link")
            to_scan, to_odometry = node.writer("scan", SCAN, qos.SENSOR), node.writer("odom", ODOMETRY, qos.ODOMETRY)
            team.append((scan, to_scan, odometry, to_odometry, node.reader("cmd_vel", TWIST, qos.COMMAND)))
        sim = ros.node("sim")
        frames = [(f"robot_{k}/odom", f"robot_{k}/base_link") for k in range(robots)]
        transforms = messages.Transforms(ros.types, frames)
        to_tf, to_clock = sim.writer("/tf", TRANSFORMS, qos.TF), sim.writer("/clock", CLOCK, qos.CLOCK)
        while not team[-1][1].matched:
            ros.announce()
            time.sleep(0.1)
        time.sleep(1.0)
        rng = np.random.default_rng(1)
        ranges, poses = rng.uniform(0.1, 10, (robots, 360)).astype(np.float32), rng.normal(size=(robots, 7))
        steps, late, took = int(seconds * rate_hz), 0, []
        begin, cpu = time.perf_counter(), time.process_time()
        for step in range(steps):
            at = begin + step / rate_hz
            if (left := at - time.perf_counter()) > 0:
                time.sleep(left)
            entered = time.perf_counter()
            late += entered - at > 1 / rate_hz
            now = divmod(time.time_ns(), 1_000_000_000)
            to_clock.write(messages.clock(now))
            to_tf.write(transforms.encode(now, poses))
            for (scan, to_scan, odometry, to_odometry, commands), seen, row in zip(team, ranges, poses, strict=True):
                to_scan.write(scan.encode(now, seen))
                to_odometry.write(odometry.encode(now, row, row[:3]))
                commands.take()
            took.append(time.perf_counter() - entered)
        cpu_s = time.process_time() - cpu
        print(
            f"{robots} robots at {rate_hz:g} Hz: {100 * cpu_s * rate_hz / steps:.1f} % of a core, "
            f"{1e3 * cpu_s / steps:.2f} ms CPU per step (wall {1e3 * statistics.median(took):.2f} ms), {late} late"
        )


def subscribe(domain: int, robots: int) -> None:
    """Take everything; at the end of the input, print how many messages came, and their latency."""
    from covey.ros import qos
    from covey.ros.dds import Participant

    with Participant(domain) as ros:
        node = ros.node("listener")
        readers = [node.reader("/tf", TRANSFORMS, qos.TF), node.reader("/clock", CLOCK, qos.TF)]
        for k in range(robots):
            readers.append(node.reader(f"/robot_{k}/scan", SCAN, qos.TF))
            readers.append(node.reader(f"/robot_{k}/odom", ODOMETRY, qos.TF))
        ros.announce()
        got, latency = [0] * len(readers), []
        while not select.select([sys.stdin], [], [], 0)[0]:  # until the publisher closes it
            for k, reader in enumerate(readers):
                for data in reader.take():
                    got[k] += 1
                    if k == 1:
                        clock = ros.types.decode(CLOCK, data).clock
                        latency.append(time.time_ns() - clock.sec * 1_000_000_000 - clock.nanosec)
            time.sleep(0.0005)
        print(
            json.dumps(
                {
                    "got": got,
                    "p50_ms": 1e-6 * float(np.percentile(latency, 50)),
                    "p99_ms": 1e-6 * float(np.percentile(latency, 99)),
                }
            )
        )


def late_map(domain: int, cells: int = 3000) -> float:
    """Return how long a process waits for a latched map once it asks for it [s]."""
    from covey.ros import qos
    from covey.ros.dds import Participant

    with Participant(domain) as ros:
        maps = ros.node("sim").writer("/map", GRID, qos.LATCHED)
        values = {"info": {"width": cells, "height": cells}, "data": np.zeros(cells * cells, np.int8)}
        maps.write(ros.types.encode(GRID, values))
        asking = _process("map", domain)
        line = asking.communicate()[0]
        return float(line)


def ask_for_map(domain: int) -> None:
    """Join, ask for the map, and print how long it took from the reader's creation to the decoded message [s].

    The code that decodes a map is there before, as in a program that has decoded one.
    """
    from covey.ros import qos
    from covey.ros.dds import Participant

    with Participant(domain) as ros:
        node = ros.node("late")
        ros.types.decode(GRID, ros.types.encode(GRID, {}))
        begin = time.perf_counter()
        reader = node.reader("/map", GRID, qos.LATCHED)
        while not (taken := reader.take()):
            time.sleep(0.001)
        ros.types.decode(GRID, taken[0])
        print(time.perf_counter() - begin)


def _process(*words: Any, **pipes: Any) -> subprocess.Popen[str]:
    command = [sys.executable, __file__, *map(str, words)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, **pipes)


def main() -> None:
    """Print the figures."""
    if len(sys.argv) > 1 and sys.argv[1] == "subscribe":
        return subscribe(int(sys.argv[2]), int(sys.argv[3]))
    if len(sys.argv) > 1 and sys.argv[1] == "map":
        return ask_for_map(int(sys.argv[2]))
    robots, rate_hz, seconds = (float(given) for given in (sys.argv[1:] + ["20", "25", "20"][len(sys.argv) - 1 :]))
    domain = 60 + os.getpid() % 40
    beside = _process("subscribe", domain, int(robots), stdin=subprocess.PIPE)
    publish(domain, int(robots), rate_hz, seconds)
    told = json.loads(beside.communicate()[0])
    got, sent = sum(told["got"]), int(seconds * rate_hz) * len(told["got"])
    print(f"beside it: {got} of {sent} messages, latency {told['p50_ms']:.2f} ms (p99 {told['p99_ms']:.1f})")
    print(f"map of 3000 x 3000 cells to a late joiner: {late_map(domain):.2f} s")
    return None


if __name__ == "__main__":
    main()
