"""Local Voronoi decomposition: each robot explores the visible area to which no robot in sight is nearer."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from covey.errors import InvalidValueError
from covey.geometry import Pose
from covey.kernel import kernel
from covey.onboard.controller import controller
from covey.onboard.handle import Robot
from covey.robots.parameters import Reach, Share, TileSide

Tile = tuple[int, int]
EXPLORE, SEARCH, EXPAND = "explore", "search", "expand"

_REPLAN_S = {EXPLORE: 5.0, SEARCH: 4.0, EXPAND: 4.0}
_FOUR = ((0, 1), (1, 0), (0, -1), (-1, 0))
_BOUNDARY_TILES = 2.0
_SAME_TILES = 1.0


@controller("lvd", sees=("pose", "lidar", "neighbours", "collided"), needs=("lidar",), missions=("exploration",))
async def lvd(
    robot: Robot, *, tile_m: TileSide = 1.0, sense_m: Reach = 7.0, mark_m: Reach = 1.0, far_chance: Share = 0.3
) -> None:
    """Explore the part of the visible tiles that is nearer to this robot than to any robot it senses.

    Robots use no radio: they only see each other. A tile is explored once it was visible within ``mark_m``. A robot
    first goes to the farthest unexplored tile in a direction of its own (EXPLORE). If its region has none, it goes to
    the nearest corner that hides something (SEARCH), else to a random tile at the border of its region (EXPAND). It
    chooses again when it gets there, when it touches something, and every few seconds while it senses another robot. It
    remembers nothing else and never ends by itself. Robots that do not see each other repeat work, and areas out of
    sight may stay unexplored. If a robot vanishes, the others no longer see it and take over its region.

    Args:
        robot: a robot with a lidar; without a neighbours sensor it is alone.
        tile_m: side of a tile [m].
        sense_m: how far the robot looks [m]; published: 7.
        mark_m: visible tiles nearer than this become explored [m]; MAES 2.0: 1, its successor: the lidar's range - 1.
        far_chance: probability of choosing a far tile rather than a near one in EXPAND.

    Unlike the source:
        Compared with MAES 2.0, VoronoiExplorationAlgorithm.cs.

        - later versions: all robots share one memory -> corrected: each has its own
        - a new target while touching -> once, when the contact begins, so that the navigator can back off
        - visited places are not recorded, their filter is inverted -> corrected
        - step by step over visible tiles -> by the navigator; an unreachable tile counts as explored

    References:
        J. G. M. Fu, T. Bandyopadhyay, M. H. Ang: Local Voronoi decomposition for multi-agent task allocation. ICRA
        2009, pp. 1935-1940; parameters as in M. Z. Andreasen et al.: MAES, Artificial Life and Robotics 28, 2023.
    """
    if tile_m <= 0 or sense_m < tile_m or mark_m <= 0:
        raise InvalidValueError(
            f"tile_m {tile_m!r}, sense_m {sense_m!r}, mark_m {mark_m!r}: all must be above 0, sense_m at least tile_m"
        )
    explored: set[Tile] = set()
    visited: dict[Tile, float] = {}
    while True:
        view = _look(robot, tile_m, sense_m)
        if view is None:
            await robot.sleep(0.0)
            continue
        order = robot.team.index(robot.name) % 4
        own = np.array(robot.pose[:2]) / tile_m
        region = view.open & nearest_to_me(view, own, _others(robot, sense_m) / tile_m)
        phase, tile = choose(view, region, explored, visited, own, order, robot.random, far_chance)
        if phase == EXPLORE:
            visited.clear()
        robot.note(f"{phase} {tile}")
        goal = ((tile[1] + 0.5) * tile_m, (tile[0] + 0.5) * tile_m)
        watch = _Watch(robot.time + _REPLAN_S[phase], explored, tile_m, mark_m, sense_m)
        outcome = await robot.goto(goal, tolerance_m=0.45 * tile_m, until=watch)
        if phase == SEARCH and outcome.state != "cancelled":
            visited[tile] = robot.time
        if outcome.state != "cancelled":  # reached, or unreachable
            explored.add(tile)


class TileWindow(NamedTuple):
    """The tiles in a square window around a robot.

    Attributes:
        first: row and column of the window's first tile; tile (0, 0) has a corner at the origin.
        open: bool (k, k), tiles whose centre is seen.
        solid: bool (k, k), hidden tiles with a wall seen in them or in front of them.
    """

    first: Tile
    open: np.ndarray
    solid: np.ndarray

    def centres(self) -> np.ndarray:
        """Return the centres of all tiles, float64 (k, k, 2), x and y in tiles."""
        rows, columns = np.indices(self.open.shape)
        return np.stack((columns + self.first[1] + 0.5, rows + self.first[0] + 0.5), axis=-1)


def visible_tiles(pose: Pose, ranges: np.ndarray, angles: np.ndarray, tile_m: float, reach_m: float) -> TileWindow:
    """Return the tiles that a scan shows.

    Args:
        pose: x, y [m], heading [rad] of the sensor.
        ranges: shape (rays,) [m]; inf where nothing was hit, NaN where nothing was measured.
        angles: shape (rays,) [rad], ascending.
        tile_m: side of a tile [m].
        reach_m: tiles whose centres are farther away are not seen [m].
    """
    first, seen = seen_tiles(pose, ranges, angles, tile_m, reach_m)
    hit = np.isfinite(ranges)
    to = angles[hit] + pose[2]
    near = []
    for axis, length in ((1, ranges[hit] * np.sin(to)), (0, ranges[hit] * np.cos(to))):
        centres = (np.arange(len(seen)) + first[1 - axis] + 0.5) * tile_m
        near.append(np.abs(centres[:, None] - (pose[axis] + length)) <= 0.75 * tile_m)
    return TileWindow(first, seen, ~seen & (near[0] @ near[1].T))


def seen_tiles(
    pose: Pose, ranges: np.ndarray, angles: np.ndarray, tile_m: float, reach_m: float
) -> tuple[Tile, np.ndarray]:
    """Return the first tile of the window and the tiles whose centre is seen, as in `visible_tiles`."""
    k = math.ceil(reach_m / tile_m)
    x, y, heading = pose
    first = math.floor(y / tile_m) - k, math.floor(x / tile_m) - k
    return first, _seen(x, y, heading, ranges, angles, tile_m, reach_m, first[0], first[1], k)


@kernel
def _seen(x, y, heading, ranges, angles, tile_m, reach_m, row, column, k):
    """Return `seen_tiles` for the tiles up to k from the middle one; ``row`` and ``column`` are those of the first."""
    opening = angles[-1] - angles[0]
    spacing = opening / max(len(angles) - 1, 1)
    around = opening + 1.5 * spacing >= 2 * math.pi
    seen = np.zeros((2 * k + 1, 2 * k + 1), np.bool_)
    for i in range(2 * k + 1):
        dy = (i + row + 0.5) * tile_m - y
        for j in range(2 * k + 1):
            dx = (j + column + 0.5) * tile_m - x
            distance = math.hypot(dx, dy)
            if distance > reach_m:
                continue
            bearing = math.atan2(dy, dx) - heading - angles[0]
            ray = int(np.rint((bearing + 0.5 * spacing) % (2 * math.pi) / max(spacing, 1e-9) - 0.5))
            free = ranges[min(ray, len(angles) - 1)]
            seen[i, j] = (ray < len(angles) or around) and distance <= free
    seen[k, k] = True
    return seen


def nearest_to_me(view: TileWindow, own: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return the tiles of the window, bool (k, k), nearer to ``own`` (2,) than to each of ``others`` (n, 2), in tiles.

    A tile at equal distance belongs to this robot.
    """
    centres = view.centres()
    mine = np.hypot(*(centres - own).transpose(2, 0, 1))
    theirs = np.hypot(*(centres[:, :, None] - others).transpose(3, 0, 1, 2))
    return mine <= theirs.min(axis=-1, initial=math.inf)


