"""Two designs that name one parameter differently: what has equal scenarios is compared, and nothing else."""

import pytest

from covey.cli import main

SMALL, LARGE, LONG, TALL = [8, 8], [16, 16], [24, 8], [8, 24]
DESIGN = """
design: {name}
scenario:
  robots: [{{name: scout, robot: disc, controller: {controller}}}]
  world: {{empty_m: [8, 8]}}
  stop: {{timeout_s: {timeout_s}}}
parameters:
{parameters}
iterations: 2
metrics: [exploration_cost_m]
keep: rows
"""
BY_WORLD = f"""  world.empty_m: [{SMALL}, {LARGE}, {LONG}]
  world.resolution_m: [0.1, 0.2]"""
BY_PLACE = f"""  place:
    - {{label: hall, set: {{world.empty_m: {LARGE}}}}}
    - {{label: tower, set: {{world.empty_m: {TALL}}}}}
    - {{label: closet, set: {{world.empty_m: {SMALL}}}}}
  cells: [{{label: fine, set: {{world.resolution_m: 0.1}}}}]"""


@pytest.fixture
def two(tmp_path, monkeypatch, in_this_process):
    """Two finished studies: A by the size of the world and of its cells, B by labels, slower and with a longer time."""
    monkeypatch.chdir(tmp_path)
    for name, parameters, controller, timeout_s in (
        ("a", BY_WORLD, "wander", 1),
        ("b", BY_PLACE, "{name: wander, speed: 0.1}", 2),
    ):
        text = DESIGN.format(name=name, parameters=parameters, controller=controller, timeout_s=timeout_s)
        (tmp_path / f"{name}.yaml").write_text(text)
        assert main(["run", f"{name}.yaml", "--out", name, "--quiet", "--jobs", "1"]) == 0
    return tmp_path


def test_pairs_are_of_equal_values_whatever_they_are_called(two, capsys):
    capsys.readouterr()
    assert main(["compare", "a", "b"]) == 0
    said = capsys.readouterr().out
    lines = said.splitlines()
    assert [line for line in lines if line.startswith("A and B differ in ")] == [
        "A and B differ in stop.timeout_s: 1 / 2",
        "A and B differ in robots.scout.controller.speed: not given / 0.1",
    ], "both, and not that one calls by name only what the other gives a speed"
    assert "2 settings differ, so no difference below can be attributed to one of them" in said
    assert [line for line in lines if line.startswith("only ")] == [
        f"only {which}; it is compared with nothing"
        for which in (
            f"A has vector 1 (world.empty_m {SMALL}, world.resolution_m 0.2)",
            f"A has vector 3 (world.empty_m {LARGE}, world.resolution_m 0.2)",
            f"A has vector 4 (world.empty_m {LONG}, world.resolution_m 0.1)",
            f"A has vector 5 (world.empty_m {LONG}, world.resolution_m 0.2)",
            "B has vector 1 (place tower, cells fine)",
        )
    ]
    together, apart = said.split("exploration_cost_m: Wilcoxon signed-rank test over all 2 settings")[1].split(
        "exploration_cost_m, setting by setting"
    )
    (pairs,) = [line.split()[2:4] for line in together.splitlines() if line.startswith("A    B  ")][1:]
    assert pairs == ["4", "4"], "two places with two seeds: nothing of the others is pooled"
    settings = [line.split("    ")[0] for line in apart.splitlines() if line.startswith("empty [m] [")]
    assert settings == [f"empty [m] {SMALL}", f"empty [m] {LARGE}"]
    assert "did not reach the goal" not in said, "these runs have none"
