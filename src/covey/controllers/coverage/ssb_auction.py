"""Auction of selective spiraling: which robot returns to which place that a spiral has left open."""

import math
from collections.abc import Callable
from typing import Any

from covey.controllers.coverage.ssb_claims import KIND, Claims
from covey.controllers.coverage.ssb_plan import winners
from covey.controllers.coverage.tiles import Tile
from covey.onboard.handle import Robot

_STAGE_S = 0.3

Bids = list[tuple[Tile, int]]


class Auction:
    """One robot's part in auctions: it calls them, or sends its points and bids when another robot does.

    Args:
        robot, claims: the robot and its claims.
        bids: function that returns the robot's bids for some points.

    Attributes:
        won: the point that the robot won.
    """

    def __init__(self, robot: Robot, claims: Claims, bids: Callable[[set[Tile]], Bids]):
        self._rank, self._claims, self._own_bids = robot.team.index(robot.name), claims, bids
        self.won: Tile | None = None
        self._pool: set[Tile] = set()
        self._bids: dict[str, dict[Tile, int]] = {}
        self._caller: str | None = None
        self._bid_s = math.inf

    def hear(self, robot: Robot, sender: str, what: str, content: Any) -> None:
        """Process a message of an auction."""
        if what == "request":
            if self._caller is not None and self._caller == robot.name and robot.team.index(sender) < self._rank:
                return  # of two simultaneous calls, that of the later robot counts
            self._caller, self._pool, self._bid_s = sender, set(content), robot.time + _STAGE_S
            robot.send(("points", self._claims.open_points()), kind=KIND)
        elif what == "points":
            self._pool.update(content)
        elif what == "bids":
            self._bids[sender] = dict(content)
        elif what == "result" and sender == self._caller:
            self._caller = None
            self.won = dict(content).get(robot.name, self.won)

    def step(self, robot: Robot) -> None:
        """Send the bids when they are due."""
        if robot.time >= self._bid_s:
            self._bid_s = math.inf
            robot.send(("bids", self._own_bids(self._pool)), self._caller, kind=KIND)

    async def hold(self, robot: Robot, step: Callable[[Robot], bool]) -> None:
        """Call an auction and wait until it ends."""
        if self._caller is None:
            self._caller, self._bids, self._pool = robot.name, {}, set(self._claims.open_points())
            robot.send(("request", self._claims.open_points()), kind=KIND)
        await robot.sleep(_STAGE_S + 0.1, until=step)
        await robot.sleep(_STAGE_S + 0.1, until=step)
        if self._caller == robot.name:
            self._bids[robot.name] = dict(self._own_bids(self._pool))
            won = winners(self._bids)
            robot.send(("result", list(won.items())), kind=KIND)
            self.won = won.get(robot.name)
        self._caller = None
