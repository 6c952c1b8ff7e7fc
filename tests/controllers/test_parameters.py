"""Every parameter of every controller that ships, with values that nobody means: refused when read, or it drives."""

import re

import pytest

import covey
from covey.controllers import controllers
from covey.errors import ScenarioError
from covey.onboard.controller import Program, parameters_of
from covey.scenario.load import parse_scenario

ABSURD = ("-1", "0", ".nan", ".inf", "1.0e+300", "text")
PARAMETERS = [(name, key) for name in controllers.names() for key in parameters_of(controllers.get(name)) or ()]
PARAMETERS = [(name, key) for name, key in PARAMETERS if "onnx" not in name]  # its file is looked at in test_onnx


def scenario(name: str, key: str, value: str) -> str:
    return f"world: {{empty_m: [6, 6]}}\nrobots:\n- robot: disc\n  controller:\n    name: {name}\n    {key}: {value}\n"


def refused(text: str) -> str:
    try:
        parse_scenario(text, file="mine.yaml")
    except ScenarioError as error:
        return str(error)
    return ""


@pytest.mark.slow
@pytest.mark.parametrize(("name", "key"), PARAMETERS)
def test_a_value_that_a_parameter_cannot_have_is_refused_with_key_and_line(name, key):
    taken = []
    for value in ABSURD:
        said = refused(scenario(name, key, value))
        assert not said or re.search(rf"mine\.yaml:6.*{key}.*given: ", said)
        taken += [] if said else [value]
    if key == "leader":
        return  # the name of a robot; a number is none, any text may be one
    if key == "meet_at":
        assert taken == ["text"]  # a kind of target
        return
    assert taken in ([], ["0"])
    if taken:
        program = Program(controllers.get(name), {key: 0})
        group = covey.Group("scout", covey.robots.disc(), [(0, 0, 0), (1, 1, 0)], program)
        sim = covey.Simulation(covey.World.empty(6, 6, 0.1), [group])
        for _ in range(2):
            sim.step()
        sim.close()
        assert not sim.deciding.failures


def test_the_side_of_a_tile_below_0_is_refused_before_the_first_step():
    said = refused(scenario("greed", "tile_m", "-1"))
    assert "tile_m" in said
    assert "must be greater than or equal to 0.01; given: -1" in said


@pytest.mark.parametrize("kinds", ["''", "big fire!", "4", "victim, big_fire"])
def test_kinds_of_targets_are_words_with_a_space_between_them(kinds):
    said = refused(scenario("rescue_team", "meet_at", kinds))
    assert re.search(r"meet_at: must be .*; given: ", said)
    assert not refused(scenario("rescue_team", "meet_at", "victim big_fire"))
