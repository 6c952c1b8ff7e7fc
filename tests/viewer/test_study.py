"""A study that viewers watch: what they are told is what its table says, and looking changes nothing."""

import math
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import urlsplit

import polars as pl
import psutil
import pytest
import yaml
from tests.experiments.conftest import PLAIN as TWO_SIZES
from tests.experiments.conftest import executed_here
from tests.viewer.test_live import Viewer

from covey.cli.view import FIRST_S
from covey.errors import InvalidValueError
from covey.experiments import run
from covey.experiments.analysis.table import deterministic
from covey.experiments.design.load import load_design
from covey.experiments.design.plan import plan
from covey.experiments.design.records import Design
from covey.experiments.workers.execute import execute
from covey.experiments.workers.folder import work_folder
from covey.experiments.workers.showing import request_of
from covey.viewer import Server
from covey.viewer.hub import RELOAD_S, wait_until_left
from covey.viewer.study import Study

PLAIN = TWO_SIZES | {"metrics": ["exploration_cost_m"]}


@pytest.fixture
def in_this_process(monkeypatch):
    monkeypatch.setattr(run, "keep", lambda planned, folder, limits, environment: execute(planned, folder))


def together(viewer, runs):
    """Put the told changes into the table of a viewer, until all runs have ended."""

    def ended(header):
        for one in header.get("runs", ()):
            runs[one["i"]] = one
        return header.get("progress", {}).get("done") == len(runs)

    return viewer.until(ended)["progress"]


def test_a_viewer_sees_the_rows_of_the_table_and_changes_nothing(tmp_path, in_this_process):
    design = Design.model_validate(PLAIN)
    alone = run.run_design(design, tmp_path / "alone", jobs=1)
    with Study(design, tmp_path / "watched", 1) as study, Server(study) as server:
        viewer = Viewer(server)
        watched = run.run_design(design, tmp_path / "watched", jobs=1, observer=study.observe)
        hello = viewer.until(lambda header: header["type"] == "hello")
        assert (hello["mode"], hello["workers"], hello["parameters"]) == ("study", 1, ["robots.scout.count"])
        assert [one["state"] for one in hello["runs"]] == ["waiting"] * 4
        runs = {one["i"]: one for one in hello["runs"]}
        progress = together(viewer, runs)
    assert (progress["total"], progress["failed"]) == (4, 0)
    assert deterministic(watched.table).equals(deterministic(alone.table))
    for row, one in zip(watched.rows, runs.values(), strict=True):
        assert (one["run"], one["state"], one["status"]) == (row["run_id"], "done", row["status"])
        assert one["values"] == [str(row["parameters"]["robots.scout.count"])]
        assert one["metrics"]["exploration_cost_m"] == pytest.approx(row["metrics"]["exploration_cost_m"])
    assert isinstance(watched.table, pl.DataFrame)


def test_who_comes_late_is_told_all_and_failures_have_words(tmp_path, monkeypatch):
    def fails(planned, folder, limits, environment):
        return execute(planned, folder) | {"status": "failed", "reason": "out of luck"}

    monkeypatch.setattr(run, "keep", fails)
    design = Design.model_validate(PLAIN | {"iterations": 1})
    with Study(design, tmp_path / "study", 2) as study, Server(study) as server:
        run.run_design(design, tmp_path / "study", jobs=1, observer=study.observe)
        hello = Viewer(server).until(lambda header: header["type"] == "hello")
    assert hello["progress"]["failed"] == 2
    assert [(one["state"], one["reason"]) for one in hello["runs"]] == [("failed", "out of luck")] * 2


def test_a_run_is_shown_as_running_while_its_folder_is_written_and_opens_later(tmp_path, monkeypatch):
    design = Design.model_validate(PLAIN | {"iterations": 1})
    first = plan(design)[0].run_id
    told = []

    def slow(planned, folder, limits, environment):
        work = folder.with_name(f".{folder.name}.host.1")
        work.mkdir()
        if planned.run_id == first:
            told.append(viewer.until(lambda header: header["type"] == "study" and header["runs"])["runs"])
            told.append(viewer.ask(type="open", run=first))
        work.rmdir()
        return execute(planned, folder)

    monkeypatch.setattr(run, "keep", slow)
    with Study(design, tmp_path / "study", 1) as study, Server(study) as server:
        viewer = Viewer(server)
        run.run_design(design, tmp_path / "study", jobs=1, observer=study.observe)
        running, refused = told
        assert [(one["run"], one["state"]) for one in running] == [(first, "running")]
        assert refused["text"] == "host computes this run; it can be opened when it has ended"
        assert "no run" in viewer.ask(type="open", run="../../etc")["text"]
        assert "only" in Viewer(server, edits=False).ask(type="open", run=first)["text"]
        assert viewer.ask(type="play")["type"] == "refused"


SLOW = """
import time
from pathlib import Path

WAIT, BEGUN = Path(__file__).with_name("wait"), time.monotonic()

def slow(robot):
    robot.drive(0.2, 0.1 * int(robot.name[-1]))
    if WAIT.exists():  # steps become rarer, so that the run goes on, but does not end, however slow who watches is
        time.sleep(0.02 + 0.1 * (time.monotonic() - BEGUN))
"""


