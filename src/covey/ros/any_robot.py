"""`AnyRobot`: a robot that no scenario describes, such as a real one, or one of Gazebo."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import radians
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from covey.errors import InvalidValueError
from covey.geometry.se2 import Pose
from covey.mapping.records import Mapping as MapRecord
from covey.robots.catalogue import WHEELS
from covey.ros.node_setup import NodeSetup, node_setup, renamed
from covey.scenario.controller import ControllerReference
from covey.scenario.overrides import override
from covey.scenario.records import Scenario
from covey.sensors.lidar import Lidar

_CELL_M = 0.5  # of the empty world that stands for the area; maps have cells of their own


@dataclass(frozen=True)
class AnyRobot:
    """A robot with scan, odom, tf and cmd_vel, as its owner describes it. Its lidar is learned from its scans.

    Attributes:
        robot: a name of ``covey list robots``, or ``./mine.py:function``: body, speeds, map.
        team: names of all robots of its team, in any order; empty: it is alone.
        start: x, y [m], heading [deg] on the map of the place where its odometry is zero; if tf says where odom is on
            the map, that counts.
        area_m: side of the square that its map covers, around the origin of the map [m].
        radius_m: of a body that is a disc [m]; None: that of ``robot``. So are the speeds [m/s, rad/s].
    """

    robot: str = "turtlebot3_burger"
    team: tuple[str, ...] = ()
    start: tuple[float, float, float] = (0.0, 0.0, 0.0)
    area_m: float = 60.0
    radius_m: float | None = None
    max_speed_m_s: float | None = None
    max_turn_rad_s: float | None = None

    def setup(
        self, name: str, controller: ControllerReference, changes: Mapping[str, Any], folder: Path, *, localizes: bool
    ) -> NodeSetup:
        """Return the setup of its node.

        Args:
            name: of the robot.
            controller: of the robot.
            changes: of the scenario that these values make, whose only group is ``robot``; see `override`.
            folder: for the names of files.
            localizes: see `node_setup`; by SLAM, unless a change says otherwise.

        Raises:
            InvalidValueError: a value cannot be used.
            ScenarioError: a change cannot be made.
        """
        names = tuple(sorted({name, *self.team}))
        scenario = override(self._scenario(len(names), controller, folder, localizes), changes)
        setup = node_setup(scenario, f"robot{names.index(name)}", localizes=localizes)
        own = setup.spawn.localization
        if own is not None and None in own.plans:
            raise InvalidValueError(f"{name} needs a map to find itself in: -s robots.robot.localization.map=plan.yaml")
        x, y, heading = self.start
        return renamed(setup, names, Pose(0.0, 0.0, 0.0) if setup.spawn.own_frames else Pose(x, y, radians(heading)))

    def _scenario(self, count: int, controller: ControllerReference, folder: Path, localizes: bool) -> Scenario:
        """Return the scenario that these values stand for: its world is empty, and only as large as the map."""
        model: dict[str, Any] = {"base": self.robot}
        if self.radius_m is not None:
            model |= {"radius_m": self.radius_m, "footprint_m": None, "discs_m": None}
        if self.max_speed_m_s is not None:
            model |= {"max_speed_m_s": self.max_speed_m_s, "max_wheel_speed_m_s": None}
        if self.max_turn_rad_s is not None:
            model |= {"max_turn_rad_s": self.max_turn_rad_s}
        group = {"robot": model, "count": count, "controller": controller}
        values = {
            "name": "any_robot",
            "world": {"empty_m": [self.area_m, self.area_m], "resolution_m": _CELL_M},
            "robots": [group],
            "share_maps": {"every_s": 1},
        }
        try:
            scenario = Scenario.model_validate(values, context={"folder": folder})
        except ValidationError as error:
            problem = error.errors()[0]
            where = ".".join(map(str, problem["loc"][2:]))
            raise InvalidValueError(f"a robot like {self.robot!r}: {where} {problem['msg']}") from None
        group = scenario.robots[0]
        robot = group.robot
        fed = {fed for sensor in robot.sensors for fed in sensor.feeds}
        more = [] if "scan" in fed else [Lidar(rays=360, range_m=10.0, rate_hz=10)]
        more += [] if "motion" in fed else [WHEELS]
        robot = robot.model_copy(update={"sensors": (*robot.sensors, *more), "mapping": robot.mapping or MapRecord()})
        scenario = scenario.model_copy(update={"robots": (group.model_copy(update={"robot": robot}),)})
        return override(scenario, {"robots.robot.localization": "slam"}) if localizes else scenario
