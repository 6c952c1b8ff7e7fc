"""`covey run --profile`: phases, functions, and a flame graph in the run folder."""

import json
import sys

import pytest

from covey import Run
from covey.cli import main
from covey.cli.exit_codes import BAD_INPUT, NOT_REACHED

ROOM = """\
world: {empty_m: [6, 6]}
robots: [{name: scout, robot: disc, controller: wander}]
stop: {timeout_s: 1}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "room.yaml").write_text(ROOM)
    return tmp_path


def test_phases_and_functions_are_printed_and_a_flame_graph_is_written(folder, capsys):
    pytest.importorskip("pyinstrument")
    assert main(["run", "room.yaml", "--no-pictures", "--profile", "--out", "here"]) == NOT_REACHED
    out = capsys.readouterr().out
    assert all(f" {phase} " in out for phase in Run("here").manifest["phase_s"])
    assert "simulation.py" in (folder / "here/profile.html").read_text()
    flames = json.loads((folder / "here/profile.speedscope.json").read_text())
    names = {frame["name"] for frame in flames["shared"]["frames"]}
    assert {"run_scenario", "run_command"} <= names
    assert flames["profiles"][0]["unit"] == "seconds"


def test_the_times_of_functions_add_up_to_that_of_all():
    pytest.importorskip("pyinstrument")
    from covey.cli.profile import functions_of, sampled

    def deeper(depth):
        return sum(k for k in range(300)) if depth == 0 else deeper(depth - 1)

    with sampled() as profiler:
        while len(functions_of(profiler) if profiler.last_session else ()) < 3:
            for _ in range(300):
                deeper(5)
            profiler.stop()
            profiler.start()
    spent, session = functions_of(profiler), profiler.last_session
    assert session is not None
    root = session.root_frame()
    assert root is not None
    assert sum(spent.values()) == pytest.approx(root.time)
    assert min(spent.values()) >= 0


def test_without_the_package_the_error_says_how_to_get_it(folder, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyinstrument", None)
    assert main(["run", "room.yaml", "--profile", "--out", "here"]) != 0
    assert "pip install 'covey[profile]'" in capsys.readouterr().err
    assert not (folder / "here/manifest.json").exists()


def test_it_is_for_scenarios(capsys):
    assert main(["run", "coordination", "--profile"]) == BAD_INPUT
    assert "--profile is for scenarios" in capsys.readouterr().err
