import numpy as np
import pytest
from tests.controllers.conftest import put

from covey.controllers.exploration.minotaur import _Door, _Minotaur, all_unseen_ahead, beyond_wall, crossers
from covey.controllers.exploration.nearest_frontier import choose_nearest
from covey.geometry import Pose
from covey.planning.rooms import find_walls

# A hall whose south wall goes on into the unseen, far in the east.
HALL = """
    ?????????????????
    ????.........????
    ?..............??
    ?..R...........??
    ?..............??
    ?###############?
    ?????????????????
"""


@pytest.mark.parametrize(
    ("bids", "who"),
    [
        ({}, []),
        ({"b": 1.0}, []),
        ({"b": 1.0, "c": 9.0}, ["a"]),  # two bidders: the finder alone
        ({"b": 5.0, "c": 1.0, "d": 3.0}, ["a", "c", "d"]),  # three: two of them and the finder
        ({"b": 5.0, "c": 1.0, "d": 3.0, "e": 2.0}, ["a", "c", "e"]),
    ],
)
def test_half_of_the_bidders_go_through_a_doorway_with_the_finder(bids, who):
    assert crossers("a", bids) == who


def test_places_beyond_walls_come_clockwise_from_the_farthest(robot_on):
    robot = robot_on(HALL)
    occupancy = robot.map.occupancy()[:7, :17]
    places = beyond_wall(occupancy, find_walls(occupancy, 2), (3, 3), 7.0, 2.0)
    assert places[0] == (3.0, 14.0)  # 2 cells from the eastern end of the wall beside the floor, into the room
    assert len(places) == 2


def test_minotaur_follows_the_wall_where_nearest_takes_the_nearest(robot_on):
    robot = robot_on(HALL)
    frontiers = robot.frontiers("explore", 1)
    allowed = np.ones(len(frontiers.cells), bool)
    nearest = choose_nearest(robot, frontiers, allowed)
    goal = _Minotaur(door_m=2.0, reach_m=20.0)(robot, frontiers, allowed)
    assert nearest == (7.5, 5.5)  # the middle of the rim of the unseen
    assert goal[0] > 12


def test_a_doorway_seen_from_both_sides_is_taken_and_bounds_the_room(robot_on):
    robot = robot_on(HALL)
    mind = _Minotaur(door_m=2.0, reach_m=7.0)
    assert mind._note(_Door(5.0, 3.0, 0, 2.0))
    assert not mind._note(_Door(5.2, 3.0, 0, 2.0))
    assert not mind.doors[0].taken
    assert not mind._note(_Door(5.0, 3.1, 2, 2.0))
    assert mind.doors[0].taken
    room = mind._room(robot.map.grid, robot.map.occupancy())
    assert np.argwhere(~room).tolist() == [[2, 5], [3, 5], [4, 5]]


# A hall with a gap of two cells in its north wall.
GAP = """
    ?????..??????
    #####..######
    #...........#
    #.R.........?
    #...........#
    #############
"""


def choose(mind, robot, pose=None, time=0.0):
    put(robot, pose=pose or robot.pose, time_s=time)
    frontiers = robot.frontiers("explore", 1)
    return mind(robot, frontiers, np.ones(len(frontiers.cells), bool))


def test_a_gap_is_a_doorway_only_when_the_robot_has_gone_to_look(robot_on):
    robot, mind = robot_on(GAP), _Minotaur(door_m=2.0, reach_m=7.0)
    # The wall ends with column 4: the place to look from lies 2 m beyond, as far from the wall as the robot is.
    assert choose(mind, robot) == (6.5, 2.5)
    assert not mind.doors
    choose(mind, robot, Pose(6.5, 2.5, 0.0), 3.0)
    assert [(d.x, d.y, d.way, d.taken) for d in mind.doors] == [(6.0, 4.5, 1, False)]
    assert len(mind.offers) == 1
    assert mind.look is None  # neither this gap nor its other end is gone to again


def test_a_wider_gap_is_looked_at_once_and_is_no_doorway(robot_on):
    wide = GAP.replace("?????..??????", "??.......????").replace("#####..######", "##.......####")
    robot, mind = robot_on(wide), _Minotaur(door_m=2.0, reach_m=7.0)
    looks = set()
    for k in range(6):
        goal = choose(mind, robot, time=5.0 * k)
        if mind.look is None:
            break
        assert goal not in looks
        looks.add(goal)
        put(robot, pose=Pose(*goal, 0.0))
    assert looks
    assert mind.look is None
    assert not mind.doors


def test_a_doorway_is_taken_when_somebody_has_passed_it_not_when_somebody_sets_out(robot_on):
    robot, mind = robot_on(GAP), _Minotaur(door_m=2.0, reach_m=7.0)
    mind.doors.append(_Door(6.0, 4.5, 1, 2.0))
    beyond = mind._nearest_door(robot.travel_cost(), robot.map.grid)
    assert beyond == (6.0, 6.5)
    assert not mind.doors[0].taken
    choose(mind, robot, Pose(6.0, 4.0, 1.5), 1.0)  # before the opening
    assert not mind.doors[0].taken
    choose(mind, robot, Pose(6.0, 5.5, 1.5), 2.0)  # beyond it
    assert mind.doors[0].taken


# Known is the square of 7 x 7 cells around the robot, which faces north.
SQUARE = """
    ??????????????
    ??????????????
    ???.......????
    ???.......????
    ???.......????
    ???...R...????
    ???.......????
    ???.......????
    ???.......????
    ??????????????
    ??????????????
"""


def test_what_is_ahead_to_the_right_comes_first_unless_all_ahead_is_unseen(robot_on):
    # R = 3: 4 and 5 cells to the north everything is unseen, so the corner is no corner: first comes the right, east.
    robot, mind = robot_on(SQUARE), _Minotaur(door_m=2.0, reach_m=3.0)
    put(robot, pose=Pose(6.5, 5.5, np.pi / 2))
    near, own = robot.map.occupancy()[:11, :14], (5, 6)
    assert all_unseen_ahead(near, own, np.pi / 2, 4.0, 5.0)
    assert mind._in_room(near, [], own, robot, 3.0)[0] == (5, 10)
    # With the cell 4 to the north known, the ray 30 degrees to the right of ahead counts: 4 / cos 30 = 4.6 cells on,
    # 2.3 cells to the east, it meets the unseen.
    near = near.copy()
    near[9, 6] = 0
    row, column = mind._in_room(near, [], own, robot, 3.0)[0]
    assert (row, column) == (9, 8)


def test_with_nothing_unseen_around_it_neither_follows_walls_nor_turns_to_corners(robot_on):
    robot, mind = robot_on(SQUARE), _Minotaur(door_m=2.0, reach_m=3.0)
    near = np.zeros((13, 13), np.int8)
    assert mind._in_room(near, find_walls(near, 2), (6, 6), robot, 3.0) == []
