"""`OnboardState`: what the software of one robot remembers, and does between two calls of its controller.

`covey.onboard.onboard.Onboard` owns and steps it. A controller holds a `covey.onboard.handle.Robot`, which has nothing
but this state, and everything here belongs to the robot: its estimate, its readings, its belief, its past.
"""

import logging
import math
from collections import defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from inspect import CO_COROUTINE
from types import CodeType
from typing import Any, NamedTuple

import numpy as np

from covey.comms.blackboard import Blackboard, BlackboardView
from covey.comms.mailbox import Mailbox
from covey.errors import InvalidValueError
from covey.geometry import Grid, Pose
from covey.mapping.occupancy.belief import Belief
from covey.onboard.driving import Driving
from covey.onboard.giving_up import Reason
from covey.onboard.motions import STILL, Goto, Motion, ReportAnswer, Twist, Waiting
from covey.onboard.navigator import Navigator
from covey.onboard.outcome import Outcome
from covey.onboard.searched import Searched
from covey.onboard.step import StepInput
from covey.planning.waypoints import Waypoints
from covey.robots.computer import Work
from covey.robots.model import RobotModel

HISTORY = 100
"""Number of past steps of readings and commands that a robot remembers."""
_TOLD_AGAIN_S = 60.0  # after this time it tells again that it gives up the same goal
_STANDS_AFTER = 50  # so many awaited goals in a row that lie where the robot is: it stands


class Call(NamedTuple):
    """Where a controller called for something: its code and line, and the name of what it called."""

    code: CodeType
    line: int
    name: str

    def seen_from(self, other: "Call") -> str:
        """Return words for its line, with the file if the other is in another one."""
        of = "" if self.code.co_filename == other.code.co_filename else f" of {self.code.co_filename}"
        return f"line {self.line}{of}"


class History(Sequence[tuple[float, dict[str, Any], Twist]]):
    """The past of a robot, oldest first: time [s], readings by the sensor's name, commanded twist.

    Attributes:
        steps: the stored form: time, index of each sensor by name, readings by index, twist.
    """

    def __init__(self) -> None:
        self.steps: deque[tuple[float, dict[str, int], tuple[Any, ...], Twist]] = deque(maxlen=HISTORY)

    def __len__(self) -> int:
        return len(self.steps)

    def __getitem__(self, k: Any) -> Any:
        if isinstance(k, slice):
            return list(self)[k]
        time_s, places, seen, twist = self.steps[k]
        return time_s, by_name(places, seen), twist


def by_name(places: Mapping[str, int], seen: tuple[Any, ...]) -> dict[str, Any]:
    """Return the readings that have come, by the sensor's name."""
    return {name: seen[place] for name, place in places.items() if seen[place] is not None}


