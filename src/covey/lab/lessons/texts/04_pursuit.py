# %% [markdown]
# # 4. Pursuit
#
# Robot 0 runs away along a loop at 0.5 m/s. Robot 1 hunts it, and may go 0.8 m/s.
#
# **Aims.** Command several robots with arrays. Compare two strategies: to aim at the target, and to aim ahead of it.
#
# **Task.** Write the pursuer. It has caught the evader when they are within 0.5 m; that must happen within 30 s.

# %%
import numpy as np

import covey
from covey.lab.lessons import check


# %% complete
# team.bearing_to(0) is an array: the direction of robot 0 from robot 0 (of no use) and from robot 1.
def pursuer(team):
    return 0.8, 0.0


# %%
def law(team):
    speed, turn = pursuer(team)
    return np.array([0.5, speed]), np.array([0.25, np.clip(turn, -2, 2)])


def caught(team):
    return bool(np.hypot(*(team.position[0] - team.position[1])) < 0.5)


out = covey.play(law, robots=2, starts=[(7, 4, np.pi / 2), (1, 1, 0)], stop_s=30, until=caught, speed="max")
out

# %%
check(4, out)

# %% [markdown]
# ![A path that meets a loop](pictures/04.png)
#
# **More.** Aim at the place where the evader will be in a second. How much sooner is it caught?
