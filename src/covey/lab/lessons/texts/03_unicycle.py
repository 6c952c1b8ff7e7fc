# %% [markdown]
# # 3. The unicycle
#
# A robot on two wheels moves like a unicycle: x' = v cos θ, y' = v sin θ, θ' = ω. It cannot go sideways.
#
# **Aims.** Know that constant v and ω give a circle, and its radius. Correct errors by feedback.
#
# **Task.** Drive around the point (5, 5) at 2 m, counter-clockwise, at 0.5 m/s. The second robot starts at the wrong place, 3.5 m away, and
# must find the circle.

# %%
import numpy as np

import covey
from covey.lab.lessons import check

centre, radius, speed = (5, 5), 2.0, 0.5


# %% complete
# Without error, ω = speed / radius. The centre is then exactly to the left: a bearing of π/2. Too far away: turn towards it.
def law(team):
    error = team.distance_to(centre) - radius
    turn = 0.0 * error
    return speed, turn


# %%
out = covey.play(law, robots=2, starts=[(7, 5, np.pi / 2), (5, 8.5, np.pi)], stop_s=90, speed="max")
out

# %%
check(3, out)

# %% [markdown]
# ![Two paths that end in the same circle](pictures/03.png)
#
# **More.** Linearise around the circle: which gains let the error vanish without swinging?
