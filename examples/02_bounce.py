"""One call per step: back off from what the proximity ring feels, otherwise go ahead."""

import covey


class Bounce:
    def step(self, robot):
        if robot.proximity.any():
            robot.drive(-0.2, 1.0)
        else:
            robot.drive(0.2, 0.0)


sim = covey.Simulation(covey.World.empty(6, 6), robots=4, controller=Bounce, seed=2)
for _ in range(300):
    sim.step()
print(f"after {sim.time:.0f} s: {sim.scoring.collisions_wall.sum()} contacts with walls")
run = sim.close()
print(run.poses.shape)
