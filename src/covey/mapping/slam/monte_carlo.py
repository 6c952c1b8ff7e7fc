"""Monte Carlo localization in a known map, with an adaptive number of particles and recovery."""

import math
from typing import NamedTuple

import numpy as np

from covey.errors import InvalidValueError
from covey.geometry.grid import Grid
from covey.geometry.se2 import compose
from covey.kernel import kernel
from covey.mapping.slam.kld import clusters, moments, resample
from covey.mapping.slam.known_map_settings import KnownMapSettings
from covey.mapping.slam.likelihood_field import LikelihoodField
from covey.mapping.slam.log import Laser
from covey.random import normal4, philox

_CANDIDATES = 1 << 34  # elements of the random stream from here on are for poses all over the map
_TO_UNIT = 2.0**-32
_GLANCE = 5  # candidates are judged by every fifth of the beams that are used
DOUBTS = 0.05
"""Below this, that scans fit worse than they used to is chance, and no particle is drawn anew."""
EFFECTIVE = 0.05
"""Least share of effective particles: where fewer would bear all the weight, the scan is taken as less certain."""
_SURE = 0.99  # certainty above which the covariance is that of one place
LOST = 0.1, 0.5
"""A robot is lost above this doubt, or below this certainty."""


class StartPose(NamedTuple):
    """A start pose that is roughly known.

    Attributes:
        pose: x, y [m], heading [rad].
        deviations: standard deviations of x, y [m] and heading [rad].
    """

    pose: tuple[float, float, float]
    deviations: tuple[float, float, float]


