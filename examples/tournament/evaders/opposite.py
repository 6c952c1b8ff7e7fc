"""Runs to the corner opposite to the pursuer."""

import numpy as np


def law(team):
    corner = np.where(team.others[0, :2] < 5.0, 9.0, 1.0)
    return min(1.0, team.distance_to(corner)[0]), 4.0 * team.bearing_to(corner)
