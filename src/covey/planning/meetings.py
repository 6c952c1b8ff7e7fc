"""Meetings of neighbouring patrols: where, how often and in which order, so that no robot has two at a time.

References:
    C. van Peet, M. Mogensen, S. Santhirasegaram: Distributed multi-robot partition-based patrolling with fault
    tolerance. Master thesis, Aalborg University, 2025 (HMP, variant "fault tolerance").
    D. J. A. Welsh, M. B. Powell: An upper bound for the chromatic number of a graph and its application to timetabling
    problems. The Computer Journal 10(1), 1967 (the colouring).
"""

import math
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Meeting:
    """A waypoint where parts meet.

    Attributes:
        waypoint: where.
        parts: who: the parts that share it, ascending.
        colour: when within a cycle, from 0; two meetings of the same part differ.
    """

    waypoint: int
    parts: tuple[int, ...]
    colour: int


@dataclass(frozen=True)
class MeetingPlan:
    """Parts that share waypoints, and the times at which their robots meet there.

    Attributes:
        parts: waypoints of each part, shared ones included.
        meetings: in the order of their waypoints.
        interval_s: time from one colour to the next [s].
        start_s: time of colour 0 [s].
    """

    parts: tuple[tuple[int, ...], ...]
    meetings: tuple[Meeting, ...]
    interval_s: float
    start_s: float

    @property
    def cycle_s(self) -> float:
        """Time between two meetings at the same waypoint [s]."""
        return self.interval_s * (1 + max((m.colour for m in self.meetings), default=0))

    def time_s(self, meeting: Meeting, after_s: float) -> float:
        """Return the first time of a meeting that is later than ``after_s`` [s]."""
        first = self.start_s + self.interval_s * meeting.colour
        return first + self.cycle_s * max(0, math.floor((after_s - first) / self.cycle_s + 1e-9) + 1)


def plan_meetings(
    parts: list[np.ndarray], edges: np.ndarray, distance: np.ndarray, travel_s: np.ndarray, lead_s: float
) -> MeetingPlan:
    """Return where and when the robots of neighbouring parts meet.

    Two parts that an edge joins get a common waypoint: of the edges between them the shortest, whose ends both go to
    the part with fewer waypoints (ties: the later part). The interval is the longest time that any part needs between
    two of its meetings: max of ceil(waypoints / meetings) x the longest way in it.

    Args:
        parts: waypoints of each part, disjoint, see `spectral_parts`.
        edges: of the waypoint graph, int (m, 2).
        distance: lengths of the ways [m], (k, k).
        travel_s: the same in time, estimated too long rather than too short [s], (k, k).
        lead_s: time until every robot has reached its part [s].
    """
    member = [set(part.tolist()) for part in parts]
    home = {int(v): p for p, part in enumerate(parts) for v in part}
    between: dict[tuple[int, int], list[tuple[float, int, int]]] = {}
    for a, b in edges.tolist():
        p, q = home[a], home[b]
        if p != q:
            between.setdefault((min(p, q), max(p, q)), []).append((float(distance[a, b]), a, b))
    for (p, q), candidates in sorted(between.items()):
        if not member[p] & member[q]:
            _, a, b = min(candidates)
            member[p if len(member[p]) < len(member[q]) else q] |= {a, b}
    sharing = {v: tuple(p for p, m in enumerate(member) if v in m) for v in sorted(home)}
    shared = {v: who for v, who in sharing.items() if len(who) > 1}
    colour = welsh_powell({v: {w for w in shared if w != v and set(shared[w]) & set(shared[v])} for v in shared})
    meetings = tuple(Meeting(v, who, colour[v]) for v, who in shared.items())
    interval = 0.0
    for p, m in enumerate(member):
        mine, own = sum(p in meeting.parts for meeting in meetings), sorted(m)
        longest = float(travel_s[np.ix_(own, own)].max(initial=0.0))
        interval = max(interval, math.ceil(len(own) / max(1, mine)) * longest)
    return MeetingPlan(tuple(tuple(sorted(m)) for m in member), meetings, interval, lead_s)


def welsh_powell(conflicts: dict[int, set[int]]) -> dict[int, int]:
    """Return colours from 0 such that what is in conflict differs: those with most conflicts first (ties: in order).

    Examples:
        >>> welsh_powell({1: {2}, 2: {1, 3}, 3: {2}})
        {2: 0, 1: 1, 3: 1}
    """
    colour: dict[int, int] = {}
    for v in sorted(conflicts, key=lambda v: (-len(conflicts[v]), v)):
        used = {colour[w] for w in conflicts[v] if w in colour}
        colour[v] = next(c for c in range(len(used) + 1) if c not in used)
    return colour


def take_over(missing: list[int], present: list[str]) -> dict[int, str]:
    """Return who of the present takes which part whose robot is missing: the first the first, and round again.

    Args:
        missing: parts whose robots were absent twice in a row at this meeting.
        present: robots that are here and agree on it.

    Examples:
        >>> take_over([4, 2], ["b", "a"])
        {2: 'a', 4: 'b'}
        >>> take_over([1, 2, 3], ["a"])
        {1: 'a', 2: 'a', 3: 'a'}
    """
    names = sorted(present)
    return {part: names[i % len(names)] for i, part in enumerate(sorted(missing))} if names else {}
