"""Meetings at a target that needs several robots: agreed over a radio that may lose messages, held, and told."""

import math
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from covey.controllers.rescue.lookout import Find
from covey.controllers.teammates import Mate
from covey.onboard.handle import Robot

Point = tuple[float, float]

NEAR_M = 1.2
"""Robots that meet stand within this distance of the target [m], or within six tenths of what the rules allow …"""
APART_M = 0.6
"""… and at least this far from each other [m]."""
_STAND_M = 0.5
# Of the distance that the rules allow: where robots choose places, and where one is there. It stops before its place.
_NEAR, _THERE = 0.6, 0.825
_STAY_S = 1.5  # longer than the rules ask for: the referee looks now and then
_ANEW_S = 8.0


class Meetings:
    """The meetings of one robot; call `step` at every step.

    A robot calls: it names a target, and the mates that it wants there, the nearest ones that it hears. Its call is a
    part of the report that it sends every second, so a lost message only delays it. A mate that is wanted goes, and
    says that it comes; that is the confirmation, and the caller then goes too. Both stay until enough robots say that
    they are there, and then for a moment. Then the meeting is held, and everybody is told. Once it is agreed, robots
    go and wait even if they hear nobody. After ``patience_s`` they give up, and leave the target alone for as long,
    if there is something else to do.

    Args:
        kinds: number of robots by kind of target.
        patience_s: time after which a robot gives a meeting up [s].
        within_m, for_s: how near to the target robots must be, and for how long together, by the rules [m, s].

    Attributes:
        near_m: robots choose places within this distance of the target [m].
        held: identities of the targets where a meeting was held.
        at: identity of the target of the present meeting; None: no meeting.
        agreed: whether the robot goes there: it was called, or somebody comes.
    """

    def __init__(self, kinds: Mapping[str, int], patience_s: float, within_m: float = 2.0, for_s: float = 0.0):
        self.kinds, self.patience_s = {kind: n for kind, n in kinds.items() if n > 1}, patience_s
        self.near_m, self._there_m, self._stay_s = min(NEAR_M, _NEAR * within_m), _THERE * within_m, for_s + _STAY_S
        self.held: set[int] = set()
        self.at: int | None = None
        self.agreed = False
        self.place: Point | None = None
        self._wanted: tuple[str, ...] = ()
        self._since_s = self._placed_s = 0.0
        self._together_s: float | None = None
        self._not_before: dict[int, float] = {}
        self._there = False

    def open(self, found: Mapping[int, Find]) -> list[int]:
        """Return the identities of the targets found where a meeting has to be held."""
        return [i for i, find in sorted(found.items()) if find.kind in self.kinds and i not in self.held]

    @property
    def facts(self) -> dict[str, Any]:
        """What the robot tells about meetings, as facts of `Teammates`."""
        state = None if self.at is None else (self.at, self.agreed, self._there, self._wanted)
        return {"meeting": state, "held": tuple(sorted(self.held))}

    def call(
        self, robot: Robot, identity: int, found: Mapping[int, Find], mates: Mapping[str, Mate], anyway: bool = False
    ) -> bool:
        """Call for a meeting, if there are enough mates without one; return whether it did.

        ``anyway``: also at a target that it has just given up, for example because nothing else is left to do.
        """
        if self.at is not None or (not anyway and robot.time < self._not_before.get(identity, 0.0)):
            return False
        find = found[identity]
        free = {name: mate.pose[:2] for name, mate in mates.items() if mate.facts.get("meeting") is None}
        wanted = nearest_mates((find.x, find.y), free, self.kinds[find.kind] - 1)
        if len(wanted) < self.kinds[find.kind] - 1:
            return False
        self._begin(robot, identity, wanted)
        return True

    def go(self, robot: Robot, identity: int) -> None:
        """Go to a target and wait there for others, though nobody was heard."""
        if self.at is None:
            self._begin(robot, identity, ())
            self.agreed = True

    def step(self, robot: Robot, found: Mapping[int, Find], mates: Mapping[str, Mate]) -> bool:
        """Process the mates' reports; return whether the robot has to choose again what it does."""
        before = self.at, self.agreed, self.place
        for mate in mates.values():
            self.held.update(mate.facts.get("held", ()))
        if self.at is None:
            for mate in mates.values():
                identity, _, _, wanted = mate.facts.get("meeting") or (None, False, False, ())
                if identity is not None and robot.name in wanted and identity in found and identity not in self.held:
                    self._begin(robot, identity, ())
                    self.agreed = True
                    break
        elif self.at in self.held:
            self._end()
        elif robot.time - self._since_s > self.patience_s:
            self._not_before[self.at] = robot.time + self.patience_s
            self._end()
        else:
            self._go_on(robot, found[self.at], mates)
        return before != (self.at, self.agreed, self.place)

    def _begin(self, robot: Robot, identity: int, wanted: tuple[str, ...]) -> None:
        self.at, self._wanted, self._since_s, self.agreed, self.place = identity, wanted, robot.time, False, None
        self._there, self._together_s = False, None

    def _end(self) -> None:
        self.at, self.agreed, self.place, self._wanted, self._there = None, False, None, (), False

    def _go_on(self, robot: Robot, find: Find, mates: Mapping[str, Mate]) -> None:
        here = {n: m.facts["meeting"] for n, m in mates.items() if (m.facts.get("meeting") or (None,))[0] == self.at}
        self.agreed = self.agreed or any(name in self._wanted for name in here)
        if not self.agreed:
            return
        x, y, _ = robot.pose
        self._there = math.hypot(x - find.x, y - find.y) <= self._there_m
        if not self._there and (self.place is None or robot.time > self._placed_s + _ANEW_S):
            others = [mate.pose[:2] for mate in mates.values()]
            place = standing_place(robot, (find.x, find.y), others, self.near_m)
            self.place, self._placed_s = place, robot.time
        together = self._there + sum(bool(state[2]) for state in here.values()) >= self.kinds[find.kind]
        if not together:
            self._together_s = None
        elif self._together_s is None:
            self._together_s = robot.time
        elif robot.time - self._together_s >= self._stay_s:
            self.held.add(self.at)  # pyright: ignore[reportArgumentType]  # there is a meeting


