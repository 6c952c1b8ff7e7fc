"""Navigation: each robot drives to a goal of its own, among the others."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from covey.errors import MissionError
from covey.missions.protocol import Mission, MissionContext, Tracker, TrackerInWorlds, missions
from covey.robots.parameters import Points
from covey.world.placement.goals import drawn_goals
from covey.world.world import World


class NavigationTracker(Tracker):
    """Tracks how far robots are from their goals.

    A robot that can act no more stays where it is, and keeps the run from its goal.

    Attributes:
        goals: x, y [m], float64 (n, 2).
        within_m: how near is there [m].
    """

    columns = ("robots_at_goals",)
    robot_columns = ("goal_m",)
    goals: np.ndarray

    def __init__(self, goals: np.ndarray, within_m: float):
        self.goals, self.within_m = goals, within_m
        self.facts: dict[str, Any] = {"order": {"goals_m": goals.tolist()}, "within_m": within_m}
        self._away = np.full(len(goals), np.nan)
        self._been = np.zeros(len(goals), bool)

    def measure(self, time_s: float, pose: np.ndarray, able: np.ndarray) -> list[tuple[int, str]]:
        """Process the true poses (n, 3); return the robots that are at their goals for the first time."""
        self._away = np.hypot(*(self.goals - pose[:, :2]).T)
        there = self._away <= self.within_m
        new = np.flatnonzero(there & ~self._been).tolist()
        self._been |= there
        self.reached = bool(there.all())
        return [(i, "has reached its goal") for i in new]

    @property
    def values(self) -> dict[str, Any]:
        """Number of robots at their goals, and the distance of each from its goal [m], float64 (n,)."""
        return {"robots_at_goals": float(np.count_nonzero(self._away <= self.within_m)), "goal_m": self._away}


class NavigationInWorlds(TrackerInWorlds):
    """Tracks how far robots are from their goals in each world of a batch.

    Attributes:
        who: indices of the robots that must be there, int64 (k,); all.
    """

    def __init__(self, trackers: Sequence[NavigationTracker]):
        self.goals, self._within_m = np.stack([one.goals for one in trackers]), trackers[0].within_m
        self.who = np.arange(self.goals.shape[1])

    def begin(self, world: int, tracker: NavigationTracker) -> None:
        """Begin anew in a world."""
        self.goals[world] = tracker.goals

    def measure(self, pose: np.ndarray, running: np.ndarray) -> np.ndarray:
        """Process the true poses (B, n, 3); return the worlds in which all robots are at their goals, bool (B,)."""
        return np.asarray((self.values(pose)["goal_m"][:, self.who] <= self._within_m).all(axis=1))

    def values(self, pose: np.ndarray) -> dict[str, np.ndarray]:
        """Return the distance of each robot from its goal [m], float64 (B, n)."""
        return {"goal_m": np.hypot(self.goals[..., 0] - pose[..., 0], self.goals[..., 1] - pose[..., 1])}


@missions.register("navigation")
class Navigation(Mission):
    """Each robot drives to a goal of its own; the goal of the run is reached when all are there at once.

    Controllers of groups see the goals as ``goals``; robots find them on the blackboard, as ``goals_m`` of ``order``.
    Drawn goals are those of `covey.env` with ``goals`` and this seed.
    """

    in_world: ClassVar[str] = "the goals of robots lie"
    in_worlds: ClassVar[type[TrackerInWorlds] | None] = NavigationInWorlds
    rewards: ClassVar[Mapping[str, float]] = {"goal_m": -1.0, "collisions_robot": -1.0, "collisions_wall": -1.0}

    goals_m: Points | None = Field(
        default=None, description="x, y of the goal of each robot [m]; null: free places, drawn from the seed."
    )
    within_m: float = Field(default=0.3, gt=0, description="A robot this near to its goal has reached it [m].")

    def begin(self, context: MissionContext) -> "NavigationTracker":
        """Return the tracker of the distances.

        Raises:
            MissionError: the number of goals is not that of the robots, or one lies outside.
        """
        pose = context.state.pose
        if self.goals_m is None:
            goals = drawn_goals(context.world, pose, context.model.radius, context.seed)
        else:
            goals = checked_places(context.world, self.goals_m, "goals_m", "goal")
            if len(goals) != len(pose):
                raise MissionError(
                    f"there are {len(goals)} goals for {len(pose)} robots; list one for each, or leave goals_m out to "
                    "have them drawn",
                    "goals_m",
                )
        return NavigationTracker(goals, self.within_m)


def checked_places(world: World, places_m: Points, key: str, what: str) -> np.ndarray:
    """Return places of a mission, float64 (k, 2) [m].

    Raises:
        MissionError: one lies outside of the world, or in a wall; it names the ``key``.
    """
    places = np.array(places_m, float).reshape(-1, 2)
    grid = world.grid
    if (out := ~grid.inside(grid.to_cells(places))).any():
        raise MissionError(f"the {what} {places[out][0].tolist()} lies outside the world; give one inside", key)
    if (walled := ~world.free[tuple(grid.to_cells(places).T)]).any():
        raise MissionError(f"the {what} {places[walled][0].tolist()} lies in a wall; give one on free ground", key)
    return places
