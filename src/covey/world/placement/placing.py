"""Start poses that are free."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from covey.errors import InvalidValueError, PlacementError
from covey.world.placement.start_search import BodyLookup, Standing, StartSearch, fits_nowhere, too_many
from covey.world.records.starts import ApartStart, HallwayEndsStart, RoomStart, SpreadStart, StartRecord, TogetherStart
from covey.world.standing import nearest_free, obstacle
from covey.world.world import World


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
        record: a `covey.world.records.starts.Start`, or an array (n, 3) of x, y [m], heading [deg].
        world: the truth.
        radii: shape (n,), circumscribed radius of each body [m].
        random: for the kinds that draw.
        taken: shape (k, 3), x, y and radius [m] of bodies that stand already; for many groups one after the other,
            their `Standing`, to which this adds nothing.
        names: of the robots, for errors.

    Raises:
        PlacementError: which robot does not fit where and why, and the nearest free place.
    """
    radii = np.asarray(radii, float)
    standing = taken if isinstance(taken, Standing) else Standing(world, taken)
    names = names or [f"robot {i}" for i in range(len(radii))]
    filling, key = StartSearch(standing, radii, names), repr(record)
    if isinstance(record, TogetherStart):
        flock, around = record.together, record.together.around
        if around == "random":
            key = None
            x, y = world.grid.to_world(next(filling.anywhere(random))[0]).tolist()
            around = x, y
        return filling.fill(lambda: filling.outwards(None, around), flock.gap_m, flock.heading_deg, key)
    if isinstance(record, RoomStart):
        room = world.largest_room()
        order = filling.outwards if record.order == "outwards" else filling.x_then_y
        return filling.fill(lambda: order(room), record.gap_m, record.heading_deg, key)
    if isinstance(record, HallwayEndsStart):
        return filling.fill(filling.hallway_ends, record.hallway_ends.gap_m, record.hallway_ends.heading_deg, key)
    if isinstance(record, ApartStart):
        poses = filling.fill(lambda: filling.anywhere(random), record.apart.gap_m, 0.0)
        return _turned(poses, record.apart.heading_deg, random)
    if isinstance(record, SpreadStart):
        poses = _spread(standing, radii, names, record.spread.gap_m, random)
        return _turned(poses, record.spread.heading_deg, random)
    if isinstance(record, StartRecord):
        record = record.poses(world, radii, random)
    poses = np.asarray(record, float).reshape(-1, 3)
    if len(poses) != len(radii):
        raise PlacementError(
            f"{len(poses)} start poses are given for {len(radii)} robots; give one [x, y, heading_deg] for each"
        )
    return _checked(poses, standing, radii, names)


def _checked(poses: np.ndarray, standing: Standing, radii: np.ndarray, names: Sequence[str]) -> np.ndarray:
    """Return the poses with headings in radians if every body is free there."""
    if not np.all(np.isfinite(poses)):
        raise InvalidValueError("a start pose is not finite; write numbers: [x, y, heading_deg]")
    check_free(poses[:, :2], standing, radii, names)
    return np.column_stack((poses[:, :2], np.radians(poses[:, 2])))


def check_free(places: np.ndarray, standing: Standing, radii: np.ndarray, names: Sequence[str]) -> None:
    """Check that bodies can stand at their places, among those that stand already and among each other.

    Args:
        places: x, y [m], (n, 2).
        standing: the bodies that stand already; nothing is added.
        radii: of the bodies [m], (n,).
        names: of the robots, for errors.

    Raises:
        PlacementError: which robot cannot stand where and why, and the nearest free place.
    """
    world, first = standing.world, len(standing.taken)
    bodies = np.vstack((standing.taken, np.column_stack((places, radii))))
    before = standing.near(float(radii.max(initial=0.0)))
    own = BodyLookup(float(bodies[:, 2].max(initial=0.0)))
    for k, (x, y, radius) in enumerate(bodies[first:].tolist(), first):
        others = before.indices(x, y) + own.indices(x, y)
        known = [names[i - first] if i >= first else "a robot of another group" for i in others]
        _, why = obstacle(world, x, y, radius, bodies[others], known)
        if why:
            hint = nearest_free(world, x, y, radius, np.delete(bodies, k, axis=0))
            raise PlacementError(f"{names[k - first]} cannot start at ({x:g}, {y:g}): {why}; {hint}")
        own.add(k, x, y)


def _spread(
    standing: Standing, radii: np.ndarray, names: Sequence[str], gap_m: float, random: np.random.Generator
) -> np.ndarray:
    """Sample farthest points over the cells of the largest part of the world that the widest body can pass."""
    if not len(radii):
        return np.empty((0, 3))
    from covey.world.placement.farthest import farthest, ranks  # loads a kernel

    cells = standing.largest(float(radii.max()))
    if not len(cells):
        raise fits_nowhere(names[0], float(radii.max()), standing.world)
    tried = random.permutation(len(cells))[: max(20_000, 6_000_000 // len(radii))]
    if len(tried) < len(cells):
        rank = np.argsort(tried)
        cells = cells[tried[rank]]
        points = standing.centres(cells)
    else:
        rank, points = ranks(tried), standing.centres_of_largest(float(radii.max()))
    room, chosen = standing.room(cells), np.zeros(len(radii), np.int64)
    fit = farthest(points, rank, room, np.ascontiguousarray(radii, float), gap_m, chosen)
    if fit < len(radii):
        raise too_many(names, fit, len(radii), gap_m)
    return np.column_stack((points[chosen], np.zeros(len(radii))))


def _turned(poses: np.ndarray, heading_deg: float | None, random: np.random.Generator) -> np.ndarray:
    """Give all poses a heading, or each a random one."""
    headings = random.uniform(-math.pi, math.pi, len(poses))
    poses[:, 2] = headings if heading_deg is None else math.radians(heading_deg)
    return poses
