"""Agreements of robots that patrol parts of a graph: which robot has which part, and when they meet again.

References:
    C. van Peet, M. Mogensen, S. Santhirasegaram: Distributed multi-robot partition-based patrolling with fault
    tolerance. Master thesis, Aalborg University, 2025; their program MAEPS, HMPPatrollingAlgorithms/FaultTolerance,
    PartitionComponent.cs (the agreements) and MeetingComponent.cs (where to go next). Spreading: C. Pinciroli, A.
    Lee-Brown, G. Beltrame: A tuple space for data sharing in robot swarms (virtual stigmergy). 2016,
    doi:10.4108/eai.3-12-2015.2262503.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from covey.planning.meetings import MeetingPlan

NOBODY = ""
"""The owner of a part that was given away and that no robot has taken yet."""
_AT_ONCE_S = 1.0

Row = tuple[Any, int]
"""A value, and the number of its changes."""
Offer = tuple[float, bool]
"""The earliest time [s] at which a robot can meet again, and whether it is overloaded. An overloaded robot is about to
take over parts, has not told anybody yet, and will be late everywhere."""


class Ledger:
    """Values that robots exchange; two ledgers that have exchanged their rows hold the same values."""

    def __init__(self, values: Iterable[Any]):
        self.rows: list[Row] = [(value, 0) for value in values]

    def __getitem__(self, index: int) -> Any:
        return self.rows[index][0]

    def put(self, index: int, value: Any) -> None:
        """Set a new value."""
        self.rows[index] = (value, self.rows[index][1] + 1)

    def merge(self, rows: list[Row]) -> None:
        """Merge the rows of another ledger: the newer row wins; of equally new rows, the smaller value."""
        self.rows = [
            min((mine, other), key=lambda r: (-r[1], r[0])) for mine, other in zip(self.rows, rows, strict=True)
        ]


class Agreements:
    """The agreements that one robot knows, and the parts that it has promised to take over.

    Attributes:
        owners: name of the owner of each part.
        times: the next two times of each meeting [s].
        takes: parts that the robot takes over at its next visit to meeting ``takes_at``, if their owners are absent.
    """

    def __init__(self, name: str, plan: MeetingPlan, team: Iterable[str]):
        self.name, self.plan = name, plan
        self.owners, self.times = Ledger(team), Ledger(plan.times_s)
        self.takes: set[int] = set()
        self.takes_at: int | None = None

    def parts_of(self, name: str) -> list[int]:
        """Return the parts of a robot, ascending."""
        return [part for part, (owner, _) in enumerate(self.owners.rows) if owner == name]

    def own_parts(self) -> list[int]:
        """Return the robot's parts. Without parts, it takes the first of the robot with most, if that has several."""
        if mine := self.parts_of(self.name):
            return mine
        owners = sorted({owner for owner, _ in self.owners.rows} - {NOBODY})
        richest = max(owners, key=lambda name: len(self.parts_of(name)), default=NOBODY)
        if len(self.parts_of(richest)) > 1:
            self.owners.put(self.parts_of(richest)[0], self.name)
        return self.parts_of(self.name)

    def next_meeting(self, travel_s: np.ndarray, at: int, now_s: float) -> tuple[int | None, float]:
        """Return the meeting to go to next and its time [s]; (None, inf) if there is none.

        Meetings come in three groups: first those whose next time the robot cannot keep but whose second time it can,
        then those whose next time it can keep, then those with both times over. A meeting of a later group goes first
        if there is time for it before.

        Args:
            travel_s: travel time between waypoints [s], (k, k).
            at: waypoint where the robot is.
            now_s: the present time [s].
        """
        classes: list[list[tuple[float, int]]] = [[], [], []]
        for k, meeting in enumerate(self.plan.meetings):
            if self._takes_place(k):
                arrives, (first, second) = now_s + travel_s[at, meeting.waypoint], self.times[k]
                rank = 1 if arrives <= first else 0 if arrives <= second else 2
                classes[rank].append((second if rank == 0 else first, k))
        missed, ahead, over = (min(some, default=None) for some in classes)
        urgent = [m for m in (missed, ahead) if m]
        best = missed or ahead or over
        if ahead and missed and self._fits(travel_s, at, now_s, ahead, missed):
            best = ahead
        if over and all(self._fits(travel_s, at, now_s, over, m) for m in urgent):
            best = over
        return (best[1], float(best[0])) if best else (None, np.inf)

    def _takes_place(self, meeting: int) -> bool:
        """Return whether the robot has to be at a meeting: it owns one of the parts, and another robot owns one."""
        owners = {self.owners[part] for part in self.plan.meetings[meeting].parts}
        return self.name in owners and len(owners) > 1

    def _fits(self, travel_s, at: int, now_s: float, first: tuple[float, int], then: tuple[float, int]) -> bool:
        a, b = (self.plan.meetings[k].waypoint for _, k in (first, then))
        return bool(now_s + travel_s[at, a] + travel_s[a, b] <= then[0])

    def offer(self, meeting: int, now_s: float) -> Offer:
        """Return the robot's proposal at a meeting: the time that its parts need, after their last known meeting."""
        if self.takes_at is not None and not self._takes_place(self.takes_at):
            self.takes, self.takes_at = set(), None  # no absent robot is left to replace
        overloaded = self.takes_at not in (None, meeting)
        parts = {*self.parts_of(self.name), *(self.takes if overloaded else ())}
        known = [self.times[k][1] for k, m in enumerate(self.plan.meetings) if parts & set(m.parts)]
        return sum(self.plan.intervals_s[part] for part in parts) + max([now_s, *known]), overloaded

    def settle(self, meeting: int, present: Mapping[str, Offer], now_s: float) -> None:
        """Apply the rules at the end of a meeting; all robots that were present reach the same result.

        1. A robot that promised here to take over parts does so if their owners are absent again. 2. Each absent
        robot's parts are promised to one robot that is present and not overloaded, in the order of names. 3. Of the
        remaining robots, each of the half with most parts gives one part to one of the half with fewest, if
           that has at least two fewer. The part has no owner until the next meeting here.
        4. The meeting after the next takes place at the latest time that a robot proposes. If a robot is overloaded, or
           the next time is over, this time is that of the next meeting.

        Args:
            meeting: index of the meeting.
            present: the offers of all robots that were present, including this one.
            now_s: the present time [s].
        """
        self._take_over(meeting, present)
        owners = {self.owners[part] for part in self.plan.meetings[meeting].parts}
        free = [name for name, (_, overloaded) in sorted(present.items()) if not overloaded]
        stand_in = dict(zip(sorted(owners - set(present)), free, strict=False))
        for absent, name in stand_in.items():
            if name == self.name:
                self.takes_at = meeting
                self.takes |= set(self.parts_of(absent))
        self._balance(meeting, [name for name in free if name not in stand_in.values()])
        new = max(time_s for time_s, _ in present.values())
        after = self.times[meeting][1]
        late = after <= now_s or any(overloaded for _, overloaded in present.values())
        self.times.put(meeting, (new, new + _AT_ONCE_S) if late else (after, new))

    def _take_over(self, meeting: int, present: Mapping[str, Offer]) -> None:
        if self.takes_at != meeting:
            return
        for part in sorted(self.takes):
            if self.owners[part] not in present:
                self.owners.put(part, self.name)
                for k, other in enumerate(self.plan.meetings):
                    if part in other.parts and k != meeting:
                        after = self.times[k][1]
                        self.times.put(k, (after, after + _AT_ONCE_S))
        self.takes, self.takes_at = set(), None

    def _balance(self, meeting: int, spare: list[str]) -> None:
        count = {name: len(self.parts_of(name)) for name in spare}
        half = len(spare) // 2
        givers = sorted(spare, key=lambda name: (-count[name], name))[:half]
        takers = sorted(sorted(spare, reverse=True), key=lambda name: count[name])[:half]
        for giver, taker in zip(givers, takers, strict=True):
            if giver == taker or count[giver] - 1 <= count[taker]:
                continue
            part = next(p for p in self.parts_of(giver) if p in self.plan.meetings[meeting].parts)
            if giver == self.name:
                self.owners.put(part, NOBODY)
            elif taker == self.name:
                self.takes_at = meeting
                self.takes.add(part)
