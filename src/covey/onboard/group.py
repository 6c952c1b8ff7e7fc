"""Groups of equal robots: their declaration."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from covey.errors import InvalidValueError, did_you_mean
from covey.mapping.localization import TruePose
from covey.mapping.localizer import LocalizerRecord
from covey.onboard.controller import Program
from covey.robots.model import RobotModel
from covey.sensors.sensor import FEEDS


@dataclass(frozen=True)
class Group:
    """Robots of one kind with one controller.

    Attributes:
        name: robots are called ``<name>0``, ``<name>1``, …
        robot: their model.
        start: start poses, shape (n, 3): x, y [m], heading [rad] in the world frame.
        program: the controller or its name, or a `Program` with parameters; None: a controller of the whole team
            commands them.
        localization: how they know their poses.
        control_every: the control period in steps; the controller acts in steps k with k % control_every == phase.
        phase: see `control_every`.
        known_map: whether their beliefs start as the true map of the world, see `Beliefs.know`; ``plan``, or the path
            of a ROS map: as an old plan, weak evidence.
        worlds: in how many worlds there is such a group, see `covey.Batch`; ``start`` then has the poses of one world
            after the other, and robots of different worlds have the same names.

    Raises:
        InvalidValueError: ``robot`` is not a model, the start is not one or more rows of three finite numbers,
            ``program`` is not a controller, the robot lacks a sensor to localize by, or it keeps no map for
            ``known_map``.
    """

    name: str
    robot: RobotModel
    start: Any
    program: Any = None
    localization: LocalizerRecord = field(default_factory=TruePose)
    control_every: int = 1
    phase: int = 0
    known_map: bool | str = False
    worlds: int = 1

    def __post_init__(self) -> None:
        if not isinstance(self.robot, RobotModel):
            hint = "give a covey.RobotModel, such as covey.robots.pioneer3dx()"
            raise InvalidValueError(f"robot is {self.robot!r:.60}; {hint}")
        start = np.array(self.start, float)
        if start.ndim != 2 or start.shape[1] != 3 or not len(start) or not np.isfinite(start).all():
            raise InvalidValueError(f"start is {self.start!r}; give a pose (x, y [m], heading [rad]) for each robot")
        object.__setattr__(self, "start", start)
        if self.program is not None and not isinstance(self.program, Program):
            object.__setattr__(self, "program", Program(self.program))
        names = [sensor.name for sensor in self.robot.sensors]
        if twice := next((name for name in names if names.count(name) > 1), ""):
            raise InvalidValueError(
                f"two sensors of group {self.name!r} are called {twice!r}; give one of them another name: "
                f"{twice}(name='{twice}_2'), in a file name: {twice}_2"
            )
        for fed in self.localization.needs:
            if fed not in FEEDS:
                raise InvalidValueError(
                    f"localization {self.localization.kind} needs {fed!r}{did_you_mean(fed, FEEDS)}"
                )
            if not any(fed in s.feeds for s in self.robot.sensors):
                kind = {"motion": "odometry", "scan": "lidar"}.get(fed, fed)
                raise InvalidValueError(
                    f"group {self.name!r} localizes by {self.localization.kind}, but its robot {self.robot.name!r} "
                    f"has no {kind} sensor; add {{kind: {kind}}} to its sensors, or choose localization truth or noise"
                )
        if self.known_map and not self.robot.maps:
            raise InvalidValueError(
                f"group {self.name!r} has known_map, but its robot {self.robot.name!r} keeps no map; "
                "give it a lidar and `mapping`, or leave known_map out"
            )

    @property
    def count(self) -> int:
        """The number of robots in a world."""
        return len(self.start) // self.worlds

    @cached_property
    def names(self) -> list[str]:
        """The names of the robots."""
        return [f"{self.name}{i}" for i in range(self.count)] * self.worlds
