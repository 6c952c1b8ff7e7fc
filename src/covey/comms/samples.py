"""Samples of the radio for the record: the link graph, the traffic, and the age of information."""

from dataclasses import dataclass
from typing import Any

import numpy as np


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
    sizes = group_sizes(hears[np.ix_(alive, alive)])
    robot, other = np.nonzero(np.triu(hears != before))
    ages = time_s - news_s[~np.eye(len(news_s), dtype=bool)]
    return RadioSample(
        time_s=time_s,
        links=int(np.count_nonzero(hears)) // 2,
        groups=len(sizes),
        largest_group=int(sizes.max(initial=0)),
        news_mean_s=float(ages.mean()) if len(ages) else np.nan,
        news_max_s=float(ages.max()) if len(ages) else np.nan,
        changes=np.column_stack((robot, other, hears[robot, other])),
        traffic=[],
        packets=[],
    )


def group_sizes(hears: np.ndarray) -> np.ndarray:
    """Return the sizes of the connected groups of a link graph, bool (n, n), largest first."""
    left, sizes = np.ones(len(hears), bool), []
    while left.any():
        group = np.zeros(len(hears), bool)
        reached = np.argmax(left, keepdims=True)
        while len(reached):
            group[reached] = True
            reached = np.flatnonzero(hears[reached].any(axis=0) & ~group)
        left &= ~group
        sizes.append(np.count_nonzero(group))
    return np.sort(np.array(sizes, np.int64))[::-1]
