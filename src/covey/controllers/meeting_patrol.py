"""Meeting patrol (HMP): each robot has its part, neighbours meet, and who misses twice is replaced."""

from collections.abc import Iterable

import numpy as np

from covey.controllers.heuristic_conscientious_reactive import choose
from covey.controllers.patrol_loop import graph_of, travel_times, visit
from covey.planning.meetings import Meeting, MeetingPlan, plan_meetings, take_over
from covey.planning.partition import spectral_parts
from covey.planning.waypoints import Waypoints
from covey.robots.controller import controller
from covey.robots.handle import Robot

_HERE, _PARTS = "meeting", "parts"
_TELL_S = 1.0

Row = tuple[str, int]
"""Who has a part, and how often it has changed hands."""


@controller("meeting_patrol", sees=("pose", "map", "waypoints", "radio"))
async def meeting_patrol(robot: Robot, *, grace_s: float = 10.0, absences: int = 2) -> None:
    """Patrol the own part, meet the robots of the neighbouring parts in turn, and take over from those who stay away.

    The parts come from spectral bisection; neighbouring parts share a waypoint, where their robots meet at times that
    a colouring of the meetings keeps apart (`plan_meetings`). Between meetings a robot goes on as the heuristic
    conscientious reactive one does, as long as it can still be in time. It waits at the meeting until all are there,
    or until some time after it should have begun. Whose robot was absent so many times in a row at this meeting loses
    the part to those present. Who has which part spreads with every meeting; the newer news wins. A robot that finds
    itself without a part takes one from somebody who has several.

    It knows the map, the waypoint graph and the team's names, and a common clock; the radio need reach no further than
    across a waypoint. Alone, or out of reach of everybody, it takes over part after part until it has all. It never
    ends. Times of meetings are fixed at the start, not agreed anew at each meeting as in the thesis.

    Args:
        robot: the robot.
        grace_s: how long after the time of a meeting the others are waited for [s].
        absences: absences in a row after which a part is taken over.

    References:
        C. van Peet, M. Mogensen, S. Santhirasegaram: Distributed multi-robot partition-based patrolling with fault
        tolerance. Master thesis, Aalborg University, 2025. Spreading: C. Pinciroli, A. Lee-Brown, G. Beltrame: A tuple
        space for data sharing in robot swarms (virtual stigmergy). 2016, doi:10.4108/eai.3-12-2015.2262503.
    """
    graph = graph_of(robot)
    travel_s = 1.4 * travel_times(graph, robot) + 3.0  # rather too long than too short
    parts = spectral_parts(graph.distance, len(robot.team))
    plan = plan_meetings(parts, graph.edges, graph.distance, travel_s, lead_s=float(travel_s.max()))
    ledger = Ledger(robot.team[: len(plan.parts)])
    missed: dict[tuple[int, int], int] = {}
    held = {m.waypoint: -np.inf for m in plan.meetings}
    last, at = np.zeros(len(graph)), graph.nearest(*robot.pose[:2])
    while True:
        hear(robot, ledger)
        mine = own_parts(robot, ledger)
        meeting, begins_s = next_meeting(plan, ledger, robot.name, held, robot.time - grace_s)
        target = choose(at, waypoints_of(plan, mine, len(graph)), robot.time - last, graph.distance[at], robot.random)
        if meeting is None or in_time(travel_s, at, target, meeting.waypoint, robot.time, begins_s):
            if await visit(robot, graph, target, until=lambda r: hear(r, ledger)):
                at = target
            last[target] = robot.time
            continue
        if await visit(robot, graph, meeting.waypoint):
            at = meeting.waypoint
            present = await meet(robot, graph, meeting, ledger, begins_s + grace_s)
            settle(robot, meeting, ledger, present, missed, absences)
        last[meeting.waypoint] = robot.time
        held[meeting.waypoint] = begins_s


class Ledger:
    """Who has which part, as far as one robot knows; two ledgers that have heard of each other agree."""

    def __init__(self, owners: Iterable[str]):
        self.rows: list[Row] = [(name, 0) for name in owners]

    def parts_of(self, name: str) -> list[int]:
        """Return the parts of a robot, ascending."""
        return [p for p, (owner, _) in enumerate(self.rows) if owner == name]

    def give(self, part: int, name: str) -> None:
        """Write down that a part has a new owner."""
        self.rows[part] = (name, self.rows[part][1] + 1)

    def take(self, rows: list[Row]) -> bool:
        """Take in what another knows: the newer row wins, of equally new ones the first name; True when any is news."""
        before = list(self.rows)
        self.rows = [min((mine, other), key=lambda r: (-r[1], r[0])) for mine, other in zip(before, rows, strict=True)]
        return self.rows != before


