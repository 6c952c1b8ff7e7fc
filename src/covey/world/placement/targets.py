"""Places of targets: on faces of walls and on the floor, where a robot can see them."""

import math
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np
from pydantic import TypeAdapter, ValidationError

from covey.errors import InvalidValueError
from covey.geometry.faces import OFF_M, SIDES, directions, face_list, on_faces
from covey.geometry.raycast import to_grid
from covey.lazy import spatial
from covey.random import generator
from covey.records import text_of
from covey.world.editing.changing import with_doors_open
from covey.world.records.targets import MAX_TARGETS, DrawnTargets, PlacedTarget, TargetRecord
from covey.world.targets import NO_TARGETS, Targets
from covey.world.visibility.explorable import reachable
from covey.world.visibility.seeable import seeable_from
from covey.world.world import World

SEEN_WITHIN_M, SEEN_WITHIN_RAD = 2.0, math.radians(60)
"""A target can be seen if a robot can stand within this distance, and this angle from its normal, in line of sight."""

_REACH_M = 0.5  # farthest nearest face of a target on a wall
_WITHIN = 0.5 - 1e-6  # farthest from the middle of a face along it [cells], so that it is before this cell's face
_CHUNK = 1024
_RECORDS = tuple[TargetRecord, ...]

Place = tuple[float, float, float, float]
"""x, y [m] and the normal of a target, in the world frame; see `Targets`."""


def lay(targets: Any, world: World, starts: Any, radii: Any, seed: int) -> Targets:
    """Return the targets of a world, see `try_to_lay`.

    Args:
        targets: `Targets`, which are returned as they are, or records or plain data as in a scenario.
        world, starts, radii, seed: see `try_to_lay`.

    Raises:
        InvalidValueError: it names all targets that cannot be where they are declared.
    """
    if isinstance(targets, Targets):
        return targets
    try:
        records = _reader().validate_python(targets)
    except ValidationError as error:
        raise InvalidValueError(text_of(error, _RECORDS, "targets")) from None
    laid, problems = try_to_lay(records, world, starts, radii, seed)
    if problems:
        raise InvalidValueError("; ".join(f"targets[{i}]: {message}" for i, message in problems))
    return laid


@cache
def _reader() -> TypeAdapter[Any]:
    """Return what reads records; making it takes many times as long as reading them."""
    return TypeAdapter(_RECORDS)


def try_to_lay(
    records: Sequence[Any], world: World, starts: Any, radii: Any, seed: int
) -> tuple[Targets, list[tuple[int, str]]]:
    """Return the targets that records declare, and the problems: the index of the record and a message.

    A draw takes its random numbers from the stream ``targets/<kind>/<number of the draw of this kind>``. Neither the
    other records nor the number and sensors of the robots change them; a place that a robot cannot see, or that is too
    near to an earlier target, is passed over.

    Args:
        records: in the order of the targets.
        world: the truth; all its doors count as open.
        starts: shape (n, 2) or (n, 3), x and y [m] of the robots in the world frame.
        radii: shape (n,), circumscribed radius of the bodies [m].
        seed: root of the random numbers.
    """
    if not records:
        return NO_TARGETS, []
    own = [_own(record, i, world, seed) for i, record in enumerate(records)]
    number = [i for i, placed in enumerate(own) for _ in placed]
    records = [record for placed in own for record in placed]
    ground = _Ground(with_doors_open(world), np.atleast_2d(np.asarray(starts, float))[:, :2], np.asarray(radii, float))
    problems: list[tuple[int, str]] = []
    found: list[tuple[PlacedTarget | DrawnTargets, Place]] = []
    drawn: dict[str, int] = {}
    for i, record in enumerate(records):
        try:
            if isinstance(record, DrawnTargets):
                draw = drawn[record.draw] = drawn.get(record.draw, -1) + 1
                random = generator(seed, f"targets/{record.draw}/{draw}")
                found += [(record, place) for place in _drawn(record, ground, random, [p for _, p in found])]
            else:
                found.append((record, _placed(record, ground)))
        except InvalidValueError as error:
            problems.append((i, str(error)))
    identities, clashes = _identities(records)
    problems += clashes
    if len(identities) > MAX_TARGETS:
        problems.append((len(records) - 1, f"{len(identities)} targets; a world has at most {MAX_TARGETS}"))
    if problems:
        return NO_TARGETS, [(number[i], message) for i, message in problems]
    places = np.array([place for _, place in found])
    return Targets(
        tuple(r.draw if isinstance(r, DrawnTargets) else r.kind for r, _ in found),
        np.array(identities, np.int64),
        np.column_stack((places[:, :2], [r.height_m for r, _ in found])),
        places[:, 2:].copy(),
        np.array([r.size_m for r, _ in found]),
    ), []


