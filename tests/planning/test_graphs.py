"""Graphs of a team: against loops, networkx, and closed forms of the eigenvalues of their Laplacians."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import covey
from covey import graphs
from covey.errors import InvalidValueError, UnknownNameError

COORDINATES = st.integers(-20, 20).map(float)
POSITIONS = st.integers(1, 9).flatmap(lambda n: arrays(float, (n, 2), elements=COORDINATES))


@given(POSITIONS)
def test_robots_in_range_see_each_other(position):
    n, near = len(position), graphs.proximity(5.0)(position)
    for i in range(n):
        for j in range(n):
            assert near[i, j] == (i != j and np.hypot(*(position[i] - position[j])) <= 5.0)


@given(POSITIONS, st.integers(1, 4))
def test_each_robot_sees_its_k_nearest(position, k):
    n, near = len(position), graphs.k_nearest(k)(position)
    assert near.sum(axis=1).tolist() == [min(k, n - 1)] * n
    for i in range(n):
        others = [j for j in range(n) if j != i]
        distance = np.hypot(*(position - position[i]).T)
        assert sorted(distance[near[i]]) == sorted(distance[others])[:k]
        assert not near[i, i]


def circle_through(a, b, c):
    """Centre and radius of the circle through three points; None if they lie on one line."""
    matrix = 2.0 * np.array([b - a, c - a])
    if abs(np.linalg.det(matrix)) < 1e-9:
        return None
    centre = np.linalg.solve(matrix, [b @ b - a @ a, c @ c - a @ a])
    return centre, np.hypot(*(a - centre))


def test_delaunay_edges_are_those_with_an_empty_circle():
    for seed in range(20):
        position = np.random.default_rng(seed).uniform(0.0, 10.0, (9, 2))
        expected = np.zeros((9, 9), bool)
        for i, j, k in combinations(range(9), 3):
            found = circle_through(*position[[i, j, k]])
            assert found is not None
            others = [m for m in range(9) if m not in (i, j, k)]
            if (np.hypot(*(position[others] - found[0]).T) > found[1]).all():
                for a, b in ((i, j), (j, k), (i, k)):
                    expected[a, b] = expected[b, a] = True
        assert np.array_equal(graphs.delaunay()(position), expected)


@given(POSITIONS)
def test_delaunay_is_connected_and_undirected_whatever_the_positions(position):
    near = graphs.delaunay()(position)
    assert np.array_equal(near, near.T)
    assert not near.diagonal().any()
    if len(position) > 1:
        assert graphs.eigenvalues(near)[1] > 1e-6


def test_robots_on_a_line_and_at_one_place():
    line = np.array([(3.0, 3.0), (1.0, 1.0), (2.0, 2.0), (5.0, 5.0)])
    assert np.argwhere(np.triu(graphs.delaunay()(line))).tolist() == [[0, 2], [0, 3], [1, 2]]
    corner = np.array([(0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (0.0, 0.0)])
    near = graphs.delaunay()(corner)
    assert near[0].tolist() == [False, True, True, True]
    assert near[3].tolist() == [True, True, True, False]
    assert graphs.delaunay()([[0.0, 0.0]]).tolist() == [[False]]


def test_eigenvalues_of_known_graphs():
    # Mesbahi, Egerstedt 2010, 2.4: complete n (n-1 times), ring 2 - 2 cos(2 pi k/n), path 2 - 2 cos(pi k/n), star 1 and n
    n, nowhere = 7, np.zeros((7, 2))
    k = np.arange(n)
    path, star = graphs.fixed([(i, i + 1) for i in range(n - 1)]), graphs.fixed([(0, i) for i in range(1, n)])
    for graph, expected in (
        (graphs.complete(), [0, *[n] * (n - 1)]),
        (graphs.ring(), sorted(2 - 2 * np.cos(2 * np.pi * k / n))),
        (path, 2 - 2 * np.cos(np.pi * k / n)),
        (star, [0, *[1] * (n - 2), n]),
    ):
        assert graphs.eigenvalues(graph(nowhere)) == pytest.approx(expected, abs=1e-12)


def test_a_directed_ring_sees_the_next_and_links_are_what_the_radio_hears():
    near = graphs.ring(directed=True)(np.zeros((3, 2)))
    assert near.tolist() == [[False, True, False], [False, False, True], [True, False, False]]
    links = np.array([[False, True], [False, False]])
    assert np.array_equal(graphs.radio()(np.zeros((2, 2)), links), links)
    with pytest.raises(InvalidValueError, match="no links"):
        graphs.radio()(np.zeros((2, 2)))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("delaunay", graphs.delaunay()),
        ({"proximity": 2}, graphs.proximity(2.0)),
        ({"proximity": {"range_m": 2}}, graphs.proximity(2.0)),
        ({"fixed": [[0, 1], [1, 2]]}, graphs.fixed([(0, 1), (1, 2)])),
        ({"ring": {"directed": True}}, graphs.ring(directed=True)),
    ],
)
def test_a_file_names_a_graph(value, expected):
    assert graphs.graph_of(value) == expected


@pytest.mark.parametrize(
    ("value", "word"),
    [
        ({"proximity": {"range": 2}}, "range_m"),
        ({"proximity": -1}, "range_m"),
        ({"proximity": {}}, "give range_m"),
        ({"k_nearest": 1.5}, "whole number"),
        ({"fixed": [[0, 0]]}, "two different"),
        ({"delaunay": 3}, "no parameters"),
        (3, "write a name"),
    ],
)
def test_a_wrong_graph_is_named(value, word):
    with pytest.raises(InvalidValueError, match=word):
        graphs.graph_of(value)


def test_an_unknown_graph_and_an_edge_of_nobody():
    with pytest.raises(UnknownNameError, match="proximity"):
        graphs.graph_of("proximty")
    with pytest.raises(InvalidValueError, match="2 robots"):
        graphs.fixed([(0, 2)])(np.zeros((2, 2)))
    assert covey.graphs.proximity(2.0) == graphs.proximity(2)