def hear(robot: Robot, ledger: Ledger) -> bool:
    """Take in what was said about the parts; return whether the robot's own parts have changed."""
    before = ledger.parts_of(robot.name)
    for message in robot.messages(_PARTS):
        ledger.take(message.payload)
    for message in robot.messages(_HERE):
        ledger.take(message.payload[1])
    return ledger.parts_of(robot.name) != before


def own_parts(robot: Robot, ledger: Ledger) -> list[int]:
    """Return the robot's parts; without any it takes the first one of whoever has most, if that is more than one."""
    mine = ledger.parts_of(robot.name)
    if mine:
        return mine
    counts = {name: len(ledger.parts_of(name)) for name, _ in ledger.rows}
    richest = min(counts, key=lambda name: (-counts[name], name))
    if counts[richest] > 1:
        ledger.give(ledger.parts_of(richest)[0], robot.name)
        robot.send(ledger.rows, kind=_PARTS)
    return ledger.parts_of(robot.name)


def waypoints_of(plan: MeetingPlan, parts: list[int], count: int) -> np.ndarray:
    """Return the waypoints of some parts, int (m,), ascending; of no part: all waypoints."""
    return np.array(sorted({v for p in parts for v in plan.parts[p]}) if parts else range(count))


def next_meeting(
    plan: MeetingPlan, ledger: Ledger, name: str, held: dict[int, float], after_s: float
) -> tuple[Meeting | None, float]:
    """Return the next meeting that a robot has to go to, and its time [s]; None, inf when there is none.

    Args:
        plan: all meetings.
        ledger: who has which part; a meeting of parts that all belong to one robot does not take place.
        name: of the robot.
        held: for each meeting waypoint the time of the last meeting that this robot was to go to [s].
        after_s: meetings before this time are over [s].
    """
    best: tuple[Meeting | None, float] = None, np.inf
    for meeting in plan.meetings:
        owners = {ledger.rows[p][0] for p in meeting.parts}
        if name in owners and len(owners) > 1:
            time_s = plan.time_s(meeting, max(held[meeting.waypoint], after_s))
            if time_s < best[1]:
                best = meeting, time_s
    return best


def in_time(travel_s: np.ndarray, at: int, target: int, meeting: int, time_s: float, begins_s: float) -> bool:
    """Return whether a robot that goes to ``target`` first is still at the meeting's waypoint before it begins.

    Examples:
        >>> travel_s = np.array([[0.0, 10.0, 20.0], [10.0, 0.0, 10.0], [20.0, 10.0, 0.0]])
        >>> in_time(travel_s, 0, 1, 2, 75.0, 100.0), in_time(travel_s, 0, 1, 2, 85.0, 100.0)
        (True, False)
    """
    return bool(time_s + travel_s[at, target] + travel_s[target, meeting] < begins_s)


async def meet(robot: Robot, graph: Waypoints, meeting: Meeting, ledger: Ledger, until_s: float) -> list[str]:
    """Wait at a waypoint until all owners of the meeting's parts are there, or until a time [s]; return who is."""
    robot.note(f"meets at waypoint {meeting.waypoint}")
    present, told_s = {robot.name}, -np.inf
    while True:
        for message in robot.messages(_HERE):
            waypoint, rows = message.payload
            ledger.take(rows)
            if waypoint == meeting.waypoint and robot.time - message.sent_s < 2 * _TELL_S:
                present.add(message.sender)
        complete = {ledger.rows[p][0] for p in meeting.parts} <= present
        if complete or robot.time >= told_s + _TELL_S - 1e-9:
            robot.send((meeting.waypoint, ledger.rows), kind=_HERE)
            told_s = robot.time
        if complete or robot.time >= until_s:
            return sorted(present)
        await robot.sleep(0.0)


def settle(
    robot: Robot,
    meeting: Meeting,
    ledger: Ledger,
    present: list[str],
    missed: dict[tuple[int, int], int],
    absences: int,
) -> None:
    """Count who was absent, and take over what falls to this robot.

    Args:
        robot: the robot.
        meeting: that has just ended.
        ledger: who has which part; changed.
        present: names of those who were there, this robot included.
        missed: absences in a row by (waypoint, part); changed.
        absences: after so many in a row a part is taken over.
    """
    for part in meeting.parts:
        absent = ledger.rows[part][0] not in present
        missed[meeting.waypoint, part] = missed.get((meeting.waypoint, part), 0) + 1 if absent else 0
    lost = [p for p in meeting.parts if missed[meeting.waypoint, p] >= absences]
    if lost:
        for part, name in take_over(lost, present).items():
            ledger.give(part, name)
            missed[meeting.waypoint, part] = 0
        robot.send(ledger.rows, kind=_PARTS)
        robot.note(f"takes over at waypoint {meeting.waypoint}")
