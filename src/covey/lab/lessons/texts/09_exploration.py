# %% [markdown]
# # 9. Exploration with a map
#
# Now the robot builds a map. *Frontiers* are free cells beside unknown ones: there is something new to see.
#
# **Aims.** A controller that waits (`await`). Frontiers. Stop when nothing is left.
#
# **Task.** Drive from frontier to frontier until 95 % of the place are explored.

# %%
import covey
from covey.lab.lessons import check

place = covey.World.rooms(size_m=(9, 9), room_m=3, seed=4)


# %% complete
# robot.frontiers().cells: cells of the map, shape (k, 2). await robot.goto(robot.nearest(cells)) drives to the nearest of them.
async def explorer(robot):
    await robot.sleep(1)


# %%
sim = covey.Simulation(
    place, [covey.Group("scout", covey.robots.turtlebot3_burger(), [(-3, -3, 0)], explorer)],
    stop=covey.Stop(explored=0.95, timeout_s=600), seed=1,
)  # fmt: skip
run = sim.run()
run

# %%
check(9, run)

# %% [markdown]
# ![A path through nine rooms](pictures/09.png)
#
# **More.** Choose large frontiers instead of near ones. Which is faster? (B. Yamauchi: Frontier-based exploration using multiple
# robots, 1998.)
