"""Crowds: robot-seconds per CPU-second of whole simulations, recording included, on one core.

* 100 robots with a 180-ray lidar of 10 m at 10 Hz on a random walk in the cave of rays.py (75 x 75 m at 0.1 m), walls
  and robots seen and collided with, with exact ranges and with Gaussian noise;
* 1000 robots with a 12-ray proximity ring of 2 m at 10 Hz in a walled arena at 1 robot / 4 m2.

Physics substeps of 10 ms, a control step of 0.1 s, one group controller. The CPU time of this process counts, after a
warm-up that compiles; the ratio between the lines is that of one run. Run: python benchmarks/crowds.py [--phases]
"""

import math
import sys
import time

import numpy as np
from rays import RESOLUTION, SIDE, cave

import covey
from covey.geometry.grid import Grid
from covey.onboard.group import Group
from covey.robots.model import RobotModel
from covey.sensors import Lidar, Proximity
from covey.world.world import World


@covey.controller(scope="group", sees=("collided",))
class RandomWalk:
    """Straight on; after a collision, turn on the spot for a second and drive for half a second at least."""

    def __init__(self, speed_m_s: float = 0.5):
        self.speed_m_s, self.random = speed_m_s, np.random.default_rng(4)
        self.hit_s = self.twist = np.empty(0)

    def step(self, group):
        """Return the twists of all robots."""
        if not self.twist.size:
            self.hit_s, self.twist = np.full(group.count, -9.0), np.zeros((group.count, 3))
        hit = group.collided & (group.time > self.hit_s + 1.5)
        self.hit_s[hit] = group.time
        turning = group.time < self.hit_s + 1.0
        self.twist[hit, 2] = self.random.uniform(1.0, 3.0, np.count_nonzero(hit))
        self.twist[~turning, 2] = 0.0
        self.twist[:, 0] = np.where(turning, 0.0, self.speed_m_s)
        return self.twist


def crowd(world: World, positions: np.ndarray, sensor: Lidar | Proximity) -> covey.Simulation:
    """Return a simulation of one group of discs with a sensor at positions (n, 2) [m]."""
    robot = RobotModel(kinematics="unicycle", radius_m=0.15, max_speed_m_s=0.5, max_turn_rad_s=3.0, sensors=[sensor])
    headings = np.random.default_rng(7).uniform(-math.pi, math.pi, len(positions))
    group = Group("robot", robot, np.column_stack((positions, headings)), covey.Program(RandomWalk))
    return covey.Simulation(world, [group], seed=1)


def apart(candidates: np.ndarray, count: int, gap_m: float) -> np.ndarray:
    """Return the first ``count`` of some points (k, 2) that keep a gap [m] from one another."""
    chosen = np.full((count, 2), np.inf)
    n = 0
    for point in candidates:
        if n < count and np.hypot(*(chosen[:n] - point).T).min(initial=math.inf) > gap_m:
            chosen[n] = point
            n += 1
    assert n == count
    return chosen


def report(title: str, sim: covey.Simulation, seconds: float, phases: bool) -> float:
    """Print robot-seconds per CPU-second of a simulation and return them."""
    for _ in range(30):
        sim.step()
    begin, before = time.process_time(), dict(sim.stopwatch.seconds)
    steps = round(seconds / sim.clock.step_s)
    for _ in range(steps):
        sim.step()
    spent = time.process_time() - begin
    rate = len(sim.names) * steps * sim.clock.step_s / spent
    contacts = int(sim.scoring.collisions_robot.sum() + sim.scoring.collisions_wall.sum())
    print(f"{title:58} {rate:9,.0f} robot-s per CPU-s   ({contacts} contacts)")
    if phases:
        parts = {k: (v - before.get(k, 0.0)) / steps * 1e6 for k, v in sim.stopwatch.seconds.items()}
        print("   wall us per step: " + ", ".join(f"{k} {v:.0f}" for k, v in parts.items()))
    sim.close()
    return rate


def main() -> None:
    """Print the figures."""
    phases = "--phases" in sys.argv
    random = np.random.default_rng(2)
    solid = cave(SIDE)
    world = World(Grid(solid.astype(np.uint8), RESOLUTION), name="cave")
    roomy = np.argwhere(world.clearance > 0.4)
    positions = apart((random.permutation(roomy)[:, ::-1] + 0.5) * RESOLUTION, 100, 0.6)
    lidar = Lidar(rays=180, fov_deg=360, range_m=10, rate_hz=10)
    report("100 robots, lidar of 180 rays, cave", crowd(world, positions, lidar), 60.0, phases)
    noisy = lidar.model_copy(update={"sigma_m": 0.01})
    report("the same with noise of 1 cm", crowd(world, positions, noisy), 60.0, phases)
    side = math.sqrt(4.0 * 1000)
    arena = World.empty(side, side, resolution_m=0.1)
    spread = apart(random.uniform(-0.5 * side + 0.4, 0.5 * side - 0.4, (4000, 2)), 1000, 0.5)
    report("1000 robots, ring of 12 rays, 1 robot / 4 m2", crowd(arena, spread, Proximity(range_m=2.0)), 60.0, phases)


if __name__ == "__main__":
    main()
