"""Meeting patrol (HMP): each robot has its part, neighbours meet, and a robot that is absent twice is replaced."""

import numpy as np

from covey.controllers.patrolling.heuristic_conscientious_reactive import choose
from covey.controllers.patrolling.patrol_loop import graph_of, travel_times, visit
from covey.onboard.controller import controller
from covey.onboard.handle import Robot
from covey.planning.agreements import Agreements, Offer
from covey.planning.meetings import MeetingPlan, plan_meetings
from covey.planning.partition import spectral_parts
from covey.robots.parameters import Seconds

_HERE, _AGREED = "meeting", "parts"
_TELL_S = 1.0


@controller(
    "meeting_patrol", sees=("pose", "map", "waypoints", "radio"), needs=("waypoints",), missions=("patrolling",)
)
async def meeting_patrol(robot: Robot, *, grace_s: Seconds = 10.0) -> None:
    """Patrol the robot's own part, meet the robots of neighbouring parts in turn, and take over from absent robots.

    The parts come from spectral bisection. Neighbouring parts share a waypoint, where their robots meet, at first at
    times that a colouring of the meetings keeps apart (`plan_meetings`). Between meetings a robot patrols like
    `heuristic_conscientious_reactive`, as long as it can still be in time. At a meeting it waits until all are there,
    or until ``grace_s`` after the agreed time. Those present agree on the time of the meeting after the next, when all
    can have patrolled their parts. One of them promises to take over from each absent robot; if that robot is absent
    the next time here, too, its parts change hands. A robot that has promised to take over elsewhere announces that it
    will be late. If nobody is absent, the robots with most parts give one to those with fewest. A robot without a part
    takes one from a robot with several. Agreements spread with every meeting; the newer one wins.

    The robot knows the map, the waypoint graph, the team's names and a common clock; a radio that reaches across a
    waypoint is enough. Alone, or out of reach of everybody, it takes over part after part until it has all. It never
    ends.

    Args:
        robot: the robot.
        grace_s: time to wait for the others after the time of a meeting [s].

    Unlike the source:
        Compared with MAEPS, HMPPatrollingAlgorithms/FaultTolerance.

        - a meeting is over at its time -> robots wait ``grace_s`` longer, because times are estimates
        - a proposed time may have passed -> not before the present
        - a robot without a part takes one from a robot with several -> from the robot with most
        - a meeting whose parts belong to one robot is left out only if it has no other part -> corrected: no robot
          meets itself
        - of equal versions the lower robot wins -> the lesser value
        - ``forceTheThing``, ``agreeWhenMeetingEarly`` -> left out: disabled in the published runs

    References:
        C. van Peet, M. Mogensen, S. Santhirasegaram: Distributed multi-robot partition-based patrolling with fault
        tolerance. Master thesis, Aalborg University, 2025 (HMP, "fault tolerance"; `covey.planning.agreements`).
    """
    graph = graph_of(robot)
    travel_s = 1.4 * travel_times(graph, robot) + 3.0  # better too long than too short
    np.fill_diagonal(travel_s, 0.0)
    parts = spectral_parts(graph.distance, len(robot.team))
    plan = plan_meetings(parts, graph.edges, graph.distance, travel_s, lead_s=float(travel_s.max()))
    agreed = Agreements(robot.name, plan, robot.team[: len(plan.parts)])
    last, at = np.zeros(len(graph)), graph.nearest(*robot.pose[:2])
    while True:
        hear(robot, agreed)
        mine = own_parts(robot, agreed)
        meeting, begins_s = agreed.next_meeting(travel_s, at, robot.time)
        target = choose(at, waypoints_of(plan, mine, len(graph)), robot.time - last, graph.distance[at], robot.random)
        place = target if meeting is None else plan.meetings[meeting].waypoint
        if meeting is None or in_time(travel_s, at, target, place, robot.time, begins_s):
            if await visit(robot, graph, target, until=lambda r: hear(r, agreed)):
                at = target
            last[target] = robot.time
        elif await visit(robot, graph, place):
            at, last[place] = place, robot.time
            await meet(robot, agreed, meeting, max(begins_s, robot.time) + grace_s)
        elif await visit(robot, graph, target):  # the path to the meeting is blocked
            at, last[target] = target, robot.time


def hear(robot: Robot, agreed: Agreements) -> bool:
    """Process the agreements made elsewhere; return whether the robot's own parts have changed."""
    before = agreed.parts_of(robot.name)
    for message in robot.messages(_AGREED):
        owners, times = message.payload
        agreed.owners.merge(owners)
        agreed.times.merge(times)
    return agreed.parts_of(robot.name) != before


def tell(robot: Robot, agreed: Agreements) -> None:
    """Send all agreements that the robot knows."""
    robot.send((agreed.owners.rows, agreed.times.rows), kind=_AGREED)


def own_parts(robot: Robot, agreed: Agreements) -> list[int]:
    """Return the robot's parts; announce it if it has just taken one."""
    before = list(agreed.owners.rows)
    mine = agreed.own_parts()
    if agreed.owners.rows != before:
        tell(robot, agreed)
    return mine


def waypoints_of(plan: MeetingPlan, parts: list[int], count: int) -> np.ndarray:
    """Return the waypoints of the given parts, int (m,), ascending; all waypoints if no part is given."""
    return np.array(sorted({v for p in parts for v in plan.parts[p]}) if parts else range(count))


def in_time(travel_s: np.ndarray, at: int, target: int, meeting: int, time_s: float, begins_s: float) -> bool:
    """Return whether a robot that goes to ``target`` first still reaches the meeting's waypoint before the meeting.

    Examples:
        >>> travel_s = np.array([[0.0, 10.0, 20.0], [10.0, 0.0, 10.0], [20.0, 10.0, 0.0]])
        >>> in_time(travel_s, 0, 1, 2, 75.0, 100.0), in_time(travel_s, 0, 1, 2, 85.0, 100.0)
        (True, False)
    """
    return bool(time_s + travel_s[at, target] + travel_s[target, meeting] < begins_s)


async def meet(robot: Robot, agreed: Agreements, meeting: int, until_s: float) -> None:
    """Wait at the waypoint until all owners of the meeting's parts are there, or until a time [s]; then settle."""
    robot.note(f"meets at waypoint {agreed.plan.meetings[meeting].waypoint}")
    offer, present, told_s = agreed.offer(meeting, robot.time), {}, -np.inf
    while True:
        hear(robot, agreed)
        present |= _present(robot, meeting)
        owners = {agreed.owners[part] for part in agreed.plan.meetings[meeting].parts}
        complete = owners <= {robot.name, *present}
        if complete or robot.time >= told_s + _TELL_S - 1e-9:
            tell(robot, agreed)
            robot.send((meeting, offer), kind=_HERE)
            told_s = robot.time
        if complete or robot.time >= until_s:
            break
        await robot.sleep(0.0)
    before = agreed.own_parts()
    agreed.settle(meeting, present | {robot.name: offer}, robot.time)
    tell(robot, agreed)
    if set(agreed.parts_of(robot.name)) - set(before):
        robot.note(f"takes over at waypoint {agreed.plan.meetings[meeting].waypoint}")


def _present(robot: Robot, meeting: int) -> dict[str, Offer]:
    """Return the offers of the robots that recently reported to be at a meeting, by name."""
    heard = [m for m in robot.messages(_HERE) if m.payload[0] == meeting and robot.time - m.sent_s < 2 * _TELL_S]
    return {message.sender: message.payload[1] for message in heard}
