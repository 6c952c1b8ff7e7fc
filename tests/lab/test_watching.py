"""A run that somebody watches: the page, and a step for each key."""

import os
import re
import sys
import threading
import urllib.request
from types import SimpleNamespace

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


@pytest.mark.parametrize("least", [0, 1024])  # `select.select` takes no file whose number is above 1023
def test_each_key_is_one_step_without_enter(monkeypatch, least):
    termios, fcntl = pytest.importorskip("termios"), pytest.importorskip("fcntl")
    sim, watch = played(monkeypatch, speed=0)
    write, opened = os.openpty()
    try:
        terminal = fcntl.fcntl(opened, fcntl.F_DUPFD, least)
    except OSError:
        pytest.skip("this process may open too few files")
    os.close(opened)
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


class Shown:
    """What a cell of a notebook shows: all that has been displayed, and by what it has been replaced."""

    def __init__(self, monkeypatch):
        self.parts, self.lines, self.came = [], [], threading.Condition()
        monkeypatch.setitem(sys.modules, "ipykernel", object())
        monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(display=self, get_ipython=object))

    def display(self, shown, display_id, raw=False):
        k = len(self.parts)
        self.parts.append([])
        handle = SimpleNamespace(update=lambda value, raw=False: self._take(k, value))
        handle.update(shown)
        return handle

    def _take(self, k, value):
        with self.came:
            self.parts[k].append(value)
            self.lines += [value["text/plain"]] if isinstance(value, dict) else []
            self.came.notify_all()


@pytest.fixture
def cell(monkeypatch):
    return Shown(monkeypatch)


def test_a_notebook_shows_the_live_page_and_then_the_recording(cell):
    looked = []

    def look(team):
        if not looked:
            frame = cell.parts[0][0]._repr_html_()
            address = re.search(r'src="(http[^#]*)#token=', frame)[1]
            with urllib.request.urlopen(address, timeout=240) as answer:
                looked.append((answer.status, answer.headers["Content-Security-Policy"]))
        return 0.5, 0.0

    out = covey.play(look, stop_s=0.3, speed=1000)
    ((status, policy),) = looked
    assert status == 200
    assert "frame-ancestors 'self' http://localhost:* http://127.0.0.1:*" in policy
    assert out.status == "timeout"
    live, recording = cell.parts[0]
    assert "<live page at http://127.0.0.1:" in repr(live)
    assert "srcdoc" in recording._repr_html_()
    assert re.fullmatch(r"0.3 s in \d+.\d s: timeout", cell.lines[-1])


def test_a_run_in_a_notebook_has_its_speed(cell):
    now, waits = [0.0], []
    sim, watch = simulation_of(law, settings_of({"stop_s": 0.5, "speed": 2.0}))

    class Wall:
        def now(self):
            return now[0]

        def wait(self, changed, at_most_s):
            waits.append(at_most_s)
            now[0] += at_most_s

    watch._live.gate._clock = Wall()
    assert watch.run(sim).status == "timeout"
    assert waits == pytest.approx(4 * [0.05])  # five steps of 0.1 s at double speed, the first at once


def test_at_speed_0_a_notebook_waits_for_steps_of_the_page(cell):
    sim, watch = simulation_of(law, settings_of({"stop_s": 0.3, "speed": 0}))
    steps, runs, came = [], [], threading.Semaphore(0)
    sim.observers = [*sim.observers, lambda snapshot: (steps.append(snapshot.step), came.release())]
    thread = threading.Thread(target=lambda: runs.append(watch.run(sim)), daemon=True)
    thread.start()
    with cell.came:
        assert cell.came.wait_for(lambda: cell.lines, 240)
    assert cell.lines[0].startswith("0 of 0.3 s; press Step, or Play, in the page: http://127.0.0.1:")
    for k in range(3):
        watch._live.gate.step()
        assert came.acquire(timeout=240)
        assert steps == list(range(1, k + 2))
    thread.join(240)
    assert runs[0].status == "timeout"


@pytest.mark.parametrize("speed", [1000, 0])  # nobody can press Step
def test_colab_shows_how_far_the_run_is_and_then_the_recording(cell, monkeypatch, speed):
    monkeypatch.setitem(sys.modules, "google.colab", object())
    assert covey.play(law, stop_s=0.3, speed=speed).status == "timeout"
    line, (recording,) = cell.parts
    assert line[0]["text/plain"] == "0 of 0.3 s; Colab shows no live page; the recording follows"
    assert re.fullmatch(r"0.3 s in \d+.\d s: timeout", line[-1]["text/plain"])
    assert "srcdoc" in recording._repr_html_()


def test_a_run_whose_page_nobody_opens_goes_on(cell, monkeypatch):
    monkeypatch.setattr(watching, "ALONE_S", 0.01)
    monkeypatch.setattr(watching, "EVERY_S", 0.0)
    assert covey.play(law, stop_s=0.3, speed=0).status == "timeout"
    assert any("nobody has opened the page in 0.01 s" in line for line in cell.lines)


def test_a_law_that_fails_leaves_no_dead_page(cell):
    with pytest.raises(covey.CoveyError, match="division"):
        covey.play(lambda team: (1 / 0, 0.0), stop_s=0.3, speed=1000)
    assert cell.parts[0][-1] == {"text/plain": ""}


def test_a_long_run_at_full_speed_says_how_far_it_is(cell, monkeypatch):
    monkeypatch.setattr(watching, "EVERY_S", 0.0)
    covey.play(law, stop_s=0.3, speed="max")
    assert [part for part in cell.parts if not isinstance(part[0], dict)] == []
    assert cell.lines[:3] == ["0.0 of 0.3 s", "0.1 of 0.3 s", "0.2 of 0.3 s"]


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
