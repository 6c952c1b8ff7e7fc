"""`covey run` from the command line to the folder, its exit codes, and what an interrupt leaves."""

import errno
import io
import json
import os
import signal
import sys

import polars as pl
import pytest

from covey.cli import live, main
from covey.cli.exit_codes import BAD_INPUT, FAILED, INTERRUPTED, NOT_REACHED, REACHED
from covey.cli.progress import ProgressBar
from covey.cli.tables import print_reports
from covey.results.figures.style import Picture
from covey.results.run import Run
from covey.results.table import Table

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
    (written,) = (folder / "runs" / "hello").glob("2*")
    out, err = capsys.readouterr()
    metrics = json.loads((written / "metrics.json").read_text())
    assert metrics["status"] == "reached"
    assert metrics["exploration_cost_m"] == pytest.approx(8.0, abs=0.2)  # once around a square of 2 m
    assert str(written.relative_to(folder)) in out
    assert "exploration_cost_m" in out
    assert "simulated" in err


def test_each_option_reaches_the_run(folder, monkeypatch):
    seen = []

    def shown(scenario, out, page, **how):
        seen.append((scenario.seed, str(out), page, how["paused"], how["speed"], how["overwrite"]))
        raise KeyboardInterrupt

    monkeypatch.setattr(live, "run_live", shown)
    typed = "run room.yaml --live --paused --speed 2 --host 127.0.0.2 --port 7000 --force --seed 5 --out there"
    assert main(typed.split()) == INTERRUPTED
    assert main(["run", "room.yaml", "--live", "--out", "here"]) == INTERRUPTED
    assert seen == [
        (5, "there", ("127.0.0.2", 7000), True, 2.0, True),
        (0, "here", ("127.0.0.1", 0), False, 1.0, False),
    ]


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


def test_about_ten_metrics_are_printed_the_most_important_first_with_what_they_mean(folder, capsys):
    main(["run", "hello", "--no-pictures"])
    out = capsys.readouterr().out
    names = [line.split()[0] for line in out.partition("run folder")[0].splitlines()[1:] if line[:1].strip()]
    assert names[:4] == ["status", "simulated_time_s", "explored_share", "exploration_time_s"]
    assert 8 <= len(names) <= 12
    assert "how the run ended" in out
    assert f"metrics.json has all {len(Run(next((folder / 'runs' / 'hello').iterdir())).metrics)} metrics" in out


@pytest.mark.slow
def test_a_run_draws_two_pictures_or_those_that_are_asked_for(folder, capsys):
    main(["run", "room.yaml", "--out", "a"])
    assert {p.stem for p in (folder / "a" / "figures").iterdir()} == {"overview", "animation"}
    assert "drawing overview" in capsys.readouterr().err
    main(["run", "room.yaml", "--out", "b", "--picture", "trajectories"])
    assert {p.name for p in (folder / "b" / "figures").iterdir()} == {"trajectories.png"}
    assert main(["run", "room.yaml", "--out", "c", "--picture", "movie"]) == BAD_INPUT
    assert not (folder / "c").exists()
    assert "unknown picture 'movie'" in capsys.readouterr().err
    assert main(["plot", "a", "robot_maps", "film"]) == REACHED
    told = capsys.readouterr()
    assert [line for line in told.out.splitlines() if line] == [f"a{os.sep}figures{os.sep}robot_maps.png"]
    assert "film: not drawn: only a run on a landscape has it; the film of a floor is animation" in told.err
    main(["run", "room.yaml", "--out", "d", "--picture", "film", "--picture", "overview"])
    assert "film: not drawn: only a run on a landscape has it" in capsys.readouterr().err
    main(["run", "room.yaml", "--out", "e"])
    assert "not drawn" not in capsys.readouterr().err, "of those that nobody asked for"


def test_stepping_by_key_without_a_terminal_is_refused_before_anything_is_written(folder, capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO("\n"))
    assert main(["run", "room.yaml", "--speed", "0", "--out", "out"]) == BAD_INPUT
    assert "there is no terminal; give a factor such as --speed 1, or max" in capsys.readouterr().err
    assert not (folder / "out").exists()


def test_a_scenario_is_shown_as_it_was_written_first_comments_and_all(folder, capsys):
    (folder / "noted.yaml").write_text("# why it is so small\n" + ROOM)
    main(["show", "noted.yaml"])
    out = capsys.readouterr().out
    assert out.index("# why it is so small") < out.index(ROOM.strip()) < out.index("# Every setting, also those")
    assert "\n# seed: 0\n" in out + "\n"


@pytest.mark.slow
def test_pictures_can_be_drawn_again_as_pdf(folder, capsys, monkeypatch):
    main(["run", "room.yaml", "--no-pictures", "--quiet", "--out", "a"])
    draw, kinds = Picture.to_bytes, []

    def one(picture, kind):  # the first is the overview; to draw all takes a second
        kinds.append(kind)
        return draw(picture, kind) if len(kinds) == 1 else b""

    monkeypatch.setattr(Picture, "to_bytes", one)
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


def test_an_interrupt_while_libraries_load_is_said_without_a_traceback(capsys, monkeypatch):
    class Slow:
        def find_spec(self, name, *_):
            if name == "cyclopts":
                raise KeyboardInterrupt

    monkeypatch.delitem(sys.modules, "cyclopts", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Slow(), *sys.meta_path])
    assert main(["list"]) == INTERRUPTED
    assert capsys.readouterr().err == "interrupted\n"


