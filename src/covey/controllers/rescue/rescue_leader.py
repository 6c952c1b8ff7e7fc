"""Rescue with a leader: one robot assigns frontiers, all report what they see, and two meet at a big fire."""

import math
from typing import Any

import numpy as np

from covey.controllers.exploration.frontier_loop import Choice, Errand, Goal, explore
from covey.controllers.exploration.leader import LeaderState
from covey.controllers.rescue.lookout import Lookout
from covey.controllers.rescue.meeting import Meetings
from covey.controllers.teammates import Teammates
from covey.mapping.occupancy.frontiers import Frontiers
from covey.onboard.controller import controller
from covey.onboard.handle import Robot
from covey.planning.progress import ProgressTimer
from covey.robots.parameters import Count, Kinds, Metres, MetresOrNone, Seconds, Share, Stay

_IDLE_S = 5.0
_KICK_OFF_S = 3.0  # a robot that has not moved for so long has a wall before it
_THERE_M = 0.35
_BACK_S = 120.0  # a robot that is not back at its saved place then goes on where it is


@controller(
    "rescue_leader",
    sees=("pose", "map", "shared_map", "radio", "shared_frame", "report", "tag_camera"),
    needs=("map",),
    missions=("rescue",),
)
async def rescue_leader(
    robot: Robot,
    *,
    leader: str = "",
    min_distance_m: MetresOrNone = 1.0,
    kick_off_m: MetresOrNone = 2.5,
    spin_every: Count = 4,
    answer_s: Seconds = 1.0,
    forget_s: Seconds = 10.0,
    targets: Count = 5,
    report_at: Share = 0.99,
    meet: Count = 2,
    meet_at: Kinds = "big_fire",
    meet_within_m: Metres = 2.0,
    meet_for_s: Stay = 0.0,
    patience_s: Seconds = 120.0,
) -> None:
    """Explore as `leader` does, report the targets that the camera happens to see, and meet at big fires.

    A robot that has found a big fire calls the nearest mate that it hears. The mate saves its place, drives to the
    fire, and returns to the saved place when they have met; then both go on. All robots keep one list of finds. They
    do not search what the camera has not seen: only the turns all around look aside. It ends when it can reach no
    frontier, all robots that it hears say the same, and no meeting is open.

    Args:
        robot: a robot with a map; without a tag camera it only explores and meets.
        leader, min_distance_m, kick_off_m, spin_every, answer_s, forget_s: see `leader`.
        targets: expected number of targets.
        report_at: least probability that a target exists for its report.
        meet: number of robots that meet at each target of some kinds; 0: none.
        meet_at: these kinds, with a space between them.
        meet_within_m, meet_for_s: how near to the target they must be, and for how long together [m, s].
        patience_s: time after which a robot gives a meeting up [s].

    Unlike the source:
        Compared with the source of `leader`, and the future work of the report.

        - tags are reported as read -> at a probability of ``report_at``, from detections and misses
        - positions of tags are not stored -> each robot keeps all finds and repeats them each second
        - the mate returns to its place -> if it is not back after 120 s, it goes on from where it is
        - nobody comes: nothing said -> after ``patience_s`` the finder goes on, and calls again later
        - a few metres straight on at first -> it ends before a wall after 3 s without motion

    References:
        G. F. Kleiven: DAT160 Semester Project Report. Western Norway University of Applied Sciences, 2021; the meeting
        and the list are its future work.
    """
    team = Teammates(forget_s=forget_s)
    meetings = Meetings(dict.fromkeys(meet_at.split(), meet), patience_s, meet_within_m, meet_for_s)
    state = _Rescuer(robot, leader, team, min_distance_m, spin_every, targets, report_at, meetings)

    async def choose(robot: Robot, frontiers: Frontiers, allowed: np.ndarray) -> Choice:
        if state.due_to_spin():
            await turn_round()
        return await state.next_target(robot, frontiers, allowed, answer_s)

    async def turn_round() -> None:
        await robot.turn(math.tau, until=lambda robot: state.step(robot, None))

    timer = ProgressTimer(0.1, _KICK_OFF_S)
    timer.restart(robot.time, *robot.pose[:2])
    await robot.forward(kick_off_m, until=lambda r: state.step(r, None) or timer.expired(r.time, *r.pose[:2]))
    if spin_every > 0:
        await turn_round()
    while True:
        state.explored = False
        await explore(
            robot,
            choose,
            definition="explore",
            min_cells=1,
            replan_s=math.inf,
            near_m=math.inf,
            each_step=state.step,
            unreachable=state.report,
            first=state.errand,
        )
        state.explored = True
        while state.errand(robot) is None:
            if state.is_done(robot):
                return
            await robot.sleep(_IDLE_S, until=lambda robot: state.step(robot, None))


class _Rescuer(LeaderState):
    """The state of a robot that leads, or is led, and rescues.

    Attributes:
        explored: whether it can reach no frontier.
    """

    def __init__(
        self,
        robot: Robot,
        leader: str,
        team: Teammates,
        min_distance_m: float,
        spin_every: int,
        targets: int,
        report_at: float,
        meetings: Meetings,
    ):
        super().__init__(robot.name, leader, team, min_distance_m, spin_every)
        self.lookout = Lookout(robot, targets, report_at)
        self.meetings = meetings
        self.explored = False
        self._saved: Goal | None = None
        self._met_s = math.inf
        self._blind = False  # whether its camera is silent

    def facts(self) -> dict[str, Any]:
        """Return what it tells the others: finds, meetings, and whether it has explored everything."""
        return {"explored": self.explored or self._blind, **self.lookout.facts, **self.meetings.facts}

    def step(self, robot: Robot, goal: Goal | None) -> bool:
        """Look, report, talk; return whether there is another errand."""
        mates = self.team.others(robot)
        before = self._saved
        self.lookout.step(robot, mates)
        self._blind = self.lookout.is_blind(robot)
        was_at = self.meetings.at
        changed = self.meetings.step(robot, self.lookout.found, mates)
        for identity in self.meetings.open(self.lookout.found):
            if self.lookout.own(identity) or self.explored:
                changed |= self.meetings.call(robot, identity, self.lookout.found, mates)
        if self.meetings.at is not None and was_at is None:
            self._saved = self._saved or (robot.pose[0], robot.pose[1])
        elif self.meetings.at is None and was_at is not None:
            self._met_s = robot.time
        elif self._saved and self.meetings.at is None and self._is_back(robot):
            self._saved = None
        super().step(robot, goal)
        return changed or before != self._saved

    def _is_back(self, robot: Robot) -> bool:
        """Return whether the robot is back at its saved place, or should have been for long."""
        return math.dist(self._saved or (0.0, 0.0), robot.pose[:2]) < 0.5 or robot.time > self._met_s + _BACK_S

    def errand(self, robot: Robot) -> Errand | None:
        """Return where a meeting, or the saved place after it, sends the robot; None if it may explore."""
        place = self._saved if self.meetings.at is None else self.meetings.place
        if self.meetings.at is not None and (place is None or math.dist(place, robot.pose[:2]) < _THERE_M):
            return Errand()  # it waits for the others
        if place is None and self._blind and not self.is_done(robot):
            return Errand()  # others must explore what it cannot search
        return None if place is None else Errand(place)

    def is_done(self, robot: Robot) -> bool:
        """Return whether nobody that it hears has anything left to do."""
        mates = self.team.others(robot).values()
        return all(mate.facts.get("explored") for mate in mates) and not self.meetings.open(self.lookout.found)
