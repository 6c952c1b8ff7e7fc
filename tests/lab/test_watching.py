"""A run that somebody watches: the page, and a step for each key."""

import os
import sys
import threading
import urllib.request

import pytest

import covey
from covey.errors import InvalidValueError
from covey.lab import watching
from covey.lab.play import simulation_of
from covey.lab.settings import settings_of
from covey.runtime.pacing import Pace


def law(team):
    return 0.5, 0.0


def played(monkeypatch, **settings):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setattr(watching.webbrowser, "open", lambda url: None)
    monkeypatch.setattr(watching, "in_notebook", lambda: False)
    return simulation_of(law, settings_of({"stop_s": 0.5} | settings))


def test_a_terminal_shows_the_page_in_real_time(monkeypatch, capsys):
    sim, watch = played(monkeypatch, speed=1)
    seen = []

    def look(_):
        if not seen:
            address = capsys.readouterr().err.split()[3]
            seen.append(urllib.request.urlopen(address.partition("#")[0], timeout=240).status)

    sim.observers = [look, *sim.observers]
    run = watch.run(sim)
    assert seen == [200]
    assert run.status == "timeout"


def test_each_key_is_one_step_without_enter(monkeypatch):
    termios = pytest.importorskip("termios")
    sim, watch = played(monkeypatch, speed=0)
    write, terminal = os.openpty()
    before, steps = termios.tcgetattr(terminal), []
    monkeypatch.setattr(sys, "stdin", os.fdopen(terminal, closefd=False))
    came = threading.Semaphore(0)
    sim.observers = [*sim.observers, lambda snapshot: (steps.append(snapshot.step), came.release())]
    runs = []
    thread = threading.Thread(target=lambda: runs.append(watch.run(sim)), daemon=True)
    thread.start()
    for k in range(3):
        os.write(write, b"x")
        assert came.acquire(timeout=240)
        assert steps == list(range(1, k + 2))
    assert not came.acquire(timeout=0.3)  # it waits for the next
    os.write(write, b"ab")
    thread.join(240)
    assert steps == [1, 2, 3, 4, 5]
    assert runs[0].status == "timeout"
    assert termios.tcgetattr(terminal) == before
    os.close(write)
    os.close(terminal)


def test_a_notebook_shows_the_run_in_its_cell(monkeypatch):
    shown = []
    monkeypatch.setitem(sys.modules, "ipykernel", object())
    monkeypatch.setitem(sys.modules, "IPython", type("I", (), {"display": type("D", (), {"display": shown.append})}))
    out = covey.play(law, stop_s=0.3, speed=1)
    assert out.status == "timeout"
    assert "<iframe" in shown[0]._repr_html_()


def test_without_terminal_and_notebook_nobody_watches(monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: False)
    assert isinstance(watching.watched(1), watching.Nobody)
    assert isinstance(watching.watched("max"), watching.Nobody)
    with pytest.raises(covey.CoveyError, match="speed is -1"):
        covey.play(law, stop_s=0.3, speed=-1)


def test_a_run_without_a_page_waits_for_keys_too(monkeypatch):
    termios = pytest.importorskip("termios")
    write, terminal = os.openpty()
    before = termios.tcgetattr(terminal)
    monkeypatch.setattr(sys, "stdin", os.fdopen(terminal, closefd=False))
    came, pace = threading.Event(), Pace(0)
    thread = threading.Thread(target=lambda: (pace.wait(0.0), came.set()), daemon=True)
    thread.start()
    assert not came.wait(0.2)
    os.write(write, b" ")
    assert came.wait(240)
    thread.join()
    assert termios.tcgetattr(terminal) == before
    read, ended = os.pipe()
    os.close(ended)
    with os.fdopen(read) as empty, pytest.raises(InvalidValueError, match="standard input has ended"):
        monkeypatch.setattr(sys, "stdin", empty)
        pace.wait(0.1)
    os.close(write)
    os.close(terminal)
