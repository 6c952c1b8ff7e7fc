"""Go to goals in a straight line."""

from typing import Any

import numpy as np

from covey.controllers.laws.look_ahead import commands_of, points_of, top_speed
from covey.errors import InvalidValueError
from covey.onboard.controller import controller
from covey.robots.parameters import Gain, LookAhead, Points


def goal_velocity(position: np.ndarray, goal: np.ndarray, top_speed_m_s: float, gain: float = 1.0) -> np.ndarray:
    """Return velocities towards goals, k (goal - x) up to a top speed, float64 (n, 2) [m/s].

    Args:
        position: points [m], (n, 2).
        goal: where they go [m], (n, 2).
        top_speed_m_s: largest speed [m/s].
        gain: k [1/s].
    """
    velocity = gain * (goal - position)
    speed = np.hypot(velocity[:, 0], velocity[:, 1])
    return velocity * (top_speed_m_s / np.maximum(speed, top_speed_m_s))[:, None]


@controller("go_to", scope="group", sees=("pose", "goals"), missions=())
def go_to(team: Any, *, goals_m: Points = (), gain: Gain = 1.0, look_ahead_m: LookAhead = 0.1) -> Any:
    """Go to goals in a straight line, blind to everything; for `safe` and `orca` to keep robots apart.

    Args:
        team: a group.
        goals_m: one for each robot [m]; empty: those of the mission; without any, each robot stays.
        gain: speed by distance near the goal [1/s].
        look_ahead_m: distance of the points ahead of robots with wheels [m].

    Raises:
        InvalidValueError: the number of goals is not that of the robots.
    """
    points = points_of(team, look_ahead_m)
    if goals_m and len(goals_m) != team.count:
        raise InvalidValueError(f"goals_m has {len(goals_m)} goals for {team.count} robots; give one for each")
    goal = np.array(goals_m, float) if goals_m else team.fields.get("goals", points)
    velocity = goal_velocity(points, goal, top_speed(team.robot, look_ahead_m, team.dt), gain)
    return commands_of(team, velocity, look_ahead_m)
