"""Connected exploration: no robot makes a step that would cut the team's network."""

import math

import numpy as np

from covey.controllers.exploration.frontier_loop import Choice, Errand, Goal, explore
from covey.controllers.exploration.team_assignment import middles
from covey.controllers.teammates import Mate, Teammates
from covey.mapping.occupancy.frontiers import Frontiers
from covey.onboard.controller import controller
from covey.onboard.handle import Robot
from covey.robots.parameters import Count, Definition, Metres, RadioRange, Seconds, Stay

_STRIDE_S = 2.0
"""A path is judged as far as the robot drives in this time at top speed [s]."""
_NEARER_M, _NEWS_CELLS = 0.3, 20
"""Least gain, in distance to a goal or in known area, that counts as progress."""


@controller(
    "connected", sees=("pose", "map", "shared_map", "radio", "shared_frame"), needs=("map",), missions=("exploration",)
)
async def connected(
    robot: Robot,
    *,
    range_m: RadioRange = 20.0,
    margin_s: Stay = 2.0,
    patience_s: Seconds = 10.0,
    give_up_s: Seconds = 120.0,
    min_cells: Count = 8,
    definition: Definition = "explore",
    piece_m: Metres = 10.0,
    replan_s: Seconds = 1.0,
    forget_s: Seconds = 10.0,
) -> None:
    """Go to the nearest frontier on a path whose next part keeps all connected robots connected.

    Robots within ``range_m`` of each other count as connected, directly or through other robots. If no frontier has a
    connected path, the robot waits. After ``patience_s`` of waiting, it follows the robot whose name comes first in
    its network, which sets that robot free, until that robot has another goal. It does the same after ``patience_s``
    without coming nearer to its goals and without anything new on its map, because two robots that each want what lies
    behind the other block each other. It follows only as far as its network holds. It ends when it can reach no
    frontier.

    The paper draws and judges all moves of the team together. Here each robot judges its own moves against the others'
    present and announced positions. Others move at the same time and are heard a moment later, so the robot keeps its
    own links shorter than ``range_m``, by what it drives in ``margin_s``; a link that is longer already may become
    shorter, not longer. In place of its own link it takes only links of others that keep this margin, because these
    others may rely on its own. All robots move at once, so this is no guarantee. A robot that has been silent for
    ``forget_s`` is lost and holds nobody back. A robot that hears nobody explores alone, and so does one that found no
    connected path for ``give_up_s``.

    Args:
        robot: a robot with a map.
        range_m: robots within this distance can hear each other [m]; give that of the radio or less.
        margin_s: a robot's own links stay shorter than ``range_m`` by its top speed times this [s], at most by half.
        patience_s: time without a connected path before the robot follows [s].
        give_up_s: time without one before it leaves the network [s]; inf (the paper): never.
        min_cells: smallest frontier that counts, in cells; smaller ones count when no other is left.
        definition: which cells are frontier cells, see `covey.mapping.occupancy.frontiers.find_frontiers`.
        piece_m: a longer frontier is cut into goals, one per this length [m].
        replan_s: time between two choices [s].
        forget_s: time after which a silent robot counts as lost [s].

    Unlike the source:
        Compared with notes on the paper.

        - the best of several random configurations of all moves -> each robot goes to the nearest frontier that keeps
          it connected
        - standstill: robots are pulled back to one robot -> after ``patience_s`` they follow the robot whose name comes
          first
        - the robot never leaves the network -> it does after ``give_up_s``, if that is finite

    References:
        M. N. Rooker, A. Birk: Multi-robot exploration under the constraints of wireless networking. Control Engineering
        Practice 15(4), 2007, pp. 435-445.
    """
    team = Teammates(forget_s=forget_s)
    speed_m_s = robot.model.max_speed_m_s
    bond = _Bond(range_m, speed_m_s * margin_s, patience_s, give_up_s, speed_m_s * _STRIDE_S)

    def choose(robot: Robot, frontiers: Frontiers, allowed: np.ndarray) -> Choice:
        assert robot.map is not None
        way, grid = robot.travel_cost(), robot.map.grid
        usable = allowed & np.isfinite(way[frontiers.cells[:, 0], frontiers.cells[:, 1]])
        if not usable.any():
            return None
        cells = middles(frontiers.cells[usable], frontiers.label[usable], piece_m / grid.resolution)
        cells = cells[np.argsort(way[cells[:, 0], cells[:, 1]], kind="stable")]
        ahead = np.array([stretch(way, cell, bond.stride_m) for cell in cells])
        length_m, known = way[cells[:, 0], cells[:, 1]], int(np.count_nonzero(grid.cells >= 0))
        mates = team.others(robot)
        chosen = bond.choose(robot, grid.to_world(cells), length_m, grid.to_world(ahead), mates, known)
        if not isinstance(chosen, Errand) or chosen.place is None:
            return chosen
        row, column = grid.cell_at(*chosen.place)
        if not (grid.inside((row, column)) and np.isfinite(way[row, column])):
            return chosen
        return bond.follow(robot, chosen, grid.to_world(stretch(way, np.array([row, column]), bond.stride_m)), mates)

    def tell(robot: Robot, goal: Goal | None) -> None:
        team.step(robot, goal=goal, next=bond.next)

    await explore(robot, choose, definition=definition, min_cells=min_cells, replan_s=replan_s, each_step=tell)


