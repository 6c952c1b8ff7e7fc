"""Heads for where the evader will be, if it goes on as it did."""

import numpy as np


def law(team):
    evader = team.others[0, :2]
    before = getattr(team.memory, "evader", evader)
    team.memory.evader = evader
    speed = (evader - before) / team.dt
    lead_s = team.distance_to(evader)[0] / 2.0
    return 1.0, 4.0 * team.bearing_to(np.clip(evader + lead_s * speed, 0.2, 9.8))
