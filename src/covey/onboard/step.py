"""The step of a robot: what it is shown, and what it answers.

A host shows every robot a `StepInput` and gets a `StepOutput`; hosts differ only in how these travel. A host whose
robots share mailboxes and beliefs with the simulation leaves ``news`` out, and gets no ``messages`` and ``notices``.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from covey.comms.mailbox import Outgoing
from covey.comms.message import Message
from covey.comms.tags import TagReading
from covey.geometry import Pose
from covey.mapping.occupancy.apart import OthersTiles
from covey.onboard.motions import STILL, Twist
from covey.robots.sample import Sample


class TeamNews(NamedTuple):
    """What a robot has heard since its last step, for one that shares no memory with the simulation.

    Attributes:
        messages: that have arrived, oldest first.
        notices: key and value of what went up on the notice board.
        frames: where it has found the frames of others, by name; None: as before.
        tiles: parts of the maps of others; None for none.
    """

    messages: Sequence[Message] = ()
    notices: Sequence[tuple[str, Any]] = ()
    frames: Mapping[str, Pose] | None = None
    tiles: OthersTiles | None = None


class StepInput(NamedTuple):
    """What a robot is shown in one step. What belongs to a sensor stands in the order of its `RobotSpec.sensors`.

    Attributes:
        time_s: simulated time [s].
        pose: where it believes to be.
        collided: whether it has touched something since its last step.
        readings: the newest reading of each sensor; None where none has come yet.
        times_s: for each sensor, when the readings were taken that have come since its last step, oldest first [s].
        older: for each sensor those readings but the newest; empty when no sensor has any.
        tags: the environment tags in reach, nearest first.
        news: what it has heard; None for nothing.
    """

    time_s: float
    pose: Pose
    collided: bool = False
    readings: tuple[Any, ...] = ()
    times_s: tuple[tuple[float, ...], ...] = ()
    older: tuple[tuple[Any, ...], ...] = ()
    tags: Sequence[TagReading] = ()
    news: TeamNews | None = None

    def come(self, place: int) -> tuple[Any, ...]:
        """Return the readings of a sensor, by its place, that have come since the last step, oldest first."""
        if place >= len(self.times_s) or not self.times_s[place]:
            return ()
        return (*(self.older[place] if self.older else ()), self.readings[place])

    def after(self, missed: "StepInput", most: int | None = None) -> "StepInput":
        """Return this input with what came with an earlier one that the robot has not been shown.

        Args:
            missed: the earlier input.
            most: how many readings of each sensor are kept, the newest ones; None: all.
        """
        places, first = range(len(self.readings)), None if most is None else -most
        come = [(*missed.come(k), *self.come(k))[first:] for k in places]
        times = [((*(missed.times_s[k] if missed.times_s else ()), *self.times_s[k])[first:]) for k in places]
        return self._replace(times_s=tuple(times), older=tuple(readings[:-1] for readings in come))


class Failed(NamedTuple):
    """How a controller failed.

    Attributes:
        text: see `covey.runtime.local.failures.text_of`.
        by_wall_time: whether the machine decided it.
        error: what was raised, where that was in the same process.
    """

    text: str
    by_wall_time: bool = False
    error: BaseException | None = None


class Requests(NamedTuple):
    """What a robot asks for in a step besides its motion.

    Attributes:
        notes: for the event log.
        tags: to be left where it stands: content and lifetime [s].
        digs: two places in its own frame [m] and a volume [m3] each.
        maps: ``request`` and ``share``, see `Robot.request_maps` and `Robot.share_map`.
        messages: to be sent, oldest first.
        notices: key and value of what is to go up on the notice board.
        taken: numbers of the messages that it took out of its mailbox.
        work: what its software did, in units by kind, for a robot with a computer.
        failure: how its controller failed; None: it did not.
    """

    notes: Sequence[str] = ()
    tags: Sequence[tuple[Any, float]] = ()
    digs: Sequence[tuple[float, float, float, float, float]] = ()
    maps: Sequence[str] = ()
    messages: Sequence[Outgoing] = ()
    notices: Sequence[tuple[str, Any]] = ()
    taken: Sequence[int] = ()
    work: Mapping[str, float] = {}
    failure: Failed | None = None


class StepOutput(NamedTuple):
    """What a robot answers in one step.

    Attributes:
        twist: that it commands: vx, vy [m/s], omega [rad/s] in the body frame.
        status: see `Robot.status`.
        requests: None in most steps.
    """

    twist: Twist = STILL
    status: str = "idle"
    requests: Requests | None = None


class ScanInput(NamedTuple):
    """A scan for the map that a robot keeps by itself; it answers what that changed, `OwnTiles`, or None.

    Attributes:
        pose: estimate where it was taken, float64 (3,).
        ranges: float64 (rays,) [m].
        step: number of the step.
        tiles: parts of the maps of others that have come before it; None for none.
    """

    pose: np.ndarray
    ranges: np.ndarray
    step: int
    tiles: OthersTiles | None = None


class GroupInput(NamedTuple):
    """What a `GroupView` of one group is made of."""

    name: str
    names: list[str]
    time_s: float
    fields: dict[str, Any]
    samples: dict[str, list[Sample]]


class GroupOutput(NamedTuple):
    """What the controller of a group, or of the whole team, answers.

    Attributes:
        twists: float64 (n, 3) by group; none when it failed.
        failure: how it failed; None: it did not.
    """

    twists: Mapping[str, np.ndarray] = {}
    failure: Failed | None = None
