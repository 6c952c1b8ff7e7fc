"""Selective spiraling and backtracking: cover the floor in spirals, and auction the places to come back to."""

import math

import numpy as np

from covey.controllers import ssb_plan
from covey.controllers.tiles import OPEN, SOLID, Tile, Tiles, beside, coarse, tile_of
from covey.errors import InvalidValueError
from covey.geometry import wrap_angle
from covey.planning.costs import clearance
from covey.planning.progress import ProgressTimer
from covey.robots.controller import controller
from covey.robots.handle import Robot

_KIND = "ssb"
_TELL_S, _FORGET_S = 1.0, 10.0
_STAGE_S, _SETTLE_S, _WAIT_S = 0.3, 0.2, 2.0
_LOOK_S = 0.5
_NEAR = 0.35
_PATIENCE = 5
_GAP_M = 0.05
_STALL_S, _ROAM_S = 4.0, 30.0
_AIM = math.radians(1.5)
_ALONE = 20


@controller("ssb", sees=("pose", "map", "shared_map", "radio"))
async def ssb(robot: Robot, *, tile_m: float | None = None, reserve: int = 5) -> None:
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
        tile_m: side of a tile [m]; None: that of the largest square in the circle of its body.
        reserve: how many tiles ahead are reserved; published: 5.

    References:
        A. Gautam, A. Richhariya, V. S. Shekhawat, S. Mohan: Experimental evaluation of multi-robot online terrain
        coverage approach. ROBIO 2018, pp. 1183-1189; the spirals: E. González et al.: BSA: a complete coverage
        algorithm. ICRA 2005.
    """
    assert robot.map is not None
    side_m = math.sqrt(2.0) * robot.model.outer_radius_m if tile_m is None else tile_m
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
            share.refused.clear()
            await robot.sleep(_WAIT_S, until=share.step)
        elif await share.drive(robot, [target]):
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
        share.points |= set(ssb_plan.backtracking_points(share.here, direction, share.done))
        for turn in (side, 0, -side):
            tile = beside(share.here, direction + turn)
            if not share.done(tile) and not share.free(tile):
                share.points.add(tile)  # blocked only by a reservation
        if way is None:
            break
        direction = share.direction = way
        share.side = side
        run = ssb_plan.straight_run(share.here, direction, side, share.free, reserve if share.company else _ALONE)
        if not await share.drive(robot, run):
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
        self.tile_m, self.rank = tile_m, robot.team.index(robot.name)
        self.covered: set[Tile] = set()
        self.points: set[Tile] = set()
        self.refused: set[Tile] = set()
        self.target: Tile | None = None
        self.busy, self.direction, self.side = False, 0, ssb_plan.RIGHT
        self.here = tile_of(*robot.pose[:2], tile_m)
        self.mine = {self.here}
        self._before = (float(robot.pose[0]), float(robot.pose[1]))
        self._held: dict[str, tuple[set[Tile], float]] = {}
        self._untold: set[Tile] = set()
        self._tell_s = 0.0
        self._pool: set[Tile] = set()
        self._bids: dict[str, dict[Tile, int]] = {}
        self._caller: str | None = None
        self._bid_s = math.inf
        self._seen, self._look_s = -1, -math.inf
        self._tiles: Tiles | None = None
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
        self._tiles = coarse(belief.grid, wide & np.isfinite(robot.travel_cost()), self.tile_m)

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
        return any(tile in held for held, _ in self._held.values())

    # Driving

    async def drive(self, robot: Robot, run: list[Tile]) -> bool:
        """Reserve tiles and drive along them; return whether the last was reached."""
        self.mine = {self.here, *run}
        self.tell(robot)
        if self.company:
            await robot.sleep(_SETTLE_S, until=self.step)
        run = run[: next((i for i, t in enumerate(run) if t not in self.mine), len(run))]
        if not run:
            return False
        last = run[-1]
        robot.note(f"{'spiral' if self.busy else 'back'} to {last}")

        timers = ProgressTimer(0.5 * self.tile_m, _STALL_S), ProgressTimer(4.0 * self.tile_m, _ROAM_S)
        stalled = False

        def changed(r: Robot) -> bool:
            nonlocal stalled
            self.step(r)
            stalled = any([timer.expired(r.time, *r.pose[:2]) for timer in timers])
            lost = any(t not in self.mine for t in run)
            return stalled or lost or (last in self.covered and not self.busy)

        place = self.tiles.place(last)
        if self.busy:
            dx, dy = place[0] - robot.pose[0], place[1] - robot.pose[1]
            angle = wrap_angle(math.atan2(dy, dx) - robot.pose[2])
            if abs(angle) > _AIM and math.hypot(dx, dy) > 0.1 * self.tile_m:
                await robot.turn(angle, until=self.step)
            outcome = await robot.forward(math.dist(place, robot.pose[:2]), until=changed)
        else:
            outcome = await robot.goto(place, tolerance_m=0.2 * self.tile_m, until=changed)
        if outcome or (self.here == last and last in self.covered and last in self.mine):
            self._cover(last)
            self.here = last
            return True
        if stalled or outcome.state != "cancelled":
            self.refused.add(last)
        return self.busy and not stalled and outcome.state == "cancelled"

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
        own = [p for p in sorted(self.points) if self.free(p)]
        if own:
            return min(own, key=lambda p: (math.dist(p, self.here), p))
        left = [t for t in self.tiles.open() if self.free(t)]
        if not left:
            return None
        cells = robot.map.grid.to_cells([self.tiles.place(t) for t in left])  # type: ignore[union-attr]
        way = robot.travel_cost()[cells[:, 0], cells[:, 1]]
        best = int(np.argmin(way))
        return left[best] if np.isfinite(way[best]) else None

    # Talking

    def step(self, robot: Robot) -> bool:
        """Mark what the body has passed over, answer the others, and tell what is new; to be called at every step."""
        x, y = float(robot.pose[0]), float(robot.pose[1])
        for share in (0.5, 1.0):
            tile = tile_of(
                self._before[0] + share * (x - self._before[0]),
                self._before[1] + share * (y - self._before[1]),
                self.tile_m,
            )
            if self.tiles.at(tile) == OPEN:
                if _passed(self._before, (x, y), self.tiles.place(tile)) <= _NEAR * self.tile_m:
                    self._cover(tile)
                self.here = tile
        self._before = (x, y)
        for message in robot.messages(_KIND):
            self._hear(robot, message.sender, message.payload)
        for name in [n for n, (_, heard_s) in self._held.items() if robot.time - heard_s > _FORGET_S]:
            del self._held[name]
        if robot.time >= self._bid_s:
            self._bid_s = math.inf
            robot.send(("bids", self._own_bids()), self._caller, kind=_KIND)
        if robot.time >= self._tell_s - 1e-9:
            self.tell(robot)
        return False

    def tell(self, robot: Robot) -> None:
        """Broadcast the reservations and the newly covered tiles."""
        robot.send(("state", sorted(self.mine), sorted(self._untold)), kind=_KIND)
        self._untold, self._tell_s = set(), robot.time + _TELL_S

    def _hear(self, robot: Robot, sender: str, payload: tuple) -> None:
        what, content = payload[0], payload[1]
        if what == "state":
            if sender not in self._held:  # met anew: it may have missed all that was told
                self._untold |= self.covered
            held = set(content)
            self._held[sender] = held if robot.team.index(sender) > self.rank else held - self.mine, robot.time
            if robot.team.index(sender) > self.rank:
                self.mine -= held - {self.here}
            self.covered.update(payload[2])
            self.points.difference_update(payload[2])
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


def _passed(start: tuple[float, float], end: tuple[float, float], point: tuple[float, float]) -> float:
    """Return how near [m] the way from start to end came to a point."""
    dx, dy = end[0] - start[0], end[1] - start[1]
    length = dx * dx + dy * dy
    share = 0.0 if length == 0.0 else ((point[0] - start[0]) * dx + (point[1] - start[1]) * dy) / length
    share = min(max(share, 0.0), 1.0)
    return math.dist(point, (start[0] + share * dx, start[1] + share * dy))