class OnboardState:
    """The state of the software of one robot.

    Args:
        name, model: the robot.
        home: its start pose.
        navigator: drives it to goals.
        random: its own generator.
        mailbox, blackboard: for its communication; None: of its own.
        sensors: names of the sensors that its controller reads.
        frames: poses of the frames of others that it knows, by name; None if all robots share one frame.

    Attributes:
        shown: its last input.
        places: index of each sensor in the input, by name.
        map, waypoints, searched: see `covey.onboard.handle.Robot`.
        view: the handle that its controller holds.
        motion, begun_at: its present or last motion, and where it was called for.
        wait: the last wait that is no motion, and where it was called for.
        command: its last twist.
        asked: its requests since its last output: fields of `covey.onboard.step.Requests`.
        reports, reported: its reports without an answer, by number, and the number of the last.
        corrections, corrected: how its past poses have moved since its last step, and the number of the last.
        digs_until: when it has moved its load [s].
        warned: file and line of the warnings about its controller, and what they are about.
        work: the account of its computer; None: it has none.
    """

    def __init__(
        self,
        name: str,
        model: RobotModel,
        home: Pose,
        navigator: Navigator,
        random: np.random.Generator,
        mailbox: Mailbox | None = None,
        blackboard: Blackboard | None = None,
        sensors: Iterable[str] = (),
        frames: Mapping[str, Pose] | None = None,
    ):
        self.name, self.model, self.home, self.navigator, self.random = name, model, home, navigator, random
        self.mailbox, self.blackboard = mailbox or Mailbox(name, (name,)), BlackboardView(blackboard or Blackboard())
        self.frames, self.team = frames, self.mailbox.team
        self.places = {sensor: place for place, sensor in enumerate(sensors)}
        self.shown = StepInput(0.0, home, readings=(None,) * len(self.places))
        self.map: Any = None
        self.waypoints: Waypoints | None = None
        self.searched: Searched | None = None
        self.view: Any = None
        self.text, self.finished, self.history = "", False, History()
        self.motion: Motion | None = None
        self.begun_at: Call
        self.wait: tuple[Waiting, Call] | None = None
        self.command: Twist = STILL
        self.asked: defaultdict[str, list[Any]] = defaultdict(list)
        self.reports: dict[int, ReportAnswer] = {}
        self.reported, self.digs_until = 0, -math.inf
        self.corrections: tuple[np.ndarray, ...] = ()
        self.corrected = 0
        self.warned: set[tuple[str, int, str]] = set()
        self.work = None if model.computer is None else Work()
        navigator.work = self.work
        self._gave_up: dict[tuple[int, int, str], float] = {}  # goals, to a metre, and why: when told last
        self._arrivals = 0  # awaited goals in a row that lay where it was

    # -- what it knows -----------------------------------------------------------------------------------------------

    @property
    def status(self) -> str:
        """See `covey.onboard.handle.Robot.status`."""
        if self.finished:
            return "done"
        return self.motion.label if self.motion is not None and self.motion.outcome is None else "idle"

    @property
    def is_blind(self) -> bool:
        """See `covey.onboard.handle.Robot.blind`."""
        return bool(self.shown.silent) and self.model.is_blind(self.shown.silent)

    @property
    def belief(self) -> Belief:
        """Its map.

        Raises:
            InvalidValueError: it has none.
        """
        if self.map is None:
            raise InvalidValueError(f"{self.name} has no map; give its robot a lidar and `mapping`")
        return self.map

    @property
    def driven_on(self) -> tuple[Grid, tuple[float, float], float, Driving, np.ndarray]:
        """Its map, its place, its radius, how it plans, and the robots in sight, see `covey.onboard.travel_cost`."""
        navigator, pose = self.navigator, self.shown.pose
        return self.belief.grid, pose[:2], navigator.radius, navigator.driving, navigator.others(*pose)

    @property
    def camera(self) -> tuple[int, Any] | None:
        """The index and the record of its first tag camera that its controller reads."""
        cameras = [s for s in self.model.sensors if "targets" in s.feeds and s.name in self.places]
        return (self.places[cameras[0].name], cameras[0]) if cameras else None

    def frame_of(self, robot: str) -> Pose | None:
        """See `covey.onboard.handle.Robot.frame_of`."""
        return Pose(0.0, 0.0, 0.0) if self.frames is None else self.frames.get(robot)

    def hear_answers(self, answers: Sequence[tuple[int, str]]) -> None:
        """Process the answers to its reports, and give up waiting for those that do not come."""
        for reported, answer in answers:
            report = self.reports.pop(reported, None)
            if report is not None:
                report.outcome = answer
        for reported, report in list(self.reports.items()):
            if self.shown.time_s >= report.end_s - 1e-9:
                self.reports.pop(reported).outcome = "no answer"

    def correct(self, moved: Iterable[tuple[int, np.ndarray]]) -> None:
        """Take in how its past poses have moved; see `covey.onboard.step.StepInput`. One may come twice."""
        new = [(k, motions) for k, motions in moved if k > self.corrected]
        self.corrected = new[-1][0] if new else self.corrected
        self.corrections = tuple(motions for _, motions in new)

    def charge_search(self, entries: int) -> None:
        """Charge a search to its computer, if it has one; ``entries``: number of entries of its queue."""
        if self.work is not None:
            self.work.add_search(entries)

    # -- what it does ------------------------------------------------------------------------------------------------

    def begin(self, motion: Motion, call: Call) -> Motion:
        """Begin a motion in place of the present one."""
        before = self.motion
        if before is not None and before.outcome is None:
            before.outcome = Outcome(
                "cancelled", "another motion replaced it" + ("" if before.began else " before it began")
            )
            if before.has_end and motion.has_end:
                self.check_motion(before, f"{call.seen_from(self.begun_at)} replaced it", call)
        self.motion, self.begun_at = motion, call
        if not isinstance(motion, Goto):
            self._arrivals = 0
        return motion

    def move(self) -> None:
        """Let the present motion choose the twist of this step."""
        motion, command = self.motion, STILL
        if motion is not None and motion.outcome is None:
            if motion.until is not None:
                motion.poll(self)
            if motion.outcome is None and motion.looks_ahead and self.is_blind:
                self.navigator.wait()
            elif motion.outcome is None:
                twist = motion.twist(self)  # uses the previous command
                if motion.outcome is None:
                    command = twist
        self.command = command

    def navigate(self) -> tuple[Twist, str]:
        """Return the twist of the navigator, and its state."""
        places, shown = self.places, self.shown
        lidar, neighbours = places.get("lidar"), places.get("neighbours")
        return self.navigator.command(
            shown.pose,
            self.command,
            self.map,
            None if lidar is None else shown.readings[lidar],
            None if neighbours is None else shown.readings[neighbours],
            shown.time_s,
            shown.odometry or None,
        )

    def give_up(self, goal: tuple[float, float], why: Reason) -> None:
        """Tell the event log that it gives up a goal, but not again and again."""
        what, time_s = (round(goal[0]), round(goal[1]), why.kind), self.shown.time_s
        if time_s >= self._gave_up.get(what, -math.inf) + _TOLD_AGAIN_S:
            self._gave_up[what] = time_s
            self.asked["gave_up"].append((*goal, *why))

    # -- warnings ----------------------------------------------------------------------------------------------------

    def check_motion(self, motion: Motion, ended: str, by: Call | None = None) -> None:
        """Warn of a motion with an end that has not come, if nobody awaits it.

        Args:
            motion: the last one that has begun.
            ended: what ended it, as words.
            by: the call that replaced it.
        """
        call, early = self.begun_at, "" if motion.began else " before it began"
        if call.code.co_flags & CO_COROUTINE and not motion.awaited:
            self.warn(call, "await", f"nobody awaits this motion, so {ended}{early}; write await robot.{call.name}(…)")
        elif early and by is not None:
            self.warn(by, "await", "this motion replaces one that has not begun; of one step, only the last counts")

    def count_arrivals(self, at_once: bool, motion: Motion) -> None:
        """Warn of a robot that stands because each goal that its controller awaits is where it is already."""
        self._arrivals = self._arrivals + 1 if at_once and motion.awaited else 0
        if self._arrivals == _STANDS_AFTER:
            text = f"the robot is at this goal already, as at the {_STANDS_AFTER - 1} before, so it stands"
            self.warn(self.begun_at, "stands", f"{text}; choose goals farther away, or await robot.sleep(1) to wait")

    def check_wait(self) -> None:
        """Warn of a sleep, or a wait for a message, that nobody awaits."""
        if self.wait is not None:
            wait, call = self.wait
            self.wait, self._arrivals = None, 0
            if not wait.awaited:
                what, how = wait.said
                text = f"nobody awaits this {what.removeprefix('a ')}, so it does nothing; write {how}"
                self.warn(call, "await", text)

    def warn(self, call: Call, about: str, text: str) -> None:
        """Warn of a line of the controller's code, once."""
        where, time_s = (call.code.co_filename, call.line), self.shown.time_s
        if (*where, about) not in self.warned:
            self.warned.add((*where, about))
            logging.getLogger("covey").warning("%s at %.4g s: %s:%d: %s", self.name, time_s, *where, text)
