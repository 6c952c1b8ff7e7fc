"""How time and memory grow: over robots, rays, area at equal density, and cells at equal area.

Each point is a process of its own with a warm cache: it builds the simulation, takes ten steps, and then measures steps
of 0.1 s for two seconds of CPU time or more. Time is CPU time of a step for one robot; memory is the largest
resident set. The exponent is that of the line through the last points, log over log: 0 is no growth for a robot, 1 is
twice for twice. Points of over 40 s are left out, with their time.

* ring: `crowds.py`'s random walk with a ring of 12 rays of 2 m at 10 Hz, in an arena with 4 m2 for each robot
* scans: the same walk with a lidar of 180 rays of 10 m at 10 Hz, in a cave of 75 x 75 m
* Pioneers: `nearest_frontier` with maps of 0.2 m that are shared every second, in a cave with 150 m2 for each

Run: python benchmarks/growth.py [--picture docs/images/growth.png] [laws, such as: "robots, ring"]
"""

import json
import math
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from crowds import apart, crowd
from rays import RESOLUTION, cave

import covey
from covey.geometry.grid import Grid
from covey.sensors import Lidar, Proximity

LAWS = {
    "robots, ring": ("ring", "n", [10, 30, 100, 300, 1000, 3000, 10_000]),
    "robots, scans": ("scans", "n", [10, 30, 100, 300, 1000]),
    "robots, Pioneers": ("pioneers", "n", [3, 10, 30, 100]),
    "rays": ("scans", "rays", [12, 45, 180, 720]),
    "area at equal density": ("scans", "side_m", [50, 100, 200, 400]),
    "cells at equal area": ("scans", "cell_m", [0.4, 0.2, 0.1, 0.05]),
}
"""What varies, in which simulation, and its values."""
_AT_LEAST_S, _MOST_S = 2.0, 40.0


def ring(n: int) -> covey.Simulation:
    """Return n robots with rings in an arena."""
    side = math.sqrt(4.0 * n)
    places = np.random.default_rng(2).uniform(-0.5 * side + 0.4, 0.5 * side - 0.4, (8 * n, 2))
    return crowd(covey.World.empty(side, side, resolution_m=0.1), apart(places, n, 0.5), Proximity(range_m=2.0))


def scans(n: int = 100, rays: int = 180, side_m: float = 75.0, cell_m: float = RESOLUTION) -> covey.Simulation:
    """Return n robots with lidars in a cave; on other areas as many for each square metre."""
    n = round(n * (side_m / 75.0) ** 2)
    solid = cave(round(side_m / RESOLUTION))
    if cell_m < RESOLUTION:
        solid = np.kron(solid, np.ones((round(RESOLUTION / cell_m),) * 2, bool))
    elif cell_m > RESOLUTION:  # a cell is a wall if its middle is
        every = round(cell_m / RESOLUTION)
        solid = solid[every // 2 :: every, every // 2 :: every]
    world = covey.World(Grid(solid.astype(np.uint8), cell_m), name="cave")
    roomy = np.argwhere(world.clearance > 0.4)
    places = (np.random.default_rng(2).permutation(roomy)[:, ::-1] + 0.5) * cell_m
    return crowd(world, apart(places, n, 0.6), Lidar(rays=rays, fov_deg=360, range_m=10, rate_hz=10))


def pioneers(n: int) -> covey.Simulation:
    """Return n Pioneers that explore and share their maps."""
    side = round(math.sqrt(150.0 * n))
    robot = {"base": "pioneer3dx", "mapping": {"resolution_m": 0.2}}
    group = {"name": "scout", "robot": robot, "count": n, "start": {"spread": {}}, "controller": "nearest_frontier"}
    world = {"generate": "cave", "size_m": [side, side], "resolution_m": 0.2}
    data = {"world": world, "robots": [group], "share_maps": {"every_s": 1}}
    return covey.Scenario.model_validate(data).build()


def point(kind: str, values: dict[str, float]) -> dict[str, float]:
    """Return the CPU time of a step for each robot [us], and the peak of memory [MB], of one simulation."""
    sim = {"ring": ring, "scans": scans, "pioneers": pioneers}[kind](**values)
    for _ in range(10):
        sim.step()
    begin, steps = time.process_time(), 0
    while time.process_time() - begin < _AT_LEAST_S and not sim.done:
        sim.step()
        steps += 1
    spent = time.process_time() - begin
    return {"us": 1e6 * spent / steps / len(sim.names), "mb": _peak_mb(), "robots": len(sim.names)}


def _peak_mb() -> float:
    """Return the largest resident set of this process [MB]; `getrusage` would count that of its parent, too."""
    status = Path("/proc/self/status").read_text()
    return float(status.partition("VmHWM:")[2].split()[0]) * 1024 / 1e6


def exponent(x: list[float], y: list[float]) -> float:
    """Return the slope of the line through the last three points, log over log."""
    return float(np.polyfit(np.log(x[-3:]), np.log(y[-3:]), 1)[0]) if len(x) > 1 else math.nan


def measured(kind: str, varied: str, values: list[float]) -> list[tuple[float, dict[str, float]]]:
    """Return the points of a law."""
    out = []
    for value in values:
        begin = time.monotonic()
        command = [sys.executable, __file__, "--point", kind, json.dumps({varied: value})]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        out.append((value, json.loads(done.stdout.splitlines()[-1])))
        if (took := time.monotonic() - begin) > _MOST_S:
            print(f"   (no larger one: {varied} = {value:g} took {took:.0f} s in all)")
            break
    return out


def draw(laws: dict[str, list[tuple[float, dict[str, float]]]], path: Path) -> None:
    """Draw time and memory of all laws on logarithmic paper."""
    import matplotlib.pyplot as plt

    fig, axes = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
    for ax, key, name in zip(
        axes, ("us", "mb"), ("CPU time of a step, each robot [µs]", "peak memory [MB]"), strict=True
    ):
        for law, points in laws.items():
            x = [value / points[0][0] if law[0] != "c" else points[0][0] / value for value, _ in points]
            y = [one[key] for _, one in points]
            ax.loglog(x, y, "o-", ms=3, label=f"{law}: {exponent(x, y):+.2f}")
        ax.set(xlabel="times the smallest (cells: times the resolution)", ylabel=name)
        ax.grid(which="both", alpha=0.2)
        ax.legend(fontsize=8, title="exponent", title_fontsize=8)
    fig.savefig(path, dpi=110)


def main(arguments: list[str]) -> None:
    """Print the laws, and draw them."""
    if arguments[:1] == ["--point"]:
        print(json.dumps(point(arguments[1], json.loads(arguments[2]))))
        return
    path = Path(arguments[1]) if arguments[:1] == ["--picture"] else None
    wanted = [one for one in arguments if one in LAWS] or list(LAWS)
    laws = {}
    for law in wanted:
        kind, varied, values = LAWS[law]
        laws[law] = points = measured(kind, varied, values)
        x = [value for value, _ in points]
        sign = -1 if varied == "cell_m" else 1
        times, sizes = ([one[key] for _, one in points] for key in ("us", "mb"))
        print(f"{law}: time for a robot ^{sign * exponent(x, times):.2f}, memory ^{sign * exponent(x, sizes):.2f}")
        for value, one in points:
            print(f"   {varied} {value:8g}  {one['robots']:6.0f} robots  {one['us']:9.2f} us  {one['mb']:7.0f} MB")
    if path is not None:
        draw(laws, path)


if __name__ == "__main__":
    main(sys.argv[1:])
