"""Decisions of the strategies that do not deal goals out: views, trees, auctions, links, and the leader's rule."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from covey.controllers.exploration.connected import _Bond, nearest_connected, reached, stretch
from covey.controllers.exploration.cost_utility import chance_to_see
from covey.controllers.exploration.frontier_loop import Errand
from covey.controllers.exploration.leader import nearest_target
from covey.controllers.exploration.market import insertion, ordered, saving, winner
from covey.controllers.exploration.next_best_view import best_view, unseen_area
from covey.controllers.exploration.rrt_frontier import grow_tree, information_m2, most_revenue
from covey.controllers.teammates import Mate
from covey.geometry import Grid

INF = np.float32(np.inf)


# -- cost and utility


def test_the_chance_to_see_falls_with_distance_and_ends_at_walls():
    solid = np.ones((5, 12), np.float32)
    solid[0:3, 6] = INF
    cells = np.array([[1, 1], [1, 5], [1, 9], [4, 9]])
    # 1 - d / r with r = 10 cells: 4 cells away 0.6; behind the wall nothing; past its end 1 - sqrt(9 + 64) / 10.
    np.testing.assert_allclose(chance_to_see(solid, cells, 0, 10.0), [1.0, 0.6, 0.0, 1 - np.sqrt(73) / 10])


# -- next best view


def test_a_wide_view_is_worth_a_longer_way():
    # 2 m2 at 1 m: 2 exp(-0.2) = 1.64; 30 m2 at 8 m: 30 exp(-1.6) = 6.06; at 16 m: 30 exp(-3.2) = 1.22.
    assert best_view(np.array([2.0, 30.0]), np.array([1.0, 8.0]), 0.2) == 1
    assert best_view(np.array([2.0, 30.0]), np.array([1.0, 16.0]), 0.2) == 0


def test_where_no_view_shows_anything_the_nearest_is_as_good():
    assert best_view(np.zeros(3), np.array([5.0, 2.0, 4.0]), 0.2) == 1


def test_the_area_in_sight_is_that_of_the_part_of_the_disc_that_is_unknown():
    cells = np.zeros((121, 121), np.int8)
    here = np.array([[60, 60]])
    assert unseen_area(cells, here, 40.0)[0] == 0.0
    cells[:, 61:] = -1
    assert unseen_area(cells, here, 40.0)[0] == pytest.approx(np.pi * 40**2 / 2, rel=0.03)
    cells[:, 81] = 100  # a wall 20 cells away hides the segment beyond it
    angle = np.arccos(20.5 / 40)
    segment = 40**2 * (angle - np.sin(angle) * np.cos(angle))
    assert unseen_area(cells, here, 40.0)[0] == pytest.approx(np.pi * 40**2 / 2 - segment, rel=0.04)


def test_what_comes_into_sight_from_two_cells_is_shared():
    """Two in one place get half each; of two that are far apart each gets all."""
    cells = np.zeros((121, 241), np.int8)
    cells[61:] = -1
    alone = unseen_area(cells, np.array([[60, 60]]), 40.0)[0]
    together = unseen_area(cells, np.array([[60, 60], [60, 60]]), 40.0, shared=True)
    np.testing.assert_allclose(together, alone / 2)
    apart = unseen_area(cells, np.array([[60, 60], [60, 180]]), 40.0, shared=True)
    np.testing.assert_allclose(apart, alone)


# -- trees


def test_a_point_with_more_of_the_unknown_is_worth_the_way():
    # 3 x 0.5 - 2 = -0.5 against 3 x 1.5 - 3.5 = 1.0; nearer than 3 m the first counts twice: 3 - 2 = 1.0, and comes first.
    gain, distance, nowhere = np.array([0.5, 1.5]), np.array([2.0, 3.5]), np.full(2, np.inf)
    assert most_revenue(gain, gain, distance, nowhere, 3.0, 0.0, 2.0) == 1
    assert most_revenue(gain, gain, distance, nowhere, 3.0, 3.0, 2.0) == 0


def test_a_robot_on_its_way_turns_to_what_is_worth_more_and_sticks_to_its_goal_else():
    # The goal is 6 m away with 1 m2 around it, of which a partner will see half: in full and twice it earns 6 - 6 = 0.
    # A point 2 m away with 0.5 m2: 3 - 2 = 1, so it turns. One 4 m away with 1.2 m2 earns 3.6 - 4: it does not.
    to_goal = np.array([0.0, 7.0])
    assert most_revenue(np.array([0.5, 0.5]), np.array([1.0, 0.5]), np.array([6.0, 2.0]), to_goal, 3.0, 3.0, 2.0) == 1
    assert most_revenue(np.array([0.5, 1.2]), np.array([1.0, 1.2]), np.array([6.0, 4.0]), to_goal, 3.0, 3.0, 2.0) == 0


def test_what_a_mate_will_see_is_no_information():
    grid = Grid(np.full((40, 40), -1, np.int8), 0.1)
    points = np.array([[2.0, 2.0], [0.0, 2.0]])
    alone = information_m2(grid, points, np.empty((0, 2)), 1.0)
    assert alone[0] == pytest.approx(np.pi, rel=0.05)
    assert alone[1] == pytest.approx(np.pi / 2, rel=0.08)  # half of it lies outside the map
    shared = information_m2(grid, points, np.array([[3.0, 2.0]]), 1.0)
    lens = 2 * np.pi / 3 - np.sqrt(3) / 2  # two discs of radius 1, centres 1 apart
    assert shared[0] == pytest.approx(np.pi - lens, rel=0.05)
    assert shared[1] == alone[1]


def test_a_tree_stays_in_the_free_and_finds_its_edge():
    cells = np.full((60, 60), 100, np.int8)
    cells[5:30, 5:55] = 0
    cells[30:50, 40:50] = 0
    cells[50:, 40:50] = -1
    nodes, found = np.empty((2000, 2)), np.empty((4000, 2), np.int64)
    nodes[0] = 10.0, 10.0
    drawn = np.random.default_rng(3).random((4000, 2)) * 60
    count, hits = grow_tree(nodes, 1, drawn, 6.0, cells, nodes[0].copy(), False, found)
    at = nodes[:count].astype(int)
    assert (cells[at[:, 0], at[:, 1]] == 0).all()
    assert hits > 0
    assert (found[:hits, 0] == 49).all()  # the last free row before the unknown
    count, hits = grow_tree(nodes, 1, drawn, 6.0, cells, nodes[0].copy(), True, found)
    assert hits > 0
    assert count < 2000  # it began anew


# -- market


def test_a_goal_changes_hands_for_more_than_its_owner_makes_of_it():
    assert winner({"scout1": 4.0, "scout2": 7.0}, 6.0) == "scout2"
    assert winner({"scout1": 4.0, "scout2": 5.0}, 6.0) is None
    assert winner({}, 0.0) is None


def test_the_nearer_robot_buys_although_the_seller_is_on_its_way():
    # The seller at 0 holds goals at 4 and -3: tour 3 + 7 = 10 m, or 4 without the second: it saves 6 m by selling -3.
    # The buyer stands 2 m from it with an empty tour. Both value it at 5: reserve 5 - 6 = -1, bid 5 - 2 = 3.
    tour, first = ordered([(4.0, 0.0), (-3.0, 0.0)], [4.0, 3.0]), [3.0, 4.0]
    assert tour == [(-3.0, 0.0), (4.0, 0.0)]
    assert saving(tour, first, 0) == pytest.approx(6.0)
    assert winner({"scout1": 5.0 - insertion([], [], (-3.0, 0.0), 2.0)[0]}, 5.0 - saving(tour, first, 0)) == "scout1"


def test_a_goal_on_the_way_costs_next_to_nothing():
    assert insertion([(4.0, 0.0), (8.0, 0.0)], [4.0, 8.0], (6.0, 0.0), 6.0) == (0.0, 1)
    assert insertion([(4.0, 0.0)], [4.0], (2.0, 0.0), 2.0) == (0.0, 0)
    assert saving([(2.0, 0.0), (4.0, 0.0)], [2.0, 4.0], 1) == 2.0
    assert saving([(2.0, 0.0), (4.0, 0.0)], [2.0, 4.0], 0) == 0.0


# -- connected


def test_the_nearest_frontier_that_would_cut_the_link_is_passed_over():
    # Links of 6 m, a mate 5 m to the east: 2 m to the west would be 7 m from it, 3 m to the north 5.8 m.
    here, mate = np.zeros(2), np.array([[5.0, 0.0]])
    ahead = np.array([[-2.0, 0.0], [0.0, 3.0], [4.0, 0.0]])
    assert nearest_connected(here, ahead, mate, mate, 6.0) == 1
    assert nearest_connected(here, ahead, mate, np.array([[7.0, 0.0]]), 6.0) == 2  # where the mate will be counts too
    assert nearest_connected(here, ahead[:1], mate, mate, 6.0) == -1
    assert nearest_connected(here, ahead, np.empty((0, 2)), np.empty((0, 2)), 6.0) == 0  # alone


def test_a_link_keeps_a_margin_and_one_without_it_may_only_become_shorter():
    # Links of 6 m, a margin of 1 m, a mate to the east: 3 m to the north would be 5.8 m from it, 1 m is 5.1 m.
    here, mate = np.zeros(2), np.array([[5.0, 0.0]])
    ahead = np.array([[0.0, 3.0], [0.0, 1.0], [0.5, 1.0]])
    assert nearest_connected(here, ahead, mate, mate, 6.0) == 0
    assert nearest_connected(here, ahead, mate, mate, 6.0, margin_m=1.0) == 2
    far = np.array([[5.8, 0.0]])  # within the range still, so it holds the robot
    assert nearest_connected(here, ahead, far, far, 6.0, margin_m=1.0) == 2
    assert nearest_connected(here, np.array([[-0.1, 0.0]]), far, far, 6.0, margin_m=1.0) == -1
    chain = np.array([[4.0, 0.0], [9.9, 0.0]])  # of the links of others the range counts
    assert nearest_connected(here, np.array([[0.0, 0.5]]), chain, chain, 6.0, margin_m=1.0) == 0


def test_two_robots_do_not_both_leave_the_long_link_to_a_third_to_the_other():
    """Links of 8 m, a margin of 0.5 m: side by side, 7.8 m from the third, each could say that the other holds it."""
    here, away = np.zeros(2), np.array([[0.0, -0.5]])
    others = np.array([[1.0, 0.0], [0.5, 7.8]])
    assert math.dist(others[0], others[1]) < 8.0
    assert nearest_connected(here, away, others, others, 8.0) == 0, "without a margin the other's link is as good"
    assert nearest_connected(here, away, others, others, 8.0, margin_m=0.5) == -1
    near = np.array([[1.0, 0.5], [0.5, 7.8]])
    assert nearest_connected(here, away, near, near, 8.0, margin_m=0.5) == 0, "7.3 m: the other would hold it by itself"
    behind = np.array([[1.0, 0.0], [1.0, 7.95]])
    assert nearest_connected(here, np.array([[0.3, 0.0]]), behind, behind, 8.0, margin_m=0.5) == 0, "not its own link"


def test_a_robot_follows_only_as_far_as_its_network_holds():
    bond = _Bond(range_m=6.0, margin_m=1.0, patience_s=10.0, give_up_s=120.0, stride_m=2.0)
    robot, errand = SimpleNamespace(pose=(0.0, 0.0, 0.0)), Errand((5.0, 0.0))
    mates = {"a": Mate(0.0, (5.0, 0.0, 0.0), None, {}), "c": Mate(0.0, (-3.0, 0.0, 0.0), None, {})}
    assert bond.follow(robot, errand, np.array([2.0, 0.0]), mates) == errand
    assert bond.next == (2.0, 0.0)
    mates["c"] = Mate(0.0, (-4.0, 0.0, 0.0), None, {})
    assert bond.follow(robot, errand, np.array([2.0, 0.0]), mates) == Errand()


def test_who_is_lost_already_holds_nobody():
    here, mates = np.zeros(2), np.array([[5.0, 0.0], [30.0, 0.0]])
    assert reached(here, mates, 6.0).tolist() == [True, False]
    assert nearest_connected(here, np.array([[0.0, 2.0]]), mates, mates, 6.0) == 0


def test_robots_that_hold_each_other_go_on_behind_the_first():
    goals, ahead, mates = np.array([[9.0, 0.0]]), np.array([[1.0, 0.0]]), {"a": Mate(0.0, (-1.0, 0.0, 0.0), None, {})}
    bond = _Bond(range_m=3.0, margin_m=0.0, patience_s=10.0, give_up_s=120.0, stride_m=6.0)

    def chosen(time_s, length_m=9.0, known=100, name="b"):
        robot = SimpleNamespace(name=name, time=time_s, pose=(0.0, 0.0, 0.0))
        return bond.choose(robot, goals, np.array([length_m]), ahead, mates, known)

    assert chosen(0.0) == chosen(9.0) == (9.0, 0.0)
    assert chosen(11.0, known=200) == chosen(20.0, known=200) == (9.0, 0.0)  # there was news
    assert chosen(22.0, length_m=8.0, known=200) == chosen(30.0, known=200) == (9.0, 0.0)  # it came nearer
    assert chosen(33.0, known=200, name="A") == (9.0, 0.0)  # the first goes on
    assert chosen(33.0, known=200) == Errand((-1.0, 0.0))
    mates["a"] = Mate(0.0, (-1.0, 0.0, 0.0), (5.0, 5.0), {})
    assert chosen(34.0, known=200) == Errand((-1.0, 0.0))
    mates["a"] = Mate(0.0, (-1.0, 0.0, 0.0), (0.0, 5.0), {})
    assert chosen(35.0, known=200) == (9.0, 0.0)  # that one has another goal


def test_links_reach_over_others():
    chain = np.array([[15.0, 0.0], [5.0, 0.0], [10.0, 0.0], [25.0, 0.0]])
    assert reached(np.zeros(2), chain, 5.0).tolist() == [True, True, True, False]


def test_the_next_stretch_follows_the_way():
    way = np.full((3, 9), np.inf, np.float32)
    way[1] = np.arange(9)
    assert stretch(way, np.array([1, 8]), 3.0) == (1, 3)
    assert stretch(way, np.array([1, 2]), 3.0) == (1, 2)


# -- leader


def test_the_leader_passes_over_what_is_too_near_or_was_reported():
    # From the origin: 0.5 m is nearer than the least distance, 2 m was reported unreachable; 3 m is the answer.
    points = np.array([[0.5, 0.0], [0.0, 2.0], [-3.0, 0.0], [0.0, 5.0]])
    reported = np.array([[0.1, 2.1]])
    assert nearest_target(points, np.empty((0, 2)), (0.0, 0.0), 1.0) == (0.0, 2.0)
    assert nearest_target(points, reported, (0.0, 0.0), 1.0) == (-3.0, 0.0)
    assert nearest_target(points[:1], reported, (0.0, 0.0), 1.0) is None
