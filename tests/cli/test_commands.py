"""The commands: what they print, where, and with which exit code; nothing is written when the input is bad."""

import json
import os
from importlib import metadata

import pytest

from covey.cli import main
from covey.cli.exit_codes import BAD_INPUT, REACHED
from covey.scenario.shelf import KINDS

ROOM = "world: {empty_m: [10, 10]}\nrobots:\n  - {name: scout, robot: disc, controller: still}\n"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def covey(capsys, *arguments):
    code = main(arguments)
    out, err = capsys.readouterr()
    return code, out, err


def test_check_says_what_the_scenario_holds(capsys, folder):
    (folder / "room.yaml").write_text(ROOM)
    code, out, err = covey(capsys, "check", "room.yaml", "-s", "robots.scout.count=4", "-s", "world.empty_m=[20, 10]")
    assert (code, err) == (REACHED, "")
    assert out.startswith("room.yaml: good. 4 scout (disc) in empty (20.1 x 10.1 m, 200 m2 free")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["check", "bad.yaml"], "bad.yaml:2:11: robots[0]: unknown key 'cuont', did you mean 'count'?"),
        (["run", "bad.yaml"], "bad.yaml:2:11: robots[0]: unknown key 'cuont', did you mean 'count'?"),
        (["run", "mase"], "unknown scenario 'mase', did you mean 'maze'?"),
        (["run", "room.yaml", "-s", "robots.scot.count=3"], "there is no 'scot' here, did you mean 'scout'?"),
        (["run", "room.yaml", "-s", "robots.scout.count"], "write key=value"),
        (["run", "room.yaml", "--seed", "-1"], "-s seed: must be greater than or equal to 0"),
        (["run", "room.yaml", "--speed", "fast"], "--speed fast: write max, a factor of at least 0.001"),
        (["run", "room.yaml", "--speed", "nan"], "--speed nan"),
        (["run", "wall.yaml"], "wall.yaml:3:26: robots.scout: scout0 cannot start at (5, 0)"),
        (["check", "code.yaml", "--trusted-only"], "would run code from a file, which --trusted-only refuses"),
        (["show", "pionier3dx"], "unknown name 'pionier3dx', did you mean 'pioneer3dx'?"),
        (["plot", "nowhere"], "no run folder 'nowhere'"),
        (["plot", "nowhere", "overview", "--caption", "a"], "--caption is for moving pictures"),
        (
            ["run", "room.yaml", "--live", "--port", "99999"],
            "--port is 99999; it must be 0 (any that is free) to 65535",
        ),
        (["live", "--port", "-5"], "--port is -5; it must be 0 (any that is free) to 65535"),
        (["view", "nowhere", "--port", "70000"], "--port is 70000; it must be 0 (any that is free) to 65535"),
        (["new", "../up"], "name '../up': use a letter"),
        (["run", "room.yaml", "--out", "room.yaml"], "'room.yaml' is a file; choose a folder"),
        (["run", "room.yaml", "--out", "full"], "'full' is not a run folder"),
    ],
)
def test_bad_input_is_code_2_on_stderr_without_traceback_and_writes_nothing(capsys, folder, arguments, words):
    (folder / "room.yaml").write_text(ROOM)
    (folder / "bad.yaml").write_text("world: {empty_m: [10, 10]}\nrobots: [{cuont: 3}]\n")
    (folder / "wall.yaml").write_text(ROOM.replace("robot: disc", "start: [[5, 0, 0]]"))
    (folder / "code.yaml").write_text(ROOM.replace("still", "./mine.py:Mine"))
    (folder / "full").mkdir()
    (folder / "full" / "thesis.tex").write_text("all of it")
    before = sorted(map(str, folder.rglob("*")))
    code, out, err = covey(capsys, *arguments)
    assert (code, out) == (BAD_INPUT, "")
    assert words in err
    assert "Traceback" not in err
    assert sorted(map(str, folder.rglob("*"))) == before


@pytest.mark.parametrize(
    "arguments", [["rum"], ["run"], ["run", "hello", "--sead", "3"], ["list", "robot"], ["run", "a", "b"]]
)
def test_what_is_typed_wrong_is_code_2(capsys, arguments):
    code, out, err = covey(capsys, *arguments)
    assert code == BAD_INPUT
    assert "Traceback" not in out + err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run", "maze", "-s", "robots.scout.count", "3"], "after -s write KEY=VALUE, as in"),
        (["run", "maze", "--robots", "3"], "The number of robots is -s robots.NAME.count=3"),
        (["run", "maze", "--sead", "3"], "Did you mean --seed?"),
        (["run", "maze", "--seed", "1.5"], "Invalid value for --seed: must be a whole number"),
        (["compare", "a", "b", "c"], "covey compare takes exactly two: two run folders, or two designs"),
        (["check", "a", "b"], "Too many arguments: b. See covey check --help"),
    ],
)
def test_what_is_typed_wrong_is_told_in_words(capsys, arguments, words):
    code, _, err = covey(capsys, *arguments)
    assert code == BAD_INPUT
    assert words in " ".join(err.replace("│", " ").split())


def test_help_names_every_argument(capsys):
    for command, usage in (("view", "RUN [BESIDE]"), ("replay-robot", "RUN [ROBOT]"), ("plot", "RUN [NAMES]")):
        assert f"Usage: covey {command} [OPTIONS] {usage}\n" in covey(capsys, command, "--help")[1]


