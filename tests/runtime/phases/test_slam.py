"""SLAM in a simulation: poses are estimated, and the maps follow them."""

import numpy as np
import pytest

import covey
from covey.errors import InvalidValueError
from covey.mapping.localization import DeadReckoning, TruePose
from covey.mapping.particle_localizer import Particles
from covey.mapping.slam_localizer import Slam
from covey.sensors import Lidar
from covey.sensors.odometry import GmappingNoise, Odometry
from covey.world.world import WALL

CORNERS = [(8, -5), (8, 5), (-8, 5), (-8, -5)]


def ring(localization, seed=0, rounds=1, **arguments):
    """Let one robot with noisy odometry drive round a block of 12 x 6 m."""
    empty = covey.World.empty(20, 14, resolution_m=0.1).grid
    cells = empty.cells.copy()
    cells[41:101, 41:161] = WALL
    cells[61:71, 161:171] = WALL
    sensors = (Lidar(range_m=8.0, rays=180, sigma_m=0.01), Odometry(noise=GmappingNoise()))
    robot = covey.robots.pioneer3dx().model_copy(update={"sensors": sensors})

    async def tours(robot):
        for x, y in rounds * CORNERS:
            await robot.goto((x, y))

    group = covey.Group("one", robot, [(-8, -5, 0)], localization=localization)
    world = covey.World(empty.with_cells(cells))
    return covey.Simulation(world, [group], tours, seed=seed, stop=covey.Stop(timeout_s=55), **arguments)


def quality_of(sim):
    """Drive; return the largest error of the position, and the share of known cells that are right."""
    worst = 0.0
    while not sim.done:
        sim.step()
        off = sim.localization.pose[0, :2] - sim.state.pose[0, :2]
        worst = max(worst, float(np.hypot(*off)) if sim.clock.step > 1 else 0.0)
    return worst, sim.close().metrics["map_quality"]


@pytest.mark.slow
def test_the_map_is_as_good_as_with_the_truth():
    _, best = quality_of(ring(TruePose()))
    drifted, spoilt = quality_of(ring(DeadReckoning()))
    worst, quality = quality_of(ring(Slam()))
    assert drifted > 0.5
    assert spoilt < best - 0.1
    assert worst < 0.5
    assert quality > best - 0.05


@pytest.mark.slow
def test_the_map_of_particles_follows_the_best_of_them():
    sim = ring(Particles())
    worst, quality = quality_of(sim)
    assert worst < 1.0
    assert quality > 0.95  # with odometry alone: 0.50
    assert sim.localization.revision[0] > 3
    robot, kept = sim.localization.localizers[0][1].robots[0], sim.localization.pasts[0].scans
    off = np.hypot(*(robot.trajectory()[kept.rows] - kept.poses)[:, :2].T)
    at_nodes = np.isin(kept.rows, [call for call, _, _ in robot._nodes])
    assert at_nodes.sum() > 30
    assert off[at_nodes].max() <= 0.5 * sim.localization.belief_of[0].grid.resolution


@pytest.mark.parametrize("localization", [Slam(), Particles(preset="yan2017")])
def test_the_same_seed_gives_the_same_bytes(localization):
    def end():
        sim = ring(localization)
        for _ in range(120):
            sim.step()
        belief = sim.localization.belief_of[0]
        return sim.localization.pose.tobytes(), belief.own.tobytes()

    assert end() == end()


@pytest.mark.parametrize("localization", [Slam(), Particles()])
def test_slam_needs_odometry_and_a_lidar(localization):
    blind = covey.robots.pioneer3dx().model_copy(update={"sensors": (Odometry(),)})
    with pytest.raises(InvalidValueError, match="has no lidar sensor"):
        covey.Group("one", blind, [(0, 0, 0)], localization=localization)


def test_wheels_that_slip_are_told_once():
    sim = ring(Slam(), faults=[{"kind": "wheels_slip", "robot": "all", "at_s": 0.5, "for_s": 9.0, "share": 0.5}])
    for _ in range(120):
        sim.step()
    (event,) = sim.close().events_of("odometry_contradicted")
    assert 0.5 < event["time_s"] < 9.5
    assert event["data"]["share"] == pytest.approx(0.5, abs=0.15)
