"""From parameters to vectors."""

import itertools
import math
import os

import pytest

from covey.errors import ScenarioError
from covey.experiments.design.load import parse_design
from covey.experiments.design.plan import plan, scenarios
from covey.experiments.design.vectors import vectors


def shown(parameters, ways="full factorial", **keys):
    lines = "\n".join(f"  {name}: {value}" for name, value in parameters.items())
    more = "\n".join(f"{key}: {value}" for key, value in keys.items())
    design = parse_design(f"design: d\nscenario: room.yaml\nvectors: {ways}\n{more}\nparameters:\n{lines}\n")
    return [list(vector.values.values()) for vector in vectors(design)]


@pytest.mark.parametrize(
    ("written", "values"),
    [
        ("{from: 1, to: 4}", [1, 2, 3, 4]),
        ("{from: 2, to: 9, step: 3}", [2, 5, 8]),
        ("{from: 0.1, to: 0.5, step: 0.1}", [0.1, 0.2, 0.3, 0.4, 0.5]),
        ("{from: 0, to: 1, count: 5}", [0, 1]),
        ("{from: 0.0, to: 1, count: 5}", [0, 0.25, 0.5, 0.75, 1]),
        ("{from: 1.0, to: 100, count: 3, log: true}", [1, 10, 100]),
        ("{from: 1, to: 64, count: 7, log: true}", [1, 2, 4, 8, 16, 32, 64]),
        ("7", [7]),
    ],
)
def test_a_parameter_lists_its_values(write, written, values):
    write()
    name = "radio.range_m"
    assert [v for (v,) in shown({name: written})] == values


def test_a_full_factorial_has_every_combination_the_last_parameter_fastest(write):
    write()
    found = shown({"robots.scout.count": "[1, 2]", "radio.range_m": "[5, 6, 7]"})
    assert found == [list(pair) for pair in itertools.product([1, 2], [5, 6, 7])]


def test_a_latin_hypercube_meets_each_part_of_each_range_once(write):
    write()
    found = shown(
        {"robots.scout.count": "{from: 1, to: 16}", "radio.range_m": "{from: 0.0, to: 32}"}, "{latin hypercube: 16}"
    )
    assert sorted(count for count, _ in found) == list(range(1, 17))
    assert sorted(math.floor(r / 2) for _, r in found) == list(range(16))


def test_a_sobol_sample_halves_every_range_and_takes_lists_by_index(write):
    write()
    found = shown({"robots.scout.controller": "[wander, still]", "radio.range_m": "{from: 0.0, to: 8}"}, "{sobol: 8}")
    assert sum(name == "wander" for name, _ in found) == 4
    assert sorted(math.floor(r) for _, r in found) == list(range(8))


def test_a_sample_depends_on_the_seed_of_the_design_alone(write):
    write()
    parameter = {"radio.range_m": "{from: 1.0, to: 100, log: true}"}
    ways = "{latin hypercube: 5}"
    assert shown(parameter, ways, seed=3) == shown(parameter, ways, seed=3) != shown(parameter, ways, seed=4)


def test_vectors_come_from_a_file_whose_cells_are_yaml(write):
    write(vectors_csv='robots.scout.count,robots.scout.controller\n3,"{name: wander}"\n1,still\n')
    assert shown({"radio.range_m": "5"}, "{list: vectors.csv}") == [[5, 3, {"name": "wander"}], [5, 1, "still"]]


def test_vectors_that_are_listed_pick_values_by_their_labels(write):
    write()
    teams = "[{label: pair, set: {robots.scout.count: 2}}, {label: one, value: 1}]"
    rows = "{list: [{team: one, radio.range_m: 3}, {team: pair, radio.range_m: 4}]}"
    design = parse_design(
        f"design: d\nscenario: room.yaml\nvectors: {rows.replace('team: one, ', 'team: pair, ')}\n"
        f"parameters: {{team: {teams}}}\n"
    )
    assert [s.robots[0].count for _, s in scenarios(design)] == [2, 2]
    with pytest.raises(ScenarioError, match="team is 'pairs', did you mean 'pair'"):
        shown({"team": teams}, rows.replace("team: pair", "team: pairs"))
    with pytest.raises(ScenarioError, match="'team' has several values"):
        shown({"team": teams}, "{list: [{radio.range_m: 3}]}")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is empty"),
        ("a,a\n1,2\n", "two columns"),
        ("robots.scout.count\n1,2\n", r"vectors.csv:2:1: has 2 cells"),
        ("robots.scout.count\n[1\n", r"vectors.csv:2:1: not valid YAML"),
        ("robots.scout.count\n0\n", "greater than or equal to 1"),
    ],
)
def test_a_bad_file_of_vectors_is_said_with_its_line(write, text, words):
    write(vectors_csv=text)
    with pytest.raises(ScenarioError, match=words):
        shown({"radio.range_m": "5"}, "{list: vectors.csv}")


