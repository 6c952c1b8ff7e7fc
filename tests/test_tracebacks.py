"""Tracebacks of scripts and notebooks: the lines of their authors and the sentence."""

import os
import subprocess
import sys
import traceback
from types import SimpleNamespace

import pytest

import covey
from covey import tracebacks
from covey.tracebacks import trimmed

LAW = """import covey


def law(team):
    return team.bearing_too(1), 0.0


def main():
    covey.play(law, robots=2, stop_s=1, speed="max")


main()
"""


def lines_of(error):
    return [(os.path.basename(step.filename), step.name) for step in traceback.extract_tb(error)]


def caught(call):
    with pytest.raises(Exception) as found:
        call()
    return found.value


@pytest.mark.slow
def test_a_script_shows_its_own_lines_and_the_sentence(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(LAW)

    command = [sys.executable, str(file)]
    short = subprocess.run(command, capture_output=True, text=True, check=False).stderr.splitlines()
    assert short[0] == "Traceback (most recent call last):"
    assert [line for line in short if line.startswith("  File")] == [
        f'  File "{file}", line 12, in <module>',
        f'  File "{file}", line 9, in main',
    ]
    assert short[-1].startswith(
        f"covey.errors.ControllerError: {file}:5 in law: AttributeError: team has no 'bearing_too'"
    )


def test_the_environment_asks_for_every_call(monkeypatch):
    error = caught(lambda: covey.play("lloyd", gian=2, speed="max"))
    for word, is_short in (("", True), ("0", True), ("1", False)):
        monkeypatch.setenv("COVEY_DEBUG", word)
        assert (trimmed(error, error.__traceback__) is not error.__traceback__) is is_short


def test_calls_of_covey_are_left_out_and_those_of_users_stay():
    def mine(snapshot):
        raise KeyError("mine")

    sim = covey.Simulation(covey.World.empty(4, 4), robots=1, observers=[mine])
    error = caught(sim.run)
    own = [step for step in lines_of(trimmed(error, error.__traceback__)) if step[0] == "test_tracebacks.py"]
    assert own[-1] == ("test_tracebacks.py", "mine")
    assert len(lines_of(error.__traceback__)) > len(lines_of(trimmed(error, error.__traceback__)))
    assert not [step for step in lines_of(trimmed(error, error.__traceback__)) if step[0] == "simulation.py"]


def test_an_error_that_is_no_sentence_of_covey_is_shown_whole(monkeypatch):
    monkeypatch.setattr(covey.Simulation, "step", lambda self: 1 / 0)
    error = caught(lambda: covey.Simulation(covey.World.empty(4, 4), robots=1).run())
    assert trimmed(error, error.__traceback__) is not error.__traceback__  # it was raised in this file
    error = caught(lambda: covey.World.polygons(3))
    is_of_covey = isinstance(error, covey.CoveyError)
    assert (trimmed(error, error.__traceback__) is error.__traceback__) is not is_of_covey


def test_a_notebook_shows_them_too_and_somebody_elses_way_stays(monkeypatch):
    shown = []
    shell = SimpleNamespace(custom_exceptions=(), showtraceback=lambda found, tb_offset: shown.append(found))
    shell.set_custom_exc = lambda kinds, show: setattr(shell, "show", show)
    tracebacks._install_in(shell)
    error = caught(lambda: covey.play("lloyd", gian=2, speed="max"))
    shell.show(shell, type(error), error, error.__traceback__)
    ((_, given, trace),) = shown
    assert given is error
    assert {name for name, _ in lines_of(trace)} == {"test_tracebacks.py"} | {
        name for name, _ in lines_of(trace) if "covey" not in name
    }
    assert not [step for step in lines_of(trace) if step[0] == "play.py"]
    other = SimpleNamespace(custom_exceptions=(KeyError,))
    tracebacks._install_in(other)
    assert not hasattr(other, "show")
