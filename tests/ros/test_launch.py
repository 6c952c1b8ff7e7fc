"""`covey ros launch`: what is in the files, and what the launch file would start."""

import ast
import runpy
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
import yaml

from covey.cli import main
from covey.errors import InvalidValueError, UnknownNameError
from covey.ros.launch import DISTRIBUTIONS, write_launch
from covey.scenario.load import parse_scenario

TEAM = """
name: pair
world: {empty_m: [12, 8]}
robots:
  - {name: wide, robot: pioneer3dx, start: [[-4, -1, 30]]}
  - {name: round, robot: {base: disc, max_speed_m_s: 0.4}, start: [[0, 1, -90]]}
  - {name: flyer, robot: aerial_scout, start: [[3, -2, 0]]}
"""
LOCALIZATIONS = ("slam_toolbox", "amcl", "covey")
DECLARED = yaml.safe_load((Path(__file__).parent / "declared_parameters.yaml").read_text())
"""What the stock packages declare, by node or plugin, type and distribution; the file names its sources."""
TYPES = {"bool": bool, "int": int, "double": float, "string": str, "strings": [str], "doubles": [float]}


def written(folder, distro="jazzy", **how):
    write_launch(parse_scenario(TEAM), folder, distro, **how)
    return folder


def parameters(path):
    return yaml.safe_load(path.read_text())


def leaves(tree, path=()):
    for key, value in tree.items():
        yield from leaves(value, (*path, key)) if isinstance(value, dict) else [((*path, key), value)]


@pytest.mark.parametrize("prefixed", [False, True])
@pytest.mark.parametrize("distro", DISTRIBUTIONS)
def test_all_files_are_valid_and_of_their_robot(tmp_path, distro, prefixed):
    folder = written(tmp_path, distro, prefixed=prefixed)
    assert sorted(path.name for path in folder.iterdir()) == sorted(
        ["map_merge.yaml", "round0", "team.launch.py", "team.rviz", "wide0"]
    )  # the flyer has no lidar
    ast.parse((folder / "team.launch.py").read_text())
    for robot in ("round0", "wide0"):
        for file in ("nav2.yaml", "slam_toolbox.yaml", "explore.yaml"):
            found = dict(leaves(parameters(folder / robot / file)))
            assert {path[0] for path in found} == {robot}
            for path, value in found.items():
                assert "ros__parameters" in path
                for one in value if isinstance(value, list) else [value]:
                    # an absolute topic is one of this robot: with Nav2's own /scan and /odom, robots hear the others
                    assert not (isinstance(one, str) and one.startswith("/")) or one.startswith(f"/{robot}/"), path
            sections = {path[: path.index("ros__parameters")] for path in found}
            assert all(found[(*section, "ros__parameters", "use_sim_time")] is True for section in sections)
        assert parameters(folder / robot / "robot.rviz")["Visualization Manager"]["Displays"]


def declared(part, distro):
    """Return types by name of what a node or plugin declares."""
    found = {}
    moves = DECLARED["drives"] if part in ("controller_server", "behavior_server", "velocity_smoother") else {}
    for how, names in [*DECLARED[part].items(), *moves.items()]:
        kind, _, only = how.partition(": ")
        if not only or distro in only.split():
            found |= dict.fromkeys(names, TYPES[kind])
    return found


def assert_declared(part, given, distro):
    """Assert that a node or plugin, and the plugins in it, declare what they are given, of its type."""
    known = declared(part, distro)
    for name, value in given.items():
        if isinstance(value, dict) and "plugin" in value:
            assert distro in DECLARED["plugins"][value["plugin"]], value
            plugin = value["plugin"].replace("/", "::")
            assert_declared(plugin if plugin in DECLARED else part, value, distro)  # behaviors: those of their server
        elif isinstance(value, dict) and name in (*given.get("observation_sources", "").split(), "initial_pose"):
            dotted = {f"{name}.{key}": one for key, one in value.items()}
            assert_declared(part, dotted if name == "initial_pose" else value, distro)
        elif name not in ("use_sim_time", "plugin"):
            assert name in known, (distro, part, name)
            kind = known[name]
            inside, kind = (value, kind[0]) if isinstance(kind, list) else ([value], kind)
            assert all(type(one) is kind for one in inside), (distro, part, name, value, kind)


