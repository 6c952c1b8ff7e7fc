"""What a process takes of its machine, and what happens when that is more than its robot's computer has."""

import multiprocessing
import os
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import covey
from covey.robots.computer import Computer
from covey.runtime.remote.use import OwnUse, limited_by_cgroup

HELD = []


class Hoarder:
    """Takes 8 MiB more in each step."""

    def step(self, robot):
        robot.drive(0.1)
        HELD.append(np.ones(2**20))


class Counts:
    received = np.array([1000, 0, 24])
    sent = np.array([0, 0, 0])


def look_at_memory():
    """What it takes of the machine while 40 MiB are held, and whether it is over its limit while 160 are."""
    wire = Counts()
    own = OwnUse(wire, Computer(ram_mib=100.0))  # pyright: ignore
    too_soon = own.sample()
    held = np.ones(5 * 2**20)
    wire.sent = np.array([0, 2000, 0])
    use, is_over = own.sample(0.0), own.is_over
    held = np.ones(20 * 2**20)
    return too_soon, use, is_over, own.is_over, held.size


@pytest.mark.slow
def test_memory_is_what_the_software_takes_beyond_the_bare_process():
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as fresh:  # here others' memory is given back
        too_soon, use, before, after, _ = fresh.submit(look_at_memory).result()
    assert too_soon is None
    assert (before, after) == (False, True)
    assert use.software_mib == pytest.approx(40.0, abs=4.0)
    assert use.ram_percent == pytest.approx(use.software_mib, rel=1e-6)
    assert use.kbytes_sent * use.wall_s == pytest.approx(2.0)
    assert use.kbytes_received == 0


@pytest.mark.slow
@pytest.mark.parametrize(("when_full", "kinds"), [("kill", {"controller_failed"}), ("slow", set())])
def test_a_full_memory_kills_or_slows_the_controller_as_it_is_measured(when_full, kinds):
    model = covey.robots.disc().model_copy(
        update={"mapping": None, "computer": Computer(ram_mib=40.0, when_ram_full=when_full)}
    )
    group = covey.Group("hoarder", model, [(0.0, 0.0, 0.0)], Hoarder)
    sim = covey.Simulation(
        covey.World.empty(9, 9), [group], execution={"controllers": "processes", "compute": "measured"}
    )
    delays = []
    for _ in range(400):
        sim.step()
        delays.append(sim.computing.machines[0].is_full)
        if sim.deciding.failed or delays.count(True) > 3:
            break
        if len(delays) > 10:
            time.sleep(0.05)
    run = sim.close()
    found = run.events.filter(run.events["kind"] == "controller_failed")
    assert set(found["kind"]) == kinds
    assert all("out of memory" in text for text in found["text"])
    assert any(delays)
    assert run.manifest["repeatable"] is False
    assert run.manifest["processes"]["memory_limited_by"] == {"hoarder0": "psutil"} or os.path.exists(
        "/sys/fs/cgroup/cgroup.controllers"
    )


def test_a_writable_cgroup_limits_the_memory(tmp_path):
    lines = Path("/proc/self/cgroup").read_text().splitlines()
    own = next(line.partition("::")[2] for line in lines if line[:3] == "0::")
    above = (tmp_path / own.strip("/") / "..").resolve() if own.strip("/") else tmp_path
    above.mkdir(parents=True, exist_ok=True)
    assert limited_by_cgroup(tmp_path, os.getpid(), "memory.max", 5000) is None  # nothing is mounted
    (above / "cgroup.subtree_control").write_text("cpu pids")
    assert limited_by_cgroup(tmp_path, os.getpid(), "memory.max", 5000) is None  # no memory controller
    (above / "cgroup.subtree_control").write_text("cpu memory pids")
    group = limited_by_cgroup(tmp_path, os.getpid(), "memory.max", 5000)
    assert group == above / f"covey-{os.getpid()}"
    assert (group / "memory.max").read_text() == "5000"
    assert (group / "cgroup.procs").read_text() == str(os.getpid())