def _own(record: TargetRecord, i: int, world: World, seed: int) -> Sequence[PlacedTarget | DrawnTargets]:
    """Return what a record stands for: itself, or the targets of a kind from elsewhere."""
    if isinstance(record, PlacedTarget | DrawnTargets):
        return (record,)
    return record.placed(with_doors_open(world), generator(seed, f"targets/{record.registry.kind}/{i}"))


def _identities(records: Sequence[PlacedTarget | DrawnTargets]) -> tuple[list[int], list[tuple[int, str]]]:
    """Return the identity of each target, and the problems."""
    wanted: list[tuple[int, int | None]] = []
    for i, record in enumerate(records):
        first = record.first_identity if isinstance(record, DrawnTargets) else record.identity
        count = record.count if isinstance(record, DrawnTargets) else 1
        wanted += [(i, None if first is None else first + k) for k in range(count)]
    owner: dict[int, int] = {}
    problems: list[tuple[int, str]] = []
    for i, identity in wanted:
        if identity is not None and owner.setdefault(identity, i) != i:
            problems.append((i, f"the identity {identity} is that of targets[{owner[identity]}]; each needs its own"))
    free = (k for k in range(len(wanted) + len(owner)) if k not in owner)
    return [next(free) if identity is None else identity for _, identity in wanted], problems


class _Ground:
    """The cells of a world in which targets are laid, and what the robots can see of it."""

    def __init__(self, world: World, starts: np.ndarray, radii: np.ndarray):
        self.world, self.starts = world, starts
        reached = np.zeros(world.grid.shape, bool)
        for radius in sorted(set(radii.tolist())):
            reached |= reachable(world, starts[radii == radius], radius)
        self._reached = reached
        self._faces: np.ndarray | None = None

    @property
    def faces(self) -> np.ndarray:
        """All faces of walls, see `face_list`."""
        if self._faces is None:
            self._faces = face_list(self.world.free, self.world.solid)
        return self._faces

    def seeable(self, places: np.ndarray) -> np.ndarray:
        """Return which places, (m, 4), a robot can see from somewhere it can stand, bool (m,)."""
        return seeable_from(self.world, self._reached, places, SEEN_WITHIN_M, SEEN_WITHIN_RAD)

    def roomy(self, faces: np.ndarray, size_m: float) -> np.ndarray:
        """Return on which faces a target fits, bool (m,): all of it before free cells, at least half on the wall."""
        world, step = self.world, SIDES[faces[:, 2]]
        most = max(0, math.ceil((size_m / world.grid.resolution - 1) / 2 - 1e-9))
        free, backed = np.ones(len(faces), bool), np.zeros(len(faces), int)
        for k in range(-most, most + 1):
            cells = faces[:, :2] + k * np.abs(step[:, ::-1])
            free &= _at(world.free, cells)
            backed += _at(world.solid, cells + step)
        return free & (2 * backed >= 2 * most + 1)


def _at(mask: np.ndarray, cells: np.ndarray) -> np.ndarray:
    """Return a mask at cells (m, 2); False outside."""
    inside = np.all((cells >= 0) & (cells < mask.shape), axis=1)
    rows, columns = np.where(inside[:, None], cells, 0).T
    return inside & mask[rows, columns]


def _placed(record: PlacedTarget, ground: _Ground) -> Place:
    x, y = record.at
    if record.on == "wall":
        place = _nearest_face(record, ground)
    else:
        cell = ground.world.grid.to_cells(np.array([record.at]))
        if not _at(ground.world.free, cell)[0]:
            raise InvalidValueError(f"{record.kind} at ({x:g}, {y:g}) is {_where(ground.world, cell)}; move it")
        angle = None if record.side_deg is None else math.radians(record.side_deg)
        place = x, y, *((0.0, 0.0) if angle is None else (math.cos(angle), math.sin(angle)))
    if not record.allow_unseeable and not ground.seeable(np.array([place]))[0]:
        raise InvalidValueError(
            f"no robot can see {record.kind} at ({x:g}, {y:g}) from a place that it can reach, within "
            f"{SEEN_WITHIN_M:g} m and {math.degrees(SEEN_WITHIN_RAD):.0f}° from its normal; move it, or set "
            "allow_unseeable: true"
        )
    return place


def _where(world: World, cell: np.ndarray) -> str:
    """Return where a cell (1, 2) is in which no target can be."""
    if world.grid.inside(cell)[0]:
        return "in a wall"
    left, right, bottom, top = world.grid.extent
    return f"outside the world, x {left:g} to {right:g} m, y {bottom:g} to {top:g} m"


