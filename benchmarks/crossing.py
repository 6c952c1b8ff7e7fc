"""Robots that are in each other's way: do all arrive, and does any touch anything?

Three situations, each driven by `Navigator` alone, with what a robot's own sensors tell it: twelve Pioneers swap places
across a circle of 10 m; two files of four meet in a corridor of 1.5 m with a passing bay; four robots on each side of a
doorway of 0.8 m change rooms.

    python benchmarks/crossing.py [--seeds 20] [--situation circle corridor doorway] [--noise]
"""

import argparse
import math
import tempfile
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from covey.mapping.localization import Noise, TruePose
from covey.onboard.controller import Program
from covey.onboard.group import Group
from covey.random import generator
from covey.robots.catalogue import pioneer3dx
from covey.runtime.simulation import Simulation
from covey.runtime.stop import Stop
from covey.world.world import World

TIMEOUT_S = 240.0


class Situation(NamedTuple):
    """A world, start poses (n, 3), and goals (n, 2) [m, rad]."""

    world: World
    start: np.ndarray
    goals: np.ndarray


class Result(NamedTuple):
    """How one run went."""

    arrived: int
    robots: int
    contacts_robot: int
    contacts_wall: int
    time_s: float
    separation_m: float
    missed_m: float
    decide_us: float
    outcomes: dict[str, str]


def circle(count: int = 12, diameter_m: float = 10.0) -> Situation:
    """Robots on a circle that all want to the opposite side."""
    angle = np.arange(count) * 2.0 * math.pi / count
    start = 0.5 * diameter_m * np.column_stack((np.cos(angle), np.sin(angle)))
    world = World.empty(diameter_m + 4.0, diameter_m + 4.0)
    return Situation(world, np.column_stack((start, angle + math.pi)), -start)


def corridor(count: int = 4, width_m: float = 1.5) -> Situation:
    """Two files that meet in a corridor 12 m long between two rooms; in its middle there is a bay of 2 m x 1.5 m."""
    half = 0.5 * width_m
    floor = [
        (-6, half), (-6, 3), (-11, 3), (-11, -3), (-6, -3), (-6, -half), (6, -half), (6, -3), (11, -3), (11, 3), (6, 3),
        (6, half), (1, half), (1, half + 1.5), (-1, half + 1.5), (-1, half),
    ]  # fmt: skip
    i = np.arange(count)
    x, y = 2.0 + 1.1 * i, 1.3 * i - 2.0
    start = np.concatenate((np.column_stack((-x, 0 * x, 0 * x)), np.column_stack((x, 0 * x, 0 * x + math.pi))))
    goals = np.column_stack((9.5 - i % 2, y))
    return Situation(World.polygons(floor), start, np.concatenate((goals, -goals)))


def doorway(count: int = 4, width_m: float = 0.8) -> Situation:
    """Robots on both sides of a wall with one doorway that change rooms."""
    half = 0.5 * width_m
    room = [(-6, -3), (6, -3), (6, 3), (-6, 3)]
    walls = [[(-0.1, half), (0.1, half), (0.1, 3), (-0.1, 3)], [(-0.1, -3), (0.1, -3), (0.1, -half), (-0.1, -half)]]
    y = 1.2 * (np.arange(count) - 0.5 * (count - 1))
    left, right = np.column_stack((0 * y - 3.5, y)), np.column_stack((0 * y + 3.5, y))
    start = np.concatenate((np.column_stack((left, 0 * y)), np.column_stack((right, 0 * y + math.pi))))
    return Situation(World.polygons(room, obstacles_m=walls), start, np.concatenate((right, left)))


SITUATIONS: dict[str, Callable[[], Situation]] = {"circle": circle, "corridor": corridor, "doorway": doorway}


def cross(name: str, seed: int, noise: bool = False, timeout_s: float = TIMEOUT_S) -> Result:
    """Run a situation; the seed shifts the starts by 5 cm and 0.05 rad, mixes the identities, and makes the noise."""
    situation = SITUATIONS[name]()
    draw = generator(seed, "benchmark/crossing")
    order = draw.permutation(len(situation.start))
    start = situation.start[order] + draw.normal(0.0, 0.05, situation.start.shape).clip(-0.1, 0.1)
    goals = {f"robot{i}": tuple(goal) for i, goal in enumerate(situation.goals[order].tolist())}
    outcomes: dict[str, str] = {}

    async def go(robot):
        outcomes[robot.name] = str((await robot.goto(goals[robot.name])).state)

    group = Group("robot", pioneer3dx(), start, Program(go), Noise() if noise else TruePose())
    with tempfile.TemporaryDirectory() as folder:
        stop = Stop(done=True, timeout_s=timeout_s)
        sim = Simulation(situation.world, [group], seed=seed, stop=stop, recording=f"{folder}/run")
        separation, steps = math.inf, 0
        while not sim.done:
            sim.step()
            xy = sim.state.pose[:, :2]
            apart = np.hypot(*(xy[:, None] - xy[None]).transpose(2, 0, 1)) + np.diag(np.full(len(xy), np.inf))
            separation, steps = min(separation, float(apart.min())), steps + 1
        sim.close()
    missed = np.hypot(*(sim.state.pose[:, :2] - situation.goals[order]).T)
    return Result(
        arrived=sum(outcome == "reached" for outcome in outcomes.values()),
        robots=len(start),
        contacts_robot=int(sim.scoring.collisions_robot.sum()) // 2,
        contacts_wall=int(sim.scoring.collisions_wall.sum()),
        time_s=sim.time,
        separation_m=separation,
        missed_m=float(missed.max()),
        decide_us=sim.stopwatch.seconds["decide"] / (steps * len(start)) * 1e6,
        outcomes=outcomes,
    )


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--situation", nargs="*", choices=list(SITUATIONS), default=list(SITUATIONS))
    parser.add_argument("--noise", action="store_true", help="noisy poses (sigma 0.022 m, 0.02 rad)")
    options = parser.parse_args()
    print(f"{'situation':10} {'runs':>5} {'arrived':>9} {'contacts':>9} {'walls':>6} {'mean s':>7} {'max s':>6} "
          f"{'least gap of centres m':>23} {'missed m':>9} {'decide us':>10}")  # fmt: skip
    for name in options.situation:
        runs = [cross(name, seed, options.noise) for seed in range(options.first, options.first + options.seeds)]
        arrived, robots = sum(r.arrived for r in runs), sum(r.robots for r in runs)
        print(
            f"{name:10} {len(runs):5} {arrived:5}/{robots:<4} {sum(r.contacts_robot for r in runs):8} "
            f"{sum(r.contacts_wall for r in runs):6} {np.mean([r.time_s for r in runs]):7.1f} "
            f"{max(r.time_s for r in runs):6.1f} {min(r.separation_m for r in runs):23.3f} "
            f"{max(r.missed_m for r in runs):9.3f} {np.median([r.decide_us for r in runs]):10.1f}"
        )
        for seed, run in enumerate(runs, options.first):
            if run.arrived < run.robots or run.contacts_robot + run.contacts_wall:
                print(f"    seed {seed}: {run}")


if __name__ == "__main__":
    main()
