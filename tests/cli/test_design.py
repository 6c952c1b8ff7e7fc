"""`covey run DESIGN` and `covey results` from the command line: what they print, and their exit codes."""

import io
import json
from collections import Counter

import polars as pl
import pytest

from covey.cli import main
from covey.cli.design_progress import DesignProgress
from covey.cli.exit_codes import BAD_INPUT, NOT_REACHED, REACHED
from covey.experiments import run
from covey.experiments.run import Progress
from covey.experiments.workers.execute import execute

pytestmark = pytest.mark.usefixtures("undrawn")

DESIGN = """\
design: two sizes & more
scenario: {world: {empty_m: [8, 8]}, robots: [{name: scout, robot: disc, controller: wander}]}
parameters: {robots.scout.count: [1, 2]}
stop: {timeout_s: 1}
metrics: [simulated_time_s, min_separation_m]
iterations: 2
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(run, "keep", lambda planned, folder, *_: execute(planned, folder))
    (tmp_path / "sizes.yaml").write_text(DESIGN)
    (tmp_path / "room.yaml").write_text("world: {empty_m: [6, 6]}\nrobots: [{name: scout, robot: disc}]\n")
    return tmp_path


def test_a_design_is_run_and_its_results_are_printed_in_four_ways(folder, capsys):
    assert main(["run", "sizes.yaml", "--dry-run"]) == REACHED
    assert "4 runs: 0 have ended already, 4 would run" in capsys.readouterr().out
    assert not (folder / "runs").exists()

    assert main(["run", "sizes.yaml", "--jobs", "1"]) == REACHED
    out, err = capsys.readouterr()
    assert "4 of 4 runs have ended: 4 lasted their planned time" in out
    assert "runs/two-sizes-more/results.parquet" in out
    assert "4/4 runs" in err
    assert "timed out" not in err, "there is no goal that they could have missed"
    table = pl.read_parquet(folder / "runs" / "two-sizes-more" / "results.parquet")

    assert main(["results", "sizes.yaml"]) == REACHED
    heads, first, second, note = capsys.readouterr().out.splitlines()
    assert note == "Metrics are medians over the runs of a line."
    assert heads.split() == ["robots.scout.count", "ended", "simulated_time_s", "min_separation_m"]
    assert first.split() == ["1", "2/2", "1", "-"]
    median = table.filter(pl.col("vector") == 1)["min_separation_m"].median()
    assert second.split() == ["2", "2/2", "1", f"{median:.4g}"]

    assert main(["results", "runs/two-sizes-more", "--format", "csv"]) == REACHED
    assert pl.read_csv(io.StringIO(capsys.readouterr().out))["run_id"].to_list() == table["run_id"].to_list()
    assert main(["results", "sizes.yaml", "--format", "json"]) == REACHED
    assert [row["iteration"] for row in json.loads(capsys.readouterr().out)] == [0, 1, 0, 1]
    assert main(["results", "sizes.yaml", "--format", "latex"]) == REACHED
    latex = capsys.readouterr().out
    assert r"robots.scout.count & ended & simulated\_time\_s & \multicolumn{2}{c}{min\_separation\_m} \\" in latex
    assert r"\begin{tabular}{lrrr@{}l}" in latex


def test_a_design_with_failed_runs_ends_with_3_and_says_how_to_repeat_them(folder, capsys):
    (folder / "crowd.yaml").write_text(DESIGN.replace("[1, 2]", "[2000]").replace("iterations: 2", "iterations: 1"))
    assert main(["run", "crowd.yaml", "--out", "out"]) == NOT_REACHED
    out, err = capsys.readouterr()
    assert "1 of 1 runs have ended: 1 failed" in out
    assert f"alone: covey run {folder / 'out' / 'runs'}" in err
    assert main(["run", "crowd.yaml", "--out", "out", "--quiet"]) == NOT_REACHED
    assert capsys.readouterr().out == "out\n"


def test_a_shard_of_a_design(folder, capsys):
    assert main(["run", "sizes.yaml", "--shard", "1/2", "--quiet"]) == REACHED
    assert main(["results", "sizes.yaml"]) == REACHED
    assert "2 of 4 runs have ended" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["room.yaml", "--jobs", "2"], "--jobs is for designs"),
        (["room.yaml", "--retry-failed"], "--retry-failed is for designs"),
        (["sizes.yaml", "--force"], "--force is for scenarios"),
        (["sizes.yaml", "-s", "seed=1"], "-s is for scenarios"),
        (["sizes.yaml", "--jobs", "0"], "jobs is 0"),
        (["sizes.yaml", "--shard", "3/2"], "for example 2/8"),
        (["sizes.yaml", "--cluster", "nowhere.yaml"], "No such file"),
        (["sizes.yaml", "--cluster", "tcp://h:1", "--jobs", "2"], "--jobs is for this machine"),
    ],
)
def test_options_that_do_not_fit(arguments, message, capsys):
    assert main(["run", *arguments]) == BAD_INPUT
    assert message in capsys.readouterr().err


def test_results_of_nothing(capsys):
    assert main(["results", "sizes.yaml"]) == BAD_INPUT
    assert "is not the folder of a design" in capsys.readouterr().err


def test_results_are_found_by_the_name_of_their_design(folder, capsys):
    (folder / "runs" / "sizes").mkdir(parents=True)
    (folder / "runs" / "sizes" / "design.yaml").write_text(DESIGN)
    for command in ("results", "report"):
        assert main([command, "sizes"]) == BAD_INPUT
        assert "did you mean the results in 'runs/sizes'?" in capsys.readouterr().err
    assert main(["compare", "sizes", "other"]) == BAD_INPUT
    assert "sizes: there is no such folder or file, did you mean 'runs/sizes'?" in capsys.readouterr().err


def test_the_line_of_progress_counts_and_estimates():
    shown = DesignProgress(io.StringIO())
    progress = Progress(total=10, before=2, statuses=Counter(reached=2))
    shown.observe(progress)
    progress.statuses.update(["timeout", "hung"])
    progress.row = {"run_id": "abc", "status": "hung", "reason": "too long"}
    assert shown.line(progress, shown._first + 20) == "4/10 runs, 1 timed out, 1 failed, about 1 min 0 s to go"
    shown.observe(progress)
    assert shown.stream.getvalue().splitlines() == ["2/10 runs, 2 of them earlier", "run abc hung: too long"]


def test_the_end_of_the_first_run_is_said_at_once():
    """The next line comes with the run after it, which may take hours."""
    shown = DesignProgress(io.StringIO())
    progress = Progress(total=10, before=2, statuses=Counter(reached=2))
    shown.observe(progress)
    for _ in range(2):
        progress.statuses.update(["reached"])
        progress.row = {"run_id": "abc", "status": "reached"}
        shown.observe(progress)
    first, second = shown.stream.getvalue().splitlines()
    assert first == "2/10 runs, 2 of them earlier"
    assert second.startswith("3/10 runs, about ")


def test_a_folder_to_compare_that_is_not_there_is_named(tmp_path, capsys):
    (tmp_path / "manifest.json").write_text("{}")
    assert main(["compare", str(tmp_path), "./gone"]) == BAD_INPUT
    assert "./gone: there is no such folder or file; give two run folders, or two designs" in capsys.readouterr().err


def test_a_dry_run_finds_code_that_is_not_there_as_check_does(folder, capsys):
    (folder / "mine.py").write_text("def go(robot): ...\n")
    for name, said in (("./mine.py:nothing", "unknown name in mine.py 'nothing'"), ("./no.py:go", "no file 'no.py'")):
        design = f"design: d\nscenario: maze\nparameters:\n  robots.scout.controller: ['{name}']\n"
        (folder / "d.yaml").write_text(design)
        for command in (["check"], ["run", "--dry-run"]):
            assert main([command[0], "d.yaml", *command[1:]]) == BAD_INPUT
            err = capsys.readouterr().err
            assert err.startswith("d.yaml:4:29: robots.scout.controller: ")
            assert said in err


def test_check_blames_the_value_of_the_design_that_places_a_target_in_vain(folder, capsys):
    place = "[{kind: victim, at: [99, 99]}]"
    (folder / "d.yaml").write_text(f"design: d\nscenario: ./room.yaml\nparameters:\n  targets: [{place}]\n")
    assert main(["check", "d.yaml"]) == BAD_INPUT
    assert capsys.readouterr().err.startswith("d.yaml:4:13: targets[0]: victim at (99, 99) ")


def test_check_places_the_robots_of_every_vector(folder, capsys):
    """A second robot of group a has no start pose; 900 of group b have no room."""
    scenario = (
        "world: {empty_m: [6, 6]}\nstop: {timeout_s: 1}\n"
        "robots:\n  - {name: a, count: 1, start: [[0, 0, 0]], controller: still}\n  - {name: b, controller: still}\n"
    )
    (folder / "two.yaml").write_text(scenario)
    design = "design: d\nscenario: ./two.yaml\nparameters:\n  robots.a.count: [1, 2]\n  robots.b.count: [{}]\n"
    (folder / "d.yaml").write_text(design.format("2, 4"))
    assert main(["check", "d.yaml"]) == BAD_INPUT
    err = capsys.readouterr().err
    assert err.startswith("two.yaml:4:")
    assert "1 start poses are given for 2 robots" in err
    assert "[vector 2 (robots.a.count 2, robots.b.count 2), vector 3 (robots.a.count 2, robots.b.count 4)]" in err
    (folder / "d.yaml").write_text(design.replace("[1, 2]", "[1]").format("2, 900, 3"))
    assert main(["check", "d.yaml"]) == BAD_INPUT
    err = capsys.readouterr().err
    assert "of 900 robots have room here" in err
    assert "[vector 1 (robots.a.count 1, robots.b.count 900)]" in err
    (folder / "d.yaml").write_text(design.replace("[1, 2]", "[1]").format("2, 4"))
    assert main(["check", "d.yaml"]) == REACHED
    assert "the robots of all 2 vectors have room to start with all 5 seeds" in capsys.readouterr().out


@pytest.mark.slow
def test_check_says_what_makes_a_difference_of_controllers_hard_to_read(folder, capsys):
    lines = [
        "design: two",
        "scenario:",
        "  world: {empty_m: [8, 8]}",
        "  robots: [{name: scout, robot: pioneer3dx, count: 2, controller: minpos}]",
        "  radio: {range_m: 8}",
        "  share_maps: {every_s: 1}",
        "parameters: {robots.scout.controller: [minpos, {name: connected, replan_s: 3}]}",
        "stop: {timeout_s: 0.2}",
        "iterations: 2",
    ]
    (folder / "two.yaml").write_text("\n".join(lines))
    assert main(["check", "two.yaml"]) == REACHED
    said = capsys.readouterr().out
    assert "note: a seed changes only noise and chance during the run" in said
    assert "note: replan_s differs together with the controller (" in said
    assert "note: no run has one robot alone" in said
    assert "note: connected takes robots within range_m 20 m for connected, but the radio reaches 8 m" in said


def test_a_design_whose_seed_changes_only_noise_says_so_after_its_runs(folder, capsys):
    (folder / "sizes.yaml").write_text(DESIGN.replace("[1, 2]", "[1]"))
    assert main(["run", "sizes.yaml", "--jobs", "1"]) == REACHED
    assert "note: a seed changes only noise and chance during the run" in capsys.readouterr().err


def test_a_folder_with_another_version_of_a_design_says_so(folder, capsys):
    run = ["run", "sizes.yaml", "--jobs", "1"]
    assert main(run) == REACHED
    (folder / "sizes.yaml").write_text(DESIGN.replace("[1, 2]", "[1, 2, 3]") + "description: more\n")
    assert main(["results", "sizes.yaml"]) == REACHED
    err = capsys.readouterr().err
    assert "that differs from this file in parameters, and these are its results" in err
    assert "to bring them up to date: covey run sizes.yaml" in err
    assert main(run) == REACHED
    assert "warning" not in capsys.readouterr().err  # it goes on
    assert main(["results", "sizes.yaml"]) == REACHED
    assert capsys.readouterr().err == ""
    (folder / "sizes.yaml").write_text(DESIGN.replace("[1, 2]", "[1, 2, 3]") + "report: {y: [simulated_time_s]}\n")
    assert main(["results", "sizes.yaml"]) == REACHED  # the runs are those of the file
    assert capsys.readouterr().err == ""


@pytest.mark.slow
def test_results_of_another_design_of_the_same_name_are_never_shown_as_those_of_a_file(folder, capsys):
    (folder / "other.yaml").write_text(DESIGN.replace("timeout_s: 1", "timeout_s: 2").replace("iterations: 2", ""))
    said = "that differs from this file in iterations and stop, and has no run in common with it"
    for source in ("sizes.yaml", "other.yaml"):
        assert main(["run", source, "--jobs", "1"]) == REACHED
        err = capsys.readouterr().err
    assert f"warning: {str(folder / 'runs' / 'two-sizes-more')!r} holds a design" in err
    assert said in err
    assert "choose --out FOLDER, or another name after `design:`" in err
    for command in ("results", "report"):
        assert main([command, "sizes.yaml"]) == BAD_INPUT
        err = capsys.readouterr().err
        assert said in err
        assert "Run this one: covey run sizes.yaml; or see what is there: covey results runs/two-sizes-more" in err
        assert main([command, "other.yaml"]) == main([command, "runs/two-sizes-more"]) == REACHED
        capsys.readouterr()
    assert main(["run", "sizes.yaml", "--dry-run"]) == REACHED
    out, err = capsys.readouterr()
    assert "4 runs: 4 have ended already" in out
    assert said in err
    assert main(["run", "sizes.yaml", "--jobs", "1"]) == main(["results", "sizes.yaml"]) == REACHED  # nothing is lost
    assert "4 of 4 runs have ended: 4 lasted their planned time" in capsys.readouterr().out
