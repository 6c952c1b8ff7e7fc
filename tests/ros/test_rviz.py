"""The configurations of RViz name only plugins that there are, and fields and choices that these plugins have."""

import pytest
import yaml

from covey.ros.launch import write_launch
from covey.scenario.load import parse_scenario

QOS = {"Value", "Depth", "History Policy", "Reliability Policy", "Durability Policy"}
TOPIC = {"Topic": QOS}
FIELDS = {
    "rviz_common/Group": {"Displays": None},
    "rviz_common/Displays": {},
    "rviz_common/Views": {},
    "rviz_default_plugins/Map": TOPIC
    | {"Update Topic": QOS, "Alpha": None, "Color Scheme": {"map", "costmap", "raw"}, "Draw Behind": None},
    "rviz_default_plugins/LaserScan": TOPIC
    | {
        "Style": {"Points", "Squares", "Flat Squares", "Spheres", "Boxes", "Tiles"},
        "Size (Pixels)": None,
        "Color Transformer": {"FlatColor", "Intensity", "AxisColor", "RGB8", "RGBF32"},
        "Color": None,
    },
    "rviz_default_plugins/Path": TOPIC | {"Line Style": {"Lines", "Billboards"}, "Color": None},
    "rviz_default_plugins/Polygon": TOPIC | {"Color": None, "Alpha": None},
    "rviz_default_plugins/RobotModel": {
        "Description Source": {"Topic", "File"},
        "Description Topic": QOS,
        "Alpha": None,
        "TF Prefix": None,
    },
    "rviz_default_plugins/TF": {"Show Names": None, "Show Axes": None, "Show Arrows": None, "Marker Scale": None},
    "rviz_default_plugins/Marker": TOPIC,
    "rviz_default_plugins/MarkerArray": TOPIC,
    "rviz_default_plugins/SetGoal": TOPIC,
    "rviz_default_plugins/SetInitialPose": TOPIC,
    "rviz_default_plugins/MoveCamera": {},
    "rviz_default_plugins/Select": {},
    "rviz_default_plugins/FocusCamera": {},
    "rviz_default_plugins/Measure": {},
    "rviz_default_plugins/TopDownOrtho": {"Scale": None, "Angle": None, "X": None, "Y": None, "Target Frame": None},
}
"""Fields by class: None: any value; a set: the choices, or for topics the fields below it. Read from the plugins and
their descriptions in ros2/rviz, humble 9b354826635d, jazzy 591594ee5ae3 and rolling f7112b1ae433."""
CHOICES = {
    "History Policy": {"Keep Last", "Keep All", "System Default"},
    "Reliability Policy": {"Reliable", "Best Effort", "System Default"},
    "Durability Policy": {"Volatile", "Transient Local", "System Default"},
}
OPTIONS = {"Fixed Frame", "Background Color", "Frame Rate"}
TEAM = """
world: {empty_m: [6, 4]}
robots:
  - {name: scout, robot: turtlebot3_burger, start: [[0, 0, 0]]}
"""


def assert_known(part):
    known = FIELDS[part["Class"]]
    for name, value in part.items():
        if name in ("Class", "Name", "Enabled", "Value"):
            continue
        assert name in known, (part["Class"], name)
        allowed = known[name]
        if allowed is QOS:
            assert set(value) <= QOS
            assert all(value[policy] in choices for policy, choices in CHOICES.items())
            assert value["Value"].startswith("/")
        elif allowed is not None:
            assert value in allowed, (part["Class"], name, value)


@pytest.mark.parametrize("localization", ["slam_toolbox", "amcl", "covey"])
@pytest.mark.parametrize("prefixed", [False, True])
def test_every_field_is_one_of_its_plugin(tmp_path, prefixed, localization):
    write_launch(parse_scenario(TEAM), tmp_path, prefixed=prefixed, localization=localization)
    for path in (tmp_path / "team.rviz", tmp_path / "scout0" / "robot.rviz"):
        whole = yaml.safe_load(path.read_text())
        assert set(whole) == {"Panels", "Visualization Manager"}
        manager = whole["Visualization Manager"]
        assert set(manager["Global Options"]) <= OPTIONS
        inside = [part for one in manager["Displays"] for part in one.get("Displays", [])]
        parts = [*whole["Panels"], *manager["Displays"], *inside, *manager["Tools"], manager["Views"]["Current"]]
        for part in parts:
            assert_known(part)
        assert manager["Transformation"]["Current"] == {"Class": "rviz_default_plugins/TF"}
        assert len(parts) > 8


@pytest.mark.parametrize("wrong", [{"Colour": "0; 0; 0"}, {"Style": "Dots"}, {"Topic": {"Valu": "/scan"}}])
def test_a_field_that_a_plugin_lacks_is_noticed(wrong):
    with pytest.raises(AssertionError):
        assert_known({"Class": "rviz_default_plugins/LaserScan", **wrong})
