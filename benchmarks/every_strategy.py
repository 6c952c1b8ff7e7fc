"""Every strategy of the shelf, in 20 seeds on small caves and buildings: does it end, early, late, or stuck?

Four robots of MAES as in ``strategies.py``, but with a lidar of 5 m, in a cave of 40 x 40 m or a building of 30 x 30 m
(for coverage 26 x 26 m and 20 x 20 m) whose seed is the run's, with a radio of 10 m that walls block, maps shared once
a second. All seeds run without faults. Of four seeds one runs again while robots break: one dies at 10 s, the radio of
one is dead for 20 s, a lidar sees half as far for 20 s. Another one runs again while the pose estimate of one jumps by
about half a metre and five degrees. One row per run goes to ``rows.jsonl`` in the ``--out`` folder, which begins with
the published rows unless ``--anew`` is given; a run that has its row there is not run again.

    python benchmarks/every_strategy.py [--seeds 20] [--jobs 1] [--strategies minpos ...] [--write]

A run of an exploring strategy ends at 99 % explored, of a coverage strategy when all robots are done, of a patrol when
each waypoint has been visited twice; and else when all robots are done or after 900 s. ``--write`` puts the tables to
``docs/results/every_strategy.md`` and all rows to ``docs/results/every_strategy.csv``.
"""

import argparse
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

from strategies import HOME, Observer, Row, begin, plain, publish, read, study

EXPLORING = (
    "nearest_frontier",
    "cost_frontier",
    "first_frontier",
    "greedy_assignment",
    "iterative_assignment",
    "hungarian_assignment",
    "minpos",
    "cost_utility",
    "market",
    "next_best_view",
    "rrt_frontier",
    "connected",
    "leader",
    "tnf",
    "fftnf",
    "greed",
    "minotaur",
)
WANDERING = ("random_ballistic_walk", "wander", "wall_follower", "lvd", "brick_and_mortar")
COVERAGE = ("ssb", "boustrophedon", "spanning_tree_coverage", "partitioned_coverage")
PATROLLING = (
    "conscientious_reactive",
    "heuristic_conscientious_reactive",
    "min_max_reactive",
    "expected_idleness",
    "cyclic_patrol",
    "partitioned_patrol",
    "meeting_patrol",
)
ALL = (*EXPLORING, *WANDERING, *COVERAGE, *PATROLLING)
FAULTS: dict[str, list[dict[str, Any]]] = {
    "none": [],
    "breakdowns": [
        {"at_s": 10, "robot": "any", "kind": "dies"},
        {"at_s": 12, "robot": "any", "kind": "radio_dies", "for_s": 20},
        {"at_s": 15, "robot": "any", "kind": "sensor", "sensor": "lidar", "range_factor": 0.5, "for_s": 20},
    ],
    "jump": [{"at_s": 10, "robot": "any", "kind": "localization_jumps", "sigma_m": 0.5, "sigma_deg": 5}],
}
SIDES = {"cave": (40, 26), "building": (30, 20)}
"""Of worlds, for all but coverage and for coverage [m]."""
TIMEOUT_S, STAND_S = 900.0, 300.0
COVERED = {"ssb": 0.85, "boustrophedon": 0.95, "spanning_tree_coverage": 0.95, "partitioned_coverage": 0.95}
"""The share of what can be covered that must be covered in the end: the rest lies along walls, within the gap that
the robots keep to them, and for `ssb` within a tile."""
KEY = ("strategy", "world", "faults", "seed")
Key = tuple[str, str, str, int]


def scenario(strategy: str, place: str, faults: str, seed: int) -> Any:
    """Return the scenario of one run."""
    from covey.scenario.records import Scenario

    data = plain(strategy, "maze", 4, "10 m, walls", seed)
    data["robots"][0]["robot"]["sensors"][0]["range_m"] = 5
    data["robots"][0]["known_map"] = strategy in (*COVERAGE[1:], *PATROLLING)
    side = SIDES[place][strategy in COVERAGE]
    return Scenario.model_validate(
        data
        | {
            "world": {"generate": place, "size_m": [side, side]},
            "faults": FAULTS[faults],
            "stop": {"timeout_s": TIMEOUT_S},
            "mission": "patrolling" if strategy in PATROLLING else "exploration",
        }
    )


class Watch(Observer):
    """Also keeps the failures of controllers, and takes nobody for stuck who is broken."""

    def __init__(self, sim: Any):
        super().__init__(sim)
        self.failures: list[str] = []

    def __call__(self, frame: Any) -> None:
        super().__call__(frame)
        self.failures += [failure.text for failure in self.sim.deciding.failures]
        self.since[sorted(self.sim.deciding.down | self.sim.deciding.lost)] = frame.time_s


def run(key: Key) -> Row:
    """Return the row of one run."""
    from covey.scenario.build import build

    started, strategy = perf_counter(), key[0]
    sim = build(scenario(*key))
    watch = Watch(sim)
    sim.observers.append(watch)
    patrols = strategy in PATROLLING

    def enough() -> bool:
        if strategy in COVERAGE:
            return False
        if not patrols:
            return "explored_99_s" in watch.times
        stood_on = (sim.tracker.visits == 1) & (sim.time - sim.tracker.last_s < 1.0) & (sim.time > STAND_S)
        return bool(((sim.tracker.visits >= 2) | stood_on).all())

    while not sim.done and not enough():
        sim.step()
    explored, covered = sim.scoring.exploration.share_union, sim.scoring.coverage.cells.share
    row = dict(zip(KEY, key, strict=True)) | {
        "reached": bool(covered >= COVERED[strategy]) if strategy in COVERAGE else enough(),
        "all_done": sim.deciding.all_done,
        "explored_share": round(explored, 5),
        "covered_share": round(covered, 5),
        "stuck": [sim.names[i] for i in range(len(sim.names)) if watch.ever[i]],
        "failures": watch.failures,
        "simulated_s": round(sim.time, 1),
    }
    sim.close()
    return row | {"wall_s": round(perf_counter() - started, 1)}


