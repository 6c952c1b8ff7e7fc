"""Memory of the beliefs of 120 robots on a map of 75 x 75 m at 0.1 m: nobody merged, and all merged.

Two teams: one whose robots have each seen a tenth of the map, as in a team that divides the work; and one whose robots
have each seen all of it, the most there can be. Beside what `Beliefs` takes stands what flat arrays for each robot
would: own evidence, sum, map, and when cells were seen, of 1, 2, 1 and 4 bytes, and the versions held of each other
robot. Each case is a process of its own; "resident" is what it grew by.

Run: python benchmarks/belief_memory.py [robots]
"""

import subprocess
import sys

import numpy as np

from covey.mapping.occupancy.belief import Beliefs
from covey.mapping.records import Mapping
from covey.results.recorder import resident_mib

SIDE_M = 75.0
ANGLES = np.linspace(-np.pi, np.pi, 1440, endpoint=False)
MIB = 2.0**20


def measure(robots: int, share: float, merged: bool) -> None:
    """Print one case."""
    warm = Beliefs(["a", "b"], (SIDE_M, SIDE_M), mapping=Mapping())
    look(warm, 0.02)
    warm.share(np.ones((2, 2), bool))
    before = resident_mib()
    beliefs = Beliefs([f"r{i}" for i in range(robots)], (SIDE_M, SIDE_M), mapping=Mapping())
    look(beliefs, share)
    if merged:
        beliefs.share(np.ones((robots, robots), bool))
        beliefs.share(np.ones((robots, robots), bool))
        assert (beliefs.occupancy == beliefs.occupancy[0]).all()
    grown, cells = resident_mib() - before, beliefs.grid.cells.size
    tiles = cells // 1024
    flat = robots * cells * 8 + robots * robots * tiles * 4 + (robots * tiles * 1024 * share if merged else 0)
    known = np.count_nonzero(beliefs.occupancy >= 0) / beliefs.occupancy.size
    print(
        f"{share:4.0%} seen by each, {'all merged' if merged else 'nobody merged':13} (known to each {known:4.0%}): "
        f"{beliefs.nbytes / MIB:5.0f} MiB allocated, {grown:5.0f} resident, "
        f"{beliefs.nbytes / MIB / robots:5.2f} a robot; flat arrays {flat / MIB:4.0f}"
    )


def look(beliefs: Beliefs, share: float) -> None:
    """Let every robot see a share of the map, in rows of rooms of 5 x 5 m, each another part."""
    n, rooms = len(beliefs), round(SIDE_M / 5.0)
    ranges = np.minimum(2.4 / np.maximum(np.abs(np.cos(ANGLES)), np.abs(np.sin(ANGLES))), 4.0)
    count = max(1, round(share * rooms * rooms))
    for k in range(count):
        room = (np.arange(n) * rooms * rooms // n + k) % (rooms * rooms)
        poses = np.column_stack((5.0 * (room % rooms) + 2.5, 5.0 * (room // rooms) + 2.5, np.zeros(n)))
        beliefs.update(np.arange(n), poses, np.tile(ranges, (n, 1)), ANGLES, (0.0, 0.0, 0.0), 5.0, k)


def main() -> None:
    """Run every case in a process of its own."""
    if len(sys.argv) > 2:
        measure(int(sys.argv[1]), float(sys.argv[2]), sys.argv[3] == "merged")
        return
    robots = sys.argv[1] if len(sys.argv) > 1 else "120"
    print(f"{robots} robots, {SIDE_M:g} x {SIDE_M:g} m at 0.1 m", flush=True)
    for share in ("0.1", "1.0"):
        for how in ("apart", "merged"):
            subprocess.run([sys.executable, __file__, robots, share, how], check=True)


if __name__ == "__main__":
    main()
