"""Loads what the processes of the tests need, in the process that they are forked from: libraries, kernels, types.

A team takes a few steps and nobody ends its run: threads, which a fork does not copy, would begin there.
"""

from importlib import import_module
from tempfile import TemporaryDirectory

from covey.ros.run import commanded
from covey.ros.types import types_of
from covey.scenario.build import build
from covey.scenario.records import Scenario

TEAM = {
    "world": {"workspace_m": [[0, 0], [12, 0], [12, 8], [0, 8]]},
    "robots": [
        {
            "name": "scout",
            "robot": {"base": "pioneer3dx", "mapping": {"resolution_m": 0.1}},
            "count": 2,
            "start": [[1.5, 2, 90], [2.8, 2, 90]],
            "localization": "slam",
            "controller": "leader",
        }
    ],
    "share_maps": {"every_s": 0.2},
}

for name in ("app", "run", "ros", "ros_node"):
    import_module(f"covey.cli.{name}")
with TemporaryDirectory() as folder:
    scenario = Scenario.model_validate({"format": 1, "name": "loaded"} | TEAM)
    for number, one in enumerate((scenario, commanded(scenario, maps=False))):
        simulation = build(one, folder=f"{folder}/{number}")
        for _ in range(5):
            simulation.step()
        simulation.deciding.close()
types_of("jazzy")
