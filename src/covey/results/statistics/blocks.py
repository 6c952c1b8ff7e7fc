"""Inference by blocks: what shares a place and a seed is one observation, and its labels are exchanged together.

All tests of a study rest on the three laws here. A run gets a score, such as its rank. The scores of what shares a
block are added up. Then labels are exchanged, block by block, and p is the share of the exchanges whose sum is at
least as far from its mean. Runs of one seed in several settings thus never count as several observations.

`flips` exchanges the two labels of a pair within each block, `splits` deals out the blocks of runs that have no
partners, `shuffles` permutes any number of labels within each block. `inverted` turns a test into an interval.

References:
    R. A. Fisher: The design of experiments, 1935 (exchange of labels within blocks). B. Rosner, R. J. Glynn, M. L. T.
    Lee: The Wilcoxon signed rank test for paired comparisons of clustered data. Biometrics 62, 2006. P. Good:
    Permutation, parametric and bootstrap tests of hypotheses, 3rd ed., 2005.
"""

import math
from collections.abc import Callable
from functools import lru_cache
from itertools import permutations

import numpy as np

from covey.lazy import special
from covey.random import generator

EXACT = 200
"""Up to this many blocks (of `splits`: 50) the law is exact; of more, a normal law with the same variance."""
SAMPLES = 9999
"""Number of exchanges that `shuffles` draws where there are more than `LISTED`."""
LISTED = 9999
"""Up to this many exchanges `shuffles` goes through all of them."""
_EXACT_SPLITS = 50
_LONGEST, _UNITS = 1 << 14, 1 << 12
_BISECTIONS, _LARGE = 40, 1000
_AT_A_TIME = 1 << 20


def flips(scores: np.ndarray) -> tuple[float, float]:
    """Return the two-sided p of a sum of scores if each has either sign with probability 1/2, and the smallest p.

    Args:
        scores: one per block, of the first label less that of the second, shape (n,); a zero says nothing.

    Returns:
        p, and 2 / 2^n of the n blocks that say something: the p of the clearest outcome.

    Examples:
        >>> flips(np.array([1.0, 2.0, 3.0, 4.0, 5.0]))
        (0.0625, 0.0625)
    """
    scores = scores[scores != 0]
    smallest = min(1.0, 2.0 * 0.5 ** len(scores))
    if len(scores) > EXACT:
        return max(smallest, _normal(scores.sum() / math.sqrt(float(scores @ scores)))), smallest
    whole = _whole(scores)
    law = signed_law(np.abs(whole))
    return max(smallest, _two_sided(law, int(whole[whole > 0].sum()))), smallest


def splits(scores: np.ndarray, first: np.ndarray, stratum: np.ndarray | None = None) -> tuple[float, float]:
    """Return the two-sided p of the sum of the first sample's scores if labels are dealt out anew, and the smallest p.

    Args:
        scores: one per block of runs, shape (n,).
        first: whether it is of the first sample, shape (n,).
        stratum: number of the place within which labels are dealt out, shape (n,).

    Examples:
        >>> splits(np.arange(6.0), np.arange(6) < 3)  # 2 / C(6, 3)
        (0.1, 0.1)
    """
    kinds = np.zeros(len(scores), int) if stratum is None else np.unique(stratum, return_inverse=True)[1]
    parts = [np.flatnonzero(kinds == kind) for kind in range(kinds.max() + 1)] if len(scores) else []
    parts = [part for part in parts if 0 < first[part].sum() < len(part) and np.ptp(scores[part]) > 0]
    least = [math.prod(_extreme(sign * scores[part], int(first[part].sum())) for part in parts) for sign in (1, -1)]
    smallest = min(1.0, 2.0 * min(least))
    if not parts:
        return 1.0, 1.0
    if sum(map(len, parts)) > _EXACT_SPLITS:
        away = sum(float(scores[p][first[p]].sum() - first[p].sum() * scores[p].mean()) for p in parts)
        spread = sum(first[p].sum() * (~first[p]).sum() / len(p) * float(scores[p].var(ddof=1)) for p in parts)
        return max(smallest, _normal(away / math.sqrt(spread))), smallest
    whole = _whole(np.concatenate([scores[p] - scores[p].min() for p in parts]))
    law, at, start = np.ones(1), 0, 0
    for part in parts:
        own = whole[start : start + len(part)]
        law = np.convolve(law, split_law(own, int(first[part].sum())))
        at, start = at + int(own[first[part]].sum()), start + len(part)
    return max(smallest, _two_sided(law, at)), smallest


