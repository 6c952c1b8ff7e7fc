"""How soon a command of a ROS 2 program acts: from the write of a cmd_vel to the step of the simulation that uses it.

The program is a process of its own. It sends commands to robots at random times, and each command carries its number.
The simulation runs in real time. Printed are the latency, how many steps began between the two, and how many steps were
late. A command that waits for the next step of 40 ms has a latency of up to 40 ms, 20 ms in the mean, and one step.
Run: python benchmarks/ros_latency.py [robots] [rate_hz] [seconds]
"""

import bisect
import json
import os
import random
import select
import subprocess
import sys
import time
from typing import Any

import numpy as np
from ros_team import team

from covey.ros.bridge import Bridge
from covey.ros.dds import Participant
from covey.ros.qos import COMMAND
from covey.ros.settings import BridgeSettings

_UNIT = 1e-7  # speed per number of a command [m/s]: the robots hardly move


def send(domain: int, robots: int, rate_hz: float) -> None:
    """Send commands until the input ends, and print when each was sent: seconds of the monotonic clock, by number."""
    sent, rng = [], random.Random(1)
    with Participant(domain) as ros:
        node, kind = ros.node("driver"), "geometry_msgs/msg/Twist"
        writers = [node.writer(f"/robot{k}/cmd_vel", kind, COMMAND) for k in range(robots)]
        while not all(writer.matched for writer in writers):
            ros.announce()
            time.sleep(0.05)
        print("ready", flush=True)
        while not select.select([sys.stdin], [], [], rng.expovariate(0.25 * robots * rate_hz))[0]:
            data = ros.types.encode(kind, {"linear": {"x": _UNIT * (len(sent) + 1)}})
            sent.append(time.monotonic())
            rng.choice(writers).write(data)
    print(json.dumps(sent))


def measure(robots: int, rate_hz: float, seconds: float, domain: int) -> tuple[np.ndarray, np.ndarray, Any]:
    """Return the latencies [s] of the commands that were used, the numbers of steps that began meanwhile, the pacer."""
    program = [sys.executable, __file__, "send", str(domain), str(robots), str(rate_hz)]
    driver = subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    begun, ended, used = list[float](), list[float](), dict[int, int]()
    with Participant(domain) as ros:
        bridge = Bridge(ros, BridgeSettings(1.0, localization=False))
        sim, exchange = team(robots, rate_hz, bridge), bridge.exchange

        def timed() -> None:
            begun.append(time.monotonic())
            exchange()
            ended.append(time.monotonic())

        def before(sim: Any) -> None:
            numbers = np.rint(sim.commands[:, 0] / _UNIT).astype(int).tolist()
            for number in numbers if ended else ():
                used.setdefault(number, len(ended) - 1)
            bridge.before_step(sim)

        bridge.exchange = timed
        bridge.before_step(sim)  # makes the topics
        assert driver.stdout is not None
        driver.stdout.readline()
        sim.run(before_step=before, until_s=seconds)
        sent = json.loads(driver.communicate()[0])
    used.pop(0, None)  # nothing commanded yet
    latency = [ended[step] - sent[number - 1] for number, step in used.items()]
    steps = [step + 1 - bisect.bisect_right(begun, sent[number - 1]) for number, step in used.items()]
    return np.array(latency), np.array(steps), bridge.pacer


def main() -> None:
    """Print the figures."""
    if len(sys.argv) > 1 and sys.argv[1] == "send":
        return send(int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4]))
    robots, rate_hz, seconds = (float(given) for given in (sys.argv[1:] + ["10", "25", "60"][len(sys.argv) - 1 :]))
    latency, steps, pacer = measure(int(robots), rate_hz, seconds, 60 + os.getpid() % 40)
    p50, p99, most = 1e3 * np.quantile(latency, (0.5, 0.99, 1.0))
    print(f"{robots:g} robots at {rate_hz:g} Hz, {len(latency)} commands, from the write to the step that uses it:")
    in_steps = f"{np.quantile(steps, 0.99):g} steps at p99, most {steps.max()}"
    print(f"{p50:.1f} ms, p99 {p99:.1f} ms, most {most:.1f} ms; {in_steps}")
    print(f"{100 * (steps <= 1).mean():.2f} % acted in the first step that began after them; {pacer}")
    return None


if __name__ == "__main__":
    main()
