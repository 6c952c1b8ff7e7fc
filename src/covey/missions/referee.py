"""The referee of a rescue mission: a state machine of reports, positions and time; it knows no simulation."""

import math
from collections import deque
from collections.abc import Hashable, Mapping, Sequence
from typing import Literal, NamedTuple, Self

import numpy as np
from pydantic import Field, model_validator

from covey.records import Record, located
from covey.results.event_data import Data, Met

MOVED_M = 0.1
"""The clock starts when a robot has moved more than this in x or in y [m] …"""
TURNED_RAD = 0.1
"""… or has turned by more than this [rad]."""
MINUTE_S = 60.0

ACCEPTED, UNKNOWN, TOO_FAR, TWICE, OVER = "accepted", "unknown identity", "too far", "twice", "over"
TOO_MANY = "too many"
"""The answers to a report."""


class Judgement(NamedTuple):
    """What a referee says about a report.

    Attributes:
        answer: ``accepted``, or why not.
        kind: kind of the target with the reported identity; empty if there is none.
        error_m: distance of the reported place from the true one [m]; NaN if there is none.
        points: points that the report gains; negative for a penalty.
    """

    answer: str
    kind: str = ""
    error_m: float = math.nan
    points: float = 0.0


class KindRule(Record):
    """What a kind of target is worth, and whether robots must meet there."""

    points: float = Field(default=100.0, ge=0, description="Points for the first right report of each.")
    robots: int = Field(default=0, ge=0, description="Number of robots that must meet there after the report; 0: none.")
    within_m: float = Field(default=2.0, gt=0, description="Distance in the plane within which a robot is there [m].")
    for_s: float = Field(default=0.0, ge=0, description="Time for which they must stay together [s].")
    meeting_points: float = Field(default=0.0, ge=0, description="Points for the meeting.")

    @model_validator(mode="after")
    def _meetings_need_robots(self) -> Self:
        fields = type(self).model_fields
        changed = ("within_m", "for_s", "meeting_points")
        unused = [key for key in changed if getattr(self, key) != fields[key].default]
        if unused and "robots" not in self.model_fields_set:  # 0 switches the meeting off
            message = f"{unused[0]} is a rule of meetings, and none is asked for; add robots: 2, or more"
            raise located([((unused[0],), message, getattr(self, unused[0]))])
        return self


class Rules(Record):
    """The rules that a `Referee` applies."""

    kinds: Mapping[str, KindRule] = Field(
        default_factory=dict,
        description="Rule of each kind of target: points, robots, within_m, for_s, meeting_points. A kind that is not "
        "listed gives 100 points.",
    )
    within_m: float = Field(
        default=0.5, gt=0, description="A reported place is right if it is nearer than this, in three dimensions [m]."
    )
    time_limit_s: float = Field(default=600.0, gt=0, description="The mission is over at this time of its clock [s].")
    bonus_per_s: float = Field(default=1.0, ge=0, description="Points for each second that is left at the end.")
    false_report_points: float = Field(
        default=10.0,
        ge=0,
        description="Points lost by a report of an unknown identity or of a wrong place; in the presets none.",
    )
    reports_per_min: int | None = Field(
        default=30,
        gt=0,
        description="Largest number of reports of a robot that are judged in a minute; more are answered `too many`. "
        "null: all are judged, as in the presets.",
    )
    clock: Literal["motion", "start"] = Field(
        default="motion",
        description="When the clock starts. motion: when a robot has moved 0.1 m in x or y, or turned 0.1 rad; start: "
        "at the start of the run.",
    )
    from_floor: bool = Field(
        default=False, description="Whether the place of a target is that on the floor below it, instead of its middle."
    )
    look_every_s: float = Field(
        default=0.0, ge=0, description="Period at which the referee looks at positions and time [s]; 0: every step."
    )
    whole_seconds: bool = Field(default=False, description="Whether the clock counts whole seconds only.")
    poses: Literal["true", "estimated"] = Field(
        default="true", description="By which poses of the robots the clock starts and meetings are judged."
    )

    def of(self, kind: str) -> KindRule:
        """Return the rule of a kind of target."""
        return self.kinds.get(kind, _PLAIN)


