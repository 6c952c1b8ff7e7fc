"""Samples of the radio for the record: the link graph, the traffic, and the age of information."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from covey.kernel import kernel


@dataclass(frozen=True, eq=False)
class RadioSample:
    """Links and traffic at one time.

    Attributes:
        time_s: its time [s].
        links: number of pairs of robots that hear each other.
        groups: number of connected groups of the working radios; robots of a group reach one another over hops.
        largest_group: number of robots in the largest group.
        news_mean_s, news_max_s: age of the newest information of robot i about robot j, over all ordered pairs [s];
            without any information, the age of the run.
        changes: links that came up or went down since the last sample, int64 (m, 3): robot, other, 1 or 0.
        traffic: robot, kind, and counters then causes, of those that changed; see `covey.comms.traffic`.
        packets: rows of the log of single packets.
    """

    time_s: float
    links: int
    groups: int
    largest_group: int
    news_mean_s: float
    news_max_s: float
    changes: np.ndarray
    traffic: list[tuple[int, str, np.ndarray]]
    packets: list[tuple[Any, ...]]


def sample_links(
    hears: np.ndarray, before: np.ndarray, alive: np.ndarray, news_s: np.ndarray, time_s: float
) -> RadioSample:
    """Return the sample of the link graph and the age of information, without traffic.

    Args:
        hears: which robots hear each other, bool (n, n), symmetric.
        before: the same at the last sample.
        alive: robots whose radio works, bool (n,).
        news_s: time of the newest information of i about j [s], (n, n).
        time_s: the present time [s].
    """
    links, groups, largest, changes, ages = _survey(hears, before, alive, news_s, time_s)
    return RadioSample(
        time_s=time_s,
        links=links,
        groups=groups,
        largest_group=largest,
        news_mean_s=float(ages.mean()) if len(ages) else np.nan,
        news_max_s=float(ages.max()) if len(ages) else np.nan,
        changes=changes,
        traffic=[],
        packets=[],
    )


@kernel
def _survey(hears, before, alive, news_s, time_s):
    """Return the numbers of links and groups, and the size of the largest group; changes and ages of a sample.

    Arguments as in `sample_links`; the ages [s], float64 (n (n - 1),), are those of all ordered pairs.
    """
    n, links, changed, groups, largest = len(hears), 0, 0, 0, 0
    for i in range(n):
        for j in range(i + 1, n):
            links += hears[i, j]
            changed += hears[i, j] != before[i, j]
    changes, ages, m, k = np.empty((changed, 3), np.int64), np.empty(n * (n - 1)), 0, 0
    for i in range(n):
        for j in range(n):
            if i < j and hears[i, j] != before[i, j]:
                changes[m, 0], changes[m, 1], changes[m, 2], m = i, j, hears[i, j], m + 1
            if i != j:
                ages[k], k = time_s - news_s[i, j], k + 1
    grouped, group = ~alive, np.empty(n, np.int64)
    for i in range(n):
        if grouped[i]:
            continue
        grouped[i], group[0], size, done = True, i, 1, 0
        while done < size:
            for j in range(n):
                if hears[group[done], j] and not grouped[j]:
                    grouped[j], group[size], size = True, j, size + 1
            done += 1
        groups, largest = groups + 1, max(largest, size)
    return links, groups, largest, changes, ages
