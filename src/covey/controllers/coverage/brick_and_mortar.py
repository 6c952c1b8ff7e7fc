"""Brick & Mortar: robots thicken the walls with tags until no floor is left, without radio or map."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from covey.controllers.coverage.tiles import EAST, NORTH, SOUTH, STEPS, WEST, Tile, beside, tile_of
from covey.errors import InvalidValueError
from covey.onboard.controller import controller
from covey.onboard.handle import Robot
from covey.planning.progress import ProgressTimer
from covey.robots.parameters import Seconds, TileSide

_RING: tuple[Tile, ...] = ((0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1))
_ORDER = (EAST, SOUTH, WEST, NORTH)
_STALL_S, _BLOCKED_S, _WRITE_S, _WAIT_S = 4.0, 20.0, 0.2, 3.0
_LONGEST = 1000
_PATIENCE = 10
_TRIES = 4
"""A cell that could not be entered this many times is a wall."""


@controller(
    "brick_and_mortar",
    sees=("pose", "lidar", "neighbours", "tags", "shared_frame"),
    needs=("lidar",),
    missions=("coverage", "exploration"),
)
async def brick_and_mortar(robot: Robot, *, cell_m: TileSide = 0.5, claim_s: Seconds = 300.0) -> None:
    """Mark a cell as visited if that cuts no open cells off, so that it counts as a wall; then go on to the next cell.

    In each cell the robot leaves a tag: "visited" if the open cells beside it stay connected around it, else
    "explored". It goes on to the neighbouring unexplored cell with the most walls around it, or else to an explored
    one, and goes back only if it must. When it meets its own trail it has walked a loop, and the rule above can close
    no cell of a loop. It walks the loop again to claim it; of two claims, that of the robot later in the team wins.
    Then it marks as visited the first cell of the loop that leads nowhere else. It ends where no neighbouring cell is
    open. The cells lie in the robots' dead reckoning. Claims expire, so a robot that vanishes blocks nobody. Where
    walls cut through cells, some cells may stay uncovered.

    Args:
        robot: a robot with an all-round lidar that reads tags in all eight neighbouring cells.
        cell_m: side of a cell [m], narrower than the doors.
        claim_s: time for which a claim to a loop holds [s]; published: until its robot has walked it once more.

    Unlike the source:
        Compared with MAES, BrickAndMortar.cs; of the paper only the abstract was at hand.

        - tags on tiles; neighbours by bearing and distance -> squares of a common grid; a cell that could not be
          entered four times is a wall
        - two robots mark cells beside each other -> only the later one in the team marks, because both could cut
          something off
        - a loop begins at a cell that the robot left before -> not while an unexplored cell is beside it
        - while claiming, it takes the best neighbouring cell -> it follows its own trail, so it claims no cell outside
          the loop
        - closing: up to a cell with an open neighbour outside -> up to the first such cell of the whole loop, also
          beyond crossings
        - claims are taken back on another round -> they expire after ``claim_s``, so a dead robot blocks nobody
        - every cell of the loop leads elsewhere: nothing said -> a random new order of directions
        - the test of the end can never be true -> corrected: it ends when no open cell is beside, also while others
          work

    References:
        E. Ferranti, N. Trigoni, M. Levene: Brick & Mortar: an on-line multi-agent exploration algorithm. ICRA 2007.
    """
    if not cell_m > 0 or not claim_s > 0:
        raise InvalidValueError(f"cell_m is {cell_m!r}, claim_s {claim_s!r}; both must be above 0")
    mason = _Mason(cell_m, robot.team.index(robot.name))
    mason.cell = await _settle(robot, mason)
    in_vain = 0
    while in_vain < _PATIENCE:
        around = mason.observe(robot)
        mark(robot, mason, around)
        if around.is_trail(mason) and not any(around.unexplored(d) for d in range(4)):
            await _close_loop(robot, mason, claim_s)
            around = mason.observe(robot)
        enter = [o and not t for o, t in zip(around.open, around.taken, strict=True)]
        way = next_way(enter, around.new, around.blocked, mason.came, mason.rank, mason.shuffle)
        if way is None:
            if not mason.avoided and not any(around.open):
                break
            in_vain += 1  # a robot may stand in the way
            mason.avoided.clear()
            await robot.sleep(_WAIT_S)
            continue
        if "visited" not in around.states[mason.cell]:
            robot.leave_tag(("exit", *mason.cell, way))
        in_vain = 0 if await _go(robot, mason, way) else in_vain + 1
    await robot.sleep(_WRITE_S)  # until the last tag is written


def blocks(open_: Sequence[bool], links: Sequence[bool]) -> bool:
    """Return whether a cell would cut its open neighbours off from each other if it were a wall.

    Args:
        open_: whether each of the eight cells around, east, north-east, …, south-east, is neither wall nor visited.
        links: whether a robot can go from each of them to the next.

    Examples:
        >>> everywhere = [True] * 8
        >>> blocks(everywhere, everywhere)
        False
        >>> corridor = [True, False, False, False, True, False, False, False]  # east and west
        >>> blocks(corridor, [False] * 8)
        True
    """
    sides = [i for i in range(0, 8, 2) if open_[i]]
    if len(sides) < 2:
        return False
    reached = {sides[0]}
    for step in (1, -1):
        i = sides[0]
        for _ in range(8):
            link, i = i if step == 1 else (i - 1) % 8, (i + step) % 8
            if not (links[link] and open_[i]):
                break
            reached.add(i)
    return not reached.issuperset(sides)


def next_way(
    open_: Sequence[bool],
    new: Sequence[bool],
    blocked: Sequence[int],
    came: int | None,
    rank: int,
    shuffle: Sequence[int] = (),
) -> int | None:
    """Return the direction to go on in, or None if no neighbouring cell is open.

    The direction with the best score wins: 10 for an unexplored cell, 1 for each blocked cell at its flanks, -100 for
    going back. Ties go to the first of east, south, west, north, in an order that each robot begins elsewhere.

    Args:
        open_: whether the cells east, north, west and south are open.
        new: whether they are unexplored.
        blocked: how many of the two diagonal cells at the flanks of each are walls or visited.
        came: the direction that leads back; None at the start.
        rank: the robot's index in the team.
        shuffle: an order of directions to use instead.

    Examples:
        >>> next_way([True, True, False, True], [False, True, False, True], [0, 1, 0, 0], None, 0) == NORTH
        True
    """
    turn = rank % 4
    order = tuple(shuffle) or _ORDER[turn:] + _ORDER[:turn]
    best, best_score = None, -math.inf
    for way in order:
        if open_[way]:
            score = 10 * new[way] + blocked[way] - 100 * (way == came)
            if score > best_score:
                best, best_score = way, score
    return best


@dataclass
class _Mason:
    """State of one robot: its cell, how it came there, and what stopped it recently."""

    cell_m: float
    rank: int
    cell: Tile = (0, 0)
    came: int | None = None
    shuffle: Sequence[int] = ()
    avoided: dict[Tile, float] = field(default_factory=dict)
    failures: dict[Tile, int] = field(default_factory=dict)

    def centre(self, cell: Tile) -> tuple[float, float]:
        return (cell[1] + 0.5) * self.cell_m, (cell[0] + 0.5) * self.cell_m

    def observe(self, robot: Robot) -> "_Around":
        """Return what the robot sees, and the tags that it reads, around its cell."""
        self.avoided = {c: t for c, t in self.avoided.items() if robot.time < t}
        hits, reach = _walls(robot)
        x, y = robot.pose[:2]
        ring = [(self.cell[0] + i, self.cell[1] + j) for i, j in _RING]
        centres = np.array([self.centre(c) for c in ring])
        between = 0.5 * (centres + np.roll(centres, -1, axis=0))
        room = robot.model.outer_radius_m + 0.03
        clear = [_is_clear(p, (x, y), hits, reach, room) for p in centres]
        clear = [c and self.failures.get(cell, 0) < _TRIES for c, cell in zip(clear, ring, strict=True)]
        link = [_is_clear(p, (x, y), hits, reach, room) for p in between]
        tags = [t for t in robot.tags if isinstance(t.content, tuple) and len(t.content) >= 3]
        states: dict[Tile, set[str]] = {}
        for t in tags:
            states.setdefault((t.content[1], t.content[2]), set()).add(t.content[0])
        trail = [t for t in tags if t.content[0] == "exit" and t.owner == robot.name and t.content[1:3] == self.cell]
        exit_ = min(trail, key=lambda t: t.age_s).content[3] if trail else None
        claims = {
            (t.content[1], t.content[2]): t.owner for t in tags if t.content[0] == "claim" and t.owner != robot.name
        }
        near = getattr(robot, "neighbours", None)
        ranks = [] if near is None else near.identities[near.ranges < 2.2 * self.cell_m].tolist()
        others = _others(robot)
        taken = [bool((np.hypot(*(others - p).T) < 0.7 * self.cell_m).any()) for p in centres[::2]]
        taken = [t or cell in self.avoided for t, cell in zip(taken, ring[::2], strict=True)]
        return _Around(ring, clear, link, states, exit_, claims, any(r > self.rank for r in ranks), taken)


@dataclass
class _Around:
    """The surroundings of a cell: the ring of cells, which are clear, the links between them, and their tags."""

    ring: list[Tile]
    clear: list[bool]
    link: list[bool]
    states: dict[Tile, set[str]]
    exit: int | None
    claims: dict[Tile, str]
    yields: bool
    """Whether a robot later in the team is beside this one: two that mark at once might together cut something off."""
    taken: list[bool]
    """Whether the cell to the east, north, west and south holds another robot, or could not be entered just now."""

    @property
    def ring_open(self) -> list[bool]:
        pairs = zip(self.clear, self.ring, strict=True)
        return [clear and "visited" not in self.states.get(c, ()) for clear, c in pairs]

    @property
    def open(self) -> list[bool]:
        return self.ring_open[::2]

    @property
    def new(self) -> list[bool]:
        return [self.unexplored(d) for d in range(4)]

    @property
    def blocked(self) -> list[int]:
        ring = self.ring_open
        return [2 - ring[(2 * d + 1) % 8] - ring[2 * d - 1] for d in range(4)]

    def unexplored(self, way: int) -> bool:
        return self.open[way] and not self.states.get(self.ring[2 * way])

    def is_trail(self, mason: _Mason) -> bool:
        """Return whether the robot has come back to its own trail from a different side than it left."""
        here = self.states.get(mason.cell, set())
        return self.exit is not None and mason.came is not None and self.exit != mason.came and "visited" not in here


def mark(robot: Robot, mason: _Mason, around: _Around) -> None:
    """Leave a tag in the cell, unless the same tag is there already."""
    here = around.states.setdefault(mason.cell, set())
    if "visited" in here:
        return
    yields = around.yields and sum(around.open) > 1
    if not yields and not blocks(around.ring_open, around.link):
        robot.leave_tag(("visited", *mason.cell))
        here.add("visited")
    elif "explored" not in here:
        robot.leave_tag(("explored", *mason.cell))
        here.add("explored")


async def _settle(robot: Robot, mason: _Mason) -> Tile:
    """Go to the centre of the nearest cell that the robot can stand in."""
    mason.cell = tile_of(*robot.pose[:2], mason.cell_m)
    cells = [mason.cell, *((mason.cell[0] + i, mason.cell[1] + j) for i, j in _RING)]
    for cell in sorted(cells, key=lambda c: math.dist(mason.centre(c), robot.pose[:2])):
        if await _drive(robot, mason, cell):
            return cell
    return mason.cell


async def _go(robot: Robot, mason: _Mason, way: int) -> bool:
    """Go to the cell in a direction; return whether it was reached. A cell that was not is avoided for some time."""
    cell = beside(mason.cell, way)
    robot.note(f"to cell {cell}")
    if await _drive(robot, mason, cell):
        mason.cell, mason.came = cell, (way + 2) % 4
        await robot.sleep(_WRITE_S)  # tags left by others arrive in the next step
        return True
    mason.avoided[cell] = robot.time + _BLOCKED_S
    mason.failures[cell] = mason.failures.get(cell, 0) + 1
    await _drive(robot, mason, mason.cell)
    return False


async def _drive(robot: Robot, mason: _Mason, cell: Tile) -> bool:
    progress = ProgressTimer(0.2 * mason.cell_m, _STALL_S)
    progress.restart(robot.time, *robot.pose[:2])
    outcome = await robot.goto(
        mason.centre(cell),
        tolerance_m=0.2 * mason.cell_m,
        until=lambda r: progress.expired(r.time, *r.pose[:2]),
    )
    return bool(outcome)


async def _close_loop(robot: Robot, mason: _Mason, claim_s: float) -> None:
    """Walk the loop to claim it, then again to close it at the first cell that leads nowhere else."""
    start, loop = mason.cell, {mason.cell}
    for closing in (False, True):
        for _ in range(_LONGEST):
            around = mason.observe(robot)
            owner = around.claims.get(mason.cell)
            if around.exit is None or not around.open[around.exit]:
                return
            if owner is not None and robot.team.index(owner) > mason.rank:
                return
            if not closing:
                robot.leave_tag(("claim", *mason.cell), lifetime_s=claim_s)
                loop.add(mason.cell)
            elif closes(around.open, around.ring[::2], loop):
                robot.leave_tag(("visited", *mason.cell))
                await robot.sleep(_WRITE_S)
                mason.shuffle = ()
                return
            if not await _go(robot, mason, around.exit):
                return
            if mason.cell == start:
                break
    mason.shuffle = tuple(int(i) for i in robot.random.permutation(len(STEPS)))  # every cell of it leads elsewhere


def closes(open_: Sequence[bool], cells: Sequence[Tile], loop: Iterable[Tile]) -> bool:
    """Return whether a cell of a loop can be closed: all open ``cells`` of the four beside it belong to the loop."""
    own = set(loop)
    return all(cell in own for cell, is_open in zip(cells, open_, strict=True) if is_open)


def _walls(robot: Robot) -> tuple[np.ndarray, np.ndarray]:
    """Return the points of walls in sight [m], float64 (k, 2), without other robots; and the fan of rays, (rays, 2)."""
    lidar = getattr(robot, "lidar", None)
    if lidar is None:
        return np.empty((0, 2)), np.empty((0, 2))
    heading = robot.pose[2] + lidar.mount[2]
    to = lidar.angles + heading
    ranges = np.where(np.isnan(lidar.ranges), 0.0, lidar.ranges)
    points = np.array(robot.pose[:2]) + ranges[:, None].clip(0, 1e6) * np.stack((np.cos(to), np.sin(to)), axis=-1)
    wall = np.isfinite(lidar.ranges)
    others = _others(robot)
    if len(others):
        body = robot.model.outer_radius_m + 0.1
        robots = (np.hypot(*(points[:, None] - others).transpose(2, 0, 1)) < body).any(axis=1)
        wall &= ~robots
        ranges = np.where(robots, np.inf, ranges)
    return points[wall], np.stack((to, ranges), axis=-1)


def _others(robot: Robot) -> np.ndarray:
    """Return the positions of the robots in sight [m], float64 (n, 2)."""
    near = getattr(robot, "neighbours", None)
    if near is None:
        return np.empty((0, 2))
    to = near.bearings + robot.pose[2]
    return np.array(robot.pose[:2]) + near.ranges[:, None] * np.stack((np.cos(to), np.sin(to)), axis=-1)


def _is_clear(point: np.ndarray, own: tuple[float, float], hits: np.ndarray, reach: np.ndarray, room: float) -> bool:
    """Return whether a body of radius ``room`` fits at a point [m] that is seen from ``own``."""
    if len(hits) and float(np.hypot(*(hits - point).T).min()) < room:
        return False
    if not len(reach):
        return False
    away = np.array(point) - own
    turn = np.abs((reach[:, 0] - math.atan2(away[1], away[0]) + math.pi) % (2 * math.pi) - math.pi)
    k = int(np.argmin(turn))
    return bool(turn[k] < 0.2 and reach[k, 1] >= math.hypot(*away))
