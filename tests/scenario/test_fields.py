"""The page about scenario files is true: its lists are those of the records, and its example ships."""

import re
from pathlib import Path

from covey.scenario.fields import NAMED, fields, renew
from covey.scenario.load import load_scenario, parse_scenario
from covey.scenario.shelf import KINDS

PAGE = (Path(__file__).parents[2] / "docs" / "scenario.md").read_text(encoding="utf-8")


def test_the_lists_on_the_page_are_those_of_the_records():
    assert renew(PAGE) == PAGE, "run: python -m covey.scenario.fields"


def test_every_field_has_a_sentence():
    found = [(path, row) for path, rows in fields().items() for row in rows]
    assert [(path, row.key) for path, row in found if len(row.meaning) < 5] == []
    paths = {f"{path}.{row.key}".removeprefix(".") for path, row in found}
    assert {"format", "world.size_m", "damage.gap_m", "robots[].robot.digger.reach_m", "stop.explored"} <= paths
    assert {"robots[].robot.sensors[].fov_deg", "events[].at_s", "faults[].at_s", "mission.visit_within_m"} <= paths
    assert "execution.costs.scan_match.seconds" in paths
    assert "execution.costs.search.seconds" not in paths, "the same fields once more"


def test_what_the_page_leaves_out_can_be_listed_and_shown():
    assert NAMED.keys() <= fields().keys()
    assert {*NAMED.values()} <= {*KINDS}
    assert all(f"`covey list {kind}` names the kinds" in PAGE for kind in NAMED.values())


def test_the_example_on_the_page_is_the_maze():
    text = re.search(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    assert text
    assert parse_scenario(text[1]) == load_scenario("maze")
