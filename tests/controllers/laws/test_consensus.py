"""Consensus, rendezvous and formations against the eigenvalues of their Laplacians."""

import math

import numpy as np
import pytest
from scipy.linalg import expm
from scipy.optimize import minimize

from covey import graphs
from covey.controllers.laws import consensus as law
from covey.controllers.laws import formations as shapes
from covey.controllers.laws import look_ahead

PATH = graphs.fixed([(0, 1), (1, 2), (2, 3), (3, 4)])


def starts(seed, n=5, size=4.0):
    return np.random.default_rng(seed).uniform(-size, size, (n, 2))


def integrated(velocity, position, seconds, dt=1e-3):
    """Euler steps, shape (n, 2)."""
    for _ in range(round(seconds / dt)):
        position = position + dt * velocity(position)
    return position


def test_consensus_decays_by_the_second_eigenvalue():
    position, near, gain = starts(1), PATH(starts(1)), 0.7
    rate = gain * (2 - 2 * math.cos(math.pi / 5))  # lambda_2 of a path of 5
    mode = np.cos(math.pi * (np.arange(5) + 0.5) / 5)  # its eigenvector
    velocity = law.consensus_velocity(mode[:, None] * [1.0, 2.0], near, gain)
    assert velocity == pytest.approx(-rate * mode[:, None] * [1.0, 2.0], abs=1e-12)
    end = integrated(lambda x: law.consensus_velocity(x, near, gain), position, 3.0, dt=1e-4)
    assert end == pytest.approx(expm(-3.0 * gain * graphs.laplacian(near)) @ position, abs=1e-3)


def test_followers_end_in_the_hull_of_standing_leaders_and_lag_behind_moving_ones():
    position, near = starts(2), PATH(starts(2))
    leads = np.array([True, False, False, False, True])
    end = integrated(lambda x: law.followers_velocity(x, near, leads), position, 40.0, dt=0.01)
    share = np.linspace(0, 1, 5)[:, None]  # between two ends of a path they spread evenly
    assert end == pytest.approx((1 - share) * position[0] + share * position[4], abs=1e-3)
    leads[4] = False
    end = integrated(lambda x: law.followers_velocity(x, near, leads, (0.3, 0.0), 2.0), position, 60.0, dt=0.01)
    # L_f of a path behind one leader has the inverse min(i, j), whose rows sum to 4, 7, 9, 10
    lag = 0.3 / 2.0 * np.array([0, 4, 7, 9, 10])
    assert end[0, 0] - end[:, 0] == pytest.approx(lag, abs=1e-3)
    assert end[:, 1] == pytest.approx(position[0, 1], abs=1e-3)


def test_the_smallest_circle_is_that_of_a_general_solver():
    for seed in range(30):
        rng = np.random.default_rng(seed)
        points = rng.uniform(-1.0, 1.0, (rng.integers(1, 8), 2))
        x, y = law.smallest_circle(points, len(points))
        radius = np.hypot(*(points - (x, y)).T).max()

        def worst(c, points=points):
            return np.hypot(*(points - c).T).max()

        best = min(minimize(worst, s, method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-9}).fun for s in points)
        assert radius == pytest.approx(best, abs=1e-5)


def test_rendezvous_keeps_every_edge_and_meets():
    for seed in range(20):
        rng, position = np.random.default_rng(seed), np.zeros((12, 2))
        for i in range(1, 12):  # connected: each one near an earlier one
            angle = rng.uniform(0, 2 * math.pi)
            position[i] = position[rng.integers(i)] + 0.99 * np.array([math.cos(angle), math.sin(angle)])
        for _ in range(400):
            near = graphs.proximity(1.0 + 1e-12)(position)
            moved = law.rendezvous_step(position, near, 1.0, 0.1)
            assert np.hypot(*(moved - position).T).max() <= 0.1 + 1e-12
            assert (np.hypot(*(moved[:, None] - moved[None]).transpose(2, 0, 1))[near] <= 1.0 + 1e-9).all()
            position = moved
        assert np.ptp(position, axis=0).max() < 1e-3


def test_a_consensus_with_the_same_sight_loses_edges_that_rendezvous_keeps():
    # three robots that drag one side, one at the end of its sight on the other
    position = np.array([(0.0, 0.0), (-0.9, 0.0), (-0.9, 0.1), (-0.9, -0.1), (0.95, 0.0)])
    near = graphs.proximity(1.0)(position)
    moved = position + 0.2 * law.consensus_velocity(position, near)
    assert near[0, 4]
    assert math.dist(moved[0], moved[4]) > 1.0
    moved = law.rendezvous_step(position, near, 1.0, 10.0)
    assert math.dist(moved[0], moved[4]) <= 1.0


def test_displacements_take_the_shape_around_the_centroid():
    position, shape = starts(3), shapes.regular_polygon(5, 2.0)
    near = PATH(position)
    end = integrated(lambda x: shapes.displacement_velocity(x, near, shape), position, 40.0, dt=0.01)
    assert end == pytest.approx(position.mean(axis=0) + shape, abs=1e-3)


