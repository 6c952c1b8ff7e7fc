"""Lloyd coverage and the Voronoi cells: numbers for `laws.py`."""

import math
import time
from collections.abc import Iterator

import numpy as np
from laws_parts import Row, run

import covey
from covey.controllers.laws.lloyd import peaks
from covey.geometry.voronoi import voronoi

SQUARE = np.array([(0.0, 0.0), (10.0, 0.0), (10.0, 10.0), (0.0, 10.0)])
RECTANGLE = np.array([(0.0, 0.0), (4.0, 0.0), (4.0, 2.0), (0.0, 2.0)])
DISC = 5.0 * np.column_stack((np.cos(np.pi * np.arange(64) / 32), np.sin(np.pi * np.arange(64) / 32)))
EIGHT = np.array(
    [
        (-2.99, 0.9),
        (-3.32, -1.07),
        (4.68, 0.82),
        (0.04, -1.85),
        (-4.61, -1.13),
        (-1.31, 2.39),
        (0.76, -3.08),
        (-1.45, 4.19),
    ]
)
PEAKS = ((3.0, 3.0, 1.5, 1.0), (7.0, 6.0, 1.0, 2.0))
STEP_S = 0.1


def covered(start, seconds, outline, kinematics, density=(), resolution_m=0.25):
    """Return the costs of all steps, the last points, and the largest distance of one from its centroid."""
    world = covey.World.polygons(outline.tolist(), resolution_m=resolution_m)
    poses, _ = run("lloyd", start, seconds, STEP_S, world, kinematics, density=density)
    weight = peaks(density) if len(density) else None
    costs = np.array([voronoi(p[:, :2], outline, weight).cost.sum() for p in poses])
    last = poses[-1, :, :2]
    fine = voronoi(last, outline, weight, fineness=12)
    return costs, last, float(np.hypot(*(fine.centroid - last).T).max())


def rows(short: bool = False) -> Iterator[Row]:
    """Yield the numbers."""
    rng = np.random.default_rng(4)
    start = np.column_stack((rng.uniform(0.5, 3.5, (20, 2)), rng.uniform(-math.pi, math.pi, 20)))
    for kinematics in ("holonomic", "unicycle"):
        costs, _, off = covered(start, 60.0 if short else 600.0, SQUARE, kinematics)
        said = f"20 {kinematics}, square"
        growth = (np.diff(costs) / costs[:-1]).max()
        yield Row("lloyd", f"{said}: largest growth of H in a step [relative]", 0.0, growth, 1e-12, "<=")
        # No n points do better than the centres of n regular hexagons (L. Fejes Toth): 5 / (18 sqrt 3) A^2 / n.
        bound = 5.0 / (18.0 * math.sqrt(3.0)) * 100.0**2 / 20
        yield Row("lloyd", f"{said}: H at the end [m4], at least that of hexagons", bound, costs[-1], 0.0, ">=")
        if not short:
            yield Row("lloyd", f"{said}: farthest end from its centroid [m]", 0.0, off, 1e-3)
        costs, _, off = covered(start, 30.0 if short else 300.0, SQUARE, kinematics, PEAKS)
        growth = (np.diff(costs) / costs[:-1]).max()
        yield Row("lloyd", f"20 {kinematics}, two peaks: largest growth of H [relative]", 0.0, growth, 1e-5, "<=")
        if not short:
            yield Row("lloyd", f"20 {kinematics}, two peaks: farthest end from its centroid [m]", 0.0, off, 5e-3)
    costs, _, _ = covered([(0.5, 0.7, 0.0), (1.2, 1.5, 2.0)], 60.0, RECTANGLE, "unicycle")
    yield Row("lloyd", "2 unicycles in 4 m x 2 m: H at the end, of two squares [m4]", 2 * 2**4 / 6, costs[-1], 1e-6)
    seconds = 60.0 if short else 300.0
    for kinematics in ("holonomic", "unicycle"):
        start = np.column_stack((EIGHT, np.zeros(8)))
        _, first, off = covered(start, seconds, DISC, kinematics)
        start[5, 0] += 0.1
        _, second, off_second = covered(start, seconds, DISC, kinematics)
        inner = [int((np.hypot(*ends.T) < 2.0).sum()) for ends in (first, second)]
        said = f"8 {kinematics} in a disc"
        yield Row("lloyd", f"{said}: robots near the middle at the end", 2, inner[0], 0)
        yield Row("lloyd", f"{said}, one started 0.1 m aside: robots near the middle", 1, inner[1], 0)
        if not short:
            yield Row("lloyd", f"{said}: farthest end from its centroid [m]", 0.0, max(off, off_second), 1e-3)
    if not short:
        points = np.random.default_rng(0).uniform(0, 10, (100, 2))
        voronoi(points, SQUARE)
        spent = []
        for _ in range(200):
            since = time.process_time()
            voronoi(points, SQUARE)
            spent.append(time.process_time() - since)
        yield Row("voronoi", "100 cells with centroids, median CPU time [ms]", 1.0, 1e3 * np.median(spent), 0.0, "<=")
        yield Row("voronoi", "100 cells: sum of their areas [m2]", 100.0, voronoi(points, SQUARE).area.sum(), 1e-9)
