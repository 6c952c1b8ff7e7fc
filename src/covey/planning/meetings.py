"""Meetings of neighbouring patrols: where, how often and in which order, so that no robot has two at the same time.

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
    """A waypoint where the robots of several parts meet.

    Attributes:
        waypoint: the waypoint.
        parts: the parts that share it, ascending.
        colour: its time slot within a cycle, from 0; two meetings of the same part differ.
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
        intervals_s: time that each part needs between two of its meetings [s].
        start_s: time of colour 0 [s].
    """

    parts: tuple[tuple[int, ...], ...]
    meetings: tuple[Meeting, ...]
    intervals_s: tuple[float, ...]
    start_s: float

    @property
    def times_s(self) -> tuple[tuple[float, float], ...]:
        """The first and the second time of each meeting [s]; robots agree on later times at the meetings."""
        interval = max(self.intervals_s)
        cycle = interval * (1 + max((m.colour for m in self.meetings), default=0))
        first = [self.start_s + interval * m.colour for m in self.meetings]
        return tuple((time_s, time_s + cycle) for time_s in first)


def plan_meetings(
    parts: list[np.ndarray], edges: np.ndarray, distance: np.ndarray, travel_s: np.ndarray, lead_s: float
) -> MeetingPlan:
    """Return where and when the robots of neighbouring parts meet.

    Two parts joined by an edge get a common waypoint: the part with fewer waypoints (ties: the later part) gets both
    ends of the shortest edge between them. Between two of its meetings a part needs ceil(waypoints / meetings) x its
    longest path; the longest of these times separates two colours.

    Args:
        parts: waypoints of each part, disjoint, see `spectral_parts`.
        edges: edges of the waypoint graph, int (m, 2).
        distance: path lengths between waypoints [m], (k, k).
        travel_s: travel times, estimated too long rather than too short [s], (k, k).
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
    intervals = []
    for p, m in enumerate(member):
        mine, own = sum(p in meeting.parts for meeting in meetings), sorted(m)
        longest = float(travel_s[np.ix_(own, own)].max(initial=0.0))
        intervals.append(math.ceil(len(own) / max(1, mine)) * longest)
    return MeetingPlan(tuple(tuple(sorted(m)) for m in member), meetings, tuple(intervals), lead_s)


def welsh_powell(conflicts: dict[int, set[int]]) -> dict[int, int]:
    """Return colours from 0 so that conflicting items differ: items with most conflicts first (ties: in order).

    Examples:
        >>> welsh_powell({1: {2}, 2: {1, 3}, 3: {2}})
        {2: 0, 1: 1, 3: 1}
    """
    colour: dict[int, int] = {}
    for v in sorted(conflicts, key=lambda v: (-len(conflicts[v]), v)):
        used = {colour[w] for w in conflicts[v] if w in colour}
        colour[v] = next(c for c in range(len(used) + 1) if c not in used)
    return colour
