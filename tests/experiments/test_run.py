"""Running a design: what is run and what is not, what is left, and what the table holds."""

import errno
import json
import os

import polars as pl
import pytest

from covey.errors import InvalidValueError, RunFolderError
from covey.experiments.analysis.table import deterministic, read_results
from covey.experiments.design.records import Design
from covey.experiments.report.report import write_report
from covey.experiments.run import Progress, Results, parse_shard, run_design
from covey.results.table import Table


def test_every_run_becomes_a_row_of_the_table(plain, tmp_path, in_this_process):
    seen = []
    results = run_design(plain(), tmp_path / "out", jobs=1, observer=lambda p: seen.append((p.done, p.failed)))
    table = pl.read_parquet(tmp_path / "out" / "results.parquet")
    assert table.equals(results.table)
    assert table["vector"].to_list() == [0, 0, 1, 1]
    assert table["iteration"].to_list() == [0, 1, 0, 1]
    assert table["robots.scout.count"].to_list() == [1, 1, 2, 2]
    assert table["status"].to_list() == ["timeout"] * 4
    assert table["simulated_time_s"].to_list() == [1.0] * 4
    assert (table["host_wall_s"] > 0).all()
    assert not {"wall_time_s", "cpu_percent", "distance_by_robot_m"} & set(table.columns)
    assert seen == [(n, 0) for n in range(5)]
    assert [run.status for run in results.runs] == ["timeout"] * 4
    assert len(results.runs[2].names) == 2


def test_nothing_runs_twice_and_a_changed_design_runs_what_changed(plain, tmp_path, in_this_process):
    run_design(plain(iterations=1), tmp_path, jobs=1)
    first = in_this_process.copy()
    assert len(set(first)) == 2
    run_design(plain(iterations=1), tmp_path, jobs=1)
    assert in_this_process == first

    results = run_design(plain(iterations=1, parameters={"robots.scout.count": [3, 1]}), tmp_path, jobs=1)
    assert len(in_this_process) == len(first) + 1
    assert results.table["robots.scout.count"].to_list() == [3, 1]  # the row of 1 moved to the second vector
    assert results.table["vector"].to_list() == [0, 1]
    assert results.table["run_id"][1] in first
    assert read_results(tmp_path).equals(results.table)


def test_a_run_is_another_one_when_its_code_changes(tmp_path, in_this_process):
    code, helper = tmp_path / "mine.py", tmp_path / "speeds.py"
    code.write_text("import speeds\nasync def go(robot):\n    robot.drive(0.1, 0.0)\n    await robot.sleep(9.0)\n")
    helper.write_text("fast = 1.0\n")
    scenario = {"world": {"empty_m": [8, 8]}, "robots": [{"name": "a", "controller": "./mine.py:go"}]}
    content = {"design": "mine", "scenario": scenario, "iterations": 1, "parameters": {"stop.timeout_s": 0.5}}
    design = Design.model_validate(content, context={"folder": tmp_path})
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(tmp_path)
        for number in (1, 1, 2, 2, 3):
            if number == 2:
                code.write_text(code.read_text().replace("0.1", "0.2"))
            if number == 3:
                helper.write_text("fast = 2.0\n")
            run_design(design, tmp_path / "out", jobs=1)
            assert len(in_this_process) == number


def test_shards_share_a_folder_and_the_last_writes_the_table(plain, tmp_path, in_this_process):
    design = plain(iterations=1, parameters={"robots.scout.count": [1, 2, 3]})
    whole = run_design(design, tmp_path / "whole", jobs=1)
    part = run_design(design, tmp_path / "parts", jobs=1, shard=(2, 3))
    assert len(part.table) == 1
    assert not (tmp_path / "parts" / "results.parquet").exists()
    assert deterministic(read_results(tmp_path / "parts")).equals(deterministic(part.table))  # readable so far
    run_design(design, tmp_path / "parts", jobs=1, shard=(3, 3))
    run_design(design, tmp_path / "parts", jobs=1, shard=(1, 3))
    assert len(in_this_process) == 6
    together = pl.read_parquet(tmp_path / "parts" / "results.parquet")
    assert deterministic(together).equals(deterministic(whole.table))


