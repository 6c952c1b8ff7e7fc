"""The waypoint graph of a patrol: what sees what, who is whose neighbour, parts, tours and meetings."""

from itertools import permutations

import numpy as np
import pytest
from tests.references.planning import visibility_reference

from covey.geometry.raycast import skip_field
from covey.planning.art_gallery import art_gallery, greedy_cover, tiles, visibility
from covey.planning.meetings import plan_meetings, welsh_powell
from covey.planning.partition import spectral_parts
from covey.planning.tours import christofides_tour, nearest_neighbour_tour, spaced_entry
from covey.planning.waypoints import Waypoints, connect, path_lengths


def tour_length(distance, tour):
    return float(distance[tour, np.roll(tour, -1)].sum())


def room(drawing):
    rows = drawing.split()[::-1]
    return np.array([[letter == "#" for letter in row] for row in rows])


TWO_ROOMS = room("""
    #############
    #.....#.....#
    #.....#.....#
    #...........#
    #.....#.....#
    #.....#.....#
    #############
""")


def between(points):
    points = np.array(points, float)
    return np.hypot(*(points[:, None] - points[None]).transpose(2, 0, 1))


def test_ways_lead_around_walls():
    cells = np.array([[1, 5], [1, 7], [3, 6]])
    lengths = path_lengths(~TWO_ROOMS, 0.5, cells)
    # From one side of the wall to the other: up to the door, two cells through it (no corner is cut), and down again.
    assert lengths[0, 1] == pytest.approx(0.5 * (2 + 2 + 2))
    assert lengths[0, 2] == pytest.approx(0.5 * (2 + 1))
    np.testing.assert_array_equal(lengths, lengths.T)


def test_visibility_is_that_of_straight_lines():
    generator = np.random.default_rng(4)
    for _ in range(3):
        solid = generator.random((14, 17)) < 0.2
        solid[[0, -1]] = solid[:, [0, -1]] = True
        cells = np.argwhere(~solid)[::3]
        found = visibility(skip_field(solid), cells, 9.0)
        least, most = (visibility_reference(solid, cells, 9.0, grown) for grown in (1e-6, -1e-6))
        assert (least <= found).all()
        assert (found <= most).all()
        assert (least != most).mean() < 0.1


def test_one_waypoint_for_a_room_that_can_be_overlooked_and_more_for_two():
    free = ~TWO_ROOMS
    for solid, least, most in ((TWO_ROOMS & (np.arange(13) != 6), 1, 1), (TWO_ROOMS, 2, 3)):
        inner = ~solid
        inner[[0, -1]] = inner[:, [0, -1]] = False
        cells = art_gallery(skip_field(~inner), inner, 1.0)
        assert least <= len(cells) <= most
    near = art_gallery(skip_field(TWO_ROOMS), free, 1.0, sight_m=2.0)
    assert len(near) > 4  # who sees only 2 m needs more of them


def test_tiles_stand_in_their_middles_and_know_their_walls():
    standing = np.ones((9, 9), bool)
    standing[0, :] = False
    cells, wall = tiles(standing, 3)
    assert cells.tolist() == [[r, c] for r in (1, 4, 7) for c in (1, 4, 7)]
    assert wall.tolist() == [True] * 4 + [False] + [True] * 4  # beyond the edge nobody stands


def test_places_beside_walls_count_for_less():
    sees = np.eye(3, dtype=bool) | np.eye(3, k=1, dtype=bool) | np.eye(3, k=-1, dtype=bool)
    both = np.array([[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1], [0, 0, 1, 1]], bool)
    assert greedy_cover(sees, np.zeros(3, bool)) == [1]
    assert greedy_cover(both, np.array([True, False, False, True])) == [1, 2]


