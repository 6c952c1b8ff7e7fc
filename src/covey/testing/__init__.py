"""Conformance checks for authors of extensions; the same checks run over everything that Covey ships.

Each raises `AssertionError` with a sentence that explains the problem and its importance.
"""

from covey.testing.boundary import check_boundary, reachable_from
from covey.testing.comms import check_link, check_protocol
from covey.testing.controllers import check_controller
from covey.testing.extensions import (
    POINTS,
    ActionChecks,
    AddonChecks,
    Checks,
    ControllerChecks,
    EventChecks,
    FaultChecks,
    LinkChecks,
    LocalizerChecks,
    MapperChecks,
    MergerChecks,
    MetricChecks,
    MissionChecks,
    ObservationChecks,
    PhysicsChecks,
    PlannerChecks,
    ProtocolChecks,
    RecordChecks,
    RobotChecks,
    SensorChecks,
    StartChecks,
    TargetChecks,
    WorldChecks,
    check_extension,
)
from covey.testing.missions import check_mission
from covey.testing.sensors import check_sensor
from covey.testing.worlds import check_world

__all__ = [
    "POINTS",
    "ActionChecks",
    "AddonChecks",
    "Checks",
    "ControllerChecks",
    "EventChecks",
    "FaultChecks",
    "LinkChecks",
    "LocalizerChecks",
    "MapperChecks",
    "MergerChecks",
    "MetricChecks",
    "MissionChecks",
    "ObservationChecks",
    "PhysicsChecks",
    "PlannerChecks",
    "ProtocolChecks",
    "RecordChecks",
    "RobotChecks",
    "SensorChecks",
    "StartChecks",
    "TargetChecks",
    "WorldChecks",
    "check_boundary",
    "check_controller",
    "check_extension",
    "check_link",
    "check_mission",
    "check_protocol",
    "check_sensor",
    "check_world",
    "reachable_from",
]