def nearest_mates(target: Point, free: Mapping[str, Any], most: int) -> tuple[str, ...]:
    """Return the names of the mates nearest to a target, at most ``most``; ties by name.

    Examples:
        >>> nearest_mates((0.0, 0.0), {"a": (3.0, 0.0), "b": (1.0, 1.0), "c": (5.0, 0.0)}, 2)
        ('b', 'a')
    """
    away = sorted((math.hypot(x - target[0], y - target[1]), name) for name, (x, y) in free.items())
    return tuple(name for _, name in away[:most])


def standing_place(robot: Robot, target: Point, others: Collection[Any], near_m: float = NEAR_M) -> Point | None:
    """Return the place to stand near a target [m]; None if the robot knows none that it can reach.

    It is on free floor within ``near_m`` of the target, `APART_M` or more from the others [m], and of such places the
    one about `_STAND_M` from the target. The first place on the way might be the only door, and nobody could follow.
    """
    grid, occupancy = robot.map.grid, robot.map.occupancy()
    row, column = grid.cell_at(*target)
    reach = math.ceil(near_m / grid.resolution)
    top, left = max(row - reach, 0), max(column - reach, 0)
    window = np.s_[top : max(row + reach + 1, 0), left : max(column + reach + 1, 0)]
    cells = np.argwhere((occupancy[window] == 0) & robot.reachable()[window]) + np.array([top, left])
    points = grid.to_world(cells)
    away = np.hypot(*(points - target).T)
    fits = away <= near_m
    for x, y in others:
        fits &= np.hypot(points[:, 0] - x, points[:, 1] - y) >= APART_M
    if not fits.any():
        return None
    x, y = points[fits][np.abs(away[fits] - _STAND_M).argmin()].tolist()
    return x, y
