"""Whether a target that a sensor has detected exists: a Bayesian filter over detections and non-detections."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

Point = tuple[float, float]

_LEAST_GATE_M = 0.3
_MOST_STEP = 5.0  # largest evidence of one sample, ln odds: samples are not quite independent


class CandidateSums(NamedTuple):
    """What one robot has seen of a candidate: sums, so that a lost message only delays them.

    ``evidence`` is the sum of the logarithms of its likelihood ratios, ``seen_from`` its last direction [rad]; the
    others are as in `Candidate`.
    """

    identity: int
    kind: str
    x: float
    y: float
    weight: float
    evidence: float
    detections: int
    seen_from: float
    reach_m: float


@dataclass(eq=False)
class Candidate:
    """A target that may exist.

    Attributes:
        identity, kind: what the sensor says that it is.
        x, y: estimate of its place [m]: the mean of the detections, weighted by their inverse variances.
        weight: sum of these inverse variances [1/m²].
        log_odds: natural logarithm of P(exists) / P(does not).
        detections: number of detections.
        seen_from: directions from it to the sensor when it was detected [rad], and the largest distance [m].
        reach_m: the largest distance at which it was detected [m].
        heard: the part of all this that others have told, by their names.
    """

    identity: int
    kind: str
    x: float
    y: float
    weight: float
    log_odds: float
    detections: int = 1
    seen_from: list[float] = field(default_factory=list)
    reach_m: float = 0.0
    heard: dict[str, CandidateSums] = field(default_factory=dict)

    @property
    def own_detections(self) -> int:
        """Number of detections that nobody else has told."""
        return self.detections - sum(t.detections for t in self.heard.values())

    @property
    def probability(self) -> float:
        """P(exists)."""
        return 1.0 / (1.0 + math.exp(-max(min(self.log_odds, 700.0), -700.0)))

    @property
    def sigma_m(self) -> float:
        """Standard deviation of x and of y [m], from the noise of the detections."""
        return self.weight**-0.5


class Existence:
    """The candidates, and the evidence for each.

    A detection at a new place makes a candidate with the odds K : F, where K is the number of targets and F the number
    of false alarms that are expected in all. Each later sample multiplies the odds by its likelihood ratio: of a
    detection near the candidate, chance x density of the measured place / density of false alarms; of a sample that
    should have detected it and did not, 1 - chance. Robots tell each other their sums. So the odds are those of all
    samples of the team, but the first detection of each robot counts only as a place.

    Args:
        targets: expected number of targets, K.
        false_alarms: expected number of false alarms in the whole mission, F.

    References:
        S. Thrun, W. Burgard, D. Fox: Probabilistic robotics. 2005, 4.1 and 9.2 (binary Bayes filter in log odds).
        D. Musicki, R. Evans, S. Stankovic: Integrated probabilistic data association. IEEE Transactions on Automatic
        Control 39(6), 1994 (existence from detections and misses).
    """

    def __init__(self, targets: float, false_alarms: float):
        self.candidates: list[Candidate] = []
        self._prior = math.log(targets / max(false_alarms, 1e-6))

    def detect(
        self, identity: int, kind: str, place: Point, sigma_m: float, chance: float, false_density: float
    ) -> Candidate:
        """Process a detection, and return its candidate.

        Args:
            identity, kind: what was detected.
            place: its measured x, y [m].
            sigma_m: standard deviation of each of these [m], with that of the sensor's own place.
            chance: probability that the sensor detects a target there in one sample.
            false_density: false alarms of this identity per sample and area [1/m²].
        """
        found = self._near(identity, place, sigma_m)
        weight = sigma_m**-2
        if found is None:
            found = Candidate(identity, kind, *place, weight, self._prior)
            self.candidates.append(found)
            return found
        variance = sigma_m**2 + 1.0 / found.weight
        off = (place[0] - found.x) ** 2 + (place[1] - found.y) ** 2
        density = math.exp(-0.5 * off / variance) / (2.0 * math.pi * variance)
        ratio = chance * density / max(false_density, 1e-12)
        found.log_odds += min(math.log(max(ratio, 1.0)), _MOST_STEP)
        share = weight / (found.weight + weight)
        found.x += share * (place[0] - found.x)
        found.y += share * (place[1] - found.y)
        found.weight += weight
        found.detections += 1
        return found

    def miss(self, candidate: Candidate, chance: float) -> None:
        """Process a sample that detects a candidate with a chance, if it exists, and did not."""
        candidate.log_odds += max(math.log1p(-min(chance, 0.999)), -_MOST_STEP)

    def own_sums(self) -> tuple[CandidateSums, ...]:
        """Return what this robot itself has seen, for others to `hear`."""
        return tuple(self._own(c) for c in self.candidates if c.own_detections or abs(self._own(c).evidence) > 1e-6)

    def hear(self, name: str, told: Iterable[CandidateSums]) -> None:
        """Take in all that a robot has told; it replaces what the same one told before, also what it tells no more."""
        named = list[Candidate]()
        for new in told:
            found = self._near(new.identity, (new.x, new.y), new.weight**-0.5 if new.weight > 0.0 else 0.0)
            if found is None:
                if new.detections:
                    found = Candidate(new.identity, new.kind, new.x, new.y, new.weight, self._prior + new.evidence)
                    found.detections, found.seen_from, found.reach_m = new.detections, [new.seen_from], new.reach_m
                    found.heard[name] = new
                    self.candidates.append(found)
                    named.append(found)
                continue
            old = found.heard.get(name, new._replace(weight=0.0, evidence=0.0, detections=0))
            weight = found.weight + new.weight - old.weight
            if weight > 0.0:
                found.x = (found.x * found.weight + new.x * new.weight - old.x * old.weight) / weight
                found.y = (found.y * found.weight + new.y * new.weight - old.y * old.weight) / weight
                found.weight = weight
            found.log_odds += new.evidence - old.evidence
            found.detections += new.detections - old.detections
            found.reach_m = max(found.reach_m, new.reach_m)
            if new.seen_from not in found.seen_from:
                found.seen_from = [*found.seen_from[-19:], new.seen_from]
            found.heard[name] = new
            named.append(found)
        for candidate in [c for c in self.candidates if name in c.heard and c not in named]:
            self._unlearn(candidate, name)

    def _unlearn(self, candidate: Candidate, name: str) -> None:
        """Take back what a robot tells no more of a candidate; without a detection left it is forgotten."""
        old = candidate.heard.pop(name)
        candidate.detections -= old.detections
        if candidate.detections < 1:
            self.candidates.remove(candidate)
            return
        weight = candidate.weight - old.weight
        if old.weight > 0.0 and weight > 0.0:
            candidate.x = (candidate.x * candidate.weight - old.x * old.weight) / weight
            candidate.y = (candidate.y * candidate.weight - old.y * old.weight) / weight
            candidate.weight = weight
        candidate.log_odds -= old.evidence

    def _own(self, c: Candidate) -> CandidateSums:
        heard = c.heard.values()
        weight = c.weight - sum(t.weight for t in heard)
        x, y = c.x, c.y
        if c.own_detections and heard:
            x = (c.x * c.weight - sum(t.x * t.weight for t in heard)) / weight
            y = (c.y * c.weight - sum(t.y * t.weight for t in heard)) / weight
        evidence = c.log_odds - self._prior - sum(t.evidence for t in heard)
        counted = weight if c.own_detections else 0.0
        return CandidateSums(c.identity, c.kind, x, y, counted, evidence, c.own_detections, c.seen_from[-1], c.reach_m)

    def forget(self, identity: int | None = None, below: float = 0.0) -> None:
        """Forget the candidates with an identity (None: any) whose probability is at most ``below``; 0: all of them."""
        self.candidates = [
            c for c in self.candidates if not (identity in (None, c.identity) and (not below or c.probability <= below))
        ]

    def worth(self, at_least: float, sigma_m: float, detections: int = 2) -> Iterable[Candidate]:
        """Yield the candidates of its own that exist with a probability, and whose place is known well enough."""
        for candidate in self.candidates:
            sure = candidate.detections >= detections and candidate.probability >= at_least
            if sure and candidate.own_detections and candidate.sigma_m <= sigma_m:
                yield candidate

    def _near(self, identity: int, place: Point, sigma_m: float) -> Candidate | None:
        best, least = None, math.inf
        for candidate in self.candidates:
            if candidate.identity == identity:
                away = math.hypot(candidate.x - place[0], candidate.y - place[1])
                gate = max(3.0 * math.hypot(sigma_m, candidate.sigma_m), _LEAST_GATE_M)
                if away <= gate and away < least:
                    best, least = candidate, away
        return best
