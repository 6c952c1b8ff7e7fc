"""`safe` and `orca`: contacts in swaps, circles and corridors, and the cost of 100 robots. Numbers for `laws.py`.

Discs of 0.3 m, 1 m/s, of which half are holonomic and half have two wheels; the simulation counts contacts.
"""

import math
import time
from collections.abc import Iterator

import numpy as np
from laws_parts import Row

import covey
from covey.controllers.laws.look_ahead import points_ahead
from covey.onboard.controller import Program
from covey.robots.model import RobotModel

SEEDS = 200
SITUATIONS = ("swap", "circle", "corridor")


def robot(kinematics: str) -> RobotModel:
    """Return a disc without sensors."""
    return RobotModel(kinematics=kinematics, radius_m=0.15, max_turn_rad_s=10.0, wheel_semi_axis_m=0.1)


def situation(kind: str, seed: int) -> tuple[np.ndarray, np.ndarray, tuple[float, float]]:
    """Return start poses, goals, and the size of the world [m]: rows that swap, a circle across, two files."""
    rng = np.random.default_rng(seed)
    if kind == "circle":
        angle = 2.0 * math.pi * np.arange(8) / 8
        start = 2.5 * np.column_stack((np.cos(angle), np.sin(angle)))
        goal, size = -start, (8.0, 8.0)
    elif kind == "swap":
        start = np.array([(x, y) for x in (-2.5, 2.5) for y in (-0.9, 0.0, 0.9)])
        goal, size = start * (-1.0, 1.0), (8.0, 8.0)
    else:
        start = np.array([(-3.5 + 0.8 * k, 0.3) for k in range(3)] + [(3.5 - 0.8 * k, -0.3) for k in range(3)])
        goal, size = start * (-1.0, -1.0), (10.0, 2.4)
    start = start + rng.uniform(-0.08, 0.08, start.shape)
    heading = np.arctan2(*(goal - start).T[::-1]) + rng.uniform(-0.5, 0.5, len(start))
    return np.column_stack((start, heading)), goal, size


def driven(law: Program, kind: str, seed: int, seconds: float = 12.0) -> tuple[int, float]:
    """Return the number of contacts, and the share of robots within 0.3 m of their goals at the end."""
    start, goal, size = situation(kind, seed)
    kinematics = "holonomic" if seed % 2 else "differential"
    group = covey.Group("r", robot(kinematics), start, law)
    sim = covey.Simulation(covey.World.empty(*size, resolution_m=0.1), [group], stop=covey.Stop(timeout_s=seconds))
    while not sim.done:
        sim.step()
        if sim.deciding.failures:
            raise RuntimeError(sim.deciding.failures[0].text)
    pose = sim.state.pose.copy()
    metrics = sim.close().metrics
    points = pose[:, :2] if kinematics == "holonomic" else points_ahead(pose, 0.1)
    there = np.hypot(*(points - goal).T) < 0.3
    return int(metrics["collisions"] + metrics["collisions_wall"]), float(there.mean())


def seconds_per_second(robots: int = 100, seconds: float = 20.0) -> float:
    """Return simulated seconds per second of processor time, of robots under `safe` at 10 Hz in a square of 20 m."""
    rng = np.random.default_rng(3)
    side = math.ceil(math.sqrt(robots))
    place = np.array([(1.8 * (k % side), 1.8 * (k // side)) for k in range(robots)]) - 0.9 * (side - 1)
    start = np.column_stack((place, rng.uniform(-math.pi, math.pi, robots)))
    goals = place[rng.permutation(robots)]
    law = Program("safe", {"law": Program("go_to", {"goals_m": goals.tolist()})})
    group = covey.Group("r", robot("holonomic"), start, law)
    sim = covey.Simulation(covey.World.empty(20, 20, resolution_m=0.1), [group])
    for _ in range(5):
        sim.step()
    begun, steps = time.process_time(), round(10 * seconds)
    for _ in range(steps):
        sim.step()
    spent = time.process_time() - begun
    sim.close()
    return 0.1 * steps / spent


def rows(short: bool = False) -> Iterator[Row]:
    """Yield the numbers."""
    for guard in ("safe", "orca"):
        for kind in SITUATIONS:
            contacts, there, seeds = 0, 0.0, 1 if short else SEEDS
            for seed in range(seeds):
                goals = situation(kind, seed)[1].tolist()
                touched, arrived = driven(Program(guard, {"law": Program("go_to", {"goals_m": goals})}), kind, seed)
                contacts, there = contacts + touched, there + arrived / seeds
            yield Row(guard, f"contacts in {seeds} seeds of {kind} ({there:.0%} arrived)", 0, contacts, 0)
    if not short:
        yield Row("safe", "100 robots at 10 Hz: seconds per second of one core", 20, seconds_per_second(), 0, ">=")
