"""Which waypoint each patrolling strategy goes to, by hand, and whole patrols with and without a partner's death."""

import asyncio
import importlib
from types import SimpleNamespace

import numpy as np
import pytest

import covey
from covey.controllers import controllers
from covey.controllers.patrolling.meeting_patrol import in_time
from covey.mapping.records import Mapping
from covey.missions import Patrolling
from covey.planning.waypoints import Waypoints
from covey.sensors.lidar import Lidar
from covey.sensors.neighbours import Neighbours

cr, er, hcr, min_max = (
    importlib.import_module(f"covey.controllers.patrolling.{name}")
    for name in (
        "conscientious_reactive",
        "expected_idleness",
        "heuristic_conscientious_reactive",
        "min_max_reactive",
    )
)

RANDOM = np.random.default_rng(0)
# A robot stands at waypoint 0; its neighbours 1, 2, 3 lie 4, 10 and 20 m away and were visited 30, 80 and 90 s ago.
NEIGHBOURS, WAY, NOW = np.array([1, 2, 3]), np.array([0.0, 4.0, 10.0, 20.0]), 100.0
LAST = np.array([100.0, 70.0, 20.0, 10.0])


def test_conscientious_goes_where_it_was_longest_ago_not_to_the_nearest():
    assert cr.choose(0, NEIGHBOURS, LAST) == 3
    assert cr.choose(0, NEIGHBOURS, np.zeros(4)) == 1  # ties: the first
    assert cr.choose(7, np.empty(0, np.int64), LAST) == 7


def test_heuristic_divides_idleness_and_way_by_the_largest():
    # Idleness 30, 80, 90 of 90 and nearness 16, 10, 0 of 20: sums 1.13, 1.39, 1.
    np.testing.assert_allclose(hcr.worth(NOW - LAST[1:], WAY[1:]), [1 / 3 + 0.8, 8 / 9 + 0.5, 1.0])
    assert hcr.choose(0, NEIGHBOURS, NOW - LAST, WAY, RANDOM) == 2


def test_heuristic_takes_the_near_neighbour_that_is_a_little_fresher_and_the_far_one_that_is_much_older():
    # Two neighbours, 2 and 10 m away. Idle for 90 and 100 s: 0.9 + 0.8 against 1 + 0. For 10 and 100 s: 0.9 against 1.
    way, two = np.array([0.0, 2.0, 10.0]), np.array([1, 2])
    idle = np.array([[0.0, 90.0, 100.0], [0.0, 10.0, 100.0]])
    assert {hcr.choose(0, two, idle[0], way, RANDOM) for _ in range(40)} == {1}
    assert {hcr.choose(0, two, idle[1], way, RANDOM) for _ in range(40)} == {2}


def test_min_max_heuristic_of_maeps_draws_lots_between_two_neighbours():
    # Freshness 1, 1/6, 0 and ways 0, 6/16, 1: sums 1, 0.54, 1.
    np.testing.assert_allclose(min_max.costs(LAST[1:], WAY[1:]), [1.0, 1 / 6 + 6 / 16, 1.0])
    assert min_max.choose(0, NEIGHBOURS, LAST, WAY, RANDOM) == 2
    assert {min_max.choose(0, NEIGHBOURS[[0, 2]], LAST, WAY, RANDOM) for _ in range(40)} == {1, 3}


def test_expected_idleness_earns_most_per_second_and_believes_announcements():
    travel = WAY / 2.0
    # (30 + 2) / 2 = 16, (80 + 5) / 5 = 17, (90 + 10) / 10 = 10 seconds of idleness per second of way.
    assert er.choose(0, NEIGHBOURS, LAST, travel, NOW) == 2
    announced = np.maximum(LAST, [0.0, 0.0, 104.0, 0.0])  # somebody will be at 2 in four seconds
    assert er.choose(0, NEIGHBOURS, announced, travel, NOW) == 1


