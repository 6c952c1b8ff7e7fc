"""The gain from more robots: speed-up, efficiency, and the best fleet size."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from covey.errors import InvalidValueError
from covey.results.statistics.intervals import FEWEST, Interval, median, percentiles, resamples
from covey.results.statistics.ranks import checked


def speed_up(sizes: ArrayLike, times_s: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Return the speed-up S(n) = T(1) / T(n) and the efficiency S(n) / n; NaN if the goal was not reached.

    Args:
        sizes: numbers of robots n, shape (k,), including 1.
        times_s: T(n) [s], for example medians; infinite or NaN if the goal was not reached.

    Raises:
        InvalidValueError: there is no time of one robot, or the shapes differ.

    Examples:
        >>> s, efficiency = speed_up([1, 2, 4], [100.0, 50.0, 40.0])
        >>> s.tolist(), efficiency.tolist()
        ([1.0, 2.0, 2.5], [1.0, 1.0, 0.625])
    """
    sizes, times = np.asarray(sizes, float), np.array(times_s, float)
    if sizes.shape != times.shape or (sizes == 1).sum() != 1:
        raise InvalidValueError(f"sizes {sizes.tolist()}; give one time for each, and the time of one robot among them")
    times[~np.isfinite(times)] = np.nan
    s = times[sizes == 1][0] / times
    return s, s / sizes


@dataclass(frozen=True)
class BestFleet:
    """The best size of a fleet.

    Attributes:
        size: n*, the size with the smallest median time, or weighted sum; the smaller one of equals.
        value: that median [s], or that sum.
        interval: interval of n* over resampled runs of each size. With fewer than six runs of some size it is the range
            of the best sizes by the first run of each, the second run of each, and so on.
    """

    size: int
    value: float
    interval: Interval


def best_fleet_size(
    times_s: Mapping[int, ArrayLike],
    costs: Mapping[int, ArrayLike] | None = None,
    weight: float = 0.0,
    *,
    level: float = 0.95,
    seed: int = 0,
) -> BestFleet | None:
    """Return n* = argmin over n of the median T(n), or of T(n) / T(1) + weight cost(n) / cost(1).

    Args:
        times_s: the times [s] of the runs of each size; infinite for a run that did not reach the goal.
        costs: the costs of the same runs, for example metres driven by all robots.
        weight: lambda, the weight of the cost; it needs ``costs``, and runs of one robot of which half reach the goal.
        level: level of the interval.
        seed: seed of the bootstrap.

    Returns:
        None if no size reaches the goal in half of its runs.

    Raises:
        InvalidValueError: there are no runs, a value is NaN, or an input that the weight needs is missing.

    References:
        Z. Yan, L. Fabresse, J. Laval, N. Bouraqadi: Building a ROS-based testbed for realistic multi-robot
        simulation. Robotics 6(3):21, 2017 (n* = 11 on the maze).
    """
    samples = {n: [checked(times_s[n])] for n in sorted(times_s)}
    scales = [1.0]
    if weight:
        if costs is None or set(costs) != set(times_s) or 1 not in samples:
            raise InvalidValueError(f"weight {weight:g} needs the costs of every size, and runs of one robot")
        for n, parts in samples.items():
            parts.append(checked(costs[n]))
            if len(parts[0]) != len(parts[1]):
                raise InvalidValueError(f"{len(parts[0])} times and {len(parts[1])} costs of {n} robots; give as many")
        one = [float(median(part)) for part in samples[1]]
        if not np.isfinite(one).all() or min(one) <= 0:
            raise InvalidValueError(
                "one robot does not reach the goal in half of its runs: there is no T(1) to weigh by"
            )
        scales = [1.0 / one[0], weight / one[1]]

    def worth(n: int, drawn: np.ndarray) -> np.ndarray:
        """Return the value to minimise for resampled runs of a size: indices, one resample along the last axis."""
        return sum(scale * median(part[drawn]) for scale, part in zip(scales, samples[n], strict=True))  # pyright: ignore

    sizes = np.array(list(samples))
    if not len(sizes):
        raise InvalidValueError("there are no runs to find the best fleet among")
    runs = {n: len(parts[0]) for n, parts in samples.items()}
    values = np.array([worth(n, np.arange(runs[n])) for n in samples])
    if not np.isfinite(values).any():
        return None
    best = int(values.argmin())
    fewest = min(runs.values())
    if fewest < FEWEST:
        table = np.array([worth(n, np.arange(fewest)[:, None]) for n in samples])
    else:
        drawn = {n: resamples(runs[n], seed, f"statistics/fleet/{n}") for n in samples}
        table = np.array([np.concatenate([worth(n, part) for part in drawn[n]]) for n in samples])
    found = np.sort(sizes[table.argmin(axis=0)[np.isfinite(table.min(axis=0))]])
    found = found if len(found) else sizes[[best]]
    low, high = (found[0], found[-1]) if fewest < FEWEST else percentiles(found, level)
    kind = "range" if fewest < FEWEST else "bootstrap"
    return BestFleet(int(sizes[best]), float(values[best]), Interval(float(low), float(high), kind, level))
