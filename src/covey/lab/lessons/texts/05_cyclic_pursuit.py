# %% [markdown]
# # 5. Cyclic pursuit
#
# Each robot chases the next one, and the last one the first. Nobody leads, and yet the team forms a regular polygon that turns.
#
# **Aims.** See order come from local rules. Compute an equilibrium and find it in the simulation.
#
# **Task.** Six robots at 0.3 m/s turn at k times the bearing of the next one. In the equilibrium this bearing is π/6, so ω = k π/6, and the
# circle has the radius v/ω. Choose k such that the radius is 2 m.

# %%
import numpy as np

import covey
from covey.lab.lessons import check

speed, wanted_m = 0.3, 2.0

# %% complete
k = 1.0


# %%
def law(team):
    return speed, k * team.bearing_to(team.after(1))


angles = np.arange(6) * np.pi / 3
headings = angles - np.pi + np.pi / 2 + 0.2  # nearly along the circle
ring = np.stack((5 - 2.5 * np.cos(angles), 5 - 2.5 * np.sin(angles), headings), axis=1)
out = covey.play(law, robots=6, starts=ring, stop_s=180, speed="max")
out

# %%
check(5, out)

# %% [markdown]
# ![Six paths that become one circle](pictures/05.png)
#
# **More.** Give robots random starts. Do they always form the same polygon? (J. Marshall, M. Broucke, B. Francis: Formations of
# vehicles in cyclic pursuit, 2004.)
