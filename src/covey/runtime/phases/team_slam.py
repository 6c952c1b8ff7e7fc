"""SLAM of the robots of a simulation as a team: what they tell each other, and what they know of each other's frames.

Key frames and relations travel as maps do (`covey.runtime.phases.map_exchange`). A robot that sees a team mate with its
``neighbours`` sensor tells it so; the mate makes a relation of it, from where both were at that moment.
"""

import math
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from covey.clock import Clock
from covey.comms.message import HEADER_BYTES, OWN_KINDS
from covey.comms.network import Claim, Network
from covey.errors import InvalidValueError
from covey.geometry.se2 import Pose
from covey.mapping.localizer import Localizer
from covey.mapping.slam.one_pose import between, composed
from covey.mapping.slam.team_exchange import TeamNews
from covey.mapping.slam_localizer import SlamLocalizer
from covey.robots.team import TeamState
from covey.runtime.phases.sensing import BankSample, Sensing, SensorBank

if TYPE_CHECKING:
    from covey.mapping.slam.team_news import Here

SIGHTING = OWN_KINDS[4]
"""Kind of messages."""
_SIZE_BYTES = HEADER_BYTES + 32  # time, key frame, pose in it, range, bearing, heading: 4 bytes each
_REMEMBERED = 100  # moments at which somebody saw another
_APART_S = 0.2  # between two messages to the same robot
_OFTEN, _APART = 40, 20  # so many relations by sight are enough; then as many key frames between messages
_LEAST_M, _LEAST_RAD = 0.02, 0.01  # standard deviations


class MateSighting(NamedTuple):
    """What a robot tells one that it sees.

    Attributes:
        substep: when it saw it.
        here: where it was itself.
        range_m, bearing, heading: of the other in its own frame [m, rad]; heading NaN: its sensor cannot tell.
        sigma_m, sigma_rad: their standard deviations.
    """

    substep: int
    here: "Here"
    range_m: float
    bearing: float
    heading: float
    sigma_m: float
    sigma_rad: float


@dataclass(frozen=True, eq=False)
class _Moment:
    """Where each member was, and the bearings at which each saw others, by their numbers."""

    here: "list[Here | None]"
    bearings: list[dict[int, float]]


