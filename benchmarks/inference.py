"""Size and power of the tests of a report, and coverage of its intervals, by simulation.

Times of strategies in places, with further settings (radios, team sizes) that share a place and a seed: a lognormal
factor for the place and seed, one for the strategy there, and one for the setting. Without the last, settings repeat
each other. Some runs exceed the timeout, and some times are rounded so that they tie. No strategy differs, or all are
slower than the first by a factor.

Prints one line per case: how often each test rejects at 5 %, beside the largest level of 5 % or less that so few blocks
can attain. ``pooled`` is Wilcoxon's test of all pairs as if they were independent.

    python benchmarks/inference.py [--repeats 2000] [--only size power families coverage] [--shape 0 1] [--seed 0]
"""

import argparse
import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from covey import statistics
from covey.random import generator
from covey.results.statistics import blocks

LEVEL = 0.05


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
    *(Case(f"one setting, {n} seeds", seeds=n) for n in (3, 4, 5, 6, 8, 10, 20, 30)),
    Case("2 places, 2 radios", 2, 2, 8),
    Case("2 places, 2 radios that repeat each other", 2, 2, 8, noise=0.0),
    Case("table4: 4 terrains, 30 sizes", 4, 30, 5),
    Case("strategies_terrains: 4 terrains", 4, 1, 10),
    Case("fault_tolerance: 5 faults", 1, 5, 10),
    Case("radio_ranges: 36 settings", 1, 36, 10),
    Case("rescue: 5 floors, 2 teams", 5, 2, 20),
    Case("minotaur: 6 maps, 30 settings", 6, 30, 10),
]
SPECIAL = [{}, {"late": 0.4}, {"late": 0.8}, {"digits": 1}]