class _Bond:
    """The bond of a robot to its network, and the time since it last found a connected path."""

    def __init__(self, range_m: float, margin_m: float, patience_s: float, give_up_s: float, stride_m: float):
        self.range_m, self.margin_m, self.stride_m = range_m, min(margin_m, 0.5 * range_m), stride_m
        self.patience_s, self.give_up_s = patience_s, give_up_s
        self.next: Goal | None = None
        self._since = math.inf
        self._leader: tuple[str, Goal | None] | None = None
        self._known, self._least_m, self._gained_s = 0, math.inf, -math.inf

    def choose(
        self,
        robot: Robot,
        goals: np.ndarray,
        length_m: np.ndarray,
        ahead: np.ndarray,
        mates: dict[str, Mate],
        known: int,
    ) -> Choice:
        """Return the goal, or an errand.

        Args:
            robot: the robot.
            goals: x, y [m], the nearest first, float64 (k, 2).
            length_m: lengths of the paths to them [m], (k,).
            ahead: the ends of the next stretches of these paths [m], float64 (k, 2).
            mates: the other robots.
            known: number of known cells of the map.
        """
        here = np.array(robot.pose[:2])
        now, then = _places(mates)
        following = self._leading(mates)
        best = nearest_connected(here, ahead, now, then, self.range_m, self.margin_m)
        net = [name for name, held in zip(mates, reached(here, now, self.range_m), strict=True) if held]
        first = min(net, default=robot.name)
        held = best >= 0 and first < robot.name and self._gains_nothing(robot.time, float(length_m[best]), known)
        if best >= 0 and following is None and not held:
            self._since = math.inf
            return self._to(ahead[best], goals[best])
        self._since = min(self._since, robot.time)
        waited = robot.time - self._since
        if waited > self.give_up_s:
            return self._to(ahead[0], goals[0])
        self.next = None
        if following is None and (held or waited > self.patience_s) and first < robot.name:
            following = first
            self._leader = following, mates[following].goal
        if following is not None and math.dist(here, mates[following].pose[:2]) > 0.3 * self.range_m:
            return Errand((mates[following].pose[0], mates[following].pose[1]))
        return Errand()

    def follow(self, robot: Robot, errand: Errand, ahead: np.ndarray, mates: dict[str, Mate]) -> Errand:
        """Return the errand that follows a mate, or to stand if its next part would cut the network.

        Args:
            robot: the robot.
            errand: the drive to the mate.
            ahead: the end of its next stretch, x, y [m].
            mates: the other robots.
        """
        if nearest_connected(np.array(robot.pose[:2]), ahead[None], *_places(mates), self.range_m, self.margin_m) < 0:
            return Errand()
        self.next = float(ahead[0]), float(ahead[1])
        return errand

    def _gains_nothing(self, time_s: float, length_m: float, known: int) -> bool:
        """Return whether the robot has long come no nearer to a goal and seen nothing new."""
        if known > self._known + _NEWS_CELLS or length_m < self._least_m - _NEARER_M:
            self._known, self._least_m, self._gained_s = max(known, self._known), length_m, time_s
        return time_s - self._gained_s > self.patience_s

    def _to(self, ahead: np.ndarray, goal: np.ndarray) -> Goal:
        self.next = float(ahead[0]), float(ahead[1])
        return float(goal[0]), float(goal[1])

    def _leading(self, mates: dict[str, Mate]) -> str | None:
        """Return the robot to follow, as long as it is heard and keeps its goal."""
        if self._leader is not None:
            name, goal = self._leader
            told = mates[name].goal if name in mates else None
            if name not in mates or (goal is not None and (told is None or math.dist(told, goal) > 2.0)):
                self._leader, self._since, self._least_m = None, math.inf, math.inf
            elif goal is None:
                self._leader = name, told
        return self._leader and self._leader[0]


