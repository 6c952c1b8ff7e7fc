"""What SLAM costs beside true poses: the tables of docs/results/slam.md, from the runs of the design ``slam_worlds``.

Runs are paired: the same world, start and seed, with true poses and with SLAM. The bars: the quality of the map at most
0.02 less, the time to explore 99 % at most 1.15 times as long, nobody lost. Mean differences come with their 95 %
interval (Student's, of the differences of pairs).

A robot decides at once what to explore next, so the least difference sends it another way, and exploration times
scatter by chance. How much so is seen from a control: true poses with white noise of 1 mm, which no map shows. What it
takes longer than with true poses is chance alone. If SLAM scatters as much, its long runs are chance, too.

The third table says whether robots know how wrong they are. NEES is the squared error of a pose by its covariance, 3 on
average for right covariances. Ends of runs do not depend on each other, so their mean has an interval (chi-squared,
95 %).

With ``--cell 0.23`` maps have cells of that side [m]. Walls of buildings lie on the borders of their cells of 0.25 m,
where maps with true poses show them whole. A map that lies half a cell beside them has gaps in walls far away.

Each run adds a row to ROWS, one iteration after the other; a run that has its row there is not run again.

    python benchmarks/slam_worlds.py ROWS.csv [--seeds 20] [--places office cave building] [--cell 0.23] [--print]
"""

import argparse
import math
from pathlib import Path

import numpy as np
from run_rows import read, run_all
from scipy import stats

from covey.mapping.slam.scores import consistency

KEY = "robots.scout.localization"
QUALITY, TIME = 0.02, 1.15
PLACES = ("office", "cave", "building", "maze", "zigzag")


def pairs(rows: list[dict[str, str]], place: str, other: str, name: str) -> np.ndarray:
    """Return a metric of runs with true poses, and of the same ones otherwise, (n, 2); only where both have it."""
    found: dict[str, dict[str, float]] = {"truth": {}, other: {}}
    for row in rows:
        if row["place"] == place and row[KEY] in found and row[name]:
            found[row[KEY]][row["iteration"]] = float(row[name])
    both = sorted(set(found["truth"]) & set(found[other]), key=int)
    return np.array([(found["truth"][k], found[other][k]) for k in both]).reshape(-1, 2)


def mean_of(values: np.ndarray, digits: int) -> str:
    """Return a mean with its 95 % interval, in words."""
    if len(values) < 2:
        return f"{values.mean():.{digits}f}"
    half = stats.t.ppf(0.975, len(values) - 1) * values.std(ddof=1) / math.sqrt(len(values))
    return f"{values.mean():.{digits}f} [{values.mean() - half:.{digits}f}, {values.mean() + half:.{digits}f}]"


def show(rows: list[dict[str, str]], places: list[str]) -> None:
    """Print a line for each place."""
    print(
        "| place | pairs | quality of the map, median: true poses, SLAM | difference: mean, worst | at most 0.02 | "
        "times as long: mean, longest | at most 1.15 | largest error of a pose: median, worst |"
    )
    print("|---|---|---|---|---|---|---|---|")
    known = [place for place in places if len(pairs(rows, place, "slam", "map_quality"))]
    for place in known:
        quality, time = (pairs(rows, place, "slam", name) for name in ("map_quality", "exploration_time_s"))
        less, longer = quality[:, 0] - quality[:, 1], time[:, 1] / time[:, 0]
        of_place = [row for row in rows if (row["place"], row[KEY]) == (place, "slam")]
        off = np.array([float(row["position_error_max_m"]) for row in of_place])
        print(
            f"| {place} | {len(less)} | {np.median(quality[:, 0]):.3f}, {np.median(quality[:, 1]):.3f} | "
            f"{mean_of(less, 3)}, {less.max():.3f} | {(less <= QUALITY).sum()} | {mean_of(longer, 2)}, "
            f"{longer.max():.2f} | {(longer <= TIME).sum()} of {len(longer)} | "
            f"{np.median(off):.2f}, {off.max():.2f} m |"
        )
    print("\n| place | pairs | control, times as long: mean | deviation: control, SLAM | above 1.15: control, SLAM |")
    print("|---|---|---|---|---|")
    for place in known:
        control, slam = (pairs(rows, place, one, "exploration_time_s") for one in ("control", "slam"))
        if len(control) > 1:
            chance, longer = control[:, 1] / control[:, 0], slam[:, 1] / slam[:, 0]
            print(
                f"| {place} | {len(chance)} | {mean_of(chance, 2)} | {chance.std(ddof=1):.2f}, "
                f"{longer.std(ddof=1):.2f} | {(chance > TIME).sum()}, {(longer > TIME).sum()} |"
            )
    print("\n| place | runs | NEES at the end: mean, 95 % of right ones | median, largest | all along: median |")
    print("|---|---|---|---|---|")
    for place in known:
        of_place = [row for row in rows if (row["place"], row[KEY]) == (place, "slam") and row.get("nees_end")]
        if of_place:
            end, along = (np.array([float(row[name]) for row in of_place]) for name in ("nees_end", "nees"))
            right = consistency(end)
            print(
                f"| {place} | {len(end)} | {right.average:.1f}, {right.low:.1f} to {right.high:.1f} | "
                f"{np.median(end):.1f}, {end.max():.1f} | {np.median(along):.1f} |"
            )


def main() -> None:
    """Run what is missing, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", type=Path)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--places", nargs="+", choices=PLACES, default=PLACES)
    parser.add_argument("--part", default="1/1", help="1/2 and 2/2 can run beside each other")
    parser.add_argument("--cell", type=float, help="side of a cell of the maps [m]; default: that of the design")
    parser.add_argument("--print", action="store_true", help="only print the tables")
    options = parser.parse_args()
    if not options.print:
        keys = ("place", KEY)
        run_all(
            "slam_worlds", keys, options.rows, options.seeds, options.part,
            lambda one: one.values["place"] in options.places,
            {} if options.cell is None else {"robots.scout.robot.mapping.resolution_m": options.cell},
        )  # fmt: skip
    show(read(options.rows), options.places)


if __name__ == "__main__":
    main()
