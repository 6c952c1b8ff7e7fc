"""Start poses that are free."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from covey.errors import InvalidValueError, PlacementError
from covey.world.starts import LineStart, RoomStart, SpreadStart, TogetherStart
from covey.world.world import OPEN, World, label_by_size

_TOUCH = 1e-9  # [m] how much rounding may make bodies overlap


def place(
    record: Any,
    world: World,
    radii: Any,
    random: np.random.Generator,
    taken: Any = (),
    names: Sequence[str] | None = None,
) -> np.ndarray:
    """Return the start poses of robots, float64 (n, 3): x, y [m], heading [rad] in the world frame.

    Args:
        record: a `covey.world.starts.Start`, or an array (n, 3) of x, y [m], heading [deg].
        world: the truth.
        radii: shape (n,), circumscribed radius of each body [m].
        random: for the kinds that draw.
        taken: shape (k, 3), x, y and radius [m] of bodies that stand already.
        names: of the robots, for errors.

    Raises:
        PlacementError: which robot does not fit where and why, and the nearest free place.
    """
    radii = np.asarray(radii, float)
    taken = np.asarray(taken, float).reshape(-1, 3)
    names = names or [f"robot {i}" for i in range(len(radii))]
    if isinstance(record, LineStart):
        line = record.line
        steps = np.arange(len(radii))[:, None] * np.array(line.step)
        poses = np.column_stack((np.array(line.from_) + steps, np.full(len(radii), line.heading_deg)))
        return _checked(poses, world, radii, taken, names)
    if isinstance(record, TogetherStart):
        flock = record.together
        return _flock(world, radii, taken, names, None, flock.around, flock.gap_m, flock.heading_deg)
    if isinstance(record, RoomStart):
        room = world.largest_room()
        return _flock(world, radii, taken, names, room, None, record.gap_m, record.heading_deg)
    if isinstance(record, SpreadStart):
        return _spread(world, radii, taken, names, record.spread.gap_m, record.spread.heading_deg, random)
    poses = np.asarray(record, float).reshape(-1, 3)
    if len(poses) != len(radii):
        raise PlacementError(
            f"{len(poses)} start poses are given for {len(radii)} robots; give one [x, y, heading_deg] for each"
        )
    return _checked(poses, world, radii, taken, names)


def gap_to_wall(world: World, x: float, y: float, reach_m: float) -> float:
    """Return the distance [m] from a point to the nearest solid square, at most ``reach_m``; 0 inside a solid."""
    grid = world.grid
    x0, y0, c, s, resolution = grid.frame
    u, v = (c * (x - x0) + s * (y - y0)) / resolution, (c * (y - y0) - s * (x - x0)) / resolution
    reach = reach_m / resolution
    rows, columns = grid.shape
    r0, r1 = max(0, math.floor(v - reach)), min(rows, math.floor(v + reach) + 1)
    c0, c1 = max(0, math.floor(u - reach)), min(columns, math.floor(u + reach) + 1)
    if r0 >= r1 or c0 >= c1:
        return reach_m
    r, c = np.nonzero(world.solid[r0:r1, c0:c1])
    du = np.maximum(np.abs(c + c0 + 0.5 - u) - 0.5, 0.0)
    dv = np.maximum(np.abs(r + r0 + 0.5 - v) - 0.5, 0.0)
    return float(min(reach_m, resolution * np.hypot(du, dv).min(initial=math.inf)))


def _checked(poses: np.ndarray, world: World, radii: np.ndarray, taken: np.ndarray, names: Sequence[str]) -> np.ndarray:
    """Return the poses with headings in radians when every body is free there."""
    if not np.all(np.isfinite(poses)):
        raise InvalidValueError("a start pose is not finite; write numbers: [x, y, heading_deg]")
    bodies = np.vstack((taken, np.column_stack((poses[:, :2], radii))))
    for i, (x, y, _) in enumerate(poses):
        k = len(taken) + i
        why = _trouble(world, bodies, k, names, len(taken))
        if why:
            others = np.vstack((bodies[:k], bodies[k + 1 :]))
            hint = _nearest_free(world, x, y, radii[i], others)
            raise PlacementError(f"{names[i]} cannot start at ({x:g}, {y:g}): {why}; {hint}")
    return np.column_stack((poses[:, :2], np.radians(poses[:, 2])))


def _trouble(world: World, bodies: np.ndarray, k: int, names: Sequence[str], first: int) -> str:
    """Return why body ``k`` (x, y, radius) cannot stand among the world and the bodies before it, or an empty text."""
    x, y, radius = bodies[k]
    cell = world.grid.to_cells((x, y))
    if not world.grid.inside(cell) or world.grid.cells[tuple(cell)] == OPEN:
        return "this is outside the world"
    if world.solid[tuple(cell)]:
        return "this is inside a wall or an unknown area"
    gap = gap_to_wall(world, x, y, radius)
    if gap < radius - _TOUCH:
        return f"a wall is {gap:.3g} m away, but the radius of the body is {radius:.3g} m"
    distance = np.hypot(*(bodies[:k, :2] - (x, y)).T)
    overlap = bodies[:k, 2] + radius - distance
    if k and overlap.max() > _TOUCH:
        other = int(np.argmax(overlap))
        name = names[other - first] if other >= first else "a robot of another group"
        return f"it overlaps {name} at ({bodies[other, 0]:g}, {bodies[other, 1]:g}) by {overlap[other]:.3g} m"
    return ""


def _passable(world: World, radius: float) -> np.ndarray:
    return world.free & (world.clearance >= radius * (1 - 1e-6))


def _nearest_free(world: World, x: float, y: float, radius: float, others: np.ndarray) -> str:
    cells = np.argwhere(_passable(world, radius))
    points = world.grid.to_world(cells)
    for ox, oy, other_radius in others:
        points = points[np.hypot(points[:, 0] - ox, points[:, 1] - oy) >= radius + other_radius]
    if not len(points):
        return "there is no free place for it in this world"
    px, py = points[np.argmin(np.hypot(points[:, 0] - x, points[:, 1] - y))]
    return f"the nearest free place is ({px:.2f}, {py:.2f})"


def _flock(
    world: World,
    radii: np.ndarray,
    taken: np.ndarray,
    names: Sequence[str],
    room: np.ndarray | None,
    around: tuple[float, float] | None,
    gap_m: float,
    heading_deg: float,
) -> np.ndarray:
    """Place robots one by one at the first free cell of a flood that starts around a point."""
    if not len(radii):
        return np.empty((0, 3))
    widest = float(radii.max())
    passable = _passable(world, widest)
    inside = passable if room is None else passable & room
    if not inside.any():
        raise PlacementError(
            f"{names[0]} fits nowhere: no free cell keeps {widest:g} m from the walls; use a smaller body or a wider "
            "world"
        )
    cells = np.argwhere(inside)
    if around is None:
        seed = cells[np.argmax(world.clearance[inside])]
    else:
        seed = cells[np.argmin(np.hypot(*(world.grid.to_world(cells) - around).T))]
    left = inside.copy()
    for x, y, radius in taken:
        _fence(world, left, x, y, radius + widest + gap_m)
    placed = np.empty((len(radii), 3))
    placed[:, 2] = math.radians(heading_deg)
    count = 0
    for ring in _flood(inside, (int(seed[0]), int(seed[1]))):
        ring = ring[np.lexsort((ring[:, 1], ring[:, 0], np.hypot(*(ring - seed).T)))]
        while len(ring := ring[left[ring[:, 0], ring[:, 1]]]):
            x, y = placed[count, :2] = world.grid.to_world(ring[0])
            _fence(world, left, x, y, radii[count] + widest + gap_m)
            count += 1
            if count == len(radii):
                return placed
    raise _too_many(names, count, len(radii), gap_m)


def _fence(world: World, left: np.ndarray, x: float, y: float, distance_m: float) -> None:
    """Clear the cells of ``left`` whose centre is nearer than a distance to a point [m]."""
    row, column = world.grid.to_cells((x, y))
    reach = math.ceil(distance_m / world.grid.resolution) + 1
    corner = np.maximum((row - reach, column - reach), 0)
    window = left[corner[0] : max(0, row + reach + 1), corner[1] : max(0, column + reach + 1)]
    centres = world.grid.to_world(np.argwhere(np.ones(window.shape, bool)) + corner)
    near = np.hypot(centres[:, 0] - x, centres[:, 1] - y) < distance_m - _TOUCH
    window &= ~near.reshape(window.shape)


def _flood(passable: np.ndarray, seed: tuple[int, int]) -> Iterator[np.ndarray]:
    """Yield the cells (m, 2) at 0, 1, 2, … steps (over edges and corners) from the seed."""
    rows, columns = passable.shape
    left = passable.copy()
    left[seed] = False
    ring = np.array([seed])
    steps = np.array([(a, b) for a in (-1, 0, 1) for b in (-1, 0, 1) if a or b])
    while len(ring):
        yield ring
        near = (ring[:, None] + steps).reshape(-1, 2)
        near = near[np.all((near >= 0) & (near < (rows, columns)), axis=1)]
        near = near[left[near[:, 0], near[:, 1]]]
        left[near[:, 0], near[:, 1]] = False
        ring = np.stack(np.divmod(np.unique(near[:, 0] * columns + near[:, 1]), columns), axis=-1)


def _spread(
    world: World,
    radii: np.ndarray,
    taken: np.ndarray,
    names: Sequence[str],
    gap_m: float,
    heading_deg: float | None,
    random: np.random.Generator,
) -> np.ndarray:
    """Farthest point sampling over the cells of the largest part of the world that the widest body can pass."""
    if not len(radii):
        return np.empty((0, 3))
    labels, counts = label_by_size(_passable(world, float(radii.max())))
    if not len(counts):
        raise PlacementError(
            f"{names[0]} fits nowhere: no free cell keeps {radii.max():g} m from the walls; use a smaller body or a "
            "wider world"
        )
    points = world.grid.to_world(np.argwhere(labels == 1))
    points = points[random.permutation(len(points))[: max(20_000, 6_000_000 // len(radii))]]
    room = np.full(len(points), math.inf)  # from the nearest body's edge
    for x, y, radius in taken:
        room = np.minimum(room, np.hypot(points[:, 0] - x, points[:, 1] - y) - radius)
    placed = np.empty((len(radii), 3))
    for i, radius in enumerate(radii):
        k = int(np.argmax(room))
        if room[k] < radius + gap_m - _TOUCH:
            raise _too_many(names, i, len(radii), gap_m)
        placed[i, :2] = points[k]
        room = np.minimum(room, np.hypot(points[:, 0] - points[k, 0], points[:, 1] - points[k, 1]) - radius)
    headings = random.uniform(-math.pi, math.pi, len(radii))
    placed[:, 2] = headings if heading_deg is None else math.radians(heading_deg)
    return placed


def _too_many(names: Sequence[str], fit: int, wanted: int, gap_m: float) -> PlacementError:
    return PlacementError(
        f"{names[fit]} does not fit: only {fit} of {wanted} robots have room here with gaps of {gap_m:g} m; use fewer "
        "or smaller robots, a smaller gap_m, or a larger place"
    )
