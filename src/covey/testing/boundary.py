"""The information boundary: the truth must not be reachable from a handle."""

import contextlib
import gc
import types
from collections import deque
from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any

import numpy as np
from pydantic import BaseModel

from covey.mapping.elevation.belief import ElevationBelief
from covey.mapping.exchange.shared_maps import SharedMaps
from covey.onboard.handle import Robot
from covey.physics.planar.physics import PlanarPhysics
from covey.results.recorder import Recorder
from covey.robots.team import TeamState
from covey.runtime.phases.sensing import Sensing
from covey.runtime.simulation import Simulation
from covey.world.state import GroundState, WorldState
from covey.world.targets import Targets
from covey.world.world import World

TRUTH = (Simulation, World, WorldState, GroundState, Targets, TeamState, PlanarPhysics, Sensing, Recorder)
_LEAVES = (type, types.ModuleType, types.CodeType, types.BuiltinFunctionType, str, bytes, int, float, bool, type(None))


def reachable_from(root: Any) -> Iterator[Any]:
    """Yield every object that can be reached from ``root`` through attributes, containers, closures and array bases.

    Modules, classes and the global names of functions are not followed, because they hold code, not the state of a run.
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
    """Check that no robot and no group of a running simulation reaches the truth, or another robot's handle.

    A robot must not reach another robot's map by public names either.

    The check also writes to every array that robots get (readings, messages, tags, the views of their groups): the
    truth, the estimates and the readings of others must not change.
    """
    truth_arrays = {id(a) for a in vars(sim.state).values() if isinstance(a, np.ndarray)}
    for i in sim.deciding.answered:
        robot = sim.deciding.host.handle(i)
        for item in _inside(robot, f"from the handle of {robot.name}", truth_arrays):
            of_another = isinstance(item, Robot) and item.name != robot.name
            assert not of_another, f"{item!r} can be reached by {robot.name}"
        _check_names(sim, robot)
        handed = [
            robot.readings,
            robot.tags,
            list(sim.communication.mailboxes[i].inbox),
            robot.pose,
            robot.history.steps,
            robot.waypoints,
        ]
        _check_writing(sim, handed, f"what {robot.name} is handed")
    for view in sim.deciding.views(sim.time):
        for _ in _inside(view, f"from the view of {view.name}", truth_arrays):
            pass
        _check_writing(sim, view, f"the view of {view.name}")


def _inside(root: Any, where: str, truth_arrays: set[int]) -> Iterator[Any]:
    """Yield the objects that can be reached from ``root``; fail if one is the truth."""
    for item in reachable_from(root):
        assert not isinstance(item, TRUTH), f"{type(item).__name__} can be reached {where}: a controller could cheat"
        assert id(item) not in truth_arrays, f"an array of the true state can be reached {where}"
        yield item


def named_from(root: Any) -> Iterator[Any]:
    """Yield every object reachable by public names: attributes, items of containers, bases of arrays; without calls."""
    seen: dict[int, Any] = {}
    queue = deque([root])
    while queue:
        item = queue.popleft()
        if id(item) in seen or isinstance(item, (*_LEAVES, np.generic, np.random.Generator)) or callable(item):
            continue
        seen[id(item)] = item
        yield item
        if isinstance(item, np.ndarray):
            queue += [item.base] if item.dtype != object else [item.base, *item.ravel()]
            continue
        if isinstance(item, Mapping):
            queue += [*item.keys(), *item.values()]
        elif isinstance(item, (Sequence, Set)):
            queue += item
        for name in set(dir(item)) - set(dir(BaseModel)):
            if not name.startswith("_"):
                with contextlib.suppress(Exception):  # attributes that cannot be read yet
                    queue.append(getattr(item, name))


def _check_names(sim: Simulation, robot: Robot) -> None:
    """Check that no public name leads from a handle to another robot's knowledge."""
    maps = {i: _arrays_of(belief) for i, belief in sim.localization.belief_of.items()}
    others = [array for i, arrays in maps.items() if sim.names[i] != robot.name for array in arrays]
    own = [array for i, arrays in maps.items() if sim.names[i] == robot.name for array in arrays]
    for item in (found for root in (robot, own) for found in named_from(root)):
        what = type(item).__name__
        assert not isinstance(item, SharedMaps), (
            f"{robot.name} reaches the maps of all robots ({what}) by a public name"
        )
        if isinstance(item, np.ndarray):
            shown = any(np.may_share_memory(item, other) for other in others)
            assert not shown, f"{robot.name} reaches the map of another robot by a public name"


def _arrays_of(belief: Any) -> list[np.ndarray]:
    """Return the arrays that hold and show a robot's belief."""
    if isinstance(belief, ElevationBelief):
        return [belief.occupancy(), belief.marks(), belief.resets(), *belief.moments()]
    return [belief.occupancy()]


def _check_writing(sim: Simulation, handed: Any, what: str) -> None:
    """Check that writing into the arrays that a controller gets changes nothing for others."""
    others = _watched(sim)
    before = {name: array.tobytes() for name, array in others.items()}
    for array in [item for item in reachable_from(handed) if isinstance(item, np.ndarray) and item.dtype != object]:
        with contextlib.suppress(ValueError):  # read-only
            array.flags.writeable = True
            kept = array.copy()
            array[...] = np.ones((), array.dtype)
            changed = [name for name, other in others.items() if other.tobytes() != before[name]]
            array[...] = kept
            assert not changed, f"{what} can be written, and that changes {', '.join(changed)}; hand out a copy"


def _watched(sim: Simulation) -> dict[str, np.ndarray]:
    """Return the arrays that no controller may change, by description."""
    watched = {f"the true {name}": a for name, a in vars(sim.state).items() if isinstance(a, np.ndarray)}
    watched |= {"the cells of the world": sim.world_state.grid.cells, "the estimated poses": sim.localization.pose}
    if sim.tracker.waypoints is not None:
        watched |= {f"{name} of the waypoints": getattr(sim.tracker.waypoints, name) for name in ("points", "distance")}
    for bank in sim.sensing.banks:
        for name, value in vars(bank.readings).items() if bank.readings is not None else ():
            if isinstance(value, np.ndarray):
                watched[f"{name} of the readings of {bank.record.name!r}"] = value
    return watched
