"""The estimator of a group of robots, and the banks of the sensors that it reads."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from covey.clock import Clock
from covey.geometry.grid import Grid
from covey.geometry.se2 import Pose
from covey.mapping.localizer import Equipment, LocalizerRecord
from covey.mapping.slam.log import Laser
from covey.mapping.slam_localizer import SlamLocalizer
from covey.onboard.estimator import Estimator
from covey.onboard.group import Group
from covey.onboard.step import ScanInput, SenseInput
from covey.runtime.phases.sensing import Sensing, SensorBank
from covey.world.world import FREE, WALL, World


@dataclass(frozen=True, eq=False)
class LocalizedGroup:
    """The estimator of a group, and the banks of its sensors; rows of the readings in the order of the members."""

    members: np.ndarray
    part: slice
    record: LocalizerRecord
    estimator: Estimator
    plans: dict[str | None, Grid]
    mates_m: float | None
    odometry: SensorBank | None
    odometry_rows: np.ndarray
    lidar: SensorBank | None
    lidar_rows: np.ndarray
    imu: SensorBank | None
    imu_rows: np.ndarray

    @staticmethod
    def of(group: Group, members: np.ndarray, sensing: Sensing, world: Grid, plan: Grid, seed: int) -> "LocalizedGroup":
        needs = group.localization.needs
        odometry, lidar, imu = (sensing.first_of(members, fed) for fed in ("motion", "scan", "turn"))
        odometry, lidar = odometry if "motion" in needs else None, lidar if "scan" in needs else None
        imu = None if odometry is None else imu
        laser, mates_m = None, None
        if lidar is not None:
            laser = Laser(lidar.record.angles, lidar.record.range_m, tuple(lidar.record.mount.tolist()))
            if lidar.record.sees_robots and len(sensing.model.radius) > 1:
                mates_m = float(sensing.model.radius.max())
        noise = None if odometry is None else odometry.record.noise_model
        plans: dict[str | None, Grid] = {}

        def plan_named(file: str | None) -> Grid:
            if file not in plans:
                plans[file] = _plan(world if file is None else plan_of(file, plan))
            return plans[file]

        equipment = Equipment(laser, noise, plan_named)
        rows = [
            np.array([] if bank is None else [bank.row_of[i] for i in members.tolist()], np.int64)
            for bank in (odometry, lidar, imu)
        ]
        localizer = group.localization.build(group.names, seed, equipment)
        estimator = Estimator(localizer, laser, None if imu is None else imu.record.gyro, mates_m, len(members))
        part = slice(int(members[0]), int(members[-1]) + 1)
        own = group.localization, estimator, plans, mates_m
        return LocalizedGroup(members, part, *own, odometry, rows[0], lidar, rows[1], imu, rows[2])

    @property
    def is_alone(self) -> bool:
        """Whether each of the robots finds out by itself where it is: none is told, or does SLAM with others."""
        localizer = self.estimator.localizer
        return bool(self.record.needs) and not (isinstance(localizer, SlamLocalizer) and localizer.members)

    def wheels(self, second: float) -> list[tuple[float, np.ndarray]]:
        """Return times [s] and motions (m, 3) of the new samples of odometry; ``second``: length of a substep [s]."""
        samples = () if self.odometry is None else self.odometry.samples
        return [(at.substep * second, at.readings.motion[self.odometry_rows]) for at in samples]

    def gyro(self, second: float) -> list[tuple[float, np.ndarray]]:
        """Return times [s] and turn rates (m,) [rad/s] of the new samples of a gyro."""
        samples = () if self.imu is None else self.imu.samples
        return [(at.substep * second, at.readings.turn_rate[self.imu_rows]) for at in samples]

    def sensed(self, clock: Clock, scans: Mapping[int, ScanInput], jumps: Mapping[int, Pose]) -> dict[int, SenseInput]:
        """Return what each robot has sensed since the last step, by team index.

        Args:
            clock: of the simulation.
            scans: the newest scans.
            jumps: see `SenseInput`.
        """
        wheels, gyro = self.wheels(clock.substep_s), self.gyro(clock.substep_s)
        return {
            robot: SenseInput(
                clock.step,
                clock.time_s,
                [(at_s, motions[k]) for at_s, motions in wheels],
                [(at_s, float(rates[k])) for at_s, rates in gyro],
                scans.get(robot),
                jumps.get(robot),
            )
            for k, robot in enumerate(self.members.tolist())
        }


def plan_of(name: str, plan: Grid) -> Grid:
    """Return the old plan, or the map in a file, as cells of a world."""
    return plan if name == "plan" else World.from_file(name).grid


def _plan(world: Grid) -> Grid:
    """Return the world as a map: 100 wall, 0 free, -1 unknown."""
    cells = np.full(world.cells.shape, -1, np.int8)
    cells[world.cells == WALL], cells[world.cells == FREE] = 100, 0
    return world.with_cells(cells)
