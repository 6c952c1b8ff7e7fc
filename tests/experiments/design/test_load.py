"""Designs as files: what is read, and what is said about mistakes."""

import pytest

import covey
from covey.errors import ScenarioError
from covey.experiments.design.load import parse_design
from covey.experiments.design.plan import plan
from covey.experiments.design.shipped import is_design
from covey.scenario.yaml12 import parse_yaml

OF_THE_ISSUE = """\
design: fleet size and terrain
scenario: maze                       # a shipped scenario, a file, or inline
parameters:
  robots.scout.count: {from: 1, to: 30}
  world.terrain: [loop, cross, zigzag, maze]
  radio.range_m: [200]
vectors: full factorial              # or: {latin hypercube: 64}, {sobol: 64}, {list: vectors.csv}, ./vectors.py:make
iterations: 5
seed: 2017                           # iteration k of every vector uses the same spawned seed: comparisons are paired
stop: {explored: 0.99, timeout_s: 2000}
measurements:
  - {every: step, record: [explored_area]}
  - {every_s: 5, record: [pose, distance, cpu_percent, ram_percent, kbytes_received, kbytes_sent]}
  - {when: collision, record: [robots, position]}
metrics: [exploration_time_s, exploration_cost_m, exploration_efficiency_m2_per_m, map_quality]
report: {x: robots.scout.count, facet: world.terrain}
"""


def problems(text, **options):
    with pytest.raises(ScenarioError) as caught:
        parse_design(text, file="d.yaml", **options)
    return [str(problem) for problem in caught.value.problems]


def test_the_example_of_the_paper_is_600_runs_with_paired_seeds(write):
    write(fleet_yaml=OF_THE_ISSUE)
    design = covey.load_design("fleet.yaml")
    runs = plan(design)
    assert len(runs) == 30 * 4 * 5
    assert len({run.run_id for run in runs}) == 600
    assert len({run.seed for run in runs}) == 5
    last = runs[-1].load()
    assert (last.robots[0].count, last.world.terrain, last.stop.explored, last.seed) == (30, "maze", 0.99, runs[4].seed)


def test_a_design_is_written_as_text_that_loads_into_an_equal_one():
    design = parse_design(OF_THE_ISSUE)
    assert parse_design(design.to_yaml()) == design
    assert design != parse_design(OF_THE_ISSUE.replace("2017", "2018"))


def test_labels_and_ranges_survive_writing():
    text = """\
design: labels
scenario: maze
parameters:
  share_maps: [{label: alone, value: null}, {label: together, value: {every_s: 2}}]
  team: {label: far apart, set: {robots.scout.count: 3, radio.range_m: 10}}
  robots.scout.robot.max_speed_m_s: {from: 0.1, to: 1, count: 3, log: true}
vectors: {sobol: 4}
"""
    design = parse_design(text)
    assert parse_design(design.to_yaml()) == design
    assert parse_design(design.to_yaml()).parameters["share_maps"][0].value is None


def test_all_mistakes_are_said_at_once_with_their_places():
    text = """\
design: bad
scenario: maze
parameters:
  robots.scot.count: {from: 1, to: 30}
  world.terrain: [loop, cros]
  robots.scout.controller: [minpos, {name: tnf, alpa: 1}]
iterations: 0
measurements:
  - {every: step, record: [explored_aera]}
  - {every_s: 5, when: collision, record: [pose]}
  - {when: colision, record: [robots]}
  - {every_s: 5, record: [robots]}
metrics: [exploration_time]
stop: {explord: 3}
"""
    said = problems(text)
    expected = {
        "d.yaml:4:22": "did you mean 'scout'",
        "d.yaml:5:25": "given: 'cros'",
        "d.yaml:6:37": "did you mean 'alpha'",
        "d.yaml:7:13": "greater than or equal to 1",
        "d.yaml:9:28": "did you mean 'explored_area'",
        "d.yaml:10:5": "given: every_s and when",
        "d.yaml:11:12": "did you mean 'collision'",
        "d.yaml:12:27": "{when: collision, record: [robots]}",
        "d.yaml:13:11": "did you mean 'exploration_time_s'",
        "d.yaml:14:8": "did you mean 'explored'",
    }
    assert len(said) == len(expected)
    for line, (place, words) in zip(said, expected.items(), strict=True):
        assert line.startswith(f"{place}: ")
        assert words in line


@pytest.mark.parametrize(
    ("lines", "place", "words"),
    [
        ("report: {x: robots.scout.cont}", "3:13", "did you mean 'robots.scout.count'"),
        ("vectors: {latin hypercub: 3}", "3:10", "{latin hypercube: n}"),
        ("vectors: factorial", "3:10", "full factorial"),
        ("vectors: ./none.py:make", "3:10", "no file 'none.py'"),
        ("vectors: {list: none.csv}", "3:17", "none.csv cannot be read"),
        ("vectors: {list: [{robots.scout.count: 1, radio.rang_m: 3}]}", "3:56", "did you mean 'range_m'"),
        ("iterations: yes", "3:13", "iterations"),
        ("keep: all", "3:7", "'everything'"),
        ("design2: x", "3:1", "did you mean 'design'"),
        ("measurements: [{every_s: 5, record: [pose]}, {every_s: 5.0, record: [twist]}]", "3:46", "one list"),
    ],
)
def test_a_mistake_is_said_at_its_place(write, lines, place, words):
    write()
    text = f"design: d\nscenario: room.yaml\n{lines}\nparameters: {{robots.scout.count: [1, 2]}}\n"
    said = problems(text)
    assert said[0].startswith(f"d.yaml:{place}: ")
    assert words in said[0]


