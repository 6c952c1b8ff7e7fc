"""Scenarios written as files load into equal scenarios."""

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from covey.errors import InvalidValueError
from covey.robots import pioneer3dx
from covey.scenario.dump import plain, to_yaml
from covey.scenario.load import load_scenario, parse_scenario
from covey.scenario.records import RobotGroup, Scenario
from covey.scenario.shipped import library
from covey.scenario.yaml12 import parse_yaml


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("name", sorted(library()))
def test_every_shipped_scenario_survives_writing_and_reading(name, full):
    scenario = load_scenario(name)
    assert parse_scenario(to_yaml(scenario, full=full), folder=scenario.folder) == scenario


def test_names_are_written_where_there_are_any():
    text = load_scenario("maze").replace("robots.scout.robot.sensors.lidar.range_m", 5).to_yaml()
    data = yaml.safe_load(text)
    assert data["world"] == {"terrain": "maze"}
    (group,) = data["robots"]
    assert group["controller"] == "nearest_frontier"
    assert group["robot"]["base"] == "pioneer3dx"
    assert sorted(group["robot"]) == ["base", "mapping", "sensors"]
    assert plain(pioneer3dx()) == "pioneer3dx"


def test_code_of_a_file_is_written_by_its_reference():
    assert "./hello.py:square" in load_scenario("hello").to_yaml()


def test_an_object_without_a_name_is_a_clear_error():
    group = RobotGroup.model_validate({"controller": lambda robot: None})
    scenario = Scenario.model_validate({"world": {"empty_m": [5, 5]}, "robots": [group]})
    with pytest.raises(InvalidValueError, match=r"cannot be written to a file: register it .* name it ./file.py:"):
        scenario.to_yaml()


_SCALARS = st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.floats(allow_nan=False, allow_infinity=False)
_TEXT = st.text(alphabet="ab0.1é日🤖 #:-'\"\\\n[]{},&*!|>%@`?", max_size=12)
_WORDS = st.sampled_from(
    ["on", "yes", "1e4", "0o17", "0x1", "null", "~", "", ".inf", "1_0", "a: b", "# x", "12:30", "="]
)


@given(st.dictionaries(_TEXT | _WORDS, _SCALARS | _TEXT | _WORDS | st.lists(_SCALARS | _WORDS, max_size=3), max_size=5))
def test_what_is_written_means_the_same_in_yaml_1_2(data):
    from covey.scenario.dump import _Dumper

    text = yaml.dump(data, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=120, default_flow_style=None)
    assert parse_yaml(text).data == data
