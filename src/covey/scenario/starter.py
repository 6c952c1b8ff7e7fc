"""A first scenario and a first controller for `covey new`."""

import json
import re
from pathlib import Path

from covey.errors import InvalidValueError
from covey.scenario.records import Scenario

SCHEMA = ".covey/scenario.schema.json"

_SCENARIO = """\
# yaml-language-server: $schema={schema}
# {name}: three robots wander in an empty room. Run it with:  covey run {name}.yaml
# All fields:  covey schema   ·   names to use here:  covey list
format: 1
name: {name}
world: {{empty_m: [10, 10]}}               # or {{terrain: maze}} | {{file: plan.yaml}} | {{generate: office, seed: 3}}
robots:
  - name: scout                          # scout0, scout1, scout2
    robot: turtlebot3_burger             # or {{base: turtlebot3_burger, max_speed_m_s: 0.15}}
    count: 3
    start: {{together: {{around: random}}}}   # another place for each seed
    controller: {{name: "./{name}.py:Explorer", speed_m_s: 0.2}}
stop: {{timeout_s: 60}}
"""

_CONTROLLER = '''\
"""The controller of {name}.yaml: drive straight, and turn away from what is near."""

import numpy as np


class Explorer:
    """One call of `step` in each control step; the parameters can be set in the scenario.

    Args:
        speed_m_s: speed of driving straight [m/s].
        turn_rad_s: speed of turning away [rad/s].
        near_m: distance of a wall or robot ahead at which it turns [m].
    """

    def __init__(self, *, speed_m_s: float = 0.2, turn_rad_s: float = 1.0, near_m: float = 0.5):
        self.speed_m_s, self.turn_rad_s, self.near_m = speed_m_s, turn_rad_s, near_m

    def step(self, robot):
        scan = robot.readings.get("lidar")  # None until the first scan
        ahead = () if scan is None else scan.ranges[np.cos(scan.angles) > 0.8]
        if np.min(ahead, initial=np.inf) < self.near_m:
            robot.drive(0.0, self.turn_rad_s)
        else:
            robot.drive(self.speed_m_s, 0.0)
'''


def write_starter(name: str, folder: Path) -> tuple[Path, Path]:
    """Write ``name.yaml`` and ``name.py`` into ``folder`` and return their paths.

    The first line of the scenario names the schema of its fields, which is written too, for editors that check and
    complete YAML.

    Raises:
        InvalidValueError: the name cannot be a file name, a file exists already, or the folder cannot be written.
    """
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]{0,60}", name):
        raise InvalidValueError(f"name {name!r}: use a letter, then letters, digits, - and _ (at most 61)")
    paths = folder / f"{name}.yaml", folder / f"{name}.py"
    for path in paths:
        if path.exists():
            raise InvalidValueError(f"{path.name} exists already; choose another name, or remove it")
    schema = folder / SCHEMA
    try:
        schema.parent.mkdir(exist_ok=True)
        schema.write_text(json.dumps(Scenario.model_json_schema()), encoding="utf-8")
        for path, text in zip(paths, (_SCENARIO, _CONTROLLER), strict=True):
            path.write_text(text.format(name=name, schema=SCHEMA), encoding="utf-8")
    except OSError as error:
        raise InvalidValueError(f"cannot write into {folder}: {error.strerror or error}") from None
    return paths
