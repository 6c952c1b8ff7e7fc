"""Size and power of the tests of a report, errors of its family, and coverage of its intervals, by simulation.

Runs of strategies in places, with further settings (radios, team sizes) that share a place and a seed: times have a
lognormal factor for the place and seed, one for the strategy there, and one for the setting. Without the last, settings
repeat each other. Some runs exceed the timeout, and some times are rounded so that they tie. Metres grow with the time,
and have no result where it was up; contacts are small counts. No strategy differs, or all are slower than the first by
a factor.

``size`` and ``power``: how often each test rejects at 5 %. A size has three numbers, such as ``time 3.0 (3.1) 5.0``:
how often the test rejects; how often it can, because few blocks have few outcomes, and the largest p of at most 5 %
lies below; and how often it would reject if a lot decided at its border so that it could reach 5 % (Tocher 1950). The
last is 5 % for every number of runs if the p values are right; ``!`` marks a size that is not within 1.5 % of it.
``pooled``, Wilcoxon's test of all pairs as if they were independent, is there to compare. Friedman's test draws 39
permutations, not 9999: with any number m for which 5 % of m + 1 is whole, a sampled test has the size of the whole one
(Dwass 1957). At the end stands a table with one line per test.

``families``: how often the primary family (Holm, Tarone) rejects anything that is not so, if no strategy differs, or
only one. ``coverage``: how often 95 % intervals hold the truth. All parts take about 40 minutes of one core.

    python benchmarks/inference.py [--repeats 2000] [--only size power families coverage] [--blocks 6]
        [--processes 2] [--seed 0]

References:
    M. Dwass: Modified randomization tests for nonparametric hypotheses. Ann. Math. Statist. 28, 1957.
    K. D. Tocher: Extension of the Neyman-Pearson theory of tests to discontinuous variates. Biometrika 37, 1950.
"""

import argparse
import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from scipy import stats

from covey import statistics
from covey.random import generator
from covey.results.statistics import blocks
from covey.results.statistics.intervals import mean_band

Map = Callable[[Callable, list[tuple]], Iterable]
"""Calls a function with each of some rows of arguments, in several processes."""

LEVEL, NEAR = 0.05, 0.015
PERMUTATIONS = 39
BLOCKS = (6, 8, 10, 15, 20, 30)
"""Numbers of blocks, or runs, of the simulation of intervals."""


@dataclass(frozen=True)
class Case:
    """A shape of a study.

    Attributes:
        name: of a design that ships with such a shape, or what is special.
        places, settings, seeds, strategies: numbers of them.
        own: standard deviation of the logarithm of a strategy's factor for a place and seed.
        noise: that of a setting's.
        late: share of the runs that exceed the timeout.
        digits: decimals to which logarithms of times are rounded.
        slower: factor by which every strategy but the first is slower.
    """

    name: str
    places: int = 1
    settings: int = 1
    seeds: int = 8
    strategies: int = 2
    own: float = 0.15
    noise: float = 0.1
    late: float = 0.0
    digits: int = 9
    slower: float = 1.0


SHAPES = [
    *(Case(f"one setting, {n} seeds", seeds=n) for n in (3, 4, 5, 6, 8, 10, 15, 20, 30)),
    Case("2 places, 2 radios, 8 seeds", 2, 2, 8),
    Case("2 places, 2 radios that repeat each other", 2, 2, 8, noise=0.0),
    Case("table4: 4 terrains, 30 sizes, 5 seeds", 4, 30, 5),
    Case("strategies_terrains: 4 terrains, 10 seeds", 4, 1, 10),
    Case("fault_tolerance: 5 faults, 10 seeds", 1, 5, 10),
    Case("radio_ranges: 36 settings, 10 seeds", 1, 36, 10),
    Case("rescue: 5 floors, 2 teams, 20 seeds", 5, 2, 20),
    Case("minotaur: 6 maps, 30 settings, 10 seeds", 6, 30, 10),
]
SPECIAL = {
    "plain": {},
    "ties, 40 % late": {"digits": 1, "late": 0.4},
    "ties": {"digits": 1},
    "80 % late": {"late": 0.8},
}
"""What is special about the studies of a shape; those of the shipped designs take the first two."""
SLOWER = (1.1, 1.2, 1.5)