@pytest.mark.parametrize("localization", LOCALIZATIONS)
@pytest.mark.parametrize("distro", DISTRIBUTIONS)
def test_every_parameter_is_one_that_its_node_declares(tmp_path, distro, localization):
    folder = written(tmp_path, distro, localization=localization)
    seen = set()
    for robot in ("round0", "wide0"):
        for path in (folder / robot).glob("*.yaml"):
            for node, tree in parameters(path)[robot].items():
                part = "costmap" if node.endswith("costmap") else node
                given = (tree[node] if part == "costmap" else tree)["ros__parameters"]
                assert_declared(part, given, distro)
                seen.add(node)
    if localization == "slam_toolbox":
        merge = parameters(folder / "map_merge.yaml")["map_merge"]["ros__parameters"]
        assert_declared("map_merge", {name: one for name, one in merge.items() if "init_pose" not in name}, distro)
    assert ("amcl" in seen, "slam_toolbox" in seen, "explore_node" in seen) == {
        "slam_toolbox": (False, True, True),
        "amcl": (True, False, False),
        "covey": (False, False, True),
    }[localization]
    assert {"controller_server", "planner_server", "behavior_server", "bt_navigator", "local_costmap"} <= seen


def test_a_parameter_that_no_node_declares_or_of_another_type_is_noticed():
    follow = {"plugin": "nav2_regulated_pure_pursuit_controller::RegulatedPurePursuitController"}
    assert_declared("controller_server", {"FollowPath": follow | {"max_linear_vel": 1.0}}, "rolling")
    for wrong in ({"max_linear_vel": 1.0}, {"desired_linear_vel": 1}, {"lookahead_time": True}):
        with pytest.raises(AssertionError):
            assert_declared("controller_server", {"FollowPath": follow | wrong}, "jazzy")
    with pytest.raises(AssertionError):
        assert_declared("planner_server", {"GridBased": {"plugin": "nav2_navfn_planner/NavfnPlanner"}}, "jazzy")


def test_numbers_come_from_the_scenario(tmp_path):
    folder = written(tmp_path)
    nav2 = parameters(folder / "wide0" / "nav2.yaml")["wide0"]
    follow = nav2["controller_server"]["ros__parameters"]["FollowPath"]
    smoother = nav2["velocity_smoother"]["ros__parameters"]
    local = nav2["local_costmap"]["local_costmap"]["ros__parameters"]
    assert nav2["controller_server"]["ros__parameters"]["controller_frequency"] == 10.0  # steps of 0.1 s
    assert follow["desired_linear_vel"] == 1.2  # the Pioneer 3-DX of Yan et al. 2017
    assert smoother["max_velocity"] == [1.2, 0.0, 5.24]
    assert smoother["max_accel"] == [2.5, 0.0, 3.2]
    assert yaml.safe_load(local["footprint"])[0] == [0.254, -0.0508]
    assert "robot_radius" not in local
    ring = parameters(folder / "round0" / "nav2.yaml")["round0"]["local_costmap"]["local_costmap"]["ros__parameters"]
    assert ring["robot_radius"] == 0.15
    slam = parameters(folder / "round0" / "slam_toolbox.yaml")["round0"]["slam_toolbox"]["ros__parameters"]
    assert (slam["max_laser_range"], slam["scan_topic"], slam["map_name"]) == (8.0, "scan", "map")
    merged = parameters(folder / "map_merge.yaml")["map_merge"]["ros__parameters"]
    assert [merged[f"/wide0/map_merge/init_pose_{axis}"] for axis in ("x", "y", "z", "yaw")] == [
        -4.0,
        -1.0,
        0.0,
        0.5236,
    ]
    assert merged["merged_map_topic"] not in ("map", "merged_map", "true_map")  # which are Covey's


