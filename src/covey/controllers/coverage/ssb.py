"""Selective spiraling and backtracking: cover the floor in spirals, and auction the places to come back to."""

import math
from collections.abc import Callable
from collections.abc import Set as AbstractSet
from functools import lru_cache

import numpy as np

from covey.controllers.coverage import ssb_plan
from covey.controllers.coverage.tiles import OPEN, SOLID, Tile, Tiles, beside, coarse, tile_of
from covey.errors import InvalidValueError
from covey.geometry import wrap_angle
from covey.onboard.controller import controller
from covey.onboard.handle import Robot
from covey.planning.astar import astar
from covey.planning.costs import clearance
from covey.planning.progress import ProgressTimer
from covey.planning.shorten import shorten
from covey.robots.parameters import Draws, TileSide

_KIND = "ssb"
_TELL_S, _FORGET_S = 1.0, 10.0
_STAGE_S, _WAIT_S = 0.3, 2.0
_LOOK_S = 0.5
_NEAR, _OFF = 0.35, 0.1
_AT_M = 0.03
_LOOKED_AT = 5
_SIDE = 0.9
_PATIENCE = 3
_GAP_M = 0.05
_PAUSE_S, _STALL_S = 1.5, 4.0
_DETOUR = 4.0
_AIM = math.radians(1.5)
_AHEAD = 40


@controller("ssb", sees=("pose", "map", "shared_map", "radio", "shared_frame"), needs=("map",))
async def ssb(robot: Robot, *, tile_m: TileSide | None = None, reserve: Draws = 5) -> None:
    """Drive over every tile: in spirals along what is solid or covered, then on to the next place left behind.

    A spiral keeps the blocked side beside it and turns inwards; tiles that it leaves open beside itself become
    backtracking points. A robot whose spiral has ended calls an auction: all tell their points, then bid the tiles
    left in their own spiral + the way to each point, and each gets at most one. Tiles are reserved before they
    are driven onto (of two robots the later in the team has it). Covered tiles, reservations, points and bids go
    over the radio, maps through map sharing; nothing else is common. Robots that are out of reach or vanish are
    forgotten after 10 s with their reservations, and what they left is covered by the others. A robot that wins no
    point goes to the nearest uncovered tile that it knows. It ends when it knows none any more.

    Args:
        robot: a robot with a map.
        tile_m: side of a tile [m]; None: nine tenths of the width of its body, so that lanes overlap a bit.
        reserve: how many tiles ahead are reserved; published: 5.

    References:
        A. Gautam, A. Richhariya, V. S. Shekhawat, S. Mohan: Experimental evaluation of multi-robot online terrain
        coverage approach. ROBIO 2018, pp. 1183-1189; the spirals: E. González et al.: BSA: a complete coverage
        algorithm. ICRA 2005.
    """
    assert robot.map is not None
    side_m = _SIDE * 2.0 * robot.model.outer_radius_m if tile_m is None else tile_m
    if side_m < robot.map.grid.resolution or reserve < 1:
        raise InvalidValueError(
            f"tile_m {side_m:g}, reserve {reserve!r}: tile_m must be at least a cell of the map, "
            f"{robot.map.grid.resolution:g} m, reserve at least 1"
        )
    share = _Share(robot, side_m)
    in_vain, count = 0, -1
    while in_vain < _PATIENCE:
        target = await share.next_target(robot)
        if target is None:
            before, count = count, len(share.covered)
            in_vain = 0 if count > before else in_vain + 1
            share.try_again()
            await robot.sleep(_WAIT_S, until=share.step)
        elif await share.travel(robot, target):
            await _spiral(robot, share, reserve)
    share.mine.clear()
    share.tell(robot)


async def _spiral(robot: Robot, share: "_Share", reserve: int) -> None:
    """Spiral from where the robot is until all ways on are blocked."""
    share.busy = True
    direction, side = ssb_plan.align(share.here, share.free)
    while True:
        share.look(robot)
        way = ssb_plan.next_direction(share.here, direction, side, share.free)
        share.direction, share.side = (direction if way is None else way), side
        share.note_points(share.here)
        if way is None:
            break
        direction = way
        if not await share.along(robot, reserve):
            break
    share.busy = False