def logs(case: Case, draw: np.random.Generator) -> np.ndarray:
    """Return logarithms of times, shape (place, seed, setting, strategy)."""
    shape = (case.places, case.seeds, case.settings, case.strategies)
    log = draw.normal(0.0, 0.2, (*shape[:2], 1, 1)) + np.arange(case.places)[:, None, None, None]
    log = log + draw.normal(0.0, case.own, (*shape[:2], 1, shape[3])) + draw.normal(0.0, case.noise, shape)
    log = log.round(case.digits)
    log[..., 1:] += math.log(case.slower)
    return log


def ended(log: np.ndarray, late: float) -> tuple[np.ndarray, np.ndarray]:
    """Return times, infinite beyond the timeout of their place, and these timeouts, as the logarithms are shaped."""
    limit = np.quantile(log, 1.0 - late, axis=(1, 2, 3), keepdims=True) if late else np.full((1,) * 4, np.inf)
    return np.where(log > limit, np.inf, np.exp(log)), np.exp(np.broadcast_to(limit, log.shape))


def p_values(case: Case, draw: np.random.Generator, number: int) -> Iterator[tuple[str, float]]:
    """Yield the p of each test between the first two strategies, and of all; ``number``: of the study."""
    log = logs(case, draw)
    found, limit = ended(log, case.late)
    metres = np.where(np.isinf(found), np.inf, found * draw.lognormal(0.0, 0.1, found.shape))
    contacts = np.where(np.isinf(found), np.inf, draw.poisson(np.exp(log - log.mean())))
    place, seed, setting = (axis.ravel() for axis in np.indices(found.shape[:3]))
    block, kind = place * case.seeds + seed, place * case.settings + setting
    a, b, end = found[..., 0].ravel(), found[..., 1].ravel(), limit[..., 0].ravel()
    there = np.isfinite(a), np.isfinite(b)
    until = (np.minimum(a, end), there[0], np.minimum(b, end), there[1])
    yield "time", statistics.wilcoxon_paired(a, b, block).p
    for name, values in (("metres", metres), ("contacts", contacts)):
        yield name, statistics.wilcoxon_paired(values[..., 0].ravel(), values[..., 1].ravel(), block).p
    yield "restricted mean", statistics.flips(np.bincount(block, until[0] - until[2]))[0]
    yield "log-rank", statistics.log_rank_in_pairs(*until, block, kind).p
    if case.late:
        yield "success", statistics.flips(np.bincount(block, there[0].astype(float) - there[1]))[0]
    if case.strategies > 2:
        yield "Friedman", statistics.friedman(found.reshape(-1, case.strategies), block=block, seed=number).p
        yield (
            "Friedman of contacts",
            statistics.friedman(contacts.reshape(-1, case.strategies), block=block, seed=number).p,
        )
    if case.places == case.settings == 1:
        yield from without_partners(case, draw)
    elif case.slower == 1.0:
        yield "pooled", statistics.wilcoxon_paired(a, b).p


def without_partners(case: Case, draw: np.random.Generator) -> Iterator[tuple[str, float]]:
    """Yield the p of the tests of two strategies whose runs have no seeds in common."""
    log = np.concatenate([logs(case, draw)[..., :1], logs(case, draw)[..., 1:2]], axis=3)
    found, limit = ended(log, case.late)
    a, b = found[..., 0].ravel(), found[..., 1].ravel()
    end, there = limit[..., 0].ravel(), (np.isfinite(a), np.isfinite(b))
    until = (np.minimum(a, end), there[0], np.minimum(b, end), there[1])
    first = np.arange(2 * len(a)) < len(a)
    yield "Mann-Whitney", statistics.mann_whitney(a, b).p
    yield "log-rank, no pairs", statistics.log_rank(*until).p
    yield "mean, no pairs", statistics.splits(np.concatenate((until[0], until[2])), first)[0]
    if case.late:
        yield "Fisher", statistics.splits(np.concatenate(there).astype(float), first)[0]


@dataclass
class Outcomes:
    """How often a test rejects at 5 %, in sums over studies.

    Attributes:
        studies: number of studies.
        rejects: in how many of them it rejects.
        can: sum of the probabilities that it rejects by its own law; NaN if it has none.
        by_lot: sum of the probabilities that it rejects if a lot decides at its border.
    """

    studies: int = 0
    rejects: int = 0
    can: float = 0.0
    by_lot: float = 0.0

    def shares(self) -> np.ndarray:
        return np.array([self.rejects, self.can, self.by_lot]) / self.studies