@pytest.mark.parametrize(
    ("distro", "stamped", "speed", "checkers"),
    [
        ("humble", None, "desired_linear_vel", "progress_checker_plugin"),
        ("jazzy", False, "desired_linear_vel", "progress_checker_plugins"),
        ("kilted", True, "desired_linear_vel", "progress_checker_plugins"),
        ("rolling", True, "max_linear_vel", "progress_checker_plugins"),
    ],
)
def test_names_follow_the_distribution(tmp_path, distro, stamped, speed, checkers):
    nav2 = parameters(written(tmp_path, distro) / "wide0" / "nav2.yaml")["wide0"]
    for name in ("controller_server", "behavior_server", "velocity_smoother"):
        assert nav2[name]["ros__parameters"].get("enable_stamped_cmd_vel") is stamped
    controller = nav2["controller_server"]["ros__parameters"]
    assert controller["FollowPath"][speed] == 1.2
    assert checkers in controller
    assert ("path_handler_plugins" in controller) == (distro == "rolling")


def test_frames_are_shared_or_each_robots_own(tmp_path):
    own, shared = written(tmp_path / "own"), written(tmp_path / "shared", prefixed=True)
    for folder, before in ((own, ""), (shared, "wide0/")):
        found = {path[-1]: value for path, value in leaves(parameters(folder / "wide0" / "slam_toolbox.yaml"))}
        assert [found[f"{one}_frame"] for one in ("map", "odom", "base")] == [
            f"{before}{frame}" for frame in ("map", "odom", "base_link")
        ]
        view = parameters(folder / "wide0" / "robot.rviz")["Visualization Manager"]
        assert view["Global Options"]["Fixed Frame"] == f"{before}map"
    groups = [one["Name"] for one in parameters(shared / "team.rviz")["Visualization Manager"]["Displays"]]
    assert {"wide0", "round0"} <= set(groups)


def started(folder, monkeypatch, declared=None, **arguments):
    """Return what the launch file starts: nodes as (package, executable or plugin, name), with their arguments.

    The packages launch and launch_ros are not on PyPI: each class here only keeps what it is given.
    """

    def module(name, *classes, **others):
        made = ModuleType(name)
        for one in classes:
            setattr(made, one, lambda *given, one=one, **named: SimpleNamespace(kind=one, given=given, **named))
        vars(made).update(others)
        monkeypatch.setitem(sys.modules, name, made)

    module("launch", "LaunchDescription")
    module("launch.actions", "DeclareLaunchArgument", "OpaqueFunction")
    module("launch_ros")
    module("launch_ros.actions", "LoadComposableNodes", "Node")
    module("launch_ros.descriptions", "ComposableNode")
    described = runpy.run_path(str(folder / "team.launch.py"))["generate_launch_description"]().given[0]
    known = {one.given[0]: one for one in described if one.kind == "DeclareLaunchArgument"}
    for name, value in arguments.items():
        assert known[name].choices is None or value in known[name].choices
    if declared is not None:
        declared |= known
    chosen = {name: one.default_value for name, one in known.items()}
    (begin,) = (one for one in described if one.kind == "OpaqueFunction")
    return begin.function(SimpleNamespace(launch_configurations=chosen | arguments))


def nodes(actions):
    inside = [node for one in actions if one.kind == "LoadComposableNodes" for node in one.composable_node_descriptions]
    return [*(one for one in actions if one.kind == "Node"), *inside]


