"""Heads for the evader in a wavy line."""

import math


def law(team):
    return 1.0, 4.0 * (team.bearing_to(team.others[0, :2]) + 0.5 * math.sin(2.0 * team.time))
