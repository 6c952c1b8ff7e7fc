"""A place on a wall is seen from where a robot can stand: along its normal, not through walls, not from too far."""

import numpy as np

from covey.geometry.grid import Grid
from covey.world.visibility.seeable import seeable_from
from covey.world.world import World


def test_places_on_the_faces_of_a_wall_by_hand():
    """A wall from x = 10 to 11 m; robots get to x = 3 m, which is 7 m from its west face."""
    cells = np.zeros((10, 20), np.uint8)
    cells[:, 10] = 1
    world, reached = World(Grid(cells, 1.0)), np.zeros((10, 20), bool)
    reached[:, :3] = True
    places = np.array(
        [
            (9.999, 5.5, -1.0, 0.0),  # the west face
            (11.001, 5.5, 1.0, 0.0),  # the east face
            (11.001, 5.5, 0.0, 0.0),  # there, in all directions: the wall is between
            (9.999, 5.5, 0.0, 1.0),  # it looks along the wall
        ]
    )
    assert seeable_from(world, reached, places, 8.0, 0.1).tolist() == [True, False, False, False]
    assert not seeable_from(world, reached, places, 6.5, 0.1).any()
