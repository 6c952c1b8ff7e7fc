# %% [markdown]
# # 8. Potential fields, and where they fail
#
# The goal attracts, walls repel, the robot goes downhill. That takes a few lines, and it often works. But a hill has more than one valley.
#
# **Aims.** The gradient of a potential. Local minima, and way-points as a remedy.
#
# **Task.** (a) Write the force that pushes away from the nearest wall. (b) The robot in the pocket does not reach the goal: give
# way-points that lead it out.

# %%
import numpy as np

import covey
from covey.lab.lessons import check

pocket = [[(4, 3), (6, 3), (6, 7), (4, 7)]]  # a wall that is open to the left
room = covey.World.polygons([(0, 0), (10, 0), (10, 10), (0, 10)], walls_m=pocket)
slope_y, slope_x = np.gradient(np.minimum(room.clearance, 1.0), room.grid.resolution)


# %% complete
# gap: distance from the nearest wall [m], (n,). away: the direction away from it, (n, 2). Only nearer than 0.8 m should it push.
def push(gap, away):
    return 0.0 * away


waypoints = [(9, 5)]


# %%
def law(team):
    team.memory.leg = leg = getattr(team.memory, "leg", 0)
    goal = waypoints[leg]
    if team.distance_to(goal)[0] < 0.3 and leg < len(waypoints) - 1:
        team.memory.leg = leg + 1
    at = tuple(room.grid.to_cells(team.position).T)
    gap, away = np.maximum(room.clearance[at], 0.05), np.stack((slope_x[at], slope_y[at]), axis=1)
    way = np.array(goal) - team.position
    force = way / np.maximum(np.hypot(*way.T), 1)[:, None] + push(gap, away)
    turn = team.bearing_to(team.position + force)
    return 0.5 * np.maximum(np.cos(turn), 0) * (team.distance_to(waypoints[-1]) > 0.1), 2 * turn


out = covey.play(law, workspace=room, starts=[(5, 5, 0)], stop_s=90, speed="max")
out

# %%
check(8, out)

# %% [markdown]
# ![A path out of a pocket and around it](pictures/08.png)
#
# **More.** Print where the robot stops without way-points, and compute the force there. (O. Khatib: Real-time obstacle avoidance for
# manipulators and mobile robots, 1986.)