def times(case: Case, draw: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return the times of a study, infinite beyond the timeout, (place, seed, setting, strategy), and the timeout."""
    shape = (case.places, case.seeds, case.settings, case.strategies)
    log = draw.normal(0.0, 0.2, (*shape[:2], 1, 1)) + np.arange(case.places)[:, None, None, None]
    log = log + draw.normal(0.0, case.own, (*shape[:2], 1, shape[3])) + draw.normal(0.0, case.noise, shape)
    log = log.round(case.digits)
    log[..., 1:] += math.log(case.slower)
    limit = np.quantile(log, 1.0 - case.late, axis=(1, 2, 3), keepdims=True) if case.late else np.full(1, np.inf)
    found = np.exp(log)
    return np.where(log > limit, np.inf, found), np.exp(np.broadcast_to(limit, log.shape)[..., 0])


def p_values(case: Case, draw: np.random.Generator) -> dict[str, float]:
    """Return the p of each test between the first two strategies, and of all."""
    found, limit = times(case, draw)
    a, b = found[..., 0].ravel(), found[..., 1].ravel()
    place, seed, setting = (axis.ravel() for axis in np.indices(found.shape[:3]))
    block, kind, end = place * case.seeds + seed, place * case.settings + setting, limit.ravel()
    reached = np.isfinite(a), np.isfinite(b)
    until = (np.where(reached[0], a, end), reached[0], np.where(reached[1], b, end), reached[1])
    p = {
        "rank": statistics.wilcoxon_paired(a, b, block).p,
        "log-rank": statistics.log_rank_in_pairs(*until, block, kind).p,
        "pooled": statistics.wilcoxon_paired(a, b).p,
    }
    if case.late:
        signs = np.bincount(block, reached[0].astype(float) - reached[1])
        p["success"] = statistics.flips(signs)[0]
    if case.strategies > 2:
        p["Friedman"] = statistics.friedman(found.reshape(-1, case.strategies), block=block).p
    if case.places == case.settings == 1:  # as if the seeds of the two had nothing in common
        p["Mann-Whitney"] = statistics.mann_whitney(a, np.roll(b, 1)).p
        p["log-rank, unpaired"] = statistics.log_rank(*until[:2], np.roll(until[2], 1), np.roll(until[3], 1)).p
    return p


def rejected(case: Case, repeats: int, seed: int) -> dict[str, float]:
    """Return the share of the repeats in which each test rejects at 5 %."""
    draw = generator(seed, f"inference/{case}")
    found = [p_values(case, draw) for _ in range(repeats)]
    return {name: float(np.mean([p[name] <= LEVEL for p in found])) for name in found[0]}


def attainable(blocks: int) -> float:
    """Return the largest level of at most 5 % of a test of signs of so many blocks with unequal ranks."""
    if blocks > 40:
        return LEVEL
    tail = np.cumsum(statistics.signed_law(np.arange(1, blocks + 1)))
    return max((2 * float(t) for t in tail if 2 * t <= LEVEL), default=0.0)


def size(repeats: int, seed: int, shapes: Sequence[Case]) -> Iterator[str]:
    """Yield how often each test rejects although nothing differs."""
    for shape, special in itertools.product(shapes, SPECIAL):
        case = replace(shape, strategies=4 if shape.places * shape.seeds > 5 else 3, **special)
        yield line(case, special, rejected(case, repeats, seed))


def power(repeats: int, seed: int, shapes: Sequence[Case]) -> Iterator[str]:
    """Yield how often each test finds a strategy that is slower."""
    for shape, slower in itertools.product(shapes, (1.1, 1.2)):
        for special in ({}, {"late": 0.4}):
            case = replace(shape, slower=slower, strategies=3, **special)
            yield line(case, {"slower": slower} | special, rejected(case, repeats, seed))


def line(case: Case, special: dict[str, float], found: dict[str, float]) -> str:
    blocks = case.places * case.seeds
    said = ", ".join(f"{name} {value:g}" for name, value in special.items()) or "plain"
    shares = ", ".join(f"{name} {100 * share:.1f}" for name, share in found.items())
    return f"{case.name} ({said}; {blocks} blocks, attainable {100 * attainable(blocks):.1f}): {shares}"


def families(repeats: int, seed: int, shapes: Sequence[Case]) -> Iterator[str]:
    """Yield how often a family of all pairs of strategies rejects anything although nothing differs."""
    for strategies, seeds, late in itertools.product((3, 5, 12), (8, 20), (0.0, 0.6)):
        case = Case("family", 2, 2, seeds, strategies, late=late)
        draw, hits = generator(seed, f"inference/{case}"), 0
        place, number, _ = (axis.ravel() for axis in np.indices((2, seeds, 2)))
        for _ in range(repeats):
            found = times(case, draw)[0].reshape(-1, strategies)
            pairs = itertools.combinations(range(strategies), 2)
            tests = [statistics.wilcoxon_paired(found[:, i], found[:, j], place * seeds + number) for i, j in pairs]
            counts = statistics.tarone([test.smallest_p for test in tests])
            adjusted = statistics.holm([t.p for t, counted in zip(tests, counts, strict=True) if counted])
            hits += bool((adjusted <= LEVEL).any())
        yield f"{strategies} strategies, 2 places x {seeds} seeds, late {late:g}: {100 * hits / repeats:.1f}"


def coverage(repeats: int, seed: int, shapes: Sequence[Case]) -> Iterator[str]:
    """Yield how often the 95 % intervals hold the truth."""
    for n, settings in itertools.product((6, 8, 10, 15, 20, 30), (1, 2)):
        draw, block = generator(seed, f"inference/coverage/{n}/{settings}"), np.repeat(np.arange(n), settings)
        hits = np.zeros(4)
        for _ in range(repeats):
            own, noise = draw.normal(0.0, 10.0, (2, n)), draw.normal(0.0, 5.0, (2, n * settings))
            a, b = own[0][block] + noise[0] + 7.0, own[1][block] + noise[1]
            skewed = draw.lognormal(0.0, 0.3, n)
            pairs = [
                (statistics.shift_in_pairs(a, b, block=block)[1], 7.0),
                (statistics.mean_difference_in_pairs(a, b, block=block)[1], 7.0),
                (statistics.median_interval(skewed), 1.0),
                (statistics.mean_interval(skewed), math.exp(0.045)),
            ]
            hits += [found is not None and found.low <= truth <= found.high for found, truth in pairs]
        names = ("shift", "mean difference", "median", "mean")
        shares = ", ".join(f"{name} {100 * hit / repeats:.1f}" for name, hit in zip(names, hits, strict=True))
        yield f"{n} blocks x {settings}: {shares}"


PARTS = {"size": size, "power": power, "families": families, "coverage": coverage}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=2000)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--shape", type=int, nargs="+", default=range(len(SHAPES)))
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    blocks.SAMPLES = 999  # of the permutations of Friedman's test: as exact a level, in a tenth of the time
    for part in args.only:
        print(f"# {part} [%]", flush=True)
        for text in PARTS[part](args.repeats, args.seed, [SHAPES[k] for k in args.shape]):
            print(text, flush=True)