def test_distances_fall_at_the_rate_of_the_rigidity_matrix():
    shape = np.array([(0.0, 0.0), (2.0, 0.0), (1.0, 1.5)])
    near = graphs.complete()(shape)
    matrix = np.zeros((3, 6))  # by hand: one row for each edge 01, 02, 12
    for row, (i, j) in enumerate(((0, 1), (0, 2), (1, 2))):
        matrix[row, 2 * i : 2 * i + 2], matrix[row, 2 * j : 2 * j + 2] = shape[i] - shape[j], shape[j] - shape[i]
    assert np.array_equal(shapes.rigidity_matrix(shape, near), matrix)
    values, vectors = np.linalg.eigh(matrix @ matrix.T)

    def errors(x):
        return np.array([(x[i] - x[j]) @ (x[i] - x[j]) for i, j in ((0, 1), (0, 2), (1, 2))]) - wanted

    wanted = np.zeros(3)
    wanted = errors(shape)
    for value, vector in zip(values, vectors.T, strict=True):
        moved = shape + 1e-5 * (np.linalg.pinv(matrix) @ vector).reshape(3, 2)
        end = integrated(lambda x: shapes.distance_velocity(x, near, shape, 0.3), moved, 0.5, dt=1e-4)
        rate = -math.log((errors(end) @ vector) / (errors(moved) @ vector)) / 0.5
        assert rate == pytest.approx(2 * 0.3 * value, rel=2e-3)


@pytest.mark.slow
def test_bearings_reach_the_shape_and_keep_centroid_and_scale():
    shape = np.array([(0.0, 0.0), (2.0, 0.0), (2.0, 2.0), (0.0, 2.0)])
    near = graphs.fixed([(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)])(shape)
    position = np.array([(0.3, -0.4), (1.0, 0.2), (3.0, 1.5), (-0.5, 2.5)])
    end = integrated(lambda x: shapes.bearing_velocity(x, near, shape), position, 60.0, dt=2e-3)

    def scale(x):
        return ((x - x.mean(axis=0)) ** 2).sum()

    assert end.mean(axis=0) == pytest.approx(position.mean(axis=0), abs=1e-9)
    assert scale(end) == pytest.approx(scale(position), rel=3e-3)  # of Euler steps; exact in the limit
    square = shape - shape.mean(axis=0)
    assert end - end.mean(axis=0) == pytest.approx(square * math.sqrt(scale(end) / scale(square)), abs=1e-3)


def test_rigid_shapes_are_those_of_laman_and_lines_are_not():
    # Laman 1970: 2 n - 3 edges, no part with more
    square = np.array([(0.0, 0.0), (1.0, 0.1), (1.1, 1.0), (0.0, 1.2)])
    for edges, is_rigid in (
        ([(0, 1), (1, 2), (2, 3), (3, 0)], False),
        ([(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)], True),
        ([(0, 1), (1, 2), (0, 2), (2, 3)], False),
    ):
        near = graphs.fixed(edges)(square)
        assert shapes.rigid(square, near) == is_rigid
        assert shapes.bearing_rigid(square, near) == is_rigid
    line = np.array([(0.0, 0.0), (1.0, 0.0), (2.0, 0.0)])
    assert not shapes.rigid(line, graphs.complete()(line))  # bends without a change of first order


def test_bearings_and_distances_are_rigid_together_in_the_plane():
    # Zhao, Zelazo 2016, theorem 8
    for seed in range(30):
        rng = np.random.default_rng(seed)
        position = rng.uniform(0, 1, (6, 2))
        near = graphs.fixed([tuple(rng.choice(6, 2, replace=False)) for _ in range(10)])(position)
        assert shapes.rigid(position, near) == shapes.bearing_rigid(position, near)


def arc_end(pose, speed, turn, seconds, parts=20000):
    x, y, heading = pose
    for _ in range(parts):
        middle = heading + 0.5 * turn * seconds / parts
        x, y = x + speed * seconds / parts * math.cos(middle), y + speed * seconds / parts * math.sin(middle)
        heading += turn * seconds / parts
    return x, y, heading


@pytest.mark.parametrize("velocity", [(0.3, 0.0), (0.0, 0.5), (-0.4, 0.1), (-0.4, 0.0), (0.2, -0.6), (0.0, 0.0)])
def test_a_unicycle_moves_the_point_ahead_exactly(velocity):
    pose, ahead, period = (1.0, 2.0, 0.7), 0.15, 0.2
    u = np.array([velocity])
    speed, turn = look_ahead.unicycle(u, np.array([0.7]), ahead, period)
    end = np.array([arc_end(pose, speed[0], turn[0], period)])
    way = look_ahead.points_ahead(end, ahead) - look_ahead.points_ahead(np.array([pose]), ahead)
    assert way == pytest.approx(u * period, abs=1e-8)


def test_a_way_too_long_is_shortened_and_keeps_its_direction():
    pose, period = (0.0, 0.0, 0.3), 1.0
    speed, turn = look_ahead.unicycle(np.array([[-3.0, 1.0]]), np.array([0.3]), 0.1, period)
    end = np.array([arc_end(pose, speed[0], turn[0], period)])
    way = (look_ahead.points_ahead(end, 0.1) - look_ahead.points_ahead(np.array([pose]), 0.1))[0]
    assert math.hypot(*way) == pytest.approx(2 * 0.1 * look_ahead.FARTHEST)
    assert math.atan2(way[1], way[0]) == pytest.approx(math.atan2(1.0, -3.0))
