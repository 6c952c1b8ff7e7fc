"""Bad scenario files: every problem at once, each with its line and column and the nearest valid name."""

import pytest

from covey.errors import InvalidValueError, ScenarioError
from covey.scenario.load import load_scenario, parse_scenario
from covey.scenario.records import RobotGroup
from covey.scenario.shipped import find_scenario, library

GOOD = "world: {empty_m: [10, 10]}\nrobots:\n  - {name: scout, robot: disc, count: 3, controller: still}\n"


def problems(text, **options):
    with pytest.raises(ScenarioError) as caught:
        parse_scenario(text, file="s.yaml", **options)
    return [str(problem) for problem in caught.value.problems]


def robot(text):
    return "world: {empty_m: [10, 10]}\nrobots:\n  - " + text


def test_a_small_scenario_gets_its_defaults():
    scenario = parse_scenario(GOOD, name="small")
    assert (scenario.name, scenario.seed, scenario.robots[0].names) == ("small", 0, ["scout0", "scout1", "scout2"])
    assert (scenario.execution.step_s, scenario.execution.substep_s, scenario.stop.timeout_s) == (0.1, 0.01, 2000)
    assert scenario.robots[0].localization.kind == "truth"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "s.yaml:1:1: a scenario is a mapping with the keys world and robots; this is empty"),
        ("- a", "s.yaml:1:1: a scenario is a mapping with the keys world and robots; this is a list"),
        (GOOD + "sed: 1", "s.yaml:4:1: unknown key 'sed', did you mean 'seed'?"),
        (GOOD + "seed: -1", "s.yaml:4:7: seed: must be greater than or equal to 0; given: -1"),
        (
            GOOD + "seed: 1.5",
            "s.yaml:4:7: seed: must be a whole number, got a number with a fractional part; given: 1.5",
        ),
        (GOOD + "seed: true", "s.yaml:4:7: seed: must be a number; given: true"),
        (GOOD + "seed: '12'", "s.yaml:4:7: seed: must be a number; given: '12'"),
        (GOOD + "format: 2", "s.yaml:4:9: format: must be 1; given: 2"),
        (GOOD + "name: a\nname: b", "s.yaml:5:1: 'name' is given twice; the first is at line 4, column 1"),
        (GOOD + "radio: {range_m: .inf}", "s.yaml:4:18: radio.range_m: must be a finite number; given: inf"),
        (GOOD + "radio: 3", "s.yaml:4:8: radio: must be a mapping (key: value) or a list; given: 3"),
        (GOOD + "stop: {explored: 1.5}", "s.yaml:4:18: stop.explored: must be less than or equal to 1; given: 1.5"),
        (
            GOOD + "stop: {of: all}",
            "s.yaml:4:12: stop.of: must be 'union', 'any_robot', 'all_robots', 'one_map' or 'all_maps'; given: 'all'",
        ),
        (
            GOOD + "execution: {step_s: 0.105}",
            "s.yaml:4:21: execution.step_s: 0.105 s is not a multiple of substep_s 0.01 s; nearest: 0.1",
        ),
        (
            GOOD + "share_maps: {every_s: 0.25}",
            "s.yaml:4:23: share_maps.every_s: 0.25 s is not a multiple of the step of 0.1 s",
        ),
        ("robots:\n  - {robot: disc}", "s.yaml:1:1: 'world' is missing"),
        (
            GOOD + "targets: [{kind: a, at: [1, 2, 3]}]",
            "s.yaml:4:25: targets[0].at: must have at most 2 values; given: [1, 2, 3]",
        ),
        (
            GOOD + "targets: [{draw: a, box_m: [3, 3]}]",
            "s.yaml:4:28: targets[0].box_m: must have at least 4 values; given: [3, 3]",
        ),
        (
            GOOD + "targets: [{draw: a, box_m: [3, 3, 1, 4]}]",
            "s.yaml:4:28: targets[0].box_m: the west edge, 3, is not west of the east edge, 1; "
            "write [west, south, east, north]",
        ),
        (GOOD + "targets: [{dwar: a, count: 5}]", "s.yaml:4:12: targets[0]: unknown key 'dwar', did you mean 'draw'?"),
        (GOOD + "targets: [{knd: a, at: [1, 1]}]", "s.yaml:4:12: targets[0]: unknown key 'knd', did you mean 'kind'?"),
        (GOOD + "targets: [{count: 5}]", "s.yaml:4:11: targets[0]: 'draw' is missing"),
        (
            "world: {empty_m: [1, 1]}\nrobots: [{controller: }]",
            "s.yaml:2:22: robots[0].controller: must be a name, ./mine.py:Name, or {name: ..., parameter: ...}; "
            "given: null (nothing)",
        ),
        (
            "world: {empty_m: [1, 1]}\nrobots: []",
            "s.yaml:2:9: robots: must have at least 1 value; given: []",
        ),
        (
            "world: {terrain: mase}\nrobots: [{robot: disc}]",
            "s.yaml:1:18: world.terrain: must be 'loop', 'cross', 'zigzag' or 'maze'; given: 'mase'",
        ),
        (
            "world: {terrain: maze, sise_m: 40}\nrobots: [{robot: disc}]",
            "s.yaml:1:24: world: unknown key 'sise_m', did you mean 'size_m'?",
        ),
        (
            "world: {empty_m: [0, 10]}\nrobots: [{robot: disc}]",
            "s.yaml:1:19: world.empty_m[0]: must be greater than 0; given: 0",
        ),
        (
            robot("{robot: pionier3dx}"),
            "s.yaml:3:13: robots[0].robot: unknown robot 'pionier3dx', did you mean 'pioneer3dx'?",
        ),
        (
            robot("{robot: {base: dics}}"),
            "s.yaml:3:20: robots[0].robot.base: unknown robot 'dics', did you mean 'disc'?",
        ),
        (robot("{robot: {bas: disc}}"), "s.yaml:3:13: robots[0].robot: unknown key 'bas', did you mean 'base'?"),
        (GOOD + "physics: {grip: 3}", "s.yaml:4:10: physics: kind is missing; known: planar, terrain"),
        (robot("{robot: disc, cout: 2}"), "s.yaml:3:19: robots[0]: unknown key 'cout', did you mean 'count'?"),
        (
            robot("{robot: disc, count: 0}"),
            "s.yaml:3:26: robots[0].count: must be greater than or equal to 1; given: 0",
        ),
        (
            robot("{robot: {base: disc, radius_m: -1}}"),
            "s.yaml:3:36: robots[0].robot.radius_m: must be greater than 0; given: -1",
        ),
        (
            robot("{robot: {base: disc, sensors: [{kind: lidar, range: 3}]}}"),
            "s.yaml:3:50: robots[0].robot.sensors[0]: unknown key 'range', did you mean 'range_m'?",
        ),
        (
            robot("{robot: {base: disc, sensors: [{kind: lidar, rate_hz: 0}]}}"),
            "s.yaml:3:59: robots[0].robot.sensors[0].rate_hz: must be greater than 0; given: 0",
        ),
        (
            robot("{robot: {base: disc, sensors: [{kind: lidar, rate_hz: 101}]}}"),
            "s.yaml:3:59: robots[0].robot.sensors[0].rate_hz: 101 Hz is more than one sample in each substep of 0.01 s",
        ),
        (
            robot("{robot: {base: disc, sensors: [sick_lms5000]}}"),
            "s.yaml:3:36: robots[0].robot.sensors[0]: unknown sensor 'sick_lms5000', did you mean 'sick_lms500'?",
        ),
        (
            robot("{robot: disc, localization: nois}"),
            "s.yaml:3:33: robots[0].localization: unknown localizer 'nois', did you mean 'noise'?",
        ),
        (
            robot("{robot: disc, localization: {kind: noise, sigma_m: -1}}"),
            "s.yaml:3:56: robots[0].localization.sigma_m: must be greater than or equal to 0; given: -1",
        ),
        (
            robot("{robot: disc, controller: stil}"),
            "s.yaml:3:31: robots[0].controller: unknown controller 'stil', did you mean 'still'?",
        ),
        (
            robot("{robot: disc, controller: {name: nearest_frontier, min_cels: 3}}"),
            "s.yaml:3:56: robots[0].controller.min_cels: controller 'nearest_frontier' has no parameter 'min_cels',"
            " did you mean 'min_cells'?",
        ),
        (
            robot("{robot: disc, controller: {name: nearest_frontier, min_cells: few}}"),
            "s.yaml:3:67: robots[0].controller.min_cells: must be a number; given: 'few'",
        ),
        (
            robot("{robot: disc, controller: {min_cells: 3}}"),
            "s.yaml:3:31: robots[0].controller: 'name' is missing: write {name: nearest_frontier, ...}",
        ),
        (
            robot("{name: a}\n  - {name: a}"),
            "s.yaml:3:3: robots: the name 'a' is given twice; give each group a name of its own",
        ),
        (
            robot("{name: a, count: 11}\n  - {name: a1}"),
            "s.yaml:3:3: robots: the name 'a10' is given twice; give each group a name of its own",
        ),
        (
            robot("{start: {line: {from: [1], step: [2, 3]}}}"),
            "s.yaml:3:27: robots[0].start.line.from: must have at least 2 values; given: [1]",
        ),
        (
            robot("{count: 1000000}"),
            "s.yaml:3:13: robots[0].count: must be less than or equal to 100000; given: 1000000",
        ),
    ],
)
def test_each_kind_of_bad_input_is_one_problem_at_its_place(text, problem):
    assert problems(text) == [problem]


