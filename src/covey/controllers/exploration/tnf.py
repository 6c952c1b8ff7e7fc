"""The next frontier: weigh a frontier's information, its distance, and its distance from the other robots."""

import math
from dataclasses import dataclass, field

import numpy as np

from covey.controllers.exploration.frontier_loop import Goal, explore
from covey.controllers.teammates import Teammates
from covey.errors import InvalidValueError
from covey.mapping.occupancy.frontiers import Frontiers
from covey.onboard.controller import controller
from covey.onboard.handle import Robot
from covey.robots.parameters import Shape, TileSide

_MEET_S = 2.0
_KEEP_M = 1.0
_HERE_M = 0.3


@controller("tnf", sees=("pose", "map", "shared_map", "neighbours"), needs=("map",), missions=("exploration",))
async def tnf(robot: Robot, *, alpha: Shape = 8.0, beta: Shape = 8.0, tile_m: TileSide = 1.0) -> None:
    """Go to the frontier with the highest utility: information + distance - coordination (`utility`).

    Each robot decides alone, from its own map and the positions at which it senses others. Robots that meet share their
    maps if the scenario shares maps. The robot keeps a frontier until it is reached or gone. Robots out of sight, and
    robots that vanish, do not count: two robots that do not see each other may take the same frontier. It ends when it
    can reach no frontier.

    Args:
        robot: a robot with a map; without a neighbours sensor it is alone.
        alpha, beta: shape of the distance term, at least 1; 8 and 8 in the MAES article, 1 and 10 (nearer is better)
            in the Minotaur experiments.
        tile_m: side of MAES' tiles [m], the unit for the length of frontiers.

    Unlike the source:
        Compared with MAES, TnfExplorationAlgorithm.cs and ffTnfExplorationAlgorithm.cs.

        - frontier: tiles beside an unknown one of eight -> free cells beside an unknown one of four, at least one tile
          long
        - w: root of the *sum* of distances over the largest -> of the *mean*, so w stays below 1; the density has its
          constant, without which the term has no effect at 8 and 8
        - minus w from each robot in sight -> minus 1 - w, because w draws robots together
        - a bearing is used as a heading in the world -> corrected
        - a robot keeps its target until it arrives -> or until nothing within 1 m of it is a frontier
        - no frontier: wait for ever -> it ends

    References:
        R. G. Colares, L. Chaimowicz: The next frontier: combining information gain and distance cost for decentralized
        multi-robot exploration. SAC 2016, pp. 268-274.
    """
    await next_frontier(robot, NextFrontier(alpha, beta, tile_m))


async def next_frontier(robot: Robot, choice: "NextFrontier") -> None:
    """Explore with the choices of a `NextFrontier`."""
    if choice.alpha < 1 or choice.beta < 1 or not choice.tile_m > 0:
        raise InvalidValueError(
            f"alpha {choice.alpha!r}, beta {choice.beta!r}, tile_m {choice.tile_m!r}: alpha and beta must be at least "
            "1, tile_m above 0"
        )
    assert robot.map is not None
    least = max(1, round(choice.tile_m / robot.map.grid.resolution))
    await explore(robot, choice, definition="explore", min_cells=least, replan_s=_MEET_S, near_m=_KEEP_M)


@dataclass
class NextFrontier:
    """Chooses the next frontier, and keeps it.

    Attributes:
        alpha, beta, tile_m: see `tnf`.
        team: for ffTNF: the robots that have reported their goals.
        goal: the robot's present goal [m].
    """

    alpha: float
    beta: float
    tile_m: float
    team: Teammates | None = None
    goal: Goal | None = field(default=None)

    def __call__(self, robot: Robot, frontiers: Frontiers, allowed: np.ndarray) -> Goal | None:
        assert robot.map is not None
        if self.team is not None:
            self.team.step(robot, goal=self.goal)
        grid = robot.map.grid
        points = grid.to_world(frontiers.cells)
        open_ = allowed & robot.reachable()[frontiers.cells[:, 0], frontiers.cells[:, 1]]
        if self._is_worth(robot, points[open_]):
            return self.goal
        goals = [] if self.team is None else [m.goal for m in self.team.others(robot).values() if m.goal is not None]
        value = utility(
            points,
            frontiers.label,
            unknown_beside(robot.map.occupancy(), frontiers.cells),
            np.array(robot.pose[:2]),
            _in_sight(robot),
            np.array(goals).reshape(-1, 2),
            self.alpha,
            self.beta,
            grid.resolution / self.tile_m,
        )
        value[np.bincount(frontiers.label[open_], minlength=len(value)) == 0] = -np.inf
        best = int(np.argmax(value))
        self.goal = None
        if np.isfinite(value[best]):
            members = np.flatnonzero(frontiers.label == best)
            self.goal = target(points[members], open_[members], np.array(robot.pose[:2]))
        if self.team is not None:
            self.team.step(robot, goal=self.goal)
        return self.goal

    def _is_worth(self, robot: Robot, points: np.ndarray) -> bool:
        """Return whether the goal is not reached yet and still has a frontier near it."""
        if self.goal is None or math.dist(self.goal, robot.pose[:2]) <= _HERE_M:
            return False
        return bool((np.hypot(*(points - self.goal).T) <= _KEEP_M).any())


