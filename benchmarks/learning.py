"""Environments for learning: agent-steps per second of processor time on one core, with random actions, and resets.

* one: `covey.env`, one world of 10 robots with 12 rays of 2 m in a room of 20 x 20 m.
* many: `vector_env` with so many of these worlds, in one batch.
* patch: `vector_env`, 256 worlds for 1000 of them, 4 exploring robots in an office of 30 x 15 m, with lidars of 72 rays
  and 4 m; a patch of 32 x 32 cells in 4 channels, of maps with cells of 20 cm and of 10 cm.
* reset: of the worlds of `many`, which share the room and the start poses.

    python benchmarks/learning.py [--worlds 1000] [one] [many] [patch] [reset]
"""

import argparse
import time

import numpy as np

import covey
from covey import Scenario
from covey.learning import vector_env

RING = Scenario.model_validate(
    {
        "world": {"empty_m": [20, 20]},
        "robots": [
            {
                "name": "a",
                "robot": {"base": "disc", "sensors": [{"kind": "proximity", "sectors": 12, "range_m": 2}]},
                "count": 10,
                "start": [[4 * (k % 5) - 8, 8 * (k // 5) - 4, 36 * k] for k in range(10)],
                "controller": "still",
            }
        ],
        "stop": {"timeout_s": 10_000},
    }
)
SEEN = ["ranges", "velocity"]
REWARD = {"distance_m": 1.0}


def rate(agents: int, step, steps: int) -> float:
    """Return agent-steps per second of processor time of so many steps, after a few that compile."""
    for _ in range(5):
        step()
    begun = time.process_time()
    for _ in range(steps):
        step()
    return agents * steps / (time.process_time() - begun)


def one(_: int) -> None:
    """Print the rate of one world."""
    world = covey.env(RING, observe=SEEN, reward=REWARD)
    world.reset(seed=1)
    random = np.random.default_rng(0)
    chosen = [dict(zip(world.agents, random.uniform(-1, 1, (10, 2)), strict=True)) for _ in range(20)]
    count = iter(range(10**9))
    found = rate(10, lambda: world.step(chosen[next(count) % 20]), 500)
    print(f"one world of 10 robots, covey.env: {found:,.0f} agent-steps/s", flush=True)
    world.close()


def many(worlds: int) -> None:
    """Print the rate of many worlds."""
    both = vector_env(RING, worlds, observe=SEEN, reward=REWARD)
    both.reset(seed=1)
    actions = np.random.default_rng(0).uniform(-1, 1, (both.num_envs, 2))
    found = rate(both.num_envs, lambda: both.step(actions), 20)
    print(f"{worlds} worlds of 10 robots, vector_env: {found:,.0f} agent-steps/s", flush=True)
    both.close()


def patch(worlds: int) -> None:
    """Print the rate of robots that observe a patch of their map."""
    lidar = {"kind": "lidar", "rays": 72, "range_m": 4, "sigma_m": 0.01, "rate_hz": 10}
    for cell_m in (0.2, 0.1):
        robot = {"base": "disc", "sensors": [lidar], "mapping": {"resolution_m": cell_m}}
        group = {"name": "a", "robot": robot, "count": 4, "start": {"together": {}}, "controller": "still"}
        place = {"generate": "office", "seed": 3, "resolution_m": 0.1}
        scenario = Scenario.model_validate({"world": place, "robots": [group], "stop": {"explored": 0.99}})
        both = vector_env(scenario, max(worlds * 256 // 1000, 1), observe={"patch": {"cells": 32}})
        both.reset(seed=1)
        actions = np.random.default_rng(0).uniform((0, -1), 1, (both.num_envs, 2))
        found = rate(both.num_envs, lambda both=both, actions=actions: both.step(actions), 40)
        what = f"{len(both.worlds)} worlds of 4 robots in an office, cells of {100 * cell_m:.0f} cm, patch"
        print(f"{what}: {found:,.0f} agent-steps/s", flush=True)
        both.close()


def reset(worlds: int) -> None:
    """Print the time of a reset."""
    both = vector_env(RING, worlds, observe=SEEN, reward=REWARD)
    both.reset(seed=1)
    begun = time.process_time()
    both.reset(seed=2)
    print(f"reset of {worlds} worlds: {time.process_time() - begun:.3f} s", flush=True)
    both.close()


def main() -> None:
    """Print what was asked for."""
    cases = {"one": one, "many": many, "patch": patch, "reset": reset}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", default=[*cases], help="of those above")
    parser.add_argument("--worlds", type=int, default=1000, help="how many")
    options = parser.parse_args()
    for name in options.cases:
        cases[name](options.worlds)


if __name__ == "__main__":
    main()
