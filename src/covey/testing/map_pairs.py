"""Pairs of maps with a known relative pose: two robots drive through parts of one world, each in its own frame.

For tests of map alignment. The maps are realistic: each is a `Belief` filled by scans at noisy estimates.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from covey.geometry.grid import Grid
from covey.geometry.se2 import Pose, compose, inverse
from covey.mapping.localization import Noise
from covey.mapping.localizer import Sensed
from covey.mapping.occupancy.belief import Belief, Beliefs
from covey.mapping.records import Mapping
from covey.planning.dijkstra import dijkstra, trace
from covey.random import generator, stream_key
from covey.sensors.lidar import Lidar
from covey.sensors.truth import Truth
from covey.world.world import World, label_by_size

BODY_M = 0.3
"""Clearance of the robots from walls [m]."""

SCAN_EVERY_M = 0.5
"""Distance driven between two scans [m]."""


@dataclass(frozen=True, eq=False)
class MapPair:
    """Two maps of parts of one world.

    Attributes:
        belief_a, belief_b: each in the frame of its own robot's start.
        T_a_b: the true pose of frame b in frame a.
        overlap: area known in both maps over the known area of the smaller map.
    """

    belief_a: Belief
    belief_b: Belief
    T_a_b: Pose
    overlap: float

    @property
    def a(self) -> Grid:
        """The one map."""
        return self.belief_a.grid

    @property
    def b(self) -> Grid:
        """The other map."""
        return self.belief_b.grid

    def error_of(self, T_a_b: Pose) -> tuple[float, float]:
        """Return the error of an estimated pose of frame b: distance [m] and absolute angle [deg]."""
        off = self.T_a_b.inverse() @ T_a_b
        return math.hypot(off.x, off.y), abs(math.degrees(off.heading))


def tour(world: World, start: tuple[int, int], reach_m: float, spacing_m: float = 3.0) -> np.ndarray:
    """Return the true poses (m, 3) of a robot that visits places within ``reach_m`` of a cell.

    Args:
        start: row and column, at least `BODY_M` from all walls.
        reach_m: largest path length from the start to a visited place [m]; the robot always drives to the nearest next.
        spacing_m: distance between these places [m].
    """
    resolution = world.grid.resolution
    cost = np.where(world.free & (world.clearance >= BODY_M), 1.0, np.inf).astype(np.float32)
    every = max(1, round(spacing_m / resolution))
    places = np.zeros(cost.shape, bool)
    places[start[0] % every :: every, start[1] % every :: every] = True
    places &= dijkstra(cost, start).cost * resolution <= reach_m
    at, route = start, [np.array([start])]
    while True:
        r0, c0 = max(0, at[0] - every // 2), max(0, at[1] - every // 2)
        places[r0 : at[0] + every // 2 + 1, c0 : at[1] + every // 2 + 1] = False
        field = dijkstra(cost, at, places)
        if field.hit[0] < 0 or not places.any():
            break
        at = field.hit
        route.append(trace(field.parent, *at)[1:])
    points = world.grid.to_world(np.concatenate(route))
    length = np.concatenate(([0.0], np.cumsum(np.hypot(*np.diff(points, axis=0).T))))
    stops = np.arange(0.0, max(length[-1], SCAN_EVERY_M), SCAN_EVERY_M)
    ahead = np.minimum(stops + SCAN_EVERY_M, length[-1])
    x, y = (np.interp(stops, length, points[:, k]) for k in (0, 1))
    dx, dy = (np.interp(ahead, length, points[:, k]) - now for k, now in ((0, x), (1, y)))
    return np.column_stack((x, y, np.arctan2(dy, dx)))


def map_along(
    world: World,
    poses: np.ndarray,
    T_world_own: Pose,
    *,
    seed: int,
    name: str,
    lidar: Lidar | None = None,
    mapping: Mapping | None = None,
    noise: Noise | None = None,
) -> Belief:
    """Return the belief of a robot that scans at true poses (m, 3), in its own frame, localized with white noise.

    Args:
        T_world_own: the robot's own frame in the world.
        seed, name: seed and name of the noise streams.
        lidar: the sensor; default: 360 rays of 10 m with 0.02 m of noise.
        mapping: how scans are added to the belief.
        noise: noise of the estimates.
    """
    lidar = lidar or Lidar(sigma_m=0.02)
    localizer = (noise or Noise()).build([name], seed)
    own = np.array([localizer.update(Sensed(k, pose[None])).pose[0] for k, pose in enumerate(poses)])
    own = compose(inverse(np.array(T_world_own)), own)
    low, high = own[:, :2].min(axis=0) - lidar.range_m - 1.0, own[:, :2].max(axis=0) + lidar.range_m + 1.0
    beliefs = Beliefs([name], tuple(high - low), tuple(low), mapping)
    key = np.array([stream_key(seed, f"lidar/{name}")], np.uint64)
    for k, pose in enumerate(poses):
        scan = lidar.read(_alone(world, pose), np.array([0]), key, k)
        beliefs.update(np.array([0]), own[k][None], scan.ranges, scan.angles, scan.mount, scan.range_m, k)
    return beliefs[0]


def make_pairs(
    world: World,
    overlaps: Sequence[float],
    *,
    seed: int,
    reach_m: tuple[float, float] = (8.0, 14.0),
    tours: int = 8,
    noise: Noise | None = None,
    lidar: Lidar | None = None,
    mapping: Mapping | None = None,
) -> list[MapPair]:
    """Return one pair of maps of a world for each wanted overlap: the two tours that come closest to it.

    Args:
        overlaps: wanted shares of the smaller map that the other one knows, too, 0 … 1.
        seed: seed of the tours, of the frames and of all noise.
        reach_m: least and largest reach of a tour, see `tour`.
        tours: number of tours to choose pairs from.
        noise, lidar, mapping: see `map_along`.
    """
    random = generator(seed, "map_pairs")
    labels, _ = label_by_size(world.free & (world.clearance >= BODY_M))
    cells = np.argwhere(labels == 1)
    starts = cells[[random.integers(len(cells)) for _ in range(tours)]].tolist()
    routes = [tour(world, (row, column), random.uniform(*reach_m)) for row, column in starts]
    sensor = lidar or Lidar(sigma_m=0.02)
    seen = [_seen(world, route, sensor) for route in routes]
    pairs: list[MapPair] = []
    used: set[tuple[int, int]] = set()
    for wanted in overlaps:
        share = {
            (i, j): float((seen[i] & seen[j]).sum() / min(seen[i].sum(), seen[j].sum()))
            for i in range(tours)
            for j in range(i)
            if (i, j) not in used
        }
        i, j = min(share, key=lambda key: (abs(share[key] - wanted), key))
        used.add((i, j))
        frames = [
            Pose(float(routes[k][0, 0]), float(routes[k][0, 1]), random.uniform(-math.pi, math.pi)) for k in (i, j)
        ]
        a, b = (
            map_along(
                world,
                routes[k],
                frame,
                seed=seed,
                name=f"{len(pairs)}/{who}",
                lidar=sensor,
                mapping=mapping,
                noise=noise,
            )
            for k, frame, who in zip((i, j), frames, "ab", strict=True)
        )
        pairs.append(MapPair(a, b, frames[0].inverse() @ frames[1], share[i, j]))
    return pairs


def _alone(world: World, pose: np.ndarray) -> Truth:
    """Return the truth about one robot without a body in the world."""
    still, nobody = np.zeros((1, 3)), np.zeros(1, np.int64)
    no_discs, nothing = np.zeros((1, 1, 3)), (np.empty((0, 3)), (0, 0))
    return Truth(world.skip, world.grid.frame, pose[None], pose[None], still, no_discs, nobody, *nothing, nobody, 0.1)


def _seen(world: World, poses: np.ndarray, lidar: Lidar) -> np.ndarray:
    """Return the places known after perfect scans, bool on a grid of 0.2 m that fits the world."""
    beliefs = Beliefs.covering(world.grid, ["seen"], Mapping(resolution_m=0.2))
    exact = lidar.model_copy(update={"sigma_m": 0.0, "dropout": 0.0})
    for k, pose in enumerate(poses):
        scan = exact.read(_alone(world, pose), np.array([0]), np.zeros(1, np.uint64), k)
        beliefs.update(np.array([0]), pose[None], scan.ranges, scan.angles, scan.mount, scan.range_m, k)
    return ~beliefs[0].unknown.copy()
