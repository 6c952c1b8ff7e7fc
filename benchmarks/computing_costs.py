"""What the software of a robot takes on one core of this machine: the times in `covey.robots.computer.Costs`.

Eight Pioneers explore the maze for a minute; then each kind of work is done again and again on the map of one of them.
Printed is the median processor time per unit. Covey has no gmapping: its scan matching is written out below with the
published defaults (30 particles, six moves, five halvings, kernel of 3 x 3 cells, all 180 beams) on this map, and each
particle enters the scan in a map of its own, as gmapping does.
Run: python benchmarks/computing_costs.py
"""

import math
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from covey.controllers.exploration.next_best_view import unseen_area
from covey.kernel import kernel
from covey.mapping.occupancy.belief import Beliefs
from covey.robots.computer import Work
from covey.scenario.load import load_scenario

PARTICLES = 30
REPEATS = 40


@kernel
def score(occupancy, x0, y0, resolution, points, x, y, heading):
    """Return gmapping's score of a pose: sum over beams of exp(-d^2 / sigma), sigma 0.05."""
    rows, columns = occupancy.shape
    c, s = math.cos(heading), math.sin(heading)
    total = 0.0
    for i in range(points.shape[0]):
        px, py = x + c * points[i, 0] - s * points[i, 1], y + s * points[i, 0] + c * points[i, 1]
        length = math.hypot(points[i, 0], points[i, 1])
        before = (length - math.sqrt(2.0) * resolution) / length
        fx = x + before * (px - x)
        fy = y + before * (py - y)
        best = math.inf
        for r in range(-1, 2):
            for k in range(-1, 2):
                row, column = int((py - y0) / resolution) + r, int((px - x0) / resolution) + k
                free_row, free_column = int((fy - y0) / resolution) + r, int((fx - x0) / resolution) + k
                if min(row, column, free_row, free_column) < 0 or max(row, free_row) >= rows:
                    continue
                if max(column, free_column) >= columns:
                    continue
                if occupancy[row, column] > 10 and occupancy[free_row, free_column] <= 10:
                    dx, dy = px - (x0 + (column + 0.5) * resolution), py - (y0 + (row + 0.5) * resolution)
                    best = min(best, dx * dx + dy * dy)
        if best < math.inf:
            total += math.exp(-best / 0.05)
    return total


@kernel
def match(occupancy, x0, y0, resolution, points, pose):
    """Climb from a pose, float64 (3,), in place: gmapping's ``optimize``; return how many poses were scored."""
    moves = np.array([[1.0, 0, 0], [-1.0, 0, 0], [0, 1.0, 0], [0, -1.0, 0], [0, 0, 1.0], [0, 0, -1.0]])
    step, refinement, scored = 0.05, 0, 1
    current, best = score(occupancy, x0, y0, resolution, points, pose[0], pose[1], pose[2]), -1.0
    while current > best or refinement < 5:
        if best >= current:
            refinement += 1
            step *= 0.5
        best = current
        chosen = -1
        for m in range(6):
            x, y, heading = pose[0] + step * moves[m, 0], pose[1] + step * moves[m, 1], pose[2] + step * moves[m, 2]
            value = score(occupancy, x0, y0, resolution, points, x, y, heading)
            scored += 1
            if value > current:
                current, chosen = value, m
        if chosen >= 0:
            pose[0] += step * moves[chosen, 0]
            pose[1] += step * moves[chosen, 1]
            pose[2] += step * moves[chosen, 2]
    return scored


def median_s(call: Callable[[], Any]) -> float:
    """Return the median processor time of a call [s], after a first one that compiles."""
    call()
    times = []
    for _ in range(REPEATS):
        begun = time.thread_time()
        call()
        times.append(time.thread_time() - begun)
    return statistics.median(times)


