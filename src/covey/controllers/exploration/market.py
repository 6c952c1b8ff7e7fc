"""Market: robots hold tours of frontiers, and sell a frontier to a robot that reaches it at a lower cost."""

import math
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from covey.controllers.exploration.frontier_loop import Goal, explore
from covey.controllers.exploration.rrt_frontier import information_m2
from covey.controllers.exploration.team_assignment import middles
from covey.controllers.teammates import Mate, Teammates
from covey.mapping.occupancy.frontiers import Frontiers
from covey.onboard.controller import controller
from covey.onboard.handle import Robot
from covey.robots.parameters import Count, Definition, Metres, Radius, Seconds, Weight

_SAME_M = 3.0
"""Goals within this distance of each other are the same [m]."""
_FRESH_S = 2.0
"""Time after which a bidder computes its paths again [s]."""


@controller(
    "market",
    sees=("pose", "map", "shared_map", "radio", "shared_frame"),
    needs=("map",),
    missions=("exploration",),
    cell_bytes=4.125,  # see `Reached`
)
async def market(
    robot: Robot,
    *,
    auction_s: Seconds = 0.5,
    value_m_per_m2: Weight = 1.0,
    info_radius_m: Radius = 2.0,
    min_cells: Count = 8,
    definition: Definition = "explore",
    piece_m: Metres = 10.0,
    replan_s: Seconds = 5.0,
    forget_s: Seconds = 10.0,
) -> None:
    """Follow a tour of frontiers, and offer its goals to other robots in auctions, one after another.

    A goal is worth ``value_m_per_m2`` for each unknown square metre within ``info_radius_m``. Its cost is the length
    that it adds to the tour: the path on the robot's own map from the robot to a goal, the straight line between goals.
    The reserve is the seller's own profit with its tour at the close of the auction. An auction closes when all robots
    that the seller hears have bid, or after ``auction_s``. The highest bid above the reserve is awarded the goal. The
    winner, which may have bought another goal meanwhile, buys it if it is still worth the reserve to it, and confirms;
    otherwise the seller keeps it. A robot does not offer a bought goal for ``replan_s``. A bidder that already knows
    everything around a goal says so, and the goal is dropped. A frontier in nobody's tour is added by every robot that
    sees it; of two robots with the same goal, the one with the higher cost drops it. A robot without a goal takes the
    nearest frontier that no robot is going to.

    It ends when it can reach no frontier. The goals of a robot that has been silent for ``forget_s`` become free; a
    robot that hears nobody holds all goals and trades with nobody.

    Args:
        robot: a robot with a map.
        auction_s: time to wait for bids, and for the answer to an award [s].
        value_m_per_m2: metres of path that a square metre of the unknown is worth.
        info_radius_m: radius around a goal in which the unknown counts [m].
        min_cells: smallest frontier that counts, in cells; smaller ones count when no other is left.
        definition: which cells are frontier cells, see `covey.mapping.occupancy.frontiers.find_frontiers`.
        piece_m: a longer frontier is cut into goals, one per this length [m].
        replan_s: time between two tours while driving, and time for which a bought goal is not offered [s].
        forget_s: time for which a silent robot keeps its goals [s].

    Unlike the source:
        Compared with notes on the paper.

        - goals: random, nearest unknown, or a quadtree -> the frontiers, which come to an end
        - path lengths within a tour -> from the robot by path, between goals straight
        - bids until a deadline -> ``auction_s``; closed early when all have bid
        - award and purchase -> the winner buys only if the goal is still worth the reserve, and answers; else the
          seller keeps it
        - payments add up to wealth; the operator's agent trades -> left out: no decision depends on wealth
        - an auction at each reached goal -> at each choice, after the last round; a bought goal is not offered for
          ``replan_s``
        - two robots hold the same goal: nothing said -> the one with the higher cost drops it

    References:
        R. Zlot, A. Stentz, M. B. Dias, S. Thayer: Multi-robot exploration controlled by a market economy. ICRA 2002.
    """
    trader = _Trader(Teammates(forget_s=forget_s), auction_s, replan_s, value_m_per_m2, info_radius_m, piece_m)
    await explore(
        robot,
        trader.choose,
        definition=definition,
        min_cells=min_cells,
        replan_s=replan_s,
        each_step=trader.step,
    )