@pytest.mark.parametrize("text", ["0/3", "4/3", "1", "1/0", "a/b"])
def test_a_shard_that_is_none(text):
    with pytest.raises(InvalidValueError, match="for example 2/8"):
        parse_shard(text)


def test_a_full_disk_stops_with_what_has_ended_whole(plain, tmp_path, in_this_process, monkeypatch):
    write, left = Table.write, [2 * 4]  # tables of two runs fit

    def until_full(self, columns):
        left[0] -= 1
        if left[0] < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        write(self, columns)

    with monkeypatch.context() as patch:
        patch.setattr(Table, "write", until_full)
        with pytest.raises(RunFolderError, match="No space left on device"):
            run_design(plain(), tmp_path, jobs=1)
    ended = len(Results(tmp_path).rows)
    assert 0 < ended < 4
    assert len(os.listdir(tmp_path / "runs")) == ended
    assert all(run.measurements.height for run in Results(tmp_path).runs)
    attempted = len(in_this_process)

    results = run_design(plain(), tmp_path, jobs=1)
    assert results.table["status"].to_list() == ["timeout"] * 4
    assert len(in_this_process) == attempted + 4 - ended


def test_a_folder_with_other_files_is_left_alone(plain, tmp_path):
    (tmp_path / "thesis.tex").write_text("all of it")
    with pytest.raises(RunFolderError, match="holds other files"):
        run_design(plain(), tmp_path)
    assert os.listdir(tmp_path) == ["thesis.tex"]


@pytest.mark.slow
@pytest.mark.usefixtures("undrawn")
def test_a_design_goes_on_in_a_folder_with_its_report(plain, tmp_path, in_this_process):
    write_report(plain(iterations=1), run_design(plain(iterations=1), tmp_path, jobs=1))
    before = len(in_this_process)
    assert run_design(plain(iterations=2), tmp_path, jobs=1).table.height == 2 * before
    assert (tmp_path / "report" / "report.html").is_file()
    assert len(in_this_process) == 2 * before  # and nothing twice


def test_failed_runs_are_rows_and_are_run_again_on_request(plain, tmp_path, in_this_process):
    crowd = plain(parameters={"robots.scout.count": [1, 2000]}, iterations=1)
    results = run_design(crowd, tmp_path, jobs=1)
    assert results.table["status"].to_list() == ["timeout", "failed"]
    assert results.table["simulated_time_s"].to_list() == [1.0, None]
    (failure,) = results.failures
    assert "robots.scout" in failure["reason"]
    assert len(results.runs) == 1
    run_design(crowd, tmp_path, jobs=1)
    assert len(in_this_process) == 2
    run_design(crowd, tmp_path, jobs=1, retry_failed=True)
    assert in_this_process[2:] == [failure["run_id"]]
    assert len(Results(tmp_path).failures) == 1


def test_values_that_are_not_single_stand_as_yaml(plain, tmp_path, in_this_process):
    worlds = [{"empty_m": [6, 6]}, {"empty_m": [8, 8]}]
    results = run_design(plain(parameters={"world": worlds}, iterations=1), tmp_path, jobs=1)
    assert results.table["world"].to_list() == ["{empty_m: [6, 6]}", "{empty_m: [8, 8]}"]


def test_progress_counts():
    progress = Progress(5, 1)
    progress.statuses.update(["reached", "hung", "died", "timeout"])
    assert (progress.done, progress.failed) == (4, 2)


def test_the_plan_stands_in_the_folder(plain, tmp_path, in_this_process):
    run_design(plain(iterations=1), tmp_path, jobs=1)
    plan = json.loads((tmp_path / "plan.json").read_text())
    assert [run_id for vector in plan["vectors"] for run_id in vector["runs"]] == read_results(tmp_path)[
        "run_id"
    ].to_list()
    assert "two sizes" in (tmp_path / "design.yaml").read_text()


@pytest.mark.slow
def test_a_process_for_each_robot_measures_the_same(plain, tmp_path, in_this_process):
    where = {"execution.controllers": ["in_process", "processes"], "robots.scout.count": [2]}
    table = deterministic(run_design(plain(iterations=1, parameters=where), tmp_path, jobs=1).table)
    one, other = (
        table.filter(pl.col("execution.controllers") == place).drop("run_id", "vector", "execution.controllers")
        for place in where["execution.controllers"]
    )
    assert one.equals(other)