class Border:
    """Listens to the laws of exact tests: the level that the last test can attain, and what a lot at its border adds.

    A test that asks for no law says that nothing differs, for sure, or uses a normal law.
    """

    def __init__(self) -> None:
        self._two_sided, self._as_far = blocks._two_sided, blocks._as_far
        self._heard: tuple[float, float] | None = None
        self._counts = np.zeros(3)

    def __enter__(self) -> "Border":
        blocks._two_sided, blocks._as_far = self._of_law, self._of_permutations
        return self

    def __exit__(self, *_: object) -> None:
        blocks._two_sided, blocks._as_far = self._two_sided, self._as_far

    def _of_law(self, law: np.ndarray, at: int) -> float:
        below = np.cumsum(law)
        p = 2.0 * np.minimum(below, below[-1] - below + law)
        can = float(law[p <= LEVEL].sum())
        outside = np.where((p > LEVEL) & (law > 0), p, np.inf)
        border = outside <= outside.min() * (1.0 + 1e-9)
        lot = (LEVEL - can) / float(law[border].sum())
        self._heard = can, 1.0 if p[at] <= LEVEL else lot if border[at] else 0.0
        return self._two_sided(law, at)

    def _of_permutations(self, statistics: np.ndarray, found: float) -> int:
        reached = self._as_far(statistics, found)
        farther = int((statistics > found + 1e-9 * (1.0 + found)).sum())
        self._counts += farther, reached - farther, len(statistics)
        return reached

    def take(self, p: float) -> tuple[float, float]:
        """Return the level that the last test can attain, NaN if it is not known, and its rejection by lot."""
        heard, (farther, equal, all_) = self._heard, self._counts
        self._heard, self._counts = None, np.zeros(3)
        if all_:
            itself = all_ == PERMUTATIONS  # those that were drawn do not hold the study itself
            return math.nan, float(np.clip((LEVEL * (all_ + itself) - farther) / (equal + itself), 0.0, 1.0))
        return heard or ((0.0, LEVEL) if p == 1.0 else (math.nan, float(p <= LEVEL)))


def outcomes(case: Case, repeats: int, seed: int) -> dict[str, Outcomes]:
    """Return the outcomes of each test in so many studies."""
    draw, found = generator(seed, f"inference/{case}"), dict[str, Outcomes]()
    blocks.SAMPLES = PERMUTATIONS
    with Border() as border:
        for number in range(repeats):
            for name, p in p_values(case, draw, number):
                one, (can, by_lot) = found.setdefault(name, Outcomes()), border.take(p)
                one.studies, one.rejects = one.studies + 1, one.rejects + (p <= LEVEL)
                one.can, one.by_lot = one.can + can, one.by_lot + by_lot
    return found


def size(repeats: int, seed: int, each: Map) -> Iterator[str]:
    """Yield how often each test rejects although nothing differs, and the mean and the range over all cases."""
    cases = [
        (f"{shape.name}; {special}", replace(shape, strategies=4 if shape.places * shape.seeds > 5 else 3, **options))
        for shape in SHAPES
        for special, options in list(SPECIAL.items())[: 4 if shape.places == shape.settings == 1 else 2]
    ]
    every: dict[str, list[np.ndarray]] = {}
    for (name, _), found in zip(cases, each(outcomes, [(case, repeats, seed) for _, case in cases]), strict=True):
        for test, one in found.items():
            every.setdefault(test, []).append(100 * one.shares())
        yield f"{name}: {', '.join(_size(test, shares[-1]) for test, shares in every.items() if test in found)}"
    yield "| test | cases | rejects | can reject | with a lot: mean | least | most |"
    for test, rows in every.items():
        rejects, can, by_lot = np.transpose(rows)
        known = "–" if np.isnan(can).all() else f"{np.nanmean(can):.1f}"
        ends = f"{by_lot.mean():.1f} | {by_lot.min():.1f} | {by_lot.max():.1f}"
        yield f"| {test} | {len(rows)} | {rejects.mean():.1f} | {known} | {ends} |"


def _size(test: str, shares: np.ndarray) -> str:
    rejects, can, by_lot = shares
    wrong = abs(by_lot / 100 - LEVEL) > NEAR and test != "pooled"
    return f"{test} {rejects:.1f}{'' if np.isnan(can) else f' ({can:.1f})'} {by_lot:.1f}{' !' if wrong else ''}"


