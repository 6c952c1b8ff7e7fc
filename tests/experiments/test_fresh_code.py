"""Code of a user's: every run begins with it anew, however many runs a worker has done."""

import gc
import sys

import pytest

from covey.experiments.analysis.table import deterministic
from covey.experiments.design.plan import plan
from covey.experiments.design.records import Design
from covey.experiments.run import run_design
from covey.experiments.workers.execute import execute
from covey.experiments.workers.supervisor import compile_if_cold
from covey.onboard.controller import controllers
from covey.registry import forget_files, load_file

COUNTS = """\
import covey
from counted import drawn

count = 0

async def faster(robot, *, dummy: int = 0):
    global count
    count += 1
    robot.drive(0.1 * count, 0.0)
    drawn.append(robot.name)
    robot.note(f"{count} {len(drawn)}")
    await robot.sleep(1e9)

@covey.controller("of the user's own")
def registered(robot):
    pass
"""


@pytest.fixture
def counting(tmp_path, monkeypatch):
    """Return a design of six runs of a controller that counts in its module, and in one beside it."""
    (tmp_path / "mine.py").write_text(COUNTS)
    (tmp_path / "counted.py").write_text("drawn = []\n")
    monkeypatch.syspath_prepend(tmp_path)
    content = {
        "design": "counting",
        "scenario": {
            "world": {"empty_m": [8, 8]},
            "robots": [{"name": "a", "robot": "disc", "controller": "./mine.py:faster"}],
            "stop": {"timeout_s": 1},
        },
        "parameters": {"robots.a.controller.dummy": [0, 1, 2]},
        "iterations": 2,
        "keep": "everything",
    }
    yield Design.model_validate(content, context={"folder": tmp_path})
    forget_files()


@pytest.mark.slow
def test_globals_of_a_controller_do_not_reach_the_next_run_whatever_the_number_of_jobs(counting, tmp_path):
    compile_if_cold()
    tables = [run_design(counting, tmp_path / f"out{jobs}", jobs=jobs) for jobs in (1, 2)]
    for results in tables:
        # a disc without limits of acceleration drives 0.1 m/s for 1 s; only the first count of each run makes that
        assert [run.series("distance_m")[-1, 0] for run in results.runs] == pytest.approx([0.1] * 6)
        assert {tuple(run.events["text"].drop_nulls().to_list()) for run in results.runs} == {("1 1",)}
    texts = [deterministic(results.table).write_csv() for results in tables]
    assert texts[0] == texts[1]


def test_what_a_file_registers_is_gone_with_its_run(counting, tmp_path):
    one, two = plan(counting)[:2]
    for planned in (one, two):
        row = execute(planned, tmp_path / "runs" / planned.run_id)
        assert row["status"] == "timeout", row["reason"]
        assert "of the user's own" in controllers.names()
    forget_files()
    assert "of the user's own" not in controllers.names()
    assert "wander" in controllers.names()


def test_files_are_forgotten_while_other_threads_import(tmp_path, monkeypatch):
    """A collection of garbage, which lets other threads run, may come between any two modules of the list."""
    (tmp_path / "mine.py").write_text("x = 1\n")
    module = load_file(tmp_path / "mine.py")

    def imports(phase, info):
        monkeypatch.setitem(sys.modules, f"imported_meanwhile_{len(sys.modules)}", sys)

    before = gc.get_threshold()
    gc.callbacks.append(imports)
    gc.set_threshold(10)
    try:
        forget_files()
    finally:
        gc.callbacks.remove(imports)
        gc.set_threshold(*before)
    assert module.__name__ not in sys.modules