def test_vectors_come_from_a_function_of_the_design(write):
    write(
        vectors_py="def make(design):\n    return [{'robots.scout.count': design.iterations + k} for k in range(2)]\n"
    )
    assert shown({"radio.range_m": 5}, "./vectors.py:make", iterations=3) == [[5, 3], [5, 4]]


@pytest.mark.parametrize(
    ("body", "words"), [("return 3", "must return a list"), ("return []", "no vector"), ("1 / 0", "ZeroDivisionError")]
)
def test_a_function_that_makes_no_vectors_is_an_error(write, body, words):
    write(bad_py=f"def make(design):\n    {body}\n")
    with pytest.raises(ScenarioError, match=words):
        shown({"radio.range_m": 5}, "./bad.py:make")


def test_changes_of_a_whole_come_before_changes_of_what_is_in_it(write):
    write()
    design = parse_design(
        "design: d\nscenario: room.yaml\niterations: 1\nparameters:\n"
        "  robots.scout.controller.beta: [3]\n  robots.scout.controller: [{name: tnf, alpha: 1}]\n"
    )
    controller = plan(design)[0].load().robots[0].controller
    assert (controller.reference, controller.parameters) == ("tnf", {"alpha": 1.0, "beta": 3.0})


def test_whole_worlds_are_values_and_labels_are_what_tables_show(write):
    write()
    design = parse_design(
        "design: d\nscenario: room.yaml\niterations: 1\nparameters:\n"
        "  world: [{terrain: maze}, {label: cave 3, value: {generate: cave, size_m: [50, 50], seed: 3}}]\n"
    )
    runs = plan(design)
    assert [run.values for run in runs] == [{"world": {"terrain": "maze"}}, {"world": "cave 3"}]
    assert runs[1].load().world.seed == 3


def test_code_of_a_parameter_lies_beside_the_design(write):
    folder = write(mine_py="def go(robot):\n    pass\n")
    text = "design: d\nscenario: maze\niterations: 1\nparameters: {robots.scout.controller: './mine.py:go'}\n"
    (run,) = plan(parse_design(text, folder=folder))
    assert run.folder == str(folder.resolve())
    assert run.load().robots[0].controller.target.__name__ == "go"


def test_code_of_a_scenario_lies_beside_the_scenario(write):
    folder = write(mine_py="def go(robot):\n    pass\n")
    (folder / "below").mkdir()
    scenario = (folder / "room.yaml").read_text().replace("wander", "./mine.py:go")
    (folder / "room.yaml").write_text(scenario)
    text = "design: d\nscenario: ../room.yaml\niterations: 1\nparameters: {robots.scout.count: 3}\n"
    (run,) = plan(parse_design(text, folder=folder / "below"))
    assert run.load().robots[0].controller.target.__name__ == "go"


def test_two_vectors_that_are_the_same_scenario_are_refused(write):
    write()
    text = "design: d\nscenario: room.yaml\nparameters: {robots.scout.controller: [wander, {name: wander}]}\n"
    with pytest.raises(ScenarioError, match="vectors 0 and 1 are the same runs"):
        plan(parse_design(text))


def test_the_name_of_a_run_changes_with_what_decides_on_it(write):
    folder = write(mine_py="def go(robot):\n    pass\n")
    text = "design: d\nscenario: room.yaml\niterations: 1\nparameters: {robots.scout.controller: './mine.py:go'}\n"
    first = plan(parse_design(text))[0].run_id
    assert plan(parse_design(text.replace("design: d", "design: e")))[0].run_id == first
    assert plan(parse_design(text + "keep: everything\n"))[0].run_id == first  # what is kept decides on no result
    assert plan(parse_design(text + "stop: {timeout_s: 1}\n"))[0].run_id != first
    (folder / "mine.py").write_text("def go(robot):\n    robot.drive(1, 0)\n")
    assert plan(parse_design(text))[0].run_id != first


@pytest.mark.parametrize("name", ["/dev/zero", "pipe.csv", "secret.txt", "/etc/passwd"])
def test_a_list_of_vectors_is_a_file_of_its_kind_and_quotes_no_other(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe.csv")
    (tmp_path / "secret.txt").write_text("password,hunter2\n1,2,3\n")
    text = f"design: d\nscenario: maze\nvectors: {{list: {name}}}\nparameters: {{radio.range_m: 5}}\n"
    with pytest.raises(ScenarioError) as error:
        vectors(parse_design(text))
    assert "listed in a .csv file" in str(error.value)
    assert "hunter2" not in str(error.value)
