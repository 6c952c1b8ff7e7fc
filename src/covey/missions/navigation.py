"""Navigation: each robot drives to a goal of its own, among the others."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from covey.errors import MissionError
from covey.missions.protocol import Mission, MissionContext, Tracker, missions
from covey.robots.parameters import Points
from covey.world.placement.goals import drawn_goals


@missions.register("navigation")
class Navigation(Mission):
    """Each robot drives to a goal of its own; the goal of the run is reached when all are there at once.

    Controllers of groups see the goals as ``goals``; robots find them on the blackboard, as ``goals_m`` of ``order``.
    Drawn goals are those of `covey.env` with ``goals`` and this seed.
    """

    in_world: ClassVar[str] = "the goals of robots lie"
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
            goals = np.array(self.goals_m, float).reshape(-1, 2)
            if len(goals) != len(pose):
                raise MissionError(
                    f"there are {len(goals)} goals for {len(pose)} robots; list one for each, or leave goals_m out to "
                    "have them drawn",
                    "goals_m",
                )
            grid = context.world.grid
            if (out := ~grid.inside(grid.to_cells(goals))).any():
                raise MissionError(
                    f"the goal {goals[out][0].tolist()} lies outside the world; give one inside", "goals_m"
                )
            if (walled := ~context.world.free[tuple(grid.to_cells(goals).T)]).any():
                raise MissionError(
                    f"the goal {goals[walled][0].tolist()} lies in a wall; give one on free ground", "goals_m"
                )
        return NavigationTracker(goals, self.within_m)


class NavigationTracker(Tracker):
    """Tracks how far robots are from their goals.

    A robot that can act no more stays where it is, and keeps the run from its goal.

    Attributes:
        goals: x, y [m], float64 (n, 2).
        within_m: how near is there [m].
    """

    columns = ("robots_at_goals",)
    robot_columns = ("goal_m",)

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