WORD = "must be one word of a to z, digits and _ that begins with a letter; given: "


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{kind: big fire, at: [1, 1]}", f"t.yaml:3:18: targets[0].kind: {WORD}'big fire', did you mean 'big_fire'?"),
        ("{kind: gas-leak!, at: [1, 1]}", f"t.yaml:3:18: targets[0].kind: {WORD}'gas-leak!', did you mean 'gas_leak'?"),
        ("{draw: 7up}", f"t.yaml:3:18: targets[0].draw: {WORD}'7up'"),
    ],
)
def test_a_kind_that_is_not_one_word_is_told_in_words(text, problem):
    with pytest.raises(ScenarioError) as error:
        parse_scenario(f"world: {{empty_m: [6, 6]}}\nrobots: [{{count: 2}}]\ntargets: [{text}]\n", file="t.yaml")
    assert str(error.value) == problem


def test_the_name_of_a_group_is_one_word_also_in_python():
    with pytest.raises(InvalidValueError, match=f"name: {WORD}'my scouts', did you mean 'my_scouts'"):
        RobotGroup(name="my scouts")


@pytest.mark.parametrize("text", ["physics: planar", "mission: coverage", "share_maps: {rule: maximum}"])
def test_a_name_and_a_mapping_with_its_kind_are_the_same(text):
    key, value = text.rstrip("}").rsplit(": ", 1)
    mapping = f"{key}: {{kind: {value}}}" + "}" * text.count("}")
    assert parse_scenario(GOOD + mapping) == parse_scenario(GOOD + text)


