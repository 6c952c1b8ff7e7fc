"""Play, pause, step, speed: measured with a clock of the test's own."""

import threading
import time

from covey.viewer.gate import Gate

NOTHING = threading.Event()


def steps_of(gate, stop):
    taken = []

    def run():
        while gate.wait(0.1, NOTHING) == "step":
            taken.append(time.perf_counter())

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    stop(taken)
    gate.end()
    thread.join(5)
    assert not thread.is_alive()
    return taken


def test_a_run_at_a_factor_takes_that_time():
    taken = steps_of(Gate(factor=2.0), lambda taken: time.sleep(0.55))
    assert 8 <= len(taken) <= 12  # 0.05 s a step


def test_a_pause_is_not_caught_up():
    gate = Gate(factor=10.0)

    def stop(taken):
        time.sleep(0.1)
        gate.pause()
        time.sleep(0.1)
        before = len(taken)
        time.sleep(0.5)  # 50 steps would have been taken
        assert len(taken) == before
        gate.play()
        time.sleep(0.1)
        assert len(taken) - before < 25

    steps_of(gate, stop)


def test_steps_are_counted_and_then_it_stands():
    gate = Gate(playing=False)

    def stop(taken):
        gate.step(3)
        time.sleep(0.2)
        assert len(taken) == 3
        gate.step()
        time.sleep(0.2)
        assert len(taken) == 4

    steps_of(gate, stop)


def test_work_is_told_even_while_it_stands():
    gate, work = Gate(playing=False), threading.Event()
    work.set()
    assert gate.wait(0.1, work) == "work"


def test_a_paused_run_uses_no_processor_time():
    gate = Gate(playing=False)
    before = time.process_time()
    steps_of(gate, lambda taken: time.sleep(0.5))
    assert time.process_time() - before < 0.1
