# %% [markdown]
# # 7. Consensus and formations
#
# Robots that only see their neighbours can agree. If each moves towards the mean of its neighbours, they meet. If each has its own place in a
# formation, and they agree on where the formation is, they take it.
#
# **Aims.** Neighbours in a graph. Consensus of positions minus places.
#
# **Task.** Let five robots form a pentagon of radius 1.5 m. `places` holds each one's place in it.

# %%
import numpy as np

import covey
from covey.lab.lessons import check

angles = np.arange(5) * 2 * np.pi / 5
places = 1.5 * np.stack((np.cos(angles), np.sin(angles)), axis=1)
sees = np.roll(np.eye(5), 1, axis=1) + np.roll(np.eye(5), -1, axis=1)  # each sees the two beside it


# %% complete
# (sees @ x) / 2 is, for each robot, the mean of its two neighbours' x. All agree when each x is that mean. What is x here?
def velocity(team):
    x = team.position
    return 0 * x


# %%
def law(team):
    way = velocity(team)
    turn = team.bearing_to(team.position + way)
    return np.clip(np.hypot(*way.T), 0, 0.5) * np.maximum(np.cos(turn), 0), 2 * turn


starts = [(2, 2, 0), (8, 2, 0), (5, 8, 0), (2, 7, 0), (8, 5, 0)]
out = covey.play(law, robots=5, starts=starts, stop_s=120, speed="max")
out

# %%
check(7, out)

# %% [markdown]
# ![Five paths that end in a pentagon](pictures/07.png)
#
# **More.** The slowest rate is the second eigenvalue of the Laplacian of the graph. Measure it.