def test_all_problems_come_at_once_in_the_order_of_the_file():
    text = "worl: 1\nrobots:\n  - {robot: dics, count: -1}\n  - 7\nseed: x\nseed: 3\n"
    assert [problem.split(" ")[0] for problem in problems(text)] == [
        "s.yaml:1:1:",  # worl; that world is missing follows from it
        "s.yaml:3:13:",
        "s.yaml:3:26:",
        "s.yaml:4:5:",
        "s.yaml:5:7:",
        "s.yaml:6:1:",
    ]


def test_names_of_files_and_of_the_library(write):
    write(here_yaml=GOOD)
    assert load_scenario("here.yaml").name == "here"
    for wrong, words in [
        ("mase", "unknown scenario 'mase', did you mean 'maze'?"),
        ("gone.yaml", "gone.yaml: there is no such file"),
        ("hree.yaml", "hree.yaml: there is no such file, did you mean 'here.yaml'?"),
        ("here.yml", "here.yml: there is no such file, did you mean 'here.yaml'?"),
        ("hereyaml", "unknown scenario 'hereyaml', did you mean 'here.yaml'?"),
        ("here", "unknown scenario 'here', did you mean 'here.yaml'?"),
        ("a/b", "a/b: there is no such file"),
        (".", ".: is not a file"),
        ("\0", "unknown scenario"),
    ]:
        with pytest.raises(ScenarioError) as caught:
            load_scenario(wrong)
        assert str(caught.value).startswith(words)