@pytest.mark.parametrize("distro", DISTRIBUTIONS)
def test_the_launch_file_starts_the_nodes_of_each_robot_in_its_namespace(tmp_path, monkeypatch, distro):
    folder = written(tmp_path, distro)
    every = nodes(started(folder, monkeypatch))
    for robot in ("wide0", "round0"):
        mine = {one.name: one for one in every if one.namespace == robot}
        assert set(mine) == {
            "slam_toolbox",
            "nav2_container",
            "controller_server",
            "planner_server",
            "behavior_server",
            "bt_navigator",
            "velocity_smoother",
            "lifecycle_manager",
        }
        # every node that is configured by a file has its section there, under its namespace
        for name, one in mine.items():
            files = [given for given in one.parameters if isinstance(given, str)]
            if files and name != "nav2_container":
                assert name in parameters(folder / files[0].removeprefix(f"{folder}/"))[robot]
            if name != "lifecycle_manager":
                assert ("/tf", "tf") in one.remappings
        managed = mine["lifecycle_manager"].parameters[-1]["node_names"]
        assert set(managed) <= set(mine)
        assert ("slam_toolbox" in managed) == (distro != "humble")  # where it has a life cycle
        writers = [
            name for name, one in mine.items() if ("cmd_vel_smoothed", "cmd_vel") in getattr(one, "remappings", ())
        ]
        assert writers == ["velocity_smoother"]
        assert all(
            ("cmd_vel", "cmd_vel_nav") in mine[name].remappings
            for name in ("controller_server", "behavior_server", "velocity_smoother")
        )


@pytest.mark.parametrize("localization", LOCALIZATIONS)
def test_each_argument_says_what_it_is_for(tmp_path, monkeypatch, localization):
    folder, found = written(tmp_path, localization=localization), {}
    started(folder, monkeypatch, declared=found)
    common = {"robots": "wide0,round0", "nav2": "true", "rviz": "none", "autostart": "true", "log_level": "info"}
    only = {"slam_toolbox": ("explore", "merge"), "covey": ("explore",), "amcl": ()}[localization]
    assert {name: one.default_value for name, one in found.items()} == common | dict.fromkeys(only, "false")
    for name, one in found.items():
        assert len(one.description) > 20
        assert one.choices is None if name == "robots" else one.default_value in one.choices
    assert found["rviz"].choices == ["none", "team", "wide0", "round0"]


@pytest.mark.parametrize("prefixed", [False, True])
def test_amcl_localizes_on_the_true_map(tmp_path, monkeypatch, prefixed):
    folder = written(tmp_path, localization="amcl", prefixed=prefixed)
    every = nodes(started(folder, monkeypatch, robots="round0"))
    mine = {one.name: one for one in every}
    assert mine["lifecycle_manager"].parameters[-1]["node_names"][0] == "amcl"
    assert {"slam_toolbox", "start"}.isdisjoint(mine)
    nav2 = parameters(folder / "round0" / "nav2.yaml")["round0"]
    amcl = nav2["amcl"]["ros__parameters"]
    assert (amcl["global_frame_id"], amcl["map_topic"]) == ("map", "/true_map")  # the world's, so without a prefix
    assert amcl["odom_frame_id"] == ("round0/odom" if prefixed else "odom")
    assert amcl["initial_pose"] == {"x": 0.0, "y": 1.0, "z": 0.0, "yaw": -1.5708}
    costmap = nav2["global_costmap"]["global_costmap"]["ros__parameters"]
    assert (costmap["global_frame"], costmap["static_layer"]["map_topic"]) == ("map", "/true_map")
    tools = parameters(folder / "round0" / "robot.rviz")["Visualization Manager"]["Tools"]
    assert [one["Topic"]["Value"] for one in tools if "Topic" in one] == ["/round0/initialpose", "/round0/goal_pose"]


