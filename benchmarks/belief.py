"""What beliefs and the truth of exploration cost, each beside a plain reference in the same run.

    python benchmarks/belief.py

Prints the best of several batches [us], because other work on the machine only ever adds time.
"""

import math
import time
import zlib

import numpy as np
from scipy import ndimage

from covey.geometry.beams import crossed_cells
from covey.geometry.grid import Grid
from covey.mapping.occupancy import tile_code
from covey.mapping.occupancy.belief import Beliefs
from covey.mapping.occupancy.compare import KnownShare, ground_truth
from covey.mapping.occupancy.frontiers import DEFINITIONS, find_frontiers, frontier_mask
from covey.mapping.records import Mapping
from covey.world.visibility.explored import ExploredTruth

ANGLES = np.radians(np.linspace(-95.0, 95.0, 180))
ORIGIN = (0.0, 0.0, 0.0)
RANGE_M = 26.0


def best_us(call, repeat=20, batches=12):
    """Return the least mean time [us] of one call over the batches."""
    call()
    times = []
    for _ in range(batches):
        start = time.perf_counter()
        for _ in range(repeat):
            call()
        times.append((time.perf_counter() - start) / repeat)
    return 1e6 * min(times)


def line(what, us, plain=None):
    ratio = f"  plain reference {plain:10.0f} us, ratio {plain / us:6.0f}" if plain else ""
    print(f"{what:62s} {us:8.1f} us{ratio}", flush=True)


def ranges(kind, heading=0.3):
    """True ranges in the middle of a road of 8 m, in the open, or in a round hall."""
    if kind == "road of 8 m":
        return np.minimum(np.abs(4.0 / np.sin(ANGLES + heading)), RANGE_M)
    return np.full(180, RANGE_M if kind == "open" else 9.0)


def plain_cells(pose, distances, resolution):
    found = set()
    for r, angle in zip(distances / resolution, ANGLES + pose[2], strict=True):
        u, v = (pose[0] + 40.0) / resolution, (pose[1] + 40.0) / resolution
        found |= crossed_cells(u, v, u + r * math.cos(angle), v + r * math.sin(angle))
    return found


def scans():
    robots = np.arange(10)
    poses = np.tile([0.03, 0.05, 0.3], (10, 1))
    for kind in ("road of 8 m", "open", "hall of 9 m radius"):
        distances = ranges(kind)
        plain = best_us(lambda d=distances: plain_cells(poses[0], d, 0.2), 1, 2)
        measured = np.tile(np.where(distances < RANGE_M, distances, np.inf), (10, 1))

        def fresh(measured=measured):
            team = Beliefs(["r"] * 10, (80, 80), (-40, -40), Mapping(resolution_m=0.2))
            team.occupancy[:] = -1  # touch the memory
            start = time.perf_counter()
            team.update(robots, poses, measured, ANGLES, ORIGIN, RANGE_M, 0)
            return time.perf_counter() - start

        fresh()
        line(f"belief, 0.2 m: first scan, {kind}", min(fresh() for _ in range(10)) * 1e5, plain)
        team = Beliefs(["r"] * 10, (80, 80), (-40, -40), Mapping(resolution_m=0.2))
        us = best_us(lambda t=team, m=measured: t.update(robots, poses, m, ANGLES, ORIGIN, RANGE_M, 1))
        line(f"belief, 0.2 m: known scan, {kind}", us / 10, plain)
    for kind in ("road of 8 m", "open"):
        distances = ranges(kind)
        truth = ExploredTruth(Grid(np.ones((800, 800), bool), 0.1, (-40.0, -40.0, 0.0)), 10)
        many = np.tile(distances, (10, 1))
        plain = best_us(lambda d=distances: plain_cells(poses[0], d, 0.1), 1, 2)
        us = best_us(lambda t=truth, m=many: t.mark(robots, poses, m, ANGLES, ORIGIN, 1))
        line(f"truth, 0.1 m: known scan, {kind}", us / 10, plain)


