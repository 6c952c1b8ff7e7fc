"""The information boundary: from a handle the truth must not be reachable."""

import gc
import types
from collections.abc import Iterator
from typing import Any

import numpy as np

from covey.results.recorder import Recorder
from covey.robots.handle import Robot
from covey.robots.team import TeamState
from covey.sim.planar import PlanarPhysics
from covey.sim.sensing import Sensing
from covey.sim.simulation import Simulation
from covey.world.world import World

TRUTH = (Simulation, World, TeamState, PlanarPhysics, Sensing, Recorder)
_LEAVES = (type, types.ModuleType, types.CodeType, types.BuiltinFunctionType, str, bytes, int, float, bool, type(None))


def reachable_from(root: Any) -> Iterator[Any]:
    """Yield every object that can be reached from ``root`` through attributes, containers, closures and array bases.

    Modules, classes and the global names of functions are not followed: code stands there, not the state of a run.
    """
    seen: set[int] = set()
    queue = [root]
    while queue:
        item = queue.pop()
        if id(item) in seen or isinstance(item, _LEAVES):
            continue
        seen.add(id(item))
        yield item
        if isinstance(item, types.FunctionType):
            queue += [*(item.__closure__ or ()), *(item.__defaults__ or ())]
        elif isinstance(item, np.ndarray):
            if item.base is not None:
                queue.append(item.base)
            if item.dtype == object:
                queue += list(item.ravel())
        elif type(item).__module__.startswith(("numba", "llvmlite")):
            continue
        else:
            queue += gc.get_referents(item)


def check_boundary(sim: Simulation) -> None:
    """Check that no handle of a running simulation reaches the truth or another robot's handle."""
    truth_arrays = {id(a) for a in vars(sim.state).values() if isinstance(a, np.ndarray)}
    for onboard in sim.deciding.onboard.values():
        for item in reachable_from(onboard.robot):
            where = f"from the handle of {onboard.robot.name}"
            assert not isinstance(item, TRUTH), (
                f"{type(item).__name__} can be reached {where}: a controller could cheat"
            )
            assert id(item) not in truth_arrays, f"an array of the true state can be reached {where}"
            assert item is onboard.robot or not isinstance(item, Robot), f"{item!r} can be reached {where}"
