"""Relations between trajectories that agree in pairs: by hand, by sampling, and against another library's cliques."""

import networkx as nx
import numpy as np
import pytest
from scipy import stats

from covey.errors import InvalidValueError
from covey.geometry.se2 import compose, inverse
from covey.mapping.slam.consistency import NoisyTrack, largest_consistent, pair_distances


def drive(rng, n, noise):
    """Return the true poses of a walk and the poses of an odometry with noise in each step."""
    step = np.column_stack((rng.uniform(0.3, 1.0, n - 1), np.zeros(n - 1), rng.normal(0, 0.4, n - 1)))
    truth, odometry = np.zeros((n, 3)), np.zeros((n, 3))
    for k in range(1, n):
        truth[k] = compose(truth[k - 1], step[k - 1])
        odometry[k] = compose(odometry[k - 1], step[k - 1] + rng.multivariate_normal(np.zeros(3), noise))
    return truth, odometry


def relations(rng, truth_a, truth_b, between, rows, covariance):
    """Return noisy relations between rows (m, 2), with the start of b at ``between`` in the frame of a."""
    exact = compose(inverse(truth_a[rows[:, 0]]), compose(between, truth_b[rows[:, 1]]))
    return exact + rng.multivariate_normal(np.zeros(3), covariance, len(rows))


def test_the_distance_along_a_line_by_hand():
    """Both drive along x in steps of 1 m with variances 0.01 and 0.02; relations at 0 and after 3 and 5 steps disagree
    by 1 m. The loop has the variance of both relations and of all steps between: 0.1 + 0.3 + 3 * 0.01 + 5 * 0.02."""
    a = NoisyTrack(
        np.column_stack((np.arange(4.0), np.zeros((4, 2)))), np.tile(np.diag([0.01, 1e-12, 1e-12]), (3, 1, 1))
    )
    b = NoisyTrack(
        np.column_stack((np.arange(6.0), np.zeros((6, 2)))), np.tile(np.diag([0.02, 1e-12, 1e-12]), (5, 1, 1))
    )
    motion = np.array([[7.0, 0, 0], [7.0 + 5.0 - 3.0 + 1.0, 0, 0]])
    covariance = np.array([np.diag([0.1, 1, 1]), np.diag([0.3, 1, 1])])
    found = pair_distances(a, b, np.array([0, 3]), np.array([0, 5]), motion, covariance)
    np.testing.assert_allclose(found, np.array([[0, 1], [1, 0]]) / (0.1 + 0.3 + 0.03 + 0.1))


def test_relations_without_noise_agree_and_the_frames_do_not_matter():
    rng = np.random.default_rng(0)
    small = 1e-4 * np.eye(3)
    (truth_a, _), (truth_b, _) = drive(rng, 30, small), drive(rng, 20, small)
    rows = np.column_stack((rng.integers(0, 30, 8), rng.integers(0, 20, 8)))
    between, covariance = np.array([3.0, -2.0, 2.0]), np.tile(small, (8, 1, 1))
    noise_a, noise_b = np.tile(small, (29, 1, 1)), np.tile(small, (19, 1, 1))
    exact = relations(rng, truth_a, truth_b, between, rows, np.zeros((3, 3)))
    found = pair_distances(NoisyTrack(truth_a, noise_a), NoisyTrack(truth_b, noise_b), *rows.T, exact, covariance)
    np.testing.assert_allclose(found, 0.0, atol=1e-18)
    motion = exact + rng.normal(0, 0.01, exact.shape)
    here = pair_distances(NoisyTrack(truth_a, noise_a), NoisyTrack(truth_b, noise_b), *rows.T, motion, covariance)
    away = NoisyTrack(compose(np.array([50.0, 20, -1]), truth_a), noise_a)
    there = pair_distances(away, NoisyTrack(compose(between, truth_b), noise_b), *rows.T, motion, covariance)
    np.testing.assert_allclose(there, here, rtol=1e-6, atol=1e-9)


