"""The page about scenario files is true: its table holds every field, and its example is the scenario that ships."""

import re
from pathlib import Path

from covey.scenario.fields import fields_table, renew
from covey.scenario.load import load_scenario, parse_scenario

PAGE = (Path(__file__).parents[2] / "docs" / "scenario.md").read_text(encoding="utf-8")


def test_the_table_on_the_page_is_the_table_of_the_records():
    assert renew(PAGE) == PAGE, "run: python -m covey.scenario.fields"


def test_every_field_has_a_sentence():
    rows = [row.split(" | ") for row in fields_table().splitlines()[2:]]
    assert [row[0] for row in rows if len(row[2].strip(" |")) < 5] == []


def test_the_example_on_the_page_is_the_maze():
    text = re.search(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    assert text
    assert parse_scenario(text[1]) == load_scenario("maze")
