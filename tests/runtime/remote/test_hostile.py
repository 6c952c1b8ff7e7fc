"""Whatever a controller does in a process of its own, its robot alone stops, and no process is left."""

import re

import psutil
import pytest

from covey.scenario.load import parse_scenario

STEPS = 4
CODE = """
import ctypes, dataclasses, functools, os, signal, subprocess, sys, threading, time

import numpy as np


async def leaves(robot):
    threading.Thread(target=time.sleep, args=(3600,)).start()
    if os.fork() == 0:
        time.sleep(3600)
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"])
    os.chdir("/")
    signal.setitimer(signal.ITIMER_REAL, 0.01)
    robot.note("\\udcff and \\x1b[2J")
    robot.send("\\udcff", kind="odd")
    robot.drive(0.3)
    try:
        await robot.sleep(1e9)
    finally:
        sys.exit("bye")


class Unmade:
    def __init__(self):
        raise SystemExit("no map of the treasure")

    def step(self, robot): ...


def unsendable(robot):
    Own = dataclasses.make_dataclass("Own", ["word"])
    robot.send(Own("hello"))


def memory(robot):
    np.ones(2**29)


def recursion_in_c(robot, *_):
    sys.setrecursionlimit(10**9); functools.reduce(recursion_in_c, [robot, robot])


def recursion(robot):
    recursion(robot)


def imaginary(robot):
    robot.drive(1j, 0)


def waits_in_c(robot):
    ctypes.PyDLL(None).read(os.pipe()[0], bytes(1), 1)  # as a loop in C, but needs no processor


def closes(robot):
    os.closerange(3, 4096)
"""
SAID = {
    "Unmade": ("raise SystemExit", "__init__: SystemExit: no map of the treasure"),
    "unsendable": ("", "its answer cannot be sent from its process: "),
    "memory": ("np.ones", "memory: _ArrayMemoryError: Unable to allocate 4.00 GiB"),
    "recursion_in_c": ("functools.reduce", "recursion_in_c: its process was killed by signal 11 (SIGSEGV)"),
    "recursion": ("    recursion(robot)", "recursion: RecursionError: maximum recursion depth exceeded"),
    "imaginary": ("robot.drive(1j", "imaginary: InvalidValueError: drive(1j, 0): speeds must be finite numbers"),
    "waits_in_c": ("PyDLL", "waits_in_c: its process did not answer within 5 s of wall time and was stopped"),
    "closes": ("", "its controller closed the connection; close only what it has opened"),
}
"""Of each that stops: what stands in the line where it is, and what is said of it."""
GONE = ("unsendable", "recursion_in_c", "waits_in_c", "closes")
GOES_ON = "leaves"


def robot_of(name):
    return f"{{name: {name.lower()}, robot: {{base: disc, mapping: null}}, controller: './mine.py:{name}'}}"


@pytest.fixture(scope="module")
def ended(tmp_path_factory):
    """Return a run of all of them together, what was warned of, and the processes that there were."""
    folder = tmp_path_factory.mktemp("hostile")
    (folder / "mine.py").write_text(CODE)
    scenario = parse_scenario(
        f"world: {{empty_m: [20, 20]}}\nrobots: [{', '.join(map(robot_of, (GOES_ON, *SAID)))}]\n"
        "execution: {controllers: processes, step_budget_s: 3}\n",
        folder=folder,
    )
    sim = scenario.build(folder / "run")
    for _ in range(STEPS):
        sim.step()
    processes = [
        one for channel in sim.deciding.host.fleet.channels.values() if not channel.gone for one in family(channel.pid)
    ]
    with pytest.warns(UserWarning, match="while it was being closed") as warned:
        run = sim.close()
    return run, [str(w.message) for w in warned], processes


def family(pid):
    process = psutil.Process(pid)
    return [process, *process.children(recursive=True)]


def of(run, name):
    """Return the index and the name of a robot."""
    names = list(run.manifest["robots"])
    index = next(i for i, robot in enumerate(names) if robot.rstrip("0") == name.lower())
    return index, names[index]


@pytest.mark.slow
@pytest.mark.parametrize("name", SAID)
def test_its_robot_stops_at_once_and_what_it_did_is_said_with_the_place(ended, name):
    run, *_ = ended
    index, robot = of(run, name)
    (event,) = run.events.filter(
        (run.events["robot"] == robot) & (run.events["kind"] == "controller_failed")
    ).to_dicts()
    statement, said = SAID[name]
    line = [statement in text for text in CODE.split("\n")].index(True) + 1
    place = f"mine.py:{line} in " if statement else ""
    assert f"{place}{said}" in event["text"].partition("\n")[0]
    assert event["step"] == 1
    assert run.series("distance_m")[-1][index] == 0.0


def test_the_others_go_on(ended):
    run, *_ = ended
    assert run.series("distance_m")[-1][of(run, GOES_ON)[0]] == pytest.approx(0.3 * 0.1 * STEPS)


def test_text_that_is_not_utf_8_is_spelled_out(ended):
    run, *_ = ended
    assert r"\udcff and \x1b[2J" in run.events.filter(run.events["kind"] == "note")["text"].to_list()


def test_the_run_is_whole(ended):
    run, *_ = ended
    assert run.status == "stopped"
    assert len(run.times) == STEPS
    assert {"measurements.parquet", "events.parquet", "metrics.json"} <= {path.name for path in run.folder.iterdir()}
    failed = run.events.filter(run.events["kind"] == "controller_failed")
    assert failed.height == len(SAID)


def test_what_its_finally_raises_is_told(ended):
    _, warned, _ = ended
    assert any(
        re.search(r"leaves0 failed while it was being closed: .*mine.py:\d+ in leaves: SystemExit: bye", w)
        for w in warned
    )


def test_no_process_is_left_that_it_has_started(ended):
    *_, processes = ended
    assert len(processes) == 1 + len(SAID) - len(GONE) + 2  # the fork and the program
    _, left = psutil.wait_procs(processes, timeout=5)
    assert not [one for one in left if one.status() != psutil.STATUS_ZOMBIE]
