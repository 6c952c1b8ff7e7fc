"""The statistics of a report beside those of R (stats, survival, coin) and lifelines, over small random cases.

Each case has pairs of runs of two strategies in blocks of one or two settings: half of the cases with ties, half with
timeouts, some with both. The table has the largest difference of each quantity. Scores that are no halves, as those of
the log-rank test, are rounded to parts of 4096 of their sum before their law is found, so these p differ a little.

    apt-get install r-base-core r-cran-survival r-cran-coin
    pip install lifelines                                      # if you want
    python benchmarks/oracles.py [--cases 50] [--seed 0]
"""

import argparse
import csv
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from covey import statistics
from covey.random import generator

SCRIPT = Path(__file__).with_suffix(".R")
Values = dict[tuple[int, str], np.ndarray]
"""What was found, by case and name."""


@dataclass(frozen=True)
class Case:
    """Pairs of runs.

    Attributes:
        times: of three strategies [s], shape (3, n); of a run that did not get there the timeout.
        reached: whether it got there, shape (3, n).
        block, setting: number of each pair's, shape (n,).
        p: some values of p, shape (n,).
    """

    times: np.ndarray
    reached: np.ndarray
    block: np.ndarray
    setting: np.ndarray
    p: np.ndarray


def draw_case(number: int, seed: int) -> Case:
    """Return a case; its number says whether it has several settings, ties and timeouts."""
    draw = generator(seed, f"oracles/{number}")
    blocks, settings = int(draw.integers(4, 9)), 1 + number % 2
    n, block = blocks * settings, np.repeat(np.arange(blocks), settings)
    times = 100.0 * np.exp(draw.normal(0.0, 0.2, blocks)[block] + draw.normal(0.0, 0.2, (3, n)))
    times[1] *= draw.choice([1.0, 1.2, 1.5])
    times = times.round(-1 if number % 4 > 1 else 6)
    limit = np.quantile(times, 0.7) if number % 8 > 3 else np.inf
    return Case(
        np.minimum(times, limit), times <= limit, block, np.tile(np.arange(settings), blocks), draw.random(n) ** 2
    )


def of_covey(number: int, case: Case) -> Iterator[tuple[str, np.ndarray | float]]:
    """Yield name and values of each statistic of a case."""
    (a, b, _), (done_a, done_b, _) = case.times, case.reached
    n, block = len(a), case.block
    until, times, done = (a, done_a, b, done_b), np.concatenate((a, b)), np.concatenate((done_a, done_b))
    ranked = np.where(done_a, a, np.inf), np.where(done_b, b, np.inf)
    first = np.arange(2 * n) < n
    alone, in_blocks = statistics.log_rank(*until), statistics.log_rank_in_pairs(*until, block, case.setting)
    yield "log-rank, observed less expected", alone.statistic
    yield "log-rank, p", alone.p
    yield "log-rank, p by coin's logrank_test", alone.p
    yield "log-rank by settings, observed less expected", in_blocks.statistic
    yield "log-rank by blocks, p", in_blocks.p
    yield "Mann-Whitney, p", statistics.mann_whitney(*ranked).p
    yield "Wilcoxon by blocks, p", statistics.wilcoxon_paired(*ranked, block).p
    for name, (by, interval) in (
        ("shift without pairs and its interval", statistics.shift(*ranked)),
        ("shift in pairs and its interval", statistics.shift_in_pairs(*ranked)),
    ):
        if interval is not None:
            yield name, np.array([by, interval.low, interval.high])
    yield "Wilcoxon in pairs, p", statistics.wilcoxon_paired(*ranked).p
    there = done_a.astype(float), done_b.astype(float)
    one = case.setting == 0
    yield "McNemar, p", statistics.flips(there[0][one] - there[1][one])[0]
    yield "Fisher, p", statistics.splits(np.concatenate(there), first)[0]
    yield "Wilson's interval", np.array(statistics.wilson(int(done_a.sum()), n))
    _, interval = statistics.mean_difference(a, b)
    if interval is not None:
        yield "restricted means without pairs, Welch's interval", np.array([interval.low, interval.high])
    for name, runs in (
        ("Kaplan-Meier, log-log interval", None),
        ("Kaplan-Meier of runs with several times, log-log interval", np.tile(block, 2)),
    ):
        curve = statistics.kaplan_meier(times, done, runs=runs)
        inside = np.isfinite(curve.low)
        if runs is None or inside.any():
            yield name, np.concatenate((curve.low[inside], curve.high[inside]))
    yield "Kaplan-Meier", curve.share
    yield "restricted mean", curve.restricted_mean_s(float(times.max()))
    friedman = statistics.friedman(case.times.T)
    yield "Friedman's statistic", friedman.statistic
    yield "Nemenyi's critical difference", friedman.critical_difference
    yield "Holm", np.array(statistics.holm(case.p))
    yield "Benjamini and Hochberg", np.array(statistics.benjamini_hochberg(case.p))


