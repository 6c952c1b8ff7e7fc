"""Controllers that misbehave stop their own robot, and nothing else."""

import asyncio
import gc
import os
import signal
import subprocess
import sys
import threading
import time
import warnings
import weakref

import numpy as np
import pytest

import covey
from covey.runtime.local import watchdog
from covey.runtime.local.watchdog import StepBudgetError


async def square(robot):
    await robot.sleep(0.3)


def assert_stops_only_itself(controller, match, robots=2, budget_s=0.3):
    """Run a controller on the second of two robots; return the run."""

    def mixed(robot):
        if robot.name == "robot1":
            return controller(robot)

    execution = covey.Execution(step_budget_s=budget_s)
    sim = covey.Simulation(covey.World.empty(6, 6), robots=robots, controller=mixed, execution=execution, seed=1)
    for _ in range(4):
        sim.step()
    assert sim.deciding.failed == {1}
    run = sim.close()
    events = run.events.filter(run.events["kind"] == "controller_failed")
    assert events["robot"].to_list() == ["robot1"]
    assert match in events["text"][0]
    assert run.status == "stopped"
    assert len(run.times) == 4
    return run


def raises(error):
    def controller(robot):
        raise error

    return controller


class Odd(BaseException):
    pass


@pytest.mark.parametrize(
    "error", [SystemExit(0), SystemExit("bye"), GeneratorExit(), asyncio.CancelledError(), Odd("odd"), MemoryError()]
)
def test_whatever_a_controller_raises_stops_its_own_robot(error):
    assert_stops_only_itself(raises(error), type(error).__name__)


@pytest.mark.slow
def test_an_error_whose_text_has_no_end_stops_its_own_robot():
    class Endless(Exception):
        def __str__(self):
            while True:
                pass

    assert_stops_only_itself(raises(Endless()), "Endless: <exception str() failed>")


def test_of_an_error_with_a_long_text_or_a_deep_traceback_the_begin_is_said():
    def deep(robot, depth=20_000):
        if depth == 0:
            raise ValueError("x" * 10**7)
        deep(robot, depth - 1)

    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(30_000)
    try:
        run = assert_stops_only_itself(deep, "in deep: ValueError: xxx", budget_s=60.0)
    finally:
        sys.setrecursionlimit(limit)
    assert len(run.events["text"][-1]) < 10_000


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="timers of the system")
@pytest.mark.parametrize("timer", ["ITIMER_REAL", "ITIMER_VIRTUAL", "ITIMER_PROF"])
def test_a_timer_that_a_controller_sets_does_not_end_the_program(timer):
    def sets(robot):
        signal.setitimer(getattr(signal, timer), 0.001)
        until = time.process_time() + 0.02
        while time.process_time() < until:
            pass

    sim = covey.Simulation(covey.World.empty(6, 6), robots=1, controller=sets)
    for _ in range(3):
        sim.step()
    assert len(sim.close().times) == 3


def test_a_controller_that_cannot_be_made_stops_its_own_robot():
    class Broken:
        def __init__(self):
            raise ValueError("no such file: gains.csv")

        def step(self, robot):
            pass

    sim = covey.Simulation(covey.World.empty(6, 6), robots=1, controller=Broken)
    sim.step()
    assert "gains.csv" in sim.deciding.failures[0].text
    sim.close()


def test_an_error_while_a_controller_is_ended_is_told_and_the_run_is_kept():
    async def untidy(robot):
        try:
            while True:
                await robot.sleep(1.0)
        finally:
            raise RuntimeError("cannot clean up")

    sim = covey.Simulation(covey.World.empty(6, 6), robots=1, controller=untidy)
    sim.step()
    with pytest.warns(
        UserWarning, match=r"robot0 failed while it was being closed: .* in untidy: RuntimeError: cannot clean up"
    ):
        run = sim.close()
    assert len(run.times) == 1


def test_a_loop_without_end_in_finally_is_interrupted():
    async def stubborn(robot):
        try:
            while True:
                await robot.sleep(1.0)
        finally:
            while True:
                pass

    sim = covey.Simulation(covey.World.empty(6, 6), robots=1, controller=stubborn, execution={"step_budget_s": 0.2})
    sim.step()
    with pytest.warns(UserWarning, match="exceeded its wall time"):
        sim.close()


