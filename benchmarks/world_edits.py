"""What it costs to change a world of 1000 x 1000 cells, against computing everything anew, on one core.

A door of 1.2 x 0.2 m (0.1 m cells) opens and closes in rooms of 10 m, and in the middle of a hall of 100 m without any
other wall, the worst place there is; a round obstacle of 0.5 m drives through the rooms by one cell.
"""

import time

import numpy as np

from covey.geometry.grid import Grid
from covey.geometry.raycast import skip_field
from covey.world.clearance import clearance
from covey.world.editing.obstacles import disc_patch
from covey.world.state import WorldState
from covey.world.world import WALL, World

SIDE, RESOLUTION, ROUNDS = 1000, 0.1, 200


def rooms() -> World:
    """Return 10 x 10 rooms of 10 m with walls of 0.2 m and doors of 1.2 m in each wall."""
    cells = np.zeros((SIDE, SIDE), np.uint8)
    for line in (*range(0, SIDE, 100), SIDE - 2):
        cells[line : line + 2] = cells[:, line : line + 2] = WALL
    for line in range(100, SIDE, 100):
        for middle in range(50, SIDE, 100):
            cells[line : line + 2, middle - 6 : middle + 6] = cells[middle - 6 : middle + 6, line : line + 2] = 0
    return World(Grid(cells, RESOLUTION), "rooms")


def hall() -> World:
    """Return one hall."""
    cells = np.zeros((SIDE, SIDE), np.uint8)
    cells[[0, -1]] = cells[:, [0, -1]] = WALL
    return World(Grid(cells, RESOLUTION), "hall")


def seconds(call) -> float:
    """Return the median wall time of a call [s]."""
    times = []
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    return float(np.median(times))


def door(world: World) -> tuple[float, float]:
    """Return the time of a door's change, and of one with the distance field asked for at once [s]."""
    place = WorldState(world)
    place.clearance  # noqa: B018
    state = [np.full((12, 2), WALL, np.uint8), np.zeros((12, 2), np.uint8)]
    count = iter(range(10**9))

    def swing() -> None:
        place.edit(544, 500, state[next(count) % 2])

    def swing_and_measure() -> None:
        swing()
        place.clearance  # noqa: B018

    swing_and_measure()
    return seconds(swing), seconds(swing_and_measure)


def drive(world: World) -> float:
    """Return the time of a step of an obstacle [s]."""
    changing = WorldState(world)
    place = iter(range(10**9))
    free = np.zeros((13, 14), np.uint8)

    def move() -> None:
        patch = disc_patch(550.0, 520.0 + next(place) % 40, 5.0, world.grid.shape)
        assert patch is not None
        cells = free.copy()
        cells[1 : 1 + patch.mask.shape[0], 1 : 1 + patch.mask.shape[1]][patch.mask] = WALL
        changing.edit(patch.row - 1, patch.column - 1, cells)

    move()
    return seconds(move)


def main() -> None:
    """Print the times and their ratios."""
    for world in (rooms(), hall()):
        solid = world.solid
        skip_field(solid)
        clearance(solid, RESOLUTION)
        begin = time.perf_counter()
        for _ in range(5):
            skip_field(solid)
            clearance(solid, RESOLUTION)
        anew = (time.perf_counter() - begin) / 5
        plain, whole = door(world)
        print(
            f"{world.name}: all anew {anew * 1e3:.1f} ms; a door {plain * 1e3:.2f} ms (ratio {anew / plain:.0f}), "
            f"with the distance field {whole * 1e3:.2f} ms (ratio {anew / whole:.0f})"
        )
        print(f"{world.name}: an obstacle moves by one cell: {drive(world) * 1e3:.2f} ms")


if __name__ == "__main__":
    main()
