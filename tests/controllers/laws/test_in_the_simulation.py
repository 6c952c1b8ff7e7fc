"""The theorems of the laws, in the simulation that everything else uses: small robots far from the walls."""

import importlib
import math
from itertools import pairwise

import numpy as np
import pytest

import covey
from covey import graphs
from covey.comms.radio import Radio
from covey.controllers.laws import formations as shapes
from covey.controllers.laws.consensus import followers_velocity
from covey.controllers.laws.flocking import order_of
from covey.controllers.laws.look_ahead import points_ahead
from covey.onboard.controller import Program
from covey.robots.model import RobotModel

EDGES = [(0, 1), (1, 2), (2, 3), (3, 4)]
SMALL = RobotModel(name="point", kinematics="holonomic", radius_m=1e-4, max_speed_m_s=100.0, max_turn_rad_s=1e4)
WHEELED = SMALL.model_copy(update={"kinematics": "unicycle"})
AHEAD = 0.2


def starts(seed, n=5, size=4.0):
    rng = np.random.default_rng(seed)
    return np.column_stack((rng.uniform(-size, size, (n, 2)), rng.uniform(-math.pi, math.pi, n)))


def points_of(model, poses):
    flat = poses.reshape(-1, 3)
    points = flat[:, :2] if model.kinematics == "holonomic" else points_ahead(flat, AHEAD)
    return points.reshape(*poses.shape[:-1], 2)


def played(name, model, start, seconds, *, world=None, radio=np.inf, step_s=0.1, **parameters):
    """Run a law by its name; the points that it moves, (t + 1, n, 2)."""
    poses = poses_of(name, model, start, seconds, world=world, radio=radio, step_s=step_s, **parameters)
    return points_of(model, poses)


def poses_of(name, model, start, seconds, *, world=None, radio=np.inf, step_s=0.1, **parameters):
    if model.kinematics != "holonomic" and name != "vicsek":
        parameters |= {"look_ahead_m": AHEAD}
    group = covey.Group("r", model, start, Program(name, parameters))
    world = covey.World.empty(60, 60, resolution_m=1.0) if world is None else world
    execution = covey.Execution(step_s=step_s)
    sim = covey.Simulation(world, [group], seed=3, radio=radio, stop=covey.Stop(timeout_s=seconds), execution=execution)
    poses = [sim.state.pose.copy()]
    while not sim.done:
        sim.step()
        assert not sim.deciding.failures
        poses.append(sim.state.pose.copy())
    sim.close()
    return np.array(poses)


@pytest.mark.parametrize("model", [SMALL, WHEELED], ids=lambda m: m.kinematics)
def test_each_step_of_consensus_multiplies_by_the_exact_factor(model):
    start, gain = starts(1, size=1.5), 0.7
    points = played("consensus", model, start, 6.0, graph=graphs.fixed(EDGES), gain=gain)
    values = 2 - 2 * np.cos(math.pi * np.arange(5) / 5)  # of a path of 5
    vectors = np.cos(math.pi * np.outer(np.arange(5) + 0.5, np.arange(5)) / 5)
    modes = np.einsum("im,tix->tmx", vectors, points)
    for m in range(5):
        assert modes[1:, m] == pytest.approx(modes[:-1, m] * (1 - 0.1 * gain * values[m]), abs=1e-9)


def test_consensus_over_the_radio_meets_where_it_hears():
    start = np.column_stack(([-9.0, -8.0, -7.5, 8.0, 9.0], [0.0, 1.0, -1.0, 0.0, 2.0], np.zeros(5)))
    points = played("consensus", SMALL, start, 20.0, radio=Radio(range_m=5.0), graph=graphs.radio(), step_s=0.2)
    assert points[-1, :3] == pytest.approx(np.tile(start[:3, :2].mean(axis=0), (3, 1)), abs=1e-3)
    assert points[-1, 3:] == pytest.approx(np.tile(start[3:, :2].mean(axis=0), (2, 1)), abs=1e-3)


@pytest.mark.parametrize("model", [SMALL, WHEELED], ids=lambda m: m.kinematics)
def test_followers_end_between_standing_leaders(model):
    start = starts(2)
    points = played(
        "follow_leaders", model, start, 60.0, leaders=(0, 4), graph=graphs.fixed(EDGES), gain=2.0, step_s=0.2
    )
    share = np.linspace(0, 1, 5)[:, None]
    assert points[-1] == pytest.approx((1 - share) * points[0, 0] + share * points[0, 4], abs=1e-6)
    still = followers_velocity(points[-1], graphs.fixed(EDGES)(points[-1]), np.array([1, 0, 0, 0, 1], bool))
    assert np.abs(still).max() < 1e-6


