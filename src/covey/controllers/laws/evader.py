"""An evader of its own: it flees from the robots of other groups, by the rules of `covey.controllers.laws.evasion`."""

from typing import Any

import numpy as np

from covey.controllers.laws.evasion import Evasion, corners_within, refuge
from covey.controllers.laws.steering import driven, towards
from covey.onboard.controller import controller
from covey.robots.parameters import Gain, Metres, Pace, Points


@controller("evader", scope="group", sees=("pose", "others"), missions=())
class Evader:
    """Flee from the nearest robot of another group, among four corners, see `PursuitAndEvasion`.

    Args:
        evasion: clockwise: to the next corner when one is near. opposite, diagonal: away from it.
        speed_m_s: largest speed [m/s].
        near_m: with clockwise, it leaves a corner when another is nearer than this [m].
        turn_gain: of robots that must turn: turn rate per angle to their way [1/s].
        workspace_m: corners of the convex workspace [m]; empty: that of the team. The evader's corners are 10 % of its
            sides from its border.
    """

    def __init__(
        self,
        evasion: Evasion = "clockwise",
        speed_m_s: Pace = 1.0,
        near_m: Metres = 3.0,
        turn_gain: Gain = 3.0,
        workspace_m: Points = (),
    ):
        self.evasion: Evasion = evasion
        self.speed_m_s, self.near_m, self.turn_gain, self.workspace_m = speed_m_s, near_m, turn_gain, workspace_m
        self._corner = np.zeros(0, np.int64)

    def step(self, team: Any) -> Any:
        """Return the commands of all robots."""
        others = team.fields["others"]
        if not len(self._corner):
            self._corner = np.zeros(team.count, np.int64)
        if not len(others):
            return driven(team, np.zeros((team.count, 2)))
        corners, goals = corners_within(np.array(self.workspace_m or team.workspace)), np.empty((team.count, 2))
        for i, own in enumerate(team.position):
            nearest = others[np.hypot(*(others[:, :2] - own).T).argmin(), :2]
            self._corner[i] = refuge(self.evasion, own, nearest, corners, int(self._corner[i]), self.near_m)
            goals[i] = corners[self._corner[i]]
        return driven(team, towards(team.position, goals, self.speed_m_s, team.dt), self.turn_gain)