def choose(
    view: TileWindow,
    region: np.ndarray,
    explored: set[Tile],
    visited: dict[Tile, float],
    own: np.ndarray,
    order: int,
    random: np.random.Generator,
    far_chance: float,
) -> tuple[str, Tile]:
    """Return the phase and the tile to go to (row and column in the plane).

    Args:
        view: the tiles in sight.
        region: bool (k, k), the open tiles of the window that belong to this robot.
        explored: the tiles that it has explored.
        visited: hidden corners that it has visited since it last explored, and when [s].
        own: its position, x and y in tiles.
        order: 0 north then east, 1 east then south, 2 south then west, 3 west then north.
        random: generator for EXPAND.
        far_chance: see `lvd`.
    """
    first = np.array(view.first)
    tiles = np.argwhere(region) + first
    left = [t for t in map(tuple, tiles.tolist()) if t not in explored]
    if left:
        keys = {0: lambda t: t, 1: lambda t: (t[1], -t[0]), 2: lambda t: (-t[0], -t[1]), 3: lambda t: (-t[1], t[0])}
        return EXPLORE, max(left, key=keys[order])
    corners = hidden_corners(view, region, own)
    fresh = [c for c in corners if all(math.dist(c, v) > _SAME_TILES for v in visited)]
    if fresh:
        return SEARCH, fresh[0]
    again = [v for v in visited if any(math.dist(c, v) <= _SAME_TILES for c in corners)]
    if len(again) > 1:
        return SEARCH, min(again, key=lambda v: (visited[v], v))
    rim = np.argwhere(region & ~_all_around(region)) + first
    if not len(rim):
        return EXPAND, (math.floor(own[1]), math.floor(own[0]))
    away = np.hypot(rim[:, 1] + 0.5 - own[0], rim[:, 0] + 0.5 - own[1])
    best = away.max() if random.random() < far_chance else away.min()
    pool = rim[np.abs(away - best) <= _BOUNDARY_TILES].tolist()
    apart = [t for t in pool if all(math.dist(t, v) > _SAME_TILES for v in visited)]
    row, column = (apart or pool)[int(random.integers(len(apart or pool)))]
    return EXPAND, (row, column)


