"""Who gives up, or stands though its controller wants to drive, and what an exploration leaves: events with reasons."""

import math
from collections import Counter
from typing import NamedTuple

import numpy as np

from covey.clock import Clock
from covey.geometry.se2 import compose
from covey.mapping.occupancy.frontiers import find_frontiers
from covey.onboard.driving import Driving
from covey.onboard.giving_up import Reason, of_width
from covey.onboard.navigation.route import NO_PLACES
from covey.onboard.reachable import reachable
from covey.planning.widest import widest_ways
from covey.robots.team import TeamModel, TeamState
from covey.runtime.phases.deciding import Deciding
from covey.runtime.phases.localization_and_mapping import LocalizationAndMapping
from covey.world.standing import gap_to_wall
from covey.world.state import WorldState
from covey.world.world import label_by_size

STANDS_S, MOVES_M = 20.0, 0.1
"""A robot that wants to drive and has not moved this far in this time stands."""
_WANTS, _DRIVES_M_S = ("going", "following", "driving"), 0.02
_LOOK_S, _NEAR_M = 1.0, 1.0
_LEAST_M, _SAME_M, _MOST = 0.3, 1.0, 20
"""Frontiers that are shorter do not count, nearer ones are the same, and no robot tells of more."""


class GivingUpEvent(NamedTuple):
    """An event: its kind, a robot's index (-1: none), the other or a reason in a word, place [m] and text."""

    kind: str
    robot: int
    other: str
    place: tuple[float, float]
    text: str


