"""Covey beside VMAS: two games of VMAS and the same in Covey, in turns, agent-steps a second of one core.

* navigation: holonomic discs of 10 cm drive to goals of their own among each other, with 12 rays of 35 cm; they observe
  where they are, their velocity, goal and rays, and the reward is the way that they come nearer, less the contacts.
  VMAS has a plane without walls and two physics steps of 50 ms; Covey has a room of 4 x 4 m.
* dispersion: holonomic discs of 3.5 cm start together and spread to as many places as there are agents; they observe
  where they are, their velocity, and the places that are left. VMAS has a square of 2 x 2 m, bodies that do not touch,
  and one physics step of 100 ms; Covey has a room of 2.4 x 2.4 m.

Steps are of 0.1 s, with random actions. Covey has exact rays and contacts, and physics steps of 10 ms, ten in a step,
or with --equal those of VMAS.

    python -m venv vmas; vmas/bin/pip install vmas==1.5.2 torch
    python benchmarks/vmas.py vmas/bin/python [navigation] [dispersion] [--worlds 1000] [--agents 4] [--turns 3]
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
game, (worlds, agents, steps) = sys.argv[1], map(int, sys.argv[2:])
env = vmas.make_env(game, num_envs=worlds, n_agents=agents, device="cpu", continuous_actions=True, seed=0)
env.reset()
actions = [[torch.rand(worlds, 2) * 2 - 1 for _ in range(agents)] for _ in range(10)]
for k in range(3):
    env.step(actions[k])
begun = time.process_time()
for k in range(steps):
    env.step(actions[k % 10])
print(worlds * agents * steps / (time.process_time() - begun))
"""


def theirs(python: str, game: str, worlds: int, agents: int, steps: int) -> float:
    """Return the agent-steps a second of VMAS."""
    command = [python, "-c", THEIRS, game, str(worlds), str(agents), str(steps)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()[-1])


def ours(game: str, worlds: int, agents: int, steps: int, equal: bool) -> float:
    """Return the agent-steps a second of Covey; ``equal``: with the physics steps of VMAS."""
    ring = {"kind": "proximity", "sectors": 12, "range_m": 0.35}
    navigates = game == "navigation"
    body = {"radius_m": 0.1, "sensors": [ring]} if navigates else {"radius_m": 0.035}
    robot = {"base": "disc", "kinematics": "holonomic"} | body
    start = {"apart" if navigates else "together": {}}
    scenario = {
        "world": {"empty_m": [4, 4] if navigates else [2.4, 2.4]},
        "robots": [{"name": "a", "robot": robot, "count": agents, "start": start, "controller": "still"}],
        "mission": game if navigates else {"dispersion": {"within_m": 0.085}},
        "stop": {"timeout_s": 10_000},
        "execution": {"substep_s": (0.05 if navigates else 0.1) if equal else 0.01},
    }
    seen = ["pose", "velocity", *(["goal", "ranges"] if navigates else [{"places": {"within_m": 2}}])]
    both = vector_env(Scenario.model_validate(scenario), worlds, observe=seen)
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
    parser.add_argument("games", nargs="*", default=["navigation", "dispersion"], help="of those above")
    parser.add_argument("--worlds", type=int, default=1000)
    parser.add_argument("--agents", type=int, default=4)
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--equal", action="store_true", help="physics steps of VMAS")
    options = parser.parse_args()
    size = options.worlds, options.agents, options.steps
    for game in options.games:
        rates: list[tuple[float, float]] = []
        for _ in range(options.turns):
            rates.append((ours(game, *size, options.equal), theirs(options.python, game, *size)))
            print(
                f"{game}, {size[0]} worlds of {size[1]}: Covey {rates[-1][0]:,.0f}, VMAS {rates[-1][1]:,.0f}",
                flush=True,
            )
        mine, other = (statistics.median(column) for column in zip(*rates, strict=True))
        print(f"Covey is {mine / other:.1f} times as fast, in agent-steps per second of processor time", flush=True)


if __name__ == "__main__":
    main()
