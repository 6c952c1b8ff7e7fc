"""`covey ros messages`: the packages whose services Covey offers, and that their types are those that it announces."""

import hashlib
import json
import re
from xml.etree import ElementTree

import pytest

from covey.cli import main
from covey.ros.definitions import SERVICES
from covey.ros.packages import PACKAGES
from covey.ros.types import types_of

MADE_BY_ROS = {
    "maes_msgs/srv/BroadcastToAll_Request": "a5da8351cbc3ea059f481aa847c4852186675b2b5ee9636669b5afb06b980917",
    "maes_msgs/srv/BroadcastToAll_Response": "a35a825a55d43baf59b59cb74817e8a10b223df336b243d38ba81786e276e904",
    "maes_msgs/srv/DepositTag_Request": "a585493ac64b26a1544166caf0523318a0c3bac6fe3f6b31d25080a1b2bb4a1e",
    "maes_msgs/srv/DepositTag_Response": "30ec4d539f57665d664ee99254d32f4c3ff6d348110ccad2aec8bb746cc12bf1",
    "scoring_interfaces/srv/SetMarkerPosition_Request": (
        "17ec815ee6c4788d2e6c82d3a2ec6b75d590066307a3a1b7d10b7e2f3898dc96"
    ),
    "scoring_interfaces/srv/SetMarkerPosition_Response": (
        "4556ab2edb5a3d87f838c587476471c7432dff4347981dbfc3ebb072a8171db0"
    ),
}
"""Made from the written files by ROS 2's own rosidl_adapter and rosidl_generator_type_description (ros2/rosidl, jazzy)."""
IDS = {"int8": 2, "float64": 11, "bool": 15, "string": 17}  # of type_description_interfaces/msg/FieldType
POINT = [("x", "float64"), ("y", "float64"), ("z", "float64")]


@pytest.fixture
def written(tmp_path, capsys):
    assert main(["ros", "messages", str(tmp_path / "src")]) == 0
    assert "colcon build --packages-select maes_msgs scoring_interfaces" in capsys.readouterr().out
    return tmp_path / "src"


def test_a_package_names_all_of_its_files_and_what_they_need(written):
    for package, needs in (("maes_msgs", set()), ("scoring_interfaces", {"geometry_msgs"})):
        described = ElementTree.parse(written / package / "package.xml").getroot()
        assert (described.get("format"), described.findtext("name")) == ("3", package)
        assert described.findtext("member_of_group") == "rosidl_interface_packages"
        assert described.findtext("export/build_type") == "ament_cmake"
        assert {one.text for one in described.findall("depend")} == needs
        cmake = (written / package / "CMakeLists.txt").read_text()
        files = {str(path.relative_to(written / package)) for path in (written / package / "srv").iterdir()}
        assert set(re.findall(r'"(srv/\w+\.srv)"', cmake)) == files
        assert f"project({package})" in cmake
        found = set(re.findall(r"find_package\((\w+) REQUIRED\)", cmake))
        assert found == {"ament_cmake", "rosidl_default_generators"} | needs
        assert set(re.findall(r"DEPENDENCIES (\w+)", cmake)) == needs
    mine = {f"{path.parts[-3]}/srv/{path.stem}" for path in written.rglob("*.srv")}
    assert mine == {name for name in SERVICES if name.split("/")[0] in PACKAGES}


def test_the_files_are_those_of_maes(written):
    """As maes_msgs of MalteZA/MAES has them."""
    for name in ("BroadcastToAll", "DepositTag"):
        assert (written / "maes_msgs" / "srv" / f"{name}.srv").read_text() == "string msg\n---\nbool result\n"


def described(name, fields):
    """Return the description of a type as REP 2016 hashes it."""

    def kind(of):
        nested = "/" in of
        return {
            "type_id": 1 if nested else IDS[of],
            "capacity": 0,
            "string_capacity": 0,
            "nested_type_name": of if nested else "",
        }

    return {"type_name": name, "fields": [{"name": field, "type": kind(of)} for field, of in fields]}


def test_the_hashes_of_the_files_are_those_that_covey_announces(written):
    hashes = {}
    for path in written.rglob("*.srv"):
        for text, end in zip(path.read_text().split("---"), ("Request", "Response"), strict=True):
            fields = [tuple(reversed(line.split())) for line in text.split("\n") if line]
            fields = [(name, of.replace("/", "/msg/")) for name, of in fields]
            name = f"{path.parts[-3]}/srv/{path.stem}_{end}"
            nested = [described("geometry_msgs/msg/Point", POINT)] if "geometry_msgs" in text else []
            whole = {"type_description": described(name, fields), "referenced_type_descriptions": nested}
            as_text = json.dumps(whole, ensure_ascii=True, separators=(", ", ": "), sort_keys=False)
            hashes[name] = hashlib.sha256(as_text.encode()).hexdigest()
    assert hashes == MADE_BY_ROS
    for distro in ("jazzy", "kilted", "lyrical", "rolling"):
        assert {name: types_of(distro).hash(name) for name in hashes} == {
            name: f"RIHS01_{digits}" for name, digits in hashes.items()
        }


def test_a_folder_that_cannot_be_written_is_said(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert main(["ros", "messages", str(tmp_path / "file")]) == 2
    assert "file" in capsys.readouterr().err
