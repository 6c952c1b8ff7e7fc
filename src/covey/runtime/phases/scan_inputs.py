"""Scans as the software of robots gets them: how a robot has moved since, and what its other sensors show."""

import numpy as np

from covey.clock import Clock
from covey.geometry.se2 import compose, inverse
from covey.mapping.occupancy.team_mates import MARGIN_M, Mates, without_mates
from covey.onboard.step import ScanInput
from covey.robots.team import TeamState
from covey.runtime.phases.sensing import BankSample, Sensing, SensorBank


class ScanInputs:
    """Scans of a team. The simulation knows exactly what odometry bridges.

    Attributes:
        reach_m: returns within this distance of a team mate's centre are on the mate [m].
    """

    def __init__(self, sensing: Sensing, state: TeamState, clock: Clock):
        self._sensing, self._state, self._clock = sensing, state, clock
        self.reach_m = float(sensing.model.radius.max()) + MARGIN_M

    def of(self, bank: SensorBank, sample: BankSample, rows: np.ndarray, members: np.ndarray) -> dict[int, ScanInput]:
        """Return a sample of a lidar for the software of each of some robots, by team index."""
        mates, since = self.mates(bank, sample, members), self.since(sample, members)
        taken_s, ranges = sample.substep * self._clock.substep_s, sample.readings.ranges
        return {
            robot: ScanInput(
                taken_s,
                ranges[rows[k]],
                None if since is None else since[k],
                None if mates is None else mates.of(k),
            )
            for k, robot in enumerate(members.tolist())
        }

    def since(self, sample: BankSample, members: np.ndarray) -> np.ndarray | None:
        """Return the motion of robots since a sample, (m, 3), which odometry bridges exactly; None: it is of now."""
        if sample.substep == self._clock.now:
            return None
        return compose(inverse(sample.pose[members]), self._state.pose[members])

    def mates(self, bank: SensorBank, sample: BankSample, members: np.ndarray) -> Mates | None:
        """Return the mates that the neighbours sensor of robots shows around a scan of a lidar; None: it has none.

        Odometry bridges the time between the two sensors exactly: a robot that turns sees mates elsewhere soon.
        """
        feeding = self._sensing.feeding("mates") if bank.record.sees_robots else []
        neighbours = next((each for each in feeding if any(i in each.row_of for i in members.tolist())), None)
        seen = None if neighbours is None else neighbours.nearest(sample.substep)
        if neighbours is None or seen is None:
            return None
        at, of, moved = np.array([neighbours.row_of.get(i, -1) for i in members.tolist()]), seen.readings, None
        if seen.substep != sample.substep:
            moved = compose(inverse(sample.pose[members]), seen.pose[members])
        return Mates(np.where(at < 0, 0, of.count[at]), of.ranges[at], of.bearings[at], moved)

    def without_mates(self, bank: SensorBank, sample: BankSample, rows: np.ndarray, members: np.ndarray) -> np.ndarray:
        """Return the ranges of a scan, (m, rays), without the returns from robots that the neighbours sensor sees."""
        scan = sample.readings
        mates = self.mates(bank, sample, members)
        return without_mates(scan.ranges[rows], scan.angles, scan.mount, mates, self.reach_m)

    def looked(self, bank: SensorBank, sample: BankSample, robot: int) -> np.ndarray | None:
        """Return the pose (3,) of a robot at the newest scan from its pose at another one of this step."""
        newest = bank.samples[-1]
        return None if sample is newest else compose(inverse(sample.pose[robot]), newest.pose[robot])