def power(repeats: int, seed: int, each: Map) -> Iterator[str]:
    """Yield how often each test finds a strategy that is slower."""
    cases = [
        (
            f"{shape.name}; {slower:g} times as slow, {100 * late:.0f} % late",
            replace(shape, slower=slower, strategies=3, late=late),
        )
        for shape in (SHAPES[4], SHAPES[5], SHAPES[7], SHAPES[9], SHAPES[13])
        for slower, late in itertools.product(SLOWER, (0.0, 0.4))
    ]
    for (name, _), found in zip(cases, each(outcomes, [(case, repeats, seed) for _, case in cases]), strict=True):
        yield f"{name}: {', '.join(f'{test} {100 * one.shares()[0]:.1f}' for test, one in found.items())}"


def families(repeats: int, seed: int, each: Map) -> Iterator[str]:
    """Yield how often a family of all pairs of strategies rejects anything that is not so."""
    cases = list(itertools.product((3, 5, 12), (8, 20), (0.0, 0.6)))
    rows = [(*case, repeats, seed) for case in cases]
    for (strategies, seeds, late), (none, one) in zip(cases, each(family, rows), strict=True):
        yield (
            f"{strategies} strategies, 2 places x {seeds} seeds, late {late:g}: no difference {100 * none:.1f}, "
            f"one slower {100 * one:.1f}"
        )


def family(strategies: int, seeds: int, late: float, repeats: int, seed: int) -> np.ndarray:
    """Return how often a family rejects anything that is not so, if nothing differs, and if one strategy is slower."""
    case = Case("family", 2, 2, seeds, strategies, late=late)
    draw, hits = generator(seed, f"inference/{case}"), np.zeros(2)
    place, number, _ = (axis.ravel() for axis in np.indices((2, seeds, 2)))
    for _, one in itertools.product(range(repeats), (0, 1)):
        log = logs(case, draw)
        log[..., -1] += 0.5 * one
        found = ended(log, late)[0].reshape(-1, strategies)
        pairs = list(itertools.combinations(range(strategies), 2))
        tests = [statistics.wilcoxon_paired(found[:, i], found[:, j], place * seeds + number) for i, j in pairs]
        counts = statistics.tarone([test.smallest_p for test in tests])
        adjusted = iter(statistics.holm([t.p for t, counted in zip(tests, counts, strict=True) if counted]))
        p = [next(adjusted) if counted else 1.0 for counted in counts]
        null = [not one or j < strategies - 1 for _, j in pairs]
        hits[one] += any(q <= LEVEL for q, true in zip(p, null, strict=True) if true)
    return hits / repeats


def coverage(repeats: int, seed: int, each: Map, blocks: Sequence[int] = BLOCKS) -> Iterator[str]:
    """Yield how often the 95 % intervals hold the truth."""
    cases = list(itertools.product(blocks, (1, 2)))
    every: dict[str, list[float]] = {}
    for (n, settings), found in zip(cases, each(covered, [(*case, repeats, seed) for case in cases]), strict=True):
        yield f"{n} blocks x {settings}: {', '.join(f'{name} {share:.1f}' for name, share in found.items())}"
        for name, share in found.items():
            every.setdefault(name, []).append(share)
    yield "| interval | least | mean | most |"
    for name, shares in every.items():
        yield f"| {name} | {min(shares):.1f} | {np.mean(shares):.1f} | {max(shares):.1f} |"
    for n in blocks:
        held = ", ".join(f"{sigma:g}: {100 * mean_held(n, sigma, 20 * repeats, seed):.1f}" for sigma in SPREADS)
        yield f"mean of {n} lognormal times, {20 * repeats} samples, sigma {held}"
    for n in blocks:
        chances = np.linspace(0.05, 0.95, 181)
        ends = np.array([statistics.wilson(k, n) for k in range(n + 1)])
        inside = (ends[:, :1] <= chances) & (chances <= ends[:, 1:])
        share = (inside * stats.binom.pmf(np.arange(n + 1)[:, None], n, chances)).sum(axis=0)
        yield f"Wilson, {n} runs, chances of 5 to 95 %: mean {100 * share.mean():.1f}, least {100 * share.min():.1f}"


