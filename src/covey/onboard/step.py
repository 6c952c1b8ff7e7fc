"""The step of a robot: its input and its output.

A host gives each robot a `StepInput` and gets a `StepOutput`; hosts differ only in how these travel. If robots share
mailboxes and beliefs with the simulation, the host leaves out ``received`` and gets no ``messages`` and ``entries``.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from covey.comms.mailbox import Outgoing
from covey.comms.message import Message
from covey.comms.tags import TagReading
from covey.geometry import Pose
from covey.mapping.exchange.apart import Given
from covey.mapping.occupancy.team_mates import Mates
from covey.mapping.slam.contradictions import Contradiction
from covey.onboard.giving_up import Kind
from covey.onboard.motions import STILL, Twist
from covey.robots.sample import Sample


class TeamUpdate(NamedTuple):
    """What a robot that shares no memory with the simulation has received since its last step.

    Attributes:
        messages: messages that have arrived, oldest first.
        entries: keys and values of new entries on the blackboard.
        frames: poses of the frames of others that it has found, by name; None: as before.
        tiles: parts of the maps of others, and corrections of its own, oldest first.
    """

    messages: Sequence[Message] = ()
    entries: Sequence[tuple[str, Any]] = ()
    frames: Mapping[str, Pose] | None = None
    tiles: Sequence[Given] = ()


class StepInput(NamedTuple):
    """The input of a robot in one step. Data of sensors are in the order of `RobotSpec.sensors`.

    Attributes:
        time_s: simulated time [s].
        pose: its estimated pose.
        collided: whether it has touched something since its last step.
        readings: the newest reading of each sensor; None if there is none yet.
        times_s: for each sensor, the times of the readings since its last step, oldest first [s].
        older: for each sensor these readings except the newest; empty if no sensor has any.
        tags: the environment tags in reach, nearest first.
        received: what it has received; None for nothing.
        covariance: of the estimated pose, nine numbers, row by row; empty: not known.
        answers: number of each of its reports that was answered, and the answer, see `Robot.report`.
        odometry: x, y [m], heading [rad] by dead reckoning, see `Robot.odometry_pose`; empty: there is none.
        silent: names of its sensors that are silent, see `Robot.silent`, read by its controller or not.
        moved: corrections of its past poses: numbers that count them, each with float64 (k, 5): from and until when
            [s], and the motion x, y [m], heading [rad] in its frame that moves its poses of that time. One may come
            twice.
    """

    time_s: float
    pose: Pose
    collided: bool = False
    readings: tuple[Any, ...] = ()
    times_s: tuple[tuple[float, ...], ...] = ()
    older: tuple[tuple[Any, ...], ...] = ()
    tags: Sequence[TagReading] = ()
    received: TeamUpdate | None = None
    covariance: Sequence[float] = ()
    answers: Sequence[tuple[int, str]] = ()
    odometry: Sequence[float] = ()
    moved: Sequence[tuple[int, np.ndarray]] = ()
    silent: Sequence[str] = ()

    def come(self, place: int) -> tuple[Any, ...]:
        """Return the readings of a sensor, given its index, since the last step, oldest first."""
        if place >= len(self.times_s) or not self.times_s[place]:
            return ()
        return (*(self.older[place] if self.older else ()), self.readings[place])

    def after(self, missed: "StepInput", most: int | None = None) -> "StepInput":
        """Return this input merged with an earlier one that the robot has not been given.

        Args:
            missed: the earlier input.
            most: number of readings of each sensor to keep, the newest ones; None: all.
        """
        places, first = range(len(self.readings)), None if most is None else -most
        come = [(*missed.come(k), *self.come(k))[first:] for k in places]
        times = [((*(missed.times_s[k] if missed.times_s else ()), *self.times_s[k])[first:]) for k in places]
        older, answers = tuple(readings[:-1] for readings in come), (*missed.answers, *self.answers)
        return self._replace(times_s=tuple(times), older=older, answers=answers, moved=(*missed.moved, *self.moved))


class Failed(NamedTuple):
    """The failure of a controller.

    Attributes:
        text: see `covey.runtime.local.failures.text_of`.
        by_wall_time: whether wall time decided it.
        error: the exception, if it was raised in the same process.
    """

    text: str
    by_wall_time: bool = False
    error: BaseException | None = None


class Requests(NamedTuple):
    """The requests of a robot in a step, other than its motion.

    Attributes:
        notes: notes for the event log.
        tags: tags to leave where it stands: content and lifetime [s].
        digs: for each, two places in its own frame [m] and a volume [m3].
        maps: ``request`` and ``share``, see `Robot.request_maps` and `Robot.share_map`.
        reports: for each, its number, an identity, and a place x, y, height [m]; see `Robot.report`.
        messages: messages to send, oldest first.
        entries: keys and values for the blackboard.
        taken: numbers of the messages that it took out of its mailbox.
        work: work of its software, in units by kind, for a robot with a computer.
        failure: the failure of its controller; None if it did not fail.
        gave_up: for each goal that it gives up: x, y in its own frame [m], and the fields of
            `covey.onboard.giving_up.Reason`.
    """

    notes: Sequence[str] = ()
    tags: Sequence[tuple[Any, float]] = ()
    digs: Sequence[tuple[float, float, float, float, float]] = ()
    maps: Sequence[str] = ()
    reports: Sequence[tuple[int, int, float, float, float]] = ()
    messages: Sequence[Outgoing] = ()
    entries: Sequence[tuple[str, Any]] = ()
    taken: Sequence[int] = ()
    work: Mapping[str, float] = {}
    failure: Failed | None = None
    gave_up: Sequence[tuple[float, float, Kind, str, float, float]] = ()


class StepOutput(NamedTuple):
    """The output of a robot in one step.

    Attributes:
        twist: the commanded twist: vx, vy [m/s], omega [rad/s] in the body frame.
        status: see `Robot.status`.
        requests: None in most steps.
    """

    twist: Twist = STILL
    status: str = "idle"
    requests: Requests | None = None


class ScanInput(NamedTuple):
    """What a sensor for localization or for maps has measured.

    Attributes:
        taken_s: its time [s].
        measured: float64 (rays,) [m], the ranges of a lidar; or the `Readings` of one robot about the ground.
        since: motion of the robot from then until now, (3,), x, y [m], heading [rad] in its body frame then; None: it
            is of now.
        mates: the team mates that the robot's sensor for them shows then, if its lidar sees robots.
    """

    taken_s: float
    measured: Any
    since: np.ndarray | None = None
    mates: Mates | None = None


class SenseInput(NamedTuple):
    """What a robot that finds out by itself where it is has sensed since the last step; it answers `Located`.

    Attributes:
        step, time_s: the control step, and its time [s].
        wheels: times [s] of samples of its odometry, and the motions (3,), oldest first.
        gyro: times [s] of samples of its gyro, and turn rates [rad/s], oldest first.
        scan: the newest scan; None: none has come.
        jump: where a fault puts its estimates: their frame in the world frame; None: there is no such fault.
    """

    step: int
    time_s: float
    wheels: Sequence[tuple[float, np.ndarray]] = ()
    gyro: Sequence[tuple[float, float]] = ()
    scan: ScanInput | None = None
    jump: Pose | None = None


class Located(NamedTuple):
    """Where a robot has found that it is.

    Attributes:
        pose, covariance: in the world frame, (3,) and (3, 3); NaN: not known.
        revision: how often its past poses have changed.
        odometry, odometry_spread: by dead reckoning from its start, (3,) and (3, 3).
        contradicted: how its scans contradict its odometry, each episode once.
        takes: with which of its scans it maps: ``each``; or, as its map follows corrections, ``newest`` or ``none``.
        took_s: processor time of the localizer for a scan [s]; None: it had none.
    """

    pose: np.ndarray
    covariance: np.ndarray
    revision: int
    odometry: np.ndarray
    odometry_spread: np.ndarray
    contradicted: Sequence[Contradiction] = ()
    takes: Literal["each", "newest", "none"] = "each"
    took_s: float | None = None


class MapInput(NamedTuple):
    """A scan for the map that a robot keeps by itself; it answers with the changes of its map, or None.

    Attributes:
        step: number of the step.
        scan: the scan; None: the one by which it has located itself in this step.
        looked: pose (3,) of the robot at the scan by which it has located itself, from its pose at this one; None: it
            is this.
        pose, covariance, is_white: for a robot that is told where it is: its pose (3,) at the scan, in the frame of its
            map, the covariance (3, 3), and whether the errors of two steps are independent; None: it knows by itself.
        tiles: parts of the maps of others, and corrections of its own, that came before it, oldest first.
    """

    step: int
    scan: ScanInput | None = None
    looked: np.ndarray | None = None
    pose: np.ndarray | None = None
    covariance: np.ndarray | None = None
    is_white: bool = False
    tiles: Sequence[Given] = ()


class GroupInput(NamedTuple):
    """The data of a `GroupView` of one group."""

    name: str
    names: list[str]
    time_s: float
    fields: dict[str, Any]
    samples: dict[str, list[Sample]]


class GroupOutput(NamedTuple):
    """The output of a controller of a group, or of the whole team.

    Attributes:
        twists: float64 (n, 3) by group; empty if it failed.
        failure: its failure; None if it did not fail.
        notes: notes for the event log: name of the group, index of the robot in it, and text.
        is_done: whether the controller has said that it is done.
    """

    twists: Mapping[str, np.ndarray] = {}
    failure: Failed | None = None
    notes: Sequence[tuple[str, int, str]] = ()
    is_done: bool = False
