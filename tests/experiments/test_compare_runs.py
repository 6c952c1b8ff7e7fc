"""`covey compare` of two single runs: what differs is listed before how they went."""

import pytest

import covey
from covey.cli import main
from covey.cli.exit_codes import BAD_INPUT

SCENARIO = """
world: {{empty_m: [{width}, 6], resolution_m: 0.1}}
robots:
  - {{name: r, robot: disc, count: 2, start: [[-1, 0, 0], [0, 1, 0]], controller: {{name: ./mine.py:go, speed_m_s: {speed}}}}}
stop: {{timeout_s: 2}}
"""
MINE = "async def go(robot, *, speed_m_s=0.1):\n    robot.drive(speed_m_s, 0.0)\n    await robot.sleep(9)\n"


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def run_it(name, width=6, speed=0.1, mine=MINE, seed="0"):
        (tmp_path / "mine.py").write_text(mine)
        (tmp_path / "s.yaml").write_text(SCENARIO.format(width=width, speed=speed))
        main(["run", "s.yaml", "--out", name, "--quiet", "--no-pictures", "--seed", seed])

    return run_it


def test_every_setting_that_differs_is_listed_before_the_outcomes(run, capsys):
    run("a")
    run("b", width=8, speed=0.2)
    assert main(["compare", "a", "b"]) == 0
    said = capsys.readouterr().out
    listed, table = said[said.index("A and B") :].split("metric ", 1)
    assert listed.splitlines() == [
        "A and B differ in world.empty_m: [6, 6] / [8, 6]",
        "A and B differ in robots.r.controller.speed_m_s: 0.1 / 0.2",
        "2 settings differ, so no difference below can be attributed to one of them",
    ]
    (driven,) = [line.split() for line in table.splitlines() if line.startswith("exploration_cost_m")]
    assert [float(x) for x in driven[1:4]] == pytest.approx([0.4, 0.8, -0.4], abs=0.05)  # 2 robots, 2 s
    assert "One run each, so nothing is tested" in table


def test_the_seed_and_the_contents_of_files_are_settings_too(run, capsys):
    run("a")
    run("b", mine=MINE + "\n", seed="5")
    assert main(["compare", "a", "b", "--metric", "simulated_time_s"]) == 0
    said = capsys.readouterr().out
    assert "A and B differ in contents of mine.py: " in said
    assert "A and B differ in seed: 0 / 5\n2 settings differ" in said


def test_runs_that_differ_in_nothing_or_one_thing_are_not_warned_of(run, capsys):
    run("a")
    run("b")
    run("c", seed="1")
    main(["compare", "a", "b"])
    assert "differ" not in capsys.readouterr().out
    main(["compare", "a", "c"])
    assert "settings differ" not in capsys.readouterr().out


def test_what_was_done_by_hand_during_a_run_is_a_setting(run, tmp_path, capsys):
    run("a")
    wall = {"wall": {"from": [2, -1], "to": [2, 1]}}
    for name, events in (("one", [wall]), ("many", [wall, {"drive": "r0", "twist": [0.1, 0.0]}, wall, wall])):
        sim = covey.load_scenario("s.yaml").build(name)
        for _ in range(5):
            sim.step()
        for event in events:
            sim.do(event)
        sim.run()
    capsys.readouterr()
    main(["compare", "a", "one"])
    assert "A and B differ in changes by hand: none / wall 1 at 0.5 s\n" in capsys.readouterr().out
    main(["compare", "many", "one"])
    assert (
        "A and B differ in changes by hand: 4, from wall 1 at 0.5 s on / wall 1 at 0.5 s\n" in capsys.readouterr().out
    )
    main(["compare", "many", "many"])
    assert "by hand" not in capsys.readouterr().out


def test_runs_of_python_say_that_their_settings_are_not_recorded(tmp_path, capsys):
    for name, robots in (("a", 1), ("b", 2)):
        covey.Simulation(covey.World.empty(4, 4), robots, "still", recording=tmp_path / name).run(until_s=0.2)
    assert main(["compare", str(tmp_path / "a"), str(tmp_path / "b")]) == 0
    said = capsys.readouterr().out
    assert "a was run from Python, without a scenario; its settings are not recorded" in said
    assert "A and B differ in robots: 1 / 2" in said
    assert main(["compare", str(tmp_path / "a"), str(tmp_path / "b"), "--trusted-only"]) == 0  # they name no code


def test_a_run_is_not_compared_with_something_else(run, capsys):
    run("a")
    assert main(["compare", "a", "smoke"]) == BAD_INPUT
    assert "a is one run and smoke is not; give two runs, or the results of two designs" in capsys.readouterr().err
    assert main(["compare", "a", "a", "--metric", "exploration_cost"]) == BAD_INPUT
    assert "exploration_cost_m" in capsys.readouterr().err
    assert main(["compare", "a", "a", "--trusted-only"]) == BAD_INPUT
    assert "mine.py" in capsys.readouterr().err
