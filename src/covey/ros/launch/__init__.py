"""Files for stock packages of ROS 2, from a scenario: slam_toolbox, Nav2, m-explore with map merge, RViz.

Nobody has run them with these packages here; see docs/nav2.md. A test compares all parameters with those that the
sources of the packages declare.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml
from jinja2 import Environment, PackageLoader, StrictUndefined

from covey.errors import InvalidValueError, UnknownNameError
from covey.results.folder import unwritable, write_whole
from covey.ros.launch import rviz
from covey.ros.launch.explore import explore, map_merge
from covey.ros.launch.nav2 import nav2
from covey.ros.launch.robots import NEWEST, Localization, NavigatedRobot, navigated
from covey.ros.launch.slam_toolbox import slam_toolbox

if TYPE_CHECKING:
    from covey.scenario.records import Scenario

DISTRIBUTIONS = ("humble", "jazzy", "kilted", "lyrical", "rolling")
LAUNCH_FILE = "team.launch.py"


def write_launch(
    scenario: "Scenario",
    folder: Path,
    distro: str = "jazzy",
    *,
    prefixed: bool = False,
    localization: Localization = "slam_toolbox",
) -> list[Path]:
    """Write a launch file for the team of a scenario, and what it starts needs: parameters and RViz configurations.

    Args:
        scenario: the scenario; robots without a planar lidar are left out.
        folder: where to write, created; files that exist there are replaced.
        distro: the distribution of ROS 2 that will read the files.
        prefixed: the frames begin with the names of the robots, and all are in /tf, so that one RViz shows all robots;
            else each robot has its own ``tf``, as in Nav2's examples. Covey must do the same.
        localization: who says where the robots are: ``slam_toolbox``, which maps, ``amcl`` on the true map, or
            ``covey``.

    Returns:
        The files that were written.

    Raises:
        UnknownNameError: there is no such distribution.
        InvalidValueError: no robot has a planar lidar.
        ScenarioError: the world cannot be made, or the robots do not fit.
        RunFolderError: the folder cannot be written.
    """
    if distro not in DISTRIBUTIONS:
        raise UnknownNameError("ROS distribution", distro, DISTRIBUTIONS)
    robots = navigated(scenario, prefixed, localization)
    if not robots:
        raise InvalidValueError("no robot of the scenario has a planar lidar; slam_toolbox and Nav2 need its scans")
    texts = {LAUNCH_FILE: _launch(scenario.name, robots, distro)}
    if slam := localization == "slam_toolbox":
        texts["map_merge.yaml"] = _yaml(
            map_merge(robots), "Parameters of multirobot_map_merge: where the robots start."
        )
    texts["team.rviz"] = _yaml(rviz.team(robots), "RViz with all robots.")
    for robot in robots:
        of = f"of {robot.name} ({robot.model.name})"
        if slam:
            texts[f"{robot.name}/slam_toolbox.yaml"] = _yaml(slam_toolbox(robot), f"Parameters of slam_toolbox {of}.")
        if localization != "amcl":  # whose map is known
            texts[f"{robot.name}/explore.yaml"] = _yaml(explore(robot), f"Parameters of explore_lite (m-explore) {of}.")
        texts |= {
            f"{robot.name}/nav2.yaml": _yaml(nav2(robot, distro), f"Parameters of Nav2 {of}, for {distro}."),
            f"{robot.name}/robot.rviz": _yaml(rviz.one(robot), f"RViz with all that is known {of}; it sends goals."),
        }
    try:
        for name, text in texts.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            write_whole(folder / name, text.encode())
    except OSError as error:
        raise unwritable(f"into {str(folder)!r}", error) from error
    return [folder / name for name in texts]


def _launch(name: str, robots: list[NavigatedRobot], distro: str) -> str:
    loader = PackageLoader("covey.ros", "launch")
    templates = Environment(loader=loader, undefined=StrictUndefined, trim_blocks=True, keep_trailing_newline=True)
    return templates.get_template(f"{LAUNCH_FILE}.j2").render(
        scenario=name or "without a name",
        starts={robot.name: tuple(round(float(value), 4) for value in robot.start) for robot in robots},
        distro=distro,
        newest=distro in NEWEST,
        prefixed=robots[0].prefixed,
        localization=robots[0].localization,
        slam=robots[0].localization == "slam_toolbox",
    )


def _yaml(data: dict[str, Any], purpose: str) -> str:
    head = f"# {purpose}\n# Written by covey ros launch; explained in Covey's docs/nav2.md.\n"
    return head + yaml.dump(data, Dumper=_Blocks, sort_keys=False, width=120)


class _Blocks(yaml.SafeDumper):
    """Writes a line for each parameter, also for a row of numbers."""

    def represent_sequence(self, tag: str, sequence: Any, flow_style: bool | None = None) -> Any:
        plain = not any(isinstance(one, (dict, list)) for one in sequence)
        return super().represent_sequence(tag, sequence, flow_style=plain)
