"""A whole group at once: arrays in, twists out. Each robot chases the next, and a circle forms."""

import numpy as np

import covey


@covey.controller(scope="group", sees=("pose",))
def cyclic_pursuit(group, *, speed=0.4, gain=0.5):
    """Constant speed, turn rate proportional to the bearing of the next robot (Marshall, Broucke, Francis 2004)."""
    to_next = np.roll(group.pose[:, :2], -1, axis=0) - group.pose[:, :2]
    bearing = np.arctan2(to_next[:, 1], to_next[:, 0]) - group.pose[:, 2]
    bearing = (bearing + np.pi) % (2 * np.pi) - np.pi
    return np.stack((np.full(group.count, speed), np.zeros(group.count), gain * bearing), axis=1)


sim = covey.Simulation(covey.World.empty(14, 14), robots=6, controller=cyclic_pursuit, seed=3)
run = sim.run(until_s=120)
centre = run.poses[-1, :, :2].mean(axis=0)
radii = np.hypot(*(run.poses[-1, :, :2] - centre).T)
print(f"radii {radii.min():.2f} to {radii.max():.2f} m; theory {0.4 * 6 / (0.5 * np.pi):.2f} m")