def covered(n: int, settings: int, repeats: int, seed: int) -> dict[str, float]:
    """Return by kind of interval how often it holds the truth [%], of n blocks with so many settings."""
    draw, block = generator(seed, f"inference/coverage/{n}/{settings}"), np.repeat(np.arange(n), settings)
    truths = [restricted_truth(timeout) for timeout in TIMEOUTS]
    hits: dict[str, list[bool]] = {}
    for number in range(repeats):
        (mean, success), timeout = truths[number % len(truths)], TIMEOUTS[number % len(truths)]
        a, b = np.exp(draw_logs(draw, n, settings))
        a = a * SLOWER[1]
        there, until = [(x <= timeout) * 1.0 for x in (a, b)], [np.minimum(x, timeout) for x in (a, b)]
        other = np.exp(draw_logs(draw, n, settings))[0]
        alone, nobody = np.exp(draw_logs(draw, n, 1))[0], np.exp(draw_logs(draw, n, 1))[1] * SLOWER[1]
        skewed, wide = (draw.lognormal(0.0, sigma, n) for sigma in SIGMAS)
        found = {
            "shift": (statistics.shift_in_pairs(other + 0.2, b, block=block)[1], 0.2),
            "restricted mean": (statistics.mean_difference_in_pairs(*until, block=block)[1], mean),
            "success": (statistics.success_difference_in_pairs(*there, block=block)[1], success),
            "shift, no pairs": (statistics.shift(alone + 0.2, b[::settings])[1], 0.2),
            "restricted mean, no pairs": (
                statistics.mean_difference(np.minimum(nobody, timeout), until[1][::settings])[1],
                mean,
            ),
            "success, no pairs": (
                statistics.success_difference((nobody <= timeout) * 1.0, there[1][::settings])[1],
                success,
            ),
            "median": (statistics.median_interval(skewed), 1.0),
            "mean": (statistics.mean_interval(skewed), math.exp(SIGMAS[0] ** 2 / 2)),
            "mean of a wide law": (statistics.mean_interval(wide), math.exp(SIGMAS[1] ** 2 / 2)),
        }
        for name, (interval, value) in found.items():
            if interval is not None:
                hits.setdefault(name, []).append(interval.low <= value <= interval.high)
    return {name: float(100 * np.mean(those)) for name, those in hits.items()}


def mean_held(n: int, sigma: float, samples: int, seed: int) -> float:
    """Return the share of samples of lognormal times whose interval holds their mean."""
    times = generator(seed, f"inference/mean/{n}/{sigma}").lognormal(0.0, sigma, (n, samples))
    low, high = mean_band(times)
    mean = math.exp(sigma**2 / 2)
    return float(((low <= mean) & (mean <= high)).mean())


TIMEOUTS = (0.9, 1.1, 1.3, 1.6)
"""About 35, 64, 84 and 96 % of the runs of the faster strategy reach the goal by then."""
SIGMAS = (0.3, 0.6)
"""Standard deviations of the logarithms of times whose mean or median is to be held."""
SPREADS = (0.01, *SIGMAS, 1.0)
"""The same, of many samples of which only the mean is to be held."""


def draw_logs(draw: np.random.Generator, n: int, settings: int) -> np.ndarray:
    """Return logarithms of times of two strategies, shape (2, n settings), in blocks of so many settings."""
    own = draw.normal(0.0, 0.15, (2, n)) + draw.normal(0.0, 0.2, n)
    return np.repeat(own, settings, axis=1) + draw.normal(0.0, 0.1, (2, n * settings))


def restricted_truth(timeout: float) -> tuple[float, float]:
    """Return the difference of the restricted means of the two strategies, and that of their chances of success."""
    spread = math.sqrt(0.15**2 + 0.2**2 + 0.1**2)
    means = []
    for factor in (SLOWER[1], 1.0):
        law = stats.lognorm(spread, scale=factor)
        means.append((float(law.expect(lambda t: t, ub=timeout)) + timeout * law.sf(timeout), law.cdf(timeout)))
    return means[0][0] - means[1][0], float(means[0][1] - means[1][1])


PARTS = {"size": size, "power": power, "families": families, "coverage": coverage}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=2000)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--blocks", type=int, nargs="+", default=BLOCKS, help="of coverage")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    PARTS["coverage"] = partial(coverage, blocks=args.blocks)
    with ProcessPoolExecutor(args.processes) as pool:
        for part in args.only:
            print(f"# {part} [%]", flush=True)
            for text in PARTS[part](args.repeats, args.seed, lambda of, rows: pool.map(of, *zip(*rows, strict=True))):
                print(text, flush=True)
