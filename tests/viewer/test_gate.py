"""Play, pause, step, speed: measured with a clock of the test's own."""

import threading
import time

from tests.viewer.browser.conftest import until

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
    lasted = []
    for _ in range(3):  # on a busy machine not every time is the right one
        begin = time.perf_counter()
        taken = steps_of(Gate(factor=2.0), lambda taken: until(lambda: len(taken) >= 6))
        lasted.append(taken[5] - begin)
    assert 0.25 <= min(lasted) < 0.34  # 0.05 s a step


def test_a_pause_is_not_caught_up():
    gate = Gate(factor=10.0)

    def stop(taken):
        time.sleep(0.1)
        gate.pause()
        time.sleep(0.1)
        before = len(taken)
        time.sleep(0.5)  # 50 steps would have been taken
        assert len(taken) == before
        begin = time.perf_counter()
        gate.play()
        time.sleep(0.1)
        more = len(taken) - before
        assert more < 15 + (time.perf_counter() - begin) / 0.01  # 0.01 s a step

    steps_of(gate, stop)


def test_steps_are_counted_and_then_it_stands():
    gate = Gate(playing=False)

    def stop(taken):
        for count in (3, 4):
            gate.step(count - len(taken))
            until(lambda count=count: len(taken) >= count)
            time.sleep(0.2)
            assert len(taken) == count

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
