"""A run that somebody watches: the page, and a step for each key."""

import os
import sys
import threading
import urllib.request

import pytest

import covey
from covey.lab import watching
from covey.lab.play import simulation_of
from covey.lab.settings import settings_of


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
            seen.append(urllib.request.urlopen(address.partition("#")[0], timeout=20).status)

    sim.observers = [look, *sim.observers]
    run = watch.run(sim)
    assert seen == [200]
    assert run.status == "timeout"


def test_each_enter_is_one_step(monkeypatch):
    sim, watch = played(monkeypatch, speed=0)
    read, write = os.pipe()
    steps = []

    class Keys:
        def fileno(self):
            return read

    monkeypatch.setattr(sys, "stdin", Keys())
    came = threading.Semaphore(0)
    sim.observers = [*sim.observers, lambda snapshot: (steps.append(snapshot.step), came.release())]
    runs = []
    thread = threading.Thread(target=lambda: runs.append(watch.run(sim)), daemon=True)
    thread.start()
    for k in range(3):
        os.write(write, b"\n")
        assert came.acquire(timeout=60)
        assert steps == list(range(1, k + 2))
    assert not came.acquire(timeout=0.3)  # it waits for the next
    os.write(write, b"\n\n")
    thread.join(60)
    assert steps == [1, 2, 3, 4, 5]
    assert runs[0].status == "timeout"
    os.close(read)
    os.close(write)


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
