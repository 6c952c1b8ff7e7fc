"""Four laws that see less and less: everything, positions, neighbours, sensors."""

import numpy as np

import covey


def everything(team):
    """See all of everybody."""
    return 0.2, 0.8 * team.bearing_to(team.after(1))


@covey.law(sees=("position",))
def positions(team):
    """See where everybody is, not where it looks: holonomic robots gather."""
    return 0.5 * (team.position.mean(axis=0) - team.position)


@covey.law(graph=covey.graphs.proximity(6))
def neighbours(me):
    """See the own pose, and those within 6 m from there: called for each robot."""
    ahead, left = me.neighbours.offset.sum(axis=0)
    return 0.1 * ahead, 2.0 * np.arctan2(left, ahead)


@covey.law(sees=("proximity",))
def sensors(team):
    """Feel what is near: turn away."""
    near = team.proximity.presence.any(axis=1)
    return np.where(near, 0.0, 0.2), np.where(near, 1.0, 0.0)


ring = {"kind": "proximity", "sectors": 3, "range_m": 0.6}
for law, settings in [
    (everything, {}),
    (positions, {"kinematics": "holonomic"}),
    (neighbours, {}),
    (sensors, {"sensors": [ring]}),
]:
    out = covey.play(law, robots=4, stop_s=30, speed="max", seed=2, diameter_m=0.1, **settings)
    spread = np.ptp(out.poses[-1, :, :2], axis=0).max()
    print(f"{law.__name__}: {spread:.1f} m apart in the end, {len(out.events)} contacts")
