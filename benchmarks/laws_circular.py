"""Collective circular motion: numbers for `laws.py`. Unicycles, control period 0.05 s."""

import math
from collections.abc import Iterator

import numpy as np
from laws_parts import Row, nearest_pair, run, square

from covey.controllers.laws.circular_motion import clockwise_radii, equilibrium_radius, pull

STEP_S = 0.05
V, K_B, C_B, RHO_0 = 0.3, 0.15, 2.0, 1.5
STOPS_S = 100.0
DRIFT = (0.03, 0.0)


def starts(seed: int, n: int) -> np.ndarray:
    """Return poses within 3 m of the beacon, all at least 0.5 m apart."""
    rng, found = np.random.default_rng(seed), []
    while len(found) < n:
        pose = rng.uniform((-3.0, -3.0, -math.pi), (3.0, 3.0, math.pi))
        if all(math.dist(pose[:2], other[:2]) >= 0.5 for other in found):
            found.append(pose)
    return np.array(found)


def circling(start, seconds, **parameters):
    """Return the poses of a run, (t + 1, n, 3)."""
    return run("circular_motion", start, seconds, STEP_S, square(60.0, resolution_m=2.0), **parameters)[0]


def turned(poses: np.ndarray, beacon: tuple[float, float]) -> np.ndarray:
    """Return how far robots went around a beacon, counter-clockwise [turns], shape (n,)."""
    way = poses[..., :2] - beacon
    return np.unwrap(np.arctan2(way[..., 1], way[..., 0]), axis=0)[[0, -1]].T @ (-1.0, 1.0) / (2.0 * math.pi)


def rows(short: bool = False) -> Iterator[Row]:
    """Yield the numbers."""
    law = "circular motion"
    expected = 3.053  # root of v / rho = k_b g(rho) pi / 2, by a calculation made apart from this code
    yield Row(law, "rho_e, by the equation [m]", expected, equilibrium_radius(V, K_B, C_B, RHO_0), 5e-4)
    lowest = min(rho * pull(rho, C_B, RHO_0) for rho in np.linspace(1e-3, RHO_0, 3000))
    yield Row(law, "least rho g(rho) [m], above -2 v / (3 pi k_b) = -0.424", -0.217, lowest, 5e-4)
    yield Row(law, "clockwise circles where the condition holds", 0, len(clockwise_radii(V, K_B, C_B, RHO_0)), 0)
    yield Row(
        law, "clockwise circles where it does not (v = 0.1 m/s)", 2, len(clockwise_radii(0.1, K_B, C_B, RHO_0)), 0
    )
    alone = np.array([circling(starts(seed, 1), 300.0)[-1000:, 0] for seed in range(1 if short else 8)])
    radii = np.hypot(*alone[:, -1, :2].T)
    yield Row(
        law,
        "one robot: radius, farthest of all starts from rho_e [m]",
        expected,
        radii[np.abs(radii - expected).argmax()],
        5e-3,
    )
    around = np.array([turned(one, (0.0, 0.0)) for one in alone])
    yield Row(
        law, "one robot: turns in 50 s, fewest of all starts", V * 50.0 / (2 * math.pi * expected), around.min(), 0.01
    )
    rho = clockwise_radii(0.1, K_B, C_B, RHO_0)
    for radius in rho:
        start = [(radius, 0.0, -0.5 * math.pi)]
        ends = circling(start, 2.0, speed_m_s=0.1)[-1, 0, :2]
        yield Row(
            law,
            f"v = 0.1 m/s: clockwise at {radius:.3f} m, where it stays for 2 s [m]",
            radius,
            float(np.hypot(*ends)),
            1e-3,
        )
    seeds = range(1 if short else 4)
    for drift, stops, label in (((0.0, 0.0), 0.0, "still"), (DRIFT, STOPS_S, "moving at 0.03 m/s for 100 s")):
        if short and not stops:
            continue
        seconds = (100.0 if short else 500.0) + stops
        runs = [circling(starts(s, 4), seconds, beacon_velocity_m_s=drift, beacon_stops_s=stops) for s in seeds]
        beacon = (drift[0] * stops, drift[1] * stops)
        mean = [np.hypot(*(poses[-2000:, :, :2] - beacon).transpose(2, 0, 1)).mean() for poses in runs]
        yield Row(law, f"4 robots, beacon {label}: least mean radius of a run [m]", 2.8, min(mean), 0.0, ">=")
        yield Row(law, f"4 robots, beacon {label}: largest mean radius of a run [m]", 3.3, max(mean), 0.0, "<=")
        apart = min(nearest_pair(poses) for poses in runs)
        yield Row(law, f"4 robots, beacon {label}: smallest separation [m], no contact", 2e-3, apart, 0.0, ">=")
