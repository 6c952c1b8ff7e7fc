"""Play, pause, step, speed: with a clock that moves only while the gate waits."""

import math
import threading

import pytest

from covey.viewer.gate import Gate, WallClock

NOTHING = threading.Event()


class ByHand(WallClock):
    """A clock for one thread: waiting moves it, and what is to happen at a time happens when it gets there."""

    def __init__(self):
        self.time, self.waits, self.plans = 0.0, [], []

    def at(self, time, action):
        self.plans.append((time, action))

    def now(self):
        return self.time

    def wait(self, changed, at_most_s):
        self.waits.append(at_most_s)
        until = math.inf if at_most_s is None else self.time + at_most_s
        due = [plan for plan in self.plans if plan[0] <= until]
        if not due:
            assert at_most_s is not None, "it waits for ever"
            self.time = until
            return
        plan = min(due, key=lambda plan: plan[0])
        self.plans.remove(plan)
        self.time = max(self.time, plan[0])
        plan[1]()


def steps(gate, clock, until_s):
    """Return when each step of 0.1 s began [s]."""
    taken = []
    clock.at(until_s, gate.end)
    while gate.wait(0.1, NOTHING) == "step":
        taken.append(clock.time)
    return taken


def test_a_run_at_a_factor_takes_that_time():
    clock = ByHand()
    assert steps(Gate(factor=2.0, clock=clock), clock, 0.275) == pytest.approx([0.05 * i for i in range(6)])


def test_a_pause_is_not_caught_up():
    clock = ByHand()
    gate = Gate(factor=10.0, clock=clock)
    clock.at(0.095, gate.pause)
    clock.at(0.695, gate.play)
    expected = [0.01 * i for i in range(10)] + [0.695 + 0.01 * i for i in range(5)]
    assert steps(gate, clock, 0.7399) == pytest.approx(expected)


def test_a_step_that_takes_long_is_not_caught_up():
    clock = ByHand()
    gate = Gate(factor=10.0, clock=clock)
    assert gate.wait(0.1, NOTHING) == "step"
    clock.time = 1.0
    assert steps(gate, clock, 1.025) == pytest.approx([1.0, 1.01, 1.02])


def test_steps_are_counted_and_then_it_stands():
    clock = ByHand()
    gate = Gate(playing=False, clock=clock)
    clock.at(1.0, lambda: gate.step(3))
    clock.at(2.0, lambda: gate.step(1))
    assert steps(gate, clock, 3.0) == [1.0, 1.0, 1.0, 2.0]


def test_a_new_speed_counts_from_now():
    clock = ByHand()
    gate = Gate(factor=1.0, clock=clock)
    clock.at(0.15, lambda: gate.speed(10.0))
    assert steps(gate, clock, 0.175) == pytest.approx([0.0, 0.1, 0.15, 0.16, 0.17])


def test_work_is_told_even_while_it_stands():
    gate, work = Gate(playing=False, clock=ByHand()), threading.Event()
    work.set()
    assert gate.wait(0.1, work) == "work"


def test_a_paused_run_sleeps_until_somebody_wakes_it():
    clock = ByHand()
    assert steps(Gate(playing=False, clock=clock), clock, 100.0) == []
    assert clock.waits == [None]


def test_the_clock_on_the_wall_ends_a_wait_when_somebody_wakes_it():
    gate, work, began = Gate(playing=False), threading.Event(), threading.Event()

    def wake():
        began.wait()
        work.set()
        gate.wake()

    thread = threading.Thread(target=wake)
    thread.start()
    began.set()
    assert gate.wait(0.1, work) == "work"
    thread.join()
    gate = Gate(factor=1e3)
    assert [gate.wait(0.1, NOTHING) for _ in range(3)] == ["step"] * 3


def test_requests_for_steps_add_up_and_count_down_and_a_pause_forgets_them():
    gate = Gate(playing=False)
    for _ in range(10):
        gate.step()
    gate.step(300)
    assert gate.state == {"playing": False, "factor": None, "steps": 310}
    for left in (309, 308):
        assert gate.wait(0.1, NOTHING) == "step"
        assert gate.state["steps"] == left
    gate.pause()
    assert gate.stands
    assert gate.state["steps"] == 0
