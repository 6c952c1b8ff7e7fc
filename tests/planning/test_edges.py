"""Edges of the mapped ground: which vertices, who takes which, and whether turning helps."""

import math

import numpy as np
import pytest

from covey.planning.edges import edge_vertices, revealed_by_turning, share_edges, turn_to_reveal


def test_edges_are_drivable_vertices_beside_unmapped_ones_in_any_of_eight_directions():
    occupancy = np.random.default_rng(1).choice(np.array([-1, 0, 100], np.int8), (30, 40))
    expected = [
        [r, c]
        for r in range(30)
        for c in range(40)
        if occupancy[r, c] == 0 and (occupancy[max(r - 1, 0) : r + 2, max(c - 1, 0) : c + 2] == -1).any()
    ]
    assert edge_vertices(occupancy).tolist() == expected


def test_beyond_the_border_there_is_nothing_to_map():
    assert len(edge_vertices(np.zeros((5, 5), np.int8))) == 0


def test_the_point_nearest_to_the_objective_has_priority_and_gets_the_nearest_robot():
    points = np.array([[0.0, 0.0], [10.0, 0.0], [10.0, 2.0], [4.0, 0.0]])
    robots = np.array([[1.0, 0.0], [9.0, 0.0], [0.0, 1.0]])
    goals = share_edges(points, np.array([11.0, 0.0]), robots)
    # Point 1 is nearest to the objective and robot 1 to it; point 2 is only 2 m beside it and stays free. Then robot 0
    # and robot 2 stand 1 m from point 0, which goes to the first; for robot 2 point 3 remains.
    assert goals.tolist() == [0, 1, 3]


def test_robots_for_which_no_point_is_left_get_none():
    points = np.array([[0.0, 0.0], [1.0, 0.0]])
    assert share_edges(points, np.zeros(2), np.array([[5.0, 0.0], [2.0, 0.0]])).tolist() == [-1, 0]
    assert share_edges(points[:0], np.zeros(2), np.zeros((2, 2))).tolist() == [-1, -1]


@pytest.mark.parametrize("seed", range(5))
def test_taken_points_are_three_metres_apart(seed):
    draw = np.random.default_rng(seed)
    points, robots = draw.uniform(0, 15, (60, 2)), draw.uniform(0, 15, (8, 2))
    goals = share_edges(points, np.array([20.0, 20.0]), robots)
    taken = points[goals[goals >= 0]]
    apart = np.hypot(*(taken[:, None] - taken[None]).transpose(2, 0, 1)) + 9.0 * np.eye(len(taken))
    assert apart.min() >= 3.0
    if (goals < 0).any():  # nobody is left out while there is a point
        assert (np.hypot(*(points[:, None] - taken[None]).transpose(2, 0, 1)).min(axis=1) < 3.0).all()


def test_turning_reveals_what_is_unmapped_within_reach_and_in_the_open():
    occupancy = np.zeros((21, 21), np.int8)
    assert revealed_by_turning(occupancy, 10.0, 10.0, 0.5, 5.0, 36).sum() == 0
    occupancy[:, :8] = -1
    r, c = np.mgrid[:21, :21]
    near = np.hypot(r - 10, c - 10) <= 5.0
    count = revealed_by_turning(occupancy, 10.0, 10.0, 0.5, 5.0, 4)
    assert count.sum() == np.count_nonzero(near & (c < 8))
    # By quadrant: north-west (from 90 degrees on) with the row straight south of west left to the next, south-west.
    assert count.tolist() == [
        0,
        np.count_nonzero(near & (c < 8) & (r > 10)),
        np.count_nonzero(near & (c < 8) & (r <= 10)),
        0,
    ]
    occupancy[:, 9] = 100  # a wall from end to end
    assert revealed_by_turning(occupancy, 10.0, 10.0, 0.5, 5.0, 36).sum() == 0


def test_the_vertex_that_a_robot_stands_on_is_too_near_to_be_seen():
    occupancy = np.zeros((9, 9), np.int8)
    occupancy[4, 4] = -1
    assert revealed_by_turning(occupancy, 4.1, 4.0, 0.346, 5.0, 36).sum() == 0


def test_a_robot_turns_no_farther_than_it_must():
    fov = math.radians(120)

    def turn(degrees, heading=0.0):
        count = np.zeros(36, int)
        count[[d // 10 for d in degrees]] = 1  # sectors of 10 degrees
        return math.degrees(turn_to_reveal(count, math.radians(heading), fov))

    assert turn([]) == 0
    assert turn([0, 50, 350, 300]) == 0  # all within 60 degrees to both sides
    assert turn([90]) == pytest.approx(40)  # until the sector's far side, 100 degrees, is 60 degrees to the left
    assert turn([260]) == pytest.approx(-40)
    assert turn([100, 260]) == pytest.approx(-200)  # by the shorter side: to the right until 100 degrees
    assert turn([90], heading=90) == 0
    assert turn(range(0, 360, 10)) == pytest.approx(240)