def test_a_robot_that_came_early_knows_when_it_was_there(monkeypatch):
    # A near waypoint 4 m to one side and a far one 10 m to the other; a metre is reckoned at 1.5 s and takes 1 s.
    # From the middle it goes to the near one first, for 0 to 6 s: (0 + 6) / 6 = (0 + 15) / 15. It is there at 4 s, and
    # back at 8 s: (4 + 6) / 6 = 1.67 against (8 + 15) / 15 = 1.53. Were its visit at 6 s, 8 / 6 = 1.33 would be less.
    way = np.array([[0.0, 4.0, 14.0], [4.0, 0.0, 10.0], [14.0, 10.0, 0.0]])
    graph = Waypoints(np.zeros((3, 2)), way, np.array([[0, 1], [1, 2]]))
    robot = SimpleNamespace(waypoints=graph, model=SimpleNamespace(max_speed_m_s=1.0), time=0.0, messages=lambda _: [])
    robot.send = lambda payload, kind: None
    targets = []

    async def go_round(robot, choose, arrived):
        last = np.zeros(3)
        for robot.time, at in ((0.0, 1), (4.0, 0), (8.0, 1)):
            last[at] = robot.time
            arrived(at)
            targets.append(choose(at, last))

    monkeypatch.setattr(er, "patrol", go_round)
    asyncio.run(er.expected_idleness(robot))
    assert targets == [0, 1, 0]


def test_a_meeting_is_left_for_in_time():
    travel = np.full((4, 4), 20.0)
    assert in_time(travel, 0, 3, 1, 59.0, 100.0)
    assert not in_time(travel, 0, 3, 1, 60.0, 100.0)


# A ring of six waypoints around a block of 4 x 2 m.
RING = ((-3.0, -2.0), (0.0, -2.0), (3.0, -2.0), (3.0, 2.0), (0.0, 2.0), (-3.0, 2.0))
EDGES = tuple((i, (i + 1) % 6) for i in range(6))
PATROLS = [
    "conscientious_reactive",
    "heuristic_conscientious_reactive",
    "min_max_reactive",
    "expected_idleness",
    "cyclic_patrol",
    "partitioned_patrol",
    "meeting_patrol",
]


def patrol(name, robots, until_s, dies_s=None, **parameters):
    block = [(-2, -1), (2, -1), (2, 1), (-2, 1)]
    world = covey.World.polygons([(-4, -3), (4, -3), (4, 3), (-4, 3)], obstacles_m=[block], resolution_m=0.1)
    disc = covey.robots.disc()
    sensors = (Lidar(rays=24, fov_deg=360, range_m=4, rate_hz=2), Neighbours())
    model = disc.model_copy(update={"sensors": sensors, "mapping": Mapping(resolution_m=0.2)})
    starts = [(-3.0 + 2 * i, -2.5, 0.0) for i in range(robots)]
    group = covey.Group("g", model, starts, covey.Program(controllers.get(name), parameters), known_map=True)
    mission = Patrolling(waypoints_m=RING, edges=EDGES)
    faults = [{"at_s": dies_s, "robot": "g1", "kind": "dies", "vanishes": True}] if dies_s else []
    sim = covey.Simulation(world, [group], mission=mission, faults=faults, seed=3)
    return sim, sim.run(until_s=until_s)


@pytest.mark.parametrize("name", PATROLS)
def test_every_patrol_comes_round_alone_and_in_pairs(name):
    for robots in (1, 2):
        _, run = patrol(name, robots, 60)
        assert run.metrics["completed_cycles"] >= 1, (name, robots)
        assert run.metrics["collisions_wall"] == 0
        assert run.metrics["collisions"] == 0
        # All the way round is 20 m: alone at up to 1 m/s nobody can keep the mean idleness below about 8 s.
        assert 3 < run.metrics["settled_graph_idleness_s"] < 60


def test_the_nearest_neighbour_tour_is_a_tour_too():
    _, run = patrol("cyclic_patrol", 1, 60, tour="nearest")
    assert run.metrics["completed_cycles"] >= 2
    sim, _ = patrol("cyclic_patrol", 1, 1, tour="shortest")
    assert "use christofides or nearest" in sim.deciding.failures[0].text or sim.deciding.failed


@pytest.mark.slow
@pytest.mark.parametrize("name", ["expected_idleness", "cyclic_patrol", "meeting_patrol"])
def test_the_waypoints_of_a_partner_that_dies_are_still_visited(name):
    lasts = 340 if name == "meeting_patrol" else 200
    _, run = patrol(name, 2, lasts, dies_s=30)
    late = run.events.filter((run.events["kind"] == "mission") & (run.events["time_s"] > lasts - 100))
    assert set(late["robot"]) == {"g0"}
    assert set(late["text"]) == {f"visits waypoint {k}" for k in range(6)}


def test_the_part_of_a_partner_that_dies_is_left_alone_without_meetings():
    _, run = patrol("partitioned_patrol", 2, 150, dies_s=30)
    late = run.events.filter((run.events["kind"] == "mission") & (run.events["time_s"] > 60))
    assert len(set(late["text"])) == 3
    assert run.metrics["worst_graph_idleness_s"] > 110
