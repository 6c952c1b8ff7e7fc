"""Graph SLAM, on the places of a simulated world and on recorded logs."""

import itertools
from pathlib import Path

import numpy as np
import pytest

import covey
from covey.geometry.raycast import cast_fan
from covey.geometry.se2 import compose
from covey.mapping.slam.graph_slam import GraphSettings, GraphSlam
from covey.mapping.slam.log import Laser, load_log, relative
from covey.mapping.slam.loops import Loop, Loops, LoopSettings, ways_from
from covey.world.world import WALL

LOGS = Path(__file__).parents[4] / "shared" / "data" / "slam"
SQUARE = [(-8, -5), (8, -5), (8, 5), (-8, 5)]


def drive(seed=0, rounds=2, step=0.15):
    """Return true poses along a ring road, scans there, and odometry with the noise of gmapping's model."""
    rng = np.random.default_rng(seed)
    cells = covey.World.empty(20, 14, resolution_m=0.1).grid.cells.copy()
    cells[40:100, 40:160] = WALL
    cells[60:70, 160:170] = WALL  # two pillars
    cells[100:104, 60:64] = WALL
    world = covey.World(covey.World.empty(20, 14, resolution_m=0.1).grid.with_cells(cells))
    corners = SQUARE * rounds + SQUARE[:1]
    poses = []
    for a, b in itertools.pairwise(corners):
        heading = np.arctan2(b[1] - a[1], b[0] - a[0])
        if poses:
            turn = (heading - poses[-1][2] + np.pi) % (2 * np.pi) - np.pi
            poses += [(*a, poses[-1][2] + t) for t in np.linspace(0, turn, 8)[1:-1]]
        way = np.subtract(b, a)
        poses += [(*(a + t * way), heading) for t in np.arange(0, 1, step / np.hypot(*way))]
    poses = np.array(poses)
    angles = np.linspace(-np.pi, np.pi, 181)[:-1]
    directions, scans = np.column_stack((np.cos(angles), np.sin(angles))), np.empty((len(poses), len(angles)))
    for (x, y, heading), scan in zip(poses, scans, strict=True):
        cast_fan(world.skip, world.grid.frame, x, y, heading, directions, 8.0, scan)
    scans = np.where(scans < 8.0, scans + 0.01 * rng.standard_normal(scans.shape), np.inf)
    motion = relative(poses[:-1], poses[1:])
    way, turn = np.hypot(motion[:, 0], motion[:, 1]), np.abs(motion[:, 2])
    sigma = np.column_stack((0.1 * way + 0.1 * turn, 0.1 * turn + 0.03 * way, 0.2 * turn + 0.1 * way))
    motion = motion + sigma * rng.standard_normal(motion.shape)
    return Laser(angles, 8.0), poses, np.vstack((np.zeros(3), motion)), scans


def follow(laser, motion, scans, start=(-8.0, -5.0, 0.0), **settings):
    slam = GraphSlam(laser, GraphSettings(**settings), np.array(start))
    online = np.array([slam.add(m, scan) for m, scan in zip(motion, scans, strict=True)])
    slam.settle()
    return slam, online


@pytest.mark.parametrize("seed", range(3))
def test_a_ring_road_is_driven_without_getting_lost(seed):
    laser, truth, motion, scans = drive(seed)
    slam, online = follow(laser, motion, scans)
    odometry = truth[:1]
    for m in motion[1:]:
        odometry = np.vstack((odometry, compose(odometry[-1], m)))
    off = [np.hypot(*(path - truth)[:, :2].T) for path in (odometry, online, slam.trajectory())]
    assert off[0].max() > 1.0  # there is something to do
    assert off[1].max() < 0.3
    assert off[2].max() < 0.4  # along a featureless side of 16 m only the odometry tells: 0.11 m, three times
    assert off[1][400:].mean() < 0.08  # the second round: the loop is closed
    assert any(edge.is_loop for edge in slam.edges)


def test_two_runs_agree_to_the_byte():
    laser, _, motion, scans = drive(rounds=1)
    first, second = (follow(laser, motion, scans)[0].trajectory().tobytes() for _ in range(2))
    assert first == second


def test_a_scan_without_returns_leaves_the_odometry():
    laser, _, motion, scans = drive(rounds=1)
    slam = GraphSlam(laser)
    for m, scan in zip(motion[:30], scans[:30], strict=True):
        slam.add(m, scan)
    before = slam.pose
    blind = slam.add(np.array([0.1, 0.0, 0.02]), np.full(180, np.nan))
    np.testing.assert_allclose(blind, compose(before, np.array([0.1, 0.0, 0.02])), atol=0.01)


