"""The examples of the page about rescue work as they are printed."""

import re
from pathlib import Path

import pytest
import yaml

from covey.events.checks import blind
from covey.experiments.design.load import load_design
from covey.scenario.build import try_out
from covey.scenario.load import load_scenario, parse_scenario

PAGE = Path(__file__).parents[2] / "docs" / "rescue.md"
BLOCKS = re.findall(r"```yaml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


CODE = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
DESIGNS = [block for block in BLOCKS if block.startswith("design:")]
BLOCKS = [block for block in BLOCKS if block not in DESIGNS]


def completed(block):
    """Return a block as a scenario: what it leaves out is a floor of the course, a team, and targets of its kinds."""
    given = yaml.safe_load(block)
    missing = {"world": {"named": "rescue_1"}, "robots": [{"robot": "turtlebot3_waffle_pi", "count": 3}]}
    if kinds := (given.get("mission") or {}).get("rescue", {}).get("kinds"):
        missing["targets"] = [{"draw": kind} for kind in kinds]
    return parse_scenario(yaml.safe_dump(missing | given))


def test_the_page_has_examples():
    assert len(BLOCKS) >= 5


@pytest.mark.parametrize("block", BLOCKS, ids=range(1, len(BLOCKS) + 1))
def test_each_example_of_the_page_can_be_built(block):
    assert len(try_out(completed(block)).poses)


@pytest.mark.parametrize("block", [b for b in BLOCKS if "mission:" in b and "controller:" in b])
def test_the_teams_of_the_page_search_and_see_targets(block):
    scenario = completed(block)
    team = [(group.controller.program, group.robot) for group in scenario.robots]
    assert not blind(team, scenario.mission)
    assert {program.name for program, _ in team} & {"rescue_team", "rescue_leader", "search_plan", "with_lookout"}


@pytest.mark.slow
def test_the_strategy_of_the_page_finds_targets_and_can_be_compared(tmp_path):
    [code], [design] = CODE, DESIGNS
    (tmp_path / "finder.py").write_text(code)
    (tmp_path / "mine.yaml").write_text(design)
    assert len(load_design(tmp_path / "mine.yaml").parameters["robots.searcher.controller"]) == 3
    changes = {"robots.searcher.controller": f"{tmp_path}/finder.py:finder", "stop.timeout_s": 200}
    run = load_scenario("rescue", changes).build().run()
    assert run.status != "failed"
    assert run.metrics["targets_found"] >= 3
    assert run.metrics["false_reports"] < 10
