"""A process that dies, hangs or cannot begin is the fault of its robot alone; none outlives its simulator."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import psutil
import pytest

import covey
from covey.errors import InvalidValueError


async def straight(robot):
    robot.drive(0.3)
    await robot.sleep(1e9)


async def sleeper(robot):
    """Never comes back from a call that nothing can interrupt."""
    robot.drive(0.3)
    await robot.sleep(0.3)
    time.sleep(1e6)


class Hopeless:
    def __init__(self):
        raise RuntimeError("no map of the treasure")

    def step(self, robot): ...


def group(name, program, y):
    return covey.Group(name, covey.robots.disc().model_copy(update={"mapping": None}), [(-4.0, y, 0.0)], program)


def gone(pids, within_s=10.0):
    """Return whether all processes have ended, or do so soon."""
    until = time.monotonic() + within_s
    while time.monotonic() < until:
        if not any(psutil.pid_exists(p) and psutil.Process(p).status() != psutil.STATUS_ZOMBIE for p in pids):
            return True
        time.sleep(0.1)
    return False


@pytest.mark.slow
def test_one_that_is_killed_and_one_that_hangs_stop_their_robots_and_the_others_go_on():
    groups = [group("killed", straight, -2.0), group("hung", sleeper, 0.0), group("well", straight, 2.0)]
    sim = covey.Simulation(
        covey.World.empty(12, 8), groups, execution={"controllers": "processes", "step_budget_s": 0.5}
    )
    for step in range(10):
        if step == 5:
            os.kill(sim.deciding.host.fleet.channels["killed0"].pid, signal.SIGKILL)
        sim.step()
    pids = [channel.pid for channel in sim.deciding.host.fleet.channels.values()]
    run = sim.close()
    failed = run.events.filter(run.events["kind"] == "controller_failed")
    told = dict(zip(failed["robot"], zip(failed["step"], failed["text"], strict=True), strict=True))
    assert set(told) == {"killed0", "hung0"}
    assert told["killed0"] == (6, "its process was killed by signal 9 (SIGKILL)")
    assert told["hung0"][0] == 4
    assert "exceeded its wall time for one step" in told["hung0"][1]
    assert run.series("distance_m")[-1] == pytest.approx([0.3 * 0.5, 0.3 * 0.3, 0.3 * 1.0])
    assert run.manifest["repeatable"] is False
    assert gone(pids, 0.5)


@pytest.mark.slow
def test_processes_end_when_their_simulator_is_killed(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import covey, os, time\n"
        "async def endless(robot):\n"
        "    robot.drive(0.1)\n"
        "    await robot.sleep(0.2)\n"
        "    while True:\n"
        "        pass\n"
        "if __name__ == '__main__':\n"
        "    execution = covey.Execution(controllers='processes', step_budget_s=1e6)\n"
        "    sim = covey.Simulation(covey.World.empty(6, 6), 1, endless, execution=execution)\n"
        "    sim.step()\n"
        "    print(sim.deciding.host.fleet.channels['robot0'].pid, flush=True)\n"
        "    sim.run()\n"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    simulator = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, env=environment)
    assert simulator.stdout is not None
    pid = int(simulator.stdout.readline())
    time.sleep(0.5)
    assert psutil.pid_exists(pid)
    simulator.kill()
    simulator.wait()
    simulator.stdout.close()
    assert gone([pid])


@pytest.mark.slow
def test_what_cannot_go_to_a_process_is_said_with_what_to_do():
    world = covey.World.empty(6, 6)
    sim = covey.Simulation(world, 1, lambda robot: robot.drive(0.1), execution={"controllers": "processes"})
    with pytest.raises(InvalidValueError, match="define it at the top level of a module or file"):
        sim.run()
    sim = covey.Simulation(world, 1, Hopeless, execution={"controllers": "processes"})
    sim.step()
    assert "RuntimeError: no map of the treasure" in sim.deciding.failures[0].text
    sim.close()
    with pytest.raises(InvalidValueError, match="must be 'in_process' or 'processes'; given: 'threads'"):
        covey.Simulation(world, 1, straight, execution={"controllers": "threads"})


@pytest.mark.slow
def test_in_real_time_who_is_late_misses_the_step_and_the_simulator_goes_on():
    groups = [group("quick", straight, -2.0), group("slow", slow, 2.0)]
    execution = covey.Execution(controllers="processes", processes=covey.Processes(pace="real_time"))
    sim = covey.Simulation(covey.World.empty(12, 8), groups, execution=execution)
    sim.step()
    begun = time.monotonic()
    for _ in range(20):
        sim.step()
    took_s = time.monotonic() - begun
    misses = {name: channel.misses for name, channel in sim.deciding.host.fleet.channels.items()}
    run = sim.close()
    assert 1.9 < took_s < 8.0
    slow_one = misses["slow0"]
    assert slow_one.missed_deadlines >= 8  # it needs three steps for each
    assert 2 <= slow_one.late_commands <= 10
    assert slow_one.dropped_readings > 0
    assert misses["quick0"].missed_deadlines < slow_one.missed_deadlines
    assert run.metrics["missed_deadlines"] == slow_one.missed_deadlines + misses["quick0"].missed_deadlines
    assert run.manifest["repeatable"] is False
    assert run.manifest["processes"]["pace"] == "real_time"
    assert np.all(run.series("distance_m")[-1] > 0)


def slow(robot):
    time.sleep(0.25)
    robot.drive(0.2)


def occupied(folder):
    (folder / "notes.txt").write_text("mine")
    return {"recording": folder}


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        (occupied, covey.errors.RunFolderError),
        (lambda _: {"events": [{"door": "none", "to": "open", "at_s": 1}]}, InvalidValueError),
        (lambda _: {"observers": 3}, TypeError),
    ],
    ids=["folder", "event", "observers"],
)
def test_a_simulation_that_cannot_begin_leaves_no_process(wrong, error, tmp_path):
    before = set(psutil.Process().children())
    with pytest.raises(error) as raised:
        covey.Simulation(
            covey.World.empty(6, 6), 1, straight, execution={"controllers": "processes"}, **wrong(tmp_path)
        )
    left = [p for p in set(psutil.Process().children()) - before if p.status() != psutil.STATUS_ZOMBIE]
    assert not left, raised
