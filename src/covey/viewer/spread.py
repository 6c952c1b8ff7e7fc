"""`Spread`: how uncertain the pose estimates are, by the model of the localization of each robot."""

from typing import Any

import numpy as np

from covey.kernel import kernel
from covey.mapping.localization import Noise, Odometry, Truth
from covey.results.snapshot import Snapshot
from covey.runtime.simulation import Simulation


class Spread:
    """Covariances of the estimates, as a filter of each robot would predict them. It only reads.

    ``truth`` has none, that of ``noise`` is constant. That of ``odometry`` grows with each sample of the sensor, to
    first order, by the noise model of its record; faults and being carried are not in it. Of other localizers it is
    not known.

    Args:
        sim: the simulation, before its first step.

    Attributes:
        covariance: of x [m], y [m] and heading [rad] in the world frame, float64 (n, 3, 3); NaN: not known.

    References:
        S. Thrun, W. Burgard, D. Fox: Probabilistic Robotics. MIT Press 2005, section 7.4 (the prediction of the
        extended Kalman filter).
    """

    def __init__(self, sim: Simulation):
        self._sim = sim
        self.covariance = np.full((len(sim.names), 3, 3), np.nan)
        self._reckoning: list[tuple[np.ndarray, Any, np.ndarray]] = []
        first = 0
        for group in sim.groups:
            members, kind = np.arange(first, first + len(group.start)), group.localization
            first += len(members)
            if isinstance(kind, Truth | Odometry):
                self.covariance[members] = 0.0
            elif isinstance(kind, Noise):
                self.covariance[members] = np.diag((kind.sigma_m, kind.sigma_m, kind.sigma_rad)) ** 2
            bank = sim.sensing.first_of(members, "odometry") if isinstance(kind, Odometry) else None
            if bank is not None:
                self._reckoning.append((members, bank, np.array([bank.row_of[i] for i in members.tolist()])))

    def take(self, snapshot: Snapshot) -> None:
        """Take in a step; the estimates of the first one are the true poses."""
        for members, bank, rows in self._reckoning if snapshot.step > 1 else ():
            motions = [sample.readings.motion[rows] for sample in bank.samples]
            if motions:
                heading = self._sim.localization.pose[members, 2] - np.sum(motions, axis=0)[:, 2]
                grow(self.covariance, members, heading, np.array(motions), *bank.record.noise_model)

    @property
    def of_places(self) -> np.ndarray:
        """Variance of x, covariance, and variance of y [m2], float32 (n, 3)."""
        return self.covariance[:, [0, 0, 1], [0, 1, 1]].astype(np.float32)


@kernel
def grow(covariance, members, heading, motions, model, a):
    """Predict covariances over motions of dead reckoning: F P F' + G Q G'.

    Args:
        covariance: (n, 3, 3), changed in place.
        members: rows of it, int64 (m,).
        heading: estimated headings before the motions [rad], (m,).
        motions: (k, m, 3), dx, dy [m], dheading [rad] in the body frame, one after the other.
        model, a: noise, see `covey.sensors.odometry.Odometry.noise_model`.
    """
    noise, jacobian = np.zeros((3, 3)), np.zeros((3, 3))
    for i in range(members.shape[0]):
        angle = heading[i]
        for k in range(motions.shape[0]):
            dx, dy, turn = motions[k, i]
            noise[:] = 0.0
            away, size = np.hypot(dx, dy), abs(turn)
            if model == 1:
                noise[0, 0] = (a[0] * abs(dx) + a[2] * size + 0.3 * a[0] * abs(dy)) ** 2
                noise[1, 1] = (a[0] * abs(dy) + a[2] * size + 0.3 * a[0] * abs(dx)) ** 2
                noise[2, 2] = (a[3] * size + a[1] * away) ** 2
            elif model == 2:  # an arc of this length: dx = length sin(turn) / turn, dy = length (1 - cos(turn)) / turn
                small = size < 1e-6
                sinc = 1.0 - turn * turn / 24.0 if small else np.sin(0.5 * turn) / (0.5 * turn)
                length = np.copysign(away, dx) / sinc
                by_length_x = 1.0 if small else np.sin(turn) / turn
                by_length_y = 0.5 * turn if small else (1.0 - np.cos(turn)) / turn
                by_turn_x = -length * turn / 3.0 if small else length * (np.cos(turn) - by_length_x) / turn
                by_turn_y = 0.5 * length if small else length * (np.sin(turn) - by_length_y) / turn
                l2, t2 = length * length, turn * turn
                of_length, of_turn = a[0] * l2 + a[1] * t2, a[2] * l2 + a[3] * t2
                noise[0, 0] = by_length_x**2 * of_length + by_turn_x**2 * of_turn
                noise[1, 1] = by_length_y**2 * of_length + by_turn_y**2 * of_turn
                noise[0, 1] = by_length_x * by_length_y * of_length + by_turn_x * by_turn_y * of_turn
                noise[0, 2], noise[1, 2] = by_turn_x * of_turn, by_turn_y * of_turn
                noise[2, 2] = of_turn + a[4] * l2 + a[5] * t2
                noise[1, 0], noise[2, 0], noise[2, 1] = noise[0, 1], noise[0, 2], noise[1, 2]
            c, s = np.cos(angle), np.sin(angle)
            turned = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
            jacobian[:] = np.eye(3)
            jacobian[0, 2], jacobian[1, 2] = -s * dx - c * dy, c * dx - s * dy
            before = covariance[members[i]].copy()
            covariance[members[i]] = jacobian @ before @ jacobian.T + turned @ noise @ turned.T
            angle += turn
