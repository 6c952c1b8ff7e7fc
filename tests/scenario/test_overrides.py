"""Single values of a scenario changed by their path."""

import re

import pytest

import covey
from covey.errors import ScenarioError
from covey.registry import looking
from covey.scenario.load import load_scenario, parse_scenario
from covey.scenario.overrides import override, parse_override
from covey.scenario.records import Scenario
from covey.scenario.shipped import find_scenario


@pytest.fixture(scope="module")
def maze() -> Scenario:
    return load_scenario("maze")


def test_replace_changes_one_value_and_not_the_original(maze):
    assert maze.replace("robots.scout.count", 20).robots[0].count == 20
    assert maze.robots[0].count == 6


def test_a_path_leads_into_what_the_file_names_only_by_name_or_not_at_all(maze):
    changed = override(
        maze,
        {
            "robots.0.robot.sensors.lidar.range_m": 10,
            "robots.scout.robot.max_speed_m_s": 0.5,
            "robots.scout.controller.min_cells": 3,
            "stop.timeout_s": 50,
            "world": {"empty_m": [50, 90]},
            "execution.step_s": 0.2,
            "execution.substep_s": 0.04,
            "name": "other",
        },
    )
    group = changed.robots[0]
    assert (group.robot.sensors[0].range_m, group.robot.max_speed_m_s, group.robot.name) == (10, 0.5, "pioneer3dx")
    assert group.controller.parameters == {"min_cells": 3}
    assert (changed.stop.timeout_s, changed.stop.explored, changed.world.empty_m) == (50, 0.99, (50, 90))
    assert changed.execution.step_s == 0.2


def test_a_record_is_changed_before_its_fields_in_any_order(maze):
    changes = {
        "robots.scout.robot.max_speed_m_s": 0.3,
        "robots.scout.robot": "turtlebot3_burger",
        "robots.scout.controller": "market",
        "robots.scout.controller.auction_s": 9,
        "radio.range_m": 7,
        "radio": {"loss": 0.5},
    }
    for order in (changes, dict(reversed(changes.items()))):
        changed = override(maze, order)
        group = changed.robots[0]
        assert (group.robot.name, group.robot.max_speed_m_s) == ("turtlebot3_burger", 0.3)
        assert (group.controller.reference, group.controller.parameters) == ("market", {"auction_s": 9})
        assert (changed.radio.range_m, changed.radio.loss) == (7, 0.5)


def test_a_controller_is_changed_at_once_with_the_parameters_that_it_needs(maze, tmp_path):
    (tmp_path / "mine.py").write_text(
        "class Go:\n    def __init__(self, p: int, q: int = 2): ...\n    def step(self, robot): ...\n"
    )
    go, at = f"{tmp_path}/mine.py:Go", "robots.scout.controller"
    for changes in ({at: go, f"{at}.p": 1}, {at: {"name": go, "q": 2}, f"{at}.p": 1}):
        for order in (changes, dict(reversed(changes.items()))):
            controller = override(maze, order).robots[0].controller
            assert (controller.reference, controller.parameters["p"]) == (go, 1)
            assert "min_cells" not in controller.parameters
    for more, problem in (
        ({}, "needs the parameter 'p'"),
        ({f"{at}.q": 1}, "needs the parameter 'p'"),
        ({f"{at}.p": "x"}, "must be a number; given: 'x'"),
    ):
        with pytest.raises(ScenarioError) as caught:
            override(maze, {at: go, **more})
        (found,) = caught.value.problems
        assert str(found).endswith(problem)
        assert ": name: " not in str(found)


def test_null_stands_for_nothing_and_a_path_below_it_makes_something():
    scenario = parse_scenario("world: {empty_m: [9, 9]}\nrobots: [{robot: disc}]")
    assert scenario.share_maps is None
    sharing = scenario.replace("share_maps.every_s", 2)
    assert sharing.share_maps is not None
    assert sharing.share_maps.every_s == 2
    assert sharing.replace("share_maps", None) == scenario


