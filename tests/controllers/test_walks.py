"""Walks without a map: wander touches nothing; the ballistic walk turns after each contact by 50 to 180 degrees."""

import numpy as np
import pytest

import covey
from covey.controllers import Wander, controllers


@pytest.mark.slow
def test_wander_touches_nothing_and_goes_places():
    pillar = [(-0.3, -0.3), (0.3, -0.3), (0.3, 0.3), (-0.3, 0.3)]
    world = covey.World.polygons([(-4, -3), (4, -3), (4, 3), (-4, 3)], obstacles_m=[pillar], resolution_m=0.05)
    starts = [(-3, -2, 0), (3, -2, 2), (-3, 2, -1), (3, 2, 3), (0, -2, 1.5)]
    sim = covey.Simulation(world, [covey.Group("w", covey.robots.disc(), starts, Wander)], seed=4)
    run = sim.run(until_s=120)
    assert run.metrics["collisions"] == 0
    assert run.metrics["collisions_wall"] == 0
    assert (run.series("distance_m")[-1] > 15).all()


def test_the_ballistic_walk_turns_by_50_to_180_degrees_to_either_side():
    group = covey.Group("w", covey.robots.disc(), [(0, 0, 0.3), (1, 1, 2)], controllers.get("random_ballistic_walk"))
    sim = covey.Simulation(covey.World.empty(5, 5), [group], seed=2)
    turns = [[], []]
    turning = [None, None]
    for _ in range(1500):
        before = sim.state.pose[:, 2].copy()
        sim.step()
        for i in range(2):
            turns_now = sim.commands[i, 2] != 0
            if turns_now and turning[i] is None:
                turning[i] = before[i]
            elif not turns_now and turning[i] is not None:
                turns[i].append((before[i] - turning[i] + np.pi) % (2 * np.pi) - np.pi)
                turning[i] = None
    degrees = np.degrees(np.concatenate([np.array(t) for t in turns]))
    assert len(degrees) > 20
    # A turn ends within 0.025 rad; one of nearly 180 degrees may show with the other sign.
    assert (np.abs(degrees) > 50 - 3).all()
    assert (degrees > 0).any()
    assert (degrees < 0).any()
    assert np.abs(degrees).max() - np.abs(degrees).min() > 60
    sim.close()


@pytest.mark.parametrize("name", ["random_ballistic_walk", "wander"])
def test_walks_need_no_map(name):
    model = covey.robots.disc().model_copy(update={"mapping": None})
    sim = covey.Simulation(
        covey.World.empty(4, 4), [covey.Group("w", model, [(0, 0, 0)], controllers.get(name))], seed=3
    )
    sim.run(until_s=20)
    assert sim.state.distance_m[0] > 4.0


def test_still_stands():
    sim = covey.Simulation(covey.World.empty(4, 4), robots=2, controller=controllers.get("still"), seed=3)
    sim.run(until_s=2)
    assert (sim.state.distance_m == 0).all()
    assert not sim.done or sim.status != "failed"