def utility(
    points: np.ndarray,
    label: np.ndarray,
    unknown: np.ndarray,
    own: np.ndarray,
    others: np.ndarray,
    goals: np.ndarray,
    alpha: float,
    beta: float,
    tiles_per_cell: float = 1.0,
) -> np.ndarray:
    """Return the utility of each frontier, float64 (m,).

    Information: the sum over the cells c of a frontier of G(x(c)) + the sum of G(x) over the eight cells beside c,
    divided by the number of frontiers, where x is 1/2 for an unknown cell and 0 otherwise, and G(x) = 5 exp(-(x -
    1/2)^2 / (2 * 0.1^2)): it counts the unknown cells beside the frontier. Distance: the density of the beta
    distribution with alpha and beta at w, the square root of the mean distance to the cells of the frontier over the
    farthest of any frontier. Coordination: 1 - w from each robot in sight, and 1 - w from each goal of another robot
    (ffTNF), times the largest information of any frontier; in units of that information the weight is 1.

    MAES differs in three points: it takes w of the *sum* of distances, which exceeds 1; it omits the constant of the
    density, so that at 8 and 8 the distance has no effect; and it subtracts w itself, which draws robots together.

    Args:
        points: cells of all frontiers [m], (k, 2).
        label: the frontier of each cell, int (k,), 0 … m - 1.
        unknown: number of unknown cells among the eight beside each cell, (k,).
        own: position of the robot [m], (2,).
        others: positions of the robots in sight [m], (n, 2).
        goals: goals of other robots [m], (q, 2).
        alpha, beta: see `tnf`.
        tiles_per_cell: number of tiles that a cell of the map counts for.

    Examples:
        >>> two = np.array([[1.0, 0.0], [4.0, 0.0]])
        >>> none = np.empty((0, 2))
        >>> utility(two, np.array([0, 1]), np.array([1, 1]), np.zeros(2), none, none, 1.0, 10.0).round(2).tolist()
        [2.52, 2.5]
    """
    count = int(label.max()) + 1 if len(label) else 0
    seen_g, unknown_g = 5.0 * math.exp(-0.25 / 0.02), 5.0
    information = tiles_per_cell / max(count, 1) * (unknown * unknown_g + (9 - unknown) * seen_g)
    promised = np.bincount(label, information, count)
    value = promised.copy()
    w = wavefront(points, label, own)
    value += w ** (alpha - 1.0) * (1.0 - w) ** (beta - 1.0) / _beta(alpha, beta)
    for place in others:
        value -= 1.0 - wavefront(points, label, place)
    for place in goals:
        value -= promised.max(initial=0.0) * (1.0 - wavefront(points, label, place))
    return value


def wavefront(points: np.ndarray, label: np.ndarray, place: np.ndarray) -> np.ndarray:
    """Return w of each frontier from a place, between 0 and 1, see `utility`."""
    away = np.hypot(*(points - place).T)
    mean = np.bincount(label, away) / np.bincount(label)
    return np.sqrt(mean / max(float(away.max(initial=0.0)), 1e-9))


def target(points: np.ndarray, allowed: np.ndarray, own: np.ndarray) -> Goal:
    """Return the allowed cell [m] nearest to the mean of the first, middle and last cell of a frontier.

    If the robot is there already (0.3 m), return the cell nearest to the middle one.
    """
    middle = points[len(points) // 2]
    mean = (points[0] + middle + points[-1]) / 3.0
    aim = middle if math.dist(mean, own) < _HERE_M else mean
    candidates = points[allowed]
    x, y = candidates[int(np.argmin(np.hypot(*(candidates - aim).T)))].tolist()
    return x, y


def unknown_beside(occupancy: np.ndarray, cells: np.ndarray) -> np.ndarray:
    """Return the number of unknown cells among the eight beside each cell, (k, 2), as int64 (k,)."""
    unknown = np.pad(occupancy == -1, 1)
    row, column = cells[:, 0] + 1, cells[:, 1] + 1
    steps = [(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0)]
    beside = np.array([unknown[row + i, column + j] for i, j in steps])
    return np.count_nonzero(beside, axis=0).astype(np.int64)


def _beta(a: float, b: float) -> float:
    """The beta function, which normalises the density."""
    return math.exp(math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b))


def _in_sight(robot: Robot) -> np.ndarray:
    reading = getattr(robot, "neighbours", None)
    if reading is None:
        return np.empty((0, 2))
    to = reading.bearings + robot.pose[2]
    return robot.pose[:2] + reading.ranges[:, None] * np.stack((np.cos(to), np.sin(to)), axis=-1)
