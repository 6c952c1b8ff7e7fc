"""The coverage mission: what can be covered, and what counts as covered."""

import numpy as np
import pytest

import covey
from covey.missions import Coverage
from covey.runtime.stop import Stop
from covey.world.visibility.coverable import coverable, within


def test_coverable_is_what_a_disc_can_pass_over():
    slit = [[(0.5, -1.0), (0.5, -0.1)], [(0.5, 0.1), (0.5, 1.0)]]
    world = covey.World.polygons([(-1.5, -1), (1.5, -1), (1.5, 1), (-1.5, 1)], walls_m=slit, resolution_m=0.1)
    radius, start = 0.25, np.array([[-0.8, 0.0, 0.0]])
    cells = coverable(world, start, radius)
    # By hand: cell centres where the disc fits, left of the slit, which it does not fit through; and all around them.
    centres = world.grid.to_world(np.argwhere(np.ones(world.grid.shape, bool)))
    walls = world.grid.to_world(np.argwhere(world.solid))
    beside = np.maximum(np.abs(centres[:, None] - walls[None]) - 0.05, 0.0)
    stands = centres[(np.hypot(*beside.transpose(2, 0, 1)).min(axis=1) >= radius - 1e-6) & (centres[:, 0] < 0.5)]
    away = np.hypot(*(centres[:, None] - stands[None]).transpose(2, 0, 1)).min(axis=1)
    expected = (away <= radius + 1e-9).reshape(world.grid.shape) & world.free
    np.testing.assert_array_equal(cells, expected)
    assert not cells[tuple(world.grid.to_cells((1.2, 0.0)))]  # beyond the slit
    assert not cells[tuple(world.grid.to_cells((-1.45, -0.95)))]  # in the corner


async def _rows(robot):
    for y in (-0.6, -0.3, 0.0, 0.3, 0.6):
        await robot.goto((-0.7, y))
        await robot.goto((0.7, y))


def test_covering_can_be_the_goal_and_is_told_in_the_manifest():
    group = covey.Group("c", covey.robots.disc(), [(0.0, 0.0, 0.0)], _rows)
    world = covey.World.empty(2, 2, resolution_m=0.1)
    sim = covey.Simulation(world, [group], mission=Coverage(), stop=Stop(covered=0.5, timeout_s=200), seed=1)
    run = sim.run()
    assert run.status == "reached"
    assert run.goal["covered_share"] == 0.5
    assert run.mission == {"kind": "coverage"}
    assert 0.5 <= run.metrics["coverage_share"] < 0.6
    assert run.metrics["coverage_t50_s"] == run.times[-1]
    assert run.metrics["coverage_t90_s"] is None
    assert run.metrics["coverage_overlap"] == 0.0


def test_overlap_counts_places_that_two_bodies_were_on():
    async def east(robot):
        await robot.drive(1.0, for_s=1.0)

    starts = [(-1.5, 0.0, 0.0), (1.5, 0.0, np.pi)]  # the ways of the two, 1 m each, do not meet
    world = covey.World.empty(4, 2, resolution_m=0.1)
    run = covey.Simulation(world, [covey.Group("c", covey.robots.disc(), starts, east)], seed=1).run(until_s=2)
    assert run.metrics["coverage_overlap"] == run.metrics["covered_by_several_share"] == 0.0
    assert run.metrics["seen_by_several_share"] > 0.9  # both see the whole room
    by = run.maps.covered_by
    assert by.max() == 1
    assert by.sum() == round(run.metrics["coverage_share"] * run.maps.coverable.sum())
    run.maps.covered_by[by > 0] += run.maps.truth.to_world(np.argwhere(by > 0))[:, 0] < 0  # half of it twice
    share = np.mean(run.maps.covered_by[by > 0] == 2)
    assert covey.results.metrics.coverage.coverage_overlap(run) == pytest.approx(share)


def test_what_lies_within_a_radius_is_what_a_distance_transform_says():
    from scipy import ndimage

    random = np.random.default_rng(3)
    for radius in (0.0, 0.9, 1.0, 2.5, 5.0, 7.3, 40.0):
        for shape in ((30, 17), (5, 60)):
            mask = random.random(shape) < 0.01
            mask[0, 0] = True
            away = ndimage.distance_transform_edt(~mask)
            np.testing.assert_array_equal(within(mask, radius), away <= radius)


def test_a_robot_that_can_neither_turn_nor_drive_covers_where_it_stands():
    model = covey.robots.disc().model_copy(update={"max_speed_m_s": 0.0, "max_turn_rad_s": 0.0})
    world = covey.World.empty(6, 6, resolution_m=0.01)
    run = covey.Simulation(world, [covey.Group("post", model, [(1.0, 0.0, 0.0)])], mission=Coverage()).run(until_s=1)
    # By hand: its disc of 0.15 m, of what it could cover if it drove: the room of 36 m2 but for its corners.
    free_m2 = 36 - 4 * (1 - np.pi / 4) * 0.15**2
    assert run.metrics["coverage_share"] == pytest.approx(np.pi * 0.15**2 / free_m2, rel=0.02)
