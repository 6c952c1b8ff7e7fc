"""Whole explorations by teams: with a short radio and a partner that dies, without any radio, and all in one network."""

import numpy as np
import pytest

import covey
from covey.controllers import controllers
from covey.controllers.exploration.connected import reached
from covey.runtime.stop import Stop

STRATEGIES = [
    "connected",
    "cost_utility",
    "greedy_assignment",
    "hungarian_assignment",
    "iterative_assignment",
    "leader",
    "market",
    "minpos",
    "next_best_view",
    "rrt_frontier",
]
# Three rooms of 4 x 6 m in a row, with doors of 2 m between them.
DOORS = [[(x, a), (x, b)] for x, gap in ((-2.0, -1.6), (2.0, 1.6)) for a, b in ((-3.0, gap - 1.0), (gap + 1.0, 3.0))]
STARTS = [(-0.8, 0.0, 0.0), (0.0, 0.0, 1.5), (0.8, 0.0, 3.0)]


def team(name, *, robots=3, stop=None, east=6.0, **options):
    walls = [wall for wall in DOORS if wall[0][0] < east]
    world = covey.World.polygons([(-6, -3), (east, -3), (east, 3), (-6, 3)], walls_m=walls, resolution_m=0.1)
    program = covey.Program(controllers.get(name), options.pop("parameters", {}))
    group = covey.Group("scout", covey.robots.disc(), STARTS[:robots], program)
    return covey.Simulation(world, [group], seed=1, share_maps=1.0, stop=stop, **options)


@pytest.mark.parametrize("name", STRATEGIES)
def test_the_rest_of_the_team_explores_all_when_a_partner_dies(name):
    sim = team(name, radio=5.0, stop=Stop(explored=0.99, timeout_s=200))
    while not sim.done:
        sim.step()
        if sim.time > 1.0:
            sim.state.halted[0] = True  # the first name: the leader, and the first to choose
    run = sim.close()
    assert sim.status == "reached"
    assert run.metrics["collisions_wall"] == 0
    assert (run.series("distance_m")[-1] > 1.0).sum() >= 2


@pytest.mark.slow
@pytest.mark.parametrize("name", STRATEGIES)
def test_a_robot_that_hears_nobody_explores_alone_and_then_says_it_is_done(name):
    sim = team(name, robots=2, radio=1e-3, stop=Stop(timeout_s=400), east=1.9)
    run = sim.run()
    assert sim.status == "reached"  # without a share to reach: everybody is done
    assert run.metrics["explored_share"] > 0.99
    assert (run.series("known_share")[-1] > 0.98).all()


def test_connected_robots_never_lose_one_another():
    sim = team("connected", radio=6.0, stop=Stop(timeout_s=40), parameters={"range_m": 6.0})
    while not sim.done:
        sim.step()
        here, *others = sim.state.pose[:, :2]
        assert reached(here, np.array(others), 6.0).all()
    assert sim.close().metrics["explored_share"] > 0.6


def test_robots_drive_where_the_leader_sends_them():
    sim = team("leader", robots=2)
    asked, told = [], []
    for box in sim.communication.mailboxes:
        put = box.put

        def note(message, put=put):
            (asked if message.kind == "request" else told if message.kind == "target" else []).append(message)
            put(message)

        box.put = note
    sim.run(until_s=15.0)
    assert {m.sender for m in asked} == {"scout1"}
    assert {m.sender for m in told} == {"scout0"}
    first = next(m for m in told if m.payload is not None)
    assert np.hypot(*np.subtract(first.payload, asked[told.index(first)].payload)) >= 1.0
    assert any("frontier at ({:.1f}, {:.1f})".format(*m.payload) == sim.robot("scout1").text for m in told if m.payload)


@pytest.mark.slow
def test_a_robot_that_is_led_turns_round_at_first_and_keeps_a_target_until_it_is_there():
    sim = team("leader", robots=2)
    turned, heading, left_m, goal = 0.0, sim.state.pose[1, 2], [], ""
    while not sim.done and sim.time < 60.0:
        text = sim.robot("scout1").text
        if text != goal:
            if not goal:
                assert turned > 6.0  # a whole turn
                assert abs(sim.state.pose[1, 1] - 2.5) < 0.2  # after 2.5 m to the north
            else:
                place = [float(v) for v in goal.removeprefix("frontier at (").removesuffix(")").split(", ")]
                left_m.append(float(np.hypot(*(sim.state.pose[1, :2] - place))))
            goal = text
        sim.step()
        turned += abs(np.arctan2(np.sin(sim.state.pose[1, 2] - heading), np.cos(sim.state.pose[1, 2] - heading)))
        heading = sim.state.pose[1, 2]
    assert len(left_m) >= 2
    assert max(left_m) < 0.45  # within 0.3 m, and the text is rounded to 0.1