def test_neighbours_by_the_nearest_join_islands_and_relative_ones_have_none_between():
    # Two pairs far apart, and a fifth point beside the second one.
    distance = between([(0, 0), (1, 0), (10, 0), (11, 0), (10.5, 2)])
    assert connect(distance, "nearest").tolist() == [[0, 1], [1, 2], [2, 3], [2, 4]]
    assert connect(distance, "relative").tolist() == [[0, 1], [1, 2], [2, 3], [2, 4], [3, 4]]
    assert len(connect(distance, "all")) == 10
    tour = connect(distance, "tour")
    assert np.bincount(tour.ravel()).tolist() == [2] * 5
    graph = Waypoints(np.zeros((5, 2)), distance, connect(distance))
    assert [n.tolist() for n in graph.neighbours] == [[1], [0, 2], [1, 3, 4], [2], [2]]


def test_a_square_of_four_has_no_relative_diagonal():
    distance = between([(0, 0), (1, 0), (1, 1), (0, 1)])
    assert connect(distance, "relative").tolist() == [[0, 1], [0, 3], [1, 2], [2, 3]]


def test_parts_are_disjoint_hang_together_and_no_larger_than_they_must():
    clusters = [
        (x + dx, y + dy) for x, y in ((0, 0), (20, 0), (0, 13), (20, 13)) for dx, dy in ((0, 0), (1, 0), (0, 1))
    ]
    parts = spectral_parts(between(clusters), 4)
    assert [p.tolist() for p in parts] == [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11]]
    line = spectral_parts(between([(i, 0) for i in range(8)]), 2)
    assert [p.tolist() for p in line] == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert len(spectral_parts(between([(0, 0), (1, 0)]), 5)) == 2


def test_christofides_is_within_half_of_the_shortest_tour():
    points = np.random.default_rng(2).random((8, 2)) * 10
    distance = between(points)
    shortest = min(tour_length(distance, [0, *rest]) for rest in permutations(range(1, 8)))
    tour = christofides_tour(distance)
    assert sorted(tour) == list(range(8))
    assert tour[0] == 0
    assert shortest - 1e-9 <= tour_length(distance, tour) <= 1.5 * shortest
    assert christofides_tour(distance[:3, :3]) == [0, 1, 2]


def test_nearest_neighbour_tour_of_a_line_and_places_spaced_along_it():
    distance = between([(0, 0), (4, 0), (1, 0), (2, 0)])
    assert nearest_neighbour_tour(distance) == [0, 2, 3, 1]
    square = between([(0, 0), (1, 0), (1, 1), (0, 1)])
    assert [spaced_entry(square, [0, 1, 2, 3], rank, 4) for rank in range(4)] == [0, 1, 2, 3]


def test_meetings_of_three_parts_in_a_row():
    distance = between([(x, 0) for x in range(7)])
    parts = [np.array([0, 1]), np.array([2, 3, 4]), np.array([5, 6])]
    edges = np.array([[i, i + 1] for i in range(6)])
    plan = plan_meetings(parts, edges, distance, 2.0 * distance, lead_s=10.0)
    # Each end takes in the nearer end of the middle part (it has fewer waypoints); they meet there.
    assert plan.parts == ((0, 1, 2), (2, 3, 4), (4, 5, 6))
    assert [(m.waypoint, m.parts) for m in plan.meetings] == [(2, (0, 1)), (4, (1, 2))]
    assert {m.colour for m in plan.meetings} == {0, 1}  # the middle robot cannot be at both
    # The ends: ceil(3 / 1) x 4 s; the middle ceil(3 / 2) x 4 s.
    assert plan.intervals_s == (12.0, 8.0, 12.0)
    # Two colours, 12 s apart, make a cycle of 24 s.
    assert [plan.times_s[k] for k in np.argsort([m.colour for m in plan.meetings])] == [(10.0, 34.0), (22.0, 46.0)]


def test_colours_of_what_is_in_conflict_differ():
    generator = np.random.default_rng(3)
    for _ in range(20):
        pairs = generator.random((9, 9)) < 0.3
        conflicts = {v: {w for w in range(9) if w != v and (pairs[v, w] or pairs[w, v])} for v in range(9)}
        colour = welsh_powell(conflicts)
        assert all(colour[v] != colour[w] for v in conflicts for w in conflicts[v])
        assert max(colour.values()) <= max(len(c) for c in conflicts.values())
