"""`covey run` from the command line to the folder, its exit codes, and what an interrupt leaves."""

import json

import pytest

from covey.cli import BAD_INPUT, INTERRUPTED, NOT_REACHED, REACHED, main
from covey.cli.progress import ProgressBar
from covey.results.run import Run

ROOM = """\
world: {empty_m: [6, 6]}
robots: [{name: scout, robot: disc, count: 2, controller: wander}]
stop: {timeout_s: 2}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "room.yaml").write_text(ROOM)
    return tmp_path


def manifest(folder):
    return json.loads((folder / "manifest.json").read_text())


def test_a_run_that_reaches_its_goal(folder, capsys):
    assert main(["run", "hello", "--no-pictures"]) == REACHED
    (written,) = (folder / "runs" / "hello").iterdir()
    out, err = capsys.readouterr()
    metrics = json.loads((written / "metrics.json").read_text())
    assert metrics["status"] == "reached"
    assert metrics["exploration_cost_m"] == pytest.approx(8.0, abs=0.2)  # once around a square of 2 m
    assert str(written.relative_to(folder)) in out
    assert "exploration_cost_m" in out
    assert "simulated" in err


def test_a_run_that_ends_without_a_goal_and_the_folder_rules(folder, capsys):
    run = ["run", "room.yaml", "--no-pictures", "--quiet", "--out", "out"]
    assert main(run) == NOT_REACHED
    assert capsys.readouterr() == ("out\n", "")
    first = (folder / "out" / "measurements.parquet").read_bytes()
    assert manifest(folder / "out")["status"] == "finished"

    assert main([*run, "--seed", "5"]) == BAD_INPUT
    assert "'out' already holds a finished run; choose another folder, or add --force" in capsys.readouterr().err
    assert (folder / "out" / "measurements.parquet").read_bytes() == first

    assert main([*run, "--force", "--seed", "5"]) == NOT_REACHED
    assert manifest(folder / "out")["seed"] == 5
    assert (folder / "out" / "measurements.parquet").read_bytes() != first


def test_pictures_can_be_drawn_again_as_pdf(folder, capsys):
    main(["run", "room.yaml", "--no-pictures", "--quiet", "--out", "a"])
    assert main(["plot", "a", "--format", "pdf", "--out", "pictures"]) == REACHED
    drawn = {p.name for p in (folder / "pictures").iterdir()}
    assert {"overview.pdf", "trajectories.pdf"} <= drawn
    assert not [name for name in drawn if name.endswith((".png", ".svg"))]
    assert (folder / "pictures" / "overview.pdf").read_bytes().startswith(b"%PDF")


def test_the_manifest_holds_a_scenario_that_repeats_the_run(folder):
    from covey.scenario.load import load_scenario

    main(["run", "room.yaml", "--no-pictures", "--quiet", "--out", "one", "-s", "robots.scout.count=3"])
    (folder / "again.yaml").write_text(manifest(folder / "one")["scenario"])
    assert load_scenario("again.yaml").robots[0].count == 3
    main(["run", "again.yaml", "--no-pictures", "--quiet", "--out", "two"])
    tables = [(folder / name / "measurements.parquet").read_bytes() for name in ("one", "two")]
    assert tables[0] == tables[1]


def test_an_interrupt_leaves_a_folder_that_says_so(folder, capsys, monkeypatch):
    def interrupt(self, frame):
        if frame.step == 5:
            raise KeyboardInterrupt

    monkeypatch.setattr(ProgressBar, "observe", interrupt)
    monkeypatch.setattr(ProgressBar, "__call__", interrupt)
    assert main(["run", "room.yaml", "--out", "out"]) == INTERRUPTED
    assert "Traceback" not in capsys.readouterr().err
    left = manifest(folder / "out")
    assert (left["status"], left["goal_status"]) == ("finished", "interrupted")
    assert Run(folder / "out").steps.tolist() == [1, 2, 3, 4, 5]  # what was recorded until then is kept
    assert not list((folder / "out").glob("*.part"))
