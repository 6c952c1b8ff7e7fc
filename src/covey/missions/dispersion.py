"""Dispersion: a team spreads to places that lie scattered, of which each is taken once."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from covey.kernel import kernel
from covey.missions.navigation import checked_places
from covey.missions.protocol import Mission, MissionContext, Tracker, TrackerInWorlds, missions
from covey.robots.parameters import Points
from covey.world.placement.goals import drawn_goals


class DispersionTracker(Tracker):
    """Tracks which places have been taken.

    Args:
        places_m: x, y [m], float64 (m, 2).
        robots: n.
        within_m: how near a robot must come.
    """

    columns = ("places_taken",)
    robot_columns = ("taken",)
    places: np.ndarray

    def __init__(self, places_m: np.ndarray, robots: int, within_m: float):
        self.places = np.column_stack((places_m, np.ones(len(places_m))))
        self.within_m, self._taken = within_m, np.zeros(robots)
        self.facts: dict[str, Any] = {"order": {"places_m": places_m.tolist()}, "within_m": within_m}

    def measure(self, time_s: float, pose: np.ndarray, able: np.ndarray) -> list[tuple[int, str]]:
        """Process the true poses (n, 3) and the able robots, bool (n,); return who has taken a place."""
        before = self._taken.copy()
        left = take(pose[None], able[None], self.places[None], self.within_m, self._taken[None])
        self.reached = not left[0]
        return [(i, "has taken a place") for i in np.flatnonzero(self._taken > before).tolist()]

    @property
    def values(self) -> dict[str, Any]:
        """Number of places that are taken, and how many each robot has taken, float64 (n,)."""
        return {"places_taken": float(np.count_nonzero(self.places[:, 2] == 0)), "taken": self._taken}


class DispersionInWorlds(TrackerInWorlds):
    """Tracks which places have been taken in each world of a batch."""

    def __init__(self, trackers: Sequence[DispersionTracker]):
        self.places = np.stack([one.places for one in trackers])
        self._within_m, self._taken = trackers[0].within_m, np.stack([one.values["taken"] for one in trackers])

    def begin(self, world: int, tracker: DispersionTracker) -> None:
        """Begin anew in a world."""
        self.places[world], self._taken[world] = tracker.places, 0

    def measure(self, pose: np.ndarray, running: np.ndarray) -> np.ndarray:
        """Process the true poses (B, n, 3); return the worlds in which all is taken, bool (B,)."""
        able = np.repeat(running[:, None], pose.shape[1], axis=1)
        return take(pose, able, self.places, self._within_m, self._taken) == 0

    def values(self, pose: np.ndarray) -> dict[str, np.ndarray]:
        """Return how many places each robot has taken, float64 (B, n)."""
        return {"taken": self._taken}


@missions.register("dispersion")
class Dispersion(Mission):
    """Places lie scattered, and each is taken by the first robots that come near; the goal of the run: all are taken.

    It is the game ``dispersion`` of VMAS, but robots touch. Robots find the places on the blackboard, as ``places_m``
    of ``order``; what is taken, only policies in an environment see.

    References:
        M. Bettini, R. Kortvelesy, J. Blumenkamp, A. Prorok: VMAS: a vectorized multi-agent simulator for collective
        robot learning. DARS 2022.
    """

    in_world: ClassVar[str] = "the places lie"
    rewards: ClassVar[Mapping[str, float]] = {"taken": 1.0}
    in_worlds: ClassVar[type[TrackerInWorlds] | None] = DispersionInWorlds

    places_m: Points | None = Field(
        default=None, description="x, y of the places [m]; null: free ones, one for each robot, drawn from the seed."
    )
    within_m: float = Field(
        default=0.3, gt=0, description="A robot this near to a place takes it [m]; several at once share it."
    )

    def begin(self, context: MissionContext) -> DispersionTracker:
        """Return the tracker of the places.

        Raises:
            MissionError: a place lies outside, or in a wall.
        """
        pose = context.state.pose
        if self.places_m is None:
            places = drawn_goals(context.world, pose, context.model.radius, context.seed)
        else:
            places = checked_places(context.world, self.places_m, "places_m", "place")
        return DispersionTracker(places, len(pose), self.within_m)


@kernel
def take(pose, able, places, within_m, taken):
    """Let robots take the places that they are near to; return how many are left in each world, int64 (B,).

    Args:
        pose: (B, n, 3). able: which robots can take something, bool (B, n).
        places: x, y [m], and 1 where it is still there, which becomes 0, float64 (B, m, 3).
        within_m: how near.
        taken: how many places each robot has taken, float64 (B, n); those that come at once share a place.
    """
    left = np.zeros(len(places), np.int64)
    for b in range(len(places)):
        for m in range(places.shape[1]):
            if places[b, m, 2] == 0.0:
                continue
            near = 0
            for i in range(pose.shape[1]):
                x, y = pose[b, i, 0] - places[b, m, 0], pose[b, i, 1] - places[b, m, 1]
                near += able[b, i] and x * x + y * y <= within_m * within_m
            if near == 0:
                left[b] += 1
                continue
            places[b, m, 2] = 0.0
            for i in range(pose.shape[1]):
                x, y = pose[b, i, 0] - places[b, m, 0], pose[b, i, 1] - places[b, m, 1]
                if able[b, i] and x * x + y * y <= within_m * within_m:
                    taken[b, i] += 1.0 / near
    return left
