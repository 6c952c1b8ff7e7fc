"""`BridgeSettings`: what a bridge tells the graph of ROS 2, and how time passes."""

from dataclasses import dataclass
from typing import Literal

from covey.errors import InvalidValueError

__all__ = ["BridgeSettings"]

STAMPED_SINCE = ("kilted", "lyrical", "rolling")
"""Distributions whose Nav2 sends TwistStamped on cmd_vel."""


@dataclass(frozen=True)
class BridgeSettings:
    """How a simulation takes part in a graph of ROS 2.

    Attributes:
        speed: simulated seconds per second; ``"max"``: as fast as possible; ``"lockstep"``: a step is taken when every
            robot that ROS drives has its answer, see docs/ros2.md.
        drives: ROS drives the robots; otherwise their own controllers do, and ROS watches.
        stamped: cmd_vel is a TwistStamped; None: as in the distribution's Nav2.
        localization: the simulator localizes and maps for the robots: it says map -> odom, map and pose.
        navigation: with localization, it also navigates for them: goals, paths and their actions.
        true_map, true_poses: tell the truth, which no robot knows.
        prefixed: all robots share /tf, and their frames begin with their names; otherwise each has its own tf.
        timeout_s: a robot stops when its cmd_vel has been silent for this simulated time [s].
        battery_wh: capacity of each robot's battery [Wh]; None: it has none.
        map_every_s: shortest simulated time between two maps [s].
        radio: topics that go over the simulated radio besides ``text``: their names and types.
    """

    speed: float | Literal["max", "lockstep"] = 1.0
    drives: bool = True
    stamped: bool | None = None
    localization: bool = True
    navigation: bool = True
    true_map: bool = False
    true_poses: bool = False
    prefixed: bool = False
    timeout_s: float = 0.5
    battery_wh: float | None = None
    map_every_s: float = 5.0
    radio: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.speed, str) and not 0 < self.speed < float("inf"):
            raise InvalidValueError(f"speed is {self.speed!r}; give a factor such as 1, max, or lockstep")
        if not self.timeout_s > 0:
            raise InvalidValueError(f"timeout_s is {self.timeout_s!r}; it must be positive")