@pytest.mark.parametrize("model", [SMALL, WHEELED], ids=lambda m: m.kinematics)
def test_rendezvous_keeps_those_in_sight_and_all_meet(model):
    start = np.column_stack((0.95 * np.arange(8), np.sin(np.arange(8)) * 0.2, starts(5, 8)[:, 2]))
    slow = model.model_copy(update={"max_speed_m_s": 1.0})
    points = played("rendezvous", slow, start, 20.0, range_m=1.0)
    chain = np.hypot(*np.diff(points, axis=1).transpose(2, 0, 1))
    assert points[0, -1, 0] - points[0, 0, 0] > 5.0
    assert (chain[0] <= 1.0).sum() >= 3  # the rest is drawn in or lost
    for near, then in pairwise(points):
        seen = graphs.proximity(1.0)(near)
        apart = np.hypot(*(then[:, None] - then[None]).transpose(2, 0, 1))
        assert (apart[seen] <= 1.0 + 1e-9).all()


@pytest.mark.parametrize("model", [SMALL, WHEELED], ids=lambda m: m.kinematics)
def test_formations_reach_their_shapes(model):
    start = starts(3, 4, 2.0)
    shape = np.array([(0.0, 0.0), (2.0, 0.0), (2.0, 2.0), (0.0, 2.0)])
    square = shape - shape.mean(axis=0)
    points = played("formation_displacement", model, start, 12.0, shape_m=shape.tolist())[-1]
    assert points - points.mean(axis=0) == pytest.approx(square, abs=1e-6)
    points = played("formation_distance", model, start, 15.0, shape_m=shape.tolist(), gain=0.1)[-1]
    distance = np.hypot(*(points[:, None] - points[None]).transpose(2, 0, 1))
    assert distance == pytest.approx(np.hypot(*(shape[:, None] - shape[None]).transpose(2, 0, 1)), abs=1e-5)
    points = played("formation_bearing", model, start, 40.0, shape_m=shape.tolist(), gain=1.0)[-1]
    apart = points - points.mean(axis=0)
    assert apart == pytest.approx(square * math.sqrt((apart**2).sum() / (square**2).sum()), abs=1e-4)


def test_bearings_near_the_shape_fall_at_the_rate_of_the_bearing_laplacian():
    shape = np.array([(0.0, 0.0), (3.0, 0.0), (3.0, 2.0), (0.0, 1.0)])
    near = graphs.complete()(shape)
    laplacian = np.zeros((8, 8))
    for i in range(4):
        for j in range(4):
            if i != j:
                z = shape[j] - shape[i]
                block = (np.eye(2) - np.outer(z, z) / (z @ z)) / math.hypot(*z)
                laplacian[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] += block
                laplacian[2 * i : 2 * i + 2, 2 * j : 2 * j + 2] -= block
    values, vectors = np.linalg.eigh(laplacian)
    assert values[:4] == pytest.approx([0, 0, 0, values[3]], abs=1e-12)
    assert values[3] > 0.1
    assert shapes.bearing_rigid(shape, near)
    moved = shape + 1e-4 * vectors[:, 3].reshape(4, 2)
    start = np.column_stack((moved, np.zeros(4)))
    points = played("formation_bearing", SMALL, start, 1.0, shape_m=shape.tolist(), gain=1.0)
    before, after = (((points[k] - shape).ravel() @ vectors[:, 3]) for k in (0, 1))
    assert after / before == pytest.approx(1 - 0.1 * values[3], abs=1e-4)


@pytest.mark.parametrize("model", [SMALL, WHEELED], ids=lambda m: m.kinematics)
def test_vicsek_of_robots_that_see_all_has_the_order_of_the_closed_form(model):
    poses = poses_of("vicsek", model, starts(4, 20), 60.0, range_m=1e4, speed_m_s=0.1, noise_rad=3.0)
    heading = poses[6:, :, 2]
    if model.kinematics == "holonomic":
        way = np.diff(poses[5:], axis=0)
        heading = np.arctan2(way[..., 1], way[..., 0])
    order = [order_of(np.column_stack((np.cos(h), np.sin(h)))) for h in heading]
    s = math.sin(1.5) / 1.5
    assert np.mean(np.square(order)) == pytest.approx(1 / 20 + 19 / 20 * s * s, abs=0.03)


@pytest.mark.parametrize("name", ["reynolds", "olfati_saber"])
@pytest.mark.parametrize("model", [SMALL, WHEELED], ids=lambda m: m.kinematics)
def test_flocks_agree_and_keep_apart(model, name):
    start = starts(6, 8, 3.0)
    parameters = {"range_m": 20.0} if name == "reynolds" else {}
    points = played(name, model, start, 60.0, **parameters)
    apart = np.hypot(*(points[:, :, None] - points[:, None]).transpose(3, 0, 1, 2))
    apart[:, np.arange(8), np.arange(8)] = np.inf
    assert apart.min() > 0.1
    assert apart[-1].min() > 0.5
    velocity = np.diff(points, axis=0)[-1] / 0.1
    if name == "reynolds":
        assert order_of(velocity) > 0.99
        assert np.hypot(*velocity.T) == pytest.approx(np.full(8, 0.3), abs=0.05)
    else:
        assert np.abs(velocity).max() < 0.02  # around a goal that stands


@pytest.mark.slow
@pytest.mark.parametrize("part", ["graphs", "safety"])
def test_every_number_is_what_theory_says(part):
    rows = list(importlib.import_module(f"laws_{part}").rows(short=True))
    assert len(rows) > 5
    assert not [str(row) for row in rows if not row.holds]
