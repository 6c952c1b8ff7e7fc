"""Speed of the planar physics alone, one core: crowds of discs in an arena, Pioneers in a room full of pillars.

Prints microseconds per robot-second and robot-seconds per CPU-second; the substep is 10 ms, the control step 0.1 s.
"""

import time

import numpy as np

from covey.geometry.grid import Grid
from covey.physics.planar.physics import PlanarPhysics
from covey.robots.catalogue import disc, pioneer3dx
from covey.robots.model import RobotModel
from covey.robots.team import TeamModel, TeamState
from covey.world.state import WorldState
from covey.world.world import World


def arena(side_m: float, resolution: float, pillars: int = 0) -> WorldState:
    """Return a square room with square pillars of 0.4 m on a lattice."""
    cells = round(side_m / resolution)
    solid = np.zeros((cells, cells), bool)
    solid[[0, -1], :] = solid[:, [0, -1]] = True
    width = round(0.4 / resolution)
    for k in range(pillars**2):
        row, column = (round((i + 0.5) * cells / pillars) for i in divmod(k, pillars))
        solid[row : row + width, column : column + width] = True
    return WorldState(World(Grid(solid.astype(np.uint8), resolution), name="arena"))


def measure(title: str, world: WorldState, model: RobotModel, n: int, speed: float, seconds: float) -> None:
    """Random walk: every robot draws a new turn rate each second."""
    rng = np.random.default_rng(1)
    across = int(np.ceil(np.sqrt(n)))
    side = world.grid.size_m[0]
    spots = (np.stack(np.meshgrid(np.arange(across), np.arange(across)), -1).reshape(-1, 2)[:n] + 0.3) * side / across
    state = TeamState.at(np.column_stack((spots, rng.uniform(-np.pi, np.pi, n))))
    physics, contacts, cpu = PlanarPhysics(world, TeamModel.of([model] * n)), 0, 0.0
    commands = np.zeros((n, 3))
    commands[:, 0] = speed
    for k in range(-20, round(seconds * 10)):
        if k % 10 == 0:
            commands[:, 2] = rng.uniform(-2.0, 2.0, n)
        start = time.process_time()
        begun = physics.step(state, commands, 10)
        cpu += (time.process_time() - start) * (k >= 0)
        contacts += len(begun.kind)
    per_second = cpu / (n * seconds)
    print(
        f"{title:48} {1e6 * per_second:8.2f} us per robot-second {1 / per_second:9,.0f} robot-s/s {contacts:5} contacts"
    )


def main() -> None:
    """Run all cases."""
    measure("1000 discs, 1 per 4 m2, 0.5 m/s", arena(63.2, 0.05), disc(), 1000, 0.5, 60.0)
    measure("1000 discs, 1 per 1 m2, 0.5 m/s", arena(31.6, 0.05), disc(), 1000, 0.5, 20.0)
    measure("100 discs, 75 x 75 m, 900 pillars, 0.5 m/s", arena(75.0, 0.1, 30), disc(), 100, 0.5, 60.0)
    measure("100 Pioneers, 75 x 75 m, 900 pillars, 1.2 m/s", arena(75.0, 0.1, 30), pioneer3dx(), 100, 1.2, 60.0)
    measure("3 discs, 10 x 10 m, 0.5 m/s", arena(10.0, 0.05), disc(), 3, 0.5, 300.0)


if __name__ == "__main__":
    main()
