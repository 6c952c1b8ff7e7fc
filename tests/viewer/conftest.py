"""A recorded run for tests of what shows recordings."""

import numpy as np
import pytest

import covey
from covey.missions.patrolling import Patrolling
from covey.results.snapshot import Snapshot
from covey.viewer.details import details_of


def in_a_maze(controller="nearest_frontier", **options) -> covey.Simulation:
    world = covey.World.maze(size_m=(20, 14), seed=1)
    return covey.Simulation(world, robots=3, controller=controller, seed=3, **options)


@pytest.fixture(scope="session")
def recorded(tmp_path_factory):
    """Return a run of 8 s in which a wall appears, and a copy of what could be seen at each step."""
    seen: dict[int, dict] = {}

    def observe(snapshot: Snapshot) -> None:
        seen[snapshot.step] = {
            "pose": snapshot.pose.copy(),
            "truth": sim.world.grid.cells.copy(),
            "explored": sim.scoring.exploration.cells.first_step >= 0,
            "covered": sim.scoring.coverage.cells.last_step >= 0,
        }

    folder = tmp_path_factory.mktemp("recorded") / "run"
    sim = in_a_maze(
        share_maps=1.0,
        observers=[observe],
        events=[{"wall": {"polygon_m": [[1, 1], [2, 1], [2, 2], [1, 2]]}, "at_s": 4.0}],
        recording=folder,
    )
    run = sim.run(until_s=8.0)
    assert any(not np.array_equal(one["truth"], seen[1]["truth"]) for one in seen.values())
    return run, seen


@pytest.fixture(scope="session")
def detailed(tmp_path_factory):
    """Return a run of 6 s with plans, scans and growing maps, and what a live page would have got at each step."""
    seen: dict[int, dict] = {}

    def observe(snapshot: Snapshot) -> None:
        arrays, _ = details_of(sim, {"paths", "lidar"}, {0, 1, 2})
        maps = {f"map:{sim.names[i]}": belief.occupancy().copy() for i, belief in sim.localization.belief_of.items()}
        seen[snapshot.step] = {**arrays, **maps, "union": sim.scoring.union().cells.copy()}

    sim = in_a_maze(
        share_maps=1.0,
        observers=[observe],
        record={"scans_every_s": 1.0, "maps_every_s": 2.0},
        recording=tmp_path_factory.mktemp("detailed") / "run",
    )
    return sim.run(until_s=6.0), seen


@pytest.fixture(scope="session")
def patrolled(tmp_path_factory):
    """Return a patrol of 20 s with faults, and last visits of the waypoints [s] and flags of the robots at each step."""
    seen: dict[int, tuple] = {}

    def observe(snapshot: Snapshot) -> None:
        state = sim.state
        flags = state.halted + 2 * state.vanished + 4 * ~state.radio_alive
        seen[snapshot.step] = sim.tracker.last_s.copy(), flags

    def fault(kind: str, robot: str, at_s: float, **more) -> dict:
        return {"kind": kind, "robot": robot, "at_s": at_s, **more}

    sim = in_a_maze(
        "conscientious_reactive",
        mission=Patrolling(sight_m=6.0),
        faults=[
            fault("radio_dies", "robot0", 3.0),
            fault("dies", "robot2", 8.0, for_s=4.0),
            fault("dies", "robot1", 9.0),
            fault("dies", "robot0", 18.0, vanishes=True),
        ],
        observers=[observe],
        recording=tmp_path_factory.mktemp("patrolled") / "run",
    )
    run = sim.run(until_s=20.0)
    assert seen[200][0].any()
    return run, seen
