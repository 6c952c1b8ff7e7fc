"""Checks of controllers."""

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np

from covey.missions import Patrolling
from covey.onboard.controller import Program
from covey.runtime.simulation import Simulation
from covey.testing.boundary import check_boundary
from covey.world.world import World

_MISSION = Patrolling(waypoints_m=((-2.0, -2.0), (2.0, -2.0), (2.0, 2.0), (-2.0, 2.0)))
"""Waypoints for controllers that patrol."""


def check_controller(factory: Callable[..., Any], *, seconds: float = 5.0, robots: int = 3, **parameters: Any) -> None:
    """Check a controller: pickles, runs headless, commands finite twists, is repeatable, keeps to its own knowledge."""
    program = Program(factory, parameters)
    try:
        pickle.loads(pickle.dumps((factory, parameters)))
    except Exception as error:
        raise AssertionError(
            f"controller {program.name!r} does not pickle ({error}); define it at the top level of a module, so that "
            "it can be sent to another process"
        ) from error
    first, second = (_poses(factory, parameters, seconds, robots) for _ in range(2))
    assert np.array_equal(first, second), (
        f"controller {program.name!r} does not repeat itself under the same seed; draw from robot.random, "
        "not from global generators, sets or the clock"
    )


def _poses(factory: Callable[..., Any], parameters: dict[str, Any], seconds: float, robots: int) -> np.ndarray:
    sim = Simulation(
        World.empty(8, 8, resolution_m=0.1), robots, Program(factory, parameters), seed=11, mission=_MISSION
    )
    poses = []
    while not sim.done and sim.time < seconds:
        sim.step()
        failures = sim.deciding.failures
        assert not failures, f"controller {Program(factory, parameters).name!r} failed:\n{failures[0].text}"
        poses.append(sim.state.pose.copy())
    check_boundary(sim)
    sim.close()
    assert np.isfinite(poses).all(), "poses became infinite or NaN"
    return np.array(poses)