@pytest.mark.skipif(threading.current_thread() is not threading.main_thread(), reason="sleeps end in the main thread")
def test_a_sleep_and_a_wait_for_a_thread_are_interrupted():
    def sleeps(robot):
        time.sleep(3600)

    def waits(robot):
        threading.Event().wait()

    for controller in (sleeps, waits):
        begin = time.monotonic()
        assert_stops_only_itself(controller, "exceeded its wall time")
        assert time.monotonic() - begin < 10


def test_a_controller_that_takes_all_memory_is_interrupted():
    def deep(robot, held=None):
        held = []
        while True:
            held.append(bytearray(2**24))

    assert_stops_only_itself(deep, "more than 1024 MiB", budget_s=60.0)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # it may come within a finalizer first
def test_a_recursion_without_end_is_interrupted_before_it_takes_all_memory(monkeypatch):
    def deep(robot):
        sum(range(50))  # on a busy machine, too, the watchdog looks before this takes all that it may
        deep(robot)

    monkeypatch.setattr(watchdog, "MOST_BYTES", 2**27)

    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(10**9)
    try:
        assert_stops_only_itself(deep, "it called itself more than 100000 deep", budget_s=60.0)
    finally:
        sys.setrecursionlimit(limit)


def test_a_change_of_folder_does_not_lose_the_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "elsewhere").mkdir()

    def wanders(robot):
        os.chdir(tmp_path / "elsewhere")

    sim = covey.Simulation(covey.World.empty(6, 6), robots=1, controller=wanders, recording="mine")
    for _ in range(3):
        sim.step()
    run = sim.close()
    assert run.folder == tmp_path / "mine"
    assert (tmp_path / "mine" / "metrics.json").is_file()


def test_text_that_is_not_utf_8_is_spelled_out():
    def odd(robot):
        robot.note("\udcff and \x1b[2J")
        raise ValueError("not \ud800 text")

    run = assert_stops_only_itself(odd, r"not \ud800 text")
    assert r"\udcff and \x1b[2J" in run.events["text"].to_list()


def test_commands_that_are_complex_are_refused_by_name():
    @covey.controller(scope="group")
    def spins(group):
        return np.full((group.count, 3), 0.1 + 2j)

    sim = covey.Simulation(covey.World.empty(6, 6), robots=2, controller=spins)
    sim.step()
    assert "returned an array of complex128 where numbers belong" in sim.deciding.failures[0].text
    sim.close()


@pytest.mark.parametrize(
    "payload", [np.broadcast_to(np.int8(0), 2**40), "x" * 2**25, bytes(2**25), [[0.0] * 2**11] * 2**11, [None] * 2**24]
)
def test_a_message_too_large_is_refused_before_it_is_copied(payload):
    def talks(robot):
        robot.send(payload)

    assert_stops_only_itself(talks, "larger than 16 MiB", budget_s=60.0)


def test_messages_too_large_together_are_refused():
    def talks(robot):
        for _ in range(5):
            robot.send(bytes(2**22))

    assert_stops_only_itself(talks, "the messages of one step are larger than 16 MiB", budget_s=60.0)


def returns(robot):
    pass


@pytest.mark.parametrize("controller", [returns, raises(ValueError("no"))])
def test_an_interruption_that_comes_when_the_watch_ends_stops_one_robot(controller):
    """As the interpreter would raise it: at the begin of `Watchdog.rest`, whatever the controller did before."""
    sim = covey.Simulation(covey.World.empty(6, 6), robots=2, controller=controller)
    watchdog, late = sim.deciding.host.watchdog, [StepBudgetError]
    rest = watchdog.rest

    def rest_late():
        if late and watchdog.started is not None:
            watchdog.overdue = watchdog.started
            raise late.pop()
        rest()

    watchdog.rest = rest_late
    while not sim.done and sim.clock.step < 3:
        sim.step()
    assert watchdog.started is None
    run = sim.close()
    assert not late
    assert len(run.times) == (3 if controller is returns else 1)  # without robots a run ends
    failed = run.events.filter(run.events["kind"] == "controller_failed")
    assert "exceeded its wall time" in "".join(failed["text"].to_list())


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # Python loses one now and then
def test_near_its_budget_a_controller_never_ends_the_run():
    def near(robot):
        until = time.monotonic() + 0.02
        while time.monotonic() < until:
            pass

    for _ in range(8):
        sim = covey.Simulation(covey.World.empty(6, 6), robots=3, controller=near, execution={"step_budget_s": 0.02})
        while not sim.done and sim.clock.step < 3:  # a run ends when all three have been stopped
            sim.step()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert len(sim.close().times) == sim.clock.step > 0


