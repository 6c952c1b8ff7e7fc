"""Whole coverages: every strategy covers all that a body can get to, alone, in pairs, and when the partner dies."""

import importlib
from functools import cache

import numpy as np
import pytest
from tests.controllers.conftest import put

import covey
from covey.comms.message import Message
from covey.controllers import controllers
from covey.controllers.coverage.coverage_loop import Sweep, mark_covered
from covey.controllers.teammates import Mate
from covey.geometry import Pose
from covey.mapping.records import Mapping
from covey.missions import Coverage
from covey.runtime.stop import Stop
from covey.scenario.load import parse_scenario
from covey.sensors.lidar import Lidar
from covey.sensors.neighbours import Neighbours

stc = importlib.import_module("covey.controllers.coverage.spanning_tree_coverage")
STRATEGIES = ["boustrophedon", "spanning_tree_coverage", "partitioned_coverage"]
PILLAR = [(-0.3, -0.2), (0.3, -0.2), (0.3, 0.2), (-0.3, 0.2)]


@cache
def cover(name, robots=1, known=True, dies_s=None, places=None):
    world = covey.World.polygons([(-1.8, -1.3), (1.8, -1.3), (1.8, 1.3), (-1.8, 1.3)], obstacles_m=[PILLAR])
    sensors = (Lidar(rays=60, fov_deg=360, range_m=4, rate_hz=5), Neighbours())
    model = covey.robots.disc().model_copy(update={"sensors": sensors, "mapping": Mapping(resolution_m=0.05)})
    starts = places or [(-1.2 + 2.4 * i, 0.0, 0.0) for i in range(robots)]
    group = covey.Group("c", model, starts, controllers.get(name), known_map=known)
    faults = [{"at_s": dies_s, "robot": "c1", "kind": "dies", "vanishes": True}] if dies_s else []
    stop = Stop(covered=0.99, timeout_s=250)
    return covey.Simulation(world, [group], mission=Coverage(), stop=stop, faults=faults, seed=2).run()


@pytest.mark.parametrize("name", STRATEGIES)
def test_one_robot_covers_everything_and_touches_nothing(name):
    run = cover(name)
    assert run.status == "reached", run.metrics["coverage_share"]
    assert run.metrics["collisions_wall"] == 0
    # 9.1 m2 with a body 0.3 m wide: at least 30 m.
    assert 28 < run.metrics["exploration_cost_m"] < 75


@pytest.mark.slow
@pytest.mark.parametrize("name", ["boustrophedon", "spanning_tree_coverage"])
def test_without_the_map_it_is_found_on_the_way(name):
    assert cover(name, known=False).status == "reached"


@pytest.mark.slow
def test_without_the_map_a_tree_goes_on_through_the_cells_of_a_partner_that_died():
    run = cover("spanning_tree_coverage", 2, known=False, dies_s=8)
    assert run.status == "reached"
    assert run.metrics["distance_by_robot_m"]["c1"] < 9


@pytest.mark.slow
def test_four_robots_close_together_without_the_map_share_the_work_of_one():
    # 0.4 m apart, each in the shadow of the others: at first none of them knows enough floor to stand on.
    places = (-1.35, 0.6, 0.0), (-0.95, 0.6, 0.0), (-1.35, 0.2, 0.0), (-0.95, 0.2, 0.0)
    alone = cover("spanning_tree_coverage", known=False, places=places[:1])
    team = cover("spanning_tree_coverage", known=False, places=places)
    assert team.status == "reached"
    assert not (team.events["kind"] == "controller_failed").any()
    assert team.metrics["collisions"] == 0
    # 9.1 m2 in lanes of 0.21 m are 43 m of way: a quarter of it takes 11 s, at up to 1 m/s, and who is done waits.
    assert team.events.filter(team.events["text"] == "what is left")["time_s"].min() > 11
    assert team.metrics["coverage_t90_s"] < 0.8 * alone.metrics["coverage_t90_s"]


@pytest.mark.slow
@pytest.mark.parametrize("name", STRATEGIES)
def test_two_robots_share_the_work_and_one_finishes_it_when_the_other_dies(name):
    alone, both, bereft = cover(name), cover(name, 2), cover(name, 2, dies_s=8)
    assert both.status == bereft.status == "reached"
    assert both.metrics["coverage_t50_s"] < alone.metrics["coverage_t50_s"]
    assert both.metrics["coverage_overlap"] < 0.6
    assert bereft.metrics["distance_by_robot_m"]["c1"] < 9
    assert both.metrics["collisions"] == 0


def test_a_file_that_says_voronoi_coverage_means_partitioned_coverage():
    scenario = parse_scenario(
        "format: 1\nworld: {generate: maze}\nrobots: [{robot: disc, controller: {name: voronoi_coverage, overlap: 0.2}}]"
    )
    assert scenario.robots[0].controller.target is controllers.get("partitioned_coverage")
    assert "voronoi_coverage" not in controllers.names()