class MonteCarlo:
    """The pose of one robot in a known map, as weighted particles.

    Each update moves the particles by the measured motion with random errors, weights them by the scan, and draws new
    ones by weight: as many as the bins that they occupy need. If the scans fit worse than they used to, a share of the
    particles comes from poses all over the map that fit the scan.

    Args:
        laser: the lidar.
        occupancy: the map, -1 unknown, 0 free, 100 occupied, int8 (rows, columns).
        grid: resolution and origin of its cells; its own cells are not used.
        settings: see there.
        key: key of its random stream, see `covey.random.stream_key`.
        start: where it starts; None: anywhere on free cells.
        field: the likelihood field of another robot with the same map, lidar and settings; None: its own.

    Attributes:
        particles: poses x, y [m], heading [rad], (n, 3).
        weights: their weights (n,), of sum 1.
        updates: how often the filter has worked.
        fit: how many beams of the last scan ended at a wall of the map, from 0 to 1: the mean of exp(-d^2 / 2 sigma^2)
            over beams and particles, where d is the distance from the wall.
        doubt: how much worse the scans fit than they used to, from 0 to 1: 1 - the quick average of ``fit`` / the slow
            one; 1 before the first scan at an unknown start. It is the prior probability that the robot has been put
            elsewhere.
        certainty: weight of the particles around the estimate at the last update, from 0 to 1.

    Raises:
        InvalidValueError: the map is not one, or the start has negative or not finite numbers.

    References:
        S. Thrun, W. Burgard, D. Fox: Probabilistic Robotics. MIT Press 2005: motion, table 5.6; likelihood field, table
        6.3; recovery (augmented MCL), table 8.3. D. Fox: Adapting the sample size in particle filters through
        KLD-sampling. IJRR 22, 2003. S. Lenser, M. Veloso: Sensor resetting localization for poorly modelled mobile
        robots. ICRA 2000 (new particles from the scan).
    """

    def __init__(
        self,
        laser: Laser,
        occupancy: np.ndarray,
        grid: Grid,
        settings: KnownMapSettings,
        key: np.uint64,
        start: StartPose | None = None,
        field: LikelihoodField | None = None,
    ):
        s = settings
        self.settings, self._key, self._laser = s, np.uint64(key), laser
        self._field = LikelihoodField(occupancy, grid, s, laser.range_max) if field is None else field
        self._noise = np.array(
            [s.turn_from_turn, s.turn_from_way, s.way_from_way, s.way_from_turn, s.sideways_from_way]
        )
        beams = len(laser.angles)
        used = np.unique(np.linspace(0, beams - 1, min(s.max_beams, beams)).round().astype(np.int64))
        self._used = used[:-1] if len(used) > 2 and _full_turn(laser.angles[used]) else used
        self._since, self.updates, self._begun = np.zeros(3), 0, False
        self._spread = np.zeros((3, 3))  # of the particles about the estimate
        self.fit, self.certainty, self._fast, self._slow, self._likelihood = 1.0, 1.0, 0.0, 0.0, 0.0
        self.doubt = 1.0 if start is None else 0.0
        if start is None:
            self.particles = self._anywhere(s.max_particles)
        else:
            self.particles = self._around(start)
        self.weights = np.full(len(self.particles), 1.0 / len(self.particles))
        self._pose = self._estimate()
        self._covariance = self._spread.copy()

    @property
    def count(self) -> int:
        """Number of particles."""
        return len(self.particles)

    @property
    def is_lost(self) -> bool:
        """Whether the estimate is not to be trusted: scans fit worse than they used to, or it is one of several."""
        return self.doubt > LOST[0] or self.certainty < LOST[1]

    def update(self, motion: np.ndarray, ranges: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
        """Return the estimate after a motion and a scan.

        Args:
            motion: measured motion since the last call, x, y [m], heading [rad], (3,), in the robot's frame before it.
            ranges: the scan at the end of the motion [m], (B,); None: there is none.

        Returns:
            The pose (3,), the mean of the particles of the largest cluster, and its covariance (3, 3), both as of the
            last time that the filter worked, with the motion since added to the pose, and its errors to the covariance.
            While the filter is not sure, the covariance is that of all particles about the pose; else see `_error`.
        """
        self._since = compose(self._since, np.asarray(motion, np.float64))
        away, turn = math.hypot(self._since[0], self._since[1]), abs(self._since[2])
        s = self.settings
        if ranges is not None and (not self._begun or away >= s.update_distance_m or turn >= s.update_angle_rad):
            beams = self._beams(ranges)
            if len(beams):
                self._work(beams)
        return compose(self._pose, self._since), predict(self._covariance, self._pose, self._since, self._noise)

    def _beams(self, ranges: np.ndarray) -> np.ndarray:
        """Return the beams used that return, (k, 4), see `LikelihoodField.score`."""
        if len(ranges) != len(self._laser.angles):
            raise InvalidValueError(f"the scan has {len(ranges)} ranges; the lidar has {len(self._laser.angles)} beams")
        x, y, turn = self._laser.mount
        used = self._used[self._laser.returns(ranges[self._used])]
        r, angle = np.asarray(ranges, np.float64)[used], self._laser.angles[used] + turn
        c, s = np.cos(angle), np.sin(angle)
        return np.column_stack((x + r * c, y + r * s, c, s))

    def _work(self, beams: np.ndarray) -> None:
        """Move, weight and draw the particles."""
        self._begun, sure = True, False
        self.updates += 1
        move(self.particles, self._since, self._noise, self._key, self.updates)
        if self.doubt < 1.0:
            before, predicted = np.empty((3, 3)), predict(self._covariance, self._pose, self._since, self._noise)
            moments(self.particles, self.weights, np.zeros(self.count, np.int64), 0, before)
            self._weigh(beams)
            sure = self.certainty > _SURE and self.doubt <= DOUBTS
            self._covariance = self._error(predicted, before, beams) if sure else self._covariance
        self._since = np.zeros(3)
        self._draw(beams)
        if not sure:
            self._covariance = self._spread.copy()

    def _error(self, predicted: np.ndarray, before: np.ndarray, beams: np.ndarray) -> np.ndarray:
        """Return the covariance of the errors of the estimate, which is smaller than that of the particles.

        The particles suppose ends of beams with the deviation of the settings, so that they find the robot again when
        the map is wrong. If they spread P before a scan and P' after it, the estimate keeps A = P' P^-1 of the error it
        had, and the scan adds r (P' - A P'), where r is the square of how far the beams really end from the walls, in
        those deviations. The finite number n of particles adds P' / n.

        Args:
            predicted: covariance of the error before the scan, (3, 3).
            before: covariance P of the particles then, (3, 3).
            beams: of the scan.

        References:
            A. Gelb (ed.): Applied Optimal Estimation. MIT Press 1974, chapter 7 (the errors of a filter that supposes
            another noise than the true one).
        """
        after = self._spread
        kept = np.linalg.solve(before + 1e-12 * np.eye(3), after).T
        by_scan = after - kept @ after
        values, vectors = np.linalg.eigh(0.5 * (by_scan + by_scan.T))
        _, fit = self._field.score(self._pose[None], beams)
        ratio = min(1.0, -2.0 * math.log(max(float(fit[0]), 1e-9)))
        by_scan = (vectors * np.maximum(values, 0.0)) @ vectors.T
        found = kept @ predicted @ kept.T + ratio * by_scan + after / self.count
        return 0.5 * (found + found.T)

    def _weigh(self, beams: np.ndarray) -> None:
        log_density, fit = self._field.score(self.particles, beams)
        scale, before = self._scale(beams), self.weights
        self._likelihood, self.weights = _posterior(before, scale * log_density)
        self.fit = float(self.weights @ fit)
        while 1.0 / np.sum(self.weights**2) < EFFECTIVE * len(before) and scale > 1.0:
            scale *= 0.5
            self.weights = _posterior(before, scale * log_density)[1]
        self._pose = self._estimate()
        s = self.settings
        if self._slow == 0.0:
            self._fast = self._slow = self.fit
        self._fast += s.recovery_fast * (self.fit - self._fast)
        self._slow += s.recovery_slow * (self.fit - self._slow)
        self.doubt = max(0.0, 1.0 - self._fast / self._slow) if s.recovery_fast and s.recovery_slow else 0.0

    def _scale(self, beams: np.ndarray) -> float:
        """Return how many independent beams the scan counts as."""
        return min(self.settings.independent_beams, float(len(beams)))

    def _draw(self, beams: np.ndarray) -> None:
        """Draw new particles; in doubt some from poses all over the map that fit the scan."""
        s = self.settings
        shares, candidates, chances, fit = (0.0, 0.0), np.empty((0, 3)), np.empty(0), np.empty(0)
        if self.doubt > DOUBTS:
            candidates = self._anywhere(s.candidates)
            log_density, fit = self._field.score(candidates, beams[::_GLANCE])
            even = np.full(len(candidates), 1.0 / len(candidates))
            likelihood, chances = _posterior(even, self._scale(beams) * log_density)
            share = self._share_of(likelihood)
            shares = max(share, self.doubt), share
        elif self.updates % s.resample_interval:
            return
        out, weights = np.empty((s.max_particles, 3)), np.empty(s.max_particles)
        random = self._key, self.updates, s.kld_error, s.kld_quantile, s.min_particles
        count = resample(self.particles, self.weights, candidates, chances, shares, *random, out, weights)
        self.particles, self.weights = out[:count], weights[:count] / weights[:count].sum()
        if self.doubt == 1.0:
            self._fast = self._slow = float(fit.max())
            self._weigh(beams)

    def _share_of(self, likelihood: float) -> float:
        """Return the probability that the robot has been put elsewhere, given the likelihood of the scan there."""
        p = self.doubt
        return p if p == 1.0 else 1.0 / (1.0 + (1.0 - p) / p * math.exp(min(self._likelihood - likelihood, 700.0)))

    def _estimate(self) -> np.ndarray:
        """Return the mean of the heaviest cluster; keep the spread of all particles about it."""
        label = np.empty(len(self.particles), np.int64)
        clusters(self.particles, label)
        weight = np.bincount(label, self.weights)
        best = int(weight.argmax())
        self.certainty = float(weight[best])
        return np.array(moments(self.particles, self.weights, label, best, self._spread))

    def _anywhere(self, count: int) -> np.ndarray:
        """Return poses (count, 3), uniform on the free cells of the map."""
        out = np.empty((count, 3))
        scatter(self._field.free, self._field.frame, self._key, self.updates, out)
        return out

    def _around(self, start: StartPose) -> np.ndarray:
        pose, deviations = np.array(start.pose, np.float64), np.array(start.deviations, np.float64)
        if not (np.isfinite(pose).all() and np.isfinite(deviations).all() and (deviations >= 0).all()):
            raise InvalidValueError(f"the start is {start}; it needs finite numbers and no negative deviation")
        out = np.empty((self.settings.max_particles, 3))
        gather(pose, deviations, self._key, out)
        return out


def _posterior(weights: np.ndarray, log_likelihood: np.ndarray) -> tuple[float, np.ndarray]:
    """Return the logarithm of the mean likelihood, and the new weights, of sum 1."""
    most = log_likelihood.max()
    weights = weights * np.exp(log_likelihood - most)
    total = weights.sum()
    return float(most + np.log(total)), weights / total


def _full_turn(angles: np.ndarray) -> bool:
    """Return whether the last of the beams lies as near to the first as to the one before it, or nearer."""
    step = angles[-1] - angles[-2]
    return bool(2.0 * math.pi - (angles[-1] - angles[0]) < 0.5 * step)


@kernel
def gather(pose, deviations, key, out):
    """Fill ``out`` (n, 3) with poses around a pose (3,)."""
    for i in range(out.shape[0]):
        a, b, c, _ = normal4(key, 0, i)
        out[i, 0], out[i, 1] = pose[0] + deviations[0] * a, pose[1] + deviations[1] * b
        out[i, 2] = _wrap(pose[2] + deviations[2] * c)


@kernel
def scatter(cells, frame, key, sample, out):
    """Fill ``out`` (n, 3) with poses that are uniform on cells, int64 (k, 2), of a grid with this frame."""
    x0, y0, gc, gs, resolution = frame
    for i in range(out.shape[0]):
        a, b, c, d = philox(key, np.uint64(sample), np.uint64(_CANDIDATES + i))
        k = min(int((i + (a + 0.5) * _TO_UNIT) / out.shape[0] * cells.shape[0]), cells.shape[0] - 1)  # evenly
        u, v = (cells[k, 1] + (b + 0.5) * _TO_UNIT) * resolution, (cells[k, 0] + (c + 0.5) * _TO_UNIT) * resolution
        out[i, 0], out[i, 1] = x0 + gc * u - gs * v, y0 + gs * u + gc * v
        out[i, 2] = ((d + 0.5) * _TO_UNIT - 0.5) * 2.0 * math.pi


@kernel
def move(particles, motion, noise, key, sample):
    """Move particles (n, 3) in place by a measured motion (3,) with random errors: turn, way, turn.

    Args:
        noise: a1 turn from turn, a2 turn from way, a3 way from way, a4 way from turn, a5 sideways from way. The
            variance of the first turn is a1 turn^2 + a2 way^2, that of the way a3 way^2 + a4 (turn1^2 + turn2^2). A
            turn to drive backwards counts as the small one. Below 1 cm the direction of the way is not known: it is
            taken as straight ahead.

    References:
        S. Thrun, W. Burgard, D. Fox: Probabilistic Robotics. MIT Press 2005, table 5.6 (with variances, as the text
        above it); backward driving and the limit of 1 cm as in AMCL.
    """
    way, first, second, of_turn1, of_turn2, of_way, of_side = motion_errors(motion, noise)
    for i in range(particles.shape[0]):
        a, b, c, d = normal4(key, sample, i)
        heading = particles[i, 2] + first + of_turn1 * a
        ahead, left = way + of_way * b, of_side * d
        particles[i, 0] += ahead * math.cos(heading) - left * math.sin(heading)
        particles[i, 1] += ahead * math.sin(heading) + left * math.cos(heading)
        particles[i, 2] = _wrap(heading + second + of_turn2 * c)


@kernel
def motion_errors(motion, noise):
    """Return way, first and second turn of a motion (3,), and deviations of both turns, way and side, see `move`."""
    way = math.hypot(motion[0], motion[1])
    first = math.atan2(motion[1], motion[0]) if way >= 0.01 else 0.0
    second = _wrap(motion[2] - first)
    turn1 = min(abs(first), math.pi - abs(first))
    turn2 = min(abs(second), math.pi - abs(second)) if way >= 0.01 else abs(second)
    of_turn1 = math.sqrt(noise[0] * turn1 * turn1 + noise[1] * way * way)
    of_turn2 = math.sqrt(noise[0] * turn2 * turn2 + noise[1] * way * way)
    of_way = math.sqrt(noise[2] * way * way + noise[3] * (turn1 * turn1 + turn2 * turn2))
    of_side = math.sqrt(noise[4]) * way
    return way, first, second, of_turn1, of_turn2, of_way, of_side


def predict(covariance: np.ndarray, pose: np.ndarray, motion: np.ndarray, noise: np.ndarray) -> np.ndarray:
    """Return the covariance (3, 3) of a pose after a measured motion, to first order; ``noise`` as in `move`."""
    way, first, _, *deviations = motion_errors(motion, noise)
    c, s = math.cos(pose[2] + first), math.sin(pose[2] + first)
    by_pose = np.array([[1.0, 0.0, -way * s], [0.0, 1.0, way * c], [0.0, 0.0, 1.0]])
    by_errors = np.array([[-way * s, 0.0, c, -s], [way * c, 0.0, s, c], [1.0, 1.0, 0.0, 0.0]]) * deviations
    return by_pose @ covariance @ by_pose.T + by_errors @ by_errors.T


@kernel
def _wrap(angle):
    return (angle + math.pi) % (2.0 * math.pi) - math.pi