class TeamSlam:
    """The SLAM of the robots that map together.

    Args:
        localizers: the team indices of each group, and its localizer.
        shares: which robots share maps, bool (n,).
        sensing: the sensors of all robots.
        network: carries the messages.
        clock: clock of the simulation.
        starts: the true start poses, float64 (n, 3), if the robots do not know those of the others; else None.

    Attributes:
        robots: team indices of those that take part, int64 (m,), in the order of their numbers.
        news: what they exchange.
    """

    def __init__(
        self,
        localizers: Iterable[tuple[np.ndarray, Localizer]],
        shares: np.ndarray,
        sensing: Sensing,
        network: Network,
        clock: Clock,
        starts: np.ndarray | None,
    ):
        self.sensing, self.network, self.clock = sensing, network, clock
        alone = (None, "auto") if starts is None else (None,)
        found = [
            (robot, localizer, k)
            for members, localizer in localizers
            if isinstance(localizer, SlamLocalizer) and localizer.known is None and localizer.record.team not in alone
            for k, robot in enumerate(members.tolist())
            if shares[robot]
        ]
        if any(localizer.record.team != found[0][1].record.team for _, localizer, _ in found):
            raise InvalidValueError("the robots of a team need the same settings in localization: {slam: {team: ...}}")
        if len(found) < 2:
            found = []
        self.robots = np.array([robot for robot, _, _ in found], np.int64)
        self.number = {robot: number for number, (robot, _, _) in enumerate(found)}
        self._localized = [(localizer, k) for _, localizer, k in found]
        self.news = TeamNews([one.join(k, number, starts is None) for number, (_, one, k) in enumerate(found)])
        self._starts = None if starts is None else [Pose(*start) for start in starts.tolist()]
        self._claim = network.claim(SIGHTING) if found else Claim()
        self._moments: OrderedDict[int, _Moment] = OrderedDict()
        self._told: dict[tuple[int, int], tuple[float, int]] = {}  # time and key frame of the last sighting

    def frame_of(self, robot: int, other: int) -> Pose | None:
        """Return the pose of the start of another robot in the frame of a robot's own start; None: not known."""
        assert self._starts is not None
        frame = self.news.members[self.number[robot]].frame_of(self.number[other])
        if frame is None:
            return None
        return self._starts[robot].inverse() @ Pose(*frame.tolist()) @ self._starts[other]

    def revision(self, robot: int) -> int:
        """Return a number that grows whenever a robot's frames of others may have changed."""
        return self.news.members[self.number[robot]].revision

    def meet(self, state: TeamState, alive: np.ndarray) -> None:
        """Take the sightings that have arrived, and tell those of this step.

        Args:
            state: the true state; the way of a robot since its sensor's sample is known exactly.
            alive: robots whose radio works, bool (n,).
        """
        receiver, sender, payloads, _ = self._claim.pop()
        for to, by, sighting in zip(receiver.tolist(), sender.tolist(), payloads, strict=True):
            if to in self.number and by in self.number and alive[to]:
                self._take(self.number[to], self.number[by], sighting)
        for bank in self.sensing.feeding("mates"):
            if bank.record.identity and bank.samples and len(self.robots):
                self._see(bank, state, alive)

    def _see(self, bank: SensorBank, state: TeamState, alive: np.ndarray) -> None:
        """Remember which members see which, and let them tell each other now and then."""
        sample, record = bank.samples[-1], bank.record
        sees = [(k, i) for k, i in enumerate(bank.members.tolist()) if i in self.number and sample.readings.count[k]]
        if not sees:
            return
        moment = self._moment(sample, state)
        sigmas = max(record.range_sigma_m, _LEAST_M), max(math.radians(record.bearing_sigma_deg), _LEAST_RAD)
        for row, robot in sees:
            mine, seen = self.number[robot], sample.readings
            here = moment.here[mine]
            if here is None or not self.sensing.is_first(bank, "mates", robot):
                continue
            part = row, slice(seen.count.item(row))
            columns = (seen.identities[part], seen.ranges[part], seen.bearings[part], seen.headings[part])
            for identity, away, bearing, heading in zip(*(column.tolist() for column in columns), strict=True):
                other = self.number.get(identity)
                if other is None:
                    continue
                moment.bearings[mine][other] = bearing
                if alive[robot] and self._is_news(mine, other, here.frame):
                    self._told[mine, other] = self.clock.time_s, here.frame
                    told = [MateSighting(sample.substep, here, away, bearing, heading, *sigmas)]
                    ends = np.array([robot]), np.array([identity])
                    self.network.send_many(*ends, np.array([_SIZE_BYTES]), SIGHTING, told)

    def _is_news(self, mine: int, other: int, frame: int) -> bool:
        """Return whether a member tells another that it sees it: often at first, as that makes their headings sure."""
        told_s, told_frame = self._told.get((mine, other), (-math.inf, -_APART))
        if self.clock.time_s < told_s + _APART_S - 1e-9:
            return False
        return frame >= told_frame + _APART or self.news.members[mine].joint.sights(mine, other) < _OFTEN

    def _moment(self, sample: BankSample, state: TeamState) -> _Moment:
        """Return what is remembered of the time of a sample; the way since then is known exactly."""
        from covey.mapping.slam.team_news import Here

        if sample.substep not in self._moments:
            now = [localizer.here(k) for localizer, k in self._localized]
            back = [between(state.pose[robot], sample.pose[robot]) for robot in self.robots]
            here = [None if h is None else Here(h.frame, composed(h.since, b)) for h, b in zip(now, back, strict=True)]
            self._moments[sample.substep] = _Moment(here, [{} for _ in now])
            if len(self._moments) > _REMEMBERED:
                self._moments.popitem(last=False)
        return self._moments[sample.substep]

    def _take(self, mine: int, other: int, sighting: MateSighting) -> None:
        """Make a relation of having been seen, if this member remembers where it was, and both headings are known."""
        from covey.mapping.slam.team_news import met

        moment = self._moments.get(sighting.substep)
        there = None if moment is None else moment.here[mine]
        if moment is None or there is None:
            return
        heading, away, bearing = sighting.heading, sighting.range_m, sighting.bearing
        if math.isnan(heading):
            if other not in moment.bearings[mine]:
                return
            heading = bearing + math.pi - moment.bearings[mine][other]
        c, s = math.cos(bearing), math.sin(bearing)
        motion = np.array([away * c, away * s, math.remainder(heading, 2.0 * math.pi)])
        turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        sigma_rad = sighting.sigma_rad
        sigma = np.array([sighting.sigma_m, max(away * sigma_rad, _LEAST_M), math.sqrt(2.0) * sigma_rad])
        information = turn @ np.diag(sigma**-2.0) @ turn.T
        self.news.members[mine].note(met(other, sighting.here, mine, there, motion, information))