def sharing():
    rng = np.random.default_rng(1)
    team = Beliefs([f"r{i}" for i in range(30)], (160, 160), (-80, -80), Mapping(resolution_m=0.2))
    hears = np.ones((30, 30), bool)
    poses = np.column_stack((rng.uniform(-70, 70, (30, 2)), rng.uniform(-3, 3, 30)))
    everybody, distances = np.arange(30), np.tile(ranges("road of 8 m"), (30, 1))

    def drive(steps=10):
        for _ in range(steps):
            poses[:, :2] += 0.12 * np.column_stack((np.cos(poses[:, 2]), np.sin(poses[:, 2])))
            team.update(everybody, poses, distances, ANGLES, ORIGIN, RANGE_M, 1)

    times, tiles = [], 0
    for _ in range(20):
        drive()
        start = time.perf_counter()
        tiles = int(team.share(hears).sum())
        times.append(time.perf_counter() - start)
    line(f"30 robots share everything, {team.grid.shape[0]}^2 cells ({tiles} tiles moved)", 1e6 * min(times))
    line("a merge without news", best_us(lambda: team.merge(0, 1)))
    single = []
    for _ in range(20):
        drive(1)
        team.publish(1)
        start = time.perf_counter()
        moved = team.merge(0, 1)
        single.append((1e6 * (time.perf_counter() - start), moved))
    us, moved = min(single)
    whole, other = team[0].log_odds, team[1].own
    line(f"a merge of {moved} changed tiles", us, best_us(lambda: np.sign(whole + other.astype(np.int16)), 2, 4))


def merge_of_two():
    """Two beliefs of 800 x 800 cells, all of it seen by both and merged; then 1 % of the tiles of one change."""
    team = Beliefs(["a", "b"], (160, 160), (-80, -80), Mapping(resolution_m=0.2))
    turns = np.linspace(-math.pi, math.pi, 720, endpoint=False)
    for x in range(-76, 80, 8):
        for y in range(-76, 80, 8):
            poses = np.tile([x + 0.1, y + 0.1, 0.0], (2, 1))
            team.update(np.arange(2), poses, np.full((2, 720), 6.0), turns, ORIGIN, RANGE_M, 0)
    both = np.ones((2, 2), bool)
    team.share(both)
    times, changes = [], 0
    for k in range(200):
        x, y = -76.0 + 8.0 * (k % 20), -76.0 + 8.0 * (k // 20)
        team[1].update((x, y, 0.0), np.full(720, 6.0 if k % 2 else 4.0), turns, ORIGIN, RANGE_M, k)
        team.publish(np.array([1]))
        start = time.perf_counter()
        moved = team.merge(0, 1)
        times.append(time.perf_counter() - start)
        changes += moved
    tiles = team.tile_changed.shape[1]
    share = changes / len(times) / tiles
    line(f"a merge of two beliefs of {team.grid.shape[0]}^2 cells, {share:.1%} of the tiles differ", 1e6 * min(times))
    line("   the median of 200 such", 1e6 * float(np.median(times)))
    update = team.update_since(1, np.zeros(2, np.int64))
    us = best_us(lambda: tile_code.tile_size(team.store.evidence[update.items[3, 2]]))
    plain = best_us(lambda: zlib.compress(team.store.evidence[update.items[3, 2]].tobytes(), 6))
    line(f"the size of a tile when encoded ({update.size_bytes / len(update.items):.0f} bytes in the mean)", us, plain)


def frontiers_and_shares():
    occupancy = np.full((416, 416), -1, np.int8)
    occupancy[50:300, 40:380] = 0
    occupancy[60:290:40, 60:360] = 100
    for definition in DEFINITIONS:
        plain = best_us(lambda d=definition: ndimage.label(frontier_mask(occupancy, d), np.ones((3, 3))), 2, 4)
        line(
            f"frontiers '{definition}', 416^2 cells", best_us(lambda d=definition: find_frontiers(occupancy, d)), plain
        )
    explorable = Grid(np.ones((800, 800), bool), 0.1, (-40.0, -40.0, 0.0))
    team = Beliefs([f"r{i}" for i in range(30)], (80, 80), (-40, -40), Mapping(resolution_m=0.2))
    known = KnownShare(team, ground_truth(explorable.with_cells(~explorable.cells), explorable, team.grid))
    for i in range(30):
        team[i].update((i - 15.0, 0.0, 0.2 * i), ranges("open"), ANGLES, ORIGIN, RANGE_M, 0)
    line("known share of 30 beliefs and their union, no change", best_us(known.update))


if __name__ == "__main__":
    scans()
    sharing()
    merge_of_two()
    frontiers_and_shares()
