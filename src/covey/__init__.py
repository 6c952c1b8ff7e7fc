"""Covey: simulate, control and benchmark teams of mobile robots.

Names are loaded when they are first used, so that ``import covey`` takes no time.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from covey import robots
    from covey.errors import (
        ControllerError,
        CoveyError,
        InvalidValueError,
        MapFileError,
        PlacementError,
        RunFolderError,
        ScenarioError,
        UnknownNameError,
    )
    from covey.experiments.load import load_design
    from covey.experiments.records import Design
    from covey.experiments.run import Results, run_design
    from covey.geometry.se2 import Pose
    from covey.results import statistics
    from covey.results.run import Run
    from covey.robots.controller import Program, controller
    from covey.robots.group import Group
    from covey.scenario.build import load
    from covey.scenario.load import load_scenario
    from covey.scenario.records import Execution, Radio, RobotGroup, Scenario, ShareMaps, Stop
    from covey.sim.simulation import Simulation
    from covey.world.ground import Ground
    from covey.world.world import World

__version__ = "0.1.0"

__all__ = [
    "ControllerError",
    "CoveyError",
    "Design",
    "Execution",
    "Ground",
    "Group",
    "InvalidValueError",
    "MapFileError",
    "PlacementError",
    "Pose",
    "Program",
    "Radio",
    "Results",
    "RobotGroup",
    "Run",
    "RunFolderError",
    "Scenario",
    "ScenarioError",
    "ShareMaps",
    "Simulation",
    "Stop",
    "UnknownNameError",
    "World",
    "__version__",
    "controller",
    "load",
    "load_design",
    "load_scenario",
    "robots",
    "run_design",
    "statistics",
]

_ERRORS = [name for name in __all__ if name.endswith("Error")]
_RECORDS = ("Execution", "Radio", "RobotGroup", "Scenario", "ShareMaps", "Stop")
_HOMES = {
    **dict.fromkeys(_ERRORS, "covey.errors"),
    **dict.fromkeys(_RECORDS, "covey.scenario.records"),
    "Design": "covey.experiments.records",
    "Ground": "covey.world.ground",
    "Group": "covey.robots.group",
    "Pose": "covey.geometry.se2",
    "Program": "covey.robots.controller",
    "Results": "covey.experiments.run",
    "Run": "covey.results.run",
    "Simulation": "covey.sim.simulation",
    "World": "covey.world.world",
    "controller": "covey.robots.controller",
    "load": "covey.scenario.build",
    "load_design": "covey.experiments.load",
    "load_scenario": "covey.scenario.load",
    "run_design": "covey.experiments.run",
}


_MODULES = {"robots": "covey.robots", "statistics": "covey.results.statistics"}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(_MODULES[name])
    if name not in _HOMES:
        raise AttributeError(f"module 'covey' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return value


def __dir__() -> list[str]:
    return __all__