def of_r(cases: list[Case], folder: Path) -> Values:
    """Return what R finds.

    Raises:
        FileNotFoundError: there is no Rscript.
        CalledProcessError: R has no survival or coin, or failed.
    """
    with (folder / "cases.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(("case", "block", "setting", "a", "b", "c", "done_a", "done_b", "p"))
        for number, case in enumerate(cases):
            columns = (*case.times, *case.reached[:2].astype(int), case.p)
            for block, setting, *values in zip(case.block, case.setting, *columns, strict=True):
                rows.writerow((number, block, setting, *values))
    subprocess.run(["Rscript", "--vanilla", str(SCRIPT), "cases.csv", "found.csv"], cwd=folder, check=True)
    found: dict[tuple[int, str], list[float]] = {}
    with (folder / "found.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            value = float("nan" if row["value"] == "NA" else row["value"])
            found.setdefault((int(row["case"]), row["name"]), []).append(value)
    return {key: np.array(values) for key, values in found.items()}


def of_lifelines(cases: list[Case]) -> Values:
    """Return what lifelines finds; nothing if it is not installed."""
    try:
        from lifelines import KaplanMeierFitter
        from lifelines.utils import restricted_mean_survival_time
    except ImportError:
        return {}
    found: Values = {}
    for number, case in enumerate(cases):
        times, done = case.times[:2].ravel(), case.reached[:2].ravel()
        fit = KaplanMeierFitter().fit(times, done)
        share = fit.survival_function_.to_numpy().ravel()[1:]
        inside = (share > 1e-9) & (share < 1 - 1e-9)
        found[number, "Kaplan-Meier"] = share
        found[number, "Kaplan-Meier, log-log interval"] = fit.confidence_interval_.to_numpy()[1:][inside].T.ravel()
        found[number, "restricted mean"] = np.array([restricted_mean_survival_time(fit, t=times.max())])
    return found


def compared(ours: Values, theirs: Values) -> dict[str, tuple[int, float]]:
    """Return by name the number of values, and their largest difference; NaN in one only is an infinite one."""
    found: dict[str, tuple[int, float]] = {}
    for key, values in theirs.items():
        if key in ours:
            apart = np.abs(ours[key] - values)
            apart = np.where(np.isnan(ours[key]) & np.isnan(values), 0.0, np.where(np.isnan(apart), np.inf, apart))
            count, most = found.get(key[1], (0, 0.0))
            found[key[1]] = count + len(values), max(most, float(apart.max()))
    return found


def main() -> None:
    """Print the largest differences."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    cases = [draw_case(number, args.seed) for number in range(args.cases)]
    ours = {
        (number, name): np.atleast_1d(values)
        for number, case in enumerate(cases)
        for name, values in of_covey(number, case)
    }
    with tempfile.TemporaryDirectory() as folder:
        of_others = {"R": of_r(cases, Path(folder)), "lifelines": of_lifelines(cases)}
    print("| beside | quantity | values | largest difference |\n|---|---|---|---|")
    for who, theirs in of_others.items():
        for name, (count, most) in compared(ours, theirs).items():
            print(f"| {who} | {name} | {count} | {most:.2g} |")


if __name__ == "__main__":
    main()
