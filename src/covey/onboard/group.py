"""Groups of equal robots: their declaration, and the view of a group controller."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from covey.errors import ControllerError, InvalidValueError, UnknownNameError
from covey.mapping.localization import Localization, Truth
from covey.onboard.controller import Program
from covey.robots.model import RobotModel
from covey.robots.sample import Sample


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

    Raises:
        InvalidValueError: ``robot`` is not a model, the start is not one or more rows of three finite numbers,
            ``program`` is not a controller, the robot lacks a sensor to localize by, or it keeps no map for
            ``known_map``.
    """

    name: str
    robot: RobotModel
    start: Any
    program: Any = None
    localization: Localization = field(default_factory=Truth)
    control_every: int = 1
    phase: int = 0
    known_map: bool | str = False

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
        for kind in self.localization.needs:
            if not any(s.kind == kind for s in self.robot.sensors):
                raise InvalidValueError(
                    f"group {self.name!r} localizes by {self.localization.kind}, but its robot {self.robot.name!r} "
                    f"has no {kind} sensor; add {{kind: {kind}}} to its sensors, or choose localization truth or noise"
                )
        if self.known_map and not self.robot.maps:
            raise InvalidValueError(
                f"group {self.name!r} has known_map, but its robot {self.robot.name!r} keeps no map; "
                "give it a lidar and `mapping`, or leave known_map out"
            )

    @cached_property
    def names(self) -> list[str]:
        """The names of the robots."""
        return [f"{self.name}{i}" for i in range(len(self.start))]


class GroupView:
    """The view of a group controller: arrays over the group, only those that it declared.

    Attributes:
        name: the group's name.
        names: the robots' names.
        count: number of robots.
        time: simulated time [s].
    """

    def __init__(
        self,
        name: str,
        names: list[str],
        time: float,
        fields: dict[str, Any],
        samples: dict[str, list[Sample]] | None = None,
    ):
        self.name, self.names, self.count, self.time = name, names, len(names), time
        self._fields, self._samples = fields, samples or {}

    def samples(self, sensor: str) -> list[Sample]:
        """Return all readings of a sensor since the controller's last step, oldest first.

        Raises:
            UnknownNameError: the controller declares no such sensor, or the robots have none.
        """
        if sensor not in self._samples:
            raise UnknownNameError("sensor", sensor, self._samples)
        return self._samples[sensor]

    def __getattr__(self, field_name: str) -> Any:
        fields = self.__dict__.get("_fields", {})
        if field_name in fields:
            return fields[field_name]
        raise AttributeError(
            f"group {self.name!r} does not see {field_name!r}, only: {', '.join(sorted(fields))}; declare it: "
            f"@covey.controller(scope='group', sees=({field_name!r}, …))"
        )


def twists_of(answer: Any, view: Any) -> dict[str, np.ndarray]:
    """Return the twists of a group controller, by group: float64 (n, 3), vx, vy [m/s], turn rate [rad/s].

    Args:
        answer: its return value: twists from a group controller, a dict of them from a team controller.
        view: its argument: a `GroupView`, or a dict of them.

    Raises:
        ControllerError: twists have a wrong shape, or are not finite.
    """
    views, answers = (view, answer) if isinstance(view, dict) else ({view.name: view}, {view.name: answer})
    given = {name: np.asarray(answers[name]) for name in views}
    for name, part in given.items():
        if part.dtype.kind not in "biuf":
            raise ControllerError(f"group {name!r} needs twists that are numbers; got {part.dtype}")
    twists = {name: part.astype(float) for name, part in given.items()}
    for name, part in twists.items():
        shape = (views[name].count, 3)
        if part.shape != shape or not np.isfinite(part).all():
            raise ControllerError(f"group {name!r} needs finite twists of shape {shape}; got {part.shape}")
    return twists
