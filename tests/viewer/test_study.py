"""A study that viewers watch: what they are told is what its table says, and looking changes nothing."""

import threading
import time

import polars as pl
import pytest
from tests.experiments.conftest import PLAIN as TWO_SIZES
from tests.viewer.test_live import Viewer

from covey.experiments import run
from covey.experiments.analysis.table import deterministic
from covey.experiments.design.plan import plan
from covey.experiments.design.records import Design
from covey.experiments.workers.execute import execute
from covey.viewer import Server
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
        assert "not ended" in refused["text"]
        assert "no run" in viewer.ask(type="open", run="../../etc")["text"]
        assert "only" in Viewer(server, edits=False).ask(type="open", run=first)["text"]
        assert viewer.ask(type="play")["type"] == "refused"


def test_the_page_stays_until_nobody_looks(tmp_path, in_this_process):
    design = Design.model_validate(PLAIN | {"iterations": 1})
    with Study(design, tmp_path / "study", 1) as study, Server(study) as server:
        run.run_design(design, tmp_path / "study", jobs=1, observer=study.observe)
        viewer = Viewer(server)
        viewer.until(lambda header: header["type"] == "hello")
        waiting = threading.Thread(target=study.wait)
        waiting.start()
        viewer.until(lambda header: header.get("over"))
        time.sleep(0.3)
        assert waiting.is_alive()
        viewer.socket.close()
        waiting.join(5)
        assert not waiting.is_alive()


def test_a_fault_of_the_page_never_ends_the_study(tmp_path, in_this_process, monkeypatch, caplog):
    def broken(self, *_):
        raise ZeroDivisionError

    monkeypatch.setattr(Study, "_tell", broken)
    design = Design.model_validate(PLAIN | {"iterations": 1})
    with Study(design, tmp_path / "study", 1) as study:
        results = run.run_design(design, tmp_path / "study", jobs=1, observer=study.observe)
    assert len(results.rows) == 2
    assert "the runs go on" in caplog.text
