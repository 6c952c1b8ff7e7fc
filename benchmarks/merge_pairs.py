"""Pairs of maps with unknown starts that overlap by a quarter to a third: how many are joined, and how many wrongly.

The maps do not come from Covey: rays march through the cells of a world in steps of 2 cm, and a mapper of this script
counts what they pass and hit, in a frame of its own for each robot, turned anywhere. Only the alignment is Covey's.
Each map is of 12 to 29 places next to each other; the pairs are those of which 25 to 35 % of the smaller map is in the
other one. Worlds are offices, caves, buildings, mazes and fields of rubble, and two that look alike from many sides: a
grid of equal rooms, and the cross, which no map can tell from itself turned by 90 degrees. A join is right within 0.2 m
and 2 degrees. The other pairs of the four maps of a world have any overlap. And each map is compared with one of the
world before: every join of these is wrong.

    python benchmarks/merge_pairs.py [--seed 2026] [--worlds 5] [--kinds cave …] [--processes 1]

With 5 worlds there are 50 pairs of the first five kinds, 20 of the last two, and 236 others; with 8 worlds 504 in all.
"""

import argparse
import itertools
import math
import multiprocessing
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from scipy import ndimage
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import dijkstra

from covey.geometry import Grid, Pose
from covey.mapping.alignment.aligning import Alignment, align
from covey.world.world import World

CELL_M, RANGE_M, SIDE_M = 0.1, 8.0, 60.0
OVERLAP = (0.25, 0.35)
ANY, OTHER = "any overlap", "different worlds"
KINDS: dict[str, Callable[[int], World]] = {
    "office": lambda seed: World.office(seed=seed, size_m=(40, 40)),
    "cave": lambda seed: World.cave(seed=seed, size_m=(40, 40)),
    "building": lambda seed: World.building(seed=seed, resolution_m=0.1),
    "maze": lambda seed: World.maze(seed=seed, road_m=3.0),
    "rubble": lambda seed: World.rubble(seed=seed, size_m=(30, 30)),
    "equal rooms": lambda seed: World.rooms(seed=seed),
    "cross": lambda _: World.terrain("cross", size_m=40, road_m=5),
}


class Seen(NamedTuple):
    """What a robot has seen of a world: its map, its frame (x, y, heading) in the world, and the cells in sight."""

    map: Grid
    frame: Pose
    sight: np.ndarray


class Pair(NamedTuple):
    """Two maps, the true pose of the second one's frame in the first one's, and their overlap.

    The pose is None, and the overlap 0, if the maps are of different worlds.
    """

    a: Grid
    b: Grid
    truth: Pose | None
    overlap: float

    def error_of(self, alignment: Alignment) -> tuple[float, float]:
        """Return the error of an alignment: distance [m] and angle [deg]."""
        if alignment.T_a_b is None or self.truth is None:
            return math.inf, math.inf
        off = self.truth.inverse() @ alignment.T_a_b
        return math.hypot(off.x, off.y), abs(math.degrees(math.remainder(off.heading, 2 * math.pi)))


class Outcome(NamedTuple):
    """What came of a pair."""

    kind: str
    overlap: float
    alignment: Alignment
    error: tuple[float, float]
    seconds: float

    def within(self, distance_m: float) -> bool:
        """Whether the pose is within this distance and 2 degrees."""
        return self.error[0] < distance_m and self.error[1] < 2.0


def rays(world: World, x: float, y: float, count: int = 240, step: float = 0.02):
    """Return angles, ranges [m], and which rays hit something."""
    angles, along = np.linspace(0, 2 * np.pi, count, endpoint=False), np.arange(0, RANGE_M, step)
    x0, y0, _ = world.grid.origin
    column = np.floor((x + np.cos(angles)[:, None] * along - x0) / world.grid.resolution).astype(int)
    row = np.floor((y + np.sin(angles)[:, None] * along - y0) / world.grid.resolution).astype(int)
    rows, columns = world.solid.shape
    inside = (row >= 0) & (column >= 0) & (row < rows) & (column < columns)
    stops = ~inside | world.solid[np.clip(row, 0, rows - 1), np.clip(column, 0, columns - 1)]
    first = np.where(stops.any(axis=1), stops.argmax(axis=1), len(along))
    return angles, np.minimum(first * step, RANGE_M), first < len(along)


