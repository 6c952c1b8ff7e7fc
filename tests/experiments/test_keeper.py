"""Runs that end badly, each in its own way, in real processes: the design goes on, and says why and how to repeat."""

import shlex

import pytest

from covey.cli import main
from covey.errors import CoveyError
from covey.experiments.keeper import Keeper, compile_if_cold
from covey.experiments.plan import plan
from covey.experiments.records import Design
from covey.experiments.run import run_design
from covey.results.run import Run

BAD = """\
import os, signal, time

async def good(robot):
    print("a line on standard output")
    robot.drive(0.2, 0.1)
    await robot.sleep(9.0)

async def raises(robot):
    await robot.sleep(0.2)
    raise ValueError("no way out")

def hangs(robot):
    while True:
        time.sleep(0.01)

def eats(robot):
    robot.held = [bytearray(b"x" * 2**20) for _ in range(700)]
    time.sleep(600)

def crashes(robot):
    os.kill(os.getpid(), signal.SIGSEGV)

def killed_once(robot):
    try:
        os.mkdir("once")
    except FileExistsError:
        return
    os.kill(os.getpid(), signal.SIGKILL)
"""
WAYS = ("hangs", "good", "raises", "eats", "crashes", "killed_once")


@pytest.fixture(scope="module")
def ended(tmp_path_factory):
    compile_if_cold()
    folder = tmp_path_factory.mktemp("bad")
    (folder / "bad.py").write_text(BAD)
    content = {
        "design": "bad ends",
        "scenario": {
            "world": {"empty_m": [8, 8]},
            "robots": [{"name": "a", "robot": "disc", "controller": "./bad.py:good"}],
            "execution": {"step_budget_s": 600, "on_controller_error": "end_run"},
        },
        "parameters": {"robots.a.controller": [f"./bad.py:{way}" for way in WAYS], "stop.timeout_s": 1},
        "iterations": 1,
        "keep": "everything",
        "limits": {"wall_s": 12, "memory_mib": 800},
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        results = run_design(Design.model_validate(content, context={"folder": folder}), folder / "out", jobs=2)
    return results, dict(zip(WAYS, results.rows, strict=True))


def test_every_run_is_a_row_with_its_status(ended):
    results, rows = ended
    assert {way: row["status"] for way, row in rows.items()} == {
        "good": "timeout",
        "raises": "failed",
        "hangs": "hung",
        "eats": "out_of_memory",
        "crashes": "died",
        "killed_once": "timeout",
    }
    assert [row["status"] for row in results.failures] == ["hung", "failed", "out_of_memory", "died"]
    assert len(results.runs) == 2


def test_each_failure_says_why_and_where(ended):
    _, rows = ended
    assert rows["raises"]["reason"] == "ValueError: no way out"
    assert rows["raises"]["metrics"]["controllers_failed"] == 1
    assert 'bad.py", line 10, in raises' in rows["raises"]["traceback"]
    assert "limits.wall_s" in rows["hangs"]["reason"]
    assert "bad.py" in rows["hangs"]["traceback"]
    assert "800 MiB" in rows["eats"]["reason"]
    assert rows["eats"]["host"]["peak_rss_mib"] > 800
    assert rows["crashes"]["reason"] == "its process was ended by SIGSEGV"
    assert "bad.py" in rows["crashes"]["traceback"]


def test_the_command_of_a_row_runs_it_alone(ended, tmp_path, monkeypatch):
    results, rows = ended
    monkeypatch.chdir(tmp_path)
    covey, *arguments = shlex.split(rows["raises"]["reproduce"])
    assert covey == "covey"
    assert main([*arguments, "--quiet", "--no-pictures", "--out", "failing"]) == 3
    assert Run("failing").status == "failed"
    assert "no way out" in Run("failing").events["text"][-1]

    arguments = shlex.split(rows["good"]["reproduce"])[1:]
    assert main([*arguments, "--quiet", "--no-pictures", "--out", "alone"]) == 3
    alone = (tmp_path / "alone" / "team.parquet").read_bytes()
    assert alone == (results.folder / "runs" / rows["good"]["run_id"] / "team.parquet").read_bytes()


def test_workers_with_other_sources_are_refused(ended, tmp_path):
    design = Design.model_validate({"design": "d", "scenario": "hello", "iterations": 1})
    keeper = Keeper()
    with pytest.raises(CoveyError, match="other sources of Covey or other versions"):
        keeper.run(plan(design)[0], tmp_path / "runs" / "one", design.limits, "of another machine")
    assert not (tmp_path / "runs").exists()


def test_nothing_is_left_beside_the_runs(ended):
    results, rows = ended
    assert {path.name for path in (results.folder / "runs").iterdir()} == {row["run_id"] for row in rows.values()}
