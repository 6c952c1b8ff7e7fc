"""`RobotAlone`: the whole software of one robot that shares no memory with others, in a process, a node or a replay.

It owns its belief, its mailbox, its blackboard and its navigator, and updates them from the records of a step.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from covey.comms.blackboard import Blackboard
from covey.comms.mailbox import Mailbox
from covey.geometry import Pose
from covey.mapping.elevation.slopes import PoseUncertainty
from covey.mapping.exchange.apart import Changes, Given, MapStart
from covey.mapping.occupancy.apart import OwnBelief
from covey.mapping.occupancy.team_mates import without_mates
from covey.mapping.slam.log import Laser
from covey.onboard.controller import Program
from covey.onboard.estimator import pose_then
from covey.onboard.self_localization import OwnLocalization, SelfLocalization
from covey.onboard.spec import RobotSpec
from covey.onboard.step import Located, MapInput, Requests, SenseInput, StepInput, StepOutput, TeamUpdate


@dataclass(frozen=True, eq=False)
class AloneSetup:
    """What the software of one robot knows from the start.

    Attributes:
        spec: the robot and its program.
        team: names of all robots.
        radios: names of the radios that carry messages.
        own_frames: whether the robots do not know each other's start poses.
        map: the map that it keeps; None: it keeps none.
        laser: the lidar with which it maps; None: it has none.
        localization: how it finds out by itself where it is; None: it is told.
        reach_m: returns within this distance of a team mate's centre are on the mate [m].
        entries: entries on the blackboard.
    """

    spec: RobotSpec
    team: tuple[str, ...]
    radios: tuple[str, ...]
    own_frames: bool = False
    map: MapStart | None = None
    laser: Laser | None = None
    localization: OwnLocalization | None = None
    reach_m: float = 0.0
    entries: dict[str, Any] = field(default_factory=dict)

    @property
    def program(self) -> Program:
        """The controller."""
        return self.spec.program


class RobotAlone:
    """The software of one robot that shares no memory with others.

    Args:
        setup: the robot.
        begin_s: time of the first step [s].

    Attributes:
        belief: the maps of its team, of which it keeps its own; None if it keeps none.
        own: finds out where it is; None: it is told.
        onboard: its handle and its controller.
    """

    def __init__(self, setup: AloneSetup, begin_s: float = 0.0):
        spec = setup.spec
        self._mailbox, self._blackboard = Mailbox(spec.name, setup.team, setup.radios), Blackboard(dict(setup.entries))
        self._frames: dict[str, Pose] | None = {} if setup.own_frames else None
        self._laser, self._reach_m = setup.laser, setup.reach_m
        self.belief = None if setup.map is None else setup.map.begin()
        self.own, row = None, 0 if self.belief is None else self.belief.robot
        belief = None if self.belief is None else self.belief[row]
        if setup.localization is not None:
            beliefs = self.belief if isinstance(self.belief, OwnBelief) else None
            where = setup.localization, spec.name, spec.seed, beliefs, row
            self.own = SelfLocalization(*where, setup.reach_m, begin_s)
        self.onboard = spec.software(self._mailbox, self._blackboard, belief, self._frames)

    def localize(self, sensed: SenseInput) -> Located:
        """Find out where the robot is."""
        assert self.own is not None
        return self.own.update(sensed)

    def map(self, given: MapInput) -> bool:
        """Map with a scan; return whether it was used, or had come too soon after the last one."""
        belief, own, told = self.belief, self.own, given.pose
        self._take(given.tiles)
        scan = own.scan if own is not None and given.scan is None else given.scan
        assert belief is not None
        assert scan is not None
        if told is not None:
            at, covariance, is_white = told[None], given.covariance, given.is_white
        else:
            assert own is not None
            at = pose_then(own.pose, None if scan.since is None else scan.since[None])
            covariance, is_white = own.covariance[0], own.is_white
        if not isinstance(belief, OwnBelief):
            assert covariance is not None
            errors = PoseUncertainty(covariance[None], np.array([is_white]))
            scan.measured.into(belief, np.array([belief.robot]), np.array([0]), at, given.step, errors)
            return True
        laser = self._laser
        assert laser is not None
        if own is not None and told is None and own.reads_scans:
            ranges = own.ranges(scan, given.looked)
        else:
            (ranges,) = without_mates(
                scan.measured[None], laser.angles, np.array(laser.mount), scan.mates, self._reach_m
            )
        used = belief.see(at[0], ranges, laser.angles, laser.mount, laser.range_max, given.step)
        if used and own is not None:
            own.has_mapped(at[0], ranges, scan.taken_s)
        return used

    def changes(self) -> Changes | None:
        """Return what has changed in the robot's own evidence since the last call, for the mirror; None: nothing."""
        return None if self.belief is None else self.belief.changes()

    def step(self, shown: StepInput) -> StepOutput:
        """Let the controller act; return its output."""
        if self.own is not None:
            shown = self.own.show(shown)
        if shown.received is not None:
            self._hear(shown.received)
        inbox, outbox, pending = self._mailbox.inbox, self._mailbox.outbox, self._blackboard.pending
        before = [message.number for message in inbox]
        answer = self.act(shown)
        left = {message.number for message in self._mailbox.inbox}
        taken = tuple(number for number in before if number not in left)
        if taken or outbox or pending:
            asked = answer.requests or Requests()
            asked = asked._replace(taken=taken, messages=tuple(outbox), entries=tuple(pending))
            answer = answer._replace(requests=asked)
            outbox.clear()
            self._mailbox.writers.clear()
            pending.clear()
        return answer

    def act(self, shown: StepInput) -> StepOutput:
        """Let the controller act; an error of it is that of the caller."""
        return self.onboard.step(shown)

    def close(self) -> None:
        """End the controller (a coroutine's ``finally`` blocks run)."""
        self.onboard.close()

    def _hear(self, received: TeamUpdate) -> None:
        if received.frames is not None and self._frames is not None:
            self._frames.clear()
            self._frames.update(received.frames)
        self._take(received.tiles)
        for message in received.messages:
            self._mailbox.put(message)
        self._blackboard.pending += received.entries
        self._blackboard.turn()

    def _take(self, tiles: Sequence[Given]) -> None:
        for given in tiles:
            assert self.belief is not None
            self.belief.add_evidence(given)
