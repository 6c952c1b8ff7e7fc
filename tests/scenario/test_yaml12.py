"""YAML 1.2 scalars, places, and refusals; the expected values are those of the specification, section 10.3."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.errors import ScenarioError
from covey.scenario.yaml12 import MAX_BYTES, parse_scalar, parse_yaml


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e4", 10000.0),
        ("-1.5E-3", -0.0015),
        (".5", 0.5),
        ("0o17", 15),
        ("0xfF", 255),
        ("010", 10),
        ("+12", 12),
        ("on", "on"),
        ("yes", "yes"),
        ("NO", "NO"),
        ("true", True),
        ("False", False),
        ("~", None),
        ("", None),
        ("null", None),
        (".inf", math.inf),
        ("-.Inf", -math.inf),
        ("1_000", "1_000"),
        ("12:30:45", "12:30:45"),
        ("0b1", "0b1"),
        ("2026-01-01", "2026-01-01"),
    ],
)
def test_core_schema_scalars(text, value):
    found = parse_scalar(text)
    assert (found, type(found)) == (value, type(value))


def test_quoted_scalars_and_block_text_stay_text():
    assert parse_yaml("a: '1'\nb: \"true\"\nc: !!str 5\nd: |\n  7\n").data == {
        "a": "1",
        "b": "true",
        "c": "5",
        "d": "7\n",
    }


def test_places_are_lines_and_columns_of_keys_and_values():
    document = parse_yaml("world:\n  size_m: [1, 22]\n")
    assert document.keys["world", "size_m"] == (2, 3)
    assert document.values["world", "size_m"] == (2, 11)
    assert document.values["world", "size_m", 1] == (2, 15)


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        (b"a: 1\n\xff", (2, 1), "0xff is not UTF-8"),
        (b"a: 1\nb: \x01", (2, 4), "is not allowed in YAML"),
        (b"a: [1, 2", (1, 9), "expected ',' or ']'"),
        (b"a: b: c", (1, 5), "mapping values are not allowed"),
        (b"a: 1\n---\nb: 2", (2, 1), "single document"),
        (b"- &x [*x]", (1, 3), "contains itself"),
        (b"- *x", (1, 3), "undefined alias"),
        (b"[" * 100, (1, 41), "deeper than 40 levels"),
        (b"? [a]\n: 1", (1, 3), "a key must be a word"),
        (b'"\\U00110000"', (1, 1), "not valid YAML"),
        (b" " * (MAX_BYTES + 1), (1, 1), "at most 1000000"),
    ],
)
def test_what_is_not_yaml_is_refused_with_its_place(text, place, words):
    with pytest.raises(ScenarioError) as caught:
        parse_yaml(text, "f.yaml")
    (problem,) = caught.value.problems
    assert (problem.file, problem.line, problem.column) == ("f.yaml", *place)
    assert words in problem.message


def test_duplicate_keys_and_tags_are_reported_together():
    document = parse_yaml("a: 1\nb: !!python/name:os.system x\na: 2\n", "f.yaml")
    assert [str(problem) for problem in document.problems] == [
        "f.yaml:2:4: tag 'tag:yaml.org,2002:python/name:os.system' is not allowed; write plain values",
        "f.yaml:3:1: 'a' is given twice; the first is at line 1, column 1",
    ]


def test_anchors_that_multiply_are_refused():
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 9)]
    with pytest.raises(ScenarioError, match=r"more than 100000 values, .*; values behind anchors count too"):
        parse_yaml("\n".join(lines))


def test_an_anchor_can_be_used_again():
    assert parse_yaml("a: &x {b: [1]}\nc: *x\n").data == {"a": {"b": [1]}, "c": {"b": [1]}}


@given(st.binary(max_size=300) | st.text(alphabet="ab:-?[]{},#&*!|>'\"%@`\\ \n\t~01.", max_size=80))
def test_any_input_parses_or_is_a_scenario_error(content):
    try:
        document = parse_yaml(content, "f")
        placed = document.data is None or () in document.values
    except ScenarioError as error:
        placed = all(problem.line >= 1 and problem.column >= 1 for problem in error.problems)
    assert placed
