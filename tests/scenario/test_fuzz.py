"""Whatever is in a scenario file, the loader returns a scenario or raises a ScenarioError, and writes nothing."""

import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from covey.errors import ScenarioError
from covey.scenario.load import parse_scenario
from covey.scenario.records import Scenario
from covey.scenario.shipped import library

_TEXTS = [path.read_bytes() for path in library().values()]
_PIECES = [
    b"{", b"}", b"[", b"]", b": ", b"- ", b"\n", b"&a ", b"*a", b"!!int ", b"~", b".nan", b".inf", b"-1", b"1e400",
    b"0x",
    b"'", b'"', b"\x00", b"\xff", b"\xc3\xa9", b"999999999999999999999", b"true", b"|\n", b"? ", b"%YAML 1.1\n", b"<<",
    b"kind", b"name", b"terrain", b"robots", b"sensors", b"base",
]  # fmt: skip


def loads(content):
    try:
        return isinstance(parse_scenario(content, file="f"), Scenario)
    except ScenarioError as error:
        return bool(error.problems) and all(problem.message for problem in error.problems) and bool(str(error))


@st.composite
def mutated(draw):
    text = bytearray(draw(st.sampled_from(_TEXTS)))
    for _ in range(draw(st.integers(1, 6))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 12)))
        text[start:end] = draw(st.sampled_from(_PIECES) | st.binary(max_size=4))
    return bytes(text)


@pytest.fixture(autouse=True)
def _nothing_is_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    yield
    assert os.listdir(tmp_path) == []


_SETTINGS = settings(deadline=None, max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])


@_SETTINGS
@given(st.binary(max_size=200) | st.text(max_size=200))
def test_arbitrary_bytes_and_text(content):
    assert loads(content)


@pytest.mark.slow
@_SETTINGS
@given(mutated())
def test_mutated_scenarios(content):
    assert loads(content)


_VALUES = st.recursive(
    st.sampled_from(
        ["null", "true", "-1", "0", "1e400", ".nan", "''", "a", "1.5", "9999999999999999999999", "disc", "noise"]
    ),
    lambda inner: (
        st.lists(inner, max_size=3).map(lambda items: f"[{', '.join(items)}]")
        | st.dictionaries(
            st.sampled_from(["kind", "name", "line", "from", "x", "base", "sensors"]), inner, max_size=3
        ).map(lambda items: "{" + ", ".join(f"{k}: {v}" for k, v in items.items()) + "}")
    ),
    max_leaves=6,
)
_GROUP_KEYS = ["name", "robot", "count", "start", "localization", "controller"]


@pytest.mark.slow
@_SETTINGS
@given(
    st.dictionaries(st.sampled_from(list(Scenario.model_fields)), _VALUES, max_size=4),
    st.dictionaries(st.sampled_from(_GROUP_KEYS), _VALUES, max_size=4),
)
def test_any_value_at_any_key(fields, group):
    lines = [f"{key}: {value}" for key, value in fields.items() if key != "robots"]
    lines += ["robots:", "- {" + ", ".join(f"{key}: {value}" for key, value in group.items()) + "}"]
    assert loads("\n".join(lines))
