"""`covey ros launch` and `covey ros messages`: files for packages of ROS 2, and packages."""

import os
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from covey.ros.launch import LAUNCH_FILE, write_launch
from covey.ros.launch.robots import Localization
from covey.scenario.folders import folder_name
from covey.scenario.load import load_scenario

_HOW = {"slam_toolbox": "--no-localization", "amcl": "--no-localization --map", "covey": "--no-navigation"}


def launch_command(
    source: str,
    changes: Mapping[str, Any],
    out: Path | None,
    distro: str | None,
    *,
    prefixed: bool,
    localization: Localization,
) -> None:
    """Write the files, and say how they are used."""
    scenario = load_scenario(source, changes)
    folder = out or Path(f"{folder_name(scenario.name)}-ros")
    distro = distro or os.environ.get("ROS_DISTRO") or "jazzy"
    written = write_launch(scenario, folder, distro, prefixed=prefixed, localization=localization)
    print(f"{folder}  {len(written)} files for ROS 2 {distro}, explained in docs/nav2.md")
    same = "".join(f" -s {key}={shlex.quote(str(value))}" for key, value in changes.items())
    print(f"robots  covey ros run {source}{same} {_HOW[localization]}{' --prefixed' * prefixed} --distro {distro}")
    print(f"start   ros2 launch {folder / LAUNCH_FILE}")


def messages_command(folder: Path) -> None:
    """Write the packages, and say how they are built."""
    from covey.ros.packages import PACKAGES, write_packages

    written = write_packages(folder)
    print(f"{folder}  {len(written)} files of {', '.join(PACKAGES)}")
    print(f"build   in the workspace above: colcon build --packages-select {' '.join(PACKAGES)}")
