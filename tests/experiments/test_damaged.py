"""What happens to a study whose folder was damaged, taken by another, or removed while it ran."""

import json
import os
import shutil

import polars as pl
import pytest
from tests.experiments.conftest import executed_here

from covey.cli import main
from covey.cli.exit_codes import BAD_INPUT, FAILED, REACHED
from covey.errors import DiskError, RunFolderError
from covey.experiments.analysis.table import deterministic
from covey.experiments.run import Results, run_design
from covey.results.lock import FolderLock


def cut(path):
    path.write_bytes(path.read_bytes()[:-40])


def empty(path):
    path.write_bytes(b"")


def zeros(path):
    path.write_bytes(bytes(path.stat().st_size))


def a_list(path):
    path.write_text("[1, 2, 3]")


def deep(path):
    path.write_text("[" * 100_000)


def binary(path):
    path.write_bytes(bytes(range(256)))


def another_shape(path):
    content = json.loads(path.read_text())
    path.write_text(json.dumps({key: [value] for key, value in content.items()}))


def format_99(path):
    path.write_text(json.dumps(json.loads(path.read_text()) | {"format": 99}))


DAMAGES = (cut, empty, zeros, a_list, deep, binary, another_shape, format_99)


@pytest.fixture(scope="module")
def finished(plain, tmp_path_factory):
    """Return the folder of a finished study of four runs, and the ids of the runs in the order in which they ran."""
    folder = tmp_path_factory.mktemp("finished") / "out"
    with pytest.MonkeyPatch.context() as patch:
        executed = executed_here(patch)
        run_design(plain(), folder, jobs=1)
    return folder, executed


@pytest.fixture
def study(finished, tmp_path, in_this_process):
    """Return a copy of a finished study of four runs: its folder, and what it executed so far."""
    folder, executed = finished
    in_this_process.extend(executed)
    return shutil.copytree(folder, tmp_path / "out"), in_this_process


@pytest.mark.slow
@pytest.mark.parametrize("damage", [*DAMAGES, os.remove])
def test_a_run_whose_row_is_damaged_is_set_aside_and_done_again(damage, study, plain):
    folder, executed = study
    before = deterministic(Results(folder).table)
    shutil.rmtree(folder / "rows")  # only the folders of the runs were copied
    place = sorted((folder / "runs").iterdir())[1]
    damage(place / "row.json")
    found = Results(folder)
    assert (len(found.rows), found.damaged) == (3, [place.name])

    said = []
    results = run_design(plain(), folder, jobs=1, observer=lambda progress: said.extend(progress.remarks))
    assert executed[4:] == [place.name]
    assert f"{place.name} is damaged: it was renamed to {place.name}.damaged-1, and the run is repeated" in said
    assert (folder / "runs" / f"{place.name}.damaged-1" / "manifest.json").is_file()
    assert deterministic(results.table).equals(before)
    run_design(plain(), folder, jobs=1)
    assert len(executed) == 5


def test_a_row_that_was_swapped_with_that_of_another_run_does_not_count(study, plain):
    folder, executed = study
    before = deterministic(Results(folder).table)
    shutil.rmtree(folder / "rows")
    one, other = sorted((folder / "runs").iterdir())[:2]
    rows = [(place / "row.json").read_bytes() for place in (one, other)]
    for place, row in zip((other, one), rows, strict=True):
        (place / "row.json").write_bytes(row)
    assert sorted(Results(folder).damaged) == [one.name, other.name]
    assert deterministic(run_design(plain(), folder, jobs=1).table).equals(before)
    assert len(executed) == 6


@pytest.mark.slow
@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("name", ["plan.json", "row.json"])
def test_every_command_says_in_words_what_is_damaged(damage, name, study, capsys):
    folder, _ = study
    run = sorted((folder / "runs").iterdir())[0]
    damage(folder / name if name == "plan.json" else run / name)
    shutil.rmtree(folder / "rows")
    for command in (["results", str(folder)], ["compare", str(folder), str(folder)]):
        assert main(command) == (BAD_INPUT if name == "plan.json" else REACHED)
        error = capsys.readouterr().err
        assert ("plan.json' " if name == "plan.json" else f"{run} is damaged and left out") in error
    if name == "row.json":
        assert main(["run", str(run), "--out", "again", "--no-pictures"]) == BAD_INPUT
        assert "row.json' " in capsys.readouterr().err