@pytest.mark.slow
def test_runs_are_watched_while_workers_compute_them_and_give_the_same_bytes(tmp_path):
    (tmp_path / "slow.py").write_text(SLOW)
    scenario = {
        "world": {"empty_m": [8, 8]},
        "robots": [{"name": "scout", "robot": "disc", "controller": f"{tmp_path}/slow.py:slow"}],
        "execution": {"step_budget_s": 600},
        "stop": {"timeout_s": 20},
    }
    design = Design.model_validate(PLAIN | {"scenario": scenario, "iterations": 1, "keep": "everything"})
    with pytest.MonkeyPatch.context() as patch:
        executed_here(patch)
        alone = run.run_design(design, tmp_path / "alone", jobs=1)
    wait, ids = tmp_path / "wait", [one.run_id for one in plan(design)]
    wait.touch()
    results = []
    with Study(design, tmp_path / "watched", 2) as study, Server(study) as server:
        viewer = Viewer(server)
        work = threading.Thread(
            target=lambda: results.append(run.run_design(design, tmp_path / "watched", jobs=2, observer=study.observe))
        )
        work.start()
        running = set()
        while len(running) < 2:
            header = viewer.until(lambda header: header["type"] == "study")
            running |= {one["run"] for one in header["runs"] if one["state"] == "running"}
        viewers = []
        for run_id in ids:
            answer = viewer.ask(type="open", run=run_id)
            assert answer["type"] == "done", answer
            assert viewer.ask(type="open", run=run_id)["url"] == answer["url"]
            place = urlsplit(answer["url"])
            assert place.hostname == "127.0.0.1"
            seen = Viewer(SimpleNamespace(url=answer["url"], port=place.port))
            hello = seen.until(lambda header: header["type"] == "hello")
            seen.send(type="watch", layers=hello["layers"], rate_hz=30)
            step = seen.until(lambda header: header["type"] == "frame")["step"]
            assert seen.until(lambda header, step=step: header.get("step", 0) > step)["status"] is None
            assert not hello["edits"]
            for message in ({"type": "pause"}, {"type": "end"}, {"type": "do", "event": {"remove": "x"}}):
                assert "only" in seen.ask(**message)["text"]
            viewers.append((len(hello["robots"]), seen))
        assert [robots for robots, _ in viewers] == [1, 2]
        wait.unlink()
        for _, seen in viewers:
            assert seen.until(lambda header: header.get("status"))["step"] == 200
        work.join(240)
        hidden = {path.name for path in (tmp_path / "watched" / "runs").iterdir()} - set(ids)
        assert not hidden
    assert deterministic(results[0].table).equals(deterministic(alone.table))
    for run_id in ids:
        for name in ("measurements.parquet", "team.parquet", "maps.npz"):
            first, second = (tmp_path / folder / "runs" / run_id / name for folder in ("alone", "watched"))
            assert first.read_bytes() == second.read_bytes()


def test_a_run_that_cannot_be_shown_says_why_and_goes_on(tmp_path, monkeypatch):
    def broken(*_):
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr("covey.viewer.Joined.__init__", broken)
    design = Design.model_validate(PLAIN | {"iterations": 1})
    planned = plan(design)[0]
    folder = tmp_path / "runs" / planned.run_id
    folder.parent.mkdir()
    request_of(work_folder(folder)).write_text('{"host": "127.0.0.1"}')
    monkeypatch.setattr("covey.experiments.workers.showing._LOOK_S", 0.0)
    said = []
    unlink = Path.unlink

    def read_first(path, **options):
        if path.name.startswith(".shown-"):
            assert path.stat().st_mode & 0o077 == 0  # only its owner reads it
            said.append(path.read_text())
        unlink(path, **options)

    monkeypatch.setattr(Path, "unlink", read_first)
    assert execute(planned, folder)["status"] == "timeout"
    assert [path.name for path in folder.parent.iterdir()] == [planned.run_id]
    assert "ZeroDivisionError: a bug" in said[0]


def test_the_page_stays_until_nobody_looks(tmp_path, in_this_process):
    design = Design.model_validate(PLAIN | {"iterations": 1})
    with Study(design, tmp_path / "study", 1) as study, Server(study) as server:
        run.run_design(design, tmp_path / "study", jobs=1, observer=study.observe)
        viewer = Viewer(server)
        viewer.until(lambda header: header["type"] == "hello")
        waiting = threading.Thread(target=study.wait)
        waiting.start()
        viewer.until(lambda header: header.get("over"))
        assert viewer.ask(type="play")["type"] == "refused"  # the page answers
        assert waiting.is_alive()
        viewer.socket.close()
        waiting.join(240)
        assert not waiting.is_alive()


