"""The designs that ship."""

import re
from functools import cache
from pathlib import Path

import pytest

from covey.cli import main
from covey.experiments.design import plan as planning
from covey.experiments.design.alone import with_alone
from covey.experiments.design.describe import FAMILIES, table
from covey.experiments.design.load import design_summaries, load_design, parse_design
from covey.experiments.design.plan import base_scenario, plan, scenarios
from covey.experiments.design.quantities import QUANTITIES
from covey.experiments.design.shipped import designs, is_design
from covey.experiments.design.vectors import vectors
from covey.mapping.exchange.merge_rules import GreedyFill, Probabilistic
from covey.scenario.build import set_up
from covey.scenario.shipped import library

known = cache(load_design)

RUNS = {
    "table1": 30 * 5,
    "table4": 30 * 4 * 5,
    "table4_repository": 30 * 4 * 5,
    "table4_slam": 5 * 2 * 5,
    "maes_article": 4 * 2 * 3 * 20,
    "minotaur_study": 4 * 5 * 2 * 3 * 6 * 10,
    "system_test_30x30": 2 * 10,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", designs())
def test_a_shipped_design_says_where_it_comes_from_and_its_ends_run(name, tmp_path, monkeypatch):
    design = known(name)
    assert design.source
    assert design.published
    assert design.design == name
    listed = vectors(design)  # of which the first, the last and those of the fewest and most robots are tried
    sizes = [sum(v for path, v in one.changes.items() if path.endswith(".count")) for one in listed]
    ends = {0, len(listed) - 1, sizes.index(min(sizes)), sizes.index(max(sizes))}
    monkeypatch.setattr(planning, "vectors", lambda _: [listed[k] for k in sorted(ends)])
    found = [scenario for _, scenario in scenarios(design)]
    found.sort(key=lambda s: sum(group.count for group in s.robots))
    run = found[0].replace("stop", {"timeout_s": 0.5}).build(tmp_path / "run").run()
    assert run.status in ("timeout", "exhausted")
    assert set(design.metrics) <= run.metrics.keys()
    assert sum(map(len, set_up(found[-1]).poses)) == sum(group.count for group in found[-1].robots)


@pytest.mark.parametrize(("name", "runs"), RUNS.items())
def test_a_published_design_has_as_many_runs_as_it_says(name, runs):
    design = known(name)
    assert len(vectors(design)) * design.iterations == runs
    comment = designs()[name].read_text(encoding="utf-8").splitlines()[0]
    said = [int(number) for number in re.findall(r"(\d+) runs", comment)]
    assert all(number == runs for number in said)


@pytest.mark.slow
def test_table_4_is_that_of_the_paper():
    runs = plan(known("table4"))
    scenario = runs[-1].load()
    group = scenario.robots[0]
    assert (group.count, group.localization.kind, group.localization.sigma_m) == (30, "noise", 0.022)
    assert (group.controller.reference, scenario.radio.range_m, scenario.share_maps.rule) == (
        "nearest_frontier",
        200,
        Probabilistic(),
    )
    other = plan(known("table4_repository"))[-1].load()
    assert (other.robots[0].controller.reference, other.radio.range_m, other.share_maps.rule) == (
        "cost_frontier",
        100,
        GreedyFill(),
    )
    assert len({run.seed for run in runs}) == 5


def test_table_4_with_slam_has_the_parameters_of_its_gmapping():
    scenario = plan(known("table4_slam"))[-1].load()
    group = scenario.robots[0]
    settings, odometry = group.localization.filter, next(s for s in group.robot.sensors if s.kind == "odometry")
    assert (settings.resolution_m, settings.longest_range_m, settings.usable_range_m, settings.particles) == (
        0.2,
        26,
        25,
        30,
    )
    assert (odometry.noise.sigma_m, odometry.noise.sigma_rad, odometry.rate_hz) == (0.022, 0.02, 10)


def test_table_4_prints_as_the_paper_prints_it():
    rows = table(known("table4"))
    assert [row.family for row in rows if row.element == "parameters"] == sorted(
        (row.family for row in rows if row.element == "parameters"), key=FAMILIES.index
    )
    by_name = {row.name: row for row in rows}
    assert by_name["robots.scout.count"].value == "1 to 30"
    assert by_name["robots.scout.count"].family == "fleet"
    assert by_name["world.terrain"].varies
    assert "world" not in by_name  # its terrain varies, and the rest is as it always is
    assert by_name["robots.scout.localization"].value == "noise"
    elements = [row.element for row in rows]
    assert list(dict.fromkeys(elements)) == [
        "parameters",
        "vectors",
        "iterations",
        "stop",
        "measurements",
        "metrics",
    ]
    assert "99 %" in next(row.value for row in rows if row.element == "stop")


def test_no_design_has_the_name_of_a_scenario():
    assert not designs().keys() & library().keys()
    assert all(map(is_design, designs()))
    assert is_design("tabel4")


def test_the_list_tells_source_and_outcome():
    summaries = design_summaries()
    assert "Robotics 6(3):21" in summaries["table4"]
    assert "11 robots" in summaries["table4"]


def test_a_command_lists_what_a_measurement_can_record(capsys):
    assert main(["list", "quantities"]) == 0
    said = capsys.readouterr().out
    assert all(f"  {name} " in said for name in QUANTITIES)
    assert "true pose in the world frame [m, m, rad]; x_m, y_m, heading_rad" in said


@pytest.mark.slow
def test_the_files_of_designs_say_what_is_asked_and_how_many_runs_that_takes():
    for name, path in designs().items():
        head = path.read_text(encoding="utf-8").partition("\n")[0]
        assert head.startswith("# ")
        design = known(name)
        runs = len(with_alone(design, vectors(design), base_scenario(design))) * design.iterations
        said = re.findall(r"(\d+) runs", head)
        assert said == [f"{runs}"], name


def test_the_example_of_the_page_is_a_design():
    page = (Path(__file__).parents[2] / "docs" / "designs.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    assert len(vectors(parse_design(example))) == 120
