"""Goes to the point between the evader and the middle of the square, then closes in."""

import numpy as np


def law(team):
    evader = team.others[0, :2]
    away = min(1.0, team.time / 30.0)
    return 1.0, 4.0 * team.bearing_to(np.array([5.0, 5.0]) + (0.5 + 0.5 * away) * (evader - 5.0))