def keys(strategies: list[str], seeds: int) -> list[Key]:
    """Return the runs, seed by seed."""
    found: list[Key] = []
    for seed in range(seeds):
        for faults in ({0: ("none", "breakdowns"), 2: ("none", "jump")}).get(seed % 4, ("none",)):
            found += [(s, w, faults, seed) for s in strategies for w in SIDES]
    return found


def verdict(row: Row) -> str:
    """Return how a run ended: reached, early (all were done, below the goal), or late (time was up)."""
    return "reached" if row["reached"] else "early" if row["all_done"] else "late"


def table(rows: list[Row], strategies: tuple[str, ...]) -> str:
    """Return what became of the runs, one line for each strategy and kind of faults."""
    head = ["strategy", "faults", "reached / runs", "early", "late", "least share", "median end [s]", "stuck", "failed"]
    lines = [head, ["---"] * len(head)]
    share = "covered_share" if strategies == COVERAGE else "explored_share"
    for strategy in strategies:
        for faults in FAULTS:
            some = [r for r in rows if r["strategy"] == strategy and r["faults"] == faults]
            if not some:
                continue
            ends = [verdict(r) for r in some]
            line = [strategy, faults, f"{ends.count('reached')}/{len(some)}", *(str(ends.count(e)) for e in head[3:5])]
            line += [f"{min(r[share] for r in some):.3f}", f"{median(r['simulated_s'] for r in some):.0f}"]
            line += [str(sum(len(r["stuck"]) for r in some)), str(sum(len(r["failures"]) for r in some))]
            lines.append(line)
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


INTRODUCTION = """# Every strategy with 20 seeds and with faults

`python benchmarks/every_strategy.py` writes this page. The script describes the runs and their faults, and
`every_strategy.csv` holds every run. Four robots run in caves of 40 x 40 m and buildings of 30 x 30 m
(coverage: 26 x 26 m and 20 x 20 m), with a radio of 10 m that walls block. The columns are:

* *early*: all robots had finished before the goal was reached
* *late*: the timeout of 900 s ended the run
* *least share*: explored share at the end of the worst run (covered share for coverage strategies)
* *stuck*: robots that had a goal and moved less than 0.1 m in 60 s
* *failed*: robots whose controller raised an exception
"""
PARTS = (
    ("Exploring: goal 99 % explored", EXPLORING, ""),
    (
        "Without a guarantee: goal 99 % explored",
        WANDERING,
        "These strategies need not explore everything, as their papers say. `random_ballistic_walk` and "
        "`wander` drive around and never end. `wall_follower` follows only walls that are connected to the "
        "first one. Robots of `lvd` see only their own surroundings, and forget. Robots of `brick_and_mortar` "
        "end when no neighbouring cell is open.",
    ),
    (
        "Coverage: goal " + ", ".join(f"{name} {share:.0%}" for name, share in COVERED.items()),
        COVERAGE,
        "`ssb` explores what it covers. The others start with the map.",
    ),
    (
        "Patrolling: goal two visits to every waypoint",
        PATROLLING,
        "If the part of a robot is a single waypoint, the robot stands on it, and its visits count. After a "
        "jump a robot is not where it believes it is, so waypoints of its own part may stay unvisited. "
        "`partitioned_patrol` does not take over the part of a dead robot.",
    ),
)


def report(rows: list[Row]) -> str:
    """Return all tables, and each run that did not go well."""
    parts = []
    for title, strategies, text in PARTS:
        some = [r for r in rows if r["strategy"] in strategies]
        if some:
            parts.append(f"## {title}\n\n{text + chr(10) * 2 if text else ''}{table(some, strategies)}\n")
    bad = [r for r in rows if r["failures"] or r["stuck"] or (not r["reached"] and r["strategy"] not in WANDERING)]
    if bad:
        lines = []
        for row in sorted(bad, key=lambda r: tuple(str(r[k]).zfill(3) for k in KEY)):
            facts = [verdict(row), f"explored {row['explored_share']:.3f}", f"covered {row['covered_share']:.3f}"]
            facts += [f"{name} stuck" for name in row["stuck"]]
            facts += [text.strip().splitlines()[-1] for text in row["failures"]]
            lines.append(f"- {', '.join(str(row[k]) for k in KEY)}: {', '.join(facts)}")
        parts.append("## Runs that did not go well\n\n" + "\n".join(lines) + "\n")
    return "\n".join(parts)


def main() -> None:
    """Run the study."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--strategies", nargs="*", choices=ALL, default=list(ALL), help="none: only the tables")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", type=Path, default=HOME / "runs" / "every_strategy")
    parser.add_argument("--anew", action="store_true", help="do not begin with the rows of docs/results")
    parser.add_argument("--write", action="store_true", help="write docs/results")
    options = parser.parse_args()
    file, results = options.out / "rows.jsonl", HOME / "docs" / "results"
    if not options.anew:
        begin(file, results / "every_strategy.csv", KEY)
    study(keys(options.strategies, options.seeds), file, options.jobs, run, KEY)
    rows = read(file)
    text = report(rows)
    print(text)
    if options.write:
        (results / "every_strategy.md").write_text(INTRODUCTION + "\n" + text)
        publish(rows, results / "every_strategy.csv", KEY)


if __name__ == "__main__":
    main()