def hidden_corners(view: TileWindow, region: np.ndarray, own: np.ndarray) -> list[Tile]:
    """Return the nearest tile of each group of tiles beyond which a corner hides something, nearest first.

    Such a tile has a neighbour that is neither seen nor a wall. It lies more than two tiles nearer than the farthest
    tile of that kind, which is hidden only by the range of the sensor.
    """
    edge = view.open & ~_all_around(view.open | view.solid)
    away = np.hypot(*(view.centres() - own).transpose(2, 0, 1))
    if not edge.any():
        return []
    near = edge & region & (away < away[edge].max() - _BOUNDARY_TILES)
    left = set(map(tuple, np.argwhere(near).tolist()))
    found = []
    while left:
        group = [min(left)]
        left.remove(group[0])
        for row, column in group:
            for step in _FOUR:
                beside = row + step[0], column + step[1]
                if beside in left:
                    left.remove(beside)
                    group.append(beside)
        row, column = min(group, key=lambda t: (away[t], t))
        found.append((float(away[row, column]), (row + view.first[0], column + view.first[1])))
    return [tile for _, tile in sorted(found)]


def _all_around(mask: np.ndarray) -> np.ndarray:
    """Return whether all four neighbours are in the mask; tiles outside the window are not."""
    p = np.pad(mask, 1)
    return p[1:-1, 2:] & p[1:-1, :-2] & p[2:, 1:-1] & p[:-2, 1:-1]


def _others(robot: Robot, sense_m: float) -> np.ndarray:
    """Return the positions of the robots in sight [m], float64 (n, 2)."""
    reading = getattr(robot, "neighbours", None)
    if reading is None:
        return np.empty((0, 2))
    near = reading.ranges <= sense_m
    to = reading.bearings[near] + robot.pose[2]
    return robot.pose[:2] + reading.ranges[near, None] * np.stack((np.cos(to), np.sin(to)), axis=-1)


def _look(robot: Robot, tile_m: float, reach_m: float, tiles: Callable[..., Any] = visible_tiles) -> Any:
    """Return `visible_tiles` or `seen_tiles` of the newest scan; None if there is none."""
    lidar = getattr(robot, "lidar", None)
    if lidar is None:
        return None
    sensor = robot.pose @ Pose(*lidar.mount.tolist())
    return tiles(sensor, lidar.ranges, lidar.angles, tile_m, min(reach_m, lidar.range_m))


class _Watch:
    """Marks explored tiles on the way; true when it is time to plan again."""

    def __init__(self, deadline_s: float, explored: set[Tile], tile_m: float, mark_m: float, sense_m: float):
        self.deadline_s, self.explored, self.sense_m = deadline_s, explored, sense_m
        self.tile_m, self.mark_m = tile_m, mark_m
        self._touched = True  # contacts at the time of the choice do not count

    def __call__(self, robot: Robot) -> bool:
        found = _look(robot, self.tile_m, self.mark_m, seen_tiles)
        if found is not None:
            (row, column), seen = found
            self.explored.update((row + i, column + k) for i, k in np.argwhere(seen).tolist())
        touches = robot.collided and not self._touched
        self._touched = robot.collided
        if touches or robot.time < self.deadline_s - 1e-9:
            return touches
        return len(_others(robot, self.sense_m)) > 0
