"""Selective spiraling and backtracking: cover the floor in spirals, and auction the places to return to."""

import math

import numpy as np

from covey.controllers.coverage import ssb_plan
from covey.controllers.coverage.ssb_auction import Auction, Bids
from covey.controllers.coverage.ssb_claims import KIND, PATIENCE, Claims
from covey.controllers.coverage.ssb_driving import LaneDriver, corners_to
from covey.controllers.coverage.tiles import OPEN, Tile, beside, tile_of
from covey.errors import InvalidValueError
from covey.onboard.controller import controller
from covey.onboard.handle import Robot
from covey.robots.parameters import Draws, TileSide

_WAIT_S = 2.0
_NEAR, _OFF = 0.35, 0.1
_LOOKED_AT = 5
_SIDE = 0.9
_AHEAD = 40


@controller(
    "ssb",
    sees=("pose", "map", "shared_map", "radio", "shared_frame"),
    needs=("map",),
    missions=("coverage", "exploration"),
)
async def ssb(robot: Robot, *, tile_m: TileSide | None = None, reserve: Draws = 5) -> None:
    """Drive over every tile: in spirals along solid or covered tiles, then on to the next place that is left.

    A spiral keeps the blocked side beside it and turns inwards; the tiles beside it that it leaves open become
    backtracking points. A robot whose spiral has ended calls an auction: all robots send their points, then bid the
    tiles left in their own spiral + the path to each point, and each gets at most one point. A robot reserves tiles
    before it drives onto them; of two robots the later in the team gets the tile. Covered tiles, reservations, points
    and bids go by radio, maps by map sharing; robots share nothing else. A robot that is out of reach or vanishes is
    forgotten after 10 s with its reservations, and the others cover what it left. A robot that wins no point goes to
    the nearest uncovered tile that it knows. It ends when it knows none.

    Args:
        robot: a robot with a map.
        tile_m: side of a tile [m]; None: 0.9 times the width of the body, so that lanes overlap a little.
        reserve: number of tiles reserved ahead; published: 5.

    Unlike the source:
        Compared with MAES, SSBAlgorithm.cs and TileReservationSystem.cs; the paper was not at hand.

        - tiles of 1 m, of which a body covers half -> 0.9 of the width of the body (``tile_m``)
        - tile by tile -> straight lines without a stop, up to a tile that another robot took
        - a place that cannot be reached is tried again -> three times at most
        - five tiles are reserved when fewer than two are -> when fewer than three are (``reserve`` 5)
        - a reservation holds from the next tick; the higher number wins -> at once; the later robot in the team wins
        - the path to a backtracking point is reserved -> not reserved: the navigator keeps robots apart
        - an auction takes one tick each for call, points, bids and result -> 0.3 s each
        - the test of what is open in a bid is inverted -> corrected
        - a robot that wins nothing forgets its point -> it keeps it
        - a caller that wins nothing takes its nearest point in a straight line -> the nearest by path length, then the
          nearest uncovered tile anywhere
        - it never ends -> it ends when it knows no uncovered tile
        - one solid cell makes a tile solid -> a tile into which the body reaches counts as open; a strip of up to one
          cell stays uncovered along walls

    References:
        A. Gautam, A. Richhariya, V. S. Shekhawat, S. Mohan: Experimental evaluation of multi-robot online terrain
        coverage approach. ROBIO 2018, pp. 1183-1189; the spirals: E. González et al.: BSA: a complete coverage
        algorithm. ICRA 2005.
    """
    assert robot.map is not None
    side_m = _SIDE * 2.0 * robot.model.outer_radius_m if tile_m is None else tile_m
    if side_m < robot.map.grid.resolution or reserve < 1:
        raise InvalidValueError(
            f"tile_m {side_m:g}, reserve {reserve!r}: tile_m must be at least the side of a map cell, "
            f"{robot.map.grid.resolution:g} m, and reserve at least 1"
        )
    share = _Share(robot, side_m)
    claims = share.claims
    in_vain, count = 0, -1
    while in_vain < PATIENCE:
        target = await share.next_target(robot)
        if target is None:
            before, count = count, len(claims.covered)
            in_vain = 0 if count > before else in_vain + 1
            claims.try_again()
            await robot.sleep(_WAIT_S, until=share.step)
        elif await share.travel(robot, target):
            await _spiral(robot, share, reserve)
    claims.mine.clear()
    claims.tell(robot)