@pytest.mark.parametrize(
    ("changes", "problems"),
    [
        ({"robots.scot.count": 3}, ["-s robots.scot.count: there is no 'scot' here, did you mean 'scout'?"]),
        ({"robots.7.count": 3}, ["-s robots.7.count: there is no '7' here; known: scout"]),
        ({"robot.scout.count": 3}, ["-s robot.scout.count: unknown key 'robot', did you mean 'robots'?"]),
        ({"robots.scout.count": 0}, ["-s robots.scout.count: must be greater than or equal to 1; given: 0"]),
        ({"record": None}, ["-s record: must be a mapping (key: value); given: null (nothing)"]),
        ({"seed.x": 3}, ["-s seed.x: is the single value 0; there is nothing named 'x' in it"]),
        ({"share_maps.every_s": 0.15}, ["-s share_maps.every_s: 0.15 s is not a multiple of the step of 0.1 s"]),
        (
            {"robots.scout.robot.sensors.lidar.range": 3},
            ["-s robots.scout.robot.sensors.lidar.range: unknown key 'range', did you mean 'range_m'?"],
        ),
        (
            {"robots.scout.controller.min_cels": 3},
            [
                "-s robots.scout.controller.min_cels: controller 'nearest_frontier' has no parameter 'min_cels', "
                "did you mean 'min_cells'?"
            ],
        ),
        (
            {"robots.scout.controller.definition": "foo", "robots.scout.controller": "market"},
            ["-s robots.scout.controller.definition: must be 'explore', "],
        ),
        (
            {"bogus": 1, "other.deep": 2},
            ["-s bogus: unknown key 'bogus'; known: ", "-s other.deep: unknown key 'other'; known: "],
        ),
        (
            {"radio": {"loss": 0.5}, "radio.bogus": 9},
            ["-s radio.bogus: unknown key 'bogus'; known: "],
        ),
        (
            {"stop.explord": 1, "robots.scout.cout": 1, "stop.timeout_s": -1, "world.terrain": "mase"},
            [
                "-s robots.scout.cout: unknown key 'cout', did you mean 'count'?",
                "-s stop.explord: unknown key 'explord', did you mean 'explored'?",
                "-s stop.timeout_s: must be greater than 0; given: -1",
                "-s world.terrain: must be 'loop', 'cross', 'zigzag' or 'maze'; given: 'mase'",
            ],
        ),
    ],
)
def test_a_bad_change_says_which_and_why(maze, changes, problems):
    with pytest.raises(ScenarioError) as caught:
        override(maze, changes)
    found = sorted(map(str, caught.value.problems))
    assert [
        said[: len(whole)] if whole.endswith(" ") else said for said, whole in zip(found, problems, strict=True)
    ] == problems


@pytest.mark.parametrize(
    ("text", "value"),
    [("a.b=1e3", 1000.0), ("a.b=on", "on"), ("a.b={c: [1]}", {"c": [1]}), ("a.b=", None), ("a.b='1'", "1")],
)
def test_values_typed_are_yaml(text, value):
    assert parse_override(text) == ("a.b", value)


@pytest.mark.parametrize("text", ["count", "=3", "a.b=[1", "a.b={c: 1, c: 2}"])
def test_what_is_not_key_value_is_refused(text):
    with pytest.raises(ScenarioError, match="-s "):
        parse_override(text)


def test_a_controller_made_in_python_keeps_its_object_and_takes_parameters():
    def spin(robot, *, rate=1.0): ...

    scenario = Scenario.model_validate({"world": {"empty_m": [9, 9]}, "robots": [{"name": "a", "controller": spin}]})
    changed = scenario.replace("robots.a.controller.rate", 2.0).replace("robots.a.count", 2)
    assert changed.robots[0].controller.target is spin
    assert changed.robots[0].controller.parameters == {"rate": 2.0}
    with pytest.raises(ScenarioError, match="has no parameter 'rat', did you mean 'rate'"):
        scenario.replace("robots.a.controller.rat", 2.0)


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        ("robots.count=8", "-s robots.count: there is no 'count' here, did you mean robots.scout.count?"),
        ("count=8", "-s count: unknown key 'count', did you mean robots.scout.count?"),
        ("robots.sensors=8", "-s robots.sensors: there is no 'sensors' here; known: scout"),
        ("world.generate=office", "another kind of world replaces all of it: world={generate: …}"),
        (
            "robots.scout.localization.particles.preset=gmapping",
            "another kind of localization replaces all of it: robots.scout.localization={particles: …}",
        ),
    ],
)
def test_who_leaves_the_group_out_is_told_the_whole_path(typed, says):
    path, value = parse_override(typed)
    with pytest.raises(ScenarioError) as caught:
        load_scenario("maze", {path: value})
    assert says in str(caught.value)


