"""What a navigator knows about its robot and its driving style: `DriveLimits` and the record `Driving`."""

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from pydantic import Field

from covey.planning.planner import AStar, Planner
from covey.records import Record

_MANY = 100.0  # used as acceleration if there is no limit [m/s2, rad/s2]


class Driving(Record):
    """How a robot plans its paths and drives.

    References:
        Costs and tolerances follow the values of TrajectoryPlannerROS and costmap_2d in the testbed of Yan et al.,
        Robotics 6(3), 2017; the progress check follows TurtleBot3's Nav2 set-up.
    """

    planner: Planner = Field(default=AStar(), description="How the way over the map is searched.")
    tolerance_m: float = Field(default=0.1, gt=0, description="A goal is reached within this distance [m].")
    heading_tolerance_rad: float = Field(
        default=0.05, gt=0, description="... and, where it has a heading, this angle [rad]."
    )
    wall_margin_m: float = Field(default=0.04, ge=0, description="Gap to walls that is kept while driving [m].")
    robot_margin_m: float = Field(default=0.03, ge=0, description="Half of the gap that is kept to other robots [m].")
    comfort_m: float = Field(
        default=0.8, ge=0, description="Clearance above which more of it makes a path no better [m]."
    )
    clearance_weight: float = Field(default=6.0, ge=0, description="Cost of a metre of path at the least clearance.")
    unknown: Literal["optimistic", "pessimistic"] = Field(
        default="optimistic", description="Whether paths may lead through unknown cells."
    )
    progress_m: float = Field(default=0.3, gt=0, description="Moving this far counts as progress [m] ...")
    stuck_after_s: float = Field(
        default=40.0, gt=0, description="... and without any for so long, it gives up: stuck [s]."
    )

    def gaps(self, radius: float) -> tuple[float, float]:
        """Return the distances that a body keeps from walls, and from the centres of equal robots [m]."""
        return radius + self.wall_margin_m, 2.0 * (radius + self.robot_margin_m) + 0.04


@dataclass(frozen=True)
class DriveLimits:
    """The limits of a robot's drive; accelerations are infinite if there is no limit.

    Attributes:
        kinematics: differential, unicycle or holonomic.
        max_speed, max_turn: largest speed [m/s] and turn rate [rad/s].
        acceleration, deceleration, turn_acceleration: largest values [m/s2], [m/s2], [rad/s2].
        reaction: time from a command to its effect, delay and lag [s].
        max_wheel, semi_axis: differential: largest wheel speed [m/s] (inf: unlimited), half the wheel distance [m].
        period: time between two commands [s].
        straight_angle: the robot drives to a goal within this angle of its heading without turning [rad]; for drives
            that are slower while they turn.
    """

    kinematics: str = "differential"
    max_speed: float = 1.0
    max_turn: float = 3.0
    acceleration: float = math.inf
    deceleration: float = math.inf
    turn_acceleration: float = math.inf
    reaction: float = 0.0
    max_wheel: float = math.inf
    semi_axis: float = 0.0
    period: float = 0.1
    straight_angle: float = 0.0

    @classmethod
    def of(cls, model: Any, period: float = 0.1) -> "DriveLimits":
        """Return the limits of a `RobotModel` that gets a command every ``period`` seconds."""
        acceleration = model.acceleration_m_s2 or math.inf
        return cls(
            kinematics=model.kinematics,
            max_speed=model.max_speed_m_s,
            max_turn=model.max_turn_rad_s,
            acceleration=acceleration,
            deceleration=model.deceleration_m_s2 or acceleration,
            turn_acceleration=model.turn_acceleration_rad_s2 or math.inf,
            reaction=model.command_delay_s + max(model.speed_lag_s, model.turn_lag_s),
            max_wheel=model.max_wheel_speed_m_s or math.inf,
            semi_axis=model.wheel_semi_axis_m,
            period=period,
            straight_angle=0.06 if model.max_wheel_speed_turning_m_s else 0.0,
        )

    @property
    def braking(self) -> float:
        """The finite deceleration to plan with [m/s2]."""
        return min(self.deceleration, _MANY)

    @property
    def lead_s(self) -> float:
        """Time until a command acts, including the control period [s]."""
        return self.period + self.reaction

    def window(self, radius: float, driving: Driving) -> np.ndarray:
        """Return the array of limits that `covey.planning.dynamic_window` takes, for a body radius [m]."""
        wheel = self.max_wheel if math.isfinite(self.max_wheel) else 0.0
        return np.array(
            [
                -0.4 * self.max_speed,
                self.max_speed,
                self.max_turn,
                min(self.acceleration, _MANY),
                self.braking,
                min(self.turn_acceleration, _MANY),
                self.period,
                self.reaction,
                radius,
                driving.wall_margin_m,
                driving.robot_margin_m,
                wheel,
                self.semi_axis,
            ]
        )


def approach_speed(distance: float, deceleration: float, reaction: float) -> float:
    """Return the largest speed from which a robot still stops within a distance.

    It solves v t + v^2 / 2a = d, where t is the time until a command acts.

    Args:
        distance: distance left [m or rad].
        deceleration: finite deceleration [m/s2 or rad/s2].
        reaction: time until a command acts, including the control period [s].

    Examples:
        >>> round(approach_speed(1.0, 2.0, 0.5), 3)
        1.236
    """
    lead = deceleration * reaction
    return math.sqrt(lead * lead + 2.0 * deceleration * max(distance, 0.0)) - lead
