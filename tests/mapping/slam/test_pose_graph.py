"""Pose graphs: against cases worked by hand, dense algebra, and published optima."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import least_squares

from covey.errors import InvalidValueError
from covey.geometry.se2 import compose, inverse, wrap_angle
from covey.mapping.slam.pose_graph import PoseGraph, along_relations, covariances, optimise


def circuit(n=40, noise=0.05, seed=0, loops=12):
    """Return a graph of a walk with loops, its relations noisy, and the true poses."""
    rng = np.random.default_rng(seed)
    steps = np.column_stack((rng.uniform(0.5, 1.5, n), rng.normal(0, 0.2, n), rng.normal(0.3, 0.4, n)))
    truth = np.zeros((n, 3))
    for k in range(1, n):
        truth[k] = compose(truth[k - 1], steps[k])
    pairs = [(k - 1, k) for k in range(1, n)] + [tuple(rng.choice(n, 2, replace=False)) for _ in range(loops)]
    first, second = np.array(pairs).T
    exact = compose(inverse(truth[first]), truth[second])
    half = rng.normal(size=(len(first), 3, 3))
    information = half @ half.transpose(0, 2, 1) + 0.5 * np.eye(3)
    motion = exact + noise * rng.normal(size=exact.shape)
    return PoseGraph(along_relations(n, first, second, motion), first, second, motion, information), truth


def errors(graph, poses):
    """Reference: errors (m, 3) in NumPy."""
    error = compose(inverse(poses[graph.first]), poses[graph.second]) - graph.motion
    return np.column_stack((error[:, :2], wrap_angle(error[:, 2])))


def whitened(graph, free):
    """Reference: the errors whose squares sum up to the cost, as a function of the free poses."""
    roots = np.linalg.cholesky(graph.information)

    def function(x):
        poses = graph.poses.copy()
        poses[free] = x.reshape(-1, 3)
        return np.einsum("kji,kj->ki", roots, errors(graph, poses)).ravel()

    return function


@pytest.mark.parametrize("fixed", [(0,), (7,), (0, 20, 39)])
def test_the_optimum_is_that_of_dense_least_squares(fixed):
    graph, truth = circuit()
    graph = replace(graph, poses=truth)
    free = np.setdiff1d(np.arange(len(truth)), fixed)
    reference = least_squares(whitened(graph, free), graph.poses[free].ravel(), xtol=1e-12, ftol=1e-12, gtol=1e-12)
    for start in ("linear", "given"):
        found = optimise(graph, fixed, start=start, tolerance=1e-12)
        assert found.converged
        assert found.cost == pytest.approx(2.0 * reference.cost, rel=1e-9)
        difference = found.poses[free] - reference.x.reshape(-1, 3)
        np.testing.assert_allclose(np.column_stack((difference[:, :2], wrap_angle(difference[:, 2]))), 0.0, atol=1e-5)
        np.testing.assert_array_equal(found.poses[list(fixed)], truth[list(fixed)])
        e = errors(graph, found.poses)
        np.testing.assert_allclose(
            found.chi2, np.einsum("ki,kij,kj->k", e, graph.information, e), rtol=1e-9, atol=1e-15
        )


def test_two_measurements_of_one_motion_are_averaged_by_their_information():
    """Weights 1 and 3 on x = 1 and x = 2: the optimum is 1.75, its cost 1 * 0.75² + 3 * 0.25²."""
    information = np.array([np.eye(3), 3 * np.eye(3)])
    graph = PoseGraph(np.zeros((2, 3)), [0, 0], [1, 1], [[1, 0, 0], [2, 0, 0]], information)
    found = optimise(graph)
    np.testing.assert_allclose(found.poses[1], [1.75, 0, 0], atol=1e-12)
    assert found.cost == pytest.approx(0.75)
    np.testing.assert_allclose(found.chi2, [0.5625, 0.1875])
    np.testing.assert_allclose(covariances(graph, found.poses, [1])[0], np.eye(3) / 4)


def test_relations_without_noise_give_the_true_poses_whatever_the_guess():
    graph, truth = circuit(noise=0.0)
    lost = replace(graph, poses=np.vstack((truth[:1], np.random.default_rng(1).normal(0, 30, (39, 3)))))
    found = optimise(lost)
    np.testing.assert_allclose(found.poses, truth, atol=1e-6)
    assert found.converged
    assert found.cost < 1e-9


def test_the_optimum_moves_with_the_fixed_pose():
    graph, _ = circuit()
    here = optimise(graph, tolerance=1e-12)
    away = np.array([100.0, -50.0, 3.0])
    there = optimise(replace(graph, poses=compose(away, graph.poses)), tolerance=1e-12)
    assert there.cost == pytest.approx(here.cost, rel=1e-9)
    np.testing.assert_allclose(there.poses[:, :2], compose(away, here.poses)[:, :2], atol=1e-6)


def test_slices_of_one_iteration_end_where_one_call_does():
    graph, _ = circuit(noise=0.3)
    whole = optimise(graph, start="given", robust=1.0, tolerance=1e-9)
    part = optimise(graph, start="given", robust=1.0, tolerance=1e-9, iterations=1)
    for _ in range(whole.iterations - 1):
        assert part.iterations == 1
        part = optimise(graph, start=part, robust=1.0, tolerance=1e-9, iterations=1)
    assert part.converged
    np.testing.assert_array_equal(part.poses, whole.poses)


def test_covariances_are_blocks_of_the_dense_inverse():
    graph, _ = circuit()
    found = optimise(graph)
    weights = np.random.default_rng(2).uniform(0.2, 1.0, len(graph.first))
    weighed = replace(graph, poses=found.poses, information=weights[:, None, None] * graph.information)
    free = np.arange(1, len(found.poses))
    function, x = whitened(weighed, free), found.poses[free].ravel()
    jacobian = np.column_stack(
        [(function(x + 1e-6 * unit) - function(x - 1e-6 * unit)) / 2e-6 for unit in np.eye(len(x))]
    )
    dense = np.linalg.inv(jacobian.T @ jacobian)
    of = [0, 1, 17, 39]
    ours = covariances(graph, found.poses, of, weights=weights)
    np.testing.assert_array_equal(ours[0], 0.0)
    for k, row in enumerate(of[1:], 1):
        np.testing.assert_allclose(ours[k], dense[3 * row - 3 : 3 * row, 3 * row - 3 : 3 * row], rtol=1e-5)


def test_the_covariance_of_a_chain_is_that_of_its_sum():
    """Along a straight line of n steps the variances of x add up, and each turn swings all that follows:
    var(y_n) = n σ_y² + σ_θ² Σ_{k<n} (n - k)² with steps of 1 m."""
    n, sx, sy, st = 10, 0.1, 0.02, 0.05
    line = np.column_stack((np.arange(n + 1.0), np.zeros((n + 1, 2))))
    information = np.tile(np.diag([sx**-2, sy**-2, st**-2]), (n, 1, 1))
    graph = PoseGraph(line, np.arange(n), np.arange(1, n + 1), np.tile([1.0, 0, 0], (n, 1)), information)
    last = covariances(graph, line, [n])[0]
    lever = n - np.arange(1, n + 1)
    expected = np.diag([n * sx**2, n * sy**2 + st**2 * (lever**2).sum(), n * st**2])
    expected[1, 2] = expected[2, 1] = st**2 * lever.sum()
    np.testing.assert_allclose(last, expected, atol=1e-12)


def test_weights_of_the_kernel_are_those_of_the_paper():
    """One pose, 20 relations to it at 0, and one at 10 that is a hundred times too far: it loses its say.
    Agarwal et al. 2013: s = min(1, 2 Φ / (Φ + χ²)), the information is scaled by s²."""
    n = 21
    motion = np.zeros((n, 3))
    motion[-1, 0] = 10.0
    graph = PoseGraph(np.zeros((2, 3)), np.zeros(n, int), np.ones(n, int), motion, np.tile(np.eye(3), (n, 1, 1)))
    plain = optimise(graph)
    assert plain.poses[1, 0] == pytest.approx(10.0 / 21.0)
    found = optimise(graph, robust=1.0, tolerance=1e-12)
    assert found.converged
    x = found.poses[1, 0]
    weight = (2.0 / (1.0 + (10.0 - x) ** 2)) ** 2
    assert x == pytest.approx(10.0 * weight / (20.0 + weight), rel=1e-6)
    np.testing.assert_allclose(found.weights, [*[1.0] * 20, weight], rtol=1e-6)
    assert found.cost == pytest.approx(20.0 * x**2 + 3.0 - 4.0 / (1.0 + (10.0 - x) ** 2), rel=1e-9)
    kept = optimise(graph, start="given", robust=1.0, robust_edges=np.arange(n) < n - 1)
    assert kept.weights[-1] == 1.0
    assert kept.poses[1, 0] == pytest.approx(10.0 / 21.0)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"poses": np.full((3, 3), np.nan)}, "`poses` of a pose graph must be finite; row 0"),
        ({"poses": np.zeros((3, 2))}, r"`poses` of shape \(3, 3\), not \(3, 2\)"),
        ({"first": [0, 5]}, "relation 1 .* `first` is no row of the 3 poses"),
        ({"second": [-1, 2]}, "relation 0 .* `second` is no row of the 3 poses"),
        ({"first": [0.0, 1.0]}, "`first` of a pose graph must be whole numbers"),
        ({"first": [0, 2]}, "relation 1 .* connects a pose with itself"),
        ({"motion": [[0, 0, 0], [0, np.inf, 0]]}, "`motion` of a pose graph must be finite; row 1"),
        ({"motion": "x"}, "`motion` of a pose graph is no array of numbers"),
        ({"information": [np.eye(3), -np.eye(3)]}, "relation 1 .* not positive definite"),
        ({"information": [np.ones((3, 3)), np.eye(3)]}, "relation 0 .* not positive definite"),
        ({"information": [np.eye(3), np.eye(3) + np.triu(np.ones((3, 3)), 1)]}, "relation 1 .* not symmetric"),
    ],
)
def test_a_graph_that_cannot_be_is_refused(change, words):
    right = {
        "poses": np.zeros((3, 3)), "first": [0, 1], "second": [1, 2],
        "motion": np.zeros((2, 3)), "information": [np.eye(3)] * 2,
    }  # fmt: skip
    PoseGraph(**right)
    with pytest.raises(InvalidValueError, match=words):
        PoseGraph(**right | change)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"fixed": []}, "needs a fixed pose"),
        ({"fixed": [4]}, "`fixed` names rows of the 4 poses"),
        ({"fixed": [0]}, "2 of the 4 poses are not connected with a fixed pose, the first of them is 1"),
        ({"fixed": [0, 1], "start": "warm"}, "`start` is 'linear', 'given'"),
        ({"fixed": [0, 1], "robust": 0.0}, "`robust` is a chi-squared above 0"),
        ({"fixed": [0, 1], "robust": 1.0, "robust_edges": np.ones(3, bool)}, "one bool for each of the 2 relations"),
        ({"fixed": [0, 1], "tolerance": np.nan}, "must not be negative"),
    ],
)
def test_what_cannot_be_optimised_is_refused(arguments, words):
    graph = PoseGraph(np.zeros((4, 3)), [0, 3], [2, 1], np.zeros((2, 3)), [np.eye(3)] * 2)
    with pytest.raises(InvalidValueError, match=words):
        optimise(graph, **arguments)


def test_parts_with_a_fixed_pose_each_are_optimised_beside_each_other():
    poses = [[0, 0, 0], [5, 5, np.pi / 2], [0, 0, 0], [0, 0, 0]]
    graph = PoseGraph(poses, [0, 3], [2, 1], [[1, 0, 0], [2, 0, 0]], [np.eye(3)] * 2)
    found = optimise(graph, fixed=[0, 1])
    np.testing.assert_allclose(found.poses[2:], [[1, 0, 0], [5, 3, np.pi / 2]], atol=1e-12)


def test_the_result_of_another_graph_is_no_start():
    graph, _ = circuit()
    other, _ = circuit(seed=5)
    with pytest.raises(InvalidValueError, match="a result for another graph"):
        optimise(other, start=optimise(graph))


def test_nothing_is_free_and_nothing_moves():
    graph = PoseGraph([[1, 2, 0.5], [3, 4, 1]], [0], [1], [[0, 0, 0]], [np.eye(3)])
    found = optimise(graph, fixed=[0, 1])
    np.testing.assert_array_equal(found.poses, graph.poses)
    assert found.converged
    np.testing.assert_array_equal(covariances(graph, graph.poses, [0, 1], fixed=[0, 1]), np.zeros((2, 3, 3)))


def test_poses_follow_the_relations_in_both_directions():
    poses = along_relations(3, np.array([1, 1]), np.array([0, 2]), np.array([[1.0, 0, np.pi / 2], [0, 2.0, 0]]))
    np.testing.assert_allclose(poses, [[0, 0, 0], [0, 1, -np.pi / 2], [2, 1, -np.pi / 2]], atol=1e-12)
    with pytest.raises(InvalidValueError, match="pose 2 of the graph is not connected"):
        along_relations(3, np.array([0]), np.array([1]), np.zeros((1, 3)))


def test_a_loop_after_a_long_way_is_closed_however_far_off_the_odometry_is():
    """1000 steps around a circle: the odometry is tens of metres off, as its covariance says. So the loop is right: the
    least-squares cost of closing it has one relation's degrees of freedom, and 99.9 % of such costs are below 16.3."""
    n, sd = 1000, np.array([0.02, 0.02, 0.005])
    step = np.tile([1.0, 0.0, 2 * np.pi / n], (n, 1)) + sd * np.random.default_rng(0).normal(size=(n, 3))
    first, second = np.append(np.arange(n), 0), np.append(np.arange(1, n + 1), n)
    information = np.concatenate((np.tile(np.diag(sd**-2), (n, 1, 1)), [np.diag([1600.0, 1600.0, 40000.0])]))
    motion = np.vstack((step, np.zeros(3)))
    graph = PoseGraph(along_relations(n + 1, first[:n], second[:n], step), first, second, motion, information)
    assert np.hypot(*graph.poses[-1, :2]) > 20.0
    found = optimise(graph, robust=11.0, robust_edges=first == second - n)
    assert found.converged
    assert found.weights[-1] == 1.0
    assert found.cost < 16.3
    assert np.hypot(*found.poses[-1, :2]) < 0.1


@pytest.mark.parametrize("seed", range(3))
def test_wrong_loops_are_refused_and_right_ones_kept(seed):
    graph, _ = circuit(n=100, noise=0.02, seed=seed, loops=30)
    rng = np.random.default_rng(seed)
    information = np.tile(np.diag([2500.0] * 3), (len(graph.first) + 20, 1, 1))
    first, second = rng.integers(0, 50, 20), rng.integers(50, 100, 20)
    motion = np.vstack((graph.motion, rng.uniform(-3, 3, (20, 3))))
    spoilt = PoseGraph(graph.poses, [*graph.first, *first], [*graph.second, *second], motion, information)
    found = optimise(spoilt, robust=11.0, robust_edges=np.arange(len(motion)) >= 99)
    assert (found.weights[-20:] < 0.01).all()
    assert (found.weights[:-20] > 0.5).all()
    alone = optimise(replace(graph, information=information[:-20]))
    np.testing.assert_allclose(found.poses[:, :2], alone.poses[:, :2], atol=0.05)
