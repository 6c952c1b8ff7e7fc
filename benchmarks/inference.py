"""Size and power of the tests of a report, errors of its family, and coverage of its intervals, by simulation.

Runs of strategies in places, with further settings (radios, team sizes) that share a place and a seed: times have a
lognormal factor for the place and seed, one for the strategy there, and one for the setting. Without the last, settings
repeat each other. Some runs exceed the timeout, and some times are rounded so that they tie. Metres grow with the time,
and have no result where it was up; contacts are small counts. No strategy differs, or all are slower than the first by
a factor.

``size`` and ``power``: how often each test rejects at 5 %. Behind an exact test stands the level that it can attain:
few blocks that say something have few outcomes, and the largest p of at most 5 % lies below. A test that holds its
level rejects that often. ``!`` marks what is neither within 1.5 % of 5 % nor of what can be attained, and tests without
such a law above 6.5 %. ``pooled``, Wilcoxon's test of all pairs as if they were independent, is there to compare. The
permutations of Friedman's test are 199, not 9999: with any number m for which 5 % of m + 1 is whole, a sampled test has
the size of the whole one (Dwass 1957). At the end stands a table with one line per test.

``families``: how often the primary family (Holm, Tarone) rejects anything that is not so, if no strategy differs, or
only one. ``coverage``: how often 95 % intervals hold the truth; half of the repeats.

    python benchmarks/inference.py [--quick] [--repeats 1000] [--only size power families coverage] [--seed 0]

References:
    M. Dwass: Modified randomization tests for nonparametric hypotheses. Ann. Math. Statist. 28, 1957.
"""

import argparse
import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy import stats

from covey import statistics
from covey.random import generator
from covey.results.statistics import blocks

LEVEL, NEAR = 0.05, 0.015
PERMUTATIONS = 199


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
SPECIAL = {"plain": {}, "40 % late": {"late": 0.4}, "80 % late": {"late": 0.8}, "ties": {"digits": 1}}
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


def p_values(case: Case, draw: np.random.Generator) -> Iterator[tuple[str, float]]:
    """Yield the p of each test between the first two strategies, and of all, in the order in which they are made."""
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
        yield "Friedman", statistics.friedman(found.reshape(-1, case.strategies), block=block).p
        yield "Friedman of contacts", statistics.friedman(contacts.reshape(-1, case.strategies), block=block).p
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


class Attained:
    """Notes the level that each exact test could attain: the probability of p of at most 5 % by its own law."""

    def __init__(self) -> None:
        self.levels: list[float] = []
        self._p, blocks._two_sided = blocks._two_sided, self

    def __call__(self, law: np.ndarray, at: int) -> float:
        low, high = np.cumsum(law), np.cumsum(law[::-1])[::-1]
        self.levels.append(float(law[2.0 * np.minimum(low, high) <= LEVEL].sum()))
        return self._p(law, at)

    def take(self) -> float | None:
        """Return the level of the last test; 0 if nothing said anything, None if it was none of these."""
        return self.levels.pop() if self.levels else None


def shares(case: Case, repeats: int, seed: int, attained: Attained) -> dict[str, tuple[float, float | None]]:
    """Return by test how often it rejects at 5 %, and the mean of the levels that it could attain."""
    draw = generator(seed, f"inference/{case}")
    found: dict[str, list[tuple[float, float | None]]] = {}
    for _ in range(repeats):
        for name, p in p_values(case, draw):
            level = 0.0 if p == 1.0 and not attained.levels and "Friedman" not in name else attained.take()
            found.setdefault(name, []).append((p <= LEVEL, level))
    return {name: (_mean(r for r, _ in rows), _mean(lv for _, lv in rows)) for name, rows in found.items()}


def _mean(values: Iterator[float | None]) -> float | None:
    known = list(values)
    return None if None in known else float(np.mean(known))  # pyright: ignore


