"""Covey: simulate, control and benchmark teams of mobile robots.

Names are loaded at first use, so that ``import covey`` is fast.
"""

import sys
from typing import TYPE_CHECKING

from covey.current_folder import ignore_settings
from covey.lazy import names_of
from covey.tracebacks import install as _show_short_tracebacks

if TYPE_CHECKING:
    from covey import (
        comms,
        controllers,
        events,
        learning,
        mapping,
        missions,
        physics,
        planning,
        robots,
        sensors,
        testing,
        viewer,
        world,
    )
    from covey.comms.message import Message
    from covey.comms.tags import TagReading, Tags
    from covey.controllers import laws
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
    from covey.experiments.design.load import load_design
    from covey.experiments.design.records import Design
    from covey.experiments.run import Results, run_design
    from covey.experiments.tuning.tune import Tuned, tune
    from covey.geometry.se2 import Pose
    from covey.lab import addons
    from covey.lab.addon import addon
    from covey.lab.out import Out
    from covey.lab.play import play
    from covey.learning.make import env
    from covey.mapping.occupancy.belief import Belief
    from covey.mapping.occupancy.frontiers import Frontiers
    from covey.onboard.controller import Program, controller
    from covey.onboard.group import Group
    from covey.onboard.handle import Robot
    from covey.onboard.law import law
    from covey.onboard.motions import Motion
    from covey.planning import graphs
    from covey.results import statistics
    from covey.results.recording import Details, Recording
    from covey.results.run import Run
    from covey.robots.model import RobotModel
    from covey.robots.sample import Sample
    from covey.runtime.execution import Execution, Processes
    from covey.runtime.simulation import Simulation
    from covey.scenario.batch import Batch
    from covey.scenario.load import load, load_scenario
    from covey.scenario.records import Radio, RobotGroup, Scenario, ShareMaps, Stop
    from covey.sensors.own import sensor
    from covey.viewer.notebook import view
    from covey.world.ground import Ground
    from covey.world.world import World

if sys.flags.safe_path:  # python -P: use nothing from the current folder
    ignore_settings()

_show_short_tracebacks()

__version__ = "0.2.0"

__all__ = [
    "Batch",
    "Belief",
    "ControllerError",
    "CoveyError",
    "Design",
    "Details",
    "Execution",
    "Frontiers",
    "Ground",
    "Group",
    "InvalidValueError",
    "MapFileError",
    "Message",
    "Motion",
    "Out",
    "PlacementError",
    "Pose",
    "Processes",
    "Program",
    "Radio",
    "Recording",
    "Results",
    "Robot",
    "RobotGroup",
    "RobotModel",
    "Run",
    "RunFolderError",
    "Sample",
    "Scenario",
    "ScenarioError",
    "ShareMaps",
    "Simulation",
    "Stop",
    "TagReading",
    "Tags",
    "Tuned",
    "UnknownNameError",
    "World",
    "__version__",
    "addon",
    "addons",
    "comms",
    "controller",
    "controllers",
    "env",
    "events",
    "graphs",
    "law",
    "laws",
    "learning",
    "load",
    "load_design",
    "load_scenario",
    "mapping",
    "missions",
    "physics",
    "planning",
    "play",
    "robots",
    "run_design",
    "sensor",
    "sensors",
    "statistics",
    "testing",
    "tune",
    "view",
    "viewer",
    "world",
]

_ERRORS = [name for name in __all__ if name.endswith("Error")]
_RECORDS = ("Radio", "RobotGroup", "Scenario", "ShareMaps", "Stop")
_HOMES = {
    **dict.fromkeys(_ERRORS, "covey.errors"),
    **dict.fromkeys(_RECORDS, "covey.scenario.records"),
    "Batch": "covey.scenario.batch",
    "Belief": "covey.mapping.occupancy.belief",
    "Design": "covey.experiments.design.records",
    "Details": "covey.results.recording",
    "Execution": "covey.runtime.execution",
    "Frontiers": "covey.mapping.occupancy.frontiers",
    "Ground": "covey.world.ground",
    "Group": "covey.onboard.group",
    "Message": "covey.comms.message",
    "Motion": "covey.onboard.motions",
    "law": "covey.onboard.law",
    "Out": "covey.lab.out",
    "Pose": "covey.geometry.se2",
    "Processes": "covey.runtime.execution",
    "Program": "covey.onboard.controller",
    "Recording": "covey.results.recording",
    "Results": "covey.experiments.run",
    "Robot": "covey.onboard.handle",
    "RobotModel": "covey.robots.model",
    "Run": "covey.results.run",
    "Sample": "covey.robots.sample",
    "Simulation": "covey.runtime.simulation",
    "TagReading": "covey.comms.tags",
    "Tags": "covey.comms.tags",
    "Tuned": "covey.experiments.tuning.tune",
    "World": "covey.world.world",
    "addon": "covey.lab.addon",
    "controller": "covey.onboard.controller",
    "env": "covey.learning.make",
    "load": "covey.scenario.load",
    "load_design": "covey.experiments.design.load",
    "load_scenario": "covey.scenario.load",
    "run_design": "covey.experiments.run",
    "sensor": "covey.sensors.own",
    "play": "covey.lab.play",
    "tune": "covey.experiments.tuning.tune",
    "view": "covey.viewer.notebook",
}


_MODULES = {
    **{n: f":covey.{n}" for n in ("comms", "controllers", "events", "mapping", "missions", "physics", "planning")},
    **{n: f":covey.{n}" for n in ("robots", "sensors", "testing", "world")},
    "addons": ":covey.lab.addons",
    "graphs": ":covey.planning.graphs",
    "learning": ":covey.learning",
    "laws": ":covey.controllers.laws",
    "statistics": ":covey.results.statistics",
    "viewer": ":covey.viewer",
}

__getattr__ = names_of(__name__, _HOMES | _MODULES)


def __dir__() -> list[str]:
    return __all__