class GivingUp:
    """What robots give up.

    Args:
        names: of the robots.
        world, clock, model, state: the truth.
        deciding, localization: what the controllers do, and what their robots know.
    """

    def __init__(
        self,
        names: list[str],
        world: WorldState,
        clock: Clock,
        model: TeamModel,
        state: TeamState,
        deciding: Deciding,
        localization: LocalizationAndMapping,
    ):
        self._names, self._world, self._clock, self._model, self._state = names, world, clock, model, state
        self._deciding, self._localization = deciding, localization
        self._every = max(1, round(_LOOK_S / clock.step_s))
        self._at, self._since_s = state.pose[:, :2].copy(), np.zeros(len(state.pose))
        self._standing: set[int] = set()

    def goals(self) -> list[GivingUpEvent]:
        """Return the goals that robots have given up since the last call."""
        told: list[GivingUpEvent] = []
        for i, x, y, kind, by, gap_m, body_m in self._deciding.requested.gave_up:
            reason = Reason(kind, by, gap_m, body_m)
            told.append(GivingUpEvent("gave_up", i, reason.by or reason.kind, self._in_world(i, x, y), reason.text))
        self._deciding.requested.gave_up.clear()
        return told

    def standing(self, commands: np.ndarray) -> list[GivingUpEvent]:
        """Return the robots that have begun to stand, or to drive again, since the last call.

        Args:
            commands: body twists, float64 (n, 3).
        """
        if self._clock.step % self._every:
            return []
        told, now, state = list[GivingUpEvent](), self._clock.time_s, self._state
        moved = np.hypot(*(state.pose[:, :2] - self._at).T) > MOVES_M
        wants = self._wants(commands)
        waits = moved | ~wants
        self._at[waits], self._since_s[waits] = state.pose[waits, :2], now
        late = now - self._since_s >= STANDS_S - 1e-9
        for i in np.flatnonzero(waits | late).tolist():
            place = state.pose[i, 0], state.pose[i, 1]
            if waits[i] and i in self._standing:
                self._standing.discard(i)
                told.append(
                    GivingUpEvent("stands_over", i, "", place, "it moves" if moved[i] else "it wants to no more")
                )
            elif not waits[i] and i not in self._standing:
                self._standing.add(i)
                other, beside = self._beside(i)
                text = f"it has not moved for {STANDS_S:g} s, though its controller wants to: {beside}"
                told.append(GivingUpEvent("stands", i, other, place, text))
        return told

    def _wants(self, commands: np.ndarray) -> np.ndarray:
        """Return which robots want to drive, bool (n,): they say so; under a law of a group, their commands do."""
        deciding, state = self._deciding, self._state
        drives = np.abs(commands[:, :2]).max(axis=1) > _DRIVES_M_S
        wants = drives & ~state.halted & ~state.vanished
        for i, answer in deciding.answered.items():
            wants[i] = answer.status in _WANTS and not state.halted[i] and (answer.status != "driving" or drives[i])
        wants[list(deciding.failed | deciding.down | deciding.lost)] = False
        return wants

    def _beside(self, robot: int) -> tuple[str, str]:
        """Return what is nearest to a robot, a name or ``wall``, and how far away it is, in words."""
        (x, y), state = self._state.pose[robot, :2], self._state
        radius = float(self._model.radius[robot])
        gaps = np.hypot(*(state.pose[:, :2] - (x, y)).T) - self._model.radius - radius
        gaps[robot] = math.inf
        gaps[state.vanished] = math.inf
        nearest = int(np.argmin(gaps))
        wall_m = gap_to_wall(self._world, x, y, radius + _NEAR_M) - radius
        if min(wall_m, gaps[nearest]) >= _NEAR_M:
            return "", "nothing is near it"
        if gaps[nearest] < wall_m:
            return self._names[nearest], f"{self._names[nearest]} is {max(gaps[nearest], 0.0):.2f} m beside it"
        return "wall", f"a wall is {max(wall_m, 0.0):.2f} m beside it"

    def left(self, explored_share: float, unexplored: np.ndarray) -> list[GivingUpEvent]:
        """Return what an exploration leaves when it ends before its goal: each frontier, and all of it in a sentence.

        Args:
            explored_share: share that is explored.
            unexplored: bool (rows, columns), cells of the world that could have been explored.
        """
        frontiers = self._frontiers() if self._world.ground is None else []
        counts = Counter(_because(why) for _, why in frontiers)
        what = "; ".join(f"{count} because {why}" for why, count in counts.most_common())
        many = f"{len(frontiers)} frontier{'s are' if len(frontiers) > 1 else ' is'} left: {what}"
        if not frontiers:
            many = f"no map has a frontier of {_LEAST_M:g} m or more left{self._shown(unexplored)}"
        place, area_m2 = self._largest(unexplored)
        text = f"{explored_share:.1%} explored; {many}"
        if area_m2:
            text += f"; the largest unexplored area has {area_m2:.1f} m² near ({place[0]:.1f}, {place[1]:.1f})"
        return [*(told for told, _ in frontiers), GivingUpEvent("exhausted", -1, "", place, text)]

    def _largest(self, unexplored: np.ndarray) -> tuple[tuple[float, float], float]:
        """Return a place in the largest unexplored area [m], and its size [m2]."""
        labels, counts = label_by_size(unexplored)
        if not len(counts):
            return (math.nan, math.nan), 0.0
        cells, grid = np.argwhere(labels == 1), self._world.grid
        middle = cells[np.argmin(np.hypot(*(cells - cells.mean(axis=0)).T))]
        x, y = grid.to_world(middle).tolist()
        return (x, y), len(cells) * grid.resolution**2

    def _shown(self, unexplored: np.ndarray) -> str:
        """Return what the maps show where nobody has looked, as the end of a sentence; empty if there are none."""
        points, cell_m = self._world.grid.to_world(np.argwhere(unexplored)), 0.0
        wall, floor = np.zeros(len(points), bool), np.zeros(len(points), bool)
        for i in self._localization.belief_of if self._world.ground is None else ():
            place = self._localization.map_in_world(i)
            cells = place.to_cells(points)
            inside, cell_m = place.inside(cells), max(cell_m, place.resolution)
            states = self._localization.belief_of[i].occupancy()[tuple(cells[inside].T)]
            wall[inside] |= states > 50
            floor[inside] |= (states >= 0) & (states <= 50)
        if not (wall | floor).any():
            return ""
        text = f": of what is unexplored they show {wall.mean():.0%} as wall and {(floor & ~wall).mean():.0%} as floor"
        if cell_m > self._world.grid.resolution:
            text += f" (their cells of {cell_m:g} m are wider than the {self._world.grid.resolution:g} m of the world)"
        return text

    def _frontiers(self) -> list[tuple[GivingUpEvent, Reason]]:
        told = list[tuple[GivingUpEvent, Reason]]()
        for i, belief in self._localization.belief_of.items():
            if i in self._deciding.lost or self._state.vanished[i]:
                continue
            grid, place = belief.grid, self._localization.map_in_world(i)
            found = find_frontiers(np.ascontiguousarray(belief.occupancy()), "explore", 1)
            order = [k for k in np.argsort(-found.sizes, kind="stable") if found.sizes[k] * grid.resolution >= _LEAST_M]
            points = place.to_world(found.nearest)
            new = [k for k in order if all(math.dist(points[k], one.place) > _SAME_M for one, _ in told)]
            x, y, _ = self._localization.in_own_frames([i], self._localization.pose[[i]])[0].tolist()
            radius = float(self._model.radius[i])
            for k, why in zip(new[:_MOST], self._why(belief, (x, y), radius, found, new[:_MOST]), strict=True):
                text = f"frontier left: {_because(why)}"
                told.append(
                    (GivingUpEvent("frontier_left", i, why.kind or "tried", tuple(points[k].tolist()), text), why)
                )
        return told

    def _why(self, belief, start, radius, found, clusters) -> list[Reason]:
        """Return why a robot left some frontiers; without a kind: its map shows a way to them."""
        if not len(clusters):
            return []
        grid = belief.grid
        open_to = reachable(grid, start, radius, Driving(), NO_PLACES)
        goals = found.nearest[clusters]
        at = np.clip(grid.cell_at(*start), 0, np.array(grid.shape) - 1)
        widths = widest_ways(belief.occupancy(), grid.resolution, tuple(at), goals, radius)
        reasons: list[Reason] = []
        for k, width in zip(clusters, widths.tolist(), strict=True):
            cells = found.of(int(k))
            if open_to[cells[:, 0], cells[:, 1]].any():
                reasons.append(Reason())
            else:
                reasons.append(of_width(width, 2.0 * radius))
        return reasons

    def _in_world(self, robot: int, x: float, y: float) -> tuple[float, float]:
        frames = self._localization.frames
        if frames is None:
            return x, y
        return tuple(compose(frames[[robot]], np.array([[x, y, 0.0]]))[0, :2].tolist())


def _because(why: Reason) -> str:
    if why.kind == "narrow":
        return why.widths
    return "its map shows no way there" if why.kind else "it got no nearer, or saw no more there"
