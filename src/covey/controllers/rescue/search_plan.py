"""Rescue with a plan of the building: places that see every face of every wall, shared out as tours."""

from typing import Any

import numpy as np

from covey.controllers.rescue.rescue_team import (
    SWEEPS,
    Point,
    RescueSettings,
    Searcher,
    Task,
    nearest_by_air,
    search,
    takes_settings,
)
from covey.controllers.teammates import Mate
from covey.onboard.controller import controller
from covey.onboard.handle import Robot
from covey.planning.shared_tours import shared_tours

_MOST = 200  # places
_DWELL_M = 1.0  # a turn all around, as a way


@controller(
    "search_plan",
    sees=("pose", "map", "shared_map", "radio", "shared_frame", "report", "tag_camera"),
    needs=("map",),
    missions=("rescue",),
)
@takes_settings
async def search_plan(robot: Robot, **settings: Any) -> None:
    """Search a building whose plan is known: visit places that together see every face of its walls.

    The places are a greedy set cover, with the camera's range and largest incidence. The robot shares them out between
    itself and the mates that it hears, so that the longest tour is short, and visits its own. A place whose faces have
    been searched on the way is left out. Where the map contradicts the plan, there are new places: for faces that
    have come to light, and for those behind ways that are closed. Without a plan (``known_map: plan``), frontiers are
    places, too. Reports, meetings and the end are those of `rescue_team`.

    Unlike the source:
        Compared with what later work cites.

        - candidates at random -> on a lattice of 0.6 m
        - tours by tabu search -> by insertion and moves

    References:
        H. Gonzalez-Banos, J.-C. Latombe: A randomized art-gallery algorithm for sensor placement. SoCG 2001 (places
        that see all walls, within range and incidence).
        P. M. Franca et al.: The m-traveling salesman problem with minmax objective. Transportation Science 29(3), 1995.
    """
    await search(robot, _Touring(robot, RescueSettings(**settings)))


class _Touring(Searcher):
    """A searcher with places to visit.

    Attributes:
        places: their cells, int64 (k, 2).
        between: float64 (k, k), ways between them when they were chosen [m].
    """

    def __init__(self, robot: Robot, settings: RescueSettings):
        super().__init__(robot, settings)
        self.places, self.between = np.empty((0, 2), np.int64), np.empty((0, 0))
        self._target: Point | None = None

    def search(self, robot: Robot, mates: dict[str, Mate]) -> Task | None:
        """Return the first place of the robot's tour; None if there is no place left."""
        grid, reach = robot.map.grid, robot.reachable()
        frontiers, _, _ = self._frontiers(robot, reach)
        self._renew(robot, reach, wanted=not (self.all_found or self.lookout.is_blind(robot)))
        cells = np.vstack((self.places, frontiers))
        if not len(cells):
            return None
        points, kinds = grid.to_world(cells), ["look"] * len(self.places) + ["frontier"] * len(frontiers)
        names = nearest_by_air(robot, mates)
        start = self._ways(robot, [mates[n].pose[:2] for n in names], cells)
        between = 1.3 * np.hypot(*(points[:, None] - points[None]).transpose(2, 0, 1))
        between[: len(self.places), : len(self.places)] = self.between
        taken = [mates[n].goal for n in names]
        chosen = self._next(start, between, points, [goal for goal in taken if goal is not None])
        if chosen < 0:
            return Task("wait")
        x, y = points[chosen].tolist()
        self._target = x, y
        robot.note(f"{kinds[chosen]} at ({x:.1f}, {y:.1f}), {len(self.places)} places left")
        return Task(kinds[chosen], (x, y), float(start[0, chosen]))

    def _next(self, start: np.ndarray, between: np.ndarray, points: np.ndarray, taken: list[Point]) -> int:
        """Return the index of the next place: the present goal while it is one, else that of the tour; -1: none."""
        if self._target is not None:
            near = np.hypot(*(points - self._target).T)
            if near.min() < 0.1 and np.isfinite(start[0, near.argmin()]):
                return int(near.argmin())
        free = np.ones(len(points), bool)
        for goal in taken:
            free &= np.hypot(*(points - goal).T) > 0.5
        tour = [place for place in shared_tours(start, between, _DWELL_M)[0] if free[place]]
        if tour:
            return tour[0]
        own = np.where(free, start[0], np.inf)
        return int(own.argmin()) if np.isfinite(own).any() else -1

    def _renew(self, robot: Robot, reach: np.ndarray, wanted: bool) -> None:
        """Drop places that are searched or cannot be reached, and add places for faces that no other one sees."""
        searched, grid = self.searched, robot.map.grid
        if searched is None or not wanted:
            self.places, self.between = np.empty((0, 2), np.int64), np.empty((0, 0))
            return
        self._forget_where_candidates_are()
        occupancy = robot.map.occupancy()
        can = reach[self.places[:, 0], self.places[:, 1]] & self._refused.clear(grid.to_world(self.places))
        self._keep(np.flatnonzero(can))
        lattice = self._places(robot, reach)
        old, all_ = searched.sights(occupancy, self.places), searched.sights(occupancy, lattice)
        for least, worth in SWEEPS:
            missed = np.where(searched.missed > least, searched.missed, 0.0)
            kept = np.flatnonzero(old.gains(missed) >= worth)
            for row in old.patches[kept]:
                missed.ravel()[row[row >= 0]] = 0.0
            new = [place for place, _ in all_.cover(missed, _MOST, worth)]
            if len(kept) or new:
                self._keep(kept)
                self._add(robot, lattice[new])
                return
        self._keep(np.empty(0, np.int64))

    def _keep(self, kept: np.ndarray) -> None:
        self.places, self.between = self.places[kept], self.between[np.ix_(kept, kept)]

    def _add(self, robot: Robot, new: np.ndarray) -> None:
        """Add places, int64 (m, 2) cells, and the ways from and to them."""
        if not len(new):
            return
        grid, k = robot.map.grid, len(self.places)
        cells = np.vstack((self.places, new))
        points = grid.to_world(cells)
        ways = robot.travel_from(grid.to_world(new), cells)
        between = np.zeros((len(cells), len(cells)))
        between[:k, :k], between[k:], between[:k, k:] = self.between, ways, ways[:, :k].T
        straight = 1.3 * np.hypot(*(points[:, None] - points[None]).transpose(2, 0, 1))
        between = np.where(np.isfinite(between), between, straight)
        self.places, self.between = cells, (between + between.T) / 2
