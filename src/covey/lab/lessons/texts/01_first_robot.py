# %% [markdown]
# # 1. A first robot
#
# A law is a function. In each step it gets the *team* and answers with two numbers: the speed [m/s] and the turn rate [rad/s].
#
# **Aims.** Write a law and run it. Read where the robot was. Use a bearing: the direction of a point, seen from the robot.
#
# **Task.** The robot starts at (2, 5) and looks north. Drive it to (8, 5), and stop there.

# %%
import numpy as np

import covey
from covey.lab.lessons import check

goal = (8, 5)


# %% complete
# team.bearing_to(goal): the direction of the goal [rad], 0 ahead, positive to the left. team.distance_to(goal): [m].
def law(team):
    speed = 0.0
    turn = 0.0
    return speed, turn


# %%
out = covey.play(law, starts=[(2, 5, np.pi / 2)], stop_s=40, speed="max")
out

# %%
check(1, out)

# %% [markdown]
# It should look like this. `out` as the last line of a cell draws yours, and `out.replay()` plays it.
#
# ![The path of a robot, from the left to the goal on the right](pictures/01.png)
#
# **More.** What happens with a larger factor of the bearing? Where does the path bend most?
