"""Runs straight away from the pursuer, and along the wall when it gets there."""

import numpy as np


def law(team):
    at, pursuer = team.position[0], team.others[0, :2]
    return 1.0, 4.0 * team.bearing_to(np.clip(at + 2.0 * (at - pursuer), 0.5, 9.5))
