"""The team as arrays: `TeamModel` never changes in a run, `TeamState` does."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from covey.errors import InvalidValueError
from covey.robots.chassis import FlyingChassis
from covey.robots.model import KINEMATICS, RobotModel, inscribed_radius


@dataclass(frozen=True, eq=False)
class TeamModel:
    """Constant data: bodies and drives of n robots.

    Attributes:
        models: the different models; ``models[model_id[i]]`` is that of robot i.
        model_id: int64 (n,).
        kinematics: int64 (n,), 0 differential, 1 unicycle, 2 holonomic.
        limits: float64 (n, 13), limits of the drive, infinite if there is no limit: largest speed [m/s], turn rate
            [rad/s], wheel speed, wheel speed while turning [m/s], wheel semi-axis [m], acceleration, deceleration
            [m/s2], turn acceleration [rad/s2], lag of speed and of turn rate [s], radius around the whole body [m],
            the furthest disc centre [m], the smallest disc radius [m].
        delay_s: float64 (n,), time [s] from a command to its effect.
        discs: float64 (n, k, 3), x, y, radius [m] in the body frame; unused rows have radius 0.
        disc_count: int64 (n,), discs used.
        radius: float64 (n,), radius of the circle around the centre that holds the whole body [m].
        inscribed: float64 (n,), radius of the largest circle around the centre inside the body [m].
    """

    models: tuple[RobotModel, ...]
    model_id: np.ndarray
    kinematics: np.ndarray
    limits: np.ndarray
    delay_s: np.ndarray
    discs: np.ndarray
    disc_count: np.ndarray
    inscribed: np.ndarray

    def drive(self, robot: int) -> tuple[float, float, float]:
        """Return largest speed, turn rate, and half the distance between the wheels (without any, the radius)."""
        limits = self.limits[robot]
        return float(limits[0]), float(limits[1]), float(limits[4] or self.radius[robot])

    @property
    def flies(self) -> np.ndarray:
        """Which robots fly, bool (n,)."""
        return np.array([isinstance(model.chassis, FlyingChassis) for model in self.models], bool)[self.model_id]

    @classmethod
    def of(cls, robots: Sequence[RobotModel]) -> "TeamModel":
        """Return the arrays of a team, given the model of each robot."""
        models: list[RobotModel] = []
        known: dict[int, int] = {}  # numbers of models by the id of their objects: to compare two takes long
        for robot in robots:
            if id(robot) not in known:
                if robot not in models:
                    models.append(robot)
                known[id(robot)] = models.index(robot)
        model_id = np.array([known[id(robot)] for robot in robots], np.int64)
        bodies = [np.array(model.body_discs) for model in models]
        discs = np.zeros((len(models), max((len(body) for body in bodies), default=1), 3))
        for row, body in zip(discs, bodies, strict=True):
            row[: len(body)] = body
        limits = np.array([_limits(m, body) for m, body in zip(models, bodies, strict=True)]).reshape(-1, 13)
        return cls(
            models=tuple(models),
            model_id=model_id,
            kinematics=np.array([KINEMATICS.index(m.kinematics) for m in models], np.int64)[model_id],
            limits=limits[model_id],
            delay_s=np.array([m.command_delay_s for m in models])[model_id],
            discs=discs[model_id],
            disc_count=np.array([len(body) for body in bodies], np.int64)[model_id],
            inscribed=np.array([inscribed_radius(body) for body in bodies])[model_id],
        )

    def __len__(self) -> int:
        return len(self.model_id)

    @property
    def max_speed(self) -> np.ndarray:
        """Largest speed [m/s], shape (n,)."""
        return self.limits[:, 0]

    @property
    def max_turn(self) -> np.ndarray:
        """Largest turn rate [rad/s], shape (n,)."""
        return self.limits[:, 1]

    @property
    def radius(self) -> np.ndarray:
        """Radius [m] of the circle around the centre that holds the whole body, shape (n,)."""
        return self.limits[:, 10]


def _limits(model: RobotModel, discs: np.ndarray) -> list[float]:
    arms = np.hypot(discs[:, 0], discs[:, 1])
    figures = (
        model.max_speed_m_s,
        model.max_turn_rad_s,
        model.max_wheel_speed_m_s,
        model.max_wheel_speed_turning_m_s,
        model.wheel_semi_axis_m,
        model.acceleration_m_s2,
        model.acceleration_m_s2 if model.deceleration_m_s2 is None else model.deceleration_m_s2,
        model.turn_acceleration_rad_s2,
    )
    body = (float((arms + discs[:, 2]).max()), float(arms.max()), float(discs[:, 2].min()))
    return [np.inf if f is None else f for f in figures] + [model.speed_lag_s, model.turn_lag_s, *body]


@dataclass(eq=False)
class TeamState:
    """Variable data: the state of n robots in the world frame.

    Attributes:
        pose: float64 (n, 3), x, y [m] and heading [rad].
        twist: float64 (n, 3), true vx, vy [m/s] and turn rate [rad/s] of the body, in the body frame.
        drive: float64 (n, 3), the twist of the drive; it differs from ``twist`` only during contact.
        altitude_roll_pitch: float64 (n, 3), [m, rad, rad], zero in the plane.
        distance_m: float64 (n,), distance driven by the centre so far [m].
        contact_bearing: float64 (n,), bearing [rad] of the last contact in the last step, in the body frame; NaN: none.
        halted: bool (n,), the robot stands still in spite of commands, and blocks others.
        vanished: bool (n,), its body is gone, and blocks nobody.
        radio_alive: bool (n,), False for robots that neither send nor hear.
        world_id: int64 (n,), robots in different worlds do not meet.
    """

    pose: np.ndarray
    twist: np.ndarray
    drive: np.ndarray
    altitude_roll_pitch: np.ndarray
    distance_m: np.ndarray
    contact_bearing: np.ndarray
    halted: np.ndarray
    vanished: np.ndarray
    radio_alive: np.ndarray
    world_id: np.ndarray

    @classmethod
    def at(cls, poses: Any) -> "TeamState":
        """Return a team at rest at poses (x, y [m], heading [rad]), shape (n, 3)."""
        pose = np.array(poses, dtype=float)
        if pose.ndim != 2 or pose.shape[1] != 3 or not np.isfinite(pose).all():
            raise InvalidValueError(f"poses have shape {pose.shape}; they must be finite and of shape (n, 3)")
        n = len(pose)
        return cls(
            pose=pose,
            twist=np.zeros((n, 3)),
            drive=np.zeros((n, 3)),
            altitude_roll_pitch=np.zeros((n, 3)),
            distance_m=np.zeros(n),
            contact_bearing=np.full(n, np.nan),
            halted=np.zeros(n, bool),
            vanished=np.zeros(n, bool),
            radio_alive=np.ones(n, bool),
            world_id=np.zeros(n, np.int64),
        )

    def disc_count(self, model: TeamModel) -> np.ndarray:
        """Return the number of discs of each body, int64 (n,); 0 for vanished robots."""
        return np.where(self.vanished, 0, model.disc_count) if np.count_nonzero(self.vanished) else model.disc_count