@dataclass
class _Auction:
    """A goal on offer: the deadline for bids, or for the answer after the award [s], and the bids by robot."""

    number: int
    goal: Goal
    closes_s: float
    bids: dict[str, float] = field(default_factory=dict)
    awarded: bool = False


class _Trader:
    """A robot's tour, and its part in auctions as the seller of its own goals and as a bidder for those of others."""

    def __init__(
        self, team: Teammates, auction_s: float, replan_s: float, value: float, radius_m: float, piece_m: float
    ):
        self.team, self.auction_s, self.replan_s = team, auction_s, replan_s
        self.value, self.radius_m, self.piece_m = value, radius_m, piece_m
        self.tour: list[Goal] = []
        self.queue: list[Goal] = []
        self._told: tuple[tuple[float, float, float], ...] = ()
        self._seen_s, self._way = -math.inf, Reached(np.empty((0, 0), np.float32))
        self._auction: _Auction | None = None
        self._opened = 0
        self._bought: list[tuple[Goal, float]] = []

    # -- the tour ---------------------------------------------------------------------------------------------------

    def choose(self, robot: Robot, frontiers: Frontiers, allowed: np.ndarray) -> Goal | None:
        """Make a new tour of the frontiers, offer it to the others, and return its first goal."""
        assert robot.map is not None
        grid, way = robot.map.grid, self._look(robot)
        usable = allowed & np.isfinite(way[frontiers.cells[:, 0], frontiers.cells[:, 1]])
        if not usable.any():
            return None
        edge = grid.to_world(frontiers.cells[usable])
        cells = middles(frontiers.cells[usable], frontiers.label[usable], self.piece_m / grid.resolution)
        mates = self.team.others(robot)
        self._keep(robot, edge, mates)
        taken = [*self.tour, *(goal[:2] for mate in mates.values() for goal in mate.facts.get("tour", ()))]
        goals = sorted((float(way[r, c]), *grid.to_world((r, c)).tolist()) for r, c in cells.tolist())
        self.tour += [(x, y) for _, x, y in goals if all(math.dist((x, y), t) > _SAME_M for t in taken)]
        if not self.tour:
            under_way = [mate.goal for mate in mates.values() if mate.goal is not None]
            free = [g for g in goals if all(math.dist(g[1:], goal) > _SAME_M for goal in under_way)]
            self.tour = [(free or goals)[0][1:]]
        self.tour = ordered(self.tour, [self._way_to(robot, goal) for goal in self.tour])
        if mates and self._auction is None and not self.queue:
            self._bought = [(g, until_s) for g, until_s in self._bought if robot.time < until_s - 1e-9]
            self.queue = list(self.tour)
        self._price(robot)
        return self.tour[0]

    def _keep(self, robot: Robot, edge: np.ndarray, mates: dict[str, Mate]) -> None:
        """Keep the goals that still lie on a frontier and that no team mate holds at a lower cost."""
        kept: list[Goal] = []
        for goal, cost in zip(self.tour, self._costs(robot), strict=True):
            near = edge[np.argmin(((edge - goal) ** 2).sum(axis=1))]
            place = float(near[0]), float(near[1])
            if math.dist(place, goal) > _SAME_M or any(math.dist(place, k) <= _SAME_M for k in kept):
                continue
            rivals = [
                (told, name)
                for name, mate in mates.items()
                for x, y, told in mate.facts.get("tour", ())
                if math.dist(goal, (x, y)) <= _SAME_M
            ]
            if not rivals or (cost, robot.name) < min(rivals):
                kept.append(place)
        self.tour = kept

    def _costs(self, robot: Robot) -> list[float]:
        """Return the length that each goal adds to the tour [m]."""
        first = [self._way_to(robot, goal) for goal in self.tour]
        return [saving(self.tour, first, i) for i in range(len(self.tour))]

    def _look(self, robot: Robot) -> np.ndarray:
        """Return the costs of driving to all cells; keep those of what can be reached."""
        way = robot.travel_cost()
        self._seen_s, self._way = robot.time, Reached(way)
        return way

    def _way_to(self, robot: Robot, goal: Goal) -> float:
        assert robot.map is not None
        row, column = robot.map.grid.to_cells(goal).tolist()
        if robot.time - self._seen_s > _FRESH_S:
            self._look(robot)
        return self._way.at(row, column)

    # -- the auctions -------------------------------------------------------------------------------------------------

    def step(self, robot: Robot, goal: Goal | None) -> bool:
        """Trade, and tell the others; return whether the first goal of the tour has changed."""
        for message in robot.messages("offer"):
            number, offered = message.payload
            robot.send((number, self.bid(robot, offered)), to=message.sender, kind="bid")
        for message in robot.messages("award"):
            number, offered, price = message.payload
            robot.send((number, self._buy(robot, offered, price)), to=message.sender, kind="bought")
        auction = self._auction
        for message in robot.messages("bid"):
            if auction is not None and message.payload[0] == auction.number:
                auction.bids[message.sender] = message.payload[1]
        for message in robot.messages("bought"):
            number, rid = message.payload
            if auction is not None and number == auction.number:
                auction.closes_s = -math.inf
                self.tour = [g for g in self.tour if not (rid and math.dist(g, auction.goal) <= _SAME_M)]
        if auction is not None:
            self._close(robot, auction)
        if self._auction is None and self.queue:
            self._open(robot)
        self.team.step(robot, goal=goal, tour=self._told)
        return goal is not None and (not self.tour or self.tour[0] != goal)

    def _open(self, robot: Robot) -> None:
        """Offer the next goal that is still in the tour."""
        goal = self._held(self.queue.pop(0))
        if goal is not None and not self._rests(robot, goal):
            self._opened += 1
            self._auction = _Auction(self._opened, goal, robot.time + self.auction_s)
            robot.send((self._opened, goal), kind="offer")

    def _close(self, robot: Robot, auction: "_Auction") -> None:
        """Award the goal when all have bid or the time is up, and end the auction when no answer is pending."""
        late = robot.time >= auction.closes_s - 1e-9
        if not late and (auction.awarded or not self.team.others(robot).keys() <= auction.bids.keys()):
            return
        self._auction, goal = None, self._held(auction.goal)
        if not auction.awarded and goal is not None and not self._rests(robot, goal):
            reserve = self._worth(robot, goal) - self._costs(robot)[self.tour.index(goal)]
            if math.inf in auction.bids.values():
                self.tour.remove(goal)
            elif (buyer := winner(dict(sorted(auction.bids.items())), reserve)) is not None:
                auction.awarded, auction.closes_s = True, robot.time + self.auction_s
                self._auction = auction
                robot.send((auction.number, goal, reserve), to=buyer, kind="award")
        self._price(robot)

    def bid(self, robot: Robot, goal: Goal) -> float:
        """Return the profit of a goal [m]: inf if nothing is unknown there, -inf if there is no path to it."""
        worth, way = self._worth(robot, goal), self._way_to(robot, goal)
        if worth <= 0.0:
            return math.inf
        return worth - insertion(self.tour, [self._way_to(robot, g) for g in self.tour], goal, way)[0]

    def _buy(self, robot: Robot, goal: Goal, price: float) -> bool:
        """Add a goal to the tour if it is worth more than the price; return whether the seller may drop it."""
        profit = math.inf if self._held(goal) is not None else self.bid(robot, goal)
        if not price + 1e-9 < profit:
            return False
        if profit < math.inf:
            first = [self._way_to(robot, g) for g in self.tour]
            self.tour.insert(insertion(self.tour, first, goal, self._way_to(robot, goal))[1], goal)
            self._price(robot)
        self._bought.append((goal, robot.time + self.replan_s))
        return True

    def _rests(self, robot: Robot, goal: Goal) -> bool:
        """Return whether a goal was bought recently."""
        return any(robot.time < until_s - 1e-9 and math.dist(goal, g) <= _SAME_M for g, until_s in self._bought)

    def _held(self, goal: Goal) -> Goal | None:
        """Return the goal of the tour that equals this goal, None if there is none."""
        return next((g for g in self.tour if math.dist(goal, g) <= _SAME_M), None)

    def _price(self, robot: Robot) -> None:
        """Update the data to send: the goals of the tour, and the cost of each."""
        self._told = tuple((*goal, cost) for goal, cost in zip(self.tour, self._costs(robot), strict=True))

    def _worth(self, robot: Robot, goal: Goal) -> float:
        assert robot.map is not None
        robot.charge_work("view")
        area = information_m2(robot.map.grid, np.array([goal]), np.empty((0, 2)), self.radius_m)
        return self.value * float(area[0])