def shuffles(scores: np.ndarray, seed: int = 0) -> float:
    """Return the p of the sum over columns of squared column sums if each row is permuted by itself.

    All permutations are listed where there are few, else `SAMPLES` are drawn from a stream of their own. Of more than
    `EXACT` rows the statistic has a chi-squared law.

    Args:
        scores: one row per block, one column per label, each row with the sum 0, shape (n, k).
        seed: of the stream ``statistics/shuffles``.
    """
    n, k = scores.shape
    spread = float((scores**2).sum()) / (k - 1) if k > 1 else 0.0
    if spread < 1e-12:
        return 1.0
    found = float((scores.sum(axis=0) ** 2).sum())
    if n > EXACT:
        return float(special.chdtrc(k - 1, found / spread))
    orders = _orders(k) if math.factorial(k) ** (n - 1) <= LISTED else None
    if orders is not None:  # the first row may stay: a permutation of all columns changes nothing
        sums = scores[:1]
        for row in scores[1:]:
            sums = (sums[:, None] + row[orders]).reshape(-1, k)
        return _as_far((sums**2).sum(axis=1), found) / len(sums)
    return _drawn_shuffles(scores.astype(float).tobytes(), n, seed, SAMPLES)


@lru_cache(64)
def _drawn_shuffles(scores: bytes, n: int, seed: int, samples: int) -> float:
    """Return the p of `shuffles` by drawn permutations: a report asks several times for the same."""
    values = np.frombuffer(scores).reshape(n, -1)
    found = float((values.sum(axis=0) ** 2).sum())
    draw, left, reached = generator(seed, "statistics/shuffles"), samples, 0
    while left:
        some = min(left, max(1, _AT_A_TIME // values.size))
        order = draw.random((some, *values.shape)).argsort(axis=2)
        sums = np.take_along_axis(np.broadcast_to(values, order.shape), order, 2).sum(axis=1)
        reached += _as_far((sums**2).sum(axis=1), found)
        left -= some
    return (reached + 1.0) / (samples + 1.0)


def _as_far(statistics: np.ndarray, found: float) -> int:
    """Return the number of statistics that are at least the one that was found; equal ones may differ by rounding."""
    return int((statistics >= found - 1e-9 * (1.0 + found)).sum())


def inverted(p_at: Callable[[float], float], known: np.ndarray, inside: float, level: float) -> tuple[float, float]:
    """Return the ends of the interval of all shifts that a test does not reject.

    Args:
        p_at: p of the test after the first sample is shifted down by a number.
        known: finite differences; beyond them nothing changes any more. An end beyond them is infinite.
        inside: the estimate, which the interval holds.
        level: of the interval.
    """
    if not len(known):
        return (-math.inf, math.inf) if p_at(0.0) > 1.0 - level else (inside, inside)
    low, high = float(known.min()), float(known.max())
    room = max(high - low, 1e-6 * max(abs(low), abs(high)), 1e-9)
    low, high = low - room, high + room
    middle = min(max(inside, low), high)
    ends = []
    for outer, beyond in ((low, -math.inf), (high, math.inf)):
        if p_at(outer) > 1.0 - level:
            ends.append(beyond)
        elif middle == outer:
            ends.append(inside)
        else:
            ends.append(_rounded(_crossing(lambda x: p_at(x) > 1.0 - level, middle, outer), room))
    return ends[0], ends[1]


def balance(statistic: Callable[[float], float], known: np.ndarray) -> float:
    """Return the shift at which a statistic that falls with it is zero, the middle where it is zero for a while.

    It is infinite if the statistic does not change its sign among the finite differences.
    """
    if not len(known):
        at = statistic(0.0)
        return math.inf if at > 0 else -math.inf if at < 0 else 0.0
    low, high = float(known.min()), float(known.max())
    room = max(high - low, 1e-6 * max(abs(low), abs(high)), 1e-9)
    low, high = low - room, high + room
    if statistic(low) < 0:
        return -math.inf
    if statistic(high) > 0:
        return math.inf
    first = _crossing(lambda x: statistic(x) > 0, low, high) if statistic(low) > 0 else -math.inf
    last = _crossing(lambda x: statistic(x) < 0, high, low) if statistic(high) < 0 else math.inf
    if math.isinf(first) or math.isinf(last):
        return 0.0 if first == -last else first if math.isfinite(first) else last
    return _rounded((first + last) / 2.0, room)


def signed_law(whole: np.ndarray) -> np.ndarray:
    """Return the probability of each sum of positive scores, each positive with probability 1/2, from 0 to their sum.

    Args:
        whole: sizes of the scores, whole numbers from 0 on, shape (n,).
    """
    return _signed_law(np.sort(whole).astype(np.int64).tobytes())


@lru_cache(64)
def _signed_law(scores: bytes) -> np.ndarray:
    whole = np.frombuffer(scores, np.int64)
    law = np.zeros(int(whole.sum()) + 1)
    law[0] = 1.0
    for score in whole:
        law *= 0.5
        law[score:] += law[: len(law) - score].copy()
    return law


def split_law(whole: np.ndarray, n: int) -> np.ndarray:
    """Return the probability of each sum of a random ``n`` of the scores, from 0 to their sum.

    Args:
        whole: scores, whole numbers from 0 on, shape (N,).
        n: number of scores drawn.
    """
    return _split_law(np.sort(whole).astype(np.int64).tobytes(), n)


@lru_cache(64)
def _split_law(scores: bytes, n: int) -> np.ndarray:
    whole = np.frombuffer(scores, np.int64)
    counts = np.zeros((n + 1, int(whole.sum()) + 1))
    counts[0, 0] = 1.0
    for score in whole:
        counts[1:, score:] += counts[:-1, : counts.shape[1] - score].copy()
    return counts[n] / counts[n].sum()


def _whole(scores: np.ndarray) -> np.ndarray:
    """Return scores as whole numbers in proportion: exactly where they are halves, else in `_UNITS` of their sum.

    A test of rounded scores is exact, too: labels are exchanged after the rounding.
    """
    doubled, total = 2.0 * scores, float(np.abs(scores).sum())
    if 2.0 * total <= _LONGEST and (doubled == np.rint(doubled)).all():
        return doubled.astype(np.int64)
    return np.rint(scores / total * _UNITS).astype(np.int64) if total else doubled.astype(np.int64)


def _two_sided(law: np.ndarray, at: int) -> float:
    return float(min(1.0, 2.0 * min(law[: at + 1].sum(), law[at:].sum())))


def _normal(z: float) -> float:
    return float(2.0 * special.ndtr(-abs(z)))


def _extreme(scores: np.ndarray, n: int) -> float:
    """Return the probability that a random ``n`` of the scores are the ``n`` smallest; tied ones are as good."""
    ordered = np.sort(scores)
    border = ordered[n - 1]
    same, taken = int((ordered == border).sum()), int((ordered[:n] == border).sum())
    if len(ordered) <= _LARGE:
        return math.comb(same, taken) / math.comb(len(ordered), n)
    return math.exp(_log_choose(same, taken) - _log_choose(len(ordered), n))  # their digits would fill kilobytes


def _log_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def _orders(k: int) -> np.ndarray:
    return np.array(list(permutations(range(k))))


def _crossing(holds: Callable[[float], bool], near: float, far: float) -> float:
    """Return the number between one at which something holds and one at which it does not, where that changes."""
    for _ in range(_BISECTIONS):
        middle = (near + far) / 2.0
        near, far = (middle, far) if holds(middle) else (near, middle)
    return far


def _rounded(value: float, room: float) -> float:
    """Return a number that a bisection found, without the digits that it did not."""
    return round(value, 9 - math.floor(math.log10(room)))
