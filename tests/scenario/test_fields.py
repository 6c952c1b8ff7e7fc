"""The fields of scenario files have sentences and can be shown, and the example of their page ships."""

import re
from pathlib import Path

from covey.scenario.fields import NAMED, fields, page
from covey.scenario.load import load_scenario, parse_scenario
from covey.scenario.shelf import KINDS, describe

PAGE = (Path(__file__).parents[2] / "docs" / "scenario.md").read_text(encoding="utf-8")


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
    assert all(f"`covey list {kind}` names the kinds" in page() for kind in NAMED.values())


def test_the_fields_of_each_record_can_be_shown():
    for path, rows in fields().items():
        shown = describe(path or "fields")
        for row in rows:
            assert f"  {row.key}" in shown
            assert row.meaning.replace("\\|", "|").replace("`", "") in shown
    assert "\n  timeout_s = 2000: The run ends without success at this time [s]." in describe("stop")


def test_the_example_on_the_page_is_the_maze():
    text = re.search(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    assert text
    assert parse_scenario(text[1]) == load_scenario("maze")
