"""Checks of missions."""

import pickle
from collections.abc import Sequence
from contextlib import closing
from typing import Any

import numpy as np

from covey.missions import Exploration, Mission
from covey.onboard.controller import Program
from covey.runtime.simulation import Simulation
from covey.runtime.stop import Stop
from covey.world.world import World


def check_mission(
    mission: Mission,
    *,
    world: World | None = None,
    seconds: float = 3.0,
    robots: int = 3,
    targets: Sequence[Any] = (),
) -> None:
    """Check a mission: pickles, gives the announced measurements, is repeatable, accepts orders, changes nothing.

    Args:
        mission: the record, with parameters that suit the world.
        world: the world for the check; None: an empty room of 8 x 8 m around the origin.
        seconds: duration of the check [s].
        robots: number of robots that drive around.
        targets: what the world holds to be found, as in `Simulation`.
    """
    name, world = type(mission).__name__, world or World.empty(8, 8, resolution_m=0.1)
    try:
        again = pickle.loads(pickle.dumps(mission))
    except Exception as error:
        raise AssertionError(f"{name} does not pickle ({error}); define it at the top level of a module") from error
    assert again == mission, f"{name} differs after pickling; derive it from Mission, with fields only"
    first, second = (_run(m, world, seconds, robots, targets) for m in (mission, again))
    assert first[0] == second[0], f"{name} measures other values under the same seed; compute them from the truth alone"
    still = _run(Exploration(), world, seconds, robots, targets)
    steps = min(len(first[1]), len(still[1]))
    assert np.array_equal(first[1][:steps], still[1][:steps]), (
        f"{name} changes what the robots do; a mission looks at the truth: copy arrays before you write into them"
    )


def _run(
    mission: Mission, world: World, seconds: float, robots: int, targets: Sequence[Any]
) -> tuple[list[str], np.ndarray]:
    """Return the measurements of a mission in each step, as text, and the poses."""
    drive = Program("wander")
    name, measured, poses = type(mission).__name__, [], []
    try:
        stop = Stop(timeout_s=seconds)
        sim = Simulation(world, robots, drive, seed=11, mission=mission, targets=targets, stop=stop)
    except (TypeError, ValueError) as error:
        if "JSON" not in str(error):
            raise
        raise AssertionError(f"{name} has facts that the manifest cannot hold: {error}; give plain data") from error
    tracker = sim.tracker
    with closing(sim):
        while not sim.done:
            if len(poses) == round(seconds / sim.clock.step_s / 2):
                left, right, bottom, top = world.grid.extent
                sim.order(((left + right) / 2, (bottom + top) / 2), "rank")
            sim.step()
            poses.append(sim.state.pose.copy())
            values = tracker.values
            announced = {*tracker.columns, *tracker.robot_columns}
            assert announced == values.keys(), (
                f"{name} announces columns {sorted(announced)} and gives {sorted(values)}"
            )
            for column in announced:
                shape = (robots,) if column in tracker.robot_columns else ()
                assert np.shape(values[column]) == shape, (
                    f"{name}: {column} has shape {np.shape(values[column])}, not {shape}"
                )
            measured.append(repr({c: np.asarray(values[c], float).tolist() for c in sorted(announced)}))
    return measured, np.array(poses)
