"""A control law in one call: each robot heads for the next one, and all end on one circle."""

import numpy as np

import covey


def law(team):  # arrays in, arrays out: all robots at once
    return 0.2, 0.8 * team.bearing_to(team.after(1))  # speed [m/s], turn rate [rad/s], each a number or (n,)


out = covey.play(law, robots=6, workspace=[(0, 0), (10, 0), (10, 10), (0, 10)], stop_s=60, speed="max")
centre = out.poses[-1, :, :2].mean(axis=0)
radii = np.hypot(*(out.poses[-1, :, :2] - centre).T)
print(f"radii {radii.min():.2f} to {radii.max():.2f} m; theory {0.2 * 6 / (0.8 * np.pi):.2f} m")