async def _spiral(robot: Robot, share: "_Share", reserve: int) -> None:
    """Spiral from the robot's place until all directions are blocked."""
    claims, share.busy = share.claims, True
    direction, side = ssb_plan.align(claims.here, claims.free)
    while True:
        claims.update(robot)
        way = ssb_plan.next_direction(claims.here, direction, side, claims.free)
        share.direction, share.side = (direction if way is None else way), side
        share.note_points(claims.here)
        if way is None:
            break
        direction = way
        if not await share.along(robot, reserve):
            break
    share.busy = False


class _Share:
    """One robot's part of the team's task: its claims, its driving and its bids.

    Attributes:
        busy: whether the robot is in a spiral.
    """

    def __init__(self, robot: Robot, tile_m: float):
        self.tile_m = tile_m
        self.busy, self.direction, self.side = False, 0, ssb_plan.RIGHT
        self._before = (float(robot.pose[0]), float(robot.pose[1]))
        self._run: list[Tile] | None = None
        self.claims = Claims(robot, tile_m, tile_of(*robot.pose[:2], tile_m))
        self.auction = Auction(robot, self.claims, self._bids)
        self.driver = LaneDriver(tile_m, self.step)

    # Driving

    def straight_on(self) -> list[Tile]:
        """Return the tiles of the straight part of the spiral ahead, as far as the robot can see."""
        claims = self.claims
        run = ssb_plan.straight_run(claims.here, self.direction, self.side, claims.free, _AHEAD)
        across = 1 - self.direction % 2  # y for a run to the east or west
        lane = [claims.tiles.place(t)[across] for t in run]
        beyond = (i for i, v in enumerate(lane) if abs(v - lane[0]) > _OFF * self.tile_m)
        return run[: next(beyond, len(run))]

    async def along(self, robot: Robot, reserve: int) -> bool:
        """Drive straight in a spiral, reserving tiles on the way; return whether the spiral can continue.

        The run ends at its last tile, or where it has changed: others took tiles of it, or the robot has seen more.
        """
        claims = self.claims
        run = self.straight_on()
        last, place = run[-1], claims.tiles.place(run[-1])
        self._reserve(robot, run, reserve)
        robot.note(f"spiral to {last}")
        here = claims.here

        def changed(r: Robot) -> bool:
            nonlocal here
            claims.update(r)
            if claims.here != here:
                here, claims.changed = claims.here, True
                self.note_points(here)
            if claims.changed and claims.here != last:
                claims.changed = False
                ahead = self.straight_on()
                if not ahead or ahead[-1] != last:
                    return True
                self._reserve(r, ahead, reserve)
            return False

        claims.changed, self._run = False, run
        outcome = await self.driver.straight(robot, place, changed)
        self._run = None
        if outcome == "arrived":
            claims.cover(last)
            claims.here = last
        elif outcome == "stalled":
            claims.refuse(last if claims.here == last else beside(claims.here, self.direction))
        return outcome != "stalled"

    def _reserve(self, robot: Robot, run: list[Tile], reserve: int) -> None:
        """Reserve the next tiles of a run, unless enough of them are reserved."""
        claims = self.claims
        if any(t not in claims.mine for t in run[: (reserve + 1) // 2]):
            claims.mine = {claims.here, *run[:reserve]}
            claims.tell(robot)

    def note_points(self, tile: Tile) -> None:
        """Record the backtracking points beside a tile of the spiral."""
        claims = self.claims
        claims.points |= set(ssb_plan.backtracking_points(tile, self.direction, claims.done))
        for turn in (self.side, 0, -self.side):
            near = beside(tile, self.direction + turn)
            if not claims.done(near) and not claims.free(near):
                claims.points.add(near)  # blocked only by a reservation

    async def travel(self, robot: Robot, target: Tile) -> bool:
        """Go to the tile where the next spiral starts; return whether the robot got there."""
        claims = self.claims
        claims.mine = {claims.here, target}
        claims.tell(robot)
        robot.note(f"back to {target}")
        place = claims.tiles.place(target)

        def gone(r: Robot) -> bool:
            return (target in claims.covered and claims.here != target) or target not in claims.mine

        why = "stalled"
        for corner in corners_to(robot, place, claims.room):
            why = await self.driver.straight(robot, corner, gone)
            if why != "arrived":
                break
        if why == "stalled":
            why = await self.driver.go_around(robot, place, gone)
        if why == "arrived":
            claims.cover(target)
            claims.here = target
        elif why == "stalled":
            claims.refuse(target)
        return why == "arrived"

    async def next_target(self, robot: Robot) -> Tile | None:
        """Return where the next spiral starts: by auction, else the nearest point, else the nearest uncovered tile."""
        claims = self.claims
        claims.update(robot)
        claims.mine = {claims.here}
        if self.auction.won is None and claims.company:
            await self.auction.hold(robot, self.step)
        target, self.auction.won = self.auction.won, None
        if target is not None and claims.free(target):
            return target
        cost, grid = robot.travel_cost(), robot.map.grid  # type: ignore[union-attr]
        points = [p for p in sorted(claims.points) if claims.free(p)]
        for tiles in (np.array(points, np.int64).reshape(-1, 2), claims.tiles.open()):
            cells = grid.to_cells(claims.tiles.places(tiles))
            way = cost[cells[:, 0], cells[:, 1]]
            order = np.argsort(way, kind="stable")
            for row, column in tiles[order[np.isfinite(way[order])]].tolist():
                if (row, column) not in claims.covered and claims.free((row, column)):
                    return row, column
        return None

    # Talking

    def step(self, robot: Robot) -> bool:
        """Mark what the body has passed over, answer the others, and send changes; call it at every step."""
        claims = self.claims
        x, y = float(robot.pose[0]), float(robot.pose[1])
        self.driver.speed = robot.twist[0]
        run = self._run
        for tile in [tile_of(x, y, self.tile_m)] if run is None else run[:_LOOKED_AT]:
            if claims.tiles.at(tile) == OPEN:
                if _passed(self._before, (x, y), claims.tiles.place(tile)) <= _NEAR * self.tile_m:
                    claims.cover(tile)
                    claims.here = tile
                elif run is None:
                    claims.here = tile
        if run is not None and claims.here in run:
            del run[: run.index(claims.here) + 1]
        self._before = (x, y)
        messages = robot.messages(KIND)
        for message in messages:
            what, content = message.payload[:2]
            if what == "state":
                claims.hear(robot, message.sender, content, message.payload[2])
            else:
                self.auction.hear(robot, message.sender, what, content)
        claims.forget(robot.time, bool(messages))
        self.auction.step(robot)
        if robot.time >= claims.tell_s - 1e-9:
            claims.tell(robot)
        return False

    def _bids(self, pool: set[Tile]) -> Bids:
        claims = self.claims
        left = 0
        if self.busy:
            tiles = ssb_plan.tiles_left(claims.here, self.direction, self.side, lambda t: not claims.done(t))
            if tiles is None:
                return []
            left = tiles
        points = [p for p in pool if not claims.done(p) and p not in claims.refused]
        return list(ssb_plan.bids_for(points, claims.here, left).items())


def _passed(start: tuple[float, float], end: tuple[float, float], point: tuple[float, float]) -> float:
    """Return the distance [m] of a point from the line from start to end."""
    dx, dy = end[0] - start[0], end[1] - start[1]
    length = dx * dx + dy * dy
    share = 0.0 if length == 0.0 else ((point[0] - start[0]) * dx + (point[1] - start[1]) * dy) / length
    share = min(max(share, 0.0), 1.0)
    return math.dist(point, (start[0] + share * dx, start[1] + share * dy))