def _nearest_face(record: PlacedTarget, ground: _Ground) -> Place:
    """Return the place nearest to that of a record on a face, which looks to its ``side_deg`` within 45°."""
    grid, (x, y) = ground.world.grid, record.at
    row, column = grid.to_cells(np.array(record.at)).tolist()
    v, u = to_grid.py_func(grid.frame, x, y)[::-1]
    reach = math.ceil(_REACH_M / grid.resolution) + 1
    faces = ground.faces
    faces = faces[(np.abs(faces[:, 0] - row) <= reach) & (np.abs(faces[:, 1] - column) <= reach)]
    if record.side_deg is not None:
        side = math.radians(record.side_deg)
        facing = directions(grid, -SIDES[faces[:, 2]]) @ (math.cos(side), math.sin(side))
        faces = faces[facing > math.cos(math.pi / 4) - 1e-9]
    beside = np.where(faces[:, 2] % 2 == 1, u - faces[:, 1] - 0.5, v - faces[:, 0] - 0.5)
    beside = beside.clip(-_WITHIN, _WITHIN)
    places = on_faces(grid, faces, beside)
    away = np.hypot(places[:, 0] - x, places[:, 1] - y)
    if not len(away) or away.min() > _REACH_M:
        which = "" if record.side_deg is None else f" that looks to {record.side_deg:g}°"
        cell = np.array([[row, column]])
        stands = _at(ground.world.free, cell)[0]
        raise InvalidValueError(
            f"{record.kind} at ({x:g}, {y:g}) has no face of a wall{which} within {_REACH_M} m; move it"
            + (", or set on: floor" if stands else f"; it is {_where(ground.world, cell)}")
        )
    nearest, cell = int(away.argmin()), np.array([[row, column]])
    within = _at(ground.world.solid, cell)[0] or not grid.inside(cell)[0]
    if within and record.side_deg is None and away[nearest] > max(0.05, grid.resolution) + OFF_M:
        raise InvalidValueError(
            f"{record.kind} at ({x:g}, {y:g}) is {_where(ground.world, cell)}, {away[nearest]:.2f} m behind the "
            "nearest face of a wall; move it in front, or set side_deg"
        )
    a, b, c, d = places[nearest].tolist()
    return a, b, c, d


def _drawn(record: DrawnTargets, ground: _Ground, random: np.random.Generator, earlier: list[Place]) -> list[Place]:
    """Return the places of drawn targets, in random order."""
    taken, found = [place[:2] for place in earlier], []
    for places in _candidates(record, ground, random):
        keep = np.ones(len(places), bool)
        if record.box_m is not None:
            (x0, y0, x1, y1), (x, y) = record.box_m, places[:, :2].T
            keep &= (x0 <= x) & (x <= x1) & (y0 <= y) & (y <= y1)
        if record.side_deg is not None and record.on == "wall":
            side = math.radians(record.side_deg)
            keep &= places[:, 2:] @ (math.cos(side), math.sin(side)) > math.cos(math.pi / 4) - 1e-9
        if record.away_m > 0:
            keep &= spatial.KDTree(ground.starts).query(places[:, :2])[0] >= record.away_m
        if taken and record.gap_m > 0:
            keep &= spatial.KDTree(taken).query(places[:, :2])[0] >= record.gap_m
        places = places[keep]
        new = len(taken)
        for place in places[ground.seeable(places)].tolist():
            if record.gap_m > 0 and any(math.dist(place[:2], other) < record.gap_m for other in taken[new:]):
                continue
            taken.append(place[:2])
            found.append(tuple(place))
            if len(found) == record.count:
                return found
    where = "faces of walls" if record.on == "wall" else "free places"
    raise InvalidValueError(
        f"only {len(found)} of {record.count} targets of kind {record.draw} have room on {where} that robots can see; "
        "use fewer or smaller ones, a smaller gap_m or away_m, or a larger box_m"
    )


def _candidates(record: DrawnTargets, ground: _Ground, random: np.random.Generator) -> Iterator[np.ndarray]:
    """Yield all places, (m, 4), in chunks and in random order."""
    on_wall = record.on == "wall"
    cells = ground.faces if on_wall else np.argwhere(ground.world.free)
    order = random.permutation(len(cells))
    side = np.zeros(2)
    if record.side_deg is not None:
        side = np.array([math.cos(math.radians(record.side_deg)), math.sin(math.radians(record.side_deg))])
    for first in range(0, len(order), _CHUNK):
        chunk = cells[order[first : first + _CHUNK]]
        if on_wall:
            yield on_faces(ground.world.grid, chunk[ground.roomy(chunk, record.size_m)])
        else:
            yield np.column_stack((ground.world.grid.to_world(chunk), np.tile(side, (len(chunk), 1))))