def test_the_shipped_scenarios():
    assert list(library()) == [
        "building", "cave", "coverage", "cross", "depot_doors", "hello", "hills", "loop", "maze", "office", "patrol",
            "rescue", "rescue_office", "rescue_plan", "rubble", "slam_team", "terrain_team", "unknown_starts", "zigzag",
    ]  # fmt: skip
    for name in ("maze", "loop", "cross", "zigzag"):  # Table 4 of Yan et al. 2017, with six robots
        scenario = load_scenario(name, trusted_only=True)
        (group,) = scenario.robots
        assert (group.count, group.robot.name, group.robot.mapping.resolution_m) == (6, "pioneer3dx", 0.2)
        assert (scenario.stop.explored, scenario.stop.of, scenario.stop.timeout_s) == (0.99, "union", 2000)
        assert (scenario.radio.range_m, scenario.share_maps.every_s) == (200, 1)
    assert find_scenario("hello").name == "hello.yaml"


MINE = "class Mine:\n    def __init__(self, *, gain: float = 1.0): ...\n    def step(self, robot): ...\n"


def test_a_controller_of_a_file_beside_the_scenario(write):
    write(s_yaml=robot("{robot: disc, controller: {name: './mine.py:Mine', gain: 2}}"), mine_py=MINE)
    reference = load_scenario("s.yaml").robots[0].controller
    assert (reference.target.__name__, reference.parameters) == ("Mine", {"gain": 2.0})


def test_trusted_only_refuses_code_and_does_not_run_it(write):
    folder = write(s_yaml=robot("{robot: disc, controller: './evil.py:Mine'}"), evil_py="open('ran', 'w')\n" + MINE)
    with pytest.raises(
        ScenarioError, match=r"s.yaml:3:31: .* would run code from a file, which --trusted-only refuses"
    ):
        load_scenario("s.yaml", trusted_only=True)
    assert not (folder / "ran").exists()


@pytest.mark.parametrize(
    ("reference", "words"),
    [
        ("./gone.py:Mine", "no file 'gone.py'"),
        ("./mine.py:Mein", "unknown name in mine.py 'Mein', did you mean 'Mine'?"),
        ("./broken.py:Mine", "cannot be loaded: SyntaxError"),
        ("./mine.py:NUMBER", "is int; a controller is a function or a class"),
    ],
)
def test_a_bad_reference_to_a_file_is_a_problem(write, reference, words):
    write(
        s_yaml=robot(f"{{robot: disc, controller: '{reference}'}}"), mine_py=MINE + "NUMBER = 1\n", broken_py="class ("
    )
    with pytest.raises(ScenarioError) as caught:
        load_scenario("s.yaml")
    (problem,) = caught.value.problems
    assert (problem.line, problem.column) == (3, 31)
    assert words in problem.message


def test_a_map_of_the_ground_needs_known_starts():
    text = "world: {generate: hills}\nrobots: [{robot: skid_steer, controller: minpos}]\n"
    with pytest.raises(ScenarioError, match="start_poses: known"):
        parse_scenario(text + "share_maps: {start_poses: unknown}\n")