@pytest.mark.parametrize(
    ("parameter", "words"),
    [
        ("robots.scout.count: [1, 2, 1]", "1 is given twice"),
        ("robots.scout.count: {from: 5, to: 1}", "smaller one first"),
        ("radio.range_m: {from: 0.5, to: 10}", "count: 5"),
        ("radio.range_m: {from: 0, to: 10, count: 3, log: true}", "above 0"),
        ("radio.range_m: {from: 1, to: 10, step: 1, count: 3}", "leave out count"),
        ("seed: [1, 2]", "set iterations"),
        ("robots.scout.count: {from: 1, too: 3}", "did you mean 'to'?"),
        ("robots.scout.count: []", "must have at least 1 value; given: []"),
        ("robots.scout.count: ", "given: null (nothing); write its values as a list: [..., ...]"),
        ("robots.scout.count: {from: 1, to: 1000000000}", "more than 100000 values"),
        ("x: {label: a, set: {robots.scout.cuont: 3}}", "did you mean 'count'"),
    ],
)
def test_a_mistake_in_a_parameter_is_said_at_its_line(write, parameter, words):
    write()
    said = problems(f"design: d\nscenario: room.yaml\nparameters:\n  {parameter}\n")
    assert all(line.startswith("d.yaml:4:") for line in said)
    assert any(words in line for line in said)


def test_more_combinations_than_anybody_can_run_are_refused(write):
    write()
    wide = "{from: 1, to: 1000}"
    text = f"design: d\nscenario: room.yaml\nparameters: {{robots.scout.count: {wide}, radio.range_m: {wide}}}\n"
    assert "1000000 combinations" in problems(text)[0]


@pytest.mark.parametrize(
    "value", ["3", "[]", "{}", "null", "{a: 1}", "[[1]]", "'x'", "{from: 1}", "{label: 3}", ".nan"]
)
@pytest.mark.parametrize(
    "key",
    ["design", "scenario", "parameters", "vectors", "iterations", "stop", "measurements", "metrics", "report", "keep"],
)
def test_nonsense_is_an_error_with_a_place_or_good(write, key, value):
    write()
    lines = {"design": "d", "scenario": "room.yaml", "parameters": "{robots.scout.count: [1, 2]}", key: value}
    try:
        plan(parse_design("".join(f"{k}: {v}\n" for k, v in lines.items()), file="d.yaml"))
    except ScenarioError as error:
        assert all(str(problem).startswith("d.yaml:") for problem in error.problems)


def test_a_mistake_in_an_inline_scenario_has_its_place():
    said = problems("design: d\nscenario:\n  world: {terain: maze}\n  robots: [{cont: 3}]\n")
    assert [line.split(": ")[0] for line in said] == ["d.yaml:3:10", "d.yaml:4:13"]


def test_a_mistake_in_the_file_of_the_scenario_names_that_file(write):
    write(room_yaml="world: {empty_m: [8, 8]}\nrobots: [{cont: 3}]\n")
    assert problems("design: d\nscenario: room.yaml\n")[0].startswith("room.yaml:2:11: ")


def test_an_unknown_scenario_is_said_at_its_place():
    assert problems("design: d\nscenario: mase\n")[0].startswith("d.yaml:2:11: ")


def test_a_missing_file_of_the_scenario_is_named_at_its_place():
    with pytest.raises(ScenarioError, match=r"^d.yaml:2:11: scenario: gone.yaml: there is no such file$"):
        parse_design("design: d\nscenario: gone.yaml\nparameters: {robots.count: [1, 2]}\n", file="d.yaml")


def test_code_of_a_file_can_be_refused(write):
    write(vectors_py="def make(design): return [{}]\n")
    text = "design: d\nscenario: room.yaml\nvectors: ./vectors.py:make\n"
    assert len(plan(parse_design(text))) == 5
    assert "--trusted-only" in problems(text, trusted_only=True)[0]
    assert (
        "--trusted-only"
        in problems(
            "design: d\nscenario: room.yaml\nparameters: {robots.scout.controller: ./mine.py:go}", trusted_only=True
        )[0]
    )


def test_designs_and_scenarios_are_told_apart(write):
    write(fleet_yaml=OF_THE_ISSUE)
    assert is_design("fleet.yaml")
    assert not is_design("room.yaml")
    assert not is_design("maze")
    assert not is_design("nowhere.yaml")


def test_a_design_is_made_in_python_with_a_scenario_that_was_loaded():
    scenario = covey.load_scenario("maze")
    design = covey.Design(design="d", scenario=scenario, parameters={"robots.scout.count": [1, 2]}, iterations=1)
    runs = plan(design)
    assert runs[0].load().replace("seed", 0) == scenario.replace("robots.scout.count", 1)


def test_the_schema_names_every_key():
    schema = covey.Design.model_json_schema()
    assert {"parameters", "vectors", "measurements", "metrics", "stop"} <= schema["properties"].keys()
    assert parse_yaml(OF_THE_ISSUE).data.keys() <= schema["properties"].keys()
