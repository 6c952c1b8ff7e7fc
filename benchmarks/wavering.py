"""How often robots change their minds in the scenarios that Covey ships, and when the last target is found.

A flip is A, B, A: a robot leaves a goal A for B, more than 3 m away, and goes for A again within 30 s, and had not come
within 1 m of A. Goals are the ends of the recorded plans; two within 1.5 m are the same. Seeds draw the noise; of
scenarios with a generated world they draw the world, too.

    python benchmarks/wavering.py [SCENARIO …] [--runs 5] [--floors rescue_1 …] [--controller NAME] [--each]
"""

import argparse
import math
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import covey
from covey.scenario.build import build
from covey.scenario.load import load_scenario

SCENARIOS = ("rescue", "rescue_office", "rescue_plan", "maze", "office", "building", "rubble", "loop", "depot_doors")
FLOORS = ("rescue_1", "rescue_2", "rescue_3", "rescue_4", "rescue_5")
FAR_M, SAME_M, REACHED_M, WITHIN_S = 3.0, 1.5, 1.0, 30.0


class Goal(NamedTuple):
    """A goal of a robot: its place [m], from and until when it is driven to [s], and how near the robot came [m]."""

    place: tuple[float, float]
    from_s: float
    until_s: float
    nearest_m: float


class Outcome(NamedTuple):
    """What came of a run; ``last_s`` is inf if a target was not found, NaN without targets."""

    flips: int
    last_s: float
    found: int
    targets: int


def goals_of(run: covey.Run, robot: int) -> list[Goal]:
    """Return the goals of a robot, one after another; pauses between two drives to one place do not part them."""
    plans, step_s = run.plans, float(run.manifest["step_s"])
    if plans is None:
        return []
    times, ways = run.pose_times, run.estimates[:, robot, :2]
    rows = np.flatnonzero((plans.robots == robot) & (np.diff(plans.begins) > 0))
    ends = [*(plans.steps[rows[1:]] * step_s).tolist(), float(times[-1])]
    goals: list[Goal] = []
    for row, end_s in zip(rows.tolist(), ends, strict=True):
        x, y = plans.points[plans.begins[row + 1] - 1].tolist()
        begin_s = float(plans.steps[row]) * step_s
        part = slice(*np.searchsorted(times, (begin_s, end_s + step_s)))
        near = float(np.hypot(*(ways[part] - (x, y)).T).min(initial=math.inf))
        if goals and math.dist(goals[-1].place, (x, y)) <= SAME_M:
            last = goals[-1]
            goals[-1] = Goal((x, y), last.from_s, end_s, min(last.nearest_m, near))
        else:
            goals.append(Goal((x, y), begin_s, end_s, near))
    return goals


def flips_of(goals: list[Goal]) -> int:
    """Return how often a goal is left for one far away and taken again.

    Examples:
        >>> a, b = Goal((0, 0), 0, 5, 4.0), Goal((9, 0), 5, 10, 6.0)
        >>> flips_of([a, b, Goal((0.5, 0), 10, 20, 0.1)])
        1
        >>> flips_of([a._replace(nearest_m=0.2), b, Goal((0.5, 0), 10, 20, 0.1)])  # it had been there
        0
    """
    flips = 0
    for k in range(2, len(goals)):
        before = [g for g in goals[:k] if g.until_s >= goals[k].from_s - WITHIN_S]
        same = [g for g in before if math.dist(g.place, goals[k].place) <= SAME_M]
        left = same and same[-1].nearest_m > REACHED_M
        flips += bool(left and math.dist(goals[k - 1].place, goals[k].place) > FAR_M)
    return flips


def outcome(job: tuple[str, dict[str, Any]]) -> Outcome:
    """Run a scenario and count."""
    name, changes = job
    with tempfile.TemporaryDirectory() as folder:
        sim = build(load_scenario(name, changes), folder=Path(folder) / "run")
        run = sim.run()
        flips = sum(flips_of(goals_of(run, robot)) for robot in range(len(run.names)))
        targets = len(sim.targets)
        if not targets:
            return Outcome(flips, math.nan, 0, 0)
        found_s = sim.tracker.referee.found_s
        return Outcome(
            flips, float(np.nan_to_num(found_s, nan=math.inf).max()), int((~np.isnan(found_s)).sum()), targets
        )


def jobs_of(name: str, options: argparse.Namespace) -> list[tuple[str, dict[str, Any]]]:
    """Return the runs of a scenario."""
    jobs = []
    for floor in options.floors if name in ("rescue", "rescue_plan") else ("",):
        for k in range(options.first, options.first + options.runs):
            changes: dict[str, Any] = {"seed": k}
            if floor:
                changes["world.named"] = floor
            elif "generate" in load_scenario(name).model_dump()["world"]:
                changes["world.seed"] = k
            if options.controller:
                changes["robots.0.controller"] = options.controller
            jobs.append((name, changes))
    return jobs


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scenarios", nargs="*", default=SCENARIOS)
    parser.add_argument("--runs", type=int, default=5, help="of each scenario, or of each floor")
    parser.add_argument("--first", type=int, default=100, help="the first seed")
    parser.add_argument("--floors", nargs="+", default=FLOORS, help="of rescue and rescue_plan")
    parser.add_argument("--controller", default="", help="of the first group of robots")
    parser.add_argument("--each", action="store_true", help="print each run")
    options = parser.parse_args()
    print("| scenario | runs | flips a run: mean, most | all found | last find: mean, median, 95th percentile [s] |")
    print("|---|---|---|---|---|")
    for name in options.scenarios:
        found = list[Outcome]()
        for job in jobs_of(name, options):
            found.append(one := outcome(job))
            if options.each:
                print(f"{job}: {one.flips} flips, {one.found} of {one.targets}, {one.last_s:.1f} s", flush=True)
        flips, last = [one.flips for one in found], [one.last_s for one in found]
        whole = f"{sum(one.found == one.targets for one in found)} of {len(found)}" if found[0].targets else ""
        when = f"{np.mean(last):.0f}, {np.median(last):.0f}, {np.percentile(last, 95):.0f}" if whole else ""
        print(f"| {name} | {len(found)} | {np.mean(flips):.2f}, {max(flips)} | {whole} | {when} |", flush=True)


if __name__ == "__main__":
    main()
