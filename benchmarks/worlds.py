"""How long generated worlds take: a building of 200 x 200 m is to take less than 1 s.

python benchmarks/worlds.py
"""

import statistics
import time

from covey.world.world import World

SIZES = {
    "cave": {"size_m": (200, 200)},
    "building": {"size_m": (200, 200)},
    "rooms": {"size_m": (198, 198), "resolution_m": 0.2},
    "rubble": {"size_m": (60, 60)},
}


def main() -> None:
    """Print the median and the longest of nine seeds; the first one, which loads libraries, apart."""
    print("world     size [m]   cells [M]  first [s]  median [s]  longest [s]")
    for name, options in SIZES.items():
        times = []
        for seed in range(10):
            start = time.perf_counter()
            world = getattr(World, name)(**options, seed=seed)
            times.append(time.perf_counter() - start)
        first, rest = times[0], times[1:]
        size = "x".join(f"{side:g}" for side in options["size_m"])
        print(
            f"{name:9} {size:10} {world.grid.cells.size / 1e6:9.2f} {first:10.3f} {statistics.median(rest):11.3f} "
            f"{max(rest):12.3f}"
        )


if __name__ == "__main__":
    main()