def line(case: Case, special: str, found: dict[str, tuple[float, float | None]], *, size: bool) -> str:
    """Return a line about one case, in per cent; marked where a size is not as it should be."""
    cells = []
    for name, (share, level) in found.items():
        off = share - LEVEL if level is None else min(share - LEVEL, share - level, key=abs)
        wrong = size and name != "pooled" and (off > NEAR or (level is not None and off < -NEAR))
        low = "" if not size or level is None or level > LEVEL - 0.005 else f" ({100 * level:.1f})"
        cells.append(f"{name} {100 * share:.1f}{low}{' !' if wrong else ''}")
    return f"{case.name}; {special}: {', '.join(cells)}"


def size(repeats: int, seed: int) -> Iterator[str]:
    """Yield how often each test rejects although nothing differs, and the mean and the range over all cases."""
    blocks.SAMPLES, attained = PERMUTATIONS, Attained()
    every: dict[str, list[tuple[float, float]]] = {}
    for shape, (special, options) in itertools.product(SHAPES, SPECIAL.items()):
        case = replace(shape, strategies=4 if shape.places * shape.seeds > 5 else 3, **options)
        found = shares(case, repeats, seed, attained)
        yield line(case, special, found, size=True)
        for name, (share, level) in found.items():
            every.setdefault(name, []).append((share, LEVEL if level is None else level))
    yield "| test | cases | mean | attainable | most | where 5 % is attainable | farthest from attainable |"
    for name, rows in every.items():
        whole = [share for share, level in rows if level > LEVEL - 0.005]
        apart = max(abs(share - level) for share, level in rows)
        free = f"{100 * min(whole):.1f} to {100 * max(whole):.1f}" if whole else "none"
        mean, level = (float(np.mean(values)) for values in zip(*rows, strict=True))
        known = name != "pooled" and "Friedman" not in name
        attainable, far = (f"{100 * value:.1f}" if known else "–" for value in (level, apart))
        most = max(share for share, _ in rows)
        yield f"| {name} | {len(rows)} | {100 * mean:.1f} | {attainable} | {100 * most:.1f} | {free} | {far} |"
    blocks._two_sided = attained._p