def test_a_run_in_the_table_does_not_need_the_row_in_its_folder(study, plain):
    folder, executed = study
    before = Results(folder).table
    for run in (folder / "runs").iterdir():
        (run / "row.json").unlink()
    assert Results(folder).table.equals(before)
    assert run_design(plain(), folder, jobs=1).table.equals(before)
    assert len(executed) == 4


def test_a_plan_that_leads_out_of_its_folder_is_refused(study):
    folder, _ = study
    plan = json.loads((folder / "plan.json").read_text())
    plan["vectors"][0]["runs"][0] = "../../elsewhere"
    (folder / "plan.json").write_text(json.dumps(plan))
    with pytest.raises(RunFolderError, match=r"plan.json.*vectors\.0\.runs\.0"):
        Results(folder)


def test_another_design_in_the_folder_of_one_is_refused(study, plain):
    folder, executed = study
    plan = (folder / "plan.json").read_bytes()
    with pytest.raises(
        RunFolderError, match="holds the design 'two sizes'; choose another folder for 'other' with --out"
    ):
        run_design(plain(design="other"), folder, jobs=1)
    assert (folder / "plan.json").read_bytes() == plan
    assert len(executed) == 4


def test_another_version_of_a_design_waits_until_the_one_that_runs_has_ended(plain, tmp_path, in_this_process):
    said = []

    def meanwhile(progress):
        if progress.done == 4:  # and before the table is written
            run_design(plain(), tmp_path / "out", jobs=1)  # the same one may: as by shards
            try:
                run_design(plain(iterations=3), tmp_path / "out", jobs=1)
            except RunFolderError as error:
                said.append(str(error))

    results = run_design(plain(), tmp_path / "out", jobs=1, observer=meanwhile)
    assert len(said) == 1
    assert f"is being written by process {os.getpid()}" in said[0]
    assert "another version of the design 'two sizes'" in said[0]
    assert pl.read_parquet(tmp_path / "out" / "results.parquet").equals(results.table)
    assert Results(tmp_path / "out").planned == 4
    assert run_design(plain(iterations=3), tmp_path / "out", jobs=1).planned == 6
    FolderLock(tmp_path / "out").release()  # nobody holds it any more


def test_runs_that_are_removed_while_the_study_runs_are_missed(plain, tmp_path, in_this_process):
    def remove(progress):
        if progress.done == 3:
            (tmp_path / "runs").rename(tmp_path / ".removed")
            (tmp_path / "runs").mkdir()

    with pytest.raises(DiskError, match="3 of 4 runs that had ended are gone"):
        run_design(plain(), tmp_path, jobs=1, observer=remove)
    assert len(run_design(plain(), tmp_path, jobs=1).rows) == 4


def test_a_disk_that_fails_during_a_study_is_an_error_and_not_bad_input(write, monkeypatch, capsys):
    def full(*_args):
        raise DiskError("cannot write 'x': No space left on device")

    write(a_yaml="design: a\nscenario: {world: {empty_m: [6, 6]}, robots: [{}], stop: {timeout_s: 1}}\n")
    monkeypatch.setattr("covey.cli.design.run_design", lambda *_args, **_kws: full())
    assert main(["run", "a.yaml"]) == FAILED
    assert "No space left" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--seed", "-1"], "seed -1: a seed is a whole number from 0 to 2^63 - 1"),
        (["--seed", str(2**64)], "a seed is a whole number"),
        (["--seed", "0.5"], "must be a whole number"),
        (["--out", "x" * 250], "x' is a file"),
        (["--out", "y" * 300], "too long"),
    ],
)
def test_options_that_no_study_can_have_are_refused(options, said, write, capsys):
    folder = write(a_yaml="design: a\nscenario: {world: {empty_m: [6, 6]}, robots: [{}], stop: {timeout_s: 1}}\n")
    (folder / ("x" * 250)).write_text("")
    assert main(["run", "a.yaml", *options]) == BAD_INPUT
    captured = capsys.readouterr()
    assert said in "".join(captured).replace("\n", " ")
    assert not (folder / "runs").exists()
