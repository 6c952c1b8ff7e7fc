"""Runs that end badly, each in its own way, in real processes: the design goes on, and says why and how to repeat."""

import shlex
import threading
from contextlib import contextmanager, suppress

import psutil
import pytest

from covey.cli import main
from covey.errors import CoveyError
from covey.experiments.design.plan import plan
from covey.experiments.design.records import Design
from covey.experiments.run import run_design
from covey.experiments.workers import supervisor
from covey.experiments.workers.supervisor import Supervisor, compile_if_cold
from covey.results.manifest import versions
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
    open("hanging", "w").close()
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
WAYS = ("good", "raises", "eats", "crashes", "killed_once", "hangs")


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
        "limits": {"wall_s": 1, "memory_mib": 800},
    }
    beyond = supervisor._beyond

    def beyond_once_it_hangs(limits, wall_s, memory_mib):
        """Let the limit of wall time count only once the run that hangs has come that far."""
        return beyond(limits, wall_s if (folder / "hanging").exists() else 0.0, memory_mib)

    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(supervisor, "_beyond", beyond_once_it_hangs)
        results = run_design(Design.model_validate(content, context={"folder": folder}), folder / "out", jobs=1)
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
    assert [row["status"] for row in results.failures] == ["failed", "out_of_memory", "died", "hung"]
    assert len(results.runs) == 2


def test_each_failure_says_why_and_where(ended):
    results, rows = ended
    where = f"{results.folder.parent / 'bad.py'}:10 in raises"
    assert rows["raises"]["reason"] == f"a0: stopped at 0.2 s: {where}: ValueError: no way out"
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
    mine = Supervisor()
    other = {"environment": "of another machine", "packages": versions() | {"numpy": "1.0"}}
    with pytest.raises(CoveyError, match=rf"other versions of packages \(numpy {versions()['numpy']} instead of 1.0\)"):
        mine.run(plan(design)[0], tmp_path / "runs" / "one", design.limits, other)
    assert not (tmp_path / "runs").exists()


def test_nothing_is_left_beside_the_runs(ended):
    results, rows = ended
    assert {path.name for path in (results.folder / "runs").iterdir()} == {row["run_id"] for row in rows.values()}


@contextmanager
def killing(most):
    """Kill worker processes as soon as they are there, so many of them; yield the list of their ids."""
    killed, over = [], threading.Event()

    def kill():
        while len(killed) < most and not over.wait(0.01):
            for child in psutil.Process().children():
                with suppress(psutil.Error):
                    if "covey.experiments.workers.worker" in child.cmdline() and child.pid not in killed:
                        child.kill()
                        killed.append(child.pid)

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        yield killed
    finally:
        over.set()
        thread.join()


@pytest.mark.slow
def test_a_worker_that_is_killed_while_it_starts_is_started_again(plain, tmp_path):
    compile_if_cold()
    with killing(2) as killed:
        results = run_design(plain(iterations=1), tmp_path / "out", jobs=1)
    assert len(killed) == 2
    assert [row["status"] for row in results.rows] == ["timeout", "timeout"]


def test_workers_that_never_start_end_the_study_with_the_reason(tmp_path, monkeypatch, capsys):
    compile_if_cold()
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d.yaml").write_text("design: d\nscenario: hello\niterations: 1\n")
    with killing(1000) as killed:
        assert main(["run", "d.yaml", "--jobs", "1", "--quiet"]) == 1
    assert len(killed) == 3
    said = capsys.readouterr().err
    assert "no worker process can be started" in said
    assert "tried 3 times; the last time, its process was ended by SIGKILL" in said
    assert "Traceback" not in said


CLOSES = """\
import os, sys

def all_files(robot):
    os.closerange(3, 4096)

def what_is_listened_to(robot):
    for fd in range(3, 64):
        try:
            os.write(fd, b"nonsense\\n")
        except OSError:
            pass
"""


@pytest.mark.slow
def test_a_run_that_closes_or_writes_to_files_of_its_worker_is_a_row_that_says_so(tmp_path):
    compile_if_cold()
    (tmp_path / "bad.py").write_text(CLOSES)
    content = {
        "design": "closes",
        "scenario": {
            "world": {"empty_m": [8, 8]},
            "robots": [{"name": "a", "robot": "disc", "controller": "wander"}],
            "stop": {"timeout_s": 1},
        },
        "parameters": {"robots.a.controller": ["./bad.py:all_files", "./bad.py:what_is_listened_to", "wander"]},
        "iterations": 1,
    }
    design = Design.model_validate(content, context={"folder": tmp_path})
    closes, _, good = run_design(design, tmp_path / "out", jobs=1).rows
    assert closes["status"] in ("died", "failed")  # whichever file is missed first
    assert "closed" in closes["reason"]
    assert good["status"] == "timeout"


@pytest.mark.slow
def test_one_job_has_all_runs_executed_by_one_process(tmp_path, monkeypatch):
    compile_if_cold()
    started = []
    kind = supervisor._Child
    monkeypatch.setattr(supervisor, "_Child", lambda: started.append(kind()) or started[-1])
    text = "design: d\nscenario: {world: {empty_m: [8, 8]}, robots: [{controller: wander}], stop: {timeout_s: 0.5}}\n"
    (tmp_path / "d.yaml").write_text(text + "iterations: 2\n")
    main(["run", str(tmp_path / "d.yaml"), "--jobs", "1", "--quiet", "--out", str(tmp_path / "out")])
    assert len(list((tmp_path / "out" / "runs").iterdir())) == 2
    assert len(started) == 1
