"""Configurations of RViz: one for the team, one for each robot."""

from typing import Any

from covey.ros.launch.explore import MERGED, WORLD
from covey.ros.launch.robots import TRUE_MAP, NavigatedRobot

_COLORS = ((0, 114, 178), (230, 159, 0), (0, 158, 115), (204, 121, 167), (213, 94, 0), (86, 180, 233), (140, 122, 0))


def team(robots: list[NavigatedRobot]) -> dict[str, Any]:
    """Return RViz with the merged map and, if their frames have their names, what is known of each robot."""
    merged = {"slam_toolbox": f"/{MERGED}", "covey": "/merged_map"}.get(robots[0].localization)
    shown = [
        *([_map("Merged map", merged)] if merged else []),
        _map("True map", TRUE_MAP, enabled=not merged),
        {"Class": "rviz_default_plugins/Marker", "Name": "Links", "Enabled": True, "Topic": _topic("/links")},
    ]
    shared = [robot for robot in robots if robot.prefixed]
    if shared:
        shown.append(_frames(names=True))
    for k, robot in enumerate(shared):
        parts = _seen(robot, _COLORS[k % len(_COLORS)])
        shown.append({"Class": "rviz_common/Group", "Name": robot.name, "Enabled": True, "Displays": parts})
    return _window(WORLD, shown, {})


def one(robot: NavigatedRobot) -> dict[str, Any]:
    """Return RViz for one robot: its map, costmaps, scan, plan and frontiers, and a tool that sends it goals."""
    at = f"/{robot.name}"
    shown = [
        _map("Map", robot.map_topic),
        _map("Global costmap", f"{at}/global_costmap/costmap", scheme="costmap", alpha=0.3),
        _map("Local costmap", f"{at}/local_costmap/costmap", scheme="costmap", alpha=0.5),
        *_seen(robot, _COLORS[0]),
        {"Class": "rviz_default_plugins/MarkerArray", "Name": "Frontiers", "Topic": _topic(f"{at}/explore/frontiers")},
        _frames(names=False),
    ]
    tools = {"SetGoal": f"{at}/goal_pose"}
    if robot.localization == "amcl":
        tools = {"SetInitialPose": f"{at}/initialpose"} | tools
    return _window(robot.frame("map"), [{"Enabled": True} | one for one in shown], tools)


def _seen(robot: NavigatedRobot, color: tuple[int, int, int]) -> list[dict[str, Any]]:
    """Return the scan, the plan and the body of a robot."""
    at, paint = f"/{robot.name}", {"Enabled": True, "Color": "{}; {}; {}".format(*color)}
    scan = {"Style": "Points", "Size (Pixels)": 3, "Color Transformer": "FlatColor"}
    scan |= {"Topic": _topic(f"{at}/{robot.topic}", reliable=False)}
    body = {"Topic": _topic(f"{at}/local_costmap/published_footprint")}
    model = {"Description Source": "Topic", "Description Topic": _topic(f"{at}/robot_description", latched=True)}
    plan = {"Line Style": "Lines", "Topic": _topic(f"{at}/plan")}
    return [
        {"Class": "rviz_default_plugins/LaserScan", "Name": "Scan", **paint, **scan},
        {"Class": "rviz_default_plugins/Path", "Name": "Plan", **paint, **plan},
        {"Class": "rviz_default_plugins/Polygon", "Name": "Body", **paint, **body},
        {"Class": "rviz_default_plugins/RobotModel", "Name": "Model", "Enabled": True, "Alpha": 0.5, **model},
    ]


def _frames(*, names: bool) -> dict[str, Any]:
    shown = {"Class": "rviz_default_plugins/TF", "Name": "Frames", "Enabled": True}
    return {**shown, "Show Names": names, "Marker Scale": 1}


def _window(frame: str, displays: list[dict[str, Any]], sending: dict[str, str]) -> dict[str, Any]:
    tools: list[dict[str, Any]] = [
        {"Class": f"rviz_default_plugins/{name}"} for name in ("MoveCamera", "Select", "FocusCamera", "Measure")
    ]
    tools += [{"Class": f"rviz_default_plugins/{name}", "Topic": _topic(topic)} for name, topic in sending.items()]
    return {
        "Panels": [
            {"Class": "rviz_common/Displays", "Name": "Displays"},
            {"Class": "rviz_common/Views", "Name": "Views"},
        ],
        "Visualization Manager": {
            "Class": "",
            "Displays": displays,
            "Enabled": True,
            "Global Options": {"Background Color": "255; 255; 255", "Fixed Frame": frame, "Frame Rate": 30},
            "Name": "root",
            "Tools": tools,
            "Transformation": {"Current": {"Class": "rviz_default_plugins/TF"}},
            "Value": True,
            "Views": {
                "Current": {
                    "Class": "rviz_default_plugins/TopDownOrtho",
                    "Name": "Current View",
                    "Scale": 25,
                    "Target Frame": "<Fixed Frame>",
                    "X": 0,
                    "Y": 0,
                }
            },
        },
    }


def _map(name: str, topic: str, scheme: str = "map", alpha: float = 1.0, *, enabled: bool = True) -> dict[str, Any]:
    return {
        "Class": "rviz_default_plugins/Map",
        "Name": name,
        "Enabled": enabled,
        "Alpha": alpha,
        "Color Scheme": scheme,
        "Draw Behind": scheme == "map",
        "Topic": _topic(topic, latched=True),
        "Update Topic": _topic(f"{topic}_updates"),
    }


def _topic(name: str, *, latched: bool = False, reliable: bool = True) -> dict[str, Any]:
    return {
        "Value": name,
        "Depth": 1 if latched else 5,
        "History Policy": "Keep Last",
        "Reliability Policy": "Reliable" if reliable else "Best Effort",
        "Durability Policy": "Transient Local" if latched else "Volatile",
    }
