"""The watchdog interrupts Python code that does not come back."""

import gc
import os
import subprocess
import sys
import threading
import time
from contextlib import nullcontext
from pathlib import Path

import pytest

import covey
from covey import kernel
from covey.runtime import local
from covey.runtime.local.watchdog import StepBudgetError, Watchdog


def test_an_endless_loop_is_interrupted():
    watchdog = Watchdog(0.2)
    begin = time.monotonic()
    with pytest.raises(StepBudgetError), watchdog:
        while True:
            pass
    assert time.monotonic() - begin < 60.0
    watchdog.close()


def test_a_loop_that_swallows_exceptions_is_interrupted_again():
    watchdog = Watchdog(0.1)
    caught = 0
    with watchdog:
        while caught < 2:
            try:
                while True:
                    pass
            except StepBudgetError:
                caught += 1
    watchdog.close()
    assert caught == 2


def test_waiting_for_a_processor_does_not_count(monkeypatch):
    looks = []

    def waited_s(_watchdog):  # as on a machine whose processors do other work
        looks.append(time.monotonic())
        return looks[-1]

    monkeypatch.setattr(Watchdog, "_waited_s", waited_s)
    watchdog = Watchdog(0.02)
    with watchdog:
        while len(looks) < 20 or looks[-1] - looks[0] < 0.1:
            pass
        assert watchdog.is_excused
    watchdog.close()


@pytest.mark.skipif(not Path("/proc/self/schedstat").is_file(), reason="only Linux tells it")
def test_the_system_tells_how_long_a_thread_has_waited_for_a_processor():
    free = os.sched_getaffinity(0)
    watchdog = Watchdog(1e9)
    os.sched_setaffinity(0, {min(free)})  # the other process has the same processor
    try:
        other = subprocess.Popen([sys.executable, "-S", "-c", "while True: pass"])
        with watchdog:
            before, begin = watchdog._waited_s(), time.monotonic()
            while (waited := watchdog._waited_s() - before) < 0.02:
                pass
            assert waited < time.monotonic() - begin + 0.01
        other.kill()
        other.wait()
    finally:
        os.sched_setaffinity(0, free)
    watchdog.close()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no flock")
def test_waiting_for_a_kernel_that_another_process_compiles_does_not_count(tmp_path):
    path = str(tmp_path / "kernel.lock")
    held, done = threading.Event(), threading.Event()

    def compiles():
        with kernel._alone(path):
            held.set()
            done.wait(10.0)

    other = threading.Thread(target=compiles)
    other.start()
    held.wait()
    threading.Timer(0.6, done.set).start()
    watchdog = Watchdog(0.2)
    with watchdog, kernel._alone(path):
        assert done.is_set()
    watchdog.close()
    other.join()


def test_code_within_its_budget_is_left_alone_and_so_is_what_follows():
    watchdog = Watchdog(1e9)
    with watchdog:
        watchdog._look()
    watchdog.budget_s = -1.0  # whoever is watched now is late
    watchdog._look()
    watchdog.close()


@pytest.mark.parametrize("is_around", [True, False])
def test_no_interruption_is_sent_to_the_code_around_controllers(is_around):
    code = "def spin(began, looked):\n    began.append(1)\n    while not looked:\n        pass\n"
    path = Path(local.__file__).with_name("new.py") if is_around else "controller.py"
    exec(compile(code, str(path), "exec"), made := {})
    watchdog, began, looked = Watchdog(1e9), [], []

    def look():
        while not began:
            pass
        watchdog.budget_s = -1.0  # the call is late
        watchdog._look()
        watchdog.budget_s = 1e9
        looked.append(1)

    other = threading.Thread(target=look)
    other.start()
    with nullcontext() if is_around else pytest.raises(StepBudgetError), watchdog:
        made["spin"](began, looked)
    other.join()
    watchdog.close()


@pytest.mark.slow
def test_a_debugger_can_look_at_a_controller_after_a_step_that_was_watched():
    """An interruption that is taken back though there is none makes Python 3.11 look for it for ever when it traces."""
    code = (
        "import sys, covey\n"
        "sim = covey.Simulation(covey.World.empty(6, 6), 1, lambda robot: robot.drive(0.1))\n"
        "sim.step()\n"
        "sys.settrace(lambda *_: None)\n"
        "sim.step()\n"
        "sys.settrace(None)\n"
        "print('went on')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout == "went on\n", done.stderr


@pytest.mark.parametrize("looks", ["settrace", "setprofile"])
def test_a_debugger_and_a_profiler_can_look_after_an_interruption(looks):
    """Python looked for the interruption for ever then: a child ends that, where this process would hang."""
    code = (
        "import sys\n"
        "from covey.runtime.local.watchdog import StepBudgetError, Watchdog\n"
        "watchdog = Watchdog(0.05)\n"
        "try:\n"
        "    with watchdog:\n"
        "        while True: pass\n"
        "except StepBudgetError:\n"
        "    watchdog.rest()\n"
        "seen = []\n"
        f"sys.{looks}(lambda *_: seen.append(1))\n"
        "assert sum(k for k in range(1000)) == 499500\n"
        f"sys.{looks}(None)\n"
        "print('went on' if seen else 'saw nothing')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout == "went on\n", done.stderr


def test_the_watchdog_ends_with_a_simulation_that_nobody_closes():
    before = set(threading.enumerate())
    sim = covey.Simulation(covey.World.empty(6, 6), 1, lambda robot: robot.drive(0.1))
    sim.step()
    (thread,) = set(threading.enumerate()) - before
    assert thread.name == "covey-watchdog"
    del sim
    while thread.is_alive():  # the watchdog of another test may look at a frame of it just now
        gc.collect()
        thread.join(0.1)


LIBRARY = """
import time

end = time.monotonic() + 0.5  # five times the budget
while time.monotonic() < end:
    pass
whole = True
"""


def test_a_library_is_loaded_to_its_end_and_its_time_does_not_count(tmp_path, monkeypatch):
    """Half a library used to stay, and broke the other robots that used it."""
    (tmp_path / "slow_library.py").write_text(LIBRARY)
    monkeypatch.syspath_prepend(tmp_path)
    watchdog = Watchdog(0.1)
    try:
        with watchdog:
            import slow_library
        assert slow_library.whole
        with pytest.raises(StepBudgetError), watchdog:
            while True:
                pass
    finally:
        watchdog.close()


def test_a_library_that_never_ends_to_load_is_interrupted(tmp_path, monkeypatch):
    (tmp_path / "endless_library.py").write_text("while True:\n    pass\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr("covey.runtime.local.watchdog._LOADING_S", 0.3)
    watchdog = Watchdog(0.1)
    with pytest.raises(StepBudgetError), watchdog:
        import endless_library  # noqa: F401
    watchdog.close()
