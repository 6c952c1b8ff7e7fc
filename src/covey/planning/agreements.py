"""What robots that patrol parts of a graph agree on when they meet: who has which part, and when they meet again.

References:
    C. van Peet, M. Mogensen, S. Santhirasegaram: Distributed multi-robot partition-based patrolling with fault
    tolerance. Master thesis, Aalborg University, 2025; their program MAEPS, HMPPatrollingAlgorithms/FaultTolerance,
    PartitionComponent.cs (what is agreed on) and MeetingComponent.cs (where to go next). Spreading: C. Pinciroli, A.
    Lee-Brown, G. Beltrame: A tuple space for data sharing in robot swarms (virtual stigmergy). 2016,
    doi:10.4108/eai.3-12-2015.2262503.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from covey.planning.meetings import MeetingPlan

NOBODY = ""
"""The owner of a part that was given away and not yet taken."""
_AT_ONCE_S = 1.0

Row = tuple[Any, int]
"""A value, and how often it has changed."""
Offer = tuple[float, bool]
"""The time [s] from which on a robot could meet once more, and whether it is overloaded: it will be late everywhere,
as it is about to take over parts that it has told nobody of yet."""


class Ledger:
    """Values of which robots tell each other; two ledgers that have heard of each other agree."""

    def __init__(self, values: Iterable[Any]):
        self.rows: list[Row] = [(value, 0) for value in values]

    def __getitem__(self, index: int) -> Any:
        return self.rows[index][0]

    def put(self, index: int, value: Any) -> None:
        """Write down a new value."""
        self.rows[index] = (value, self.rows[index][1] + 1)

    def take(self, rows: list[Row]) -> None:
        """Take in what another knows: the newer row wins, of equally new ones the lesser value."""
        self.rows = [
            min((mine, other), key=lambda r: (-r[1], r[0])) for mine, other in zip(self.rows, rows, strict=True)
        ]


class Agreements:
    """What one robot knows of the agreements, and what it is about to take over.

    Attributes:
        owners: names by part.
        times: of each meeting the next time and the one after it [s].
        takes: parts that it takes over when it is next at meeting ``takes_at``, if their owners are absent there.
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
        """Return the robot's parts; without any it takes the first one of whoever has most, if that has several."""
        if mine := self.parts_of(self.name):
            return mine
        owners = sorted({owner for owner, _ in self.owners.rows} - {NOBODY})
        richest = max(owners, key=lambda name: len(self.parts_of(name)), default=NOBODY)
        if len(self.parts_of(richest)) > 1:
            self.owners.put(self.parts_of(richest)[0], self.name)
        return self.parts_of(self.name)

    def next_meeting(self, travel_s: np.ndarray, at: int, now_s: float) -> tuple[int | None, float]:
        """Return the meeting to go to next and its time [s]; None, inf when there is none.

        First come meetings whose next time cannot be kept but the one after it can, then those whose next time can,
        then those for which both are over; one that comes later goes first where there is time for it before.

        Args:
            travel_s: time between waypoints [s], (k, k).
            at: waypoint where the robot is.
            now_s: the time [s].
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
        """Return whether the robot has to be at a meeting: it has a part that takes part, and another robot, too."""
        owners = {self.owners[part] for part in self.plan.meetings[meeting].parts}
        return self.name in owners and len(owners) > 1

    def _fits(self, travel_s, at: int, now_s: float, first: tuple[float, int], then: tuple[float, int]) -> bool:
        a, b = (self.plan.meetings[k].waypoint for _, k in (first, then))
        return bool(now_s + travel_s[at, a] + travel_s[a, b] <= then[0])

    def offer(self, meeting: int, now_s: float) -> Offer:
        """Return what the robot proposes at a meeting: all that its parts need, after their last known meeting."""
        if self.takes_at is not None and not self._takes_place(self.takes_at):
            self.takes, self.takes_at = set(), None  # nobody is there to be replaced any more
        overloaded = self.takes_at not in (None, meeting)
        parts = {*self.parts_of(self.name), *(self.takes if overloaded else ())}
        known = [self.times[k][1] for k, m in enumerate(self.plan.meetings) if parts & set(m.parts)]
        return sum(self.plan.intervals_s[part] for part in parts) + max([now_s, *known]), overloaded

    def settle(self, meeting: int, present: Mapping[str, Offer], now_s: float) -> None:
        """Agree on what follows from a meeting that is over; all who were there come to the same.

        Who has promised here to take over does so if the owners are absent again. The parts of those who are
        absent are promised to those present who are not overloaded, one to one, in the order of names. Of the others
        the half with most parts gives one each to the half with fewest, if that has at least two fewer; it is nobody's
        until the next meeting here. The meeting after the next is at the latest time that anybody proposes; with
        somebody overloaded, or when the next time is over, the next one is.

        Args:
            meeting: its index.
            present: the offer of everybody who was there, the robot included.
            now_s: the time [s].
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