def match_s(robot: Any) -> tuple[float, float]:
    """Return the time to match one scan with all particles [s], and the mean number of poses scored by each."""
    grid, scan, random = robot.map.grid, robot.lidar, np.random.default_rng(0)
    near = np.isfinite(scan.ranges) & (scan.ranges < 25.0)
    points = np.column_stack((np.cos(scan.angles), np.sin(scan.angles)))[near] * scan.ranges[near, None]
    starts = np.array(robot.pose) + random.normal(size=(PARTICLES, 3)) * [0.1, 0.1, 0.05]
    scored: list[int] = []

    def all_particles() -> None:
        for start in starts:
            scored.append(match(grid.cells, grid.origin[0], grid.origin[1], grid.resolution, points, start.copy()))

    return median_s(all_particles), statistics.mean(scored)


def map_update_s(robot: Any) -> float:
    """Return the time to enter one scan in a map [s]."""
    grid, scan = robot.map.grid, robot.lidar
    size = (grid.shape[1] * grid.resolution, grid.shape[0] * grid.resolution)
    beliefs = Beliefs(["one"], size, grid.origin[:2], robot.model.mapping)
    step = iter(range(10**6))

    def enter() -> None:
        k = next(step)
        pose = np.array(robot.pose)[None] + [[0.0, 0.0, 0.2 * (k % 2)]]
        beliefs.update(np.zeros(1, np.int64), pose, scan.ranges[None], scan.angles, scan.mount, 26.0, k)

    return median_s(enter)


def control_s(sim: Any, state: Any) -> float:
    """Return the time of one command of the local planner on a way that stands [s]."""
    times = []
    while len(times) < 200:
        sim.step()
        if state.status == "going":
            plans, begun = state.navigator.plan.made_s, time.thread_time()
            state.navigate()
            spent = time.thread_time() - begun
            if state.navigator.plan.made_s == plans:
                times.append(spent)
    return statistics.median(times)


def main() -> None:
    """Print one line for each kind of work."""
    changes = {"robots.scout.count": 8, "stop.timeout_s": 2000, "robots.scout.localization": "noise"}
    sim = load_scenario("maze", changes).build()
    while sim.time < 60.0:
        sim.step()
    robot, state = sim.robot("scout0"), sim.deciding.host.onboard[0].state
    cells = robot.map.occupancy().size / 1e6
    frontiers = robot.frontiers("explore", 8)
    unknown = robot.map.grid.to_world(frontiers.nearest[0]).tolist()
    views = frontiers.cells[np.linspace(0, len(frontiers.cells) - 1, 40).astype(int)]
    matched, scored = match_s(robot)
    entered = map_update_s(robot)
    print(f"map of {cells:.2f} million cells; {np.count_nonzero(robot.map.occupancy() >= 0)} known; in milliseconds:")
    print(f"scan_match  {1e3 * (matched + PARTICLES * entered):8.2f} per scan: {PARTICLES} x matching", end=" ")
    print(f"{1e3 * matched / PARTICLES:.3f} ({scored:.0f} poses scored) and entering {1e3 * entered:.3f}")
    print(f"map_update  {1e3 * entered:8.3f} per scan")
    print(f"frontiers   {1e3 * median_s(lambda: robot.frontiers('explore', 8)) / cells:8.2f} per million cells")
    starts = np.repeat([robot.pose[:2]], 8, axis=0)
    navigator = state.navigator
    navigator.start(unknown)
    state.work = work = Work()

    def plan() -> None:
        work.add_search(navigator.plan.make(robot.map, robot.pose, navigator.robots, sim.time, navigator.jams))

    print("search      per million entries of the queue:")
    for what, call in (
        ("all ways", robot.travel_cost),
        ("the nearest cell", lambda: robot.nearest(frontiers.cells)),
        ("one way", plan),
        ("the ways of 8 robots", lambda: robot.travel_from(starts, frontiers.cells)),
    ):
        spent, before = median_s(call), work.entries
        call()
        entries = work.entries - before
        print(f"            {1e3 * spent / entries * 1e6:8.2f} for {what}: {entries} entries, {1e3 * spent:.2f}")
    reach = 26.0 / robot.map.grid.resolution
    seen = median_s(lambda: unseen_area(robot.map.occupancy(), views, reach)) / len(views)
    print(f"view        {1e3 * seen:8.4f} per place")
    print(f"control     {1e3 * control_s(sim, state):8.3f} per command")
    sim.close()


if __name__ == "__main__":
    main()