class Reached:
    """The costs of the cells that can be reached, of (rows, columns) of which all others are inf.

    Examples:
        >>> way = np.full((4, 5), np.inf, np.float32)
        >>> way[1, 2:4] = 3.0, 4.0
        >>> reached = Reached(way)
        >>> reached.at(1, 3), reached.at(1, 4), reached.at(9, 9), reached.cost.size
        (4.0, inf, inf, 2)
    """

    def __init__(self, way: np.ndarray):
        there = np.isfinite(way)
        self.shape, self.cost = way.shape, way[there]
        self._there = np.packbits(there, axis=1)
        self._before = np.cumsum(np.count_nonzero(there, axis=1)) - np.count_nonzero(there, axis=1)

    def at(self, row: int, column: int) -> float:
        """Return the cost of a cell; inf where nothing can be reached, or outside."""
        if not (0 <= row < self.shape[0] and 0 <= column < self.shape[1]):
            return math.inf
        there = np.unpackbits(self._there[row, : column // 8 + 1])
        return float(self.cost[self._before[row] + np.count_nonzero(there[:column])]) if there[column] else math.inf


def winner(bids: dict[str, float], reserve: float) -> str | None:
    """Return the highest bidder if the bid is above the reserve, else None.

    Examples:
        >>> winner({"scout1": 4.0, "scout2": 7.0}, 6.0)
        'scout2'
        >>> winner({"scout1": 4.0, "scout2": 5.0}, 6.0)
    """
    best = max(bids, key=lambda name: bids[name], default=None)
    return best if best is not None and bids[best] > reserve + 1e-9 else None


def insertion(tour: list[Goal], first: list[float], goal: Goal, way: float) -> tuple[float, int]:
    """Return the least length that a goal adds to a tour [m], and its place in the tour.

    Args:
        tour: goals in their order [m].
        first: path length from the robot to each of them [m].
        goal: the new goal [m].
        way: path length from the robot to it [m].

    Examples:
        >>> insertion([(4.0, 0.0)], [4.0], (6.0, 0.0), 6.0)
        (2.0, 1)
    """
    if not tour:
        return way, 0
    best = (way + math.dist(goal, tour[0]) - first[0], 0)
    for i, (before, after) in enumerate(pairwise(tour), start=1):
        best = min(best, (math.dist(before, goal) + math.dist(goal, after) - math.dist(before, after), i))
    return min(best, (math.dist(tour[-1], goal), len(tour)))


def saving(tour: list[Goal], first: list[float], index: int) -> float:
    """Return the length that a tour saves without one of its goals [m]; arguments as in `insertion`."""
    after = tour[index + 1] if index + 1 < len(tour) else None
    to = first[0] if index == 0 else math.dist(tour[index - 1], tour[index])
    if after is None:
        return to
    past = first[index + 1] if index == 0 else math.dist(tour[index - 1], after)
    return to + math.dist(tour[index], after) - past


def ordered(goals: list[Goal], first: list[float]) -> list[Goal]:
    """Return goals as a tour: the nearest first, each next one inserted where it adds the least length."""
    tour: list[Goal] = []
    ways: list[float] = []
    for way, goal in sorted(zip(first, goals, strict=True)):
        at = insertion(tour, ways, goal, way)[1]
        tour.insert(at, goal)
        ways.insert(at, way)
    return tour
