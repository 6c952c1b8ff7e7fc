"""Compilation with a cold cache: two processes run two halves of a trial run, so that the first step comes sooner."""

import gc
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from typing import Any

import numpy as np

from covey.processors import processors
from covey.registry import import_path

_HALF = "import gc; gc.disable(); from covey.scenario.warmup import think_for_parent; think_for_parent()"


@contextmanager
def compiling(check: Callable[[], Any] = lambda: None) -> Iterator[None]:
    """Compile the kernels of a usual run into the cache; all are compiled at the end of the block.

    If there is a second processor, a second process compiles the kernels of maps, routes and driving. If it fails, they
    are compiled when needed. Garbage collection is off, because it would take an eighth of the time.

    Args:
        check: called first, while the second process starts; its exceptions end both.
    """
    from covey.kernel import HASTENED, cache_root

    if not HASTENED:
        print(f"compiling takes twice as long as with numba 0.68; this is {version('numba')}", file=sys.stderr)
    helper = None
    if processors() > 1:
        environment = os.environ | {"PYTHONPATH": import_path(), "COVEY_CACHE_DIR": str(cache_root())}
        command = [sys.executable, "-P", "-c", _HALF]
        null = subprocess.DEVNULL
        helper = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=null, stderr=null)
    collects = gc.isenabled()
    gc.disable()
    try:
        check()
        meet()  # first, because the second process needs part of it
        move()
        if helper is None:
            think()
        yield
        if helper is not None:
            helper.wait()
    finally:
        if collects:
            gc.enable()
        if helper is not None:
            helper.terminate()
            helper.communicate()


def compile_all() -> None:
    """Run `compiling` with an empty block."""
    with compiling():
        pass


def think_for_parent() -> None:
    """Run `think` in a process that ends with its parent, which holds the other end of stdin."""

    def end_with_parent() -> None:
        os.read(0, 1)
        os._exit(1)

    threading.Thread(target=end_with_parent, daemon=True).start()
    think()


def move() -> None:
    """Compile sensing, motion and scoring: two Pioneers without a map take two steps in a small room."""
    from covey.onboard.controller import Program
    from covey.onboard.group import Group
    from covey.robots.catalogue import pioneer3dx
    from covey.runtime.simulation import Simulation
    from covey.world.world import World

    pioneer = pioneer3dx().model_copy(update={"mapping": None})
    start = np.array([[-1.0, 0.0, 0.0], [1.0, 0.0, 3.0]])
    group = Group("rehearsing", pioneer, start, Program(_ahead))
    sim = Simulation(World.empty(6.0, 6.0, resolution_m=0.2), [group], radio=9.0)
    for _ in range(2):
        sim.step()
    sim.scoring.maps(sim.world_state.changed)
    sim.communication.network.links(sim.world_state, sim.state.pose, sim.state.radio_alive)
    sim.deciding.close()
    sim.recorder.abandon("a rehearsal")


def meet() -> None:
    """Compile the code for robots with maps that see, hear and pass each other, and for the analysis of their maps."""
    from covey.geometry.grid import Grid
    from covey.mapping.exchange.providers import providers
    from covey.mapping.occupancy.belief import Beliefs
    from covey.mapping.occupancy.compare import KnownShare, ground_truth
    from covey.mapping.occupancy.movers import Movers
    from covey.mapping.occupancy.team_mates import hide_team_mates
    from covey.onboard.navigation import right_of_way, route
    from covey.robots.catalogue import pioneer3dx

    model = pioneer3dx()
    lidar = next(sensor for sensor in model.sensors if "scan" in sensor.feeds)
    one = np.ones(2, np.int64), np.full((2, 1), 2.0), np.full((2, 1), 1.0)
    hide_team_mates(np.full((2, lidar.rays), 1.5), lidar.angles, lidar.mount, *one, np.full(2, 0.4))
    movers, scan = Movers(0.3), (np.full(lidar.rays, 1.5), lidar.angles, lidar.mount, 0.0)
    movers.find(np.zeros(3), *scan)
    movers.note(np.zeros(3), *scan)
    clock = np.zeros((2, 2), np.int64)
    providers(np.full((2, 2), -1), clock, np.eye(2, dtype=bool), clock)
    line, known = np.array([[1.0, 2.0], [3.0, 2.0]]), Grid(np.ones((40, 40), np.bool_), 0.2)
    right_of_way.may_enter(line, 0.5, 1.0, 0.0, np.zeros((1, 5)), 0, 0.0)
    mapping: Any = model.mapping
    beliefs = Beliefs.covering(known, ["a", "b"], mapping)
    KnownShare(beliefs, ground_truth(known.with_cells(~known.cells), known, beliefs.grid)).update()
    occupancy, place = beliefs[0].occupancy(), (*beliefs.grid.origin[:2], beliefs.grid.resolution)
    route.is_blocked(line, 0, 1.0, 2.0, occupancy, *place, 0.3, 6.0)
    route.narrow_stretches(line, occupancy.copy(), *place, 1.0)


def think() -> None:
    """Compile mapping, planning and driving: a robot with a map and another robot in sight goes to its frontier."""
    from covey.comms.blackboard import Blackboard
    from covey.comms.mailbox import Mailbox
    from covey.controllers.exploration.nearest_frontier import nearest_frontier
    from covey.geometry import Pose
    from covey.geometry.grid import Grid
    from covey.mapping.occupancy.belief import Beliefs
    from covey.onboard.controller import Program
    from covey.onboard.spec import RobotSpec
    from covey.onboard.step import StepInput
    from covey.robots.catalogue import pioneer3dx
    from covey.sensors.lidar import LidarReading
    from covey.sensors.neighbours import NeighboursReading

    model = pioneer3dx()
    lidar = next(sensor for sensor in model.sensors if "scan" in sensor.feeds)
    mapping: Any = model.mapping
    beliefs = Beliefs.covering(Grid(np.zeros((40, 40), np.uint8), 0.2), ["a", "b"], mapping)
    poses, ranges = np.array([[2.0, 2.0, 0.0], [2.0, 4.0, 0.0]]), np.full((2, lidar.rays), 1.5)
    beliefs.update(np.arange(2), poses, ranges, lidar.angles, lidar.mount, lidar.range_m, 0)
    beliefs.share(~np.eye(2, dtype=bool))
    spec = RobotSpec("a", 0, model, Pose(2.0, 2.0, 0.0), 0.1, Program(nearest_frontier), 0, ("lidar", "neighbours"))
    onboard = spec.software(Mailbox("a", ("a",)), Blackboard(), beliefs[0], None)
    other = np.array([1.5]), np.array([0.5]), np.array([1]), np.array([2.0])
    readings = (
        LidarReading(ranges[0].copy(), lidar.angles, lidar.range_m, lidar.mount.copy()),
        NeighboursReading(*other),
    )
    for step in range(4):
        onboard.step(StepInput(0.1 * step, spec.home, readings=readings))
    onboard.close()


async def _ahead(robot) -> None:
    robot.drive(0.5, 0.1)
    await robot.sleep(10.0)


def is_cold() -> bool:
    """Return whether the kernels of a usual run still have to be compiled."""
    from covey.kernel import is_compiled
    from covey.planning.dynamic_window import dynamic_window
    from covey.sensors.lidar import measured_scan

    return not is_compiled(measured_scan, dynamic_window)  # kernels that Python calls: others are kept in their callers
