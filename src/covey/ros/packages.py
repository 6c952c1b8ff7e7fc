"""Interface packages of ROS 2 for the services that no released package has: ``maes_msgs``, ``scoring_interfaces``.

They are written from the definitions that Covey itself uses, so their type hashes are those that Covey announces.
"""

import re
from pathlib import Path

from covey.results.folder import unwritable, write_whole
from covey.ros.definitions import SERVICES

PACKAGES = {
    "maes_msgs": "Services of the MAES simulator that Covey offers: broadcasts, and tags that robots leave.",
    "scoring_interfaces": "The service by which a robot of the rescue course reports what it has found.",
}
_CMAKE = """cmake_minimum_required(VERSION 3.8)
project({package})

find_package(ament_cmake REQUIRED)
find_package(rosidl_default_generators REQUIRED)
{finds}
rosidl_generate_interfaces(${{PROJECT_NAME}}
{files}
{depends})

ament_export_dependencies(rosidl_default_runtime)
ament_package()
"""
_XML = """<?xml version="1.0"?>
<package format="3">
  <name>{package}</name>
  <version>1.0.0</version>
  <description>{about}</description>
  <maintainer email="nobody@example.org">whoever builds it</maintainer>
  <license>Apache-2.0</license>

  <buildtool_depend>ament_cmake</buildtool_depend>
  <buildtool_depend>rosidl_default_generators</buildtool_depend>
{depends}  <exec_depend>rosidl_default_runtime</exec_depend>
  <member_of_group>rosidl_interface_packages</member_of_group>

  <export>
    <build_type>ament_cmake</build_type>
  </export>
</package>
"""


def write_packages(folder: Path) -> list[Path]:
    """Write the packages into a folder, such as the ``src`` of a workspace; ``colcon build`` builds them.

    Args:
        folder: created; files that exist there are replaced.

    Returns:
        The files that were written.

    Raises:
        RunFolderError: the folder cannot be written.
    """
    texts: dict[Path, str] = {}
    for package, about in PACKAGES.items():
        services = {name.split("/")[2]: text for name, text in SERVICES.items() if name.startswith(f"{package}/")}
        needs = sorted({one for text in services.values() for one in re.findall(r"(\w+)/\w+ ", text)} - {package})
        files = "\n".join(f'  "srv/{name}.srv"' for name in services)
        finds = "".join(f"find_package({one} REQUIRED)\n" for one in needs)
        depends = f"  DEPENDENCIES {' '.join(needs)}\n" if needs else ""
        cmake = _CMAKE.format(package=package, finds=finds, files=files, depends=depends)
        texts[folder / package / "CMakeLists.txt"] = cmake
        depends = "".join(f"  <depend>{one}</depend>\n" for one in needs)
        texts[folder / package / "package.xml"] = _XML.format(package=package, about=about, depends=depends)
        texts |= {folder / package / "srv" / f"{name}.srv": f"{text}\n" for name, text in services.items()}
    try:
        for path, text in texts.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, text.encode())
    except OSError as error:
        raise unwritable(f"into {str(folder)!r}", error) from error
    return list(texts)
