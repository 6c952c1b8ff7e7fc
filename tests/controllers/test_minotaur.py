import numpy as np
import pytest

from covey.controllers.minotaur import _Door, _Minotaur, beyond_wall, crossers
from covey.controllers.nearest_frontier import choose_nearest
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
