"""A student's first day: controllers that are wrong, and what is said of each."""

import json
import sys

import pytest

import covey
from covey.cli import main
from covey.cli.exit_codes import BAD_INPUT, NOT_REACHED

CODE = """
async def raises(robot):
    await robot.sleep(0.3)
    robot.pose.nowhere  # line 4

class NoStep:
    def update(self, robot): ...

class AsyncStep:
    async def step(self, robot): ...

class StepTakesNothing:
    def step(self): ...

class Needs:
    def __init__(self, speed): ...
    def step(self, robot): ...

async def takes_nothing(): ...

def yields(robot):
    yield robot.sleep(1.0)

speed = 3

async def endless(robot):
    await robot.sleep(0.2)
    while True:
        pass  # hangs here

def loud(robot, *, gain=1.0): ...
"""

WRONG = {
    "./mine.py:NoStep": "has no method step(self, robot), only: update",
    "./mine.py:AsyncStep": "has an async step",
    "./mine.py:StepTakesNothing": "is written step(self); write step(self, robot)",
    "./mine.py:Needs": "needs the parameter 'speed'",
    "./mine.py:takes_nothing": "is written takes_nothing(); its first argument is the robot",
    "./mine.py:yields": "has a yield; write async def",
    "./mine.py:speed": "is int; a controller is a function or a class",
    "./mine.py:lod": "did you mean 'loud'?",
    "./mine.py": "names a file; write ./mine.py:NAME",
    "./gone.py:Mine": "no file 'gone.py'",
    "./mnie.py:loud": "mine.py'?",
    "./torn.py:go": "SyntaxError: torn.py:2: '(' was never closed",
    "loud": "unknown controller 'loud', did you mean './mine.py:loud'?",
    "mine:loud": "unknown controller 'mine:loud', did you mean './mine.py:loud'?",
    "nearest_frontie": "unknown controller 'nearest_frontie', did you mean 'nearest_frontier'?",
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(CODE)
    (tmp_path / "torn.py").write_text("\ndef go(robot:\n    pass\n")
    yield tmp_path
    for name in [name for name in sys.modules if name.startswith(("covey_user_mine", "covey_user_torn"))]:
        del sys.modules[name]


def write(folder, controller, count=1):
    text = f"""world: {{empty_m: [8, 8]}}
robots:
  - name: scout
    count: {count}
    controller: {json.dumps(controller)}
execution: {{step_budget_s: 0.3}}
stop: {{timeout_s: 1}}
"""
    (folder / "s.yaml").write_text(text)
    return "s.yaml"


@pytest.mark.parametrize("controller", WRONG)
def test_check_finds_a_wrong_controller_at_its_line(controller, folder, capsys):
    assert main(["check", write(folder, controller), "--trust"]) == BAD_INPUT
    said = capsys.readouterr().err
    assert "s.yaml:5:17: robots[0].controller: " in said
    assert WRONG[controller] in said


@pytest.mark.parametrize("controller", WRONG)
def test_check_says_that_it_has_not_run_a_file_that_nobody_trusts(controller, folder, capsys):
    """Names, and files that are no Python, are wrong without running anything."""
    code = main(["check", write(folder, controller)])
    said = capsys.readouterr()
    if "./mine.py:" in controller and controller != "./mine.py:lod":
        assert code == 0
        assert f"not run: {controller}; add --trust to run and check this code" in said.out
    else:
        assert code == BAD_INPUT
        assert WRONG[controller] in said.err


def test_what_is_no_scenario_is_answered_with_the_command_for_it(folder, capsys):
    assert main(["run", "mine.py"]) == BAD_INPUT
    assert "a scenario names what is in it, controller: ./mine.py:NAME; covey play mine.py" in capsys.readouterr().err
    (folder / "first").mkdir()
    (folder / "first" / "manifest.json").write_text("{}")
    assert main(["run", "first"]) == BAD_INPUT
    assert "to repeat it: covey run --inputs first" in capsys.readouterr().err


def test_a_parameter_with_a_typing_mistake_is_found(folder, capsys):
    assert main(["check", write(folder, {"name": "./mine.py:loud", "gian": 2}), "--trust"]) == BAD_INPUT
    said = capsys.readouterr().err
    column = len('    controller: {"name": "./mine.py:loud", ') + 1
    assert f"s.yaml:5:{column}: robots[0].controller.gian: " in said
    assert "did you mean 'gain'?" in said


@pytest.mark.parametrize(
    "code",
    [
        "from dataclasses import dataclass\n@dataclass\nclass Mine:\n    speed: float = 1.0\n    def step(self, robot): ...",
        "class Base:\n    def step(self, robot): ...\nclass Mine(Base): ...",
        "class Mine:\n    def __init__(self):\n        self.step = print",
        "def make():\n    return lambda robot: None\nMine = make()",
        "try:\n    import nothing_of_the_kind\nexcept ImportError:\n    def Mine(robot): ...",
        "class Mine:\n    @staticmethod\n    def step(robot): ...",
        "import covey\n@covey.controller(scope='group', sees=('pose',))\ndef Mine(group, *, gain=print): ...",
    ],
)
def test_reading_refuses_nothing_that_may_be_right(code, folder):
    (folder / "mine.py").write_text(code)
    assert main(["check", write(folder, "./mine.py:Mine")]) == 0


def test_an_error_of_a_controller_is_said_at_once_and_at_the_end_with_robot_time_file_and_line(folder, capsys, caplog):
    assert main(["run", write(folder, "./mine.py:raises"), "--no-pictures"]) == NOT_REACHED
    line = f"scout0: stopped at 0.3 s: {folder}/mine.py:4 in raises: AttributeError: 'Pose' object has no attribute"
    assert caplog.records[0].getMessage().startswith(line)
    assert len(caplog.records) == 1  # the other one comes below the metrics
    assert capsys.readouterr().err.splitlines()[-1].startswith(line)


def test_a_run_of_a_file_says_too_that_a_motion_was_not_awaited(folder, caplog):
    (folder / "twice.py").write_text("async def go(robot):\n    robot.goto((1, 0))\n    await robot.goto((0, 1))\n")
    main(["run", write(folder, "./twice.py:go"), "--no-pictures", "-s", "stop.timeout_s=0.2"])
    assert f"{folder}/twice.py:2: nobody awaits this motion, so line 3 replaced it before it began" in caplog.text


def test_an_endless_loop_is_said_with_the_line_where_it_hangs(folder, capsys):
    assert main(["run", write(folder, "./mine.py:endless"), "--no-pictures"]) == NOT_REACHED
    said = capsys.readouterr().err.splitlines()[-1]
    hangs = CODE[: CODE.index("# hangs here")].count("\n") + 1
    assert said.startswith(
        tuple(f"scout0: stopped at 0.2 s: {folder}/mine.py:{n} in endless: Step" for n in (hangs - 1, hangs))
    )
    assert "it exceeded its wall time for one step, 0.3 s (step_budget_s); a loop needs an await" in said


def test_a_plain_function_that_hangs_is_not_told_to_await(caplog):
    def go(robot):
        while True:
            pass

    execution = covey.Execution(step_budget_s=0.5)
    covey.Simulation(covey.World.empty(20, 20), 1, go, execution=execution).run(until_s=0.2)
    assert "it exceeded its wall time for one step, 0.5 s (step_budget_s)" in caplog.text
    assert "await" not in caplog.text


def test_the_same_error_at_several_times_is_said_from_when_on(caplog):
    async def go(robot):
        await robot.sleep(1.0 if robot.name == "robot0" else 2.0)
        raise ValueError("no idea")

    covey.Simulation(covey.World.empty(20, 20), 2, go).run(until_s=3.0)
    assert "robot0 and robot1: stopped from 1 s on: " in caplog.messages[-1]


def test_the_same_error_of_many_robots_is_one_line_in_python_too(caplog):
    async def go(robot):
        raise ValueError("no idea")

    covey.Simulation(covey.World.empty(20, 20), 9, go).run(until_s=0.2)
    line = go.__code__.co_firstlineno + 1
    expected = (
        f"robot0, robot1, robot2, robot3 and 5 others: stopped at 0 s: {__file__}:{line} in go: ValueError: no idea"
    )
    assert caplog.messages == [expected, f"9 of 9 robots were stopped by errors:\n  {expected}"]


def test_a_controller_that_misuses_the_handle_is_told_its_own_line_not_one_of_covey():
    async def go(robot):
        await robot.goto((float("nan"), 0.0))

    run = covey.Simulation(covey.World.empty(8, 8), 1, go).run(until_s=0.2)
    failure = run.events.filter(run.events["kind"] == "controller_failed")["text"][0]
    assert failure.startswith(f"{__file__}:{go.__code__.co_firstlineno + 1} in go: InvalidValueError: goto((nan, 0.0))")


def test_what_ships_goes_by_name_in_python():
    world = covey.World.empty(8, 8)
    sim = covey.Simulation(world, 2, "minpos", seed=3)
    from covey.controllers import minpos

    assert sim.groups[0].program.factory is minpos
    own = covey.Group("a", covey.robots.disc(), [(0.0, 0.0, 0.0)], "wander")
    assert covey.Simulation(world, [own]).groups[0].program.name == "wander"
    with pytest.raises(covey.UnknownNameError, match="did you mean 'minpos'"):
        covey.Simulation(world, 2, "minpo")


def test_python_refuses_a_class_without_step_before_the_run():
    class Mine:
        def update(self, robot): ...

    with pytest.raises(covey.InvalidValueError, match=r"'Mine' has no method step\(self, robot\), only: update"):
        covey.Simulation(covey.World.empty(8, 8), 1, Mine)
