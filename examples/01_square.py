"""Three robots drive a square each: sequential code that waits in simulated time."""

import covey


async def square(robot):
    for x, y in [(1, 0), (1, 1), (0, 1), (0, 0)]:
        await robot.goto(robot.home @ (x, y))
        await robot.sleep(0.5)


sim = covey.Simulation(covey.World.empty(10, 10), robots=3, controller=square, seed=1)
run = sim.run()
print(
    f"{run.metrics['status']} after {run.metrics['simulated_time_s']:.1f} s, {run.metrics['exploration_cost_m']:.1f} m"
)
