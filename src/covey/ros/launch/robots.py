"""The robots of a scenario that stock packages can navigate, and what their files say of them."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from covey.mapping.records import Mapping
from covey.robots.model import RobotModel, inscribed_radius
from covey.scenario.build import set_up
from covey.sensors.lidar import Lidar

if TYPE_CHECKING:
    from covey.scenario.records import Scenario

Localization = Literal["slam_toolbox", "amcl", "covey"]
NEWEST = ("lyrical", "rolling")
"""Distributions whose Nav2 has the newest names."""
MAP, TRUE_MAP = "map", "/true_map"
COARSEST_M = 0.1
"""Largest side of a cell of slam_toolbox's maps [m]; doors vanish from the costmaps of coarser ones."""
_TURN_ACCELERATION, _ACCELERATION = 3.2, 2.5  # of Nav2's own examples, for models without limits


@dataclass(frozen=True)
class NavigatedRobot:
    """A robot with a planar lidar.

    Attributes:
        name: its namespace: its name, as the bridge writes it.
        model: the model.
        lidar: the first planar lidar.
        topic: topic of its scans, in the namespace.
        start: start pose x, y [m], heading [rad] in the world frame.
        resolution_m: side of a cell of the team's maps [m].
        step_s: time between two commands that the simulation takes [s].
        prefixed: its frames begin with its name, and are in /tf with those of all; else they are in its own ``tf``.
        localization: who says where it is: ``slam_toolbox``, ``amcl`` on the true map, or ``covey``.
        own_map: its frame ``map`` begins at its start, not in the world.
    """

    name: str
    model: RobotModel
    lidar: Lidar
    topic: str
    start: np.ndarray
    resolution_m: float
    step_s: float
    prefixed: bool
    localization: Localization
    own_map: bool

    def frame(self, name: str) -> str:
        """Return the full name of one of its frames: map, odom, base_link."""
        return f"{self.name}/{name}" if self.prefixed and (name != MAP or self.own_map) else name

    @property
    def map_topic(self) -> str:
        """Topic of the map in which it is localized."""
        return TRUE_MAP if self.localization == "amcl" else f"/{self.name}/map"

    @property
    def inscribed_m(self) -> float:
        """Radius of the largest disc around the centre inside the body [m]."""
        return inscribed_radius(np.array(self.model.body_discs))

    @property
    def acceleration(self) -> tuple[float, float]:
        """Largest acceleration [m/s2] and angular acceleration [rad/s2]."""
        model = self.model
        return model.acceleration_m_s2 or _ACCELERATION, model.turn_acceleration_rad_s2 or _TURN_ACCELERATION

    @property
    def deceleration_m_s2(self) -> float:
        """Largest deceleration [m/s2]."""
        return self.model.deceleration_m_s2 or self.acceleration[0]


def navigated(scenario: "Scenario", prefixed: bool, localization: Localization) -> list[NavigatedRobot]:
    """Return the robots of a scenario that have a planar lidar, in order.

    All get the finest resolution that any of them maps with, because the maps are merged.

    Raises:
        ScenarioError: the world cannot be made, or the robots do not fit.
    """
    shared = scenario.share_maps
    own_map = localization == "slam_toolbox" or (
        localization == "covey" and shared is not None and shared.start_poses == "unknown"
    )
    ready, found = set_up(scenario), list[NavigatedRobot]()
    mappings = [group.robot.mapping for group in ready.groups]
    resolution_m = min([COARSEST_M, *(one.resolution_m for one in mappings if isinstance(one, Mapping))])
    for group, poses in zip(ready.groups, ready.poses, strict=True):
        lidars: list[Any] = [sensor for sensor in group.robot.sensors if "scan" in sensor.feeds]
        for name, pose in zip(group.names, poses, strict=True):
            if lidars:
                of = group.robot, lidars[0], "scan", pose, resolution_m, scenario.execution.step_s
                found.append(NavigatedRobot(name, *of, prefixed, localization, own_map))
    return found