@pytest.mark.slow
def test_distances_of_right_relations_have_a_chi_squared_distribution():
    rng = np.random.default_rng(1)
    noise = np.diag([0.02, 0.01, 0.01]) ** 2
    noise[0, 2] = noise[2, 0] = 0.5 * 0.02 * 0.01
    covariance = np.array([[4e-4, 1e-4, 0], [1e-4, 9e-4, 5e-5], [0, 5e-5, 1e-4]])
    seen = []
    for _ in range(400):
        (truth_a, a), (truth_b, b) = drive(rng, 25, noise), drive(rng, 25, noise)
        rows = np.array([[rng.integers(0, 25), rng.integers(0, 25)] for _ in range(2)])
        between = rng.uniform(-3, 3, 3)
        motion = relations(rng, truth_a, truth_b, between, rows, covariance)
        tracks = (NoisyTrack(x, np.tile(noise, (24, 1, 1))) for x in (a, b))
        seen.append(pair_distances(*tracks, *rows.T, motion, np.tile(covariance, (2, 1, 1)))[0, 1])
    assert stats.kstest(seen, stats.chi2(3).cdf).pvalue > 0.01


@pytest.mark.parametrize("seed", range(5))
def test_wrong_relations_are_left_out(seed):
    """Twelve right relations among thirty wrong ones, of which four agree with each other."""
    rng = np.random.default_rng(seed)
    noise, covariance = np.diag([0.02, 0.01, 0.005]) ** 2, np.diag([0.03, 0.03, 0.01]) ** 2
    (truth_a, a), (truth_b, b) = drive(rng, 60, noise), drive(rng, 60, noise)
    rows = rng.integers(0, 60, (42, 2))
    motion = rng.uniform(-5, 5, (42, 3))
    motion[:12] = relations(rng, truth_a, truth_b, np.array([4.0, 1, 2]), rows[:12], covariance)
    motion[12:16] = relations(rng, truth_a, truth_b, np.array([9.0, 5, -1]), rows[12:16], covariance)
    order = rng.permutation(42)
    distances = pair_distances(
        NoisyTrack(a, np.tile(noise, (59, 1, 1))), NoisyTrack(b, np.tile(noise, (59, 1, 1))),
        *rows[order].T, motion[order], np.tile(covariance, (42, 1, 1)),
    )  # fmt: skip
    chosen, proven = largest_consistent(distances, level=0.9999)
    assert proven
    assert sorted(order[chosen]) == list(range(12))
    rival, _ = largest_consistent(distances[np.ix_(~chosen, ~chosen)], level=0.9999)
    assert sorted(order[~chosen][rival]) == [12, 13, 14, 15]


@pytest.mark.parametrize(("n", "density"), [(1, 0.5), (20, 0.3), (40, 0.5), (60, 0.8)])
def test_the_largest_set_is_as_large_as_networkx_finds(n, density):
    rng = np.random.default_rng(n)
    near = np.triu(rng.random((n, n)) < density, 1)
    near |= near.T
    chosen, proven = largest_consistent(np.where(near | np.eye(n, dtype=bool), 0.0, np.inf), nodes=200_000)
    assert proven
    assert chosen.sum() == max(map(len, nx.find_cliques(nx.from_numpy_array(near))))
    assert near[np.ix_(chosen, chosen)].sum() == chosen.sum() * (chosen.sum() - 1)


def test_a_search_that_is_cut_off_returns_a_consistent_set_and_says_so():
    rng = np.random.default_rng(7)
    near = np.triu(rng.random((150, 150)) < 0.8, 1)
    near |= near.T
    chosen, proven = largest_consistent(np.where(near | np.eye(150, dtype=bool), 0.0, np.inf), nodes=50)
    assert not proven
    assert near[np.ix_(chosen, chosen)].sum() == chosen.sum() * (chosen.sum() - 1)
    assert chosen.sum() > 15


def test_no_relations_are_no_set_and_wrong_ones_are_refused():
    track = NoisyTrack(np.zeros((2, 3)), np.eye(3)[None])
    none = np.zeros(0, int)
    distances = pair_distances(track, track, none, none, np.zeros((0, 3)), np.zeros((0, 3, 3)))
    assert largest_consistent(distances)[0].shape == (0,)
    with pytest.raises(InvalidValueError, match=r"relations name rows 0 … 2 of 2 poses"):
        pair_distances(track, track, [0, 2], [0, 1], np.zeros((2, 3)), np.zeros((2, 3, 3)))
    with pytest.raises(InvalidValueError, match="2 relations need as many"):
        pair_distances(track, track, [0, 1], [0], np.zeros((2, 3)), np.zeros((2, 3, 3)))
    with pytest.raises(InvalidValueError, match=r"noise \(n - 1, 3, 3\)"):
        NoisyTrack(np.zeros((3, 3)), np.zeros((3, 3, 3)))
