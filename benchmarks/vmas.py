"""Covey beside VMAS: `navigation` of VMAS and the same game in Covey, in turns, agent-steps a second of one core.

Holonomic discs of 10 cm drive to goals of their own among each other: 12 rays of 35 cm, steps of 0.1 s, random
actions. An agent observes where it is, its velocity, its goal and its rays; the reward is the way that it comes
nearer, less the contacts. VMAS has a plane without walls and two physics steps of 50 ms; Covey has a room of 4 x 4 m,
exact rays and contacts, and ten physics steps of 10 ms.

    python -m venv vmas; vmas/bin/pip install vmas==1.5.0 torch
    python benchmarks/vmas.py vmas/bin/python [--worlds 1000] [--agents 4] [--turns 3]
"""

import argparse
import statistics
import subprocess
import time

import numpy as np

from covey import Scenario
from covey.learning import vector_env

THEIRS = """
import sys, time, torch, vmas
torch.set_num_threads(1)
worlds, agents, steps = map(int, sys.argv[1:])
env = vmas.make_env("navigation", num_envs=worlds, n_agents=agents, device="cpu", continuous_actions=True, seed=0)
env.reset()
actions = [[torch.rand(worlds, 2) * 2 - 1 for _ in range(agents)] for _ in range(10)]
for k in range(3):
    env.step(actions[k])
begun = time.process_time()
for k in range(steps):
    env.step(actions[k % 10])
print(worlds * agents * steps / (time.process_time() - begun))
"""


def theirs(python: str, worlds: int, agents: int, steps: int) -> float:
    """Return the agent-steps a second of VMAS."""
    command = [python, "-c", THEIRS, str(worlds), str(agents), str(steps)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()[-1])


def ours(worlds: int, agents: int, steps: int) -> float:
    """Return the agent-steps a second of Covey."""
    ring = {"kind": "proximity", "sectors": 12, "range_m": 0.35}
    robot = {"base": "disc", "kinematics": "holonomic", "radius_m": 0.1, "sensors": [ring]}
    group = {"name": "a", "robot": robot, "count": agents, "start": {"apart": {}}, "controller": "still"}
    scenario = {"world": {"empty_m": [4, 4]}, "robots": [group], "stop": {"timeout_s": 10_000}}
    seen = ["pose", "velocity", "goal", "ranges"]
    both = vector_env(Scenario.model_validate(scenario), worlds, goals=True, observe=seen)
    both.reset(seed=0)
    assert both.batch is not None
    actions = np.random.default_rng(0).uniform(-1, 1, (10, both.num_envs, 3))
    actions[..., 2] = 0  # as in VMAS, they do not turn
    for k in range(3):
        both.step(actions[k])
    begun = time.process_time()
    for k in range(steps):
        both.step(actions[k % 10])
    found = both.num_envs * steps / (time.process_time() - begun)
    both.close()
    return found


def main() -> None:
    """Print the rates of all turns, and the ratio of their medians."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("python", help="a Python with VMAS")
    parser.add_argument("--worlds", type=int, default=1000)
    parser.add_argument("--agents", type=int, default=4)
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--turns", type=int, default=3)
    options = parser.parse_args()
    size = options.worlds, options.agents, options.steps
    rates: list[tuple[float, float]] = []
    for _ in range(options.turns):
        rates.append((ours(*size), theirs(options.python, *size)))
        print(
            f"navigation, {size[0]} worlds of {size[1]}: Covey {rates[-1][0]:,.0f}, VMAS {rates[-1][1]:,.0f}",
            flush=True,
        )
    mine, other = (statistics.median(column) for column in zip(*rates, strict=True))
    print(f"Covey is {mine / other:.1f} times as fast, in agent-steps per second of processor time", flush=True)


if __name__ == "__main__":
    main()
