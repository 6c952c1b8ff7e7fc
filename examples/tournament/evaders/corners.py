"""Stays in a corner, and runs to the next one clockwise when the pursuer is within 4 m."""

import numpy as np

CORNERS = np.array([(1.0, 1.0), (1.0, 9.0), (9.0, 9.0), (9.0, 1.0)])


def law(team):
    pursuer = team.others[0, :2]
    goal = getattr(team.memory, "goal", 2)
    if np.hypot(*(pursuer - CORNERS[goal])) < 4.0 and team.distance_to(CORNERS[goal])[0] < 0.5:
        goal = (goal + 1) % 4
    team.memory.goal = goal
    return min(1.0, team.distance_to(CORNERS[goal])[0]), 4.0 * team.bearing_to(CORNERS[goal])
