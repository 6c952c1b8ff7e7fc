# %% [markdown]
# # 6. Voronoi coverage
#
# How should eight sensors stand in a square so that each point has one nearby? Each looks after its Voronoi cell: the points that are nearer to
# it than to any other. Lloyd's law: go to the centroid of your cell.
#
# **Aims.** Voronoi cells and centroids. A cost that never grows.
#
# **Task.** Give each robot its goal. At the end each must stand within 0.1 m of the centroid of its cell.

# %%
import numpy as np

import covey
from covey.geometry.voronoi import voronoi
from covey.lab.lessons import check


# %% complete
# cells.centroid: the centroid of each cell, shape (n, 2) [m].
def goals(team):
    cells = voronoi(team.position, team.workspace)
    return team.position


# %%
def law(team):
    goal = goals(team)
    turn = team.bearing_to(goal)
    return np.clip(team.distance_to(goal), 0, 0.5) * np.maximum(np.cos(turn), 0), 2 * turn


corner = [(x, y) for x in (1, 2, 3, 4) for y in (1, 2)]
out = covey.play(law, robots=8, starts=corner, stop_s=120, speed="max", seed=2)
out

# %%
check(6, out)

# %% [markdown]
# ![Eight paths from a corner to places all over the square](pictures/06.png)
#
# **More.** Give `voronoi` a density that is larger in one corner. (J. Cortés et al.: Coverage control for mobile sensing networks, 2004.)
