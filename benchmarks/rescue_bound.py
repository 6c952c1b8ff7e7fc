"""How soon could any team be done on the floors rescue_1 to rescue_5? Two lower bounds from their geometry.

*All knowing*: robots at top speed that know where the targets are. Each target must come into the view of a camera,
within its range and incidence and not behind a wall; two robots must come within 2 m of the big fire. It is the best
split and order of the targets (all are tried), with the shortest way from any place that will do to the next.

*All seeing*: robots at top speed that bring every face of every wall into view, as who does not know where the targets
are must do to be sure of them. Some faces can only be seen from places that lie apart. The ways of all robots join
these places with the starts, so together they are at least as long as the minimum spanning tree of the shortest ways
between them, and one is at least as long as the way to the farthest. Which faces are taken is free: the bound is the
largest that farthest-first choices give.

Both leave out turns, starts and stops, doubt about what was seen, and that the robots first have to find the ways. Ways
are those on cells in eight directions, less what that makes them too long.

    python benchmarks/rescue_bound.py [--robots 2 4]
"""

import argparse
import itertools
import math

import numpy as np
from scipy.ndimage import binary_dilation
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra, minimum_spanning_tree

from covey.geometry.faces import on_faces
from covey.geometry.raycast import cast_many, skip_field
from covey.robots.catalogue import robots
from covey.robots.model import inscribed_radius
from covey.robots.team import TeamModel
from covey.scenario.build import set_up
from covey.scenario.load import load_scenario
from covey.world.visibility.explorable import reachable
from covey.world.visibility.searched import readable
from covey.world.world import World

STARTS = [[0, -1, 0], [0, 1, 0], [-1, -1, 0], [-1, 1, 0]]
WORLDS = tuple(f"rescue_{k}" for k in range(1, 6))
MEETING_M = 2.0
EIGHT = math.cos(math.pi / 8)  # a straight way over the way in eight directions, at worst
FACES = 400
MOST = 40


class Ways:
    """Shortest ways of a body between regions of a world.

    Args:
        world: the world.
        starts: x, y of the robots [m].
        radius_m: radius of a disc inside the body; cells whose centre misses it by half a diagonal count, too.
    """

    def __init__(self, world: World, starts: np.ndarray, radius_m: float):
        self.world, cell = world, world.grid.resolution
        self.reached = reachable(world, starts, max(radius_m - cell / math.sqrt(2), 0.0))
        self.number = np.full(world.grid.shape, -1)
        self.number[self.reached] = np.arange(np.count_nonzero(self.reached))
        rows, columns, lengths = [], [], []
        for dr, dc in ((0, 1), (1, 0), (1, 1), (1, -1)):
            a = self.number[: self.number.shape[0] - dr, max(-dc, 0) : self.number.shape[1] - max(dc, 0)]
            b = self.number[dr:, max(dc, 0) : self.number.shape[1] + min(dc, 0)]
            both = (a >= 0) & (b >= 0)
            rows.append(a[both])
            columns.append(b[both])
            lengths.append(np.full(np.count_nonzero(both), cell * math.hypot(dr, dc)))
        n = np.count_nonzero(self.reached)
        entries = np.concatenate(lengths), (np.concatenate(rows), np.concatenate(columns))
        self.graph = csr_array(entries, shape=(n, n))

    def cells(self, places: np.ndarray) -> np.ndarray:
        """Return the numbers of the reached cells at places (k, 2) [m]."""
        row, column = self.world.grid.to_cells(places).T
        return self.number[row, column]

    def between(self, regions: list[np.ndarray]) -> np.ndarray:
        """Return at least how far it is from each region, numbers of cells, to each other one [m]."""
        slack = 2 * self.world.grid.resolution
        found = np.zeros((len(regions), len(regions)))
        for i, region in enumerate(regions):
            away = dijkstra(self.graph, directed=False, indices=region, min_only=True)
            found[i] = [max(EIGHT * away[other].min() - slack, 0.0) for other in regions]
        return np.maximum(found, found.T)


def views(ways: Ways, places: np.ndarray, range_m: float, incidence: float, mount_m: float) -> list[np.ndarray]:
    """Return from which cells a camera has each place in view; (k, 4): x, y [m] and normal. Empty: from none."""
    grid, skip = ways.world.grid, skip_field(ways.world.solid)
    free = np.argwhere(ways.world.free)
    centres = grid.to_world(free)
    reach = math.ceil(mount_m / grid.resolution)
    y, x = np.mgrid[-reach : reach + 1, -reach : reach + 1]
    disc = np.hypot(x, y) <= reach
    found = []
    for px, py, nx, ny in places:
        dx, dy = centres[:, 0] - px, centres[:, 1] - py
        away = np.hypot(dx, dy)
        near = (away <= range_m) & ((dx * nx + dy * ny >= math.cos(incidence) * away) | (nx == ny == 0))
        cells, angle = free[near], np.arctan2(dy[near], dx[near])
        sees = cast_many(skip, grid.frame, np.full(len(cells), px), np.full(len(cells), py), angle, range_m)
        mask = np.zeros(grid.shape, bool)
        mask[tuple(cells[sees >= away[near] - 1e-9].T)] = True
        found.append(ways.number[binary_dilation(mask, disc) & ways.reached])
    return found