class TestSweep:
    @pytest.fixture
    def robot(self, robot_on):
        return robot_on("""
            #########
            #.......#
            #...R...#
            #.......#
            #########
        """)

    def test_what_the_body_cannot_reach_is_not_to_be_covered(self, robot):
        sweep = Sweep(robot)
        assert sweep.standing.sum() == 7 * 3  # cells of 1 m around a body of 0.3 m
        assert sweep.goal.sum() == 7 * 3

    def test_marking_covers_the_cells_whose_centre_lies_under_the_body(self, robot):
        sweep = Sweep(robot)
        sweep.mark(robot)
        assert sweep.left.sum() == 20
        assert not sweep.left[tuple(robot.map.grid.to_cells(robot.pose[:2]))]

    def test_straight_is_what_the_body_fits_along(self, robot):
        sweep = Sweep(robot)
        assert sweep.is_straight((1.5, 1.5), (7.5, 3.5))
        assert not sweep.is_straight((1.5, 1.5), (8.4, 1.5))
        assert sweep.is_straight((1.5, 1.2), (7.5, 1.2))  # 5 cm from the wall
        assert not sweep.is_straight((1.5, 1.1), (7.5, 1.1))  # the body would touch it

    def test_uncovered_cells_belong_to_the_nearest_robot_that_is_heard(self, robot):
        sweep = Sweep(robot)
        assert sweep.mine(robot, sweep.left).sum() == sweep.left.sum()
        sweep.mates.mates["r1"] = Mate(0.0, Pose(7.5, 2.5, 0.0), None, {})
        mine = np.argwhere(sweep.mine(robot, sweep.left))
        assert mine[:, 1].max() == 5  # what lies west of the middle between 4.5 and 7.5 m
        put(robot, time_s=60.0)  # not heard of for a minute
        assert sweep.mine(robot, sweep.left).sum() == sweep.left.sum()

    def test_a_tree_keeps_out_of_the_trees_of_robots_that_are_heard(self, robot, monkeypatch):
        # Large cells are 0.42 m wide: of the room from 1 to 8 m, what begins at 4.67 m belongs to the other robot.
        sweep = Sweep(robot)
        cells, been = stc.LargeCells(sweep, robot, known=False), []

        async def go(robot, x, y):
            been.append((x, y))
            return True

        monkeypatch.setattr(sweep, "go", go)
        others = {cell for cell in cells.all_free() if cell[1] >= 11}
        sweep.mates.mates["r1"] = Mate(0.0, Pose(7.5, 2.5, 0.0), None, {"walks": True})
        forest = stc.Forest(robot, sweep, cells)
        told = [Message("r1", None, "tree", sorted(others), 0, 0.0, 0.0, 1, 0)]
        monkeypatch.setattr(robot, "messages", lambda kind=None: told if kind == "tree" else [], raising=False)

        def walk():
            forest.own = set()
            with pytest.raises(StopIteration):
                forest.go_round(cells.nearest_free(4.0, 2.0, others)).send(None)
            return forest.own

        assert walk() == set(cells.all_free()) - others
        assert max(x for x, _ in been) < 11 * 2 * cells.side
        put(robot, time_s=60.0)  # not heard of for a minute
        told.clear()
        assert walk() == set(cells.all_free())

    def test_what_a_nearer_robot_does_not_come_to_is_covered_all_the_same(self, robot, monkeypatch):
        sweep, gone_to = Sweep(robot), []

        async def sleep(duration_s, until=None):
            put(robot, time_s=robot.time + duration_s)
            for cell in np.argwhere(sweep.left):  # another robot stands on every place that is left, and stays
                x, y = sweep.grid.to_world(cell)
                sweep.mates.mates[f"r{cell[0]}_{cell[1]}"] = Mate(robot.time, Pose(x, y, 0.0), None, {})

        async def go(robot, x, y):
            gone_to.append((x, y))
            put(robot, time_s=robot.time + 1.0)
            return True

        monkeypatch.setattr(robot, "sleep", sleep, raising=False)
        monkeypatch.setattr(sweep, "go", go)
        sweep.done[:] = True
        sweep.done[1, 1] = False
        run = sleep(0.0)
        with pytest.raises(StopIteration):
            run.send(None)
        with pytest.raises(StopIteration):
            sweep.finish(robot).send(None)
        assert len(gone_to) == 1
        assert 4.0 < robot.time < 10.0  # it waited for the other first


def test_cells_are_covered_whose_centre_a_part_of_a_body_stands_on():
    rng = np.random.default_rng(0)
    poses = rng.uniform(-1.0, 6.0, (9, 3))
    discs = np.array([[0.3, 0.1, 0.4], [-0.2, 0.0, 0.25]])
    done, wanted = np.zeros((40, 50), bool), np.zeros((40, 50), bool)
    mark_covered(done, poses, discs, -0.3, 0.2, 0.1)
    y, x = 0.2 + 0.1 * (np.arange(40)[:, None] + 0.5), -0.3 + 0.1 * (np.arange(50) + 0.5)
    for pose in poses:
        for bx, by, radius in discs:
            px, py, _ = Pose(*pose.tolist()) @ Pose(float(bx), float(by), 0.0)
            wanted |= np.hypot(x - px, y - py) <= radius
    np.testing.assert_array_equal(done, wanted)