@pytest.mark.parametrize("strategy", ["rescue_leader", "search_plan", "with_lookout"])
def test_the_change_that_rescue_office_offers_keeps_its_number_of_targets(strategy):
    text = find_scenario("rescue_office").read_text()
    (key,) = re.findall(r"-s (\S+)=rescue_leader\n", text)
    controller = load_scenario("rescue_office", {key: strategy}).robots[0].controller
    assert (controller.reference, controller.parameters) == (strategy, {"targets": 20})
    anew = load_scenario("rescue_office", {"robots.searcher.controller": strategy}).robots[0].controller
    assert anew.parameters == {}


@pytest.fixture
def shell(tmp_path, monkeypatch):
    """The current folder, with a world of 8 x 4 m and a controller; a scenario with its world of 6 x 6 m lies below."""
    (tmp_path / "below").mkdir()
    covey.World.empty(8, 4).save(tmp_path / "here.yaml")
    covey.World.empty(6, 6).save(tmp_path / "below" / "beside.yaml")
    (tmp_path / "mine.py").write_text("def go(robot):\n    return 0.0, 0.0\n")
    (tmp_path / "below" / "mine.yaml").write_text("world: {file: beside.yaml}\nrobots: [{name: scout, count: 2}]\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def width(scenario):
    return round(scenario.build().world.grid.size_m[0])


@pytest.mark.parametrize(
    ("changes", "metres"),
    [
        ({}, 6),
        ({"world.file": "here.yaml"}, 8),
        ({"world": {"file": "here.yaml"}}, 8),
        ({"world": {"file": "here.yaml"}, "world.file": "beside.yaml"}, 6),
        ({"world.file": "beside.yaml"}, 6),
    ],
    ids=str,
)
def test_files_of_changes_are_found_in_the_current_folder_then_beside_the_scenario(changes, metres, shell):
    assert width(load_scenario("below/mine.yaml", changes)) == metres


def test_a_shipped_scenario_takes_files_of_the_current_folder(shell):
    changes = {"world": {"file": "here.yaml"}, "robots.scout.start": {"together": {}}}
    changes |= {"robots.scout.known_map": "here.yaml", "robots.scout.controller": "./mine.py:go"}
    scenario = load_scenario("maze", changes)
    assert width(scenario) == 8
    assert scenario.robots[0].controller.target.__name__ == "go"


def test_replace_finds_files_as_changes_on_the_command_line_do(shell):
    controller = load_scenario("maze").replace("robots.scout.controller", "./mine.py:go").robots[0].controller
    assert controller.target.__name__ == "go"
    assert width(load_scenario("below/mine.yaml").replace("world.file", "here.yaml")) == 8


def test_files_beside_the_scenario_stay_as_they_were_written(shell, monkeypatch):
    monkeypatch.chdir(shell / "below")
    assert load_scenario("mine.yaml", {"world.file": "beside.yaml"}).world.file == "beside.yaml"


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("world.file", "her.yaml"),
        ("world", {"file": "her.yaml"}),
        ("robots.scout.known_map", "her.yaml"),
        ("robots.scout.localization", {"kind": "known_map", "map": "her.yaml"}),
        ("robots.scout.controller", "./her.py:go"),
    ],
)
def test_a_file_that_is_nowhere_is_told_with_its_change_and_the_current_folder(key, value, shell):
    with pytest.raises(ScenarioError) as error:
        load_scenario("below/mine.yaml", {key: value}).build()
    (problem,) = error.value.problems
    assert problem.file == f"-s {key}"
    assert not problem.line
    assert str(shell) in problem.message
    assert not problem.message.startswith(("world", "robots"))


def test_a_record_whose_code_is_not_run_takes_changes_of_what_the_file_gives_it(tmp_path):
    (tmp_path / "mine.py").write_text("raise SystemExit")
    (tmp_path / "s.yaml").write_text(
        "world: {empty_m: [5, 5]}\nrobots: [{localization: {kind: ./mine.py:Gps, sigma_m: 1}}]\n"
    )
    with looking():
        scenario = load_scenario(tmp_path / "s.yaml", {"robots.robot.localization.sigma_m": 2})
    assert "localization: {kind: './mine.py:Gps', sigma_m: 2}" in scenario.to_yaml()