_PLAIN = KindRule()


class Referee:
    """Judges reports and meetings, and keeps the score.

    Its state is ``waiting`` until the clock starts, then ``running``. It becomes ``finished`` when all targets are
    found and all meetings held, and ``closed`` at the time limit. Reports are judged in the first two states, meetings
    while it runs. Both last states are final, and stop the clock.

    Args:
        rules: the rules.
        identities: identity of each of the m targets.
        kinds: kind of each.
        places: true x, y and height of each [m], float64 (m, 3).

    Attributes:
        state: waiting, running, finished or closed.
        started_s: time at which the clock started [s]; NaN before.
        found_s: time of the accepted report of each target [s], float64 (m,); NaN before.
        finder: the robot that made it, int64 (m,); -1 before.
        met_s: time of the meeting at each target [s], float64 (m,); NaN before, and where none is asked for.
        false_reports: number of reports of an unknown identity or a wrong place.
        refused_reports: number of all reports that were not accepted.
        points: for reports and meetings, less the penalties.
    """

    def __init__(self, rules: Rules, identities: Sequence[Hashable], kinds: Sequence[str], places: np.ndarray):
        m = len(identities)
        self.rules, self.identities, self.kinds = rules, list(identities), list(kinds)
        self.places = np.array(places, float).reshape(m, 3)
        if rules.from_floor:
            self.places[:, 2] = 0.0
        self.state, self.started_s = "waiting", math.nan
        self.found_s, self.finder, self.met_s = np.full(m, np.nan), np.full(m, -1), np.full(m, np.nan)
        self.false_reports = self.refused_reports = 0
        self._number = {identity: k for k, identity in enumerate(self.identities)}
        self._rules = [rules.of(kind) for kind in self.kinds]
        self._wanted = np.array([rule.robots > 0 for rule in self._rules], bool)  # meetings
        self._together_s = np.full(m, np.nan)
        self._first: np.ndarray | None = None
        self._now_s = self._ended_s = 0.0
        self._look_s = 0.0
        self.points = 0.0
        self._judged_s: dict[int, deque[float]] = {}  # of the last minute, by robot

    @property
    def is_over(self) -> bool:
        """Whether it is finished or closed."""
        return self.state in ("finished", "closed")

    @property
    def elapsed_s(self) -> float:
        """What the clock shows [s], at most the time limit."""
        if math.isnan(self.started_s):
            return 0.0
        time_s = (self._ended_s if self.is_over else self._now_s) - self.started_s
        if self.rules.whole_seconds:
            time_s = math.floor(time_s + 1e-9)
        return min(time_s, self.rules.time_limit_s)

    @property
    def score(self) -> float:
        """The points and the bonus for the time that is left."""
        return self.points + self.rules.bonus_per_s * (self.rules.time_limit_s - self.elapsed_s)

    def report(self, time_s: float, robot: int, identity: Hashable, place: Sequence[float]) -> Judgement:
        """Judge the report of a robot that a target is at a place.

        Args:
            time_s: the present time [s].
            robot: index of the robot.
            identity: the reported identity.
            place: x, y and height [m]; without a height (NaN) the place is judged in the plane.
        """
        k = self._number.get(identity, -1)
        kind = self.kinds[k] if k >= 0 else ""
        error_m = math.nan
        if k >= 0:
            off = np.asarray(place, float) - self.places[k]
            error_m = float(np.linalg.norm(off[:2] if math.isnan(off[2]) else off))
        if self.is_over:
            answer = OVER
        elif not self._may_judge(time_s, robot):
            answer = TOO_MANY
        elif k < 0:
            answer = UNKNOWN
        elif not math.isnan(self.found_s[k]):
            answer = TWICE
        elif not error_m < self.rules.within_m:
            answer = TOO_FAR
        else:
            self.found_s[k], self.finder[k] = time_s, robot
            self._count()
            return Judgement(ACCEPTED, kind, error_m, self._rules[k].points)
        self.refused_reports += 1
        is_false = answer in (UNKNOWN, TOO_FAR)
        self.false_reports += is_false
        self._count()
        return Judgement(answer, kind, error_m, 0.0 - self.rules.false_report_points * is_false)  # never -0.0

    def _may_judge(self, time_s: float, robot: int) -> bool:
        """Return whether a robot has not had too many reports judged in the last minute, and count this one."""
        most = self.rules.reports_per_min
        if most is None:
            return True
        judged = self._judged_s.setdefault(robot, deque(maxlen=most))
        if len(judged) == most and time_s - judged[0] < MINUTE_S - 1e-9:
            return False
        judged.append(time_s)
        return True

    def is_due(self, time_s: float) -> bool:
        """Return whether it looks at a time [s], or did not yet."""
        return not self.is_over and time_s >= self._look_s - 1e-9

    def judge(self, time_s: float, pose: np.ndarray, able: np.ndarray) -> list[tuple[int, str | Data]]:
        """Look at the robots' poses (n, 3), and at which of them are able to act, bool (n,); return what is new.

        The first poses are those from which motion is measured.
        """
        if self._first is None:
            self._first = pose.copy()
        if not self.is_due(time_s):
            return []
        if self.rules.look_every_s:
            self._look_s = (math.floor(time_s / self.rules.look_every_s + 1e-9) + 1) * self.rules.look_every_s
        self._now_s = time_s
        said = self._start(time_s, pose)
        if self.state == "running":
            said += self._meet(time_s, pose, able)
            said += self._end(time_s, said)
        return said

    def _start(self, time_s: float, pose: np.ndarray) -> list[tuple[int, str | Data]]:
        if self.state != "waiting":
            return []
        assert self._first is not None
        off = pose - self._first
        turned = np.abs(np.arctan2(np.sin(off[:, 2]), np.cos(off[:, 2])))
        moved = (np.abs(off[:, :2]).max(axis=1, initial=0.0) > MOVED_M) | (turned > TURNED_RAD)
        if self.rules.clock == "motion" and not moved.any():
            return []
        self.state, self.started_s = "running", time_s if self.rules.clock == "motion" else 0.0
        return [(int(moved.argmax()), "starts the clock")]

    def _meet(self, time_s: float, pose: np.ndarray, able: np.ndarray) -> list[tuple[int, str | Data]]:
        said = []
        for k, rule in enumerate(self._rules):
            if not rule.robots or np.isnan(self.found_s[k]) or not np.isnan(self.met_s[k]):
                continue
            x, y, _ = self.places[k]
            there = np.flatnonzero(able & (np.hypot(pose[:, 0] - x, pose[:, 1] - y) < rule.within_m))
            if len(there) < rule.robots:
                self._together_s[k] = np.nan
                continue
            if np.isnan(self._together_s[k]):
                self._together_s[k] = time_s
            if time_s - self._together_s[k] >= rule.for_s - 1e-9:
                self.met_s[k] = time_s
                self._count()
                said.append((int(there[-1]), Met(self.identities[k], self.kinds[k])))
        return said

    def _count(self) -> None:
        gained = 0.0
        for rule, found_s, met_s in zip(self._rules, self.found_s.tolist(), self.met_s.tolist(), strict=True):
            gained += rule.points * (not math.isnan(found_s)) + rule.meeting_points * (not math.isnan(met_s))
        self.points = gained - self.rules.false_report_points * self.false_reports

    def _end(self, time_s: float, said: list[tuple[int, str | Data]]) -> list[tuple[int, str | Data]]:
        is_done = not np.isnan(self.found_s).any() and not np.isnan(self.met_s[self._wanted]).any()
        if not is_done and time_s - self.started_s < self.rules.time_limit_s - 1e-9:
            return []
        self.state, self._ended_s = "finished" if is_done else "closed", time_s
        last = said[-1][0] if said else max(int(self.finder[np.nanargmax(self.found_s)]), 0) if self._any_found else 0
        return [(last, "completes the mission" if is_done else "is out of time")]

    @property
    def _any_found(self) -> bool:
        return not np.isnan(self.found_s).all()
