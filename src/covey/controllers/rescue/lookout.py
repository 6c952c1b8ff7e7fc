"""What a robot sees with its tag camera: it believes in targets, reports them, and keeps the list of the team."""

import math
from typing import Any, NamedTuple

import numpy as np

from covey.controllers.teammates import Mate
from covey.geometry.se2 import wrap_angle
from covey.onboard.handle import Robot
from covey.onboard.motions import ReportAnswer
from covey.planning.existence import Candidate, CandidateSums, Existence
from covey.planning.progress import Blacklist

_MISSION_S = 600.0
_EDGE_RAD = math.radians(3.0)  # a marker this near to the edge of the view may be outside of it
ASIDE_RAD = math.radians(30.0)  # a candidate should be seen again from directions this near to an earlier one
_MEAN_SLANT = 0.5
_TELL_S = 1.0
_NO_PLACES = np.empty((0, 3))
_LATE, _LATE_S = 1.5, 0.25  # a camera is silent after so many periods, and this time for the step and the way
_WRONG_M = 0.5  # a place this near to one that was too far is not reported again


class Find(NamedTuple):
    """A target whose report was accepted: its kind and place [m]."""

    kind: str
    x: float
    y: float


class Lookout:
    """A robot's belief about targets; call `step`, or at least `see`, at every step.

    A target is reported when it exists with the probability ``report_at`` and its place is known to ``sigma_m``. The
    answer decides: an accepted target joins the list, and so does one that others have reported. A place that was too
    far is not reported again, and neither is an unknown identity. A robot that has lost its pose reports nothing. What
    mates have detected, and looked at in vain, counts too; but a robot reports only what it has seen itself.

    Args:
        robot: the robot; without a tag camera it sees nothing, and only hears of finds.
        targets: expected number of targets.
        report_at: least probability for a report.
        sigma_m: largest standard deviation of a place for a report [m].

    Attributes:
        belief: the candidates.
        found: the finds of the team by identity.
        over: whether the referee takes no more reports.
    """

    def __init__(self, robot: Robot, targets: float, report_at: float, sigma_m: float = 0.15):
        self.camera: Any = next((s for s in robot.model.sensors if "targets" in s.feeds), None)
        self._report_at, self._sigma_m, self._targets = report_at, sigma_m, max(targets, 1.0)
        false = 0.0 if self.camera is None else self.camera.false_per_min / 60.0
        self.belief = Existence(self._targets, false * _MISSION_S)
        self.found: dict[int, Find] = {}
        self.over = False
        self._refused: set[int] = set()
        self._wrong: dict[int, Blacklist] = {}
        self._own: set[int] = set()
        self._asked: dict[int, tuple[ReportAnswer, Candidate]] = {}
        self._last: dict[int, np.ndarray] = {}
        self._heard_s: dict[str, float] = {}
        self._told = self._found = tuple[tuple[Any, ...], ...]()
        self._told_s = -math.inf
        self._sample_s = robot.time  # when the newest sample was taken

    def is_blind(self, robot: Robot) -> bool:
        """Return whether its camera gives no samples any more; what it should have seen then was not seen."""
        camera = self.camera
        late_s = 0.0 if camera is None else _LATE / camera.rate_hz + camera.latency_s + _LATE_S
        return camera is not None and robot.time - self._sample_s > late_s

    def step(self, robot: Robot, mates: dict[str, Mate]) -> None:
        """Process the mates' lists, the answers to reports, and new samples of the camera; report what is worth it."""
        self.hear(robot, mates)
        self.see(robot)

    def hear(self, robot: Robot, mates: dict[str, Mate]) -> None:
        """Process the mates' lists and the answers to reports."""
        for name, mate in mates.items():
            if self._heard_s.get(name) != mate.time_s:
                self._heard_s[name] = mate.time_s
                for identity, *find in mate.facts.get("found", ()):
                    self._learn(identity, Find(*find))
                told = (CandidateSums(*one) for one in mate.facts.get("seen", ()))
                self.belief.hear(name, [t for t in told if t.identity not in {*self.found, *self._refused}])
        if (now := robot.time) >= self._told_s + _TELL_S - 1e-9:
            self._told_s, self._told = now, tuple(map(tuple, self.belief.own_sums()))
        if self._asked:
            self._hear(robot)

    def see(self, robot: Robot) -> None:
        """Process new samples of the camera; report what is worth it."""
        if self.camera is not None:
            for sample in robot.samples(self.camera.name):
                self._look(robot, sample.reading)
                self._sample_s = sample.time
            if self.belief.candidates:
                self._report(robot)

    @property
    def facts(self) -> dict[str, Any]:
        """What it tells the others, as facts of `Teammates`: the finds, and once a second what it has seen."""
        if len(self._found) < len(self.found):
            self._found = tuple((identity, f.kind, f.x, f.y) for identity, f in sorted(self.found.items()))
        return {"found": self._found, "seen": self._told}

    def chance(self, distance_m: float, turn_rate: float = 0.0) -> float:
        """Return the probability that the camera detects a target in one sample, at a mean incidence."""
        camera = self.camera
        straight = camera.detect_near + (camera.detect_far - camera.detect_near) * distance_m / camera.range_m
        sharp = min(1.0, math.radians(camera.blur_deg_s) / max(abs(turn_rate), 1e-9))
        return max(min(straight * (1.0 - _MEAN_SLANT * (1.0 - camera.detect_slant)) * sharp, 0.99), 0.0)

    def own(self, identity: int) -> bool:
        """Return whether this robot's report of a target was the accepted one, as far as it knows."""
        return identity in self._own

    def _learn(self, identity: int, find: Find) -> None:
        if identity not in self.found:
            self.found[identity] = find
            self.belief.forget(identity)

    def _look(self, robot: Robot, reading: Any) -> None:
        count = len(reading)
        if not count and not self.belief.candidates:
            return
        camera, (x, y, heading), turn_rate = self.camera, robot.pose, robot.twist[2]
        seen: set[int] = set()
        places = reading.places(robot.pose) if count else _NO_PLACES
        for k, identity in enumerate(reading.identities.tolist() if count else ()):
            last, self._last[identity] = self._last.get(identity), reading.positions[k]
            repeated = last is not None and np.array_equal(last, reading.positions[k])  # a camera that holds the last
            if repeated or identity in self.found or identity in self._refused:
                continue
            away = float(reading.ranges[k])
            candidate = self.belief.detect(
                identity,
                str(reading.kinds[k]),
                (float(places[k, 0]), float(places[k, 1])),
                self._sigma_at(robot, away),
                self.chance(away, turn_rate),
                self._false_density,
            )
            candidate.seen_from.append(math.atan2(y - candidate.y, x - candidate.x))
            del candidate.seen_from[:-20]
            candidate.reach_m = max(candidate.reach_m, away)
            seen.add(id(candidate))
        half, ahead = math.radians(camera.fov_deg) / 2 - _EDGE_RAD, math.radians(camera.mount_heading_deg)
        for candidate in self.belief.candidates:
            dx, dy = candidate.x - x, candidate.y - y
            away = math.hypot(dx, dy)
            if id(candidate) in seen or not 0.2 < away <= candidate.reach_m:
                continue
            if abs(wrap_angle(math.atan2(dy, dx) - heading - ahead)) > half:
                continue
            from_it = math.atan2(-dy, -dx)
            if min(abs(wrap_angle(from_it - seen_from)) for seen_from in candidate.seen_from) <= ASIDE_RAD:
                self.belief.miss(candidate, self.chance(away, turn_rate))
        self.belief.forget(below=1e-4)

    def _sigma_at(self, robot: Robot, away: float) -> float:
        """Return the standard deviation of a measured place, x or y, with that of the robot's own pose [m]."""
        noise = max(self.camera.sigma_m + self.camera.sigma_per_m * away, 0.01)
        return math.hypot(noise, self._own_sigma_m(robot, away))

    def _own_sigma_m(self, robot: Robot, away: float = 2.0) -> float:
        """Return the standard deviation that the robot's pose adds to a place so far away, x or y [m]."""
        covariance = np.nan_to_num(robot.pose_covariance)
        own = 0.5 * (covariance[0, 0] + covariance[1, 1]) + 0.5 * covariance[2, 2] * away**2
        return math.sqrt(max(own, 0.0))

    @property
    def _false_density(self) -> float:
        """False alarms of one identity per sample and area [1/m²]."""
        camera = self.camera
        area = 0.5 * math.radians(camera.fov_deg) * camera.range_m**2
        return camera.false_per_min / (60.0 * camera.rate_hz) / (area * (camera.dictionary or self._targets))

    def _report(self, robot: Robot) -> None:
        for candidate in list(self.belief.worth(self._report_at, self._sigma_m)):
            place, wrong = (candidate.x, candidate.y), self._wrong.get(candidate.identity, ())
            known = candidate.identity in self._asked or candidate.identity in self.found or self.over
            if not known and place not in wrong and self._own_sigma_m(robot) <= 2.0 * self._sigma_m:
                report = robot.report(candidate.identity, (candidate.x, candidate.y), timeout_s=5.0)
                self._asked[candidate.identity] = report, candidate
                robot.note(f"{candidate.kind} {candidate.identity} at ({candidate.x:.1f}, {candidate.y:.1f})")

    def _hear(self, robot: Robot) -> None:
        for identity, (report, candidate) in list(self._asked.items()):
            if report.outcome is None:
                continue
            del self._asked[identity]
            if report.outcome in ("accepted", "no referee"):
                self._own.add(identity)
            if report.outcome in ("accepted", "twice", "no referee"):
                self._learn(identity, Find(candidate.kind, candidate.x, candidate.y))
            elif report.outcome == "too far":
                self._wrong.setdefault(identity, Blacklist(_WRONG_M)).add((candidate.x, candidate.y))
                self.belief.forget(identity)
            elif report.outcome == "unknown identity":
                self._refused.add(identity)
                self.belief.forget(identity)
            elif report.outcome == "over":
                self.over = True
