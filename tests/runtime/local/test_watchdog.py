"""The watchdog interrupts Python code that does not come back."""

import gc
import subprocess
import sys
import threading
import time

import pytest

import covey
from covey import kernel
from covey.runtime.local.watchdog import StepBudgetError, Watchdog


def test_an_endless_loop_is_interrupted():
    watchdog = Watchdog(0.2)
    begin = time.monotonic()
    with pytest.raises(StepBudgetError), watchdog:
        while True:
            pass
    assert time.monotonic() - begin < 5.0
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


def test_quick_code_is_left_alone():
    watchdog = Watchdog(0.2)
    for _ in range(5):
        with watchdog:
            time.sleep(0.01)
    time.sleep(0.5)  # outside: nobody is watched
    watchdog.close()
    assert not watchdog._thread.is_alive() or watchdog._wake.is_set()


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


def test_the_watchdog_ends_with_a_simulation_that_nobody_closes():
    before = set(threading.enumerate())
    sim = covey.Simulation(covey.World.empty(6, 6), 1, lambda robot: robot.drive(0.1))
    sim.step()
    (thread,) = set(threading.enumerate()) - before
    assert thread.name == "covey-watchdog"
    del sim
    gc.collect()
    thread.join(5.0)
    assert not thread.is_alive()