class _Share:
    """What one robot knows of the common task, and its part of the talking.

    Attributes:
        here: the tile that it was on last.
        covered: tiles that it or another said to be covered.
        points: its backtracking points.
        mine: tiles that it has reserved.
        target: what an auction gave it.
        busy: whether it is in a spiral.
        refused: tiles that it could not get to.
    """

    def __init__(self, robot: Robot, tile_m: float):
        self._reach_m = robot.model.outer_radius_m
        self.tile_m, self.rank = tile_m, robot.team.index(robot.name)
        self.covered: set[Tile] = set()
        self.points: set[Tile] = set()
        self.refused: set[Tile] = set()
        self._in_vain: dict[Tile, int] = {}
        self.target: Tile | None = None
        self.busy, self.direction, self.side = False, 0, ssb_plan.RIGHT
        self.here = tile_of(*robot.pose[:2], tile_m)
        self.mine = {self.here}
        self._before = (float(robot.pose[0]), float(robot.pose[1]))
        self._held: dict[str, tuple[AbstractSet[Tile], float]] = {}
        self._reserved: set[Tile] = set()
        self._untold: set[Tile] = set()
        self._tell_s = 0.0
        self._pool: set[Tile] = set()
        self._bids: dict[str, dict[Tile, int]] = {}
        self._caller: str | None = None
        self._bid_s = math.inf
        self._run: list[Tile] | None = None
        self._speed = 0.0
        self._seen, self._look_s = -1, -math.inf
        self._tiles: Tiles | None = None
        self._news = True
        self.look(robot)

    @property
    def company(self) -> bool:
        """Whether another robot was heard of lately."""
        return bool(self._held)

    # What is where

    def look(self, robot: Robot) -> None:
        """Bring the tiles up to date with the map."""
        belief = robot.map
        if belief is None or belief.version == self._seen or robot.time < self._look_s:
            return
        self._seen, self._look_s = belief.version, robot.time + _LOOK_S
        room = robot.model.outer_radius_m + _GAP_M
        wide = clearance(belief.occupancy(), belief.grid.resolution, 2.0 * room) >= room
        self._news = True
        self._room = wide & robot.reachable()
        self._tiles = coarse(belief.grid, self._room, self.tile_m, self._reach_m)

    @property
    def tiles(self) -> Tiles:
        """The tiles of its map."""
        assert self._tiles is not None
        return self._tiles

    def done(self, tile: Tile) -> bool:
        """Return whether a tile is solid or covered."""
        return tile in self.covered or self.tiles.at(tile) == SOLID

    def free(self, tile: Tile) -> bool:
        """Return whether a tile may be driven onto."""
        return self.tiles.at(tile) == OPEN and not (
            tile in self.covered or tile in self.refused or self._is_reserved(tile)
        )

    def _is_reserved(self, tile: Tile) -> bool:
        return tile in self._reserved

    # Driving

    def straight_on(self) -> list[Tile]:
        """Return the tiles up to which its spiral goes straight on from where it is, as far as it can see."""
        run = ssb_plan.straight_run(self.here, self.direction, self.side, self.free, _AHEAD)
        across = 1 - self.direction % 2  # y for a run to the east or west
        lane = [self.tiles.place(t)[across] for t in run]
        beyond = (i for i, v in enumerate(lane) if abs(v - lane[0]) > _OFF * self.tile_m)
        return run[: next(beyond, len(run))]

    async def along(self, robot: Robot, reserve: int) -> bool:
        """Drive straight on in a spiral, reserving tiles on the way; return whether the spiral can go on.

        It ends at the last tile of the run, or where the run has changed: others took tiles of it, or more was seen.
        """
        run = self.straight_on()
        last, place = run[-1], self.tiles.place(run[-1])
        self._reserve(robot, run, reserve)
        robot.note(f"spiral to {last}")
        here = self.here

        def changed(r: Robot) -> bool:
            nonlocal here
            self.look(r)
            if self.here != here:
                here, self._news = self.here, True
                self.note_points(here)
            if self._news and self.here != last:
                self._news = False
                ahead = self.straight_on()
                if not ahead or ahead[-1] != last:
                    return True
                self._reserve(r, ahead, reserve)
            return False

        self._news, self._run = False, run
        outcome = await self._straight(robot, place, changed)
        self._run = None
        if outcome == "arrived":
            self._cover(last)
            self.here = last
        elif outcome == "stalled":
            self._refuse(last if self.here == last else beside(self.here, self.direction))
        return outcome != "stalled"

    async def _straight(self, robot: Robot, place: tuple[float, float], until: Callable[[Robot], bool]) -> str:
        """Turn to a place and drive straight there; return "arrived", "changed" (``until`` came true) or "stalled"."""
        while True:
            if _is_off(robot, place, self._speed):
                x, y = _rest(robot, self._speed)
                angle = wrap_angle(math.atan2(place[1] - y, place[0] - x) - robot.pose[2])
                await robot.turn(angle, until=lambda r: self.step(r) or _is_aimed(r, place))
            progress = ProgressTimer(0.5 * self.tile_m, _PAUSE_S)
            progress.restart(robot.time, *robot.pose[:2])
            why = "stalled"

            def over(r: Robot, progress: ProgressTimer = progress) -> bool:
                nonlocal why
                self.step(r)
                if math.dist(place, _rest(r, r.twist[0])) < _AT_M:
                    why = "arrived"
                elif until(r):
                    why = "changed"
                elif not progress.expired(r.time, *r.pose[:2]):
                    why = "off"
                    return _is_off(r, place, 0.0) and r.twist[0] > 0.0
                else:
                    why = "stalled"
                return True

            outcome = await robot.forward(math.dist(place, robot.pose[:2]), until=over)
            if outcome or why != "off":
                return "arrived" if outcome else why

    def _reserve(self, robot: Robot, run: list[Tile], reserve: int) -> None:
        """Reserve the next tiles of a run, unless enough of them are reserved."""
        if any(t not in self.mine for t in run[: (reserve + 1) // 2]):
            self.mine = {self.here, *run[:reserve]}
            self.tell(robot)

    def note_points(self, tile: Tile) -> None:
        """Note the backtracking points beside a tile of its spiral."""
        self.points |= set(ssb_plan.backtracking_points(tile, self.direction, self.done))
        for turn in (self.side, 0, -self.side):
            near = beside(tile, self.direction + turn)
            if not self.done(near) and not self.free(near):
                self.points.add(near)  # blocked only by a reservation

    async def travel(self, robot: Robot, target: Tile) -> bool:
        """Go to the tile where the next spiral starts; return whether it got there."""
        self.mine = {self.here, target}
        self.tell(robot)
        robot.note(f"back to {target}")
        place = self.tiles.place(target)

        def gone(r: Robot) -> bool:
            return (target in self.covered and self.here != target) or target not in self.mine

        why = "stalled"
        for corner in self._way(robot, place):
            why = await self._straight(robot, corner, gone)
            if why != "arrived":
                break
        if why == "stalled":
            why = await self._go_around(robot, place, gone)
        if why == "arrived":
            self._cover(target)
            self.here = target
        elif why == "stalled":
            self._refuse(target)
        return why == "arrived"

    async def _go_around(self, robot: Robot, place: tuple[float, float], until: Callable[[Robot], bool]) -> str:
        """Go to a place around whatever is in the way; the result is that of `_straight`."""
        row, column = robot.map.grid.to_cells(place).tolist()  # type: ignore[union-attr]
        way_s = float(robot.travel_cost()[row, column]) / robot.model.max_speed_m_s
        progress, end_s = ProgressTimer(0.5 * self.tile_m, _STALL_S), robot.time + _STALL_S + _DETOUR * way_s
        progress.restart(robot.time, *robot.pose[:2])
        why = "stalled"

        def over(r: Robot) -> bool:
            nonlocal why
            self.step(r)
            if until(r):
                why = "changed"
            return why == "changed" or r.time > end_s or progress.expired(r.time, *r.pose[:2])

        outcome = await robot.goto(place, tolerance_m=0.2 * self.tile_m, until=over)
        return "arrived" if outcome else why

    def _way(self, robot: Robot, place: tuple[float, float]) -> list[tuple[float, float]]:
        """Return the corners of the shortest way to a place with room for the body; empty when there is none."""
        grid = robot.map.grid  # type: ignore[union-attr]
        start, end = (tuple(grid.to_cells(p).tolist()) for p in (robot.pose[:2], place))
        cost = np.where(self._room, np.float32(1.0), np.float32(np.inf))
        cost[start] = cost[end] = 1.0
        path, length = astar(cost, start, end)
        if not math.isfinite(length):
            return []
        x, y = grid.to_world(shorten(path, cost, 0.02))[1:-1].T.tolist()
        return [*zip(x, y, strict=True), place]

    def _refuse(self, tile: Tile) -> None:
        self.refused.add(tile)
        self._in_vain[tile] = self._in_vain.get(tile, 0) + 1

    def try_again(self) -> None:
        """Allow the tiles that it could not get to once more, but none for ever."""
        self.refused = {t for t in self.refused if self._in_vain[t] >= _PATIENCE}

    def _cover(self, tile: Tile) -> None:
        if tile not in self.covered:
            self.covered.add(tile)
            self._untold.add(tile)
        self.points.discard(tile)

    async def next_target(self, robot: Robot) -> Tile | None:
        """Return where to start the next spiral: by auction, else the nearest point, else the nearest uncovered."""
        self.look(robot)
        self.mine = {self.here}
        if self.target is None and self.company:
            await self._auction(robot)
        target, self.target = self.target, None
        if target is not None and self.free(target):
            return target
        cost, grid = robot.travel_cost(), robot.map.grid  # type: ignore[union-attr]
        points = [p for p in sorted(self.points) if self.free(p)]
        for tiles in (np.array(points, np.int64).reshape(-1, 2), self.tiles.open()):
            cells = grid.to_cells(self.tiles.places(tiles))
            way = cost[cells[:, 0], cells[:, 1]]
            order = np.argsort(way, kind="stable")
            for row, column in tiles[order[np.isfinite(way[order])]].tolist():
                if (row, column) not in self.covered and self.free((row, column)):
                    return row, column
        return None

    # Talking

    def step(self, robot: Robot) -> bool:
        """Mark what the body has passed over, answer the others, and tell what is new; to be called at every step."""
        x, y = float(robot.pose[0]), float(robot.pose[1])
        self._speed = robot.twist[0]
        run = self._run
        for tile in [tile_of(x, y, self.tile_m)] if run is None else run[:_LOOKED_AT]:
            if self.tiles.at(tile) == OPEN:
                if _passed(self._before, (x, y), self.tiles.place(tile)) <= _NEAR * self.tile_m:
                    self._cover(tile)
                    self.here = tile
                elif run is None:
                    self.here = tile
        if run is not None and self.here in run:
            del run[: run.index(self.here) + 1]
        self._before = (x, y)
        messages = robot.messages(_KIND)
        for message in messages:
            self._hear(robot, message.sender, message.payload)
        lost = [n for n, (_, heard_s) in self._held.items() if robot.time - heard_s > _FORGET_S]
        for name in lost:
            del self._held[name]
        if messages or lost:
            self._reserved = set().union(*(held for held, _ in self._held.values()))
        if robot.time >= self._bid_s:
            self._bid_s = math.inf
            robot.send(("bids", self._own_bids()), self._caller, kind=_KIND)
        if robot.time >= self._tell_s - 1e-9:
            self.tell(robot)
        return False

    def tell(self, robot: Robot) -> None:
        """Broadcast the reservations and the newly covered tiles."""
        robot.send(("state", _packed(self.mine), _packed(self._untold)), kind=_KIND)
        self._untold, self._tell_s = set(), robot.time + _TELL_S

    def _hear(self, robot: Robot, sender: str, payload: tuple) -> None:
        what, content = payload[0], payload[1]
        if what == "state":
            if sender not in self._held:  # met anew: it may have missed all that was told
                self._untold |= self.covered
            held, covered = _unpacked(content), _unpacked(payload[2])
            self._held[sender] = held if robot.team.index(sender) > self.rank else held - self.mine, robot.time
            if robot.team.index(sender) > self.rank:
                self.mine -= held - {self.here}
            self._news = True
            self.covered |= covered
            self.points -= covered
        elif what == "request":
            if self._caller is not None and self._caller == robot.name and robot.team.index(sender) < self.rank:
                return  # of two calls at once the later robot's counts
            self._caller, self._pool, self._bid_s = sender, set(content), robot.time + _STAGE_S
            robot.send(("points", self._open_points()), kind=_KIND)
        elif what == "points":
            self._pool.update(content)
        elif what == "bids":
            self._bids[sender] = dict(content)
        elif what == "result" and sender == self._caller:
            self._caller = None
            self.target = dict(content).get(robot.name, self.target)

    async def _auction(self, robot: Robot) -> None:
        """Call an auction and wait for its end."""
        if self._caller is None:
            self._caller, self._bids, self._pool = robot.name, {}, set(self._open_points())
            robot.send(("request", self._open_points()), kind=_KIND)
        await robot.sleep(_STAGE_S + 0.1, until=self.step)
        await robot.sleep(_STAGE_S + 0.1, until=self.step)
        if self._caller == robot.name:
            self._bids[robot.name] = dict(self._own_bids())
            won = ssb_plan.winners(self._bids)
            robot.send(("result", list(won.items())), kind=_KIND)
            self.target = won.get(robot.name)
        self._caller = None

    def _open_points(self) -> list[Tile]:
        self.points = {p for p in self.points if not self.done(p)}
        return sorted(self.points)

    def _own_bids(self) -> list[tuple[Tile, int]]:
        left = 0
        if self.busy:
            tiles = ssb_plan.tiles_left(self.here, self.direction, self.side, lambda t: not self.done(t))
            if tiles is None:
                return []
            left = tiles
        points = [p for p in self._pool if not self.done(p) and p not in self.refused]
        return list(ssb_plan.bids_for(points, self.here, left).items())


def _packed(tiles: set[Tile]) -> np.ndarray:
    """Return tiles as int32 (k, 2): eight bytes each on air."""
    return np.array(sorted(tiles), np.int32).reshape(-1, 2)


def _unpacked(tiles: np.ndarray) -> frozenset[Tile]:
    return _tiles_in(np.asarray(tiles, np.int32).tobytes())


@lru_cache(maxsize=64)
def _tiles_in(packed: bytes) -> frozenset[Tile]:
    """Return the tiles of a message, which many receive."""
    return frozenset(zip(*np.frombuffer(packed, np.int32).reshape(-1, 2).T.tolist(), strict=True))


def _rest(robot: Robot, v: float) -> tuple[float, float]:
    """Return where a robot with a speed [m/s] comes to rest when it stops now [m]."""
    x, y, heading = robot.pose
    ahead = v * (robot.model.speed_lag_s + robot.model.command_delay_s)
    return x + ahead * math.cos(heading), y + ahead * math.sin(heading)


def _is_off(robot: Robot, place: tuple[float, float], v: float) -> bool:
    """Return whether a robot with a speed [m/s] that drives straight on will miss a place."""
    x, y = _rest(robot, v)
    angle = abs(wrap_angle(math.atan2(place[1] - y, place[0] - x) - robot.pose[2]))
    return angle > _AIM and math.dist(place, (x, y)) * angle > _AT_M


def _is_aimed(robot: Robot, place: tuple[float, float]) -> bool:
    """Return whether a robot will face a place when it stops turning now."""
    x, y = robot.pose[:2]
    lag_s = robot.model.turn_lag_s + robot.model.command_delay_s
    return abs(wrap_angle(math.atan2(place[1] - y, place[0] - x) - robot.pose[2] - robot.twist[2] * lag_s)) < _AIM


def _passed(start: tuple[float, float], end: tuple[float, float], point: tuple[float, float]) -> float:
    """Return how near [m] the way from start to end came to a point."""
    dx, dy = end[0] - start[0], end[1] - start[1]
    length = dx * dx + dy * dy
    share = 0.0 if length == 0.0 else ((point[0] - start[0]) * dx + (point[1] - start[1]) * dy) / length
    share = min(max(share, 0.0), 1.0)
    return math.dist(point, (start[0] + share * dx, start[1] + share * dy))