def counted(world: World, places: np.ndarray, frame: tuple[float, float, float], random: np.random.Generator) -> Grid:
    """Return the map of scans from some places, in a frame: a cell is a wall if it was hit often enough."""
    n = int(SIDE_M / CELL_M)
    score = np.zeros((n, n), np.int32)
    known = np.zeros((n, n), np.bool_)
    c, s = math.cos(frame[2]), math.sin(frame[2])

    def cells(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        u, v = c * (x - frame[0]) + s * (y - frame[1]), -s * (x - frame[0]) + c * (y - frame[1])
        i, j = (np.floor((w + SIDE_M / 2) / CELL_M).astype(int) for w in (v, u))
        inside = (i >= 0) & (j >= 0) & (i < n) & (j < n)
        mask = np.zeros((n, n), np.bool_)
        mask[i[inside], j[inside]] = True
        return mask

    for x, y in places.tolist():
        angles, far, hit = rays(world, x, y)
        far = far + random.normal(0, 0.02, len(far))
        along = np.arange(0.0, RANGE_M, 0.04)
        free = along[None] < (far - 0.06)[:, None]
        px, py = x + np.cos(angles)[:, None] * along, y + np.sin(angles)[:, None] * along
        walls = cells(x + np.cos(angles[hit]) * (far[hit] + 0.02), y + np.sin(angles[hit]) * (far[hit] + 0.02))
        passed = cells(px[free], py[free]) & ~walls
        score += 2 * walls.view(np.int8) - passed.view(np.int8)
        known |= walls | passed
    states = np.where(known, np.where(score > 0, 100, 0), -1).astype(np.int8)
    return Grid(states, CELL_M, (-SIDE_M / 2, -SIDE_M / 2, 0.0))


def in_sight(world: World, x: float, y: float) -> np.ndarray:
    """Return the cells that are seen from a place, bool, of the shape of the world."""
    angles, far, _ = rays(world, x, y, 360, 0.05)
    along = np.arange(0, RANGE_M, 0.05)
    seen = along[None] < far[:, None]
    points = np.column_stack(((x + np.cos(angles)[:, None] * along)[seen], (y + np.sin(angles)[:, None] * along)[seen]))
    row, column = world.grid.to_cells(points).T
    mask = np.zeros(world.solid.shape, bool)
    mask[np.clip(row, 0, mask.shape[0] - 1), np.clip(column, 0, mask.shape[1] - 1)] = True
    return mask


class Places:
    """Places of a world, the ways between them on a coarse grid, and what is seen from each."""

    def __init__(self, world: World, random: np.random.Generator):
        clear = ndimage.distance_transform_edt(~world.solid) * world.grid.resolution > 0.3
        labels, _ = ndimage.label(clear)
        cells = np.argwhere(labels == np.bincount(labels.ravel())[1:].argmax() + 1)
        cells = cells[random.choice(len(cells), min(140, len(cells)), replace=False)]
        self.world, self.at = world, world.grid.to_world(cells)
        every = max(1, round(0.3 / world.grid.resolution))
        rows, columns = (side // every for side in clear.shape)
        coarse = clear[: rows * every, : columns * every].reshape(rows, every, columns, every).any(axis=(1, 3))
        number = np.where(coarse, np.cumsum(coarse.ravel()).reshape(coarse.shape) - 1, -1)
        ends = []
        for first, second in ((number[:-1], number[1:]), (number[:, :-1], number[:, 1:])):
            both = (first >= 0) & (second >= 0)
            ends.append(np.column_stack((first[both], second[both])))
        edges = np.vstack(ends)
        graph = coo_matrix((np.ones(len(edges)), edges.T), shape=(coarse.sum(),) * 2).tocsr()
        node = number[tuple(np.minimum(cells // every, (rows - 1, columns - 1)).T)]
        self._ways = dijkstra(graph, directed=False, indices=node, unweighted=True)[:, node]
        self._sights: dict[int, np.ndarray] = {}

    def nearest(self, place: int, count: int) -> list[int]:
        """Return the places with the shortest ways to one."""
        return np.argsort(self._ways[place], kind="stable")[:count].tolist()

    def seen_from(self, places: list[int]) -> np.ndarray:
        """Return every other cell of every other row that is seen from some places."""
        for k in set(places) - set(self._sights):
            self._sights[k] = in_sight(self.world, *self.at[k].tolist())[::2, ::2]
        return np.any([self._sights[k] for k in places], axis=0)


def overlap_of(a: Seen, b: Seen) -> float:
    """Return the share of the smaller one's sight that is in the sight of the other one."""
    return float((a.sight & b.sight).sum() / min(a.sight.sum(), b.sight.sum()))


def paired(a: Seen, b: Seen) -> Pair:
    """Return the pair of two robots in one world."""
    return Pair(a.map, b.map, a.frame.inverse() @ b.frame, overlap_of(a, b))


def seen_in(world: World, random: np.random.Generator, count: int = 2) -> Iterator[tuple[Seen, Seen]]:
    """Yield two robots at a time whose maps overlap by a quarter to a third."""
    places = Places(world, random)
    for _ in range(400):
        (first, second), size = random.integers(0, len(places.at), 2).tolist(), int(random.integers(12, 30))
        one, two = places.nearest(first, size), places.nearest(second, size)
        seen = [places.seen_from(some) for some in (one, two)]
        overlap = (seen[0] & seen[1]).sum() / min(part.sum() for part in seen)
        if not OVERLAP[0] <= overlap <= OVERLAP[1]:
            continue
        frames = [(*places.at[k].tolist(), random.uniform(-3.1, 3.1)) for k in (first, second)]
        maps = [counted(world, places.at[some], frame, random) for some, frame in zip((one, two), frames, strict=True)]
        a, b = (Seen(*parts) for parts in zip(maps, (Pose(*frame) for frame in frames), seen, strict=True))
        yield a, b
        count -= 1
        if not count:
            return


def pairs_of(kind: str, seeds: range) -> Iterator[tuple[str, Pair]]:
    """Yield the pairs of worlds of a kind: a quarter to a third, others of the same world, and of different worlds."""
    before: list[Seen] = []
    for seed in seeds:
        random = np.random.default_rng((seed, list(KINDS).index(kind)))
        pairs = list(seen_in(KINDS[kind](seed), random))
        yield from ((kind, paired(*pair)) for pair in pairs)
        for pair, other in itertools.combinations(pairs, 2):
            yield from ((ANY, paired(a, b)) for a in pair for b in other)
        seen = [one for pair in pairs for one in pair]
        if kind != "cross":  # there is only one
            yield from ((OTHER, Pair(a.map, b.map, None, 0.0)) for a, b in zip(before, seen[::-1], strict=False))
        before = seen


def outcome(kind: str, pair: Pair) -> Outcome:
    """Return what comes of a pair."""
    start = time.process_time()
    alignment = align(pair.a, pair.b)
    return Outcome(kind, pair.overlap, alignment, pair.error_of(alignment), time.process_time() - start)


def outcomes(job: tuple[str, range]) -> list[Outcome]:
    """Return what comes of the pairs of the worlds of a kind."""
    return [outcome(name, pair) for name, pair in pairs_of(*job)]


def line(name: str, some: list[Outcome]) -> str:
    """Return one row of the table."""
    joined = [o for o in some if o.alignment.accepted]
    right, near = (sum(o.within(m) for o in joined) for m in (0.2, 0.5))
    lost = sum(o.within(0.5) for o in some if not o.alignment.accepted)
    figures = len(some), len(joined), right, len(joined) - near, len(some) - len(joined), lost
    return f"| {name} | {' | '.join(map(str, figures))} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=2026, help="of the first world of each kind")
    parser.add_argument("--worlds", type=int, default=5, help="of each kind")
    parser.add_argument("--kinds", nargs="*", choices=list(KINDS), default=list(KINDS))
    parser.add_argument("--processes", type=int, default=1)
    options = parser.parse_args()
    jobs = [(kind, range(options.seed, options.seed + options.worlds)) for kind in options.kinds]
    with multiprocessing.get_context("spawn").Pool(options.processes) as pool:
        found = [outcome for some in pool.imap(outcomes, jobs) for outcome in some]
    print(
        "| worlds | pairs | joined | within 0.2 m, 2 deg | wrong (beyond 0.5 m, 2 deg) | refused | best guess right |"
    )
    print("|---|---|---|---|---|---|---|")
    for kind in [*options.kinds, ANY, OTHER]:
        print(line(kind, [o for o in found if o.kind == kind]))
    print(line("all", found))
    seconds = [o.seconds for o in found]
    print(f"\nprocessor time of an alignment: median {np.median(seconds):.2f} s, largest {max(seconds):.2f} s")
    for o in found:
        if o.alignment.accepted and not o.within(0.5):
            at = f"overlap {o.overlap:.2f}, confidence {o.alignment.confidence:.2f}, {o.error[0]:.1f} m off"
            print(f"wrong: {o.kind}, {at}")


if __name__ == "__main__":
    main()