def test_without_nav2_only_the_localization_is_started(tmp_path, monkeypatch):
    def names(distro, localization):
        folder = written(tmp_path / distro / localization, distro, localization=localization)
        every = nodes(started(folder, monkeypatch, robots="wide0", nav2="False"))
        return {one.name: one for one in every}

    assert set(names("humble", "slam_toolbox")) == {"slam_toolbox"}
    jazzy = names("jazzy", "slam_toolbox")
    assert set(jazzy) == {"slam_toolbox", "lifecycle_manager"}
    assert jazzy["lifecycle_manager"].parameters[-1]["node_names"] == ["slam_toolbox"]
    assert set(names("kilted", "amcl")) == {"nav2_container", "amcl", "lifecycle_manager"}
    assert not names("kilted", "covey")


def test_covey_localizes(tmp_path, monkeypatch):
    folder = written(tmp_path / "shared", localization="covey", prefixed=True)
    every = nodes(started(folder, monkeypatch, explore="true", autostart="false", log_level="warn"))
    assert {"slam_toolbox", "amcl", "start"}.isdisjoint(one.name for one in every)
    (manager,) = (one for one in every if one.name == "lifecycle_manager" and one.namespace == "wide0")
    assert manager.parameters[-1]["autostart"] is False
    assert manager.arguments == ["--ros-args", "--log-level", "warn"]

    def costmap(folder):
        nav2 = parameters(folder / "wide0" / "nav2.yaml")["wide0"]
        return nav2["global_costmap"]["global_costmap"]["ros__parameters"]

    static = costmap(folder)["static_layer"]
    assert (static["map_topic"], static["subscribe_to_updates"]) == ("/wide0/map", True)
    assert costmap(folder)["global_frame"] == "map"
    apart = TEAM[: TEAM.index("  - {name: flyer")] + "share_maps: {start_poses: unknown}\n"
    write_launch(parse_scenario(apart), tmp_path / "apart", localization="covey", prefixed=True)
    assert costmap(tmp_path / "apart")["global_frame"] == "wide0/map"


def test_arguments_choose_what_is_started(tmp_path, monkeypatch):
    folder = written(tmp_path, prefixed=True)
    asked = {"robots": "wide0", "explore": "true", "merge": "True", "rviz": "team"}
    found = {one.name if hasattr(one, "name") else one.package for one in nodes(started(folder, monkeypatch, **asked))}
    assert {"explore_node", "map_merge", "rviz2", "start"} <= found
    every = nodes(started(folder, monkeypatch, **asked))
    assert {one.namespace for one in every if hasattr(one, "namespace")} == {"wide0", ""}
    (start,) = (one for one in every if getattr(one, "name", "") == "start")
    where = "--x -4.0 --y -1.0 --yaw 0.5236 --frame-id map --child-frame-id wide0/map"
    assert start.arguments == where.split()
    with pytest.raises(RuntimeError, match="no robot is named wide7; there are wide0, round0"):
        started(folder, monkeypatch, robots="wide7")


def test_a_team_without_lidar_is_refused(tmp_path):
    scenario = parse_scenario(TEAM)
    blind = scenario.model_copy(update={"robots": scenario.robots[2:]})
    with pytest.raises(InvalidValueError, match="no robot of the scenario has a planar lidar"):
        write_launch(blind, tmp_path)
    with pytest.raises(UnknownNameError, match="jazy"):
        write_launch(scenario, tmp_path, "jazy")


def test_the_command(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ROS_DISTRO", "kilted")
    (tmp_path / "pair.yaml").write_text(TEAM)
    assert main(["ros", "launch", "pair.yaml", "-s", "robots.wide.count=1"]) == 0
    out = capsys.readouterr().out
    assert "pair-ros  11 files for ROS 2 kilted" in out
    assert "kilted" in (tmp_path / "pair-ros" / "team.launch.py").read_text()
    assert main(["ros", "launch", "pair.yaml", "--localization", "amcl", "--out", "known"]) == 0
    assert "covey ros run pair.yaml --no-localization --map --distro kilted" in capsys.readouterr().out
    assert main(["ros", "launch", "nowhere"]) == 2
