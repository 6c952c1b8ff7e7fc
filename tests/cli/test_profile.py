"""`covey run --profile`: phases, functions, and a flame graph in the run folder."""

import json
import sys
from types import SimpleNamespace

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


class Frame:
    """A frame of pyinstrument; of those without a function of their own, which say where a function spent time itself."""

    file_path_short = "here.py"

    def __init__(self, function, time, children=(), is_synthetic=False):
        self.function, self.time, self.children, self.parent = function, time, list(children), None
        self.is_synthetic = is_synthetic
        for child in self.children:
            child.parent = self


def test_a_function_has_the_time_that_it_spent_itself_wherever_it_was_called():
    from covey.cli.profile import functions_of

    step = [Frame("step", 3.0, [Frame("[self]", 1.0, is_synthetic=True), Frame("look", 2.0)]), Frame("look", 1.5)]
    session = SimpleNamespace(root_frame=lambda: Frame("run", 5.0, step))
    spent = functions_of(SimpleNamespace(last_session=session))
    assert spent == {("run", "here.py"): 0.5, ("step", "here.py"): 1.0, ("look", "here.py"): 3.5}


def test_without_the_package_the_error_says_how_to_get_it(folder, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyinstrument", None)
    assert main(["run", "room.yaml", "--profile", "--out", "here"]) != 0
    assert "pip install 'covey[profile]'" in capsys.readouterr().err
    assert not (folder / "here/manifest.json").exists()


def test_it_is_for_scenarios(capsys):
    assert main(["run", "coordination", "--profile"]) == BAD_INPUT
    assert "--profile is for scenarios" in capsys.readouterr().err
