"""`ParticleSlam`: a Rao-Blackwellised particle filter. Each particle is a trajectory with its own map.

The algorithm is gmapping's. Odometry with noise moves each particle. After some way or turning a scan is processed:
each particle climbs to the pose at which the scan fits its own map best, its weight is how well the scan fits there,
and particles are drawn anew when few of them carry the weight. Then the scan is added to every map.

References:
    G. Grisetti, C. Stachniss, W. Burgard: Improved techniques for grid mapping with Rao-Blackwellized particle
    filters. IEEE Transactions on Robotics 23(1), 2007, and its program gmapping.
"""

import math

import numpy as np

from covey.errors import InvalidValueError
from covey.geometry.beams import beam_directions
from covey.geometry.grid import Grid
from covey.geometry.se2 import compose, wrap_angle
from covey.kernel import kernel
from covey.mapping.slam.log import Laser, relative
from covey.mapping.slam.particle_maps import ParticleMaps, beams_of
from covey.mapping.slam.particle_matching import (
    NOTHING,
    MatchSearch,
    NearHits,
    match_particles,
    near_for,
    sample_covariance,
    score,
    search_around,
    view_of,
    window_for,
)
from covey.mapping.slam.particle_settings import ParticleSettings
from covey.random import normal4, uniform2

SLIP_GAIN = 0.1
"""A pose farther away is used if it scores more than the nearer one by this for each beam."""
MATCHED = 0.6
"""A scan between processed ones corrects the motion if it scores more than this for each beam."""
SLIP_BEAMS = 4
"""The wider search looks at one beam in so many."""