@pytest.mark.parametrize("seed", range(5))
def test_ways_in_a_graph_are_the_shortest(seed):
    import networkx as nx

    rng = np.random.default_rng(seed)
    poses = rng.uniform(0, 10, (40, 3))
    first, second = np.arange(38), np.arange(1, 39)  # pose 39 is apart
    more = rng.integers(0, 39, (30, 2))
    first, second = np.append(first, more[:, 0]), np.append(second, more[:, 1])
    graph = nx.Graph()
    for i, j in zip(first.tolist(), second.tolist(), strict=True):
        graph.add_edge(i, j, weight=float(np.hypot(*(poses[i] - poses[j])[:2])))
    expected = nx.single_source_dijkstra_path_length(graph, 7)
    ways = ways_from(7, first, second, poses)
    np.testing.assert_allclose(ways[:39], [expected[k] for k in range(39)])
    assert ways[39] == np.inf


@pytest.fixture
def doubted():
    """Return loops of a robot that came back to key frames 0 to 2 at 60 to 62, where three loops have put it."""
    slam = GraphSlam(Laser(np.zeros(1), 8.0))
    slam.poses = np.column_stack((np.r_[np.arange(30.0), np.arange(29.0, -1.0, -1.0), 0, 1, 2], np.zeros((63, 2))))
    loops = Loops(slam, LoopSettings())
    loops.ways = np.full(63, 60.0)
    found = [loops._agreed(Loop(k, 60 + k, np.zeros(3), np.eye(3), True)) for k in range(3)]
    assert [len(one) for one in found] == [0, 0, 3]
    slam.revision += 1  # they are in the poses
    return loops


def test_loops_at_a_place_that_is_not_seen_again_stay(doubted):
    assert not doubted.withdrawn(62)
    assert len(doubted.doubted) == 3
    assert not doubted.withdrawn(200)
    assert not doubted.doubted
    assert doubted.accepted == [(2, 62), (0, 60), (1, 61)]


def test_loops_that_comparisons_deny_are_taken_back(doubted):
    for n in (60, 61, 62):
        doubted._refuse(n - 60, n)
    doubted._refuse(20, 62)  # 18 m away: this says nothing
    assert doubted.withdrawn(200) == {(0, 60), (1, 61), (2, 62)}
    assert not doubted.accepted


def test_loops_that_newer_ones_contradict_are_taken_back(doubted):
    for k in range(3):
        doubted._agreed(Loop(k, 60 + k, np.array([5.0, 0.0, 0.0]), np.eye(3), True))
    assert doubted.withdrawn(62) == {(0, 60), (1, 61), (2, 62)}


def test_loops_stay_until_as_many_newer_ones_contradict_them(doubted):
    for first, second in ((1, 58), (2, 57)):
        assert doubted._agreed(Loop(first, second, np.zeros(3), np.eye(3), True))
    doubted._slam.revision += 1
    others = [Loop(first, second, np.array([5.0, 0.0, 0.0]), np.eye(3), True) for first, second in doubted.accepted]
    assert [len(doubted._agreed(other)) for other in others] == [0, 0, 0, 0, 5]
    assert doubted.withdrawn(62) == {(0, 60), (1, 61), (2, 62), (1, 58), (2, 57)}


@pytest.mark.skipif(not LOGS.exists(), reason="no recorded logs")
def test_a_part_of_a_recorded_log():
    """Relations within 1500 scans of the Intel lab that were checked by hand, see `benchmarks/slam_logs.py`."""
    log = load_log(LOGS / "intel.npz")
    relations = np.genfromtxt(LOGS / "intel_relations.csv", delimiter=",", names=True)
    slam, _ = follow(
        log.laser, np.vstack((np.zeros(3), relative(log.odometry[:1499], log.odometry[1:1500]))), log.ranges[:1500]
    )
    path = slam.trajectory()
    held = relations[(relations["scan1"] >= 0) & (relations["scan2"] >= 0)]
    held = held[np.maximum(held["scan1"], held["scan2"]) < 1500]
    first, second = held["scan1"].astype(int), held["scan2"].astype(int)
    error = relative(path[first], path[second])[:, :2] - np.column_stack((held["dx"], held["dy"]))
    assert len(held) > 100
    assert np.hypot(*error.T).mean() < 0.04