@pytest.mark.slow
def test_a_study_is_looked_at_while_the_page_of_one_of_its_runs_is_open(tmp_path, in_this_process):
    design = Design.model_validate(PLAIN | {"iterations": 1, "keep": "everything"})
    with Study(design, tmp_path / "study", 1) as study, Server(study) as server:
        run.run_design(design, tmp_path / "study", jobs=1, observer=study.observe)
        viewer = Viewer(server)
        hello = viewer.until(lambda header: header["type"] == "hello")
        opened = viewer.ask(type="open", run=hello["runs"][0]["run"])["url"]
        replay = Viewer(SimpleNamespace(url=opened, port=urlsplit(opened).port))
        replay.until(lambda header: header["type"] == "hello")
        viewer.socket.close()
        while study.hub.clients:  # until the server knows that its page is closed
            threading.Event().wait(0.01)
        closed = time.monotonic()
        assert study.looked_at
        replay.socket.close()
        while study.looked_at:  # until the run's page has ended by itself, far sooner than one that nobody has seen
            threading.Event().wait(0.01)
        assert time.monotonic() - closed < FIRST_S / 2


def test_who_looks_again_in_time_is_waited_for(monkeypatch):
    now, seen = [0.0], []
    looks = {0.0: True, 1.8: True, 3.6: True}  # every time within the two seconds that reloading a page may take
    monkeypatch.setattr("covey.viewer.hub.time.monotonic", lambda: now[0])
    monkeypatch.setattr("covey.viewer.hub.time.sleep", lambda s: now.__setitem__(0, round(now[0] + s, 6)))
    wait_until_left(lambda: seen.append(now[0]) or (now[0] if looks.get(now[0]) else -math.inf))
    assert seen[-1] == pytest.approx(3.6 + RELOAD_S, abs=0.25)


@pytest.mark.parametrize(("left_s", "end_s"), [(-math.inf, 60.0), (0.1, 0.1 + RELOAD_S)])
def test_a_look_that_is_over_before_anybody_could_see_it_counts(monkeypatch, left_s, end_s):
    now = [0.0]
    monkeypatch.setattr("covey.viewer.hub.time.monotonic", lambda: now[0])
    monkeypatch.setattr("covey.viewer.hub.time.sleep", lambda s: now.__setitem__(0, round(now[0] + s, 6)))
    wait_until_left(lambda: left_s if now[0] >= left_s else -math.inf, 60.0)
    assert now[0] == pytest.approx(end_s, abs=0.25)


@pytest.mark.slow
def test_the_command_shows_a_design_that_has_ended_and_ends_with_the_last_page(tmp_path, in_this_process):
    (tmp_path / "small.yaml").write_text(yaml.safe_dump(PLAIN | {"iterations": 1, "keep": "everything"}))
    run.run_design(load_design(tmp_path / "small.yaml"), tmp_path / "study", jobs=1)
    command = [sys.executable, "-m", "covey", "run", "small.yaml", "--out", "study", "--live"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    for ending in ("closed", "Ctrl-C"):
        process = subprocess.Popen(command, cwd=tmp_path, **pipes)
        try:
            assert process.stderr is not None
            url = next(found[1] for line in process.stderr if (found := re.search(r"watch and steer\s+(\S+)", line)))
            assert any("until you close it" in line for line in process.stderr)
            study = Viewer(SimpleNamespace(url=url, port=urlsplit(url).port))
            hello = study.until(lambda header: header["type"] == "hello")
            assert [one["state"] for one in hello["runs"]] == ["done"] * 2
            opened = study.ask(type="open", run=hello["runs"][0]["run"])["url"]
            replay = Viewer(SimpleNamespace(url=opened, port=urlsplit(opened).port))
            replay.until(lambda header: header["type"] == "hello")
            children = psutil.Process(process.pid).children(recursive=True)
            assert any("view" in child.cmdline() for child in children)
            study.socket.close()
            if ending == "closed":
                replay.socket.close()
            else:
                process.send_signal(signal.SIGINT)
            process.communicate(timeout=240)
            assert process.returncode == 0
            assert not psutil.wait_procs(children, timeout=240)[1]
        finally:
            process.kill()
            process.communicate()


def test_a_fault_of_the_page_never_ends_the_study(tmp_path, in_this_process, monkeypatch, caplog):
    def broken(self, *_):
        raise ZeroDivisionError

    monkeypatch.setattr(Study, "_tell", broken)
    design = Design.model_validate(PLAIN | {"iterations": 1})
    with Study(design, tmp_path / "study", 1) as study:
        results = run.run_design(design, tmp_path / "study", jobs=1, observer=study.observe)
    assert len(results.rows) == 2
    assert "the runs go on" in caplog.text


@pytest.mark.skipif(sys.platform == "win32", reason="Windows replaces no file that is open")
def test_a_question_to_a_worker_is_written_whole_so_that_one_which_reads_now_never_sees_a_part(tmp_path):
    """A worker that saw a part said that the run cannot be shown, and never looked again."""
    work = work_folder(tmp_path / "runs" / "0a")
    work.mkdir(parents=True)
    request_of(work).write_text("a question of another page")
    study = Study(Design.model_validate(PLAIN), tmp_path, 1)
    study._over.set()  # so it does not wait for an answer
    with request_of(work).open() as being_read:
        with pytest.raises(InvalidValueError, match="does not answer"):
            study._watched("0a")
        assert being_read.read() == "a question of another page"
    assert [path.name for path in work.parent.iterdir()] == [work.name]
