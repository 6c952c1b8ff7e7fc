"""Teams of three with SLAM and unknown starts: map error, wrong merges, time until all know one frame.

The runs are those of the design ``slam_team_runs``, one iteration after the other, so that a study cut short is a
smaller study. Each run adds a row to ROWS; a run that has its row there is not run again. ``--part 1/2`` and
``--part 2/2`` can run beside each other with the same file.

    python benchmarks/slam_team_runs.py ROWS.csv [--seeds 20] [--part 1/1] [--print]

The bars: the map error of unknown starts at most 1.5 times that of known ones, and no wrong merge at the end.
"""

import argparse
import math
import statistics
from pathlib import Path

from run_rows import read, run_all

BAR = 1.5
ERROR, WRONG, TIME = "map_error_cells_mean", "map_wrong_cells_mean", "simulated_time_s"
STARTS, RADIO = "share_maps.start_poses", "radio.range_m"


def numbers(rows: list[dict[str, str]], name: str) -> list[float]:
    """Return the values of a column that are known."""
    return [float(row[name]) for row in rows if row[name]]


def ratio(pairs: list[tuple[dict[str, str], dict[str, str]]], name: str) -> float:
    """Return the sum of a column over runs with unknown starts by that over the same ones with known starts."""
    sums = [sum(float(row[name]) for row in side) for side in zip(*pairs, strict=True)]
    return sums[0] / sums[1] if pairs else math.nan


def show(rows: list[dict[str, str]]) -> None:
    """Print a line for each place and radio range; ratios are those of unknown starts to known ones."""
    known = {(row["place"], row[RADIO], row["iteration"]): row for row in rows if row[STARTS] == "known"}
    print(
        "place     radio  runs  not to 99 %, known  error/known  where all joined  of known cells  time/known  "
        "wrong (ever, at the end) of pairs  missed  all know one frame"
    )
    unknown = [row for row in rows if row[STARTS] != "known"]
    for place, radio in sorted({(row["place"], row[RADIO]) for row in unknown}):
        some = [row for row in unknown if (row["place"], row[RADIO]) == (place, radio)]
        keys = [(place, radio, row["iteration"]) for row in some]
        pairs = [(row, known[key]) for row, key in zip(some, keys, strict=True) if key in known]
        joined = [pair for pair in pairs if pair[0]["missed_merges"] == "0"]
        short = [sum(row["status"] != "reached" for row in side) for side in zip(*pairs, strict=True)] or [0, 0]
        ever, end, missed = (sum(numbers(some, n)) for n in ("wrong_merges", "wrong_merges_at_end", "missed_merges"))
        times = numbers(some, "all_aligned_s")
        spread = f" ({min(times):.0f} to {max(times):.0f} s)" if times else ""
        middle = f"{statistics.median(times):.0f} s" if times else "never"
        print(
            f"{place:9s} {radio:>5s} {len(some):5d}  {short[0]:11d}, {short[1]:5d}  {ratio(pairs, ERROR):11.2f}  "
            f"{ratio(joined, ERROR):16.2f}  {ratio(pairs, WRONG):14.2f}  {ratio(pairs, TIME):10.2f}  "
            f"{ever:4.0f} {end:4.0f} of {6 * len(some)}  {missed:15.0f}  {len(times)} runs, {middle}{spread}"
        )
    stay = sum(numbers(unknown, "wrong_merges_at_end"))
    print(f"wrong merges that stay: {stay:.0f} of {6 * len(unknown)} ordered pairs (bar: 0); bar of the ratio: {BAR}")


def main() -> None:
    """Run what is missing, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", type=Path)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--part", default="1/1")
    parser.add_argument("--print", action="store_true", help="only print the table")
    options = parser.parse_args()
    if not options.print:
        run_all("slam_team_runs", ("place", STARTS, RADIO), options.rows, options.seeds, options.part)
    show(read(options.rows))


if __name__ == "__main__":
    main()