def test_an_interrupt_after_the_last_word_does_nothing(monkeypatch):
    def interrupted():
        signal.raise_signal(signal.SIGINT)
        return []

    monkeypatch.setattr("sys.argv", ["covey", "--version"])
    monkeypatch.setattr("covey.cli.threading.enumerate", interrupted)
    before = {number: signal.getsignal(number) for number in signal.valid_signals()}
    try:
        assert main() == REACHED
    finally:
        for number, handler in before.items():
            if signal.getsignal(number) != handler:
                signal.signal(number, handler)


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


def test_a_folder_that_a_run_is_being_written_into_is_refused(folder, capsys, monkeypatch):
    said = []

    def second(self, frame):
        if frame.step == 2:
            command = ["run", "room.yaml", "-q", "--no-pictures", "--seed", "3", "--out", "out"]
            said.extend((main(command), main([*command, "--force"])))

    monkeypatch.setattr(ProgressBar, "__call__", second)
    assert main(["run", "room.yaml", "--no-pictures", "--out", "out"]) == NOT_REACHED
    assert said == [BAD_INPUT, BAD_INPUT]
    assert capsys.readouterr().err.count(f"'out' is being written by process {os.getpid()}") == 2
    assert manifest(folder / "out")["seed"] == 0
    assert Run(folder / "out").metrics["simulated_time_s"] == 2.0


def test_what_ends_before_it_begins_leaves_no_folder(folder, capsys):
    assert main(["run", "room.yaml", "-s", "robots.scout.count=900"]) == BAD_INPUT
    assert sorted(path.name for path in folder.iterdir()) == ["room.yaml"]


@pytest.mark.parametrize("name", ["x" * 300, "room.yaml", "room.yaml/x"])
def test_an_out_that_cannot_be_a_folder_is_bad_input(name, capsys):
    assert main(["run", "room.yaml", "--no-pictures", "--out", name]) == BAD_INPUT
    assert "Traceback" not in (err := capsys.readouterr().err)
    assert "folder" in err or "write" in err


def test_a_full_disk_is_an_error_and_not_bad_input(capsys, monkeypatch):
    def full(*_args, **_kws):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Table, "__init__", full)
    assert main(["run", "room.yaml", "--no-pictures", "--out", "out"]) == FAILED
    assert "No space left on device" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--seed", "1.7"], "must be a whole number; given: '1.7'"),
        (["--seed", "-1"], "must be greater than or equal to 0; given: -1"),
        (["--seed", str(2**63)], "must be less than 9223372036854775808"),
        (
            ["--speed", "1e-300"],
            "--speed 1e-300: write max, a factor of at least 0.001 such as 1 or 10, or 0 to wait for a key",
        ),
        (["--speed", "nan"], "--speed nan: write max"),
        (["--paused"], "--paused waits for a page: give --live, too"),
        (["-s", "execution.substep_s=1e-12"], "has 1e+11 substeps of 1e-12 s; at most 10000"),
        (["-s", "execution.substep_s=1e-320"], "is too small or too large; give 0, or a magnitude from 1e-12"),
        (["-s", "seed=true"], "-s seed: must be a number; given: true"),
        (["-s", "world.empty_m=[true, 6]"], "must be a number; given: true"),
        (["-s", "stop.timeout_s='3'"], "-s stop.timeout_s: must be a number; given: '3'"),
    ],
)
def test_what_no_run_can_have_is_refused(options, said, folder, capsys):
    assert main(["run", "room.yaml", "--no-pictures", *options]) == BAD_INPUT
    assert said in "".join(capsys.readouterr()).replace("\n", " ")
    assert [path.name for path in folder.iterdir()] == ["room.yaml"]


def test_of_many_reports_the_first_and_the_last_are_printed(capsys):
    row = {"robot": "a", "kind": "victim", "x_m": 1.0, "y_m": 2.0, "answer": "twice", "error_m": 0.1}
    print_reports(pl.DataFrame([{"time_s": float(k), "identity": k} | row for k in range(100)]))
    lines = [line.split() for line in capsys.readouterr().out.splitlines() if line.strip()][1:]
    times = [line[0] for line in lines if line[0].isdigit()]
    assert times == [str(k) for k in (*range(20), *range(95, 100))]
    assert lines[20][:2] == ["…", "75"]


def test_the_reports_of_a_rescue_are_printed(tmp_path, capsys):
    (tmp_path / "finder.py").write_text("async def finder(robot):\n    await robot.report(3, (2.0, 0.1))\n")
    (tmp_path / "s.yaml").write_text(
        "world: {empty_m: [6, 6]}\n"
        "robots: [{start: [[0, 0, 0]], controller: ./finder.py:finder}]\n"
        "targets: [{kind: victim, identity: 3, at: [2, 0], on: floor}]\n"
        "mission: {rescue: {clock: start}}\n"
    )
    assert main(["run", str(tmp_path / "s.yaml"), "--out", str(tmp_path / "run"), "--no-pictures"]) == 0
    lines = capsys.readouterr().out.splitlines()
    head = next(k for k, line in enumerate(lines) if line.startswith("time [s]"))
    assert lines[head + 1].split() == ["0.1", "robot0", "victim", "3", "at", "(2.00,", "0.10)", "accepted", "0.1"]