@pytest.mark.slow
def test_list_and_show_know_everything_registered(capsys):
    code, out, _ = covey(capsys, "list")
    assert code == REACHED
    kinds = [line.partition(": ") for line in out.partition("\n\n")[0].replace("\n  ", " ").splitlines()]
    assert [kind for kind, _, _ in kinds] == ["scenarios", "designs", *KINDS[1:], "quantities"]
    for name in [name for _, _, names in kinds[:-1] for name in names.split(", ")]:
        code, shown, _ = covey(capsys, "show", name)
        assert code == REACHED
        assert f" {name}" in shown.splitlines()[0]
    assert covey(capsys, "list", "scenarios")[1].split()[1] == "building"


def test_list_and_show_tell_the_paper_and_the_sight_of_a_controller(capsys):
    lines = covey(capsys, "list", "controllers")[1].splitlines()
    assert next(line for line in lines if " minpos " in line).endswith("[Bautin et al. 2012]")
    assert next(line for line in lines if " nearest_frontier " in line).endswith("[Yamauchi 1998]")
    assert next(line for line in lines if " still " in line).endswith("a fixed sensor.")
    shown = covey(capsys, "show", "minpos")[1].splitlines()
    assert "sees: pose, map, shared_map, radio" in shown
    assert "  replan_s: float = 5.0" in shown


def test_show_prints_the_fields_of_a_kind_and_of_the_records_in_it(capsys):
    shown = covey(capsys, "show", "particles")[1].splitlines()
    assert "  filter.particles = 30: Number of particles (gmapping: particles)." in shown
    assert "  noise.alpha = [0.2, 0.2, 0.2, 0.2, 0.2, 0.2] (velocity): " in covey(capsys, "show", "odometry")[1]


def test_show_prints_the_resolved_scenario(capsys):
    from covey.scenario.load import load_scenario, parse_scenario

    _, out, _ = covey(capsys, "show", "office")
    assert parse_scenario(out) == load_scenario("office")


def test_new_writes_a_pair_that_checks_and_never_overwrites(capsys, folder):
    assert covey(capsys, "new", "first")[:2] == (REACHED, "wrote first.yaml and first.py; try: covey run first.yaml\n")
    assert covey(capsys, "check", "first.yaml")[0] == REACHED
    (folder / "first.yaml").unlink()
    code, _, err = covey(capsys, "new", "first")
    assert (code, err) == (BAD_INPUT, "first.py exists already; choose another name, or remove it\n")
    assert {*os.listdir(folder)} == {".covey", "first.py"}


def test_schema_is_json_schema_of_all_fields(capsys):
    schema = json.loads(covey(capsys, "schema")[1])
    assert schema["required"] == ["world", "robots"]
    assert all("description" in field for name, field in schema["properties"].items())


def test_version_and_doctor(capsys):
    from covey import __version__

    assert covey(capsys, "--version")[:2] == (REACHED, f"{__version__}\n")
    code, out, _ = covey(capsys, "doctor")
    assert code in (0, 1)
    for subject in ("Python", "numba threading layer", "kernel cache", "ffmpeg", "this folder", "extra terrain"):
        assert subject in out


def test_the_doctor_looks_at_sources_that_are_not_installed(monkeypatch):
    from covey.cli import doctor

    def absent(package):
        raise metadata.PackageNotFoundError(package)

    monkeypatch.setattr(doctor.metadata, "requires", absent)
    monkeypatch.setattr(doctor.metadata, "version", absent)
    subjects = {subject: finding for subject, finding, _ in doctor.findings()}
    assert subjects["Covey"] == "not installed as a package"
    assert not any(subject.startswith("extra") for subject in subjects)
    assert "ffmpeg" in subjects


def test_the_doctor_says_what_an_extra_needs_and_what_for():
    from covey.cli.doctor import _USES, _extras

    assert {*_USES, "all"} == {*metadata.metadata("covey").get_all("Provides-Extra")}
    needs = ["numpy>=2.0", "numpy>=2 ; extra == 'lab'", "no-such-package>=1; extra == 'terrain'"]
    said = {extra: finding for extra, finding, _ in _extras(needs)}
    assert said["extra lab"] == f"installed: {_USES['lab']}"
    assert said["extra terrain"] == (
        f"not installed: {_USES['terrain']}; needs no-such-package: pip install 'covey[terrain]'"
    )


@pytest.mark.parametrize("command", ["run", "check", "show", "results", "report", "plot"])
@pytest.mark.parametrize("ending", ["", ".yaml"])
def test_a_name_that_no_file_can_have_is_bad_input(command, ending, capsys, folder):
    code, _, err = covey(capsys, command, "x" * 300 + ending)
    assert code == BAD_INPUT
    assert "xxxx" in err
    assert "Traceback" not in err


def test_a_design_that_names_a_file_that_cannot_be_is_bad_input(capsys, folder):
    (folder / "d.yaml").write_text(
        f"design: d\nscenario: {'x' * 300}.yaml\nparameters: {{}}\niterations: 1\nmetrics: [exploration_cost_m]\n"
    )
    code, _, err = covey(capsys, "run", "d.yaml")
    assert code == BAD_INPUT
    assert "xxxx" in err
    assert "Traceback" not in err
