"""Robots that are given the map: it is the true one, the sensors can correct it, and it is not sent around."""

import numpy as np
import pytest

import covey
from covey.errors import InvalidValueError, ScenarioError
from covey.geometry.grid import Grid
from covey.mapping.occupancy.belief import Beliefs
from covey.mapping.occupancy.known import as_plan, check_same_place, occupancy_on


def test_a_map_cell_is_occupied_where_wall_fills_half_of_it():
    solid = np.zeros((4, 6), bool)
    solid[0:2, 0:2] = True  # a whole cell of the map
    solid[0:2, 2] = True  # half of the next
    solid[2, 4] = True  # a quarter of another
    world = Grid(solid, 0.1)
    free = world.with_cells(~solid)
    free.cells[2:4, 0:2] = False  # neither wall nor free: outside
    found = occupancy_on(Grid(np.zeros((2, 3)), 0.2), world, free)
    assert found.tolist() == [[100, 100, 0], [-1, 0, 0]]


def test_robots_that_know_the_map_have_nothing_to_explore():
    walls = [[(0.0, -2.0), (0.0, 0.0)]]
    world = covey.World.polygons([(-4, -2), (4, -2), (4, 2), (-4, 2)], walls_m=walls, resolution_m=0.1)
    starts = [(-2.0, 0.0, 0.0), (2.0, 0.0, 0.0)]
    sim = covey.Simulation(world, [covey.Group("k", covey.robots.disc(), starts, known_map=True)], seed=1)
    for robot in ("k0", "k1"):
        belief = sim.localization.belief_of[int(robot[1])]
        assert belief.known_share(world.free) == 1.0 if belief.occupancy().shape == world.free.shape else True
        at = belief.grid.to_cells(world.grid.to_world(np.argwhere(world.free)))
        assert (belief.occupancy()[at[:, 0], at[:, 1]] == 0).all()
        wall = belief.grid.to_cells([(0.0, -1.0)])
        assert belief.occupancy()[tuple(wall[0])] == 100
    sim.close()


def test_sensors_correct_the_map_and_unchanged_tiles_are_not_sent():
    beliefs = Beliefs(["a", "b"], (6.4, 3.2))
    occupancy = np.zeros(beliefs.grid.shape, np.int8)
    occupancy[:, 20] = 100
    beliefs.know(np.array([0]), occupancy)
    assert (beliefs[0].occupancy() == occupancy).all()
    assert (beliefs[1].occupancy() == -1).all()
    beliefs.publish()
    assert beliefs.merge(1, 0) == 0
    angles, ranges = np.linspace(-0.3, 0.3, 60), np.full(60, 3.0)  # through the wall at 2 m, a return at 3 m
    for step in range(12):
        beliefs.update(np.array([0]), np.array([[0.05, 1.6, 0.0]]), ranges[None], angles, np.zeros(3), 8.0, step)
    assert beliefs[0].occupancy()[16, 20] == 0
    assert beliefs[0].occupancy()[16, 30] == 100
    assert beliefs[0].occupancy()[2, 20] == 100  # not looked at


def test_what_was_seen_anew_is_sent_and_nothing_else():
    beliefs = Beliefs(["a", "b"], (6.4, 3.2))
    beliefs.know(np.array([0]), np.zeros(beliefs.grid.shape, np.int8))
    angles, ranges = np.linspace(-0.3, 0.3, 60), np.full(60, 1.0)  # within the western of the two tiles
    beliefs.update(np.array([0]), np.array([[0.55, 1.6, 0.0]]), ranges[None], angles, np.zeros(3), 8.0, 0)
    beliefs.publish()
    assert beliefs.merge(1, 0) == 1
    assert (beliefs[1].occupancy()[:, 32:] == -1).all()
    assert (beliefs[1].occupancy()[:, :32] != -1).all()


