"""Heads for where the evader is."""


def law(team):
    evader = team.others[0, :2]
    return 1.0, 4.0 * team.bearing_to(evader)
