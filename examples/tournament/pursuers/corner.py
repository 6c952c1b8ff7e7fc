"""Waits in the middle until the evader is near, then runs for it."""


def law(team):
    evader = team.others[0, :2]
    near = team.distance_to(evader)[0] < 3.0
    return 1.0, 4.0 * team.bearing_to(evader if near else (5.0, 5.0))