def power(repeats: int, seed: int) -> Iterator[str]:
    """Yield how often each test finds a strategy that is slower."""
    blocks.SAMPLES, attained = 999, Attained()
    for shape in (SHAPES[4], SHAPES[5], SHAPES[7], SHAPES[9], SHAPES[13]):
        for slower, late in itertools.product(SLOWER, ("plain", "40 % late")):
            case = replace(shape, slower=slower, strategies=3, **SPECIAL[late])
            found = shares(case, max(1, repeats // 4), seed, attained)
            yield line(case, f"{slower:g} times as slow, {late}", found, size=False)
    blocks._two_sided = attained._p


def families(repeats: int, seed: int) -> Iterator[str]:
    """Yield how often a family of all pairs of strategies rejects anything that is not so."""
    for strategies, seeds, late in itertools.product((3, 5, 12), (8, 20), (0.0, 0.6)):
        case = Case("family", 2, 2, seeds, strategies, late=late)
        draw, hits = generator(seed, f"inference/{case}"), np.zeros(2)
        place, number, _ = (axis.ravel() for axis in np.indices((2, seeds, 2)))
        for _, one in itertools.product(range(max(1, repeats // (2 if strategies > 5 else 1))), (0, 1)):
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
        n = max(1, repeats // (2 if strategies > 5 else 1))
        yield (
            f"{strategies} strategies, 2 places x {seeds} seeds, late {late:g}: no difference {100 * hits[0] / n:.1f}, "
            f"one slower {100 * hits[1] / n:.1f}"
        )


def coverage(repeats: int, seed: int) -> Iterator[str]:
    """Yield how often the 95 % intervals hold the truth."""
    for n, settings in itertools.product((6, 8, 10, 15, 20, 30), (1, 2)):
        yield f"{n} blocks x {settings}: {', '.join(covered(n, settings, max(1, repeats // 2), seed))}"
    for n in (6, 8, 10, 15, 20, 30):
        chances = np.linspace(0.05, 0.95, 181)
        ends = np.array([statistics.wilson(k, n) for k in range(n + 1)])
        inside = (ends[:, :1] <= chances) & (chances <= ends[:, 1:])
        share = (inside * stats.binom.pmf(np.arange(n + 1)[:, None], n, chances)).sum(axis=0)
        yield f"Wilson, {n} runs, chances of 5 to 95 %: mean {100 * share.mean():.1f}, least {100 * share.min():.1f}"


def covered(n: int, settings: int, repeats: int, seed: int) -> Iterator[str]:
    """Yield each kind of interval with how often it holds the truth, of n blocks with so many settings."""
    draw, block = generator(seed, f"inference/coverage/{n}/{settings}"), np.repeat(np.arange(n), settings)
    truth = restricted_truth()
    hits: dict[str, list[bool]] = {}
    for _ in range(repeats):
        a, b = np.exp(draw_logs(draw, n, settings))
        a = a * SLOWER[1]
        late = np.where(a > TIMEOUT, np.inf, a), np.where(b > TIMEOUT, np.inf, b)
        there = [np.isfinite(x).astype(float) for x in late]
        shifted = b + 0.2  # exchangeable with b but for the shift
        skewed = draw.lognormal(0.0, 0.3, n)
        other = np.exp(draw_logs(draw, n, settings))[0]
        alone = np.exp(draw_logs(draw, n, 1))[0]
        until = [np.minimum(x, TIMEOUT) for x in late]
        found = {
            "shift": (statistics.shift_in_pairs(other + 0.2, b, block=block)[1], 0.2),
            "restricted mean": (statistics.mean_difference_in_pairs(*until, block=block)[1], truth[0]),
            "success": (statistics.mean_difference_in_pairs(*there, block=block)[1], truth[1]),
            "shift, no pairs": (statistics.shift(alone + 0.2, shifted[::settings] - 0.2)[1], 0.2),
            "median": (statistics.median_interval(skewed), 1.0),
            "mean": (statistics.mean_interval(skewed), math.exp(0.045)),
        }
        for name, (interval, value) in found.items():
            if interval is not None:
                hits.setdefault(name, []).append(interval.low <= value <= interval.high)
    for name, those in hits.items():
        yield f"{name} {100 * np.mean(those):.1f}"


TIMEOUT = 1.3


def draw_logs(draw: np.random.Generator, n: int, settings: int) -> np.ndarray:
    """Return logarithms of times of two strategies, shape (2, n settings), in blocks of so many settings."""
    own = draw.normal(0.0, 0.15, (2, n)) + draw.normal(0.0, 0.2, n)
    return np.repeat(own, settings, axis=1) + draw.normal(0.0, 0.1, (2, n * settings))


def restricted_truth() -> tuple[float, float]:
    """Return the difference of the restricted means of the two strategies, and that of their chances of success."""
    spread = math.sqrt(0.15**2 + 0.2**2 + 0.1**2)
    means = []
    for factor in (SLOWER[1], 1.0):
        law = stats.lognorm(spread, scale=factor)
        means.append((float(law.expect(lambda t: t, ub=TIMEOUT)) + TIMEOUT * law.sf(TIMEOUT), law.cdf(TIMEOUT)))
    return means[0][0] - means[1][0], float(means[0][1] - means[1][1])


PARTS = {"size": size, "power": power, "families": families, "coverage": coverage}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=1000)
    parser.add_argument("--quick", action="store_true", help="100 repeats: a look at whether everything runs")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    for part in args.only:
        print(f"# {part} [%]", flush=True)
        for text in PARTS[part](100 if args.quick else args.repeats, args.seed):
            print(text, flush=True)
