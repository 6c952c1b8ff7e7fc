"""How long all link decisions among 1000 robots take, for each link model, in the maze and in a cave-like world.

Usage: python benchmarks/links.py [robots]

The median processor time of 15 repeats with all robots at new places each time, one thread.
"""

import sys
import time

import numpy as np

from covey.comms.links import LineOfSight, LogDistance, Materials, MultiWall, Unlimited, WallLength
from covey.comms.propagation import Propagation
from covey.comms.radio import Radio
from covey.geometry.grid import Grid
from covey.random import generator
from covey.world.world import World

RADIOS = {
    "unlimited": Radio(links=(Unlimited(),)),
    "disc 20 m": Radio(range_m=20),
    "line of sight": Radio(links=(LineOfSight(),)),
    "line of sight, 20 m": Radio(links=(LineOfSight(),), range_m=20),
    "wall length <= 0.5 m": Radio(links=(WallLength(max_m=0.5),)),
    "wall length <= 0.5 m, 20 m": Radio(links=(WallLength(max_m=0.5),), range_m=20),
    "wall length, a function of arrays": Radio(links=(WallLength(function=lambda d, w: np.exp(-d / 50.0 - w)),)),
    "materials": Radio(links=(Materials(),)),
    "materials and distance": Radio(links=(LogDistance(sigma_db=0.0), Materials())),
    "multi-wall": Radio(links=(MultiWall(exponent=2.8),)),
    "log-distance, shadowing 10 dB": Radio(links=(LogDistance(same_within_m=1.0),)),
}


def cave(side_m: float = 75.0, cell_m: float = 0.1) -> World:
    """Return rocks and passages: noise, smoothed (a cellular automaton) on a lattice of 0.5 m."""
    coarse = round(side_m / 0.5)
    rock = generator(3, "cave").random((coarse, coarse)) < 0.42
    for _ in range(5):
        padded = np.pad(rock, 1, constant_values=True)
        rock = sum(np.roll(padded, (i, j), (0, 1))[1:-1, 1:-1].astype(int) for i in (-1, 0, 1) for j in (-1, 0, 1)) >= 5
    times = round(0.5 / cell_m)
    return World(Grid(np.repeat(np.repeat(rock.astype(np.uint8), times, 0), times, 1), cell_m), "cave")


def main() -> None:
    """Print a table."""
    robots = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    worlds = {"maze": World.terrain("maze"), "cave": cave()}
    print(f"{robots} robots, {robots * (robots - 1) // 2} pairs; milliseconds (share of pairs with a link)")
    print(f"{'':36s}" + "".join(f"{name:>20s}" for name in worlds))
    for label, radio in RADIOS.items():
        cells = []
        for world in worlds.values():
            air, rng = Propagation(radio, 1, "links"), generator(1, "places")
            free = np.argwhere(world.free)
            seconds, share = [], 0.0
            for _ in range(16):
                xy = world.grid.to_world(free[rng.integers(0, len(free), robots)] + rng.uniform(-0.5, 0.5, (robots, 2)))
                world.skip  # noqa: B018 (built once for each world)
                start = time.thread_time()
                up = air.up(air.all_links(world, xy))
                seconds.append(time.thread_time() - start)
                share = up.sum() / (robots * (robots - 1) // 2)
            cells.append(f"{1e3 * np.median(seconds[1:]):9.2f} ({100 * share:5.1f} %)")
        print(f"{label:36s}" + "".join(f"{cell:>20s}" for cell in cells))


if __name__ == "__main__":
    main()
