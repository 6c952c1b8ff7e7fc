# %% [markdown]
# # 2. Sensors and obstacles
#
# Real robots do not know where the walls are; they measure. The robot of this lesson has a lidar: it gives distances around it.
#
# **Aims.** Read a sensor. Decide by what it says. Know that `inf` means: nothing within its range.
#
# **Task.** Drive for a minute among the blocks, at least 6 m, and touch nothing.

# %%
import numpy as np

import covey
from covey.lab.lessons import check

blocks = [[(3, 3), (4, 3), (4, 6), (3, 6)], [(6, 5), (8, 5), (8, 6), (6, 6)]]


# %% complete
# scan.angles: directions of the rays [rad], 0 ahead. scan.ranges[0]: the distance along each of them [m].
def law(team):
    scan = team.reading("lidar")
    ahead = scan.ranges[0][np.cos(scan.angles) > 0.7]
    nearest = np.min(ahead)
    return 0.2, 0.0


# %%
out = covey.play(
    law, robot="turtlebot3_burger", obstacles=blocks, starts=[(1.5, 1.5, 0.8)], stop_s=60, speed="max", seed=1
)
out

# %%
check(2, out)

# %% [markdown]
# ![A path that turns away from blocks and walls](pictures/02.png)
#
# **More.** Turn to the side where there is more room, and compare how far the robot gets.