class ParticleSlam:
    """Poses and a map from scans and odometry, as they come.

    Args:
        laser: the lidar.
        settings: see `ParticleSettings`.
        key: of the stream of random numbers, see `covey.random.stream_key`.
        start: pose x, y [m], heading [rad] of the robot before the first motion, in the map's frame.

    Examples:
        >>> from covey.random import stream_key
        >>> laser = Laser(np.linspace(-1.5, 1.5, 4), 10.0)
        >>> slam = ParticleSlam(laser, ParticleSettings(), stream_key(0, "particles"))
        >>> pose, revision, covariance = slam.update(np.zeros(3), np.full(4, 2.0))
    """

    def __init__(self, laser: Laser, settings: ParticleSettings, key: np.uint64, start=(0.0, 0.0, 0.0)):
        self.laser, self.settings, self.maps = laser, settings, ParticleMaps(settings.particles, settings.resolution_m)
        self.revision = 0
        """How often the past of the best particle has become another one."""
        self.effective = float(settings.particles)
        """Effective number of particles after the last processed scan, before they were drawn anew."""
        self._key, self._calls, self._best = key, 0, 0
        self._angles = laser.angles  # of the scan at hand
        self._poses = np.tile(np.asarray(start, np.float64), (settings.particles, 1))
        self._weights = np.zeros(settings.particles)  # logarithmic, since particles were last drawn anew
        self._total_weights = np.zeros(settings.particles)  # logarithmic, of the whole trajectory
        self._since = np.zeros(3)  # motion since the last processed scan
        self._pose = self._poses[0].copy()  # of the best particle at the last processed scan
        self._gone, self._turned, self._elapsed = 0.0, 0.0, 0.0
        self._match_covariance = np.zeros((3, 3))  # covariance of the last match of the best particle
        self._search = MatchSearch(
            settings.score_sigma_m2,
            settings.kernel_cells,
            settings.linear_step_m,
            settings.angular_step_rad,
            settings.halvings,
            settings.minimum_score,
            settings.likelihood_sigma_m2,
        )
        self._longest = settings.longest_range_m or laser.range_max
        self._usable = settings.usable_range_m or laser.range_max - 0.01
        self._motions: list[np.ndarray] = []  # of every call, corrected if scans correct them
        self._nodes: list[tuple[int, np.ndarray, np.ndarray]] = []  # call, poses and parents of each processed scan

    def update(
        self, motion: np.ndarray, ranges: np.ndarray, elapsed_s: float = 0.0, angles: np.ndarray | None = None
    ) -> tuple[np.ndarray, int, np.ndarray]:
        """Return the pose (3,), its revision and its covariance (3, 3) after one more scan.

        The pose is that of the best particle at the last processed scan, with the motion since then: odometry, which
        the scans correct if ``match_every_scan``. The covariance
        is the second moment of the particles about it, by weight, that of the match of the best one, and that of the
        place of a wall in its cell, which no particle knows better.

        Args:
            motion: odometry since the last call, x, y [m], heading [rad], in the frame of the robot then.
            ranges: scan [m], (B,); see `Laser.returns`. A scan without returns is not processed, but the first.
            elapsed_s: time since the last call [s], for ``temporal_update_s``.
            angles: bearings of the beams [rad], (B,), in the frame of the lidar; None: those of the lidar.

        Raises:
            InvalidValueError: the motion is not three finite numbers, or the scan has another number of beams.
        """
        self._angles = self.laser.angles if angles is None else angles
        motion, ranges = self._checked(motion, ranges)
        settings = self.settings
        deviations = (
            settings.shift_by_shift,
            settings.shift_by_turn,
            settings.turn_by_shift,
            settings.turn_by_turn,
        )
        move_particles(self._key, self._calls, motion, deviations, self._poses)
        self._gone += math.hypot(motion[0], motion[1])
        self._turned += abs(motion[2])
        if self.settings.match_every_scan and self._nodes:
            motion = self._corrected(motion, ranges)
        self._since = compose(self._since, motion)
        self._elapsed += elapsed_s
        self._motions.append(motion)
        self._calls += 1
        timed = settings.temporal_update_s is not None and self._elapsed >= settings.temporal_update_s
        due = self._gone >= settings.linear_update_m or self._turned >= settings.angular_update_rad or timed
        if due or not self.maps.table.size:
            self._process(ranges)
        pose = compose(self._pose, self._since)
        return pose, self.revision, self._covariance(pose)

    @property
    def processed(self) -> int:
        """Number of scans processed so far."""
        return len(self._nodes)

    @property
    def processed_rows(self) -> np.ndarray:
        """Which scans were processed, counted from 0, (k,)."""
        return np.array([call for call, _, _ in self._nodes], np.int64)

    @property
    def scans(self) -> int:
        """Number of scans so far."""
        return self._calls

    @property
    def processed_last(self) -> bool:
        """Whether the last scan was processed."""
        return bool(self._nodes) and self._nodes[-1][0] == self._calls - 1

    def trajectory(self) -> np.ndarray:
        """Return the poses of the best particle at all calls so far, (n, 3).

        Between processed scans the poses follow the motions that the calls found; what these miss of the way to the
        next processed scan is shared out by way and turning.
        """
        poses, calls, index = [], [], self._best
        for call, at, parents in reversed(self._nodes):
            poses.append(at[index])
            calls.append(call)
            index = parents[index]
        if not poses:
            return np.zeros((0, 3))
        return bridged(
            np.array(self._motions),
            np.array(calls[::-1]),
            np.array(poses[::-1]),
            self.settings.linear_update_m,
            self.settings.angular_update_rad,
        )

    def map(self) -> Grid:
        """Return the map of the best particle: occupied 100, free 0, unknown -1."""
        return self.maps.grid(self._best, self.settings.occupied_above)

    def _process(self, ranges: np.ndarray) -> None:
        """Match a scan, weigh and draw the particles, and add the scan to the maps."""
        matched, marked = self._beams(ranges)
        if not len(marked) and self._nodes:
            return
        parents, before = np.arange(self.settings.particles), self._best
        if self._nodes:
            window, near = window_for(matched, self.maps.resolution), near_for(len(matched), self.settings.kernel_cells)
            self._match_and_weigh(matched, window, near)
            parents = self._draw()
            self._best = int(np.argmax(self._total_weights))
            self._sample_match(matched, window, near)
        self.maps.add(self._poses, marked)
        self.revision += int(parents[self._best]) != before
        self._pose = self._poses[self._best].copy()
        self._nodes.append((self._calls - 1, self._poses.copy(), parents))
        self._since, self._gone, self._turned, self._elapsed = np.zeros(3), 0.0, 0.0, 0.0

    def _corrected(self, motion: np.ndarray, ranges: np.ndarray) -> np.ndarray:
        """Return the motion since the last call after the scan is matched with the map of the best particle.

        The heading is that of the match. The way is odometry's, unless the match is a cell or more away and scores more
        by `SLIP_GAIN` for each beam.

        References: D. Hähnel, W. Burgard, D. Fox, S. Thrun, as in `_after_slip`.
        """
        beams, _ = self._beams(ranges)
        pose = compose(self._pose, compose(self._since, motion))
        window, near = window_for(beams, self.maps.resolution), near_for(len(beams), self.settings.kernel_cells)
        maps = self.maps
        poses, scores, out = pose[None].copy(), np.empty(1), np.empty(1)
        table = maps.table[self._best : self._best + 1]
        match_particles(table, maps.store, maps.frame, poses, beams, self._search, window, near, scores, out)
        if scores[0] <= MATCHED * len(beams):
            return motion
        x, y, heading = pose[0], pose[1], poses[0, 2]
        view = view_of(table, maps.store, maps.frame, 0, pose, window)
        gained = scores[0] - score(view, near, maps.frame, x, y, heading, beams, self._search, -1.0)
        if math.hypot(*(poses[0, :2] - pose[:2])) < maps.resolution or gained <= SLIP_GAIN * len(beams):
            poses[0, :2] = pose[:2]
        return relative(compose(self._pose, self._since), poses[0])

    def _match_and_weigh(self, beams: np.ndarray, window: np.ndarray, near: NearHits) -> None:
        poses, scores, likelihoods = self._match(self._poses, beams, window, near)
        if scores.mean() < self.settings.slipped_below * len(beams):
            others, their_scores, theirs = self._match(self._after_slip(beams, window, near), beams, window, near)
            better = their_scores > scores + SLIP_GAIN * len(beams)
            poses[better], likelihoods[better] = others[better], theirs[better]
        self._poses = poses
        self._weights += likelihoods
        self._total_weights += likelihoods

    def _match(
        self, poses: np.ndarray, beams: np.ndarray, window: np.ndarray, near: NearHits
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the matched poses, their scores and log-likelihoods."""
        maps, poses, scores, likelihoods = self.maps, poses.copy(), np.empty(len(poses)), np.empty(len(poses))
        match_particles(
            maps.table, maps.store, maps.frame, poses, beams, self._search, window, near, scores, likelihoods
        )
        poses[:, 2] = wrap_angle(poses[:, 2])
        return poses, scores, likelihoods

    def _after_slip(self, beams: np.ndarray, window: np.ndarray, near: NearHits) -> np.ndarray:
        """Return poses (n, 3) to match from: each particle moves as the best one does that is looked for farther away.

        References: D. Hähnel, W. Burgard, D. Fox, S. Thrun: An efficient FastSLAM algorithm for generating maps of
        large-scale cyclic environments from raw laser range measurements. IROS 2003 (scans correct the odometry that
        all particles share).
        """
        maps, pose, found = self.maps, compose(self._pose, self._since), np.empty(3)
        view = view_of(maps.table, maps.store, maps.frame, self._best, pose, window)
        near.key[:] = NOTHING
        beams = np.ascontiguousarray(beams[::SLIP_BEAMS])
        reach = self.settings.slip_m, self.settings.slip_rad
        search_around(view, near, maps.frame, pose, beams, self._search, reach, found)
        return compose(self._nodes[-1][1], relative(self._pose, found))

    def _draw(self) -> np.ndarray:
        """Draw particles anew if few carry the weight; return the parent of each, (n,)."""
        count, weights = self.settings.particles, normalized(self._weights, self.settings.likelihood_gain)
        self.effective = effective(weights)
        if self.effective >= self.settings.resample_below * count:
            return np.arange(count)
        parents = systematic(weights, uniform2(self._key, self._calls, count)[0])
        self._poses, self._total_weights = self._poses[parents], self._total_weights[parents]
        self._weights[:] = 0.0
        self.maps.draw(parents)
        return parents

    def _sample_match(self, beams: np.ndarray, window: np.ndarray, near: NearHits) -> None:
        s, maps, pose = self.settings, self.maps, self._poses[self._best]
        view = view_of(maps.table, maps.store, maps.frame, self._best, pose, window)
        lattice = s.sampling_range_m, s.sampling_step_m, s.sampling_range_rad, s.sampling_step_rad
        near.key[:] = NOTHING
        sample_covariance(
            view, near, maps.frame, pose, beams, self._search, s.likelihood_gain, lattice, self._match_covariance
        )

    def _covariance(self, pose: np.ndarray) -> np.ndarray:
        weights = normalized(self._weights, self.settings.likelihood_gain)
        away = self._poses - pose
        away[:, 2] = wrap_angle(away[:, 2])
        of_cell = self.settings.resolution_m**2 / 12.0  # a wall is anywhere in its cell, in the maps of all particles
        return (weights[:, None] * away).T @ away + self._match_covariance + np.diag([of_cell, of_cell, 0.0])

    def _beams(self, ranges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the beams to match, in cells, and those to add to the maps, in metres."""
        usable, longest = self._usable, self._longest
        heard = self.laser.returns(ranges) & (ranges < longest)
        reach = np.where(heard, np.minimum(ranges, usable), 0.0)
        along = beam_directions(self._angles + self.laser.mount[2])
        ends = np.array(self.laser.mount[:2]) + reach[:, None] * along
        hit = heard & (ranges < usable)
        matched = hit & ((np.arange(len(ranges)) + 1) % (self.settings.skipped_beams + 1) == 0)
        return (
            np.column_stack((ends[matched] / self.maps.resolution, along[matched])),
            beams_of(ends[heard], hit[heard], self.laser.mount[:2]),
        )

    def _checked(self, motion: np.ndarray, ranges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        given = np.array(motion, np.float64)
        if given.shape != (3,) or not np.isfinite(given).all():
            raise InvalidValueError(
                f"the motion since the last scan is {motion!r:.60}; particles need odometry: three finite numbers, "
                "x, y [m] and heading [rad]"
            )
        scan = np.asarray(ranges, np.float64)
        if scan.shape != self._angles.shape:
            raise InvalidValueError(
                f"the scan has the shape {scan.shape}; the laser has {len(self._angles)} beams, so it must be "
                f"({len(self._angles)},)"
            )
        return given, scan


@kernel
def move_particles(key, sample, motion, deviations, poses):
    """Move each pose, in place, by an odometry motion with noise: gmapping's model.

    Args:
        key, sample: of the random numbers.
        motion: float64 (3,), in the frame of the robot before it.
        deviations: of the way per way and per turning, of the turning per way and per turning.
        poses: float64 (n, 3).
    """
    dx, dy, turn = abs(motion[0]), abs(motion[1]), abs(motion[2])
    way_way, way_turn, turn_way, turn_turn = deviations
    along = way_way * dx + way_turn * turn + 0.3 * way_way * dy
    across = way_way * dy + way_turn * turn + 0.3 * way_way * dx
    turning = turn_turn * turn + turn_way * math.sqrt(dx * dx + dy * dy)
    for p in range(poses.shape[0]):
        a, b, c, _ = normal4(key, sample, p)
        x, y = motion[0] + along * a, motion[1] + across * b
        cos, sin = math.cos(poses[p, 2]), math.sin(poses[p, 2])
        poses[p, 0] += cos * x - sin * y
        poses[p, 1] += sin * x + cos * y
        poses[p, 2] = (poses[p, 2] + motion[2] + turning * c + math.pi) % (2.0 * math.pi) - math.pi


def normalized(log_weights: np.ndarray, gain: float) -> np.ndarray:
    """Return the weights, exp(w / (gain n)) with sum 1, of n logarithmic ones."""
    weights = np.exp((log_weights - log_weights.max()) / (gain * len(log_weights)))
    return weights / weights.sum()


def effective(weights: np.ndarray) -> float:
    """Return the effective number of particles, 1 / sum of w², of weights with sum 1.

    References: J. S. Liu: Metropolized independent sampling with comparisons to rejection sampling and importance
    sampling. Statistics and Computing 6, 1996.
    """
    return float(1.0 / (weights * weights).sum())


def systematic(weights: np.ndarray, u: float) -> np.ndarray:
    """Return the parents of n new particles: those in whose share of the weight the points (i + u) / n fall.

    References: J. Carpenter, P. Clifford, P. Fearnhead: Improved particle filter for nonlinear problems. IEE
    Proceedings Radar, Sonar and Navigation 146(1), 1999.
    """
    n = len(weights)
    points = (np.arange(n) + u) / n * weights.sum()
    return np.minimum(np.searchsorted(np.cumsum(weights), points, side="right"), n - 1)


def bridged(motions: np.ndarray, calls: np.ndarray, nodes: np.ndarray, metre: float, radian: float) -> np.ndarray:
    """Return poses (n, 3) at all calls from those at some: odometry between them, its error shared out.

    Args:
        motions: from the call before to each call, (n, 3); the first one does not count.
        calls: at which the poses are known, increasing, from 0 on, (k,).
        nodes: poses known, (k, 3).
        metre, radian: way [m] and turning [rad] that bring the same share of the error.
    """
    motions = np.vstack((np.zeros((1, 3)), motions[1:]))
    heading = np.cumsum(motions[:, 2])
    along = compose(np.column_stack((np.zeros((len(motions), 2)), heading - motions[:, 2])), motions)
    odometry = np.column_stack((np.cumsum(along[:, :2], axis=0), heading))
    effort = np.hypot(motions[:, 0], motions[:, 1]) / (metre or 1.0) + np.abs(motions[:, 2]) / (radian or 1.0)
    effort = np.cumsum(effort + 1e-9)
    before = np.searchsorted(calls, np.arange(len(motions)), side="right") - 1
    poses = compose(nodes[before], relative(odometry[calls[before]], odometry))
    inner = before < len(calls) - 1
    first, last = calls[before[inner]], calls[before[inner] + 1]
    error = nodes[1:] - compose(nodes[:-1], relative(odometry[calls[:-1]], odometry[calls[1:]]))
    error[:, 2] = wrap_angle(error[:, 2])
    share = (effort[inner] - effort[first]) / (effort[last] - effort[first])
    poses[inner] += share[:, None] * error[before[inner]]
    poses[:, 2] = wrap_angle(poses[:, 2])
    return poses
