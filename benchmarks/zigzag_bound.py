"""How near is the simulated exploration of the zigzag to the least time that any team needs for it?

The way through the zigzag has no fork. For the centre of a body it is shortest as a taut string around the ends of the
walls; from it a sensor sees, in all directions, what lies within its range before a wall. One robot alone must also see
the south of the first column, where it starts, before it leaves the column (or come back for it): it goes down some
way and returns, as far as is best. Where there are several, the others see all that lies beside the way of the first.
The bound is the length at which the goal share of what can be explored has been seen, over the top speed.

    python benchmarks/zigzag_bound.py [--robots 1 6] [--seeds 1] [--no-run]
"""

import argparse
import math

import networkx
import numpy as np
import shapely

from covey.geometry.raycast import cast_many
from covey.robots.catalogue import pioneer3dx
from covey.robots.model import inscribed_radius
from covey.world.generators.terrains import start_line
from covey.world.visibility.explorable import explorable
from covey.world.visibility.explored import ExploredTruth
from covey.world.world import World

SHARE = 0.99
STEP_M = 0.5
RAYS = 2048
END = (36.0, -36.0)


def shortest_way(radius_m: float, start: tuple[float, float], goal: tuple[float, float]) -> np.ndarray:
    """Return the shortest way [m] of a disc's centre from ``start`` to ``goal`` through the zigzag, shape (k, 2)."""
    half = 0.1 + radius_m
    walls = [
        shapely.box(x - 0.1, -40 if i % 2 == 0 else -32.1, x + 0.1, 32.1 if i % 2 == 0 else 40)
        for i, x in enumerate(range(-32, 40, 8))
    ]
    free = shapely.box(-40 + half, -40 + half, 40 - half, 40 - half).difference(
        shapely.union_all(walls).buffer(radius_m, quad_segs=8)
    )
    corners = [start, goal, *(c for ring in [free.exterior, *free.interiors] for c in ring.coords[:-1])]
    points = np.unique(np.array(corners), axis=0)
    a, b = np.triu_indices(len(points), 1)
    near = np.abs(points[a, 0] - points[b, 0]) < 17  # a straight line crosses two columns at most
    a, b = a[near], b[near]
    lines = shapely.linestrings(np.stack((points[a], points[b]), axis=1))
    roomy = free.buffer(1e-6)
    shapely.prepare(roomy)
    seen = shapely.covers(roomy, lines)
    graph = networkx.Graph()
    graph.add_weighted_edges_from(zip(a[seen].tolist(), b[seen].tolist(), shapely.length(lines[seen]), strict=True))
    ends = [int(np.flatnonzero((points == p).all(axis=1))[0]) for p in (start, goal)]
    return points[networkx.dijkstra_path(graph, *ends)]


def resample(way: np.ndarray) -> np.ndarray:
    """Return points along a way every `STEP_M` [m], shape (m, 2)."""
    length = np.concatenate(([0.0], np.cumsum(np.hypot(*np.diff(way, axis=0).T))))
    at = np.arange(0.0, length[-1], STEP_M)
    return np.column_stack([np.interp(at, length, way[:, i]) for i in (0, 1)])


class Seen:
    """The share of what can be explored that has been seen from some points."""

    def __init__(self, world: World, mask: np.ndarray, range_m: float):
        self.world, self.range_m = world, range_m
        self.angles = np.linspace(-math.pi, math.pi, RAYS, endpoint=False)
        self.truth = ExploredTruth(world.grid.with_cells(mask), 1)

    def look(self, x: float, y: float) -> float:
        """Look around from a point [m]; return the share after it."""
        ranges = cast_many(
            self.world.skip, self.world.grid.frame, np.full(RAYS, x), np.full(RAYS, y), self.angles, self.range_m
        )
        pose = np.array([[x, y, 0.0]])
        self.truth.mark(np.zeros(1, np.int64), pose, ranges[None], self.angles, np.zeros(3), 0)
        return self.truth.share_union


def bounds(range_m: float, speed_m_s: float, radius_m: float) -> tuple[float, float]:
    """Return the least time [s] of one robot alone, and that of the union of several."""
    world = World.terrain("zigzag")
    start = (start_line(0).x, start_line(0).y)
    mask = explorable(world, np.array([start]), radius_m, range_m)

    def length_until_seen(seen: Seen, way: np.ndarray) -> float:
        for i, (x, y) in enumerate(way):
            if seen.look(x, y) >= SHARE:
                return i * STEP_M
        return math.inf

    alone = []
    for turn in ((-33.0, 38.0 - down) for down in range(36, 66, 2)):
        down, on = np.array([start, turn]), shortest_way(radius_m, turn, END)
        alone.append(length_until_seen(Seen(world, mask, range_m), resample(np.vstack((down, on[1:])))))
    seen = Seen(world, mask, range_m)
    for y in np.arange(start[1], -38.0, -STEP_M):  # the others, at no cost
        seen.look(start[0], y)
    union = length_until_seen(seen, resample(shortest_way(radius_m, start, END)))
    return min(alone) / speed_m_s, union / speed_m_s


def main() -> None:
    """Print bounds and simulated times."""
    from exploration import run

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--robots", nargs="+", type=int, default=[1, 6])
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--no-run", action="store_true", help="only the bounds")
    options = parser.parse_args()
    model = pioneer3dx()
    lidar = next(s for s in model.sensors if s.kind == "lidar")
    alone, union = bounds(lidar.range_m, model.max_speed_m_s, inscribed_radius(np.array(model.body_discs)))
    print(f"least time for {SHARE:.0%} at {model.max_speed_m_s} m/s: one robot {alone:.0f} s, several {union:.0f} s")
    for robots in [] if options.no_run else options.robots:
        bound = alone if robots == 1 else union
        for seed in range(options.seeds):
            row = run(("zigzag", robots, "truth", seed))
            time = row["time_union_s"]
            ratio = "" if time is None else f": {time / bound:.2f} times the least time"
            print(f"{robots} robots, seed {seed}: {row['status']} after {row['simulated_s']} s{ratio}", flush=True)


if __name__ == "__main__":
    main()
