"""Drives on a circle of 4 m around the middle, away from the pursuer."""

import math


def law(team):
    x, y = team.position[0] - 5.0
    px, py = team.others[0, :2] - 5.0
    side = 1.0 if x * py - y * px < 0.0 else -1.0
    angle = math.atan2(y, x) + side * 0.4
    return 1.0, 4.0 * team.bearing_to((5.0 + 4.0 * math.cos(angle), 5.0 + 4.0 * math.sin(angle)))