def test_one_hit_or_two_looks_through_it_overrule_an_old_plan():
    beliefs = Beliefs(["a"], (6.4, 3.2))
    occupancy = np.full(beliefs.grid.shape, -1, np.int8)
    occupancy[:, :40], occupancy[:, 20] = 0, 100
    beliefs.know(np.array([0]), as_plan(occupancy))
    assert (beliefs[0].occupancy() == occupancy).all()
    # Log-odds of 0.62 / 0.38 are 0.49, in units of 0.05; a hit adds 0.85 and a miss 0.4.
    assert set(np.unique(beliefs[0].own)) == {-10, 0, 10}
    angles, ranges, poses = np.linspace(-0.3, 0.3, 60), np.full(60, 3.0), [(0.05, 1.6, 0.0), (0.05, 1.6, 0.3)]
    beliefs.update(np.array([0]), np.array(poses[:1]), ranges[None], angles, np.zeros(3), 8.0, 0)
    assert beliefs[0].own[16, 30] == -10 + 17
    assert beliefs[0].own[16, 20] == 10 - 8
    assert beliefs[0].occupancy()[16, 30] == 100
    assert beliefs[0].occupancy()[16, 20] == 100
    beliefs.update(np.array([0]), np.array(poses[1:]), ranges[None], angles, np.zeros(3), 8.0, 1)
    assert beliefs[0].occupancy()[17, 20] == 0


def test_robots_with_the_plan_of_a_damaged_world_learn_what_has_changed():
    walls = [[(0.0, -2.0), (0.0, 0.0)]]
    plan = covey.World.polygons([(-4, -2), (4, -2), (4, 2), (-4, 2)], walls_m=walls, resolution_m=0.1)
    cells = plan.grid.cells.copy()
    (r0, c0), (r1, c1) = plan.grid.to_cells([(-0.2, -1.5), (0.2, -0.5)])
    cells[r0:r1, c0:c1] = 0
    world = plan.with_cells(cells).replace(plan=plan)
    group = covey.Group("k", covey.robots.disc(), [(-2.0, -1.0, 0.0)], known_map="plan")
    sim = covey.Simulation(world, [group], controller=circling, seed=1)
    belief, gone = sim.localization.belief_of[0], tuple(sim.localization.belief_of[0].grid.to_cells([0.0, -1.0]))
    assert belief.occupancy()[gone] == 100
    for _ in range(40):
        sim.step()
    assert belief.occupancy()[gone] == 0
    sim.close()


def circling(robot):
    robot.drive(0.1, 1.0)


def test_a_plan_of_another_place_is_refused(tmp_path):
    covey.World.empty(6, 5).save(tmp_path / "old.yaml")
    text = "world: {empty_m: [10, 5]}\nrobots: [{known_map: old.yaml}]"
    (tmp_path / "s.yaml").write_text(text)
    with pytest.raises(ScenarioError, match=r"known_map: the plan old.yaml covers x, y of -3.* but the world -5"):
        covey.load_scenario(tmp_path / "s.yaml").build()
    (tmp_path / "s.yaml").write_text(text.replace("10, 5", "6, 5"))
    covey.load_scenario(tmp_path / "s.yaml").build().close()
    (tmp_path / "s.yaml").write_text(text.replace("old.yaml", "new.yaml"))
    with pytest.raises(ScenarioError, match=r"known_map: .*new.yaml"):
        covey.load_scenario(tmp_path / "s.yaml").build()


@pytest.mark.parametrize(
    ("more_m", "is_refused"), [(0.0, False), (0.1, False), (0.2, True), (-0.1, False), (-0.2, True)]
)
def test_a_plan_has_the_box_of_the_world_up_to_one_cell_on_each_side(more_m, is_refused):
    world = covey.World.empty(6, 5)  # cells of 0.05 m
    plan = covey.World.empty(6 + more_m, 5 + more_m)
    if not is_refused:
        return check_same_place(plan.grid, world.grid, "old.yaml")
    with pytest.raises(InvalidValueError, match="give a plan of the same box, up to one cell on each side"):
        check_same_place(plan.grid, world.grid, "old.yaml")