class Held:
    """Tells when it goes."""

    def __init__(self, tell):
        self.tell = tell


class Deleted(Held):
    def __del__(self):
        self.tell()


class Members:
    """The members of a weak set, which tell when one of them goes."""

    def __init__(self, tell, members):
        self.tell, self.members = tell, members

    def discard(self, member):
        self.tell()


def finalized(tell):
    held = Held(tell)
    weakref.finalize(held, tell)
    return held


def in_a_weak_set(tell):
    held, those = Held(None), weakref.WeakSet()
    those.add(held)
    those.data = Members(tell, those.data)
    held.those = those
    return held


@pytest.mark.parametrize("make", [finalized, Deleted, in_a_weak_set])
def test_a_finalizer_that_runs_in_a_controller_is_not_interrupted(make):
    tidied = []

    def tidies(robot):
        held = make(lambda: (time.sleep(0.2), tidied.append(robot.time)))
        those = getattr(held, "those", None)
        del held  # its finalizer runs now, and takes longer than the step may
        del those
        while True:
            pass

    assert_stops_only_itself(tidies, "exceeded its wall time", budget_s=0.05)
    assert tidied == [0.0]


def test_a_callback_of_the_garbage_collector_is_not_interrupted():
    """Python would lose the interruption, and what the callback does."""
    ended = []

    def slow(phase, _):
        if phase == "stop":
            time.sleep(0.2)
            ended.append(phase)

    def collects(robot):
        gc.callbacks.append(slow)
        try:
            slow("stop", {})  # as Python calls it after a collection
        finally:
            gc.callbacks.remove(slow)
        while True:
            pass

    assert_stops_only_itself(collects, "exceeded its wall time", budget_s=0.05)
    assert ended == ["stop"]


def test_the_text_of_a_failure_may_take_longer_than_a_step():
    class SlowlyToldError(Exception):
        def __str__(self):
            time.sleep(0.2)
            return "the goal is behind a wall"

    assert_stops_only_itself(raises(SlowlyToldError()), "the goal is behind a wall", budget_s=0.05)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="fork")
def test_a_controller_that_forks_goes_on_once():
    children = []

    def forks(robot):
        if robot.time == 0.0:
            children.append(os.fork())

    sim = covey.Simulation(covey.World.empty(6, 6), robots=1, controller=forks)
    for _ in range(3):
        sim.step()
    assert len(sim.close().times) == 3
    assert os.waitpid(children[0], 0)[1] == 0


AT_THE_END = """
import os, signal, sys

class Last:
    def __del__(self, kill=os.kill, pid=os.getpid(), alarm=signal.SIGALRM):
        kill(pid, alarm)

sys.modules["last"] = type(sys)("last")
sys.modules["last"].one = Last()

def go(robot):
    robot.finish()
"""


@pytest.mark.slow
def test_an_alarm_that_comes_while_python_ends_does_not_end_the_program_otherwise(tmp_path):
    """When Python tears its modules down, it has no handlers of signals any more."""
    (tmp_path / "mine.py").write_text(AT_THE_END)
    (tmp_path / "s.yaml").write_text(
        'world: {empty_m: [6, 6]}\nrobots: [{controller: "./mine.py:go"}]\nstop: {timeout_s: 1}\n'
    )
    command = [sys.executable, "-m", "covey", "run", "s.yaml", "-q", "--no-pictures", "--out", "run"]
    assert subprocess.run(command, cwd=tmp_path, capture_output=True).returncode == 0