def all_knowing(between: np.ndarray, starts: int, targets: int) -> float:
    """Return the shortest longest way [m]: regions are starts, targets, and the place of the meeting."""
    sites = targets + 1
    meets = 1 << targets
    shortest = np.full((starts, 1 << sites, sites), np.inf)
    for robot in range(starts):
        for site in range(sites):
            shortest[robot, 1 << site, site] = between[robot, starts + site]
        for subset in range(1 << sites):
            for last, following in itertools.product(range(sites), repeat=2):
                if not subset >> following & 1 and np.isfinite(shortest[robot, subset, last]):
                    longer = shortest[robot, subset, last] + between[starts + last, starts + following]
                    entry = shortest[robot, subset | 1 << following]
                    entry[following] = min(entry[following], longer)
    least = shortest.min(axis=2)
    least[:, 0] = 0.0
    best = math.inf
    for split in itertools.product(range(starts), repeat=targets):
        subsets = [sum(1 << k for k, robot in enumerate(split) if robot == i) for i in range(starts)]
        for pair in itertools.combinations(range(starts), 2):
            ways = [least[i, subset | (meets if i in pair else 0)] for i, subset in enumerate(subsets)]
            best = min(best, max(ways))
    return best


def all_seeing(ways: Ways, regions: list[np.ndarray], starts: np.ndarray) -> float:
    """Return the least length of the longest way [m]: that to the farthest region, and a share of the tree."""
    home = dijkstra(ways.graph, directed=False, indices=starts, min_only=True)
    away = np.array([home[region].min() for region in regions])
    slack = 2 * ways.world.grid.resolution
    chosen, best = [], EIGHT * float(away.max()) - slack
    rows: list[np.ndarray] = []
    while len(chosen) < min(MOST, len(regions)) and away.max() > 0.5:
        k = int(away.argmax())
        chosen.append(k)
        from_it = dijkstra(ways.graph, directed=False, indices=regions[k], min_only=True)
        rows.append(np.array([from_it[region].min() for region in regions]))
        away = np.minimum(away, rows[-1])
        to_home = np.array([home[regions[i]].min() for i in chosen])
        table = np.zeros((len(chosen) + 1, len(chosen) + 1))
        table[0, 1:] = to_home
        table[1:, 1:] = np.array(rows)[:, chosen]
        length = np.maximum(EIGHT * table - slack, 1e-9)
        best = max(best, float(minimum_spanning_tree(np.triu(length, 1)).sum()) / len(starts))
    return best


def bounds(name: str, count: int) -> tuple[float, float]:
    """Return both bounds [s] of a number of robots on a floor."""
    scenario = load_scenario("rescue", {"world.named": name, "robots.searcher.count": 2})
    made, robot = set_up(scenario), robots.get("turtlebot3_waffle_pi")()
    camera = next(sensor for sensor in robot.sensors if sensor.kind == "tag_camera")
    starts = np.array(STARTS[:count], float)
    ways = Ways(made.world, starts[:, :2], inscribed_radius(TeamModel.of([robot]).discs[0]))
    eye = camera.range_m, math.radians(camera.incidence_deg), math.hypot(camera.mount_x_m, camera.mount_y_m)
    targets = made.targets
    places = np.column_stack((targets.positions[:, :2], targets.normals[:, :2]))
    fire = places[list(targets.kinds).index("big_fire"), :2]
    near = np.hypot(*(made.world.grid.to_world(np.argwhere(ways.reached)) - fire).T) <= MEETING_M
    at = ways.cells(starts[:, :2])
    regions = [*at[:, None], *views(ways, places, *eye), np.flatnonzero(near)]
    knowing = all_knowing(ways.between(regions), count, len(places))
    radii = np.full(count, robot.outer_radius_m)
    faces = readable(made.world, starts, radii, camera.range_m, eye[1])
    some = faces[np.linspace(0, len(faces) - 1, min(FACES, len(faces))).astype(int)]
    seen = [region for region in views(ways, on_faces(made.world.grid, some), *eye) if len(region)]
    seeing = all_seeing(ways, seen, at)
    return knowing / robot.max_speed_m_s, seeing / robot.max_speed_m_s


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--robots", type=int, nargs="+", default=[2, 4])
    options = parser.parse_args()
    print("| floor | robots | all knowing [s] | all seeing [s] |\n| --- | ---: | ---: | ---: |")
    for count, name in itertools.product(options.robots, WORLDS):
        knowing, seeing = bounds(name, count)
        print(f"| {name} | {count} | {knowing:.0f} | {seeing:.0f} |", flush=True)


if __name__ == "__main__":
    main()