def _places(mates: dict[str, Mate]) -> tuple[np.ndarray, np.ndarray]:
    """Return the present and the announced positions of robots [m], each float64 (n, 2)."""
    now = [m.pose[:2] for m in mates.values()]
    then = [m.facts.get("next") or m.pose[:2] for m in mates.values()]
    return np.array(now).reshape(-1, 2), np.array(then).reshape(-1, 2)


def nearest_connected(
    here: np.ndarray, ahead: np.ndarray, now: np.ndarray, then: np.ndarray, range_m: float, margin_m: float = 0.0
) -> int:
    """Return the first place from which all robots that are reached from here stay reachable, or -1.

    A robot with a link of its own may lose it only if other links that are shorter by the margin hold that robot. Else
    two robots each rely on the long link of the other to a third one, drive away together, and both links break.

    Args:
        here: x, y of the robot [m].
        ahead: float64 (k, 2), places that it could go to, best first [m].
        now, then: float64 (n, 2), present and next positions of the others [m].
        range_m: largest length of a link [m].
        margin_m: the robot's own links must be shorter by this, or no longer than they are now [m].

    Examples:
        >>> here, others = np.zeros(2), np.array([[5.0, 0.0]])
        >>> nearest_connected(here, np.array([[-3.0, 0.0], [2.0, 0.0]]), others, others, 6.0)
        1
        >>> nearest_connected(here, np.array([[0.0, 3.0], [2.0, 0.0]]), others, others, 6.0, margin_m=0.5)
        1
    """
    held = reached(here, now, range_m)
    now, then = now[held], then[held]
    far_m = np.hypot(*(now - here).T)
    own_m, linked = np.clip(far_m, range_m - margin_m, range_m), far_m <= range_m

    def holds(place: np.ndarray, others: np.ndarray) -> bool:
        by_sure = reached(place, others, range_m - margin_m, own_m)
        return bool((by_sure | (~linked & reached(place, others, range_m, own_m))).all())

    return next((i for i, place in enumerate(ahead) if holds(place, now) and holds(place, then)), -1)


def reached(here: np.ndarray, others: np.ndarray, range_m: float, own_m: np.ndarray | None = None) -> np.ndarray:
    """Return which others, bool (n,), are connected with a place by any number of links of at most ``range_m``.

    Args:
        here: x, y of the place [m].
        others: float64 (n, 2), positions of the others [m].
        range_m: largest length of a link [m].
        own_m: largest lengths of the links of the place itself [m], (n,); None: ``range_m``.
    """
    linked = np.hypot(*(others - here).T) <= (range_m if own_m is None else own_m)
    links = np.hypot(*(others[:, None] - others[None]).transpose(2, 0, 1)) <= range_m
    for _ in range(len(others)):
        more = linked | links[linked].any(axis=0)
        if (more == linked).all():
            break
        linked = more
    return linked


def stretch(way: np.ndarray, cell: np.ndarray, length_m: float) -> tuple[int, int]:
    """Return the cell at a cost of about ``length_m`` along the cheapest path to a goal.

    Args:
        way: cost to come to each cell [m], float32 (rows, columns), inf where there is no path.
        cell: row and column of the goal.
        length_m: cost from the start [m]; a nearer goal is returned itself.
    """
    row, column = int(cell[0]), int(cell[1])
    while way[row, column] > length_m:
        top, left = max(row - 1, 0), max(column - 1, 0)
        around = way[top : row + 2, left : column + 2]
        down, right = divmod(int(around.argmin()), around.shape[1])
        if (top + down, left + right) == (row, column):
            break
        row, column = top + down, left + right
    return row, column
